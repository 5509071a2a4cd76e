"""Rank of the constraints and which of them depend on each other, for `dalembert check`.

Small systems: singular values of the scaled Jacobian A. Large ones stay sparse: inverse iteration with ``A A^T + mu I`` on a
block of random vectors Y brings the null space of A^T into their span, along with what is nearly in it (a cantilever of n links
has singular values like 1/n^2). The singular values of A^T Y, free of the squares in A A^T, then tell one from the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from dalembert.kernel.vec3 import Array

MOST_DENSE_ROWS = 400
_DENSE_TOLERANCE = 1e-11  # singular value, relative to the largest, that is zero
_SPARSE_TOLERANCE = 1e-10
_MU = 1e-13
_BLOCK = 30  # vectors at first; twice as many when all of them turn out to be null vectors
_ITERATIONS = 6
_MEMBER = 1e-6  # what is smaller, relative to the largest, takes no part in a null vector


class Redundancy(NamedTuple):
    """Rank of a Jacobian, and the rows that take part in its dependencies."""

    rank: int
    rows: list[int]


def redundancy(A: Any) -> Redundancy:
    """Return rank and dependent rows of a sparse Jacobian.

    Examples
    --------
    >>> redundancy(sp.csc_array(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])))
    Redundancy(rank=2, rows=[0, 1])
    """
    m = A.shape[0]
    if m == 0:
        return Redundancy(0, [])
    scaled = _scaled(sp.csr_array(A))
    return _dense(scaled.toarray()) if m <= MOST_DENSE_ROWS else _sparse(scaled)


def _scaled(A: Any) -> Any:
    """Return A with columns of largest entry one, then rows of length one; what is zero stays zero."""
    A = A @ sp.diags_array(_inverse(abs(A).max(axis=0).toarray().ravel()))
    return sp.diags_array(_inverse(np.sqrt(A.multiply(A).sum(axis=1)))) @ A


def _inverse(sizes: Array) -> Array:
    return np.where(sizes > 0.0, 1.0 / np.where(sizes > 0.0, sizes, 1.0), 1.0)


def _dense(A: Array) -> Redundancy:
    left, values, _ = np.linalg.svd(A)
    rank = int(np.sum(values > _DENSE_TOLERANCE * max(values[0], np.finfo(float).tiny)))
    return Redundancy(rank, _members(left[:, rank:]))


def _sparse(A: Any) -> Redundancy:
    m, n = A.shape
    B = sp.csc_matrix(A @ A.T + _MU * sp.eye_array(m))
    factors = splu(B, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    size, random = min(_BLOCK, m), np.random.default_rng(0)
    while True:
        Y = random.normal(size=(m, size))
        for _ in range(_ITERATIONS):
            Y = np.linalg.qr(factors.solve(Y))[0]
        _, values, right = np.linalg.svd(A.T @ Y, full_matrices=n < size)
        null = np.append(values, np.zeros(size - values.size)) <= _SPARSE_TOLERANCE  # the rows have length one
        if size == m or not null.all():
            return Redundancy(m - int(null.sum()), _members(Y @ right[null].T))
        size = min(2 * size, m)


def _members(vectors: Array) -> list[int]:
    """Return the rows that take part in null vectors."""
    sizes = np.linalg.norm(vectors, axis=1)
    return [int(row) for row in np.nonzero(sizes > _MEMBER * max(sizes.max(initial=0.0), np.finfo(float).tiny))[0]]
