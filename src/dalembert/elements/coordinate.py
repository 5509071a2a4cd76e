"""The coordinate of a joint, an angle or a distance, and rows that couple them: gear, rack and pinion, screw.

The coordinate of F1 relative to F2 is

    angle     theta = 2 atan2(sigma_1, sigma_0)          about the x axis of F2, sigma = rho_F2* rho_F1    (17b, corrected)
    distance  s = (R_F2^T d)_x                           along the x axis of F2

An angle is continuous over many turns: q carries the last angle of each joint, and theta is the one among
``theta + 4 pi n`` that is nearest to it. A coupling is one row ``sum of ratio * coordinate - offset = 0``; each of its
terms is one record here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dalembert.elements.pair import relative_quaternion, separation, separation_rate, store_force_tangent
from dalembert.kernel.compile import compiled, inlined
from dalembert.kernel.vec3 import (
    ZERO,
    Array,
    Mat3,
    Vec3,
    add,
    clear,
    cross,
    dot,
    load,
    load_matrix,
    madd,
    matmul,
    matmult,
    mneg,
    mul,
    neg,
    scale,
    scale_in_place,
    skew,
    store,
    store_block,
    sub,
    tmatmul,
    tmul,
)
from dalembert.rotation.quaternion import Quaternion, load4, to_matrix

ANGLE, DISTANCE_ALONG_X = 0, 1

COORDINATE = np.dtype(
    [
        ("body_1", np.intp),
        ("body_2", np.intp),
        ("point_1", np.float64, 3),  # r_F1 in B1 [m]
        ("point_2", np.float64, 3),  # r_F2 in B2 [m]
        ("quaternion_1", np.float64, 4),  # F1 in B1
        ("quaternion_2", np.float64, 4),  # F2 in B2
        ("kind", np.intp),  # ANGLE or DISTANCE_ALONG_X
        ("memory", np.intp),  # where q keeps the last angle; -1 for a distance
        ("ratio", np.float64),  # of this term in its row
        ("offset", np.float64),  # subtracted from the row
        ("law", np.intp),  # subtracted from the row too
        ("row", np.intp),  # -1: only observed
        ("term", np.intp),
    ],
    align=True,
)


@inlined
def nearest_turn(angle: float, last: float) -> float:
    """Return the one of ``angle + 4 pi n`` that is nearest to `last` [rad].

    Examples
    --------
    >>> nearest_turn(0.5, 25.0) == 0.5 + 8 * math.pi
    True
    """
    return angle + 4.0 * math.pi * math.floor((last - angle) / (4.0 * math.pi) + 0.5)


@compiled
def value(joint: Any, bodies: Any, memory: Array) -> float:
    """Return the coordinate: angle [rad], continuous with the last one in `memory`, or distance [m]."""
    if joint.kind == ANGLE:
        sigma = relative_quaternion(joint, bodies)
        return nearest_turn(2.0 * math.atan2(sigma[1], sigma[0]), memory[joint.memory])
    return dot(_axis_2(joint, bodies), separation(joint, bodies))


@inlined
def _axis_2(joint: Any, bodies: Any) -> Vec3:
    """Return the x axis of F2 in the world."""
    R = to_matrix(load4(joint.quaternion_2))
    return mul(load_matrix(bodies[joint.body_2].rotation), (R[0], R[3], R[6]))


@inlined
def angle_gradient(sigma: Quaternion) -> Vec3:
    """Return g with d(theta) = g . delta, delta the rotation of F1 relative to F2 in F1.

    g = (1, (x y - s z)/N, (s y + x z)/N) with sigma = (s, x, y, z) and N = s^2 + x^2; (1, 0, 0) for a closed hinge.
    """
    s, x, y, z = sigma
    N = s * s + x * x
    return 1.0, (x * y - s * z) / N, (s * y + x * z) / N


@inlined
def angle_hessian(sigma: Quaternion) -> Mat3:
    """Return H with d(g) = H delta; rows 2 and 3 only, the first entry of g is constant.

    From delta sigma = 1/2 sigma (0, delta); the derivatives of s, x, y, z are half of the columns below.
    """
    s, x, y, z = sigma
    N = s * s + x * x
    ds, dx = (-0.5 * x, -0.5 * y, -0.5 * z), (0.5 * s, -0.5 * z, 0.5 * y)
    dy, dz = (0.5 * z, 0.5 * s, -0.5 * x), (-0.5 * y, 0.5 * x, 0.5 * s)
    dN = add(scale(2.0 * s, ds), scale(2.0 * x, dx))
    _, g2, g3 = angle_gradient(sigma)
    a = sub(add(scale(y, dx), scale(x, dy)), add(scale(z, ds), scale(s, dz)))
    b = add(add(scale(y, ds), scale(s, dy)), add(scale(z, dx), scale(x, dz)))
    h2 = scale(1.0 / N, sub(a, scale(g2, dN)))
    h3 = scale(1.0 / N, sub(b, scale(g3, dN)))
    return 0.0, 0.0, 0.0, h2[0], h2[1], h2[2], h3[0], h3[1], h3[2]


@compiled
def residual(joint: Any, bodies: Any, memory: Array, laws: Array, phi: Array) -> None:
    """Add ratio * coordinate - offset - law(t) to the row."""
    if joint.row >= 0:
        phi[joint.row] += joint.ratio * value(joint, bodies, memory) - joint.offset - laws[joint.law, 0]


@compiled
def gradient(joint: Any, bodies: Any, row: Array) -> None:
    """Write d(coordinate)/dq to `row` (12).

    Angle: [0 | g^T R_F1(B1)^T | 0 | -g^T R_F1^T R_B2]. Distance, with e the x axis of F2 and a from B2's centre to F1:
    [e^T | (r_F1 x R_B1^T e)^T | -e^T | -(a x e)^T in B2].
    """
    R1, R2 = load_matrix(bodies[joint.body_1].rotation), load_matrix(bodies[joint.body_2].rotation)
    if joint.kind == ANGLE:
        g = mul(to_matrix(load4(joint.quaternion_1)), angle_gradient(relative_quaternion(joint, bodies)))
        store(row, 0, ZERO)
        store(row, 3, g)
        store(row, 6, ZERO)
        store(row, 9, neg(tmul(R2, mul(R1, g))))
    else:
        e = _axis_2(joint, bodies)
        a = add(tmul(R2, separation(joint, bodies)), load(joint.point_2))
        store(row, 0, e)
        store(row, 3, cross(load(joint.point_1), tmul(R1, e)))
        store(row, 6, neg(e))
        store(row, 9, neg(cross(a, tmul(R2, e))))


@compiled
def jacobian(joint: Any, bodies: Any, J: Array) -> None:
    """Write ratio * d(coordinate)/dq to the term's row of J."""
    if joint.row >= 0:
        gradient(joint, bodies, J[joint.term])
        for k in range(12):
            J[joint.term, k] *= joint.ratio


