"""The lock: the one joint of Peng et al. 2024, six rows of which any may be active.

Frame F1 is fixed in the driven body B1, frame F2 in the main body B2. The six rows, all in the basis of F2, say that F1
sits where the prescribed translation r_t and rotation rho_t put it:

    phi_x = R_F2^T (r_B1 + R_B1 r_F1 - r_B2 - R_B2 r_F2) - r_t          rows x, y, z       (27)
    phi_R = Im(rho_F2* rho_F1 rho_t*) = Im(sigma)                       rows Rx, Ry, Rz    (31)

sigma is the quaternion of the shadow frame F1s (F1 turned back by rho_t) in F2. Joint types are masks on the rows
(Table 1, see joint.py); nothing here assumes that the joint is closed. Variations are ordered
``(dr_B1 in W, theta_B1 in B1, dr_B2 in W, theta_B2 in B2)``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.elements.pair import relative_quaternion, separation, separation_rate, store_force_tangent, store_rows
from dalembert.kernel.compile import compiled, inlined
from dalembert.kernel.vec3 import (
    Array,
    Mat3,
    Vec3,
    accumulate,
    accumulate_block,
    add,
    cross,
    dot,
    load,
    load_matrix,
    matmul,
    matmult,
    mneg,
    mul,
    neg,
    scale,
    skew,
    store,
    sub,
    tmatmul,
    tmul,
    transpose,
)
from dalembert.rotation.motion import from_rotation_vector
from dalembert.rotation.quaternion import (
    Quaternion,
    conjugate,
    imaginary,
    load4,
    multiply,
    projection,
    projection_tangent,
    to_matrix,
)

ROWS = ("x", "y", "z", "Rx", "Ry", "Rz")

LOCK = np.dtype(
    [
        ("body_1", np.intp),  # driven body
        ("body_2", np.intp),  # main body
        ("point_1", np.float64, 3),  # r_F1 in B1 [m]
        ("point_2", np.float64, 3),  # r_F2 in B2 [m]
        ("quaternion_1", np.float64, 4),  # F1 in B1
        ("quaternion_2", np.float64, 4),  # F2 in B2
        ("rotation_2", np.float64, 9),  # F2 in B2
        ("row", np.intp, 6),  # constraint row of x, y, z, Rx, Ry, Rz; -1 where the row is not active
        ("term", np.intp, 6),  # where the row of the Jacobian is stored; -1 where the row is not active
        ("motion", np.intp),  # row in the table of motions; 0: none
        ("law", np.intp, 6),  # motion law of each row; the last law, which is zero: none
    ],
    align=True,
)


MOTION = np.dtype(
    [
        ("translation", np.float64, 3),  # r_t [m]
        ("velocity", np.float64, 3),
        ("acceleration", np.float64, 3),
        ("quaternion", np.float64, 4),  # rho_t
        ("angular_velocity", np.float64, 3),  # [rad/s]
        ("angular_acceleration", np.float64, 3),
    ],
    align=True,
)
"""The prescribed motion of F1 in F2 at one time, in the axes of F2. Row 0 of the table is no motion."""


def new_motions(joints: Any) -> Any:
    """Return a table for the motions of the joints of a table; row 0 stays at rest in the origin."""
    motions = np.zeros(1 + np.max(joints.motion, initial=0), MOTION).view(np.recarray)
    motions.quaternion[:, 0] = 1.0
    return motions


@compiled
def prescribe(joint: Any, laws: Array, motions: Any) -> None:
    """Write the motion of a driven joint from the values of all laws; the rotation is the rotation vector (Rx, Ry, Rz)."""
    motion, k = motions[joint.motion], joint.law
    for i in range(3):
        motion.translation[i], motion.velocity[i], motion.acceleration[i] = laws[k[i], 0], laws[k[i], 1], laws[k[i], 2]
    theta = (laws[k[3], 0], laws[k[4], 0], laws[k[5], 0])
    rate = (laws[k[3], 1], laws[k[4], 1], laws[k[5], 1])
    rho, w, alpha = from_rotation_vector(theta, rate, (laws[k[3], 2], laws[k[4], 2], laws[k[5], 2]))
    motion.quaternion[0], motion.quaternion[1], motion.quaternion[2], motion.quaternion[3] = rho
    store(motion.angular_velocity, 0, w)
    store(motion.angular_acceleration, 0, alpha)


class Pose(NamedTuple):
    """F1 seen from F2."""

    E: Mat3  # R_F2^T
    C1: Mat3  # R_F2^T R_B1
    C2: Mat3  # R_F2^T R_B2
    a: Vec3  # r_F2 + r_12: from the centre of B2 to F1, in B2 (14)
    d: Vec3  # from F2 to F1, in F2
    sigma: Quaternion  # F1s in F2


@inlined
def relative_pose(joint: Any, bodies: Any, motions: Any) -> Pose:
    """Return F1 seen from F2; `bodies` is the table of the bodies' poses."""
    R1, R2 = load_matrix(bodies[joint.body_1].rotation), load_matrix(bodies[joint.body_2].rotation)
    C2 = transpose(load_matrix(joint.rotation_2))
    E = matmult(C2, R2)
    d = separation(joint, bodies)
    a = add(tmul(R2, d), load(joint.point_2))
    sigma = multiply(relative_quaternion(joint, bodies), conjugate(load4(motions[joint.motion].quaternion)))
    return Pose(E, matmul(E, R1), C2, a, mul(E, d), sigma)


