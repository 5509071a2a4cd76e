"""Rank of a constraint matrix A, and the dependencies of its rows: the null space of A^T.

Small systems: singular values of A, its columns and rows scaled to a common size. Large ones never see a dense matrix of their
size. Random vectors are projected on the null space of A^T by ``mu (A A^T + mu I)^-1``, applied twice; rows in which all of
them vanish depend on no other. What is left falls apart into *groups* of rows that share no unknown: a door with three hinges
here, a closed loop there. Each group is small as a rule and gets its own singular values.

A group that is large itself (a ladder, a long chain that is only nearly dependent) is treated by inverse iteration with
``A A^T + mu I`` on a block of random vectors Y, which brings the null space into their span, along with what is nearly in it;
the singular values of A^T Y, free of the squares in A A^T, tell one from the other. If the null space is larger than the
block, its dimension is the number of negative pivots of ``A A^T - s I`` (Sylvester's law of inertia).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from dalembert.kernel.vec3 import Array
from dalembert.linalg.pattern import Indices

TOLERANCE = 1e-10
"""A singular value, relative to the largest, that is zero."""

CLOSE_ABOVE, CLOSE_BELOW = 1e-6, 1e-12
"""Singular values between these make the decision about the rank a close one."""

MEMBER = 1e-6
"""What is smaller, relative to the largest, takes no part in a null vector."""

MOST_DENSE_ROWS = 400

_MU = 1e-12  # of the projection
_SEEN = 1e-7  # of a projected vector, relative to its largest entry
_VECTORS = 12
_FINE_MU = 1e-13  # of the inverse iteration
_BLOCK, _ITERATIONS = 30, 6
_STACK = 2_000_000  # numbers in the matrices that are looked at together
_SHIFTS = (1e-13, 1e-11)  # squared singular values below which pivots are counted


Units = NDArray[Any] | None
"""Labels of columns, equal for those of the same unit."""


class Group(NamedTuple):
    """Rows that depend on each other, and on no others.

    Attributes
    ----------
    rows : array of int
    null : array, shape (rows, k)
        Null vectors of A^T, orthonormal in the scaled rows: a basis, or a random sample where the null space is large.
    degree : int
        Dimension of the null space: how many rows could be left out.
    """

    rows: Indices
    null: Array
    degree: int

    @property
    def complete(self) -> bool:
        """Whether `null` is a basis."""
        return bool(self.null.shape[1] == self.degree)


class Dependencies(NamedTuple):
    """Rank of a matrix and the dependencies of its rows.

    Attributes
    ----------
    rank : int
    groups : tuple of Group
    smallest : float
        Smallest singular value that counts, relative to the largest; 1 if none was computed, all being far from zero.
    largest_zero : float
        Largest singular value that does not count, relative to the largest; 0 if there is none.
    row_scale : array, shape (m,)
        Factors of the rows: ``row_scale * null`` are vectors of multipliers.
    """

    rank: int
    groups: tuple[Group, ...]
    smallest: float
    largest_zero: float
    row_scale: Array

    @property
    def degree(self) -> int:
        """The degree of redundancy p = m - r (Wojtyra and Fraczek 2013, eq. 7)."""
        return int(self.row_scale.size) - self.rank

    @property
    def rows(self) -> list[int]:
        """The rows that take part in dependencies."""
        return sorted(int(row) for group in self.groups for row in group.rows)

    @property
    def close(self) -> bool:
        """Whether a small change of the geometry would change the rank."""
        return self.smallest < CLOSE_ABOVE or self.largest_zero > CLOSE_BELOW

    def sample(self, count: int = _VECTORS) -> Array:
        """Return null vectors of A^T, multipliers that do nothing: a basis if it is not larger than `count`, or random ones."""
        width = sum(group.null.shape[1] for group in self.groups)
        out = np.zeros((self.row_scale.size, min(width, count)))
        random, first = np.random.default_rng(0), 0
        for rows, null, _ in self.groups:
            size = null.shape[1]
            if width <= count:
                out[rows, first : first + size] = null
            else:
                out[rows] = null @ (random.standard_normal((size, count)) / np.sqrt(size))
            first += size
        return out * self.row_scale[:, None]


def dependencies(
    A: Any, *, units: Units = None, tolerance: float = TOLERANCE, most_dense: int = MOST_DENSE_ROWS
) -> Dependencies:
    """Return rank and dependent rows of a sparse matrix.

    Parameters
    ----------
    A : sparse array, shape (m, n)
    units : array, shape (n,), optional
        Label of the unit of each column: see `scaled_rows`.
    tolerance : float
        Largest singular value, relative to the largest of all, that is zero.
    most_dense : int
        Rows of the largest matrix whose singular values are computed as a whole.

    Examples
    --------
    >>> found = dependencies(sp.csc_array(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])))
    >>> found.rank, found.rows, found.close
    (2, [0, 1], False)
    """
    scaled, row_scale = scaled_rows(sp.csr_array(A), units)
    m = scaled.shape[0]
    if m == 0:
        return Dependencies(0, (), 1.0, 0.0, row_scale)
    if m <= most_dense:
        left, values = _left_vectors(scaled.toarray())
        rank, smallest, zero = _decide(values, tolerance)
        candidates, gap = members(left[:, rank:]), (smallest, zero)
    else:
        candidates, gap = _candidates(scaled), (1.0, 0.0)
    groups = []
    for group, smallest, zero in _groups(scaled, candidates, tolerance, most_dense):
        gap = min(gap[0], smallest), max(gap[1], zero)
        if group.degree:
            groups.append(group)
    groups.sort(key=lambda group: int(group.rows[0]))
    return Dependencies(m - sum(group.degree for group in groups), tuple(groups), *gap, row_scale)


class Weakest(NamedTuple):
    """The row combination of a matrix that is nearest to vanishing, among those that are not to vanish.

    Attributes
    ----------
    value : float
        Its singular value, relative to the largest.
    rows : array, shape (m,)
        The part of each row, scaled; the largest is one.
    """

    value: float
    rows: Array


def weakest(A: Any, rank: int, *, units: Units = None) -> Weakest:
    """Return the `rank`-th singular value of a matrix and its left vector: it vanishes where the rank falls below `rank`.

    Examples
    --------
    >>> value, rows = weakest(sp.csc_array(np.array([[1.0, 0.0], [1.0, 1e-3]])), 2, units=np.zeros(2))
    >>> round(value, 6), rows.round(3).tolist()
    (0.0005, [-1.0, 1.0])
    """
    left, values = _left_vectors(scaled_rows(sp.csr_array(A), units)[0].toarray())
    if not 0 < rank <= values.size:
        return Weakest(1.0, np.zeros(values.size))
    vector = left[:, rank - 1]
    return Weakest(float(values[rank - 1] / values[0]), vector / vector[np.argmax(np.abs(vector).round(9)[::-1]) * -1 - 1])


def scaled_rows(A: Any, units: Units = None) -> tuple[Any, Array]:
    """Return A with columns of a common size, then rows of length one (what is zero stays zero), and the factors of the rows.

    Columns of the same unit share a factor, which brings the median of their largest entries to one: a column that holds
    nothing but the 1e-8 of a hinge that is not quite level stays small. Without `units` each column has its own factor.
    """
    if A.shape[0]:
        sizes = abs(A).max(axis=0).toarray().ravel()
        for unit in np.unique(units) if units is not None else ():
            own = units == unit
            used = sizes[own & (sizes > 0.0)]
            sizes[own] = np.median(used) if used.size else 0.0
        A = A @ sp.diags_array(_inverse(sizes))
    row_scale = _inverse(np.sqrt(A.multiply(A).sum(axis=1)))
    return sp.csr_array(sp.diags_array(row_scale) @ A), row_scale


def members(vectors: Array) -> Indices:
    """Return the rows that take part in null vectors."""
    sizes = np.linalg.norm(vectors, axis=1)
    return np.flatnonzero(sizes > MEMBER * max(sizes.max(initial=0.0), np.finfo(float).tiny))


def _inverse(sizes: Array) -> Array:
    return np.where(sizes > 0.0, 1.0 / np.where(sizes > 0.0, sizes, 1.0), 1.0)


def _left_vectors(A: Array) -> tuple[Array, Array]:
    """Return the left singular vectors of A, or of a stack of matrices, and a singular value for each."""
    m, n = A.shape[-2:]
    left, values, _ = np.linalg.svd(A, full_matrices=n < m)
    return left, np.concatenate([values, np.zeros((*A.shape[:-2], m - values.shape[-1]))], axis=-1)


def _decide(values: Array, tolerance: float) -> tuple[int, float, float]:
    """Return the rank, the smallest singular value that counts and the largest that does not, relative to the largest."""
    relative = values / max(values[0], np.finfo(float).tiny)
    rank = int(np.sum(relative > tolerance))
    return rank, float(relative[rank - 1]) if rank else 1.0, float(relative[rank]) if rank < values.size else 0.0


def _factors(A: Any, shift: float) -> Any:
    """Return the factors of ``A A^T + shift I``, without a search for pivots."""
    B = sp.csc_matrix(A @ A.T + shift * sp.eye_array(A.shape[0]))
    return splu(B, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


def _candidates(A: Any) -> Indices:
    """Return the rows in which projections of random vectors on the null space of A^T do not vanish."""
    factors = _factors(A, _MU)
    vectors = np.random.default_rng(0).standard_normal((A.shape[0], _VECTORS))
    for _ in range(2):
        vectors = _MU * factors.solve(vectors)
    return np.flatnonzero(np.abs(vectors).max(axis=1) > _SEEN)


def _groups(A: Any, rows: Indices, tolerance: float, most_dense: int) -> Iterator[tuple[Group, float, float]]:
    """Return the groups among rows, each with the two singular values at its gap; those of one size are looked at together."""
    if rows.size == 0:
        return
    parts = _Parts(sp.csr_array(A[rows]))
    for height, width in np.unique(parts.sizes, axis=0).tolist():
        alike = np.flatnonzero((parts.sizes == (height, width)).all(axis=1))
        if height > most_dense:
            for k in alike:
                own = rows[parts.rows[k]]
                null, degree, smallest, zero = _block(A[own], tolerance)
                yield _group(own, null, degree), smallest, zero
            continue
        for some in np.array_split(alike, 1 + alike.size * height * max(height, width) // _STACK):
            stack = parts.stacked(some, height, max(width, 1))
            for k, left, values in zip(some, *_left_vectors(stack), strict=True):
                rank, smallest, zero = _decide(values, tolerance)
                yield _group(rows[parts.rows[k]], left[:, rank:], height - rank), smallest, zero


class _Parts:
    """The parts of a sparse matrix that share no column: their rows, sizes and dense matrices."""

    def __init__(self, A: Any) -> None:
        heights = np.diff(A.indptr)
        pattern = sp.csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
        count, of_row = connected_components(pattern @ pattern.T, directed=False)
        of_column = np.full(A.shape[1], count)
        of_column[A.indices] = np.repeat(of_row, heights)
        of_entry = of_column[A.indices]
        row_place, tall = _places(of_row, count)
        column_place, wide = _places(of_column, count + 1)
        self.rows = _split(of_row, count)
        self.sizes = np.column_stack([tall, wide[:count]])
        self._entries = _split(of_entry, count)
        self._data, self._row, self._column = A.data, np.repeat(row_place, heights), column_place[A.indices]

    def stacked(self, parts: Indices, height: int, width: int) -> Array:
        """Return the dense matrices of parts of one size."""
        stack = np.zeros((parts.size, height, width))
        for matrix, k in zip(stack, parts, strict=True):
            own = self._entries[k]
            matrix[self._row[own], self._column[own]] = self._data[own]
        return stack


def _split(labels: Indices, count: int) -> list[Indices]:
    """Return the places of each label."""
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels, minlength=count))[:-1])


def _places(labels: Indices, count: int) -> tuple[Indices, Indices]:
    """Return the place of each entry among those of its label, and how many each label has."""
    sizes, order = np.bincount(labels, minlength=count), np.argsort(labels, kind="stable")
    first = np.cumsum(sizes) - sizes
    places = np.empty(labels.size, dtype=np.intp)
    places[order] = np.arange(labels.size) - first[labels[order]]
    return places, sizes


def _group(rows: Indices, null: Array, degree: int) -> Group:
    """Return the group of those rows that take part in null vectors."""
    kept = members(null)
    return Group(rows[kept], null[kept], degree)


def _block(A: Any, tolerance: float) -> tuple[Array, int, float, float]:
    """Return null vectors of A^T, the dimension of the null space, and the two singular values at the gap."""
    m, n = A.shape
    factors = _factors(A, _FINE_MU)
    Y = np.random.default_rng(0).normal(size=(m, min(_BLOCK, m)))
    for _ in range(_ITERATIONS):
        Y = np.linalg.qr(factors.solve(Y))[0]
    _, found, right = np.linalg.svd(A.T @ Y, full_matrices=n < Y.shape[1])
    values = np.append(found, np.zeros(Y.shape[1] - found.size))  # the rows have length one
    null: NDArray[np.bool_] = values <= tolerance
    zero = float(values[null].max(initial=0.0))
    if not null.all() or Y.shape[1] == m:
        return Y @ right[null].T, int(null.sum()), float(values[~null].min(initial=1.0)), zero
    few, many = (_negative_pivots(A, shift) for shift in _SHIFTS)
    return Y, few, 1.0 if few == many else float(np.sqrt(_SHIFTS[1])), zero


def _negative_pivots(A: Any, shift: float) -> int:
    """Return how many squared singular values of A are below the shift (of m, zeros included)."""
    return int(np.sum(_factors(A, -shift).U.diagonal() < 0.0))
