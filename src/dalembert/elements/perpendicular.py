"""Two axes that stay perpendicular: the fourth row of Hooke's universal joint.

    phi = a_1 . a_2 = 0     with the unit axes a_1 fixed in the driven body B1 and a_2 in the main body B2

The multiplier is the torque about a_1 x a_2 [N m].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.kernel.compile import compiled
from dalembert.kernel.vec3 import (
    ZERO,
    Array,
    clear,
    cross,
    dot,
    load,
    load_matrix,
    matmul,
    mscale,
    mul,
    scale,
    skew,
    store,
    store_block,
    tmatmul,
    tmul,
    transpose,
)

PERPENDICULAR = np.dtype(
    [
        ("body_1", np.intp),
        ("body_2", np.intp),
        ("axis_1", np.float64, 3),  # in B1
        ("axis_2", np.float64, 3),  # in B2
        ("row", np.intp),
        ("term", np.intp),
    ],
    align=True,
)


@compiled
def residual(joint: Any, bodies: Any, phi: Array) -> None:
    """Add phi = a_1 . a_2, the sine of the deviation from a right angle."""
    R1, R2 = load_matrix(bodies[joint.body_1].rotation), load_matrix(bodies[joint.body_2].rotation)
    phi[joint.row] += dot(mul(R1, load(joint.axis_1)), mul(R2, load(joint.axis_2)))


@compiled
def jacobian(joint: Any, bodies: Any, J: Array) -> None:
    """Write the row [0 | (a_1 x a_2)^T R_B1 | 0 | -(a_1 x a_2)^T R_B2]."""
    R1, R2 = load_matrix(bodies[joint.body_1].rotation), load_matrix(bodies[joint.body_2].rotation)
    n = cross(mul(R1, load(joint.axis_1)), mul(R2, load(joint.axis_2)))
    row = J[joint.term]
    store(row, 0, ZERO)
    store(row, 3, tmul(R1, n))
    store(row, 6, ZERO)
    store(row, 9, scale(-1.0, tmul(R2, n)))


@compiled
def right_sides(joint: Any, bodies: Any, b1: Array, b2: Array) -> None:
    """Add b' = 0 and b'' = -(w_1 x (w_1 x a_1)) . a_2 - 2 (w_1 x a_1) . (w_2 x a_2) - a_1 . (w_2 x (w_2 x a_2))."""
    one, two = bodies[joint.body_1], bodies[joint.body_2]
    R1, R2 = load_matrix(one.rotation), load_matrix(two.rotation)
    w1, w2 = mul(R1, load(one.angular_velocity)), mul(R2, load(two.angular_velocity))
    a1, a2 = mul(R1, load(joint.axis_1)), mul(R2, load(joint.axis_2))
    rate_1, rate_2 = cross(w1, a1), cross(w2, a2)
    b2[joint.row] -= dot(cross(w1, rate_1), a2) + 2.0 * dot(rate_1, rate_2) + dot(a1, cross(w2, rate_2))


@compiled
def tangent(joint: Any, bodies: Any, gamma: Array, K: Array) -> None:
    """Write K_c = d(C_q^T gamma)/dq to the 12x12 matrix K.

    From the torques gamma a_1 x R_B1^T a_2 on B1 (in B1) and gamma a_2 x R_B2^T a_1 on B2 (in B2):

        K22 = gamma tilde(a_1) tilde(R_B1^T a_2),   K24 = -gamma tilde(a_1) R_B1^T R_B2 tilde(a_2)
        K44 = gamma tilde(a_2) tilde(R_B2^T a_1),   K42 = K24^T
    """
    R1, R2 = load_matrix(bodies[joint.body_1].rotation), load_matrix(bodies[joint.body_2].rotation)
    a1, a2 = load(joint.axis_1), load(joint.axis_2)
    gamma_1 = gamma[joint.row]
    a2_in_1, a1_in_2 = tmul(R1, mul(R2, a2)), tmul(R2, mul(R1, a1))
    K24 = mscale(-gamma_1, matmul(skew(a1), matmul(tmatmul(R1, R2), skew(a2))))
    clear(K)
    store_block(K, 3, 3, mscale(gamma_1, matmul(skew(a1), skew(a2_in_1))))
    store_block(K, 3, 9, K24)
    store_block(K, 9, 3, transpose(K24))
    store_block(K, 9, 9, mscale(gamma_1, matmul(skew(a2), skew(a1_in_2))))