@inlined
def scatter(out: Array, index: Any, x: Vec3, R: Vec3) -> None:
    """Add the six rows (x, y, z and Rx, Ry, Rz) to `out` where they are active."""
    for k in range(3):
        if index[k] >= 0:
            out[index[k]] += x[k]
        if index[k + 3] >= 0:
            out[index[k + 3]] += R[k]


@inlined
def gather(values: Array, index: Any, first: int) -> Vec3:
    """Return the three values of the rows `first`, `first + 1`, `first + 2`; zero where not active."""
    a = values[index[first]] if index[first] >= 0 else 0.0
    b = values[index[first + 1]] if index[first + 1] >= 0 else 0.0
    c = values[index[first + 2]] if index[first + 2] >= 0 else 0.0
    return a, b, c


@compiled
def residual(joint: Any, bodies: Any, motions: Any, phi: Array) -> None:
    """Add the constraint residual phi(q, t) (27), (31): lengths [m], half-angle sines [-]."""
    pose = relative_pose(joint, bodies, motions)
    scatter(phi, joint.row, sub(pose.d, load(motions[joint.motion].translation)), imaginary(pose.sigma))


NO_BLOCK: Mat3 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@compiled
def jacobian(joint: Any, bodies: Any, motions: Any, J: Array) -> None:
    """Write the active rows of the Jacobian C_q (33, with both corrections).

    [ R_F2^T |  -R_F2^T R_B1 tilde(r_F1)  | -R_F2^T |  R_F2^T R_B2 (tilde(r_F2) + tilde(r_12)) ]
    [   0    |  P(sigma)^T R_F2^T R_B1    |    0    | -P(sigma)^T R_F2^T R_B2                  ]
    """
    pose = relative_pose(joint, bodies, motions)
    P = projection(pose.sigma)
    k = joint.term
    W1 = mneg(matmul(pose.C1, skew(load(joint.point_1))))
    store_rows(J, (k[0], k[1], k[2]), pose.E, W1, mneg(pose.E), matmul(pose.C2, skew(pose.a)))
    W1 = tmatmul(P, pose.C1)
    store_rows(J, (k[3], k[4], k[5]), NO_BLOCK, W1, NO_BLOCK, mneg(tmatmul(P, pose.C2)))


@compiled
def subtract_reaction(joint: Any, bodies: Any, motions: Any, gamma: Array, f: Array) -> None:
    """Subtract C_q^T gamma of the joint from the forces f on both bodies, without forming C_q (36).

    With the force gamma_f and the torque P gamma_m in F2, C_q^T gamma = (R_F2 gamma_f, r_F1 x C1^T gamma_f + C1^T P gamma_m)
    on B1 and minus (R_F2 gamma_f, (r_F2 + r_12) x C2^T gamma_f + C2^T P gamma_m) on B2.
    """
    pose = relative_pose(joint, bodies, motions)
    force, torque = gather(gamma, joint.row, 0), mul(projection(pose.sigma), gather(gamma, joint.row, 3))
    one, two = 6 * joint.body_1, 6 * joint.body_2
    world = tmul(pose.E, force)
    accumulate(f, one, neg(world))
    accumulate(f, one + 3, neg(add(cross(load(joint.point_1), tmul(pose.C1, force)), tmul(pose.C1, torque))))
    accumulate(f, two, world)
    accumulate(f, two + 3, add(cross(pose.a, tmul(pose.C2, force)), tmul(pose.C2, torque)))


