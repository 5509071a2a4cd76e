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
    for rows in _connected(scaled, candidates):
        group, smallest, zero = _group(scaled, rows, tolerance, most_dense)
        gap = min(gap[0], smallest), max(gap[1], zero)
        if group.degree:
            groups.append(group)
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
    return Weakest(float(values[rank - 1]), vector / vector[np.argmax(np.abs(vector).round(9)[::-1]) * -1 - 1])


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
    """Return the left singular vectors of A and a singular value for each, relative to the largest."""
    left, values, _ = np.linalg.svd(A)
    all_values = np.zeros(A.shape[0])
    all_values[: values.size] = values / max(values[0], np.finfo(float).tiny) if values.size else values
    return left, all_values


def _decide(values: Array, tolerance: float) -> tuple[int, float, float]:
    """Return the rank, the smallest singular value that counts and the largest that does not."""
    rank = int(np.sum(values > tolerance))
    return rank, float(values[rank - 1]) if rank else 1.0, float(values[rank]) if rank < values.size else 0.0


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


def _connected(A: Any, rows: Indices) -> list[Indices]:
    """Return rows that share unknowns, directly or by others among them, together."""
    if rows.size == 0:
        return []
    part = sp.csr_array(A[rows])
    part.data = np.abs(part.data)
    count, label = connected_components(part @ part.T, directed=False)
    order = np.argsort(label, kind="stable")
    return [rows[one] for one in np.split(order, np.cumsum(np.bincount(label, minlength=count))[:-1])]


def _group(A: Any, rows: Indices, tolerance: float, most_dense: int) -> tuple[Group, float, float]:
    """Return the group among rows that share unknowns, and the two singular values at the gap."""
    part = A[rows]
    if rows.size > most_dense:
        null, degree, smallest, zero = _block(part, tolerance)
    else:
        used = np.unique(part.indices)
        left, values = _left_vectors(sp.csc_array(part)[:, used].toarray())
        rank, smallest, zero = _decide(values, tolerance)
        null, degree = left[:, rank:], rows.size - rank
    kept = members(null)
    return Group(rows[kept], null[kept], degree), smallest, zero


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
