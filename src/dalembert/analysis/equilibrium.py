"""Static equilibrium: positions and multipliers with ``A^T lambda = f(t, q, 0)`` and ``phi(t, q) = 0``.

Newton's method on both together, with the tangent stiffness of the joints in K (Peng et al. 2024, section 4.1), damped by
inertia:

    [ K + M / tau^2   A^T ] [ d            ]   [ f - A^T lambda ]
    [ A                0  ] [ delta lambda ] = [ -phi           ]

It starts from the assembled position and the multipliers of the mass-weighted least-squares fit of f by A^T lambda, those of
the first instant after the release; without them K_c were zero and the matrix of a mechanism without springs singular. No body
turns by more than half a radian in a step. tau is a time: a step goes about where the bodies would be after it if they started
from rest (pseudo-transient continuation, Kelley and Keyes 1998). It begins at ten times the time in which the released bodies
would turn by a radian, so that Newton's method hardly feels it and goes to the nearest equilibrium, also an unstable one, and
grows as the residual falls; where that fails, it begins smaller.

``stable=True`` wants a minimum of the energy. tau is then kept so small that K + M/tau^2, made symmetric, is positive definite
on what the joints leave (the signs of the pivots tell), so that every step goes downhill; a saddle that was met is left by a
push. Among the ways to a minimum (energy descent, pseudo-time, continuation) this one needs no energy function, which dampers,
drives and users' forces have none of, and ends with the same quadratic convergence.

Beams are so much stiffer along than across that a step in which they turn would leave large forces along them. After each
step the places of their nodes therefore follow at the same orientations: y, the stretch and shear of an element, is linear in
places, so one more linear solve balances them. A blade that is rolled up to a full circle takes some 15 iterations.

References
----------
C. T. Kelley, D. E. Keyes, Convergence analysis of pseudo-transient continuation, SIAM J. Numer. Anal. 35 (1998).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dalembert.analysis.assemble import accept_gaps, assemble
from dalembert.analysis.hold import held_forces, with_holds
from dalembert.analysis.pencil import Motion, pencil_at
from dalembert.analysis.rest import Equilibrium, rest_of
from dalembert.analysis.stability import stability
from dalembert.errors import ModelError, SolveError
from dalembert.formulations.saddle import SaddleFormulation
from dalembert.kernel.vec3 import Array
from dalembert.linalg.combination import CombinationSolver
from dalembert.linalg.saddle import SLENDER_REGULARISATION, SaddleSolution, SaddleSolver, UndeterminedUnknownsError
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.protocol import MechanicalSystem
from dalembert.system.state import State
from dalembert.system.system import System

LARGEST_TURN = 0.5
"""Largest rotation in one iteration [rad]."""

FIRST_TAUS = (10.0, 1.0, 0.1)
"""tau at the start, in units of the time in which the released bodies turn by a radian: one after the other."""

ITERATIONS = 80
"""For each of them."""

SOLVED = 1e-6
"""Relative error of the forces of a linear system that is good enough for a step."""

NOISE = 1e-12
"""Stiffnesses beside the largest one that Newton's matrix does without: what rounding leaves of multipliers."""

ROUNDING = 8.0 * np.finfo(float).eps

SMALL, EXACT = 1e-8, 1e-11  # a correction after which Newton's method is at rounding; a force that is left, relative


class EquilibriumError(SolveError):
    """No equilibrium was found.

    Attributes
    ----------
    state : State
        The best one: with the smallest residual.
    multipliers : array
    residual : float
        Its largest unbalanced force or torque [N], [N m].
    worst : str
        The equation with this residual: ``"body 'bob' (z)"``.
    iterations : int
    """

    def __init__(self, best: _Point, worst: str, iterations: int, reason: str) -> None:
        self.state = State(best.t, best.q, np.zeros(best.r.size))
        self.multipliers = best.lam
        self.residual = float(np.abs(best.r).max(initial=0.0))
        self.worst = worst
        self.iterations = iterations
        super().__init__(
            f"no equilibrium was found in {iterations} iterations: {worst} is left with {self.residual:.3g} N or N m "
            f"unbalanced; {reason}"
        )


