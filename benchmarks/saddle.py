"""The saddle solve: time next to SciPy's SuperLU on spatial chains, differences to the pseudo-inverse formulas at random."""

import time

import numpy as np
import scipy.sparse as sp
from chains import chain
from scipy.sparse.linalg import splu

import dalembert as da
from dalembert.linalg.dense import solve_pseudo_inverse, solve_regular
from dalembert.linalg.saddle import REGULARISATION, SaddleSolver, factorize, set_values, solve_refined, solve_saddle


def best(function, repeats):
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def time_of_chain(n):
    """Seconds: ours to factorise, to solve with one pass and refined; SuperLU's to factorise and to solve; difference."""
    system = da.build(chain(n))
    q, v = system.design.q, system.design.v
    q = system.advance(q, 0.05 * np.random.default_rng(0).normal(size=system.n_velocities))
    M, A = system.mass(), system.jacobian(0.0, q)
    f, b = system.force(0.0, q, v), system.acceleration_right_side(0.0, q, v)
    solver = SaddleSolver(M, A)
    solver.factorize(M.data, A.data)
    plan, work = solver.plan, solver.work
    x, lam = np.zeros(f.size), np.zeros(b.size)
    K = sp.block_array([[M, A.T], [A, None]], format="csc")
    other = splu(K)
    rhs = np.concatenate([f, b])
    repeats = max(5, 2000 // n)

    def values_and_factors():
        set_values(plan, work, M.data, A.data)
        factorize(plan, work, REGULARISATION)

    ours = best(values_and_factors, repeats)
    once = best(lambda: solve_refined(plan, work, f, b, x, lam, 1, False), repeats)
    refined = best(lambda: solve_refined(plan, work, f, b, x, lam, 10, False), repeats)
    theirs = min(best(lambda s=s: splu(K, permc_spec=s), max(3, repeats // 10)) for s in ("COLAMD", "MMD_AT_PLUS_A"))
    their_solve = best(lambda: other.solve(rhs), repeats)
    difference = np.abs(np.concatenate([x, lam]) - other.solve(rhs)).max() / np.abs(other.solve(rhs)).max()
    return ours, once, refined, theirs, their_solve, difference


def print_times():
    print("spatial chains, microseconds                      SuperLU (better of two orders)")
    print("bodies   factor  one pass   refined              factor     solve   ratio of factors, solves   difference")
    for n in (4, 16, 64, 256, 1024):
        ours, once, refined, theirs, their_solve, difference = time_of_chain(n)
        mine = "".join(f"{1e6 * x:10.1f}" for x in (ours, once, refined))
        peer = "".join(f"{1e6 * x:10.1f}" for x in (theirs, their_solve))
        print(f"{n:5d}{mine}          {peer}  {theirs / ours:10.1f}{their_solve / once:10.1f}      {difference:14.1e}")
    print()


def random_system(rng):
    """Consistent redundant rows, a mass matrix of deficient rank where the rows make x unique."""
    n = int(rng.integers(6, 31))
    rank = int(rng.integers(2, n // 2 + 1))
    m = rank + int(rng.integers(0, 6))
    A = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))
    missing = int(rng.integers(0, rank + 1))
    root = rng.normal(size=(n, n - missing))
    M = root @ root.T / n if missing else root @ root.T / n + 0.1 * np.eye(n)
    return M, A, rng.normal(size=n), A @ rng.normal(size=n)


def print_differences(draws=300):
    x_errors, lam_errors, regular_errors = [], [], []
    for seed in range(draws):
        M, A, f, b = random_system(np.random.default_rng(seed))
        x, lam = solve_pseudo_inverse(M, A, f, b)
        solution = solve_saddle(M, A, f, b)
        x_errors.append(np.abs(solution.x - x).max() / np.abs(x).max())
        lam_errors.append(np.abs(solution.lam - lam).max() / np.abs(lam).max())
        if np.linalg.matrix_rank(M) == len(M):
            x, lam = solve_regular(M, A, f, b)
            regular_errors.append(np.abs(solution.x - x).max() / np.abs(x).max())
    print(f"{draws} random systems (condition up to 1e7), redundant rows, singular masses: relative difference to the")
    print("pseudo-inverse                    median    largest")
    for label, errors in (("x", x_errors), ("lambda", lam_errors), ("x, regular M, Masarati (8)", regular_errors)):
        print(f"  {label:28s}{np.median(errors):10.1e}{np.max(errors):11.1e}")
    print()


if __name__ == "__main__":
    print_times()
    print_differences()
