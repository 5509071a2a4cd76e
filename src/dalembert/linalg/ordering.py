"""Elimination order and symbolic analysis of a sparse matrix whose pattern is symmetric.

From a pattern to a plan of elimination:

1. `fill_reducing_order` asks SuperLU for a minimum-degree order and follows it with a walk through the elimination tree
   (`elimination_tree`, `postorder`), so that unknowns that are eliminated together stand together.
2. `column_counts` says how many entries each column of L will have, without making them.
3. `_merge` groups consecutive unknowns into *fronts*. The unknowns of a front are eliminated together, as rows of one small
   dense matrix. Unknowns whose columns of L agree are always grouped; others are when the zeros that are stored in vain cost
   less than one front more. The six unknowns of a body and the five of a hinge find together by themselves.
4. `_front_rows` lists the rows of each front: its own unknowns, then those that its elimination reaches.

`analyse_fronts` does all of it. The values of the matrix play no part.

| name | meaning |
| --- | --- |
| order | `order[k]` is the unknown that is eliminated as the k-th |
| front | a group of unknowns eliminated together: a dense matrix of `size` rows, of which the first `width` are eliminated |
| parent | the front that receives what a front leaves behind; -1 for the last one of a tree |
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import spilu

from dalembert.kernel.compile import allocating

Index: TypeAlias = NDArray[np.intp]

# What a front costs, in units of one number moved: to begin one, and per multiply-subtract (measured, fronts of 5 to 40).
_COST_OF_A_FRONT = 60.0
_COST_OF_AN_OPERATION = 0.5


class Fronts(NamedTuple):
    """A plan of elimination.

    Attributes
    ----------
    order : array of int, shape (size,)
        ``order[k]`` is the unknown eliminated as the k-th.
    first : array of int, shape (fronts + 1,)
        Front ``k`` eliminates the unknowns ``order[first[k]:first[k + 1]]``.
    parent : array of int, shape (fronts,)
        Parent of each front, -1 if none. A parent comes after its children.
    row_start : array of int, shape (fronts + 1,)
        ``rows[row_start[k]:row_start[k + 1]]`` are the rows of front ``k``.
    rows : array of int
        Rows of all fronts, as places in `order`, ascending within a front.
    """

    order: Index
    first: Index
    parent: Index
    row_start: Index
    rows: Index


@allocating
def elimination_tree(start: Index, index: Index) -> Index:
    """Return the parent of each unknown in the elimination tree, -1 for a root (Liu's algorithm).

    Parameters
    ----------
    start, index : array of int
        The symmetric pattern, column by column (CSC).

    Examples
    --------
    An arrow matrix, whose last row and column are full:

    >>> elimination_tree(np.array([0, 2, 4, 7]), np.array([0, 2, 1, 2, 0, 1, 2]))
    array([ 2,  2, -1])
    """
    size = start.size - 1
    parent = np.full(size, -1, np.intp)
    ancestor = np.full(size, -1, np.intp)
    for j in range(size):
        for k in range(start[j], start[j + 1]):
            i = index[k]
            while i != -1 and i < j:
                above = ancestor[i]
                ancestor[i] = j
                if above == -1:
                    parent[i] = j
                i = above
    return parent


@allocating
def postorder(parent: Index) -> Index:
    """Return the nodes of a forest, each after its descendants and these without a gap before it.

    Examples
    --------
    >>> postorder(np.array([3, 2, -1, 2]))
    array([1, 0, 3, 2])
    """
    size = parent.size
    child = np.full(size + 1, -1, np.intp)
    sibling = np.full(size, -1, np.intp)
    for j in range(size - 1, -1, -1):
        above = parent[j] if parent[j] >= 0 else size
        sibling[j] = child[above]
        child[above] = j
    order = np.empty(size, np.intp)
    stack = np.empty(size + 1, np.intp)
    stack[0] = size
    top, done = 0, 0
    while top >= 0:
        node = stack[top]
        below = child[node]
        if below >= 0:
            child[node] = sibling[below]
            top += 1
            stack[top] = below
        else:
            top -= 1
            if node < size:
                order[done] = node
                done += 1
    return order


@allocating
def column_counts(start: Index, index: Index, parent: Index) -> Index:
    """Return the number of entries, diagonal included, of each column of L."""
    size = parent.size
    count = np.ones(size, np.intp)
    mark = np.full(size, -1, np.intp)
    for i in range(size):
        mark[i] = i
        for k in range(start[i], start[i + 1]):
            j = index[k]
            while j < i and mark[j] != i:
                mark[j] = i
                count[j] += 1
                j = parent[j]
    return count


@allocating
def _cost(width: int, size: int) -> float:
    """Return the cost of a front: to clear it, to assemble what it leaves behind, to eliminate."""
    left = size - width
    operations = 0.0
    for p in range(width):
        operations += float((size - p) * (size - p))
    return _COST_OF_A_FRONT + size * size + left * left + _COST_OF_AN_OPERATION * operations


@allocating
def _merge(parent: Index, count: Index) -> tuple[Index, Index]:
    """Return the front of each unknown (numbered by their last unknown) and the parent of each front."""
    size = parent.size
    last = np.arange(size)  # last unknown of the run of equal columns that starts here
    head = np.arange(size)
    for j in range(1, size):
        if parent[j - 1] == j and count[j - 1] == count[j] + 1:
            head[j] = head[j - 1]
            last[head[j]] = j
    width = np.zeros(size, np.intp)
    rows = np.zeros(size, np.intp)
    for j in range(size):
        width[last[head[j]]] += 1
        if head[j] == j:
            rows[last[j]] = count[j]
    into = last[head]
    for k in range(size):  # children first: a front into its parent, if that is cheaper
        above = parent[k]
        if into[k] != k or above < 0:
            continue
        while into[above] != above:
            above = into[above]
        both, size_of_both = width[k] + width[above], width[k] + rows[above]
        if _cost(both, size_of_both) <= _cost(width[k], rows[k]) + _cost(width[above], rows[above]):
            into[k] = above
            width[above], rows[above] = both, size_of_both
    above_front = np.full(size, -1, np.intp)
    for k in range(size - 1, -1, -1):
        into[k] = into[into[k]]  # the parents, which come later, are final already
    for k in range(size):
        if into[k] == k and parent[k] >= 0:
            above_front[k] = into[parent[k]]
    return into, above_front


@allocating
def _front_rows(first: Index, parent: Index, start: Index, index: Index) -> tuple[Index, Index]:
    """Return ``row_start`` and ``rows`` of `Fronts` from the pattern in elimination order."""
    fronts = first.size - 1
    size = first[fronts]
    mark = np.full(size, -1, np.intp)
    child = np.full(fronts, -1, np.intp)
    sibling = np.full(fronts, -1, np.intp)
    row_start = np.zeros(fronts + 1, np.intp)
    rows = np.empty(4 * size, np.intp)
    for k in range(fronts):
        begin, end = first[k], first[k + 1]
        here = row_start[k]
        if here + size - begin > rows.size:
            longer = np.empty(2 * rows.size, np.intp)
            longer[:here] = rows[:here]
            rows = longer
        for j in range(begin, end):
            rows[here] = j
            here += 1
        left = here
        for j in range(begin, end):
            for e in range(start[j], start[j + 1]):
                if index[e] >= end and mark[index[e]] != k:
                    mark[index[e]] = k
                    rows[here] = index[e]
                    here += 1
        c = child[k]
        while c >= 0:
            for e in range(row_start[c] + first[c + 1] - first[c], row_start[c + 1]):
                if rows[e] >= end and mark[rows[e]] != k:
                    mark[rows[e]] = k
                    rows[here] = rows[e]
                    here += 1
            c = sibling[c]
        rows[left:here] = np.sort(rows[left:here])
        row_start[k + 1] = here
        if parent[k] >= 0:
            sibling[k] = child[parent[k]]
            child[parent[k]] = k
    return row_start, rows[: row_start[fronts]].copy()


def _symmetric_pattern(rows: Index, cols: Index, size: int) -> sp.csc_matrix:
    """Return the pattern with its transpose and the diagonal, as a diagonally dominant matrix."""
    off = rows != cols
    ends = np.concatenate([rows[off], cols[off]]), np.concatenate([cols[off], rows[off]])
    pattern = sp.csc_matrix((np.ones(ends[0].size), ends), shape=(size, size))
    pattern.data[:] = -1.0
    return sp.csc_matrix(pattern + sp.diags(1.0 - np.asarray(pattern.sum(axis=0)).ravel()))


def _permuted(pattern: sp.csc_matrix, order: Index) -> tuple[Index, Index]:
    """Return the columns of the pattern in another order."""
    permuted = sp.csc_matrix(pattern[order][:, order])
    return permuted.indptr.astype(np.intp), permuted.indices.astype(np.intp)


def fill_reducing_order(rows: Index, cols: Index, size: int) -> Index:
    """Return an order of elimination that keeps L and U sparse: minimum degree, then postordered.

    Parameters
    ----------
    rows, cols : array of int
        Places of the entries; transposed places and the diagonal are added.
    size : int
        Number of rows.

    Examples
    --------
    The centre of a star is eliminated late, or every pair of its points would be tied together:

    >>> star = np.array([0, 0, 0, 0]), np.array([1, 2, 3, 4])
    >>> int(np.flatnonzero(fill_reducing_order(*star, 5) == 0)[0]) >= 3
    True
    """
    return _order_of(_symmetric_pattern(rows, cols, size))


def _order_of(pattern: sp.csc_matrix) -> Index:
    """Return the fill-reducing order of a symmetric pattern."""
    # An incomplete factorisation that drops everything: SuperLU's order is all that is wanted.
    options = {"SymmetricMode": True}
    rough = spilu(pattern, drop_tol=1.0, fill_factor=1.0, permc_spec="MMD_AT_PLUS_A", options=options)
    order = np.argsort(rough.perm_c).astype(np.intp)
    return np.asarray(order[postorder(elimination_tree(*_permuted(pattern, order)))])


def analyse_fronts(rows: Index, cols: Index, size: int) -> Fronts:
    """Return the plan of elimination of a matrix with entries at (rows, cols), and with their transposes.

    Examples
    --------
    A full matrix is one front:

    >>> i, j = np.indices((3, 3)).reshape(2, -1)
    >>> plan = analyse_fronts(i, j, 3)
    >>> plan.first.tolist(), plan.rows.tolist()
    ([0, 3], [0, 1, 2])
    """
    pattern = _symmetric_pattern(rows, cols, size)
    order = _order_of(pattern)
    start, index = _permuted(pattern, order)
    tree = elimination_tree(start, index)
    front_of, front_parent = _merge(tree, column_counts(start, index, tree))
    names = np.unique(front_of)  # a front is named by its last unknown until here, by its rank in a postorder from here
    parent_rank = np.where(front_parent[names] >= 0, np.searchsorted(names, front_parent[names]), -1)
    walk = postorder(parent_rank.astype(np.intp))
    rank = np.argsort(walk)
    front = rank[np.searchsorted(names, front_of)]
    together = np.argsort(front, kind="stable")
    first = np.searchsorted(front[together], np.arange(names.size + 1)).astype(np.intp)
    walked = parent_rank[walk]
    parent = np.where(walked >= 0, rank[walked], -1).astype(np.intp)
    order = order[together]
    row_start, row_list = _front_rows(first, parent, *_permuted(pattern, order))
    return Fronts(order, first, parent, row_start, row_list)