class _Point(NamedTuple):
    """A position with multipliers, and what they leave unbalanced: r = f - A^T lambda."""

    t: float
    q: Array
    lam: Array
    f: Array
    phi: Array
    A: sp.csc_array
    r: Array
    size: float


def equilibrium(
    model: Model | MechanicalSystem,
    *,
    t: float = 0.0,
    stable: bool = False,
    hold: Mapping[str, float | None] | None = None,
    start: State | None = None,
    without_constraint_stiffness: bool = False,
) -> Equilibrium:
    """Return an equilibrium near the design position, or near a given state.

    Parameters
    ----------
    model : Model or MechanicalSystem
    t : float
        Time at which laws, drives and loads are looked at [s].
    stable : bool
        Look for a stable one; the nearest otherwise, stable or not.
    hold : mapping, optional
        What is held, and where (None: as drawn). ``{"hinge.angle": 0.3}`` a joint coordinate [rad], [m]; ``{"wheel.z": 0.4}`` a
        world coordinate of a body's centre or of a frame [m]; ``{"crank": None}`` a whole body. The forces that this needs are
        in the result's `held`.
    start : State, optional
        Where to begin, instead of the design position.
    without_constraint_stiffness : bool
        Newton's method without K_c (and without inertia to help), for comparison only: it fails where joints carry the
        stiffness.

    Raises
    ------
    AssemblyError
        If the joints cannot be closed.
    EquilibriumError
        If no equilibrium is found, with the best state.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("pendulum", gravity=(0, 0, -9.81))
    >>> bob = model.body("bob", mass=15.0, position=(2.0, 0, -3.4641016151377544))
    >>> hinge = model.revolute("hinge", model.ground, bob, axis=(0, 1, 0))
    >>> rest = equilibrium(model)
    >>> rest.stable, (rest.position.sel(body="bob").values.round(9) + 0.0).tolist()
    (True, [0.0, 0.0, -4.0])
    """
    if hold and not isinstance(model, Model):
        raise ModelError("equilibrium", "`hold` needs a model, not a system that is already built", "give the model")
    held = with_holds(model, hold) if hold and isinstance(model, Model) else None
    system: MechanicalSystem = build(held.model if held else model) if isinstance(model, Model) else model
    begin = _assembled(system, t, start)
    search = _NewtonWithoutKc(system, t, False) if without_constraint_stiffness else _Search(system, t, stable)
    point, iterations = search.run(begin.q)
    return _result(system, point, iterations, held_forces(held, system, point) if held else {})


def _assembled(system: MechanicalSystem, t: float, start: State | None) -> State:
    if start is None:
        return assemble(system, t=t)
    if start.q.shape != system.design.q.shape:
        raise ModelError(
            "start", f"its q has {start.q.size} numbers, the system {system.n_positions}", "give a state of this model"
        )
    accept_gaps(system, t)
    return start


