"""The symbolic analysis against dense elimination of the pattern."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalembert.linalg.ordering import (
    analyse_fronts,
    column_counts,
    elimination_tree,
    fill_reducing_order,
    postorder,
)


def random_pattern(size: int, density: float, seed: int) -> np.ndarray:
    """A symmetric pattern with a full diagonal."""
    rng = np.random.default_rng(seed)
    pattern = rng.random((size, size)) < density
    return pattern | pattern.T | np.eye(size, dtype=bool)


def filled(pattern: np.ndarray) -> np.ndarray:
    """Pattern of L, by elimination as in the textbook."""
    pattern = pattern.copy()
    for p in range(len(pattern)):
        below = np.flatnonzero(pattern[p + 1 :, p]) + p + 1
        pattern[np.ix_(below, below)] = True
    return np.tril(pattern)


def columns(pattern: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    start = np.concatenate([[0], np.cumsum(pattern.sum(axis=0))]).astype(np.intp)
    return start, np.nonzero(pattern.T)[1].astype(np.intp)


patterns = st.builds(random_pattern, st.integers(1, 25), st.floats(0.0, 0.4), st.integers(0, 2**31))


@settings(deadline=None)
@given(patterns)
def test_tree_and_counts_are_those_of_the_filled_pattern(pattern: np.ndarray) -> None:
    L = filled(pattern)
    tree = elimination_tree(*columns(pattern))
    for j in range(len(L)):
        below = np.flatnonzero(L[j + 1 :, j]) + j + 1
        assert tree[j] == (below[0] if below.size else -1)
    np.testing.assert_array_equal(column_counts(*columns(pattern), tree), L.sum(axis=0))


@settings(deadline=None)
@given(patterns)
def test_postorder_keeps_subtrees_together(pattern: np.ndarray) -> None:
    tree = elimination_tree(*columns(pattern))
    order = postorder(tree)
    place = np.argsort(order)
    assert sorted(order) == list(range(len(pattern)))
    descendants = [{j} for j in range(len(tree))]
    for j in range(len(tree)):  # children have smaller numbers
        if tree[j] >= 0:
            descendants[tree[j]] |= descendants[j]
    for j, below in enumerate(descendants):
        assert {int(place[k]) for k in below} == set(range(place[j] - len(below) + 1, place[j] + 1))


@settings(deadline=None)
@given(patterns)
def test_fronts_hold_the_filled_pattern(pattern: np.ndarray) -> None:
    size = len(pattern)
    fronts = analyse_fronts(*(k.astype(np.intp) for k in np.nonzero(pattern)), size)
    assert sorted(fronts.order) == list(range(size))
    assert fronts.first[0] == 0
    assert fronts.first[-1] == size
    L = filled(pattern[np.ix_(fronts.order, fronts.order)])
    for k in range(fronts.parent.size):
        rows = fronts.rows[fronts.row_start[k] : fronts.row_start[k + 1]]
        own = np.arange(fronts.first[k], fronts.first[k + 1])
        assert np.all(np.diff(rows) > 0)
        np.testing.assert_array_equal(rows[: own.size], own)
        for j in own:
            assert set(np.flatnonzero(L[:, j])) <= set(rows)
        left = rows[own.size :]
        if left.size:
            above = fronts.parent[k]
            assert above > k
            assert fronts.first[above] <= left[0] < fronts.first[above + 1]
            assert set(left) <= set(fronts.rows[fronts.row_start[above] : fronts.row_start[above + 1]])
        else:
            assert fronts.parent[k] == -1


def test_blocks_of_a_chain_become_fronts() -> None:
    # dense blocks of 6, each coupled with the next one
    blocks, width = 50, 6
    block = np.repeat(np.arange(blocks), width)
    rows, cols = np.nonzero(np.abs(block[:, None] - block) <= 1)
    fronts = analyse_fronts(rows.astype(np.intp), cols.astype(np.intp), blocks * width)
    assert fronts.parent.size == pytest.approx(blocks, abs=2)
    assert np.diff(fronts.row_start).max() <= 4 * width  # no fill beyond two neighbours


def test_minimum_degree_leaves_a_tree_without_fill() -> None:
    rng = np.random.default_rng(3)
    child = np.arange(1, 300)
    parent = np.array([rng.integers(0, k) for k in child])
    order = fill_reducing_order(child, parent, 300)
    pattern = np.eye(300, dtype=bool)
    pattern[child, parent] = pattern[parent, child] = True
    assert filled(pattern[np.ix_(order, order)]).sum() == 300 + 299
