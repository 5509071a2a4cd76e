"""Generalized-alpha and HHT for a user's own equations: what implicit.py does, in plain coordinates, with its coefficients.

With rows psi, which restrict velocities, beside phi, the right side of Newton's method is

    [ M + gamma' D + beta' K   A^T ] [ delta v'     ]   [ Q + C - A^T lambda - M v'      ]
    [ A                         0  ] [ delta lambda ] = [ -phi / beta'   or -psi / gamma' ]
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dalembert.errors import ModelError
from dalembert.integrators.common import CHUNK_STEPS, IntegrationError, Samples, positive
from dalembert.integrators.implicit import Coefficients, generalized_alpha
from dalembert.integrators.plain import FRESH, LAST, STEP, PlainIntegrator, PlainSystem, Unsolved
from dalembert.kernel.vec3 import Array
from dalembert.lagrange.mechanics import Mechanics
from dalembert.linalg.dense import RANK_TOLERANCE
from dalembert.linalg.saddle import SaddleSolver

COUNTS = ("steps", "rejected_steps", "iterations", "factorisations")
MOST = 10
"""Iterations of Newton's method in one try."""


class Trial(NamedTuple):
    """The end of a step that is tried."""

    q: Array
    v: Array
    a: Array
    vd: Array
    lam: Array


