"""Null directions of dense matrices, told from small eigenvalues by rounding, and eigenvalues without those that are zero.

A singular value s with the vectors u, v counts as zero when it is what rounding alone would leave of u^T S v:

    s <= ROUNDING |u|^T |S| |v|      or      s <= n eps max |S|

so that a soft spring beside a stiff one is not taken for none: the first bound grades with the entries that take part. The
second is what making S itself has left.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from dalembert.kernel.vec3 import Array

ROUNDING = 1e-11


def null_directions(S: Array) -> tuple[Array, Array]:
    """Return orthonormal bases of the right and of the left null space.

    Examples
    --------
    >>> right, left = null_directions(np.array([[0.0, 1.0], [0.0, 2.0]]))
    >>> np.abs(right).round(9).tolist(), np.abs(left).round(6).tolist()
    ([[1.0], [0.0]], [[0.894427], [0.447214]])
    """
    if S.size == 0:
        return np.zeros((S.shape[1], 0)), np.zeros((S.shape[0], 0))
    left, values, right = np.linalg.svd(S)
    bounds = np.einsum("ij,jk,ik->i", np.abs(left.T), np.abs(S), np.abs(right))
    floor = S.shape[0] * np.finfo(float).eps * np.abs(S).max()
    zero = values <= np.maximum(ROUNDING * bounds, floor)
    return right[zero].T, left[:, zero]


def complement(N: Array) -> Array:
    """Return an orthonormal basis of what is orthogonal to the columns of N.

    Examples
    --------
    >>> np.abs(complement(np.array([[0.0], [1.0]]))).tolist()
    [[1.0], [0.0]]
    """
    n, k = N.shape
    return np.asarray(np.linalg.qr(N, mode="complete")[0][:, k:]) if k else np.eye(n)


class Eigenpairs(NamedTuple):
    """The eigenvalues that are not zero, their vectors, and how many were zero (Jordan chains included)."""

    values: NDArray[np.complex128]
    vectors: NDArray[np.complex128]
    zeros: int


def nonzero_eigenpairs(S: Array) -> Eigenpairs:
    """Return the eigenpairs of a square matrix, after all that belong to zero were split off.

    The null space is split off again and again: with S N = 0 and Q orthogonal to N, what is left are the eigenvalues of Q^T S Q
    and the vectors ``Q x + N (N^T S Q x)/value``. So a double zero on one vector, a drifting body, is not smeared to the
    root of the rounding error.

    Examples
    --------
    >>> pairs = nonzero_eigenpairs(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, -2.0]]))
    >>> pairs.values.real.round(12).tolist(), pairs.zeros
    ([-2.0], 2)
    """
    chain: list[tuple[Array, Array, Array]] = []
    while True:
        N = null_directions(S)[0]
        if N.shape[1] == 0:
            break
        Q = complement(N)
        chain.append((S, N, Q))
        S = Q.T @ S @ Q
    values: Any
    vectors: Any
    values, vectors = scipy.linalg.eig(S) if S.size else (np.zeros(0, complex), np.zeros((0, 0), complex))
    for S, N, Q in reversed(chain):
        vectors = Q @ vectors + N @ ((N.T @ S @ Q @ vectors) / values)
    return Eigenpairs(values, vectors, sum(N.shape[1] for _, N, _ in chain))