class _Search:
    """Newton's method with pseudo-transient continuation."""

    def __init__(self, system: MechanicalSystem, t: float, stable: bool) -> None:
        self.system, self.t, self.stable = system, t, stable
        self.rest = np.zeros(system.n_velocities)
        self.M = system.mass(t, system.design.q)
        self.extent = _extent(system)
        self.scale = np.where(system.rotational, 1.0, self.extent)  # of displacements; forces count with it as an arm
        self._combination: CombinationSolver | None = None
        self._rounding: Array = np.zeros(system.n_velocities)
        self.iterations = 0
        self._beams = isinstance(system, System) and bool(system.tables.beams.size)
        self._places: CombinationSolver | None = None

    def run(self, q: Array) -> tuple[_Point, int]:
        """Return the equilibrium and the number of iterations."""
        first, turning_time = self._released(q)
        best, reason = first, ""
        for factor in self._first_taus():
            point, reason = self._attempt(first, factor * turning_time)
            if not reason:
                return point, self.iterations
            best = min(best, point, key=self._size_of)
        row = int(np.argmax(np.abs(best.r)))
        raise EquilibriumError(best, self.system.velocity_names[row], self.iterations, reason)

    def _first_taus(self) -> tuple[float, ...]:
        """Return tau at the start; beams need no inertia: their ends, light and free to turn, tell nothing of the whole."""
        if self.stable:
            return FIRST_TAUS[1:]
        return (np.inf, *FIRST_TAUS) if self._beams else FIRST_TAUS

    def _released(self, q: Array) -> tuple[_Point, float]:
        """Return the point at q with the multipliers at the instant of its release, and the time of the first radian."""
        A, f = self.system.jacobian(self.t, q), self.system.force(self.t, q, self.rest)
        solver = SaddleSolver(self.M, A)
        solver.factorize(self.M.data, A.data, check=False)
        released = solver.least_squares(f, np.zeros(A.shape[0]), passes=6)
        speed = float(np.abs(released.x / self.scale).max(initial=0.0))
        return self._point(q, released.lam), 1.0 / np.sqrt(speed) if speed > 1e-12 else np.inf

    def _point(self, q: Array, lam: Array) -> _Point:
        system = self.system
        A, f = system.jacobian(self.t, q), system.force(self.t, q, self.rest)
        phi = np.where(system.holonomic, system.constraint(self.t, q), 0.0)
        phi[np.abs(phi) <= 4.0 * np.finfo(float).eps * max(1.0, self.extent)] = 0.0  # redundant rows could not meet rounding
        pull = A.T @ lam
        size = float(max(np.abs(f).max(initial=0.0), np.abs(pull).max(initial=0.0)))
        return _Point(self.t, q, lam, f, phi, A, f - pull, size)

    def _size_of(self, point: _Point) -> float:
        """Return the size of the residual, forces counted with the arm of the model's extent."""
        return float(np.linalg.norm(point.r * self.scale))

    def _attempt(self, point: _Point, tau: float) -> tuple[_Point, str]:
        """Return the equilibrium, or the best point and why it is none."""
        best, size, idle, pushes = point, self._size_of(point), 0, 0
        for _ in range(ITERATIONS):
            self.iterations += 1
            d, change, tau = self._newton(point, tau)
            if not np.isfinite(d).all():
                return best, "the stiffness is singular there"
            if not self.stable and self._is_at_rest(point, d):
                return point, ""
            step = self._step(d)
            trial = self._point(self.system.advance(point.q, step * d), point.lam + step * change)
            trial = self._with_places_balanced(trial, tau) if self._beams else trial
            now = self._size_of(trial)
            if self._is_at_rest(trial, d):
                if not self.stable or pushes == 10 or self._is_minimum(trial):
                    return trial, ""
                pushes += 1
                trial, tau = self._pushed(trial, pushes), min(tau, self._released(trial.q)[1])
                now = self._size_of(trial)
            elif now > 10.0 * size and step == 1.0 and not self.stable:
                tau = 0.25 * (tau if np.isfinite(tau) else self._released(point.q)[1])
                continue
            idle = 0 if now < 0.99 * self._size_of(best) else idle + 1
            best = min(best, trial, key=self._size_of)
            if idle > 25 and not self.stable:
                break
            tau *= 3.0 if self.stable else float(np.clip(size / max(now, 1e-300), 0.5, 10.0))
            point, size = trial, now
        return best, self._why(best)

    def _newton(self, point: _Point, tau: float) -> tuple[Array, Array, float]:
        """Return the displacement, the change of the multipliers and the tau that was used."""
        K = self.system.stiffness(self.t, point.q, self.rest, point.lam)
        K.data[np.abs(K.data) < NOISE * np.abs(K.data).max(initial=0.0)] = 0.0  # it would mislead the scaling of the matrix
        self._rounding = ROUNDING * (abs(K) @ self.scale)  # what rounded places leave of the forces of stiff elements
        parts = [sp.csc_array(K.T), K, self.M] if self.stable else [K, self.M]
        half = [0.5, 0.5] if self.stable else [1.0]
        if self._combination is None or not self._combination.fits(parts):
            self._combination = CombinationSolver(parts, point.A, eps=SLENDER_REGULARISATION if self._beams else None)
        combination = self._combination
        for _ in range(40):
            weights = [*half, 1.0 / tau**2]
            combination.factorize(parts, weights, point.A)
            solution = combination.solver.least_squares(point.r, -point.phi, passes=8)
            positive = not self.stable or _is_positive(combination)
            forces, rows = self._errors(parts, weights, point, solution)
            if positive and max(forces, rows) > SOLVED:  # K_c has no good pivots; redundant rows cannot be met
                combination.solver.use_pivots()
                solution = combination.solver.least_squares(point.r, -point.phi, passes=8)
                forces, _ = self._errors(parts, weights, point, solution)
            if positive and forces <= SOLVED:
                break
            tau = min(tau, self._slowest(K)) / 3.0  # inertia helps where K is not positive, or nothing
        return solution.x, solution.lam, tau

    def _with_places_balanced(self, point: _Point, tau: float) -> _Point:
        """Return the point after a Newton step in the places alone."""
        K, free = self.system.stiffness(self.t, point.q, self.rest, point.lam), ~self.system.rotational
        A = point.A.copy()
        A.data *= np.repeat(free, np.diff(A.indptr))
        size = float(np.abs(K.data).max(initial=0.0))
        K.data *= np.repeat(free, np.diff(K.indptr)) & free[K.indices]
        parts = [K, self.M, sp.csc_array(sp.diags_array(np.where(free, 0.0, size)))]
        if self._places is None or not self._places.fits(parts):
            self._places = CombinationSolver(parts, A, eps=SLENDER_REGULARISATION)
        self._places.factorize(parts, [1.0, 1.0 / tau**2, 1.0], A)
        solution = self._places.solver.least_squares(np.where(free, point.r, 0.0), np.zeros(point.phi.size), passes=8)
        if not np.isfinite(solution.x).all():
            return point
        return self._point(self.system.advance(point.q, solution.x * free), point.lam + solution.lam)

    def _errors(
        self, parts: list[sp.csc_array], weights: list[float], point: _Point, solution: SaddleSolution
    ) -> tuple[float, float]:
        """Return by how much a solution misses forces and constraints, relative to what is to be corrected."""
        left = point.r - point.A.T @ solution.lam
        for part, weight in zip(parts, weights, strict=True):
            left = left - weight * (part @ solution.x)
        stiffest = float(np.abs(parts[0].data).max(initial=0.0))
        rounding = ROUNDING * stiffest * float(np.abs(solution.x).max(initial=0.0))  # of K x
        force = float(max(np.abs(point.r).max(initial=0.0), EXACT * point.size, 10.0 * rounding / SOLVED, 1e-300))
        gap = float(max(np.abs(point.phi).max(initial=0.0), 1e-3 * EXACT * max(1.0, self.extent)))
        missed = float(np.abs(point.A @ solution.x + point.phi).max(initial=0.0))
        return float(np.abs(left).max(initial=0.0)) / force, missed / gap

    def _slowest(self, K: sp.csc_array) -> float:
        """Return a time that is long beside that of the stiffness."""
        size = float(np.abs(K.data).max(initial=0.0) / max(np.abs(self.M.data).max(initial=0.0), 1e-300))
        return float(1e3 / np.sqrt(max(size, 1e-300)))

    def _step(self, d: Array) -> float:
        """Return how much of a displacement is taken: half a radian, and the extent of the model, at the most."""
        turn = float(np.abs(d[self.system.rotational]).max(initial=0.0))
        way = float(np.abs(d[~self.system.rotational]).max(initial=0.0))
        return min(1.0, LARGEST_TURN / max(turn, 1e-300), 2.0 * self.extent / max(way, 1e-300))

    def _is_at_rest(self, point: _Point, d: Array) -> bool:
        """Return whether the last correction was small, and little is left open or unbalanced."""
        small = float(np.abs(d / self.scale).max(initial=0.0)) <= SMALL
        balanced = bool(np.all(np.abs(point.r) <= np.maximum(EXACT * point.size, self._rounding)))
        closed = float(np.abs(point.phi).max(initial=0.0)) <= EXACT * max(1.0, self.extent)
        return small and balanced and closed

    def _is_minimum(self, point: _Point) -> bool:
        motion = Motion(self.t, point.q, self.rest, self.rest, point.lam)
        return stability(pencil_at(self.system, motion)).unstable == 0

    def _pushed(self, point: _Point, number: int) -> _Point:
        """Return a point beside a saddle: what a small random push of all bodies leads to."""
        push = 1e-3 * np.random.default_rng(number).standard_normal(point.r.size) * self.scale
        solver = SaddleSolver(self.M, point.A)
        solver.factorize(self.M.data, point.A.data, check=False)
        d = solver.least_squares(self.M @ push, np.zeros(point.phi.size)).x
        return self._point(self.system.advance(point.q, d), point.lam)

    def _why(self, best: _Point) -> str:
        """Say what probably prevents an equilibrium."""
        K = self.system.stiffness(self.t, best.q, self.rest, best.lam)
        motion = Motion(self.t, best.q, self.rest, self.rest, best.lam)
        if stability(pencil_at(self.system, motion)).neutral and float(np.abs(best.r).max(initial=0.0)) > 1e-6 * best.size:
            return "nothing holds it there: a spring, a joint or a counterforce is missing, or the force should not act"
        if not np.abs(K.data).any():
            return "there is no stiffness at all"
        return "begin nearer to it, give start=..., or try stable=True"


