"""Two points or frames on two bodies: what every element between two bodies needs.

A record `joint` names its bodies ``body_1``, ``body_2`` and its points ``point_1`` (in B1), ``point_2`` (in B2); `bodies`
is the table of the bodies' poses. ``d = r_B1 + R_B1 r_1 - r_B2 - R_B2 r_2`` points from point 2 to point 1. Results are in
the world.
"""

from __future__ import annotations

from typing import Any

from dalembert.kernel.compile import inlined
from dalembert.kernel.vec3 import (
    Array,
    Mat3,
    Vec3,
    add,
    clear,
    cross,
    load,
    load_matrix,
    matmul,
    mneg,
    mul,
    skew,
    store_block,
    sub,
    tmatmul,
    tmul,
    transpose,
)
from dalembert.rotation.quaternion import Quaternion, conjugate, load4, multiply


@inlined
def separation(joint: Any, bodies: Any) -> Vec3:
    """Return d [m]."""
    one, two = bodies[joint.body_1], bodies[joint.body_2]
    p1 = add(load(one.position), mul(load_matrix(one.rotation), load(joint.point_1)))
    return sub(p1, add(load(two.position), mul(load_matrix(two.rotation), load(joint.point_2))))


@inlined
def separation_rate(joint: Any, bodies: Any) -> tuple[Vec3, Vec3]:
    """Return d' [m/s] and the centripetal part of d'' [m/s2], which depends on velocities only."""
    one, two = bodies[joint.body_1], bodies[joint.body_2]
    R1, R2 = load_matrix(one.rotation), load_matrix(two.rotation)
    w1, w2 = load(one.angular_velocity), load(two.angular_velocity)
    whirl_1, whirl_2 = cross(w1, load(joint.point_1)), cross(w2, load(joint.point_2))
    rate = sub(add(load(one.velocity), mul(R1, whirl_1)), add(load(two.velocity), mul(R2, whirl_2)))
    return rate, sub(mul(R1, cross(w1, whirl_1)), mul(R2, cross(w2, whirl_2)))


@inlined
def relative_quaternion(joint: Any, bodies: Any) -> Quaternion:
    """Return sigma = rho_F2* rho_F1, F1 in F2."""
    rho_1 = multiply(load4(bodies[joint.body_1].quaternion), load4(joint.quaternion_1))
    rho_2 = multiply(load4(bodies[joint.body_2].quaternion), load4(joint.quaternion_2))
    return multiply(conjugate(rho_2), rho_1)


@inlined
def store_force_tangent(joint: Any, bodies: Any, a: Vec3, f: Vec3, K: Array) -> None:
    """Write the tangent of a force that turns with B2, acts at point 1 and reacts on B2 (Peng et al. 2024, eq. 45, force part).

    f is the force in the world, a the vector from B2's centre to point 1, in B2:

        K14 = -tilde(f) R_B2 = -K34,      K41 = R_B2^T tilde(f) = -K43,    K42 = -R_B2^T tilde(f) R_B1 tilde(r_1)
        K22 = tilde(r_1) tilde(R_B1^T f), K24 = -tilde(r_1) R_B1^T tilde(f) R_B2,    K44 = tilde(R_B2^T f) tilde(a)
    """
    R1, R2 = load_matrix(bodies[joint.body_1].rotation), load_matrix(bodies[joint.body_2].rotation)
    r = skew(load(joint.point_1))
    R2_f = tmatmul(R2, skew(f))  # R_B2^T tilde(f)
    clear(K)
    store_block(K, 0, 9, transpose(R2_f))
    store_block(K, 6, 9, mneg(transpose(R2_f)))
    store_block(K, 9, 0, R2_f)
    store_block(K, 9, 6, mneg(R2_f))
    store_block(K, 9, 3, mneg(matmul(R2_f, matmul(R1, r))))
    store_block(K, 3, 3, matmul(r, skew(tmul(R1, f))))
    store_block(K, 3, 9, mneg(matmul(r, matmul(tmatmul(R1, skew(f)), R2))))
    store_block(K, 9, 9, matmul(skew(tmul(R2, f)), skew(a)))


@inlined
def store_row(J: Array, k: int, x1: Vec3, w1: Vec3, x2: Vec3, w2: Vec3) -> None:
    """Write row k of a Jacobian: (position, rotation) of B1 and of B2; nothing if k is negative."""
    if k >= 0:
        J[k, 0], J[k, 1], J[k, 2] = x1
        J[k, 3], J[k, 4], J[k, 5] = w1
        J[k, 6], J[k, 7], J[k, 8] = x2
        J[k, 9], J[k, 10], J[k, 11] = w2


@inlined
def store_rows(J: Array, k: tuple[int, int, int], X1: Mat3, W1: Mat3, X2: Mat3, W2: Mat3) -> None:
    """Write the rows k[0], k[1], k[2] of a Jacobian from 3x3 blocks."""
    store_row(J, k[0], X1[0:3], W1[0:3], X2[0:3], W2[0:3])
    store_row(J, k[1], X1[3:6], W1[3:6], X2[3:6], W2[3:6])
    store_row(J, k[2], X1[6:9], W1[6:9], X2[6:9], W2[6:9])
