r"""Sparse LU factorisation with a pattern that is analysed once and pivots that are not searched.

The matrix is symmetric in its pattern, not in its values. `analyse_lu` makes the plan (`LuPlan`): the fronts of
`ordering.analyse_fronts`, and for every entry and every update the place where it goes. Then, as often as there are new values,

    factorize(plan, values, store)         A = L U, in the elimination order of the plan
    solve(plan, store, rhs, x, work)       A x = rhs, in the caller's order
    solve_ordered(plan, store, x)          the same in place, in the elimination order

are compiled loops over arrays that allocate nothing and can be called from other compiled loops. A front is a small dense
matrix, row by row in `store`:

            width  left
          [  U\L  |  U  ]        the first `width` rows and columns are eliminated: their L and U stay;
          [   L   |  C  ]        C, what is left, is added to the front of the parent.

Every front is finished in one visit (multifrontal method): clear, add the entries, add the C of the children, eliminate. The
diagonal holds the reciprocals of the pivots.

Without a search for pivots the factors of an arbitrary matrix may be poor. They are good for diagonally dominant, positive
definite and quasi-definite matrices; whoever factorises something else checks the residual.

References
----------
I. S. Duff, J. K. Reid, The multifrontal solution of indefinite sparse symmetric linear equations, ACM TOMS 9 (1983).
R. J. Vanderbei, Symmetric quasidefinite matrices, SIAM J. Optim. 5 (1995).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.kernel.compile import compiled, inlined
from dalembert.kernel.vec3 import Array
from dalembert.linalg.ordering import Fronts, Index, analyse_fronts

_TINY = 1e-300  # a pivot whose reciprocal overflows, or nearly


class LuPlan(NamedTuple):
    """What `factorize` and `solve` need to know about the pattern.

    Attributes
    ----------
    order : array of int, shape (size,)
        ``order[k]`` is the unknown eliminated as the k-th.
    first, row_start, rows : arrays of int
        The fronts, as in `ordering.Fronts`.
    store_start : array of int, shape (fronts + 1,)
        Front ``k`` is ``store[store_start[k]:store_start[k + 1]]``, row by row.
    entry_start, entry_place, entry_source : arrays of int
        Entry ``e`` of ``entry_start[k]:entry_start[k + 1]`` adds ``values[entry_source[e]]`` to number ``entry_place[e]``
        of front ``k``.
    child_start, child : arrays of int
        ``child[child_start[k]:child_start[k + 1]]`` are the children of front ``k``.
    place_start, place : arrays of int
        Row ``width + i`` of front ``k`` is row ``place[place_start[k] + i]`` of its parent.
    """

    order: Index
    first: Index
    row_start: Index
    rows: Index
    store_start: Index
    entry_start: Index
    entry_place: Index
    entry_source: Index
    child_start: Index
    child: Index
    place_start: Index
    place: Index


def _cumulative(counts: Index) -> Index:
    """Return [0, c0, c0 + c1, ...]."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)


def _grouped(group: Index, groups: int) -> tuple[Index, Index]:
    """Return where each group starts, and the members group by group."""
    members = np.argsort(group, kind="stable").astype(np.intp)
    return np.searchsorted(group[members], np.arange(groups + 1)).astype(np.intp), members


class _Locator:
    """Finds the row of a front that stands for an unknown."""

    def __init__(self, fronts: Fronts) -> None:
        self.stride = int(fronts.first[-1]) + 1
        self.row_start = fronts.row_start
        front = np.repeat(np.arange(fronts.parent.size), np.diff(fronts.row_start))
        self.keys = front * self.stride + fronts.rows

    def __call__(self, front: Index, unknown: Index) -> Index:
        """Return the row of each ``unknown`` (a place in the elimination order) in each ``front``."""
        found = np.searchsorted(self.keys, front * self.stride + unknown)
        return np.asarray(found - self.row_start[front], dtype=np.intp)


def analyse_lu(rows: Index, cols: Index, size: int, *, source: Index | None = None) -> LuPlan:
    """Return the plan for matrices with entries at (rows, cols), whose pattern is taken as symmetric.

    Parameters
    ----------
    rows, cols : array of int
        Places of the entries; entries at one place are added.
    size : int
        Number of rows.
    source : array of int, optional
        Entry ``e`` has the value ``values[source[e]]``; ``values[e]`` unless given. One value may serve several entries.

    Examples
    --------
    >>> plan = analyse_lu(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), 2)
    >>> store = allocate(plan)
    >>> factorize(plan, np.array([4.0, 1.0, 2.0, 3.0]), store)
    -1
    >>> x = np.zeros(2)
    >>> solve(plan, store, np.array([6.0, 8.0]), x, np.zeros(2))
    >>> x.round(12).tolist()
    [1.0, 2.0]
    """
    rows, cols = np.asarray(rows, dtype=np.intp), np.asarray(cols, dtype=np.intp)
    fronts = analyse_fronts(rows, cols, size)
    width, height = np.diff(fronts.first), np.diff(fronts.row_start)
    number, locate = width.size, _Locator(fronts)
    place_of = np.argsort(fronts.order)

    row, col = place_of[rows], place_of[cols]
    front = np.repeat(np.arange(number), width)[np.minimum(row, col)]
    entry_start, entries = _grouped(front, number)
    entry_place = (locate(front, row) * height[front] + locate(front, col))[entries]
    entry_source = entries if source is None else np.asarray(source, dtype=np.intp)[entries]

    child_start, child = _grouped(np.where(fronts.parent < 0, number, fronts.parent), number)
    left = np.arange(fronts.rows.size) - np.repeat(fronts.row_start[:-1], height) >= np.repeat(width, height)
    place = locate(np.repeat(fronts.parent, height - width), fronts.rows[left])
    return LuPlan(
        fronts.order,
        fronts.first,
        fronts.row_start,
        fronts.rows,
        _cumulative(height * height),
        entry_start,
        entry_place.astype(np.intp),
        entry_source.astype(np.intp),
        child_start,
        child,
        _cumulative(height - width),
        place,
    )


