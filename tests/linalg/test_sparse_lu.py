"""The static LU against dense solves and SuperLU."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import splu

from dalembert.linalg.sparse_lu import allocate, analyse_lu, factorize, solve, solve_ordered


def random_matrix(size: int, density: float, seed: int) -> np.ndarray:
    """Diagonally dominant, symmetric in its pattern only."""
    rng = np.random.default_rng(seed)
    pattern = rng.random((size, size)) < density
    matrix = rng.standard_normal((size, size)) * (pattern | pattern.T)
    np.fill_diagonal(matrix, 0.0)
    return matrix + np.diag((1.0 + np.abs(matrix).sum(axis=1)) * rng.choice([-1.0, 1.0], size))


def solution(plan, store, rhs):
    x = np.empty_like(rhs)
    solve(plan, store, rhs, x, np.empty_like(rhs))
    return x


matrices = st.builds(random_matrix, st.integers(1, 40), st.floats(0.0, 0.5), st.integers(0, 2**31))


@settings(deadline=None)
@given(matrices)
def test_solves_as_a_dense_solve_does(matrix: np.ndarray) -> None:
    rows, cols = np.nonzero(matrix)
    plan = analyse_lu(rows, cols, len(matrix))
    store = allocate(plan)
    assert factorize(plan, matrix[rows, cols], store) == -1
    rhs = np.arange(1.0, len(matrix) + 1)
    expected = np.linalg.solve(matrix, rhs)
    # reached: 2e-15
    np.testing.assert_allclose(solution(plan, store, rhs), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@settings(deadline=None)
@given(st.integers(0, 2**31), st.booleans())
def test_solves_as_superlu_does_on_grids(seed: int, wide: bool) -> None:
    rng = np.random.default_rng(seed)
    path = sp.diags([np.ones(19)] * 2, [-1, 1])
    grid = sp.coo_matrix(sp.kron(sp.eye(20), path) + sp.kron(path, sp.eye(20)))
    if wide:  # three unknowns a node
        grid = sp.coo_matrix(sp.kron(grid, np.ones((3, 3))))
    values = rng.standard_normal(grid.nnz)
    size = grid.shape[0]
    diagonal = 20.0 + rng.random(size)
    rows, cols = np.concatenate([grid.row, np.arange(size)]), np.concatenate([grid.col, np.arange(size)])
    values = np.concatenate([values, diagonal])
    plan = analyse_lu(rows, cols, size)
    store = allocate(plan)
    assert factorize(plan, values, store) == -1
    rhs = rng.standard_normal(size)
    expected = splu(sp.csc_matrix((values, (rows, cols)))).solve(rhs)
    np.testing.assert_allclose(solution(plan, store, rhs), expected, rtol=0, atol=1e-13)


def test_new_values_on_the_same_pattern_leave_no_trace() -> None:
    first, second = random_matrix(30, 0.2, 1), random_matrix(30, 0.2, 1)
    second[second != 0] *= np.linspace(1.0, 2.0, np.count_nonzero(second))
    rows, cols = np.nonzero(first)
    plan = analyse_lu(rows, cols, 30)
    reused, fresh = allocate(plan), allocate(plan)
    factorize(plan, first[rows, cols], reused)
    factorize(plan, second[rows, cols], reused)
    factorize(plan, second[rows, cols], fresh)
    np.testing.assert_array_equal(reused, fresh)


def test_entries_at_one_place_are_added() -> None:
    plan = analyse_lu(np.array([0, 0, 1]), np.array([0, 0, 1]), 2)
    store = allocate(plan)
    factorize(plan, np.array([1.0, 3.0, 5.0]), store)
    np.testing.assert_allclose(solution(plan, store, np.array([8.0, 10.0])), [2.0, 2.0])


def test_one_value_may_serve_several_entries() -> None:
    rows, cols = np.array([0, 1, 0, 1]), np.array([0, 1, 1, 0])
    plan = analyse_lu(rows, cols, 2, source=np.array([0, 1, 2, 2]))
    store = allocate(plan)
    factorize(plan, np.array([2.0, 3.0, 1.0]), store)
    np.testing.assert_allclose(solution(plan, store, np.array([3.0, 4.0])), [1.0, 1.0])


def test_right_side_and_solution_may_be_one_array() -> None:
    matrix = random_matrix(12, 0.3, 5)
    rows, cols = np.nonzero(matrix)
    plan = analyse_lu(rows, cols, 12)
    store = allocate(plan)
    factorize(plan, matrix[rows, cols], store)
    x = np.arange(12.0)
    solve(plan, store, x, x, np.empty(12))
    np.testing.assert_allclose(matrix @ x, np.arange(12.0), atol=1e-12)


def test_ordered_solve_is_the_permuted_one() -> None:
    matrix = random_matrix(12, 0.3, 6)
    rows, cols = np.nonzero(matrix)
    plan = analyse_lu(rows, cols, 12)
    store = allocate(plan)
    factorize(plan, matrix[rows, cols], store)
    rhs = np.arange(12.0)
    y = rhs[plan.order]
    solve_ordered(plan, store, y)
    np.testing.assert_array_equal(y, solution(plan, store, rhs)[plan.order])


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_a_pivot_that_is_zero_or_not_finite_is_reported(bad: float) -> None:
    plan = analyse_lu(np.arange(3), np.arange(3), 3)
    front = factorize(plan, np.array([1.0, bad, 1.0]), allocate(plan))
    assert plan.order[plan.first[front]] == 1


def test_quasi_definite_matrices_need_no_pivots() -> None:
    # [E A^T; A -F] with E, F positive definite, in any order: Vanderbei 1995
    rng = np.random.default_rng(7)
    A = rng.standard_normal((15, 25)) * (rng.random((15, 25)) < 0.3)
    matrix = np.block([[np.eye(25), A.T], [A, -np.eye(15)]])
    rows, cols = np.nonzero(matrix)
    plan = analyse_lu(rows, cols, 40)
    store = allocate(plan)
    assert factorize(plan, matrix[rows, cols], store) == -1
    rhs = rng.standard_normal(40)
    np.testing.assert_allclose(matrix @ solution(plan, store, rhs), rhs, atol=1e-13)
