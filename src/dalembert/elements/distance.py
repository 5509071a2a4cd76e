"""A massless rod: two points keep a constant or prescribed distance.

    phi = |d| - L(t),   d = r_B1 + R_B1 r_P1 - r_B2 - R_B2 r_P2

The multiplier is the force in the rod, positive in tension [N].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.elements.pair import separation, separation_rate
from dalembert.kernel.compile import compiled, inlined
from dalembert.kernel.vec3 import (
    IDENTITY,
    Array,
    Mat3,
    Vec3,
    accumulate_block,
    clear,
    cross,
    dot,
    load,
    load_matrix,
    madd,
    matmul,
    mneg,
    mscale,
    neg,
    norm,
    outer,
    scale,
    skew,
    store,
    store_block,
    tmatmul,
    tmul,
    transpose,
)

DISTANCE = np.dtype(
    [
        ("body_1", np.intp),
        ("body_2", np.intp),
        ("point_1", np.float64, 3),  # in B1 [m]
        ("point_2", np.float64, 3),  # in B2 [m]
        ("length", np.float64),  # [m]; the law is added to it
        ("law", np.intp),
        ("row", np.intp),
        ("term", np.intp),
    ],
    align=True,
)


@inlined
def length_and_direction(joint: Any, bodies: Any) -> tuple[float, Vec3]:
    """Return the distance |d| [m] and the unit vector n from point 2 to point 1, in the world."""
    d = separation(joint, bodies)
    length = norm(d)
    return length, scale(1.0 / length, d)


@compiled
def residual(joint: Any, bodies: Any, laws: Array, phi: Array) -> None:
    """Add phi = |d| - L(t) [m]."""
    length, _ = length_and_direction(joint, bodies)
    phi[joint.row] += length - joint.length - laws[joint.law, 0]


@compiled
def gradient(joint: Any, bodies: Any, row: Array) -> None:
    """Write d|d|/dd = n^T [ I | -R_B1 tilde(r_P1) | -I | R_B2 tilde(r_P2) ] to `row` (12)."""
    _, n = length_and_direction(joint, bodies)
    store(row, 0, n)
    store(row, 3, cross(load(joint.point_1), tmul(load_matrix(bodies[joint.body_1].rotation), n)))
    store(row, 6, neg(n))
    store(row, 9, neg(cross(load(joint.point_2), tmul(load_matrix(bodies[joint.body_2].rotation), n))))


@compiled
def jacobian(joint: Any, bodies: Any, J: Array) -> None:
    """Write the gradient of the distance to the row of J."""
    gradient(joint, bodies, J[joint.term])


@compiled
def right_sides(joint: Any, bodies: Any, laws: Array, b1: Array, b2: Array) -> None:
    """Add b' = L' and b'' = L'' - n . c - (|d'|^2 - (n . d')^2)/|d|."""
    length, n = length_and_direction(joint, bodies)
    rate, centripetal = separation_rate(joint, bodies)
    along = dot(n, rate)
    b1[joint.row] += laws[joint.law, 1]
    b2[joint.row] += laws[joint.law, 2] - dot(n, centripetal) - (dot(rate, rate) - along * along) / length


@inlined
def _sandwich(A: Mat3, S: Mat3, B: Mat3) -> Mat3:
    """Return A^T S B."""
    return tmatmul(A, matmul(S, B))


@compiled
def hessian(joint: Any, bodies: Any, gamma: float, K: Array) -> None:
    """Write gamma times the tangent of the distance's gradient to the 12x12 matrix K.

    It is J_d^T gamma (I - n n^T)/|d| J_d, J_d = d(d)/dq, and with f = gamma n: + tilde(r_P1) tilde(R_B1^T f) in K22,
    - tilde(r_P2) tilde(R_B2^T f) in K44.
    """
    length, n = length_and_direction(joint, bodies)
    R1, R2 = load_matrix(bodies[joint.body_1].rotation), load_matrix(bodies[joint.body_2].rotation)
    r1, r2 = load(joint.point_1), load(joint.point_2)
    f = scale(gamma, n)
    S = mscale(gamma / length, madd(IDENTITY, mneg(outer(n, n))))
    W1, W2 = mneg(matmul(R1, skew(r1))), matmul(R2, skew(r2))  # J_d = [I | W1 | -I | W2]
    clear(K)
    store_block(K, 0, 0, S)
    store_block(K, 0, 6, mneg(S))
    store_block(K, 6, 0, mneg(S))
    store_block(K, 6, 6, S)
    _store_coupling(K, 0, 3, matmul(S, W1))
    _store_coupling(K, 6, 3, mneg(matmul(S, W1)))
    _store_coupling(K, 0, 9, matmul(S, W2))
    _store_coupling(K, 6, 9, mneg(matmul(S, W2)))
    _store_coupling(K, 3, 9, _sandwich(W1, S, W2))
    store_block(K, 3, 3, _sandwich(W1, S, W1))
    store_block(K, 9, 9, _sandwich(W2, S, W2))
    accumulate_block(K, 3, 3, matmul(skew(r1), skew(tmul(R1, f))))
    accumulate_block(K, 9, 9, mneg(matmul(skew(r2), skew(tmul(R2, f)))))


@compiled
def tangent(joint: Any, bodies: Any, gamma: Array, K: Array) -> None:
    """Write K_c = d(C_q^T gamma)/dq to the 12x12 matrix K."""
    hessian(joint, bodies, gamma[joint.row], K)


@inlined
def _store_coupling(K: Array, i: int, j: int, block: Mat3) -> None:
    store_block(K, i, j, block)
    store_block(K, j, i, transpose(block))
