"""The dense formulas against each other and against systems solved by hand."""

import numpy as np
import pytest
from scipy.linalg import null_space

from dalembert.linalg.dense import (
    check_determined,
    rank_and_null_space,
    smallest_multipliers,
    solve_null_space,
    solve_pseudo_inverse,
    solve_regular,
)
from dalembert.linalg.saddle import InconsistentConstraintsError, UndeterminedUnknownsError


def redundant_system(seed: int, *, singular: bool) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((4, 9))
    A = np.vstack([rows, rows[0] - 2.0 * rows[1], rows[3]])
    L = rng.standard_normal((9, 6 if singular else 9))
    return L @ L.T, A, rng.standard_normal(9), A @ rng.standard_normal(9)


@pytest.mark.parametrize("seed", range(5))
def test_three_formulas_agree(seed: int) -> None:
    system = redundant_system(seed, singular=False)
    x, lam = solve_regular(*system)
    for other in (solve_pseudo_inverse, solve_null_space):
        other_x, other_lam = other(*system)
        np.testing.assert_allclose(other_x, x, atol=1e-10 * np.abs(x).max())
        np.testing.assert_allclose(other_lam, lam, atol=1e-10 * np.abs(lam).max())


@pytest.mark.parametrize("seed", range(5))
def test_singular_mass(seed: int) -> None:
    M, A, f, b = redundant_system(seed, singular=True)
    x, lam = solve_null_space(M, A, f, b)
    np.testing.assert_allclose(M @ x + A.T @ lam, f, atol=1e-11)
    np.testing.assert_allclose(A @ x, b, atol=1e-11)
    np.testing.assert_allclose(null_space(A.T).T @ lam, 0.0, atol=1e-11)  # the smallest: nothing in the null space of A^T
    for value, expected in zip(solve_pseudo_inverse(M, A, f, b), (x, lam), strict=True):
        np.testing.assert_allclose(value, expected, atol=1e-9 * np.abs(expected).max())


def test_pendulum_at_rest() -> None:
    # a mass of 2 kg under gravity on a vertical rod: no acceleration, the rod carries the weight
    for solver in (solve_regular, solve_pseudo_inverse, solve_null_space):
        x, lam = solver(2.0 * np.eye(2), np.array([[0.0, 1.0]]), np.array([0.0, -19.62]), np.zeros(1))
        np.testing.assert_allclose(x, 0.0, atol=1e-14)
        np.testing.assert_allclose(lam, [-19.62], rtol=1e-14)


def test_weights_share_the_load() -> None:
    # min w1 l1^2 + w2 l2^2 with l1 + l2 = 12: w1 l1 = w2 l2
    lam = smallest_multipliers(np.ones((2, 1)), np.array([12.0]), weights=np.array([3.0, 1.0]))
    np.testing.assert_allclose(lam, [3.0, 9.0], rtol=1e-14)


def test_rank_does_not_depend_on_the_units_of_the_rows() -> None:
    A = np.array([[1.0, 2.0, 0.0], [0.0, 1e-9, 1e-9], [1e6, 2e6, 0.0]])
    rank, Z = rank_and_null_space(A)
    assert rank == 2
    assert Z.shape == (3, 1)
    np.testing.assert_allclose(np.abs(A @ Z).max(axis=1) / np.abs(A).max(axis=1), 0.0, atol=1e-15)


def test_no_constraints() -> None:
    x, lam = solve_null_space(np.diag([2.0, 4.0]), np.zeros((0, 2)), np.array([2.0, 2.0]), np.zeros(0))
    np.testing.assert_allclose(x, [1.0, 0.5])
    assert lam.size == 0


def test_a_motion_without_inertia_is_refused() -> None:
    # the difference of unknowns 1 and 2 moves nothing that has mass, and no constraint sees it
    M = np.diag([1.0, 0.0, 0.0])
    A = np.array([[1.0, 1.0, 1.0]])
    with pytest.raises(UndeterminedUnknownsError, match=r"unknowns \[1, 2\] are not determined") as caught:
        solve_null_space(M, A, np.zeros(3), np.zeros(1))
    np.testing.assert_array_equal(caught.value.columns, [1, 2])
    check_determined(M, np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 1.0]]))


def test_contradicting_rows_are_refused() -> None:
    A = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    with pytest.raises(InconsistentConstraintsError, match=r"rows \[1, 2\] contradict each other") as caught:
        solve_null_space(np.eye(2), A, np.zeros(2), np.array([1.0, 1.0, 3.0]))
    np.testing.assert_array_equal(caught.value.rows, [1, 2])
    assert 0.1 < caught.value.mismatch < 1.0  # one of them would have to move by half a unit
