"""A user's own equations as integrators ask for them: accelerations and projections in plain coordinates, q' = v.

The counterpart of problem.py for systems of `lagrange`, whose functions compiled loops cannot call: the same steps, in Python,
on small dense matrices. Rows psi restrict velocities only; where they are not linear in v, A depends on v, and the velocities
are projected by Newton's method.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dalembert.errors import DalembertError
from dalembert.formulations.choose import accelerations
from dalembert.integrators.common import take_arrays
from dalembert.kernel.vec3 import Array
from dalembert.lagrange.equations import Dynamics
from dalembert.lagrange.mechanics import Mechanics
from dalembert.linalg.saddle import SaddleSolver

ROUNDING = 1e-13
"""A velocity error relative to the velocities that is not worth another correction."""

ACCURATE = 1e-6
"""Relative residual of an acceleration inside a step that may be believed."""


TIME, STEP, FRESH, LAST = range(4)
"""Places in the numbers of an integrator: time, next step, whether to start anew, something of the last step."""


class Unsolved(Exception):  # noqa: N818 - a step may still be tried with another size
    """An evaluation failed; the message says how."""


class Evaluation(NamedTuple):
    """Accelerations and multipliers at a state, and the velocities of the positions there."""

    a: Array
    lam: Array
    w: Array


class PlainSystem:
    """A system of a user's own equations, with its saddle systems.

    Parameters
    ----------
    system : Mechanics
    identity : bool
        Whether positions and velocities are projected with W = I, not W = M.
    """

    def __init__(self, system: Mechanics, *, identity: bool = False) -> None:
        self.system, self.equations, self.identity = system, system.equations, identity
        n, m, h = system.n_velocities, system.n_constraints, system.equations.n_holonomic
        self._eye = np.eye(n)
        self._dynamics = SaddleSolver(np.ones((n, n)), np.ones((m, n)))
        self._velocities = SaddleSolver(np.ones((n, n)), np.ones((m, n))) if identity else self._dynamics
        self._positions = SaddleSolver(np.ones((n, n)), np.ones((h, n)))
        self._nonlinear = system.equations.n_nonholonomic > 0
        self.evaluations = 0

    @property
    def redundant(self) -> bool:
        """Whether rows depend on each other in the design position."""
        return self._dynamics.redundant

    def start(self, t: float, q: Array, v: Array) -> None:
        """Refuse what has no unique acceleration.

        Scales are those of the design position, so that a run that is continued has the same ones.
        """
        accelerations(self.system, t, q, v)
        parts = self.parts(t, self.system.design.q, self.system.design.v)
        for solver, W, A in (
            (self._dynamics, parts.M, parts.A),
            (self._velocities, self._metric(parts), parts.A),
            (self._positions, self._metric(parts), parts.A[: self.equations.n_holonomic]),
        ):
            solver.factorize(W.ravel(), A.ravel())

    def parts(self, t: float, q: Array, v: Array) -> Dynamics:
        """Return M, Q, C, A and b'' at a state."""
        self.evaluations += 1
        try:
            return self.equations.dynamics(t, q, v)
        except DalembertError:
            raise
        except Exception as error:  # of a user's function
            raise Unsolved(f"a function of the system failed: {error!r}") from error

    def _metric(self, parts: Dynamics) -> Array:
        return self._eye if self.identity else parts.M

    def accelerate(self, parts: Dynamics, b: Array, *, careful: bool = False) -> tuple[Array, Array]:
        """Return v' and lambda of ``M v' + A^T lambda = Q + C``, ``A v' = b``; careful: the smallest of all multipliers."""
        self._dynamics.factorize(parts.M.ravel(), parts.A.ravel(), rescale=False, check=False)
        f = parts.Q + parts.C
        solution = self._dynamics.solve(f, b) if careful else self._dynamics.least_squares(f, b, passes=10)
        if not solution.residual <= ACCURATE:
            raise Unsolved(f"the accelerations cannot be computed (relative residual {solution.residual:.3g})")
        return solution.x, solution.lam

    def velocity_correction(self, parts: Dynamics, error: Array) -> Array:
        """Return the smallest change of velocities with ``A dv = error``, in the metric W (Masarati 2011, eq. 11a)."""
        self._velocities.factorize(self._metric(parts).ravel(), parts.A.ravel(), rescale=False, check=False)
        return self._velocities.least_squares(np.zeros(self._eye.shape[0]), error).x

    def project_velocity(self, t: float, q: Array, v: Array, parts: Dynamics) -> Array:
        """Return the nearest velocities that all rows allow."""
        before = np.inf
        for _ in range(8):
            error = -self.equations.velocities(t, q, v)
            size = _largest(error)
            if size <= ROUNDING * max(_largest(v), 1e-300) or not size < 0.5 * before:
                break
            before = size
            v = v + self.velocity_correction(parts, error)
            if self._nonlinear:
                parts = self.parts(t, q, v)
        return v

    def project_position(self, t: float, q: Array, v: Array, tolerance: float) -> Array:
        """Return the nearest positions with phi = 0 (Masarati 2011, eq. 17)."""
        h = self.equations.n_holonomic
        zero, before = np.zeros(q.size), np.inf
        allowed = tolerance + 4e-15 * _largest(q)
        for _ in range(12):
            error = self.equations.positions(t, q)
            size = _largest(error)
            if size <= tolerance or (size <= allowed and size > 0.1 * before):
                return q
            before = size
            parts = self.parts(t, q, v)
            self._positions.factorize(self._metric(parts).ravel(), parts.A[:h].ravel(), rescale=False, check=False)
            q = q + self._positions.least_squares(zero, -error).x
        worst = int(np.abs(error).argmax())
        raise Unsolved(f"the constraints cannot be met: row 'phi[{worst}]' stays open by {size:.3g}")

    def consistent(self, t: float, q: Array, v: Array, tolerance: float) -> tuple[Array, Array, Evaluation]:
        """Return the nearest state that all rows allow, with its accelerations and the smallest multipliers."""
        q = self.project_position(t, q, v, tolerance)
        v = self.project_velocity(t, q, v, self.parts(t, q, v))
        parts = self.parts(t, q, v)
        return q, v, Evaluation(*self.accelerate(parts, parts.b, careful=True), v)

    def violations(self, t: float, q: Array, v: Array, a: Array) -> tuple[float, float, float]:
        """Return the largest residuals of positions, velocities, accelerations."""
        parts = self.equations.dynamics(t, q, v)
        levels = self.equations.positions(t, q), self.equations.velocities(t, q, v), parts.A @ a - parts.b
        return _largest(levels[0]), _largest(levels[1]), _largest(levels[2])


