"""Dormand-Prince 5(4) with Masarati's projections for a user's own equations: what explicit.py does, in plain coordinates."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from dalembert.integrators.common import CHUNK_STEPS, IntegrationError, Samples, choice, positive
from dalembert.integrators.dopri5 import STAGES, A, C, E, dense_weights, rejected_factor, step_factor
from dalembert.integrators.plain import FRESH, LAST, STEP, TIME, Evaluation, PlainIntegrator, PlainSystem, Unsolved
from dalembert.integrators.rates import FORMULATIONS
from dalembert.kernel.vec3 import Array
from dalembert.lagrange.mechanics import Mechanics

ERROR = LAST  # in `numbers`: of the last step, in units of what is allowed
COUNTS = ("evaluations", "steps", "rejected_steps", "position_violation", "velocity_violation", "acceleration_violation")


class PlainExplicit(PlainIntegrator):
    """Dormand-Prince 5(4) that stays on the constraints, for systems in plain coordinates.

    Parameters
    ----------
    system : Mechanics
    formulation : str
        How the constraints enter: see rates.py.
    rtol, atol : float
        Local error allowed in a step, of each coordinate and its rate.
    max_step, first_step, fixed_step : float
        [s].
    breaks : iterable of float
        Times to be hit [s].
    weights : {"mass", "identity"}
        Metric W of the projections.
    alpha, beta : float, optional
        Gains of Baumgarte, or of Braun and Goldfarb [1/s].
    project_stages : bool
        Whether the positions of the stages are projected, too.
    tolerance : float
        Of the positions' residual.
    """

    def __init__(
        self,
        system: Mechanics,
        *,
        formulation: str = "projection",
        rtol: float = 1e-6,
        atol: float = 1e-6,
        max_step: float = math.inf,
        first_step: float | None = None,
        fixed_step: float | None = None,
        breaks: Iterable[float] = (),
        weights: str = "mass",
        alpha: float | None = None,
        beta: float | None = None,
        project_stages: bool = False,
        tolerance: float = 1e-12,
    ) -> None:
        self.formulation = FORMULATIONS[choice("formulation", formulation, FORMULATIONS)]
        self.rtol, self.atol = positive("rtol", rtol), positive("atol", atol)
        self.max_step, self.fixed = positive("max_step", fixed_step or max_step), fixed_step is not None
        self.first_step = positive("first_step", fixed_step or first_step or 1.0) if fixed_step or first_step else 0.0
        self.breaks = np.unique(np.asarray(list(breaks), float))
        gain = 1.0 / (self.first_step or 0.01) if formulation == "braun_goldfarb" else 2.0
        self.alpha, self.beta = float(gain if alpha is None else alpha), float(gain if beta is None else beta)
        self.tolerance, self.project_stages = positive("tolerance", tolerance), project_stages
        self._plain = PlainSystem(system, identity=bool(choice("weights", weights, ("mass", "identity"))))
        n, m = system.n_velocities, system.n_constraints
        self._set_up(COUNTS, ("before", "now", "t0", "K", "lam"))
        self._before, self._now = np.zeros((2, n)), np.zeros((2, n))
        self._t0, self._K, self._lam = np.zeros(1), np.zeros((STAGES, 2, n)), np.zeros(m)

    # --- what every integrator has -------------------------------------------------------------------------------------

    @property
    def method(self) -> str:
        """Name of the method."""
        return f"dopri5, {self.formulation}"

    @property
    def _state(self) -> tuple[Array, Array]:
        return self._now[0], self._now[1]

    def start(self, t: float, q: Array, v: Array) -> None:
        """Begin at a state, which is made consistent."""
        self._clear()
        self._plain.start(t, q, v)
        self._numbers[:] = t, self.first_step, 1.0, 0.0
        self._t0[0] = t
        self._now[:] = q, v
        self._before[:] = self._now

    def run_chunk(self, times: Array, out: Samples, budget: int = CHUNK_STEPS) -> int:
        """Integrate until all `times` are reached and fill the rows of `out`; return the number of rows filled."""
        row = 0
        try:
            while row < len(times):
                if self._numbers[FRESH]:
                    self._restart()
                if times[row] <= self.time:
                    self._sample(float(times[row]), out, row)
                    row += 1
                elif budget <= 0:
                    break
                else:
                    self._step()
                    budget -= 1
        except Unsolved as error:
            raise IntegrationError(self.time, str(error), statistics=self.statistics, filled=row) from error
        return row

    # --- steps ----------------------------------------------------------------------------------------------------------

    def _restart(self) -> None:
        """Make the state consistent and evaluate the first stage anew: at the start, and after break points."""
        q, v, found = self._plain.consistent(self.time, self._now[0], self._now[1], self.tolerance)
        self._now[:] = self._before[:] = q, v
        self._t0[0] = self.time
        self._K[0], self._lam[:] = (found.w, found.a), found.lam
        self._numbers[FRESH] = 0.0
        if self._numbers[STEP] == 0.0:
            size = self._error(self._K[0], self._now)
            self._numbers[STEP] = (0.01 / size) ** 0.2 if size > 0.0 else 0.01

    def _step(self) -> None:
        """Make one step, trying smaller ones until the error is small enough."""
        if self.time > self._t0[0]:
            self._K[0] = self._K[STAGES - 1]
        self._t0[0], self._before[:] = self.time, self._now
        rejected = False
        while True:
            h, end, at_break = self._planned()
            if not self.time + 0.5 * h > self.time:
                raise Unsolved(f"the step size fell to {h:.3g} s without meeting the tolerances")
            try:
                new, lam = self._stages(h, np.nextafter(end, -np.inf) if at_break else end)
                error = self._error(h * np.tensordot(E, self._K, 1), new)
            except Unsolved:
                if self.fixed or h < 1e-12:
                    raise
                error = math.inf
            if error <= 1.0 or (self.fixed and error < math.inf):
                self._accept(h, end, at_break, new, lam, error, rejected)
                return
            rejected = True
            self._counts[2] += 1
            self._numbers[STEP] = h * rejected_factor(error)

    def _planned(self) -> tuple[float, float, bool]:
        """Return the step, the time at its end, and whether that is a break point."""
        t, h = self.time, min(self.step_size, self.max_step)
        following = self.breaks[self.breaks > t]
        if following.size and 1.000001 * h >= following[0] - t:
            return float(following[0] - t), float(following[0]), True
        return h, t + h, False

    def _stages(self, h: float, end: float) -> tuple[Array, Array]:
        """Evaluate all stages of a step; return the state at its end and the multipliers there."""
        projected = self.formulation == "projection"
        for i in range(1, STAGES):
            last = i == STAGES - 1
            t = end if C[i] == 1.0 else self.time + C[i] * h
            y = self._before + h * np.tensordot(A[i, :i], self._K[:i], 1)
            if projected and (last or self.project_stages):
                y[0] = self._plain.project_position(t, y[0], y[1], self.tolerance)
            y[1], found = self._rates(t, y[0], y[1])
            self._K[i] = found.w, found.a
        return y, found.lam

    def _rates(self, t: float, q: Array, v: Array) -> tuple[Array, Evaluation]:
        """Return the velocities, projected if that is the formulation, and the rates there (rates.py)."""
        parts = self._plain.parts(t, q, v)
        if self.formulation == "projection":
            v = self._plain.project_velocity(t, q, v, parts)
            parts = self._plain.parts(t, q, v)
            return v, Evaluation(*self._plain.accelerate(parts, parts.b), v)
        b, w = parts.b.copy(), v
        if self.formulation in ("baumgarte", "braun_goldfarb"):
            equations = self._plain.equations
            rates, gaps = equations.velocities(t, q, v), equations.positions(t, q)
            impulses = self.formulation == "braun_goldfarb"
            b -= (self.alpha if impulses else 2.0 * self.alpha) * rates
            if impulses:
                rates[: gaps.size] += self.beta * gaps
                w = v + self._plain.velocity_correction(parts, -rates)
            else:
                b[: gaps.size] -= self.beta**2 * gaps
        return v, Evaluation(*self._plain.accelerate(parts, b), w)

    def _error(self, e: Array, new: Array) -> float:
        """Return the largest error in units of what is allowed."""
        allowed = np.maximum(self.atol, self.rtol * np.maximum(np.abs(self._before), np.abs(new)))
        size = float(np.max(np.abs(e) / allowed, initial=0.0))
        return size if size < math.inf else math.inf

    def _accept(self, h: float, end: float, at_break: bool, new: Array, lam: Array, error: float, rejected: bool) -> None:
        """Make the end of a step the state, and choose the next step."""
        self._now[:], self._lam[:] = new, lam
        self._numbers[TIME], self._numbers[FRESH] = end, float(at_break)
        self._counts[1] += 1
        found = self._plain.violations(end, new[0], new[1], self._K[STAGES - 1, 1])
        self._counts[3:] = np.maximum(self._counts[3:], found)
        self._counts[0] = self._plain.evaluations
        if self.fixed:
            self._numbers[STEP] = self.max_step
            return
        factor = step_factor(error, self._numbers[ERROR])
        wanted = h * (min(factor, 1.0) if rejected else factor)
        self._numbers[STEP] = max(wanted, self.step_size * min(factor, 1.0)) if at_break and not rejected else wanted
        self._numbers[ERROR] = error

    def _sample(self, t: float, out: Samples, row: int) -> None:
        """Fill a row: dense output of the last step, projected."""
        h, weights = self.time - self._t0[0], np.zeros(STAGES)
        dense_weights((t - self._t0[0]) / h if h > 0.0 else 0.0, weights)
        q, v = self._before + h * np.tensordot(weights, self._K, 1)
        if self.formulation == "projection":
            q, v, found = self._plain.consistent(t, q, v, self.tolerance)
        else:
            v, found = self._rates(t, q, v)
        for array, values in zip(out, (q, v, found.a, found.lam), strict=True):
            array[row] = values
