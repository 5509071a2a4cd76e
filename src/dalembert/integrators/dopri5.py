"""The Runge-Kutta pair 5(4) of Dormand and Prince: tableau, dense output, error norm and step control.

    k_i = f(t + c_i h, y + h sum_j a_ij k_j),    y_1 = y + h sum_i b_i k_i,    error = h sum_i e_i k_i

Its last stage is taken at the end of the step (``a_7j = b_j``), so that k_7 is the k_1 of the next step.

References
----------
J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6 (1980). E. Hairer,
S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed. (1993), II.4 to II.6.
"""

from __future__ import annotations

import math

import numpy as np

from dalembert.kernel.compile import compiled
from dalembert.kernel.vec3 import Array, load, norm

STAGES = 7

C = np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1])

A = np.array([
    [0, 0, 0, 0, 0, 0, 0],
    [1 / 5, 0, 0, 0, 0, 0, 0],
    [3 / 40, 9 / 40, 0, 0, 0, 0, 0],
    [44 / 45, -56 / 15, 32 / 9, 0, 0, 0, 0],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0, 0],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0, 0],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0],
])  # fmt: skip

B = A[6].copy()

E = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])

D = np.array([
    -12715105075 / 11282082432, 0, 87487479700 / 32700410799, -10690763975 / 1880347072,
    701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423,
])  # fmt: skip
"""Of the dense output of order 4 (Hairer et al. 1993, II.6)."""

_SAFETY, _SHRINK, _GROWTH = 0.9, 0.2, 10.0
_BETA = 0.04  # of the PI control
_SMALL_ERROR = 1e-4


@compiled
def combine(h: float, weights: Array, K: Array, stages: int, out: Array) -> None:
    """Write h sum_i weights_i k_i over the first `stages` stages."""
    for j in range(out.size):
        out[j] = 0.0
    for i in range(stages):
        weight = h * weights[i]
        if weight != 0.0:
            row = K[i]
            for j in range(out.size):
                out[j] += weight * row[j]


@compiled
def dense_weights(theta: float, out: Array) -> None:
    """Write the weights b_i(theta) of ``y(t + theta h) = y + h sum_i b_i(theta) k_i``, of order 4.

    b_i(theta) = theta (b_i + (1 - theta) (d_i1 - b_i + theta (2 b_i - d_i1 - d_i7 + (1 - theta) D_i)))
    """
    rest = 1.0 - theta
    for i in range(STAGES):
        first = 1.0 if i == 0 else 0.0
        last = 1.0 if i == STAGES - 1 else 0.0
        out[i] = theta * (B[i] + rest * (first - B[i] + theta * (2.0 * B[i] - first - last + rest * D[i])))


@compiled
def error_norm(e: Array, q0: Array, q1: Array, v0: Array, v1: Array, rtol: float, atol: Array) -> float:
    """Return the largest error of the step, in units of what is allowed; one or less is accepted.

    Over all bodies and the four kinds position, angle, velocity, angular velocity, the lengths of 3-vectors count, so that the
    axes do not matter:

        |e| / max(atol_kind, rtol max(|y_0|, |y_1|)),    an angle of one radian for y of the angles
    """
    half, largest = e.size // 2, 0.0
    for i in range(half // 6):
        position = max(norm(load(q0, 7 * i)), norm(load(q1, 7 * i)))
        velocity = max(norm(load(v0, 6 * i)), norm(load(v1, 6 * i)))
        angular = max(norm(load(v0, 6 * i + 3)), norm(load(v1, 6 * i + 3)))
        parts = (
            norm(load(e, 6 * i)) / max(atol[0], rtol * position),
            norm(load(e, 6 * i + 3)) / max(atol[1], rtol),
            norm(load(e, half + 6 * i)) / max(atol[2], rtol * velocity),
            norm(load(e, half + 6 * i + 3)) / max(atol[3], rtol * angular),
        )
        for part in parts:
            if not part < math.inf:
                return math.inf
            largest = max(largest, part)
    return largest


@compiled
def step_factor(error: float, error_before: float) -> float:
    """Return the ratio of the next step to this one, after an accepted step (PI control)."""
    factor = _SAFETY * max(error, 1e-10) ** (0.75 * _BETA - 0.2) * max(error_before, _SMALL_ERROR) ** _BETA
    return float(min(_GROWTH, max(_SHRINK, factor)))


@compiled
def rejected_factor(error: float) -> float:
    """Return the ratio of the next step to this one, after a rejected step."""
    if not error < math.inf:
        return 0.25
    return float(max(_SHRINK, _SAFETY * error ** (0.75 * _BETA - 0.2)))
