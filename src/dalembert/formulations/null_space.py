"""Accelerations in independent coordinates: the null space of A (Wojtyra and Fraczek 2013, eq. 13), dense.

    v' = v'_0 + Z y,    A v'_0 = b,    Z^T M Z y = Z^T (Q + C - M v'_0)

M. Wojtyra, J. Fraczek, Solvability of reactions in rigid multibody systems with redundant nonholonomic constraints,
Multibody Syst. Dyn. 30 (2013).
"""

from __future__ import annotations

from dalembert.formulations.result import Constrained, check_unique
from dalembert.kernel.vec3 import Array
from dalembert.linalg.dense import solve_null_space


def null_space(M: Array, A: Array, Q: Array, b: Array, C: Array) -> Constrained:
    """Return the accelerations from independent ones; M regular or not."""
    check_unique(M, A)
    acceleration, multipliers = solve_null_space(M, A, Q + C, b)
    return Constrained(acceleration, multipliers, M @ acceleration - Q)
