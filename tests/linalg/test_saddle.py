"""The saddle solve against rational arithmetic, against the pseudo-inverse formulas and against SuperLU."""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space
from scipy.sparse.linalg import spsolve

from dalembert.errors import SolveError
from dalembert.kernel.compile import compiled
from dalembert.linalg.dense import solve_null_space, solve_pseudo_inverse, solve_regular
from dalembert.linalg.saddle import (
    METRIC_REGULARISATION,
    REGULARISATION,
    STRONG_REGULARISATION,
    InconsistentConstraintsError,
    SaddleSolver,
    UndeterminedUnknownsError,
    allocate_work,
    analyse_saddle,
    equilibrate,
    factorize,
    factorize_metric,
    minimum_norm,
    set_values,
    solve_refined,
    solve_saddle,
)


class System(NamedTuple):
    M: np.ndarray
    A: np.ndarray
    f: np.ndarray
    b: np.ndarray


def error(value: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference, relative to the largest entry."""
    return float(np.abs(value - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), 1e-300))


def random_system(seed, n, rows, redundant, missing, kind, unsymmetric):
    """A random system with dependent rows, and M of rank ``n - missing``.

    kind: "massless" has zero rows and columns in M, "rank" a singular M without any, "regular" neither.
    """
    rng = np.random.default_rng(seed)
    A = np.zeros((rows, n))
    for i in range(rows):
        place = rng.choice(n, min(4, n), replace=False)
        A[i, place] = rng.integers(-64, 65, place.size) / 32  # sums of such numbers are exact: so is the dependence
    A = np.vstack([A, rng.integers(-1, 2, (redundant, rows)) @ A])
    L = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.3) + np.eye(n)
    if kind == "rank":
        L[:, n - missing :] = 0.0
    M = L @ L.T
    if kind == "massless":
        zero = rng.choice(n, missing, replace=False)
        M[zero], M[:, zero] = 0.0, 0.0
    if unsymmetric:
        M = M * (1.0 + 0.1 * rng.standard_normal((n, n)))
    x = rng.integers(-64, 65, n) / 32
    return System(M, A, M @ x + A.T @ rng.standard_normal(len(A)), A @ x)


def well_posed(system: System) -> bool:
    """Whether ranks are clear: no singular value between rounding and 1e-2 of the largest."""
    M, A, *_ = system
    unit = 1.0 / np.maximum(np.abs(A).max(axis=1), 1e-300)
    values = np.linalg.svd(A * unit[:, None], compute_uv=False)
    if values[0] == 0.0:
        return False
    whole = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
    spectrum = np.linalg.svd(whole, compute_uv=False) / np.linalg.norm(whole, 2)
    stacked = np.linalg.svd(np.vstack([M, A]), compute_uv=False)
    clear = all(not np.any((s > 1e-13) & (s < limit)) for s, limit in ((values / values[0], 1e-2), (spectrum, 1e-4)))
    return bool(clear and stacked[-1] > 1e-2 * stacked[0])


@st.composite
def systems(draw, kinds=("regular", "rank", "massless")):
    n = draw(st.integers(2, 24))
    rows = draw(st.integers(1, n - 1))
    redundant = draw(st.integers(0, 4))
    missing = draw(st.integers(1, rows))
    system = random_system(
        draw(st.integers(0, 2**31)), n, rows, redundant, missing, draw(st.sampled_from(kinds)), draw(st.booleans())
    )
    assume(well_posed(system))
    return system


# --- against rational arithmetic --------------------------------------------------------------------------------------------


def exact_solution(system: System) -> tuple[np.ndarray, np.ndarray]:
    """x and the smallest lam in rational arithmetic (entries are taken as the binary fractions they are)."""
    M, A, f, b = (sympy.Matrix(part.tolist()).applyfunc(lambda v: sympy.Rational(float(v))) for part in system)
    n, m = M.shape[0], A.shape[0]
    independent = list(A.T.rref()[1])
    rows = A.extract(independent, list(range(n)))
    size = len(independent)
    whole = sympy.Matrix.vstack(sympy.Matrix.hstack(M, rows.T), sympy.Matrix.hstack(rows, sympy.zeros(size, size)))
    solution = whole.LUsolve(sympy.Matrix.vstack(f, b.extract(independent, [0])))
    lam = sympy.zeros(m, 1)
    for i, row in enumerate(independent):
        lam[row] = solution[n + i]
    null = A.T.nullspace()
    if null:
        N = sympy.Matrix.hstack(*null)
        lam = lam - N * (N.T * N).LUsolve(N.T * lam)
    return np.array(solution[:n], dtype=float), np.array(list(lam), dtype=float)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["regular", "rank", "massless"])
def test_rational_arithmetic(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, (2, 5)).astype(float)
    A = np.vstack([A, A[0] - A[1], 2.0 * A[1]])
    L = rng.integers(-2, 3, (5, 5)) + 3.0 * np.eye(5)
    if kind == "rank":
        L[:, 4] = 0.0
    M = L @ L.T
    if kind == "massless":
        M[2], M[:, 2] = 0.0, 0.0
        A[0, 2] = 1.0
        A[2] = A[0] - A[1]
    system = System(M, A, rng.integers(-9, 10, 5) * 1.0, A @ rng.integers(-9, 10, 5))
    assert np.linalg.matrix_rank(np.vstack([M, A])) == 5
    x, lam = exact_solution(system)
    solution = solve_saddle(*system)
    assert error(solution.x, x) < 1e-13  # reached: 2e-15
    assert error(solution.lam, lam) < 1e-12  # reached: 1e-14


# --- against the dense formulas ---------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(systems())
def test_null_space_formulas(system: System) -> None:
    x, lam = solve_null_space(*system)
    solution = solve_saddle(*system)
    # reached: x 3e-13, lam 1e-12 (rounding of the dense formulas included)
    assert error(solution.x, x) < 1e-10
    assert error(solution.lam, lam) < 1e-10


@settings(deadline=None)
@given(systems(kinds=("regular",)))
def test_masarati_equation_8(system: System) -> None:
    assume(np.linalg.cond(system.M) < 1e4)
    x, lam = solve_regular(*system)
    solution = solve_saddle(*system)
    assert error(solution.x, x) < 1e-9
    assert error(solution.lam, lam) < 1e-9


@settings(deadline=None)
@given(systems(kinds=("rank", "massless")))
def test_pseudo_inverse_of_the_whole(system: System) -> None:
    x, lam = solve_pseudo_inverse(*system)
    solution = solve_saddle(*system)
    assert error(solution.x, x) < 1e-9
    assert error(solution.lam, lam) < 1e-9


@settings(deadline=None)
@given(systems(), st.integers(0, 2**31))
def test_weights_choose_the_smallest_multipliers(system: System, seed: int) -> None:
    weights = 10.0 ** np.random.default_rng(seed).uniform(-2, 2, len(system.A))
    solution = solve_saddle(*system, weights=weights)
    M, A, f, _ = system
    size = np.abs(weights * solution.lam).max(initial=0.0) + np.abs(f).max()
    assert np.abs(f - M @ solution.x - A.T @ solution.lam).max() < 1e-11 * size
    # the gradient of sum(weights * lam**2) / 2 has no part in the null space of A^T
    assert np.abs(null_space(A.T).T @ (weights * solution.lam)).max(initial=0.0) < 1e-9 * size


@settings(deadline=None)
@given(systems(), st.integers(0, 2**31))
def test_units_do_not_matter(system: System, seed: int) -> None:
    # Rows times 1e-3 ... 1e3 and masses times 1e-3 ... 1e4, by powers of two: then the solution changes in known factors only.
    rng = np.random.default_rng(seed)
    row, col = 2.0 ** rng.integers(-10, 11, len(system.A)), 2.0 ** rng.integers(-5, 8, len(system.M))
    M, A, f, b = system
    x, lam = solve_null_space(*system, weights=row**-2.0)
    scaled = System(M * col[:, None] * col, A * row[:, None] * col, f * col, b * row)
    solution = solve_saddle(*scaled, weights=np.ones(len(A)))
    assert error(solution.x * col, x) < 1e-9  # reached: 3e-12
    stray = np.abs(scaled.A.T @ (solution.lam - lam / row)) / col
    assert stray.max() < 1e-9 * np.abs(A.T @ lam).max() + 1e-9 * np.abs(f).max()


def test_masses_of_very_different_size() -> None:
    # light bodies between heavy ones, on a line: each linked with the next one; the whole accelerates as one body
    mass = np.tile([1e-3, 1e4], 20)
    links = np.diff(np.eye(40), axis=0)
    force = np.zeros(40)
    force[0] = 1.0
    solution = solve_saddle(np.diag(mass), links, force, np.zeros(39))
    acceleration = 1.0 / mass.sum()
    np.testing.assert_allclose(solution.x, acceleration, rtol=1e-12)
    # M x + A^T lam = f from the left: -lam_i is the force that passes link i
    np.testing.assert_allclose(-solution.lam, 1.0 - np.cumsum(mass)[:-1] * acceleration, rtol=1e-9)


# --- large and sparse -------------------------------------------------------------------------------------------------------


def chain(bodies: int, seed: int) -> tuple[sp.coo_matrix, sp.coo_matrix]:
    """A spatial chain: 6 unknowns a body, 5 rows a hinge."""
    rng = np.random.default_rng(seed)
    inertia = [np.diag(rng.uniform(0.5, 2.0, 6)) for _ in range(bodies)]
    for block in inertia:
        L = rng.standard_normal((3, 3))
        block[3:, 3:] = L @ L.T + np.eye(3)
    hinge = np.ones((5, 6))
    hinge[3:, :3] = 0.0
    grid = sp.coo_matrix(sp.kron(sp.diags([np.ones(bodies), np.ones(bodies - 1)], [0, -1]), hinge))
    A = sp.coo_matrix((rng.standard_normal(grid.nnz), (grid.row, grid.col)), shape=grid.shape)
    A.eliminate_zeros()
    return sp.coo_matrix(sp.block_diag(inertia)), A


@pytest.mark.parametrize("bodies", [1, 4, 60, 400])
def test_chain_as_superlu_solves_it(bodies: int) -> None:
    M, A = chain(bodies, bodies)
    rng = np.random.default_rng(bodies)
    f, b = rng.standard_normal(M.shape[0]), rng.standard_normal(A.shape[0])
    expected = spsolve(sp.bmat([[M, A.T], [A, None]], format="csc"), np.concatenate([f, b]))
    solution = solve_saddle(M, A, f, b)
    assert error(solution.x, expected[: f.size]) < 1e-12
    assert error(solution.lam, expected[f.size :]) < 1e-12
    assert solution.passes <= 3
    assert not solution.pivoting


def test_redundant_chain() -> None:
    M, A = chain(12, 5)
    A = sp.coo_matrix(sp.vstack([A, A.tocsr()[10:25], 2.0 * A.tocsr()[3:5] - A.tocsr()[40:42]]))
    rng = np.random.default_rng(5)
    f, b = rng.standard_normal(M.shape[0]), A @ rng.standard_normal(M.shape[0])
    x, lam = solve_regular(M.toarray(), A.toarray(), f, b)
    solution = solve_saddle(M, A, f, b)
    assert error(solution.x, x) < 1e-12
    assert error(solution.lam, lam) < 1e-11


# --- one pattern, many values -----------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(systems(), st.integers(0, 2**31))
def test_new_values_on_the_same_pattern(system: System, seed: int) -> None:
    rng = np.random.default_rng(seed)
    M, A = sp.csc_matrix(system.M), sp.csc_matrix(system.A)
    solver = SaddleSolver(M, A)
    solver.factorize(M.data, A.data)
    solver.solve(system.f, system.b)
    row, col = rng.uniform(0.5, 2.0, len(system.A)), rng.uniform(0.5, 2.0, len(system.M))
    M = sp.csc_matrix(sp.diags(col) @ M @ sp.diags(col))
    A = sp.csc_matrix(sp.diags(row) @ A @ sp.diags(col))
    b = A @ rng.standard_normal(len(system.M))
    solver.factorize(M.data, A.data)
    solution = solver.solve(system.f, b)
    x, lam = solve_null_space(M.toarray(), A.toarray(), system.f, b)
    assert error(solution.x, x) < 1e-9
    assert error(solution.lam, lam) < 1e-9


def test_two_runs_give_the_same_bits() -> None:
    system = random_system(4, 20, 8, 3, 2, "massless", True)
    first, again = solve_saddle(*system), solve_saddle(*system)
    np.testing.assert_array_equal(first.x, again.x)
    np.testing.assert_array_equal(first.lam, again.lam)
    solver = SaddleSolver(system.M, system.A)
    for _ in range(2):
        solver.factorize(sp.coo_matrix(system.M).data, sp.coo_matrix(system.A).data)
        for _ in range(2):
            solution = solver.solve(system.f, system.b)
            np.testing.assert_array_equal(solution.x, first.x)
            np.testing.assert_array_equal(solution.lam, first.lam)


def test_scales_are_kept_on_request() -> None:
    solver = SaddleSolver(np.eye(1), np.ones((1, 1)))
    solver.factorize(np.array([1.0]), np.array([1.0]))
    before = solver.work.scale.copy()
    solver.factorize(np.array([2.0**20]), np.array([1.0]), rescale=False)
    np.testing.assert_array_equal(solver.work.scale, before)
    solver.factorize(np.array([2.0**20]), np.array([1.0]))
    np.testing.assert_array_equal(solver.work.scale[solver.plan.place], [2.0**-10, 2.0**10])


def test_entries_at_one_place_are_added() -> None:
    M = sp.coo_matrix(([1.0, 1.0, 3.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    A = sp.coo_matrix(([0.5, 0.5, -1.0], ([0, 0, 0], [0, 0, 1])), shape=(1, 2))
    solution = solve_saddle(M, A, np.array([10.0, 0.0]), np.zeros(1))
    np.testing.assert_allclose(solution.x, [2.0, 2.0], rtol=1e-14)
    np.testing.assert_allclose(solution.lam, [6.0], rtol=1e-14)


def test_no_constraints() -> None:
    solution = solve_saddle(np.diag([2.0, 4.0]), np.zeros((0, 2)), np.array([2.0, 2.0]), np.zeros(0))
    np.testing.assert_allclose(solution.x, [1.0, 0.5], rtol=1e-15)
    assert solution.lam.size == 0


def test_statics_without_mass() -> None:
    # an unstable spring, held by a constraint: K is indefinite and regular on what is free
    K = np.array([[-2.0, 1.0], [1.0, 3.0]])
    solution = solve_saddle(K, np.array([[1.0, 0.0]]), np.array([0.0, 6.0]), np.array([1.0]))
    np.testing.assert_allclose(solution.x, [1.0, 5.0 / 3.0], rtol=1e-14)
    np.testing.assert_allclose(solution.lam, [2.0 - 5.0 / 3.0], rtol=1e-13)


# --- inside a compiled loop -------------------------------------------------------------------------------------------------


@compiled
def _march(plan, work, m_values, a_values, f, b, x, lam, steps):
    """Values that change with the step; new factors every fourth step, the old ones as the start in between."""
    worst, most = 0.0, 0
    for step in range(steps):
        m_values[0] = 1.0 + 0.01 * step
        set_values(plan, work, m_values, a_values)
        if step % 4 == 0 and factorize(plan, work, 1e-10) >= 0:
            return np.inf, 0
        residual, passes = solve_refined(plan, work, f, b, x, lam, 10, step > 0)
        worst, most = max(worst, residual), max(most, passes)
    return worst, most


def test_compiled_loop() -> None:
    M, A = chain(10, 3)
    rng = np.random.default_rng(3)
    f, b = rng.standard_normal(60), rng.standard_normal(50)
    plan = analyse_saddle(M, A)
    work = allocate_work(plan)
    m_values, a_values = M.data.copy(), A.data.copy()
    equilibrate(plan, work, m_values, a_values)
    x, lam = np.zeros(60), np.zeros(50)
    worst, passes = _march(plan, work, m_values, a_values, f, b, x, lam, 11)
    M.data[0] = 1.10
    expected = spsolve(sp.bmat([[M, A.T], [A, None]], format="csc"), np.concatenate([f, b]))
    assert worst < 1e-14
    assert passes <= 10
    assert error(x, expected[:60]) < 1e-11
    assert error(lam, expected[60:]) < 1e-11


def test_smallest_multipliers_from_compiled_parts() -> None:
    # three equal rows share 6 N; one of them is given half the weight, so it takes twice as much
    plan = analyse_saddle(np.eye(1), np.ones((3, 1)))
    work = allocate_work(plan)
    lam = np.array([6.0, 0.0, 0.0])
    assert factorize_metric(plan, work, np.ones(3), np.array([1.0, 1.0, 0.5]), METRIC_REGULARISATION) == -1
    assert minimum_norm(plan, work, lam, 10) < 1e-14
    np.testing.assert_allclose(lam, [1.5, 1.5, 3.0], rtol=1e-14)


# --- fall-backs and refusals ------------------------------------------------------------------------------------------------


def without_pivots_impossible() -> System:
    """Leaves on two hubs whose own entries cancel both sizes of the regularisation exactly: SuperLU has to pivot."""
    M = np.eye(8)
    M[0, 1:4] = M[1:4, 0] = 0.5
    M[4, 5:] = M[5:, 4] = 0.5
    M[0, 0] = M[4, 4] = -1.0
    M[1, 1], M[5, 5] = -REGULARISATION, -STRONG_REGULARISATION
    M[1, 0] = M[0, 1] = M[5, 4] = M[4, 5] = 1.0
    return System(M, np.array([[0.0, 0, 0, 1, 0, 0, 0, 1]]), np.arange(8.0), np.array([2.0]))


def test_superlu_steps_in_where_pivots_vanish() -> None:
    M, A, f, b = without_pivots_impossible()
    solution = solve_saddle(M, A, f, b)
    assert solution.pivoting
    expected = np.linalg.solve(np.block([[M, A.T], [A, np.zeros((1, 1))]]), np.concatenate([f, b]))
    assert error(solution.x, expected[:8]) < 1e-13
    assert error(solution.lam, expected[8:]) < 1e-13


def test_superlu_also_finds_the_smallest_multipliers() -> None:
    M, A, f, b = without_pivots_impossible()
    system = System(M, np.vstack([A, A]), f, np.repeat(b, 2))
    solution = solve_saddle(*system)
    x, lam = solve_pseudo_inverse(*system)
    assert solution.pivoting
    assert error(solution.x, x) < 1e-12
    assert error(solution.lam, lam) < 1e-12


def test_contradicting_rows_are_named() -> None:
    A = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 2.0, 0.0]])
    with pytest.raises(InconsistentConstraintsError, match=r"rows \[1, 2\] contradict each other") as caught:
        solve_saddle(np.eye(3), A, np.zeros(3), np.array([1.0, 1.0, 3.0]))
    np.testing.assert_array_equal(caught.value.rows, [1, 2])
    assert 0.1 < caught.value.mismatch < 1.0


def test_contradicting_rows_are_named_where_pivots_vanish() -> None:
    M, A, f, _ = without_pivots_impossible()
    with pytest.raises(InconsistentConstraintsError, match=r"rows \[0, 1\]"):
        solve_saddle(M, np.vstack([A, A]), f, np.array([1.0, 2.0]))


@settings(deadline=None)
@given(systems(), st.floats(1e-6, 1.0))
def test_any_contradiction_is_found(system: System, size: float) -> None:
    null = null_space(system.A.T)
    assume(null.size > 0)
    mismatch = size * (1.0 + np.abs(system.b).max() + np.abs(system.f).max()) * null[:, 0]
    with pytest.raises(InconsistentConstraintsError):
        solve_saddle(system.M, system.A, system.f, system.b + mismatch)


def test_motions_without_inertia_are_named() -> None:
    # unknowns 1 and 2 can move against each other
    M = np.diag([1.0, 0.0, 0.0, 2.0])
    A = np.array([[1.0, 1.0, 1.0, 0.0]])
    with pytest.raises(UndeterminedUnknownsError, match=r"unknowns \[1, 2\] are not determined") as caught:
        solve_saddle(M, A, np.zeros(4), np.zeros(1))
    np.testing.assert_array_equal(caught.value.columns, [1, 2])


@settings(deadline=None)
@given(systems(kinds=("regular",)), st.integers(0, 2**31))
def test_any_motion_without_inertia_is_found(system: System, seed: int) -> None:
    # one direction is taken out of M and A
    n = len(system.M)
    direction = np.random.default_rng(seed).integers(1, 4, n) * 1.0
    direction[n // 2 :] = 0.0
    keep = np.eye(n) - np.outer(direction, direction) / (direction @ direction)
    with pytest.raises(UndeterminedUnknownsError) as caught:
        solve_saddle(keep @ system.M @ keep, system.A @ keep, system.f, np.zeros(len(system.A)))
    np.testing.assert_array_equal(caught.value.columns, np.flatnonzero(direction))


def test_what_is_not_checked_is_found_by_the_solve() -> None:
    M, A = np.diag([1.0, 0.0]), np.array([[1.0, 0.0]])
    solver = SaddleSolver(sp.coo_matrix(np.eye(2)), A)
    solver.factorize(np.diag(M).copy(), np.array([1.0]), check=False)
    with pytest.raises(UndeterminedUnknownsError, match=r"\[1\]"):
        solver.solve(np.array([0.0, 1.0]), np.zeros(1))


def test_nonsense_is_refused() -> None:
    solver = SaddleSolver(np.eye(2), np.ones((1, 2)))
    with pytest.raises(ValueError, match="M_values has the shape"):
        solver.factorize(np.ones(3), np.ones(2))
    with pytest.raises(SolveError, match="A_values of the saddle system contains numbers that are not finite"):
        solver.factorize(np.ones(2), np.array([1.0, np.nan]))
    solver.factorize(np.ones(2), np.ones(2))
    with pytest.raises(SolveError, match="f of the saddle system"):
        solver.solve(np.array([np.inf, 0.0]), np.zeros(1))
    with pytest.raises(ValueError, match="M is"):
        analyse_saddle(np.eye(3), np.ones((1, 2)))
