"""A user's own equations: agreement of all formulations, time of a right side next to lambdify, time to derive and compile.

python benchmarks/own_equations.py
"""

import os
import tempfile
import time

import numpy as np
import sympy as sp

import dalembert as da
from dalembert.formulations.choose import EXACT, accelerations
from random_systems import random_mechanics

LINKS = 5


def agreement(count=400):
    """Largest differences of all formulations on random systems, redundant rows and singular masses among them."""
    rng, worst = np.random.default_rng(0), {}
    for k in range(count):
        n = int(rng.integers(1, 10))
        rows, redundant, singular = int(rng.integers(0, n + 1)), int(rng.integers(0, 4)), bool(rng.integers(2))
        system = random_mechanics(k, n, rows, redundant, singular)
        state = (0.0, system.design.q, system.design.v)
        reference = accelerations(system, *state)
        for name in EXACT:
            if singular and rows and name in ("fundamental", "gauss"):
                continue
            found = accelerations(system, *state, formulation=name)
            pairs = zip(found, reference, strict=True)
            errors = [np.abs(a - b).max(initial=0.0) / (np.abs(b).max(initial=0.0) + 1.0) for a, b in pairs]
            now = np.array([errors[0], errors[1], errors[3]])
            worst[name] = np.maximum(worst.get(name, np.zeros(3)), now)
    print(f"{count} random systems: largest relative difference to the saddle solve")
    print(f"{'':16s}{'acceleration':>14s}{'multipliers':>14s}{'force':>14s}")
    for name, values in worst.items():
        print(f"{name:16s}" + "".join(f"{value:14.1e}" for value in values))


def pendulum(n):
    """Lagrangian of n links in absolute angles, with coordinates and rates."""
    angles, rates = sp.symbols(f"a0:{n}"), sp.symbols(f"w0:{n}")
    x = z = vx = vz = 0
    L = 0
    for a, w in zip(angles, rates, strict=True):
        mid = (x + sp.sin(a) / 2, z - sp.cos(a) / 2)
        speed = (vx + sp.cos(a) * w / 2, vz + sp.sin(a) * w / 2)
        L += (speed[0] ** 2 + speed[1] ** 2) / 2 + w**2 / 24 - 9.81 * mid[1]
        x, z, vx, vz = x + sp.sin(a), z - sp.cos(a), vx + sp.cos(a) * w, vz + sp.sin(a) * w
    return L, angles, rates


def shortest(function, repeat=5, number=2000):
    """Seconds of one call."""
    best = np.inf
    for _ in range(repeat):
        begin = time.perf_counter()
        for _ in range(number):
            function()
        best = min(best, (time.perf_counter() - begin) / number)
    return best


def right_side():
    """Time of M and Q of a pendulum of several links: ours, lambdify with and without common subexpressions."""
    L, angles, rates = pendulum(LINKS)
    begin = time.perf_counter()
    system = da.Mechanics("pendulum", angles, rates, lagrangian=L, position=np.linspace(0.1, 0.9, LINKS))
    derived = time.perf_counter()
    system.mass()
    compiled = time.perf_counter()
    print(f"\n{LINKS}-link pendulum: {derived - begin:.2f} s to derive, {compiled - derived:.2f} s to write and compile")
    again = da.Mechanics("pendulum", angles, rates, lagrangian=L, position=np.linspace(0.1, 0.9, LINKS))
    begin = time.perf_counter()
    again.mass()
    print(f"the same in this process again: {time.perf_counter() - begin:.3f} s")
    momentum = sp.Matrix([L]).jacobian(rates).T
    M = momentum.jacobian(rates)
    Q = sp.Matrix([L]).jacobian(angles).T - momentum.jacobian(angles) * sp.Matrix(rates)
    q, v = system.design.q, np.linspace(-1.0, 1.0, LINKS)
    inner, p, out = system.equations._functions().dynamics, system.equations.values(), system.dynamics(0.0, q, v)
    flat = [np.ascontiguousarray(one).ravel() for one in out]
    ours = shortest(lambda: inner(0.0, q, v, p, *flat))
    through = shortest(lambda: system.equations.dynamics(0.0, q, v))
    print(f"M and Q: ours {1e6 * ours:.2f} us compiled, {1e6 * through:.2f} us with new arrays")
    for cse in (True, False):
        theirs = sp.lambdify((*angles, *rates), (M, Q), "numpy", cse=cse)
        given = [*q, *v]
        M2, Q2 = theirs(*given)
        difference = max(np.abs(M2 - out.M).max(), np.abs(Q2.ravel() - out.Q).max())
        other = shortest(lambda f=theirs, g=given: f(*g))
        print(
            f"  lambdify, NumPy, cse={cse!s:5s}: {1e6 * other:8.1f} us, ratio {other / ours:6.1f} "
            f"({other / through:.1f} with new arrays), difference {difference:.0e}"
        )


def main():
    agreement()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DALEMBERT_CACHE_DIR"] = folder  # nothing was compiled before
        right_side()


if __name__ == "__main__":
    main()
