"""The saddle solve by pseudo-inverses: dense and slow, as the papers write it; what `saddle` is tested against.

    [ M   A^T ] [ x   ]   [ f ]
    [ A    0  ] [ lam ] = [ b ]

* `solve_regular`, M regular: Masarati et al. 2011, eq. (8).
* `solve_null_space`, M singular or not: x from a particular solution of A x = b and a basis Z of the null space of A, then the
  smallest lam that fits. The rank of [M; A] is checked first.

The pseudo-inverse of the whole matrix gives the same x and lam when [M; A] has full rank: then its null space holds vectors
(0, lam) only, and the smallest (x, lam) is that with the smallest lam. `solve_pseudo_inverse` is this third way.

Ranks are decided on rows and columns scaled to a common size; a singular value below ``rtol`` times the largest is zero.

References
----------
P. Masarati, Constraint stabilization of mechanical systems in ordinary differential equations form, J. Multi-body Dyn. 225
(2011). F. E. Udwadia, A. D. Schutte, Equations of motion for general constrained systems in Lagrangian mechanics, Acta Mech.
213 (2010).
"""

from __future__ import annotations

import numpy as np

from dalembert.kernel.vec3 import Array
from dalembert.linalg.saddle import InconsistentConstraintsError, UndeterminedUnknownsError

RANK_TOLERANCE = 1e-11
"""Singular values below this, relative to the largest, are zero."""

_CONSISTENT = 1e-9  # relative mismatch of the constraint rows that is accepted


def _unit(sizes: Array) -> Array:
    """Return the factors that bring rows (or columns) of these sizes to one; one for those of zero."""
    return np.where(sizes > 0.0, 1.0 / np.where(sizes > 0.0, sizes, 1.0), 1.0)


def rank_and_null_space(A: Array, *, rtol: float = RANK_TOLERANCE) -> tuple[int, Array]:
    """Return the rank of A and an orthonormal basis of its null space, rows scaled to a largest entry of one.

    Parameters
    ----------
    A : array, shape (m, n)
        Any matrix.
    rtol : float
        Smallest singular value, relative to the largest, that counts.

    Returns
    -------
    rank : int
    Z : array, shape (n, n - rank)
        ``A Z = 0``.

    Examples
    --------
    >>> rank, Z = rank_and_null_space(np.array([[1.0, 1.0], [2.0, 2.0]]))
    >>> rank, np.abs(Z).round(6).tolist()
    (1, [[0.707107], [0.707107]])
    """
    n = A.shape[1]
    if A.shape[0] == 0:
        return 0, np.eye(n)
    scaled = A * _unit(np.abs(A).max(axis=1))[:, None]
    _, values, right = np.linalg.svd(scaled)
    rank = int(np.sum(values > rtol * values[0])) if values[0] > 0.0 else 0
    return rank, right[rank:].T


def check_determined(M: Array, A: Array, *, rtol: float = RANK_TOLERANCE) -> None:
    """Refuse a system whose x is not unique, that is, where [M; A] has not full rank.

    Raises
    ------
    UndeterminedUnknownsError
        Names the unknowns that take part in motions without inertia and constraint.

    Examples
    --------
    >>> try:
    ...     check_determined(np.diag([1.0, 0.0]), np.array([[1.0, 0.0]]))
    ... except UndeterminedUnknownsError as error:
    ...     error.columns.tolist()
    [1]
    """
    stacked = np.vstack([M, A])
    columns = _unit(np.abs(stacked).max(axis=0))
    rank, null_space = rank_and_null_space(stacked * columns, rtol=rtol)
    if rank < stacked.shape[1]:
        taking_part = np.abs(null_space).max(axis=1)
        raise UndeterminedUnknownsError(np.flatnonzero(taking_part > 1e-6 * taking_part.max()))


def check_consistent(A: Array, b: Array, x: Array) -> None:
    """Refuse constraint rows that contradict each other: x is the best there is, and does not meet them.

    Raises
    ------
    InconsistentConstraintsError
        Names the rows, and the largest mismatch.
    """
    if b.size == 0:
        return
    scale = _unit(np.abs(A).max(axis=1))
    residual = np.abs(A @ x - b) * scale
    if residual.max() > _CONSISTENT * (np.abs(x).max(initial=0.0) + (np.abs(b) * scale).max()):
        rows = np.flatnonzero(residual > 1e-6 * residual.max())
        raise InconsistentConstraintsError(rows, float((residual / scale).max()))


