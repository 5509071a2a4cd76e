"""Masarati's projections: Gauss' principle for the accelerations, a weighted projection for velocities and positions; dense.

    x' = v - W^-1 A^T (A W^-1 A^T)^+ (A v - b')               (11a)      P_v, p_v of (12)
    v' = a - M^-1 A^T (A M^-1 A^T)^+ (A a - b'')              (11b), (8) with its sign corrected
    x_{i+1} = x_i - W^-1 A^T (A W^-1 A^T)^+ phi(x_i, t)       (17)

With Ritz forms x = X q the same with A X, X^T M X, X^T W X, X^T f (23) to (26), see `integrators/ode.py`; where A X loses rank
the pseudo-inverse gives the least squares: constraints that the forms cannot meet are met as well as possible.

P. Masarati, Adding kinematic constraints to purely differential dynamics, Comput. Mech. 47 (2011).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalembert.formulations.result import Constrained, completed
from dalembert.kernel.vec3 import Array
from dalembert.linalg.dense import RANK_TOLERANCE


def _correction(W: Array, A: Array, error: Array) -> tuple[Array, Array]:
    """Return W^-1 A^T mu and mu = (A W^-1 A^T)^+ error (14)."""
    if not A.size:
        return np.zeros(W.shape[0]), np.zeros(A.shape[0])
    response = solve(W, A.T)
    mu = np.linalg.pinv(A @ response, rcond=RANK_TOLERANCE, hermitian=True) @ error
    return response @ mu, mu


def solve(matrix: Array, right: Array) -> Array:
    """Return matrix^-1 right."""
    return np.asarray(np.linalg.solve(matrix, right), float)


def gauss(M: Array, A: Array, Q: Array, b: Array, C: Array) -> Constrained:
    """Return the accelerations nearest to the free ones in the metric of a regular M (8), (11b)."""
    free, response = solve(M, Q + C), solve(M, A.T)
    return completed(M, A, Q, C, corrected_acceleration(free, response, A, b)[0])


def corrected_acceleration(a: Array, response: Array, A: Array, b: Array) -> tuple[Array, Array]:
    """Return v' and lambda from the free accelerations a and the response M^-1 A^T to constraint forces (11b), (14b)."""
    lam = np.linalg.pinv(A @ response, rcond=RANK_TOLERANCE) @ (A @ a - b)
    return a - response @ lam, lam


def projected_velocity(v: Array, A: Array, b: Array, W: Array | None = None) -> tuple[Array, Array]:
    """Return the velocity nearest to v in the metric W with A x' = b', and the multipliers mu (11a), (14a)."""
    correction, mu = _correction(np.eye(v.size) if W is None else W, A, A @ v - b)
    return v - correction, mu


def projectors(W: Array, A: Array, b: Array) -> tuple[Array, Array]:
    """Return P and p of ``x' = (I - P) v + p`` (12), (13).

    Examples
    --------
    >>> P, p = projectors(np.eye(2), np.array([[1.0, 0.0]]), np.array([3.0]))
    >>> ((np.eye(2) - P) @ [5.0, 7.0] + p).tolist()
    [3.0, 7.0]
    """
    response = solve(W, A.T)
    inverse = np.linalg.pinv(A @ response, rcond=RANK_TOLERANCE, hermitian=True)
    return response @ inverse @ A, response @ inverse @ b


def projected_position(
    x: Array,
    phi: Callable[[Array], Array],
    jacobian: Callable[[Array], Array],
    *,
    W: Array | None = None,
    tolerance: float = 1e-13,
    iterations: int = 30,
) -> tuple[Array, float]:
    """Return the position nearest to x in the metric W with phi = 0, and what is left of phi (16), (17)."""
    W = np.eye(x.size) if W is None else W
    best, left = x, float("inf")
    for _ in range(iterations):
        error = phi(x)
        size = float(np.abs(error).max(initial=0.0))
        if not size < left:
            break
        best, left = x, size
        if size <= tolerance:
            break
        x = x - _correction(W, jacobian(x), error)[0]
    return best, left