@compiled
def right_sides(joint: Any, bodies: Any, motions: Any, b1: Array, b2: Array) -> None:
    """Add the right sides of A v = b' = -C_t and A v' = b'' to `b1` and `b2`.

    With E = R_F2^T, d from F2 to F1 and c the centripetal part of d'' (world), w_2 the rate of F2 (in F2), and in F1s: y the
    rate of F1 relative to F2, Omega = y - w_t the rate of F1s relative to F2, Omega_s the absolute rate of F1s:

        b'_x = r_t'       b''_x = r_t'' + 2 w_2 x E d' - w_2 x (w_2 x E d) - E c
        b'_R = P w_t      b''_R = P (w_t' + Omega_s x y) + 1/4 |Omega|^2 Im(sigma)
    """
    pose = relative_pose(joint, bodies, motions)
    motion = motions[joint.motion]
    w_t = load(motion.angular_velocity)
    w1 = mul(pose.C1, load(bodies[joint.body_1].angular_velocity))  # in F2
    w2 = mul(pose.C2, load(bodies[joint.body_2].angular_velocity))
    rate, centripetal = separation_rate(joint, bodies)
    x2 = add(load(motion.acceleration), scale(2.0, cross(w2, mul(pose.E, rate))))
    x2 = sub(sub(x2, cross(w2, cross(w2, pose.d))), mul(pose.E, centripetal))

    P = projection(pose.sigma)
    S = to_matrix(pose.sigma)  # F1s in F2
    y = tmul(S, sub(w1, w2))
    omega = sub(y, w_t)  # of F1s relative to F2
    omega_s = sub(tmul(S, w1), w_t)  # of F1s, absolute
    R2 = mul(P, add(load(motion.angular_acceleration), cross(omega_s, y)))
    R2 = add(R2, scale(0.25 * dot(omega, omega), imaginary(pose.sigma)))

    scatter(b1, joint.row, load(motion.velocity), mul(P, w_t))
    scatter(b2, joint.row, x2, R2)


@inlined
def tangent_main(joint: Any, bodies: Any, pose: Pose, gamma: Array, K: Array) -> None:
    """Write the main part of K_c = d(C_q^T gamma)/dq (44), (45) to the 12x12 matrix K.

    The part of the force f = R_F2 gamma_f is `store_force_tangent`; the torque m = R_F2 P gamma_m, in the world, adds
    tilde(R_B1^T m) to K22 and -R_B1^T tilde(m) R_B2 to K24.
    """
    f = tmul(pose.E, gather(gamma, joint.row, 0))
    store_force_tangent(joint, bodies, pose.a, f, K)
    m = mul(projection(pose.sigma), gather(gamma, joint.row, 3))  # in F2
    accumulate_block(K, 3, 3, skew(tmul(pose.C1, m)))
    accumulate_block(K, 3, 9, mneg(tmatmul(pose.C1, matmul(skew(m), pose.C2))))


@inlined
def add_tangent_projection(joint: Any, pose: Pose, gamma: Array, K: Array) -> None:
    """Add the projection part of K_c (48), (49) to the 12x12 matrix K; R_F1 in it is that of the shadow frame.

    With N = R_F2 G(sigma, gamma_m) R_F1s^T:

        K22 = R_B1^T N R_B1,   K24 = -R_B1^T N R_B2,   K42 = -R_B2^T N R_B1,   K44 = R_B2^T N R_B2
    """
    G = projection_tangent(pose.sigma, gather(gamma, joint.row, 3))
    N = matmult(G, to_matrix(pose.sigma))  # in F2
    N1, N2 = matmul(N, pose.C1), matmul(N, pose.C2)
    accumulate_block(K, 3, 3, tmatmul(pose.C1, N1))
    accumulate_block(K, 3, 9, mneg(tmatmul(pose.C1, N2)))
    accumulate_block(K, 9, 3, mneg(tmatmul(pose.C2, N1)))
    accumulate_block(K, 9, 9, tmatmul(pose.C2, N2))


@compiled
def tangent(joint: Any, bodies: Any, motions: Any, gamma: Array, K: Array) -> None:
    """Write K_c = main part + projection part (50) to the 12x12 matrix K."""
    pose = relative_pose(joint, bodies, motions)
    tangent_main(joint, bodies, pose, gamma, K)
    if joint.row[3] >= 0 or joint.row[4] >= 0 or joint.row[5] >= 0:
        add_tangent_projection(joint, pose, gamma, K)