def allocate(plan: LuPlan) -> Array:
    """Return the array that `factorize` fills."""
    return np.zeros(plan.store_start[-1])


@compiled
def _eliminate(front: Array, width: int, size: int) -> bool:
    """Eliminate the first ``width`` rows of a dense matrix in place; False if a pivot is zero or not finite."""
    for p in range(width):
        above = front[p * size + p + 1 : p * size + size]
        pivot = front[p * size + p]
        if not _TINY < abs(pivot) < np.inf:
            return False
        reciprocal = 1.0 / pivot
        front[p * size + p] = reciprocal
        for i in range(p + 1, size):
            factor = front[i * size + p] * reciprocal
            if factor == 0.0:  # a third of them, in a front of a body and its joints
                continue
            front[i * size + p] = factor
            row = front[i * size + p + 1 : i * size + size]
            for j in range(row.size):
                row[j] -= factor * above[j]
    return True


@compiled
def _add_child(front: Array, size: int, child: Array, child_width: int, child_size: int, place: Index) -> None:
    """Add what a child left behind."""
    for i in range(place.size):
        row = front[place[i] * size : place[i] * size + size]
        left = child[(child_width + i) * child_size + child_width : (child_width + i) * child_size + child_size]
        for j in range(place.size):
            row[place[j]] += left[j]


@compiled
def factorize(plan: LuPlan, values: Array, store: Array) -> int:
    """Factorise the matrix with these values.

    Parameters
    ----------
    plan : LuPlan
        From `analyse_lu`.
    values : array of float
        Values of the entries.
    store : array of float
        From `allocate`; overwritten.

    Returns
    -------
    int
        -1, or the front (a number below ``plan.first.size - 1``) in which a pivot was zero or not finite.
    """
    for k in range(plan.first.size - 1):
        width = plan.first[k + 1] - plan.first[k]
        size = plan.row_start[k + 1] - plan.row_start[k]
        front = store[plan.store_start[k] : plan.store_start[k + 1]]
        front[:] = 0.0
        for e in range(plan.entry_start[k], plan.entry_start[k + 1]):
            front[plan.entry_place[e]] += values[plan.entry_source[e]]
        for q in range(plan.child_start[k], plan.child_start[k + 1]):
            c = plan.child[q]
            _add_child(
                front,
                size,
                store[plan.store_start[c] : plan.store_start[c + 1]],
                plan.first[c + 1] - plan.first[c],
                plan.row_start[c + 1] - plan.row_start[c],
                plan.place[plan.place_start[c] : plan.place_start[c + 1]],
            )
        if not _eliminate(front, width, size):
            return k
    return -1


@compiled
def count_negative_pivots(plan: LuPlan, store: Array) -> int:
    """Return the number of negative pivots: that of negative eigenvalues, if the matrix is symmetric (Sylvester)."""
    count = 0
    for k in range(plan.first.size - 1):
        size = plan.row_start[k + 1] - plan.row_start[k]
        for p in range(plan.first[k + 1] - plan.first[k]):
            if store[plan.store_start[k] + p * size + p] < 0.0:
                count += 1
    return count


@inlined
def _product(a: Array, b: Array) -> float:
    """Return the inner product of a with the first entries of b, in four sums that do not wait for each other."""
    s0, s1, s2, s3, fours = 0.0, 0.0, 0.0, 0.0, a.size // 4
    for k in range(fours):
        i = 4 * k
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    for i in range(4 * fours, a.size):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


@compiled
def solve_ordered(plan: LuPlan, store: Array, x: Array) -> None:
    """Overwrite the right side ``x`` by the solution; both in elimination order."""
    fronts = plan.first.size - 1
    for k in range(fronts):  # L y = rhs
        first, last = plan.first[k], plan.first[k + 1]
        rows = plan.rows[plan.row_start[k] : plan.row_start[k + 1]]
        width, size, begin = last - first, rows.size, plan.store_start[k]
        own = x[first:last]
        for i in range(1, size):
            x[rows[i]] -= _product(store[begin + i * size : begin + i * size + min(i, width)], own)
    for k in range(fronts - 1, -1, -1):  # U x = y
        first, last = plan.first[k], plan.first[k + 1]
        rows = plan.rows[plan.row_start[k] : plan.row_start[k + 1]]
        width, size, begin = last - first, rows.size, plan.store_start[k]
        for p in range(width - 1, -1, -1):
            right = store[begin + p * size : begin + p * size + size]
            even = x[first + p] - _product(right[p + 1 : width], x[first + p + 1 : last])
            odd, pairs = 0.0, (size - width) // 2
            for k in range(pairs):
                j = width + 2 * k
                even -= right[j] * x[rows[j]]
                odd -= right[j + 1] * x[rows[j + 1]]
            if width + 2 * pairs < size:
                odd -= right[size - 1] * x[rows[size - 1]]
            x[first + p] = (even + odd) * right[p]


@compiled
def solve(plan: LuPlan, store: Array, rhs: Array, x: Array, work: Array) -> None:
    """Solve for ``x``, both in the caller's order.

    Parameters
    ----------
    plan, store
        As filled by `factorize`.
    rhs, x : array of float, shape (size,)
        Right side and solution; may be the same array.
    work : array of float, shape (size,)
        Overwritten.
    """
    for k in range(plan.order.size):
        work[k] = rhs[plan.order[k]]
    solve_ordered(plan, store, work)
    for k in range(plan.order.size):
        x[plan.order[k]] = work[k]