class PlainImplicit(PlainIntegrator):
    """Generalized-alpha with fixed or controlled steps, for systems in plain coordinates.

    Parameters
    ----------
    system : Mechanics
    step : float, optional
        Fixed step [s]; a little less where it does not divide the time to the next output or break point.
    rtol, atol : float, optional
        Error control of the positions instead of a fixed step.
    coefficients : Coefficients
        `generalized_alpha` or `hht_alpha`.
    newton_tolerance : float
        Largest last change of velocities in Newton's method.
    max_step, min_step : float
        Bounds for the error control [s].
    breaks : iterable of float
        Times to be hit [s].
    """

    def __init__(
        self,
        system: Mechanics,
        *,
        step: float | None = None,
        rtol: float = 0.0,
        atol: float = 0.0,
        coefficients: Coefficients | None = None,
        newton_tolerance: float = 1e-9,
        max_step: float = math.inf,
        min_step: float = 1e-10,
        breaks: Iterable[float] = (),
    ) -> None:
        if step is None and rtol + atol <= 0.0:
            raise ModelError("integrator", "neither a step nor a tolerance is given", "give step=... or rtol=...")
        self.coefficients = coefficients or generalized_alpha()
        self.step, self.rtol = 1e-4 if step is None else positive("step", step), rtol
        self.atol = atol or 1e-3 * rtol
        self.newton, self.max_step, self.min_step = newton_tolerance, max_step, min_step
        self.breaks = np.unique(np.asarray(list(breaks), float))
        n, m = system.n_velocities, system.n_constraints
        self._plain = PlainSystem(system)
        self._solver = SaddleSolver(np.ones((n, n)), np.ones((m, n)))
        self._set_up(COUNTS, ("q", "v", "a", "vd", "vd_before", "lam", "lam_before"))
        self._q, self._v, self._a, self._vd, self._vd_before = (np.zeros(n) for _ in range(5))
        self._lam, self._lam_before = np.zeros(m), np.zeros(m)

    # --- what every integrator has -------------------------------------------------------------------------------------

    @property
    def method(self) -> str:
        """Name of the method."""
        parameters = ", ".join(f"{name} {value:.4g}" for name, value in self.coefficients._asdict().items())
        return f"generalized-alpha, {parameters}"

    @property
    def _state(self) -> tuple[Array, Array]:
        return self._q, self._v

    def start(self, t: float, q: Array, v: Array) -> None:
        """Begin at a consistent state; a is v' at t + (alpha_m - alpha_f) h, as Arnold and Bruels advise."""
        self._clear()
        self._plain.start(t, q, v)
        self._numbers[:] = t, self.step, 1.0, 0.0
        self._q[:], self._v[:] = q, v
        c, epsilon = self.coefficients, 1e-3 * self.step
        try:
            self._restart()
            sides = [self._vd_at(t + s, q + s * v + 0.5 * s * s * self._vd, v + s * self._vd) for s in (epsilon, -epsilon)]
        except Unsolved as error:
            raise IntegrationError(t, str(error), statistics=self.statistics) from error
        self._a += (c.alpha_m - c.alpha_f) * self.step * (sides[0] - sides[1]) / (2.0 * epsilon)

    def run_chunk(self, times: Array, out: Samples, budget: int = CHUNK_STEPS) -> int:
        """Integrate until all `times` are reached and fill the rows of `out`; return the number of rows filled."""
        row = 0
        try:
            while row < len(times):
                if times[row] <= self.time:
                    self._sample(float(times[row]), out, row)
                    row += 1
                elif budget <= 0:
                    break
                else:
                    if self._numbers[FRESH]:
                        self._restart()
                    self._step(self._target(float(times[row])))
                    budget -= 1
        except Unsolved as error:
            raise IntegrationError(self.time, str(error), statistics=self.statistics, filled=row) from error
        return row

    # --- steps ----------------------------------------------------------------------------------------------------------

    def _vd_at(self, t: float, q: Array, v: Array) -> Array:
        parts = self._plain.parts(t, q, v)
        return self._plain.accelerate(parts, parts.b, careful=True)[0]

    def _restart(self) -> None:
        """Take new accelerations: at the start, and behind a break point."""
        parts = self._plain.parts(self.time, self._q, self._v)
        self._vd[:], self._lam[:] = self._plain.accelerate(parts, parts.b, careful=True)
        self._a[:], self._vd_before[:], self._lam_before[:] = self._vd, self._vd, self._lam
        self._numbers[FRESH] = 0.0

    def _target(self, output: float) -> float:
        """Return the next output or break point."""
        following = self.breaks[(self.breaks > self.time) & (self.breaks < output)]
        return float(following[0]) if following.size else output

    def _step(self, target: float) -> None:
        """Make one step towards a target, trying smaller ones if the errors are controlled."""
        while True:
            left, controlled = target - self.time, self.rtol + self.atol > 0.0
            wanted = min(self.step_size, self.max_step) if controlled else self.step
            pieces = math.ceil(left / wanted - 1e-6)
            h, last = left / max(pieces, 1), pieces <= 1
            t1 = target if last else self.time + h
            at_break = last and t1 in self.breaks
            seen = np.nextafter(t1, -np.inf) if at_break else t1
            try:
                trial = self._newton(seen, h)
                error = self._error(trial, h) if controlled else 0.0
            except Unsolved:
                if not controlled or h < self.min_step:
                    raise
                error = math.inf
            growth = 0.9 * max(error, 1e-3) ** (-1.0 / 3.0)
            if error <= 1.0:
                if controlled and (not last or growth < 1.0):
                    self._numbers[STEP] = h * min(2.0, growth)
                self._accept(trial, t1, h, at_break)
                return
            self._counts[1] += 1
            self._numbers[STEP] = h * (max(0.2, growth) if error < math.inf else 0.25)
            if self.step_size < self.min_step:
                raise Unsolved("the error control asks for a vanishing step")

    def _trial(self, vd: Array, lam: Array, h: float) -> Trial:
        """Return q_1, v_1 and a_1 of given v'_1 and lambda_1."""
        c, last = self.coefficients, self._numbers[LAST]
        shift = (c.alpha_m - c.alpha_f) * (h - last) / last if last > 0.0 else 0.0
        a = self._a + shift * (self._vd - self._vd_before)
        a1 = ((1.0 - c.alpha_f) * vd + c.alpha_f * self._vd - c.alpha_m * a) / (1.0 - c.alpha_m)
        v1 = self._v + h * ((1.0 - c.gamma) * a + c.gamma * a1)
        q1 = self._q + h * (self._v + h * ((0.5 - c.beta) * a + c.beta * a1))
        return Trial(q1, v1, a1, vd, lam)

    def _newton(self, t: float, h: float) -> Trial:
        """Solve for the end of a step, from v' and lambda extrapolated."""
        c = self.coefficients
        ratio = (1.0 - c.alpha_f) / (1.0 - c.alpha_m)
        stiff, damp, last = h * h * c.beta * ratio, h * c.gamma * ratio, self._numbers[LAST]
        s = h / last if last > 0.0 else 0.0
        trial = self._trial(self._vd + s * (self._vd - self._vd_before), self._lam + s * (self._lam - self._lam_before), h)
        before = math.inf
        for _ in range(MOST):
            dvd, dlam = self._correction(t, trial, stiff, damp, renew=not before < math.inf)
            change = damp * float(np.abs(dvd).max(initial=0.0))
            trial = self._trial(trial.vd + dvd, trial.lam + dlam, h)
            self._counts[2] += 1
            if not change < math.inf:
                raise Unsolved("the state is not finite any more")
            rate = change / before
            if change <= self._reachable(trial, h) or (0.0 < rate < 1.0 and change * rate <= 0.5 * (1.0 - rate) * self.newton):
                return trial
            if rate > 0.9:
                break
            before = change
        raise Unsolved("Newton's method does not converge; take a smaller step")

    def _reachable(self, trial: Trial, h: float) -> float:
        """Return the tolerance of velocities, not below what rounding of the positions leaves of it."""
        return max(self.newton, 2e-14 * float(np.abs(trial.q).max(initial=0.0)) / h)

    def _correction(self, t: float, trial: Trial, stiff: float, damp: float, *, renew: bool) -> tuple[Array, Array]:
        """Return the corrections of v' and lambda; the matrix is made anew for each step."""
        parts, equations = self._plain.parts(t, trial.q, trial.v), self._plain.equations
        if renew:
            tangents = equations.tangents(t, trial.q, trial.v, trial.vd, trial.lam)
            S = parts.M + damp * tangents.D + stiff * (tangents.K + tangents.K_c + tangents.K_i)
            self._solver.factorize(S.ravel(), parts.A.ravel(), check=False)
            self._counts[3] += 1
        f = parts.Q + parts.C - parts.A.T @ trial.lam - parts.M @ trial.vd
        gaps, rates = equations.positions(t, trial.q), equations.velocities(t, trial.q, trial.v)
        b = -np.concatenate([gaps / stiff, rates[gaps.size :] / damp])
        if self._plain.redundant:  # rows cannot meet the rounding of phi / beta': what they can meet is asked of them
            b = parts.A @ self._solver.least_squares(f, b).x
        solution = self._solver.least_squares(f, b)
        return solution.x, solution.lam

    def _error(self, trial: Trial, h: float) -> float:
        """Return the local error of the positions relative to the tolerance, from the change of a over the step."""
        size = h * h * max(abs(self.coefficients.beta - 1.0 / 6.0), 1.0 / 12.0)
        return float(np.max(size * np.abs(trial.a - self._a) / (self.atol + self.rtol * np.abs(trial.q)), initial=0.0))

    def _accept(self, trial: Trial, t1: float, h: float, at_break: bool) -> None:
        """Make the trial the state."""
        self._vd_before[:], self._lam_before[:] = self._vd, self._lam
        self._q[:], self._v[:], self._a[:], self._vd[:] = trial.q, trial.v, trial.a, trial.vd
        self._lam[:] = trial.lam
        if self._plain.redundant:  # multipliers that do nothing now would act where A has changed
            A = self._plain.parts(t1, trial.q, trial.v).A
            self._lam[:] = np.linalg.pinv(A.T, rcond=RANK_TOLERANCE) @ (A.T @ trial.lam)
        self._numbers[:] = t1, self.step_size, float(at_break), 0.0 if at_break else h
        self._counts[0] += 1

    def _sample(self, t: float, out: Samples, row: int) -> None:
        """Fill a row with the state, projected on the constraints at all three levels."""
        q, v, found = self._plain.consistent(t, self._q, self._v, 1e-12)
        for array, values in zip(out, (q, v, found.a, found.lam), strict=True):
            array[row] = values