def smallest_multipliers(A: Array, g: Array, *, weights: Array | None = None, rtol: float = RANK_TOLERANCE) -> Array:
    """Return the lam with ``A^T lam = g`` that has the smallest ``sum(weights * lam**2)``.

    Examples
    --------
    >>> smallest_multipliers(np.array([[1.0], [1.0]]), np.array([6.0])).round(12).tolist()
    [3.0, 3.0]
    >>> smallest_multipliers(np.array([[1.0], [1.0]]), np.array([6.0]), weights=np.array([1.0, 2.0])).round(12).tolist()
    [4.0, 2.0]
    """
    if A.shape[0] == 0:
        return np.zeros(0)
    row = np.ones(A.shape[0]) if weights is None else 1.0 / np.sqrt(weights)
    rank, _ = rank_and_null_space(A, rtol=rtol)
    column = _unit(np.abs(A * row[:, None]).max(axis=0))
    left, values, right = np.linalg.svd((A * row[:, None] * column).T, full_matrices=False)
    return np.asarray(row * (right[:rank].T @ ((left[:, :rank].T @ (column * g)) / values[:rank])))


def solve_regular(M: Array, A: Array, f: Array, b: Array) -> tuple[Array, Array]:
    """Return x and lam for a regular M: Masarati et al. 2011, eq. (8).

    Parameters
    ----------
    M, A : array, shape (n, n) and (m, n)
        Mass matrix (regular, not necessarily symmetric) and constraint Jacobian.
    f, b : array, shape (n,) and (m,)
        Right sides.

    Examples
    --------
    >>> x, lam = solve_regular(np.eye(2), np.array([[1.0, -1.0]]), np.array([2.0, 0.0]), np.zeros(1))
    >>> x.round(12).tolist(), lam.round(12).tolist()
    ([1.0, 1.0], [1.0])
    """
    free = np.linalg.solve(M, f)
    response = np.linalg.solve(M, A.T)
    lam = np.linalg.pinv(A @ response, rcond=RANK_TOLERANCE) @ (A @ free - b)
    return free - response @ lam, lam


def solve_pseudo_inverse(M: Array, A: Array, f: Array, b: Array) -> tuple[Array, Array]:
    """Return x and lam by the pseudo-inverse of the whole matrix; M may be singular, [M; A] not.

    Examples
    --------
    >>> x, lam = solve_pseudo_inverse(np.zeros((1, 1)), np.ones((2, 1)), np.array([6.0]), np.array([1.0, 1.0]))
    >>> x.round(12).tolist(), lam.round(12).tolist()
    ([1.0], [3.0, 3.0])
    """
    m, n = A.shape
    whole = np.block([[M, A.T], [A, np.zeros((m, m))]])
    solution = np.linalg.pinv(whole, rcond=RANK_TOLERANCE) @ np.concatenate([f, b])
    return solution[:n], solution[n:]


def solve_null_space(
    M: Array, A: Array, f: Array, b: Array, *, weights: Array | None = None, rtol: float = RANK_TOLERANCE
) -> tuple[Array, Array]:
    """Return x and the smallest lam; M may be singular, rows of A may depend on each other.

    Parameters
    ----------
    M, A : array, shape (n, n) and (m, n)
        Mass matrix and constraint Jacobian.
    f, b : array, shape (n,) and (m,)
        Right sides.
    weights : array, shape (m,), optional
        Weights of the squared multipliers; ones unless given.
    rtol : float
        Smallest singular value, relative to the largest, that counts.

    Raises
    ------
    UndeterminedUnknownsError
        If [M; A] has not full rank.
    InconsistentConstraintsError
        If b is not in the range of A.

    Examples
    --------
    >>> x, lam = solve_null_space(np.zeros((1, 1)), np.ones((2, 1)), np.array([6.0]), np.array([1.0, 1.0]))
    >>> x.round(12).tolist(), lam.round(12).tolist()
    ([1.0], [3.0, 3.0])
    """
    check_determined(M, A, rtol=rtol)
    _, Z = rank_and_null_space(A, rtol=rtol)
    scale = _unit(np.abs(A).max(axis=1, initial=0.0))
    x: Array = np.zeros(f.size)
    if b.size:
        x = np.asarray(np.linalg.lstsq(A * scale[:, None], b * scale, rcond=rtol)[0], dtype=np.float64)
    check_consistent(A, b, x)
    if Z.shape[1]:
        x = x + Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (f - M @ x))
    return x, smallest_multipliers(A, f - M @ x, weights=weights, rtol=rtol)