@compiled
def second_rate(joint: Any, bodies: Any) -> float:
    """Return the part of the coordinate's second time derivative that depends on velocities only."""
    R1, R2 = load_matrix(bodies[joint.body_1].rotation), load_matrix(bodies[joint.body_2].rotation)
    w1, w2 = load(bodies[joint.body_1].angular_velocity), load(bodies[joint.body_2].angular_velocity)
    if joint.kind == ANGLE:
        sigma = relative_quaternion(joint, bodies)
        B = to_matrix(load4(joint.quaternion_1))  # F1 in B1
        w1_F = tmul(B, w1)
        omega = sub(w1_F, tmul(B, tmul(R1, mul(R2, w2))))  # of F1 relative to F2, in F1
        turning = neg(cross(w1_F, omega))  # of the relative rate, by the turning of F1
        return dot(omega, mul(angle_hessian(sigma), omega)) + dot(angle_gradient(sigma), turning)
    w2_W = mul(R2, w2)
    e = _axis_2(joint, bodies)
    rate, centripetal = separation_rate(joint, bodies)
    whirl = cross(w2_W, e)
    return dot(cross(w2_W, whirl), separation(joint, bodies)) + 2.0 * dot(whirl, rate) + dot(e, centripetal)


@compiled
def right_sides(joint: Any, bodies: Any, laws: Array, b1: Array, b2: Array) -> None:
    """Add b' = law' and b'' = law'' - ratio * (velocity part of the coordinate's acceleration)."""
    if joint.row >= 0:
        b1[joint.row] += laws[joint.law, 1]
        b2[joint.row] += laws[joint.law, 2] - joint.ratio * second_rate(joint, bodies)


@compiled
def hessian(joint: Any, bodies: Any, K: Array) -> None:
    """Write the tangent of the coordinate's gradient, d(gradient)/dq, to the 12x12 matrix K.

    Distance: the tangent of a unit force along e. Angle, with B = R_F1(B1), Q = R_B2^T R_F1:

        K22 = B H B^T,   K24 = -B H Q^T,   K42 = -Q (H - tilde(g)) B^T,   K44 = Q (H - tilde(g)) Q^T
    """
    if joint.kind == DISTANCE_ALONG_X:
        d = tmul(load_matrix(bodies[joint.body_2].rotation), separation(joint, bodies))
        store_force_tangent(joint, bodies, add(d, load(joint.point_2)), _axis_2(joint, bodies), K)
        return
    R1, R2 = load_matrix(bodies[joint.body_1].rotation), load_matrix(bodies[joint.body_2].rotation)
    sigma = relative_quaternion(joint, bodies)
    B = to_matrix(load4(joint.quaternion_1))
    Q = tmatmul(R2, matmul(R1, B))
    H = angle_hessian(sigma)
    H_turned = madd(H, mneg(skew(angle_gradient(sigma))))
    clear(K)
    store_block(K, 3, 3, matmul(B, matmult(H, B)))
    store_block(K, 3, 9, mneg(matmul(B, matmult(H, Q))))
    store_block(K, 9, 3, mneg(matmul(Q, matmult(H_turned, B))))
    store_block(K, 9, 9, matmul(Q, matmult(H_turned, Q)))


@compiled
def tangent(joint: Any, bodies: Any, gamma: Array, K: Array) -> None:
    """Write K_c = gamma * ratio * d(gradient)/dq to the 12x12 matrix K."""
    if joint.row < 0:
        clear(K)
        return
    hessian(joint, bodies, K)
    scale_in_place(gamma[joint.row] * joint.ratio, K)
