"""Redundant constraints handled by leaving rows out, or by penalties; dense (Wojtyra and Fraczek 2013, section 3.1).

* `elimination` leaves dependent rows out, chosen by name or by QR with column pivoting; their reactions are zero.
* `augmented_lagrangian` (Bayo et al. 1988): from lam = 0, repeat

      (M + A^T W A) v' = Q + C - A^T lam + A^T W b,    lam <- lam + W (A v' - b)

  until lam stays. With W = 1/mu it is the proximal iteration of the saddle solve.
* `penalty`: the first of these passes only; the constraints give way by lam / W.

All have the same v' (the penalty to within its softness); multipliers agree where they are unique. Which of the others is
"right" no rigid model knows: elimination loads the rows that stay, penalties share by the weights W, the stiffnesses of the
joints if they are meant so.

E. Bayo, J. Garcia de Jalon, M. A. Serna, A modified Lagrangian formulation for the dynamic analysis of constrained mechanical
systems, Comput. Methods Appl. Mech. Eng. 71 (1988).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from dalembert.errors import ModelError, SolveError, nearest
from dalembert.formulations.result import Constrained, check_unique
from dalembert.kernel.vec3 import Array
from dalembert.linalg.rank import TOLERANCE, dependencies, scaled_rows

PENALTY = 1e4
"""W beside the largest entry of M, where it is not given."""

ITERATIONS = 200


def independent_rows(A: Array, remove: Sequence[int] | None = None) -> list[int]:
    """Return the rows that stay: all but the given ones, or those that QR with pivoting puts first.

    Examples
    --------
    >>> independent_rows(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])), independent_rows(np.eye(2), [0])
    ([0, 2], [1])
    """
    if remove is not None:
        return [k for k in range(A.shape[0]) if k not in set(remove)]
    scaled = scaled_rows(sp.csr_array(A))[0].toarray() if A.size else A
    _, R, order = scipy.linalg.qr(scaled.T, pivoting=True, mode="economic")
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > TOLERANCE * diagonal[0])) if diagonal.size and diagonal[0] > 0.0 else 0
    return sorted(int(k) for k in order[:rank])


def elimination(M: Array, A: Array, Q: Array, b: Array, C: Array, *, remove: Sequence[int] | None = None) -> Constrained:
    """Return the accelerations and multipliers with dependent rows left out; M regular or not."""
    check_unique(M, A)
    rows, n = independent_rows(A, remove), M.shape[0]
    kept = A[rows]
    if dependencies(sp.csr_array(kept)).degree:
        raise SolveError("the rows that stay still depend on each other: leave out more, or others")
    whole = np.block([[M, kept.T], [kept, np.zeros((len(rows), len(rows)))]])
    found = np.linalg.solve(whole, np.concatenate([Q + C, b[rows]]))
    multipliers = np.zeros(A.shape[0])
    multipliers[rows] = found[n:]
    left = np.abs(A @ found[:n] - b).max(initial=0.0)
    if left > 1e-8 * max(1.0, np.abs(found[:n]).max(initial=0.0)):
        raise SolveError(f"rows were left out that do not depend on the others: they are violated by {left:.3g}")
    return Constrained(found[:n], multipliers, M @ found[:n] - Q)


def augmented_lagrangian(
    M: Array,
    A: Array,
    Q: Array,
    b: Array,
    C: Array,
    *,
    weights: Array | float | None = None,
    iterations: int = ITERATIONS,
    tolerance: float = 1e-13,
) -> Constrained:
    """Return the accelerations and multipliers by repeated penalties; M regular or not."""
    check_unique(M, A)
    W = _weights(M, A, weights)
    factors = scipy.linalg.lu_factor(M + A.T @ (W[:, None] * A))
    multipliers, acceleration = np.zeros(A.shape[0]), np.zeros(M.shape[0])
    for _ in range(iterations):
        before = acceleration
        acceleration = scipy.linalg.lu_solve(factors, Q + C - A.T @ multipliers + A.T @ (W * b))
        multipliers = multipliers + W * (A @ acceleration - b)
        if np.abs(acceleration - before).max(initial=0.0) <= tolerance * np.abs(acceleration).max(initial=0.0):
            break
    return Constrained(acceleration, multipliers, M @ acceleration - Q)


def penalty(M: Array, A: Array, Q: Array, b: Array, C: Array, *, weights: Array | float | None = None) -> Constrained:
    """Return the accelerations and multipliers of constraints that give way a little."""
    return augmented_lagrangian(M, A, Q, b, C, weights=weights, iterations=1)


def _weights(M: Array, A: Array, weights: Array | float | None) -> Array:
    """Return W, one for each row."""
    if weights is None:
        weights = PENALTY * max(float(np.abs(M).max(initial=0.0)), 1e-300)
    return np.broadcast_to(np.asarray(weights, float), (A.shape[0],))


def rows_by_name(rows: Sequence[int | str], names: Sequence[str]) -> list[int]:
    """Return rows given by name or number as numbers."""
    known = {name: k for k, name in enumerate(names)}
    for row in rows:
        if isinstance(row, str) and row not in known:
            raise ModelError(f"row {row!r}", "there is no such constraint row", nearest(row, known))
    return [known[row] if isinstance(row, str) else int(row) for row in rows]