class _NewtonWithoutKc(_Search):
    """What becomes of Newton's method if the stiffness of the joints is left out (Peng et al. 2024, section 4.1)."""

    def _newton(self, point: _Point, tau: float) -> tuple[Array, Array, float]:
        K = self.system.stiffness(self.t, point.q, self.rest, point.lam, with_constraints=False)
        solver = SaddleSolver(K, point.A)
        try:
            solver.factorize(K.data, point.A.data)
        except UndeterminedUnknownsError as error:
            free = ", ".join(self.system.velocity_names[k] for k in error.columns[:6])
            reason = f"without K_c there is no stiffness for {free}: Newton's method has no direction to search in"
            row = int(np.argmax(np.abs(point.r)))
            raise EquilibriumError(point, self.system.velocity_names[row], self.iterations, reason) from error
        solution = solver.least_squares(point.r, -point.phi, passes=8)
        return solution.x, solution.lam, np.inf


def _is_positive(combination: CombinationSolver) -> bool:
    """Return whether the matrix that was factorised is positive on what the joints leave."""
    try:
        return combination.solver.negative_directions() == 0
    except SolveError:  # pivots were searched: it is not
        return False


def _extent(system: MechanicalSystem) -> float:
    """Return the size of a model: the largest of its coordinates that are lengths, from the first body on [m]."""
    q, n = system.design.q, int(system.rotational.sum()) // 3
    if not n or q.size < 7 * n or system.n_velocities != 6 * n:
        return 1.0
    places = q[: 7 * n].reshape(n, 7)[:, :3]
    size = float(np.abs(places - places.mean(axis=0)).max() + np.abs(places.mean(axis=0)).max())
    return size if size > 0.0 else 1.0


def _result(system: MechanicalSystem, point: _Point, iterations: int, held: dict[str, float]) -> Equilibrium:
    """Return the equilibrium with the smallest multipliers, and what a small push does."""
    rest = np.zeros(system.n_velocities)
    try:
        lam = SaddleFormulation(system).solve(point.t, point.q, rest).multipliers
    except SolveError:  # massless and held by springs alone: at rest all the same
        lam = point.lam
    motion = Motion(point.t, point.q, rest, rest, lam)
    found = stability(pencil_at(system, motion))
    residual = float(np.abs(point.f - point.A.T @ lam).max(initial=0.0))
    attributes: dict[str, Any] = {
        "converged": True,
        "iterations": iterations,
        "residual": residual,
        "stable": found.unstable == 0,
        "unstable_directions": found.unstable,
        "neutral_directions": found.neutral,
    }
    return rest_of(system, motion, attributes, held)