class PlainIntegrator:
    """What the integrators of plain systems share: the clock, statistics, checkpoints."""

    _plain: PlainSystem

    def _set_up(self, counts: tuple[str, ...], arrays: tuple[str, ...]) -> None:
        """Name the statistics, and the arrays that hold all that a continuation needs."""
        self._names, self._kept = counts, ("numbers", "counts", *arrays)
        self._numbers, self._counts = np.zeros(4), np.zeros(len(counts))

    @property
    def time(self) -> float:
        """Time reached by the steps [s]."""
        return float(self._numbers[TIME])

    @property
    def step_size(self) -> float:
        """Size of the next step [s]."""
        return float(self._numbers[STEP])

    @property
    def statistics(self) -> dict[str, float]:
        """What the run has cost so far, and for explicit steps the largest violations at their ends."""
        return dict(zip(self._names, self._counts.tolist(), strict=True))

    @property
    def _state(self) -> tuple[Array, Array]:
        raise NotImplementedError

    def checkpoint(self) -> dict[str, Array]:
        """Return all that the continuation needs, bit for bit."""
        return {name: array.copy() for name, array in self._arrays().items()}

    def restore(self, data: Mapping[str, Array]) -> None:
        """Continue from a checkpoint of an integrator of the same system and options."""
        take_arrays(self._arrays(), data)
        self._plain.start(self.time, *self._state)

    def _arrays(self) -> dict[str, Array]:
        return {name: getattr(self, f"_{name}") for name in self._kept}

    def _clear(self) -> None:
        for array in self._arrays().values():
            array[...] = 0.0


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))
