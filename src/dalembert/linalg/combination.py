"""Saddle systems with a weighted sum of sparse matrices in place of M: K + M/tau^2, K + s D + s^2 M, and so on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from dalembert.kernel.vec3 import Array
from dalembert.linalg.pattern import Pattern
from dalembert.linalg.saddle import SaddleSolver


class CombinationSolver:
    """Factorises ``[sum of c_k P_k, A^T; A, 0]`` for changing c, with one analysis of the joined pattern.

    Parameters
    ----------
    parts : sequence of sparse array
        Their patterns and that of A must stay what they are.
    A : sparse array
    eps : float, optional
        See `SaddleSolver`.

    Examples
    --------
    >>> one, two = sp.csc_array(np.eye(1)), sp.csc_array(np.array([[3.0]]))
    >>> combination = CombinationSolver([one, two], sp.csc_array((0, 1)))
    >>> combination.factorize([one, two], [1.0, 2.0], sp.csc_array((0, 1)))
    >>> combination.solver.solve(np.array([14.0]), np.zeros(0)).x.round(12).tolist()
    [2.0]
    """

    def __init__(self, parts: Sequence[sp.csc_array], A: sp.csc_array, *, eps: float | None = None) -> None:
        entries = [part.tocoo() for part in parts]
        rows, cols = (np.concatenate([getattr(entry, name) for entry in entries]).astype(np.intp) for name in ("row", "col"))
        self._sizes = [part.nnz for part in parts]
        self._pattern = Pattern(rows, cols, parts[0].shape)  # joined, so that other sums of one model find their plan made
        self.solver = SaddleSolver(self._pattern.matrix(np.ones(rows.size)), A, eps=eps)

    def fits(self, parts: Sequence[sp.csc_array]) -> bool:
        """Return whether the patterns have the size of those that were analysed."""
        return [part.nnz for part in parts] == self._sizes

    def factorize(self, parts: Sequence[sp.csc_array], weights: Sequence[float], A: sp.csc_array) -> None:
        """Factorise with new values; no search for undetermined unknowns, which are a question of the model."""
        values: Array = np.concatenate([weight * part.data for weight, part in zip(weights, parts, strict=True)])
        self.solver.factorize(self._pattern.values(values), A.data, check=False)


def stiffness_of_rows(K: sp.csc_array, A: sp.csc_array) -> sp.csc_array:
    """Return A^T S A, with S of the size of K: good pivots where K has none, and no change on A x = 0.

    Examples
    --------
    >>> stiffness_of_rows(sp.csc_array(np.diag([2.0, 0.0])), sp.csc_array([[1.0, 1.0]])).toarray().tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    size, rows = np.asarray(abs(K).sum(axis=1)).ravel(), abs(A)
    S = (rows @ size) / np.maximum(np.asarray(rows.power(2).sum(axis=1)).ravel(), 1e-300)
    return sp.csc_array(A.T @ sp.diags_array(np.where(S > 0.0, S, 1.0)) @ A)
