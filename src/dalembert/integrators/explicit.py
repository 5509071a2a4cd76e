"""Explicit integration that stays on the constraints: Dormand-Prince 5(4) with the projections of Masarati 2011.

One step goes from (q_0, v_0) by stages ``q_i = advance(q_0, d_i)``, ``v_i = v_0 + ...``, with the rates of `rates.evaluate`. At
its end the positions are projected (eq. 17), then the velocities (11a), and the last stage, evaluated there, is the first of
the next step: the state is overwritten by the projected one at no further evaluation.

`integrate_chunk` is the compiled loop, called again and again; all that it needs for going on is in `Run`, so that where
chunks end changes no bit of the result. Output times do not change the steps: states between come from the dense output and
are projected like those of the steps. Break points, where laws of time jump in a derivative, are hit: the step before ends at
the limit from the left, and the next begins with a new projection, with velocities after the impact if the law's rate jumps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from dalembert.errors import DalembertError, ModelError, SolveError
from dalembert.formulations.choose import accelerations
from dalembert.integrators.common import (
    CHUNK_STEPS,
    IntegrationError,
    Samples,
    choice,
    positive,
    singular_position,
    take_arrays,
)
from dalembert.integrators.dopri5 import (
    STAGES,
    A,
    C,
    E,
    combine,
    dense_weights,
    error_norm,
    rejected_factor,
    step_factor,
)
from dalembert.integrators.problem import Problem, Work, jacobian_times, make_problem, make_work
from dalembert.integrators.rates import (
    BAUMGARTE,
    CAREFUL,
    FACTORS,
    FINE,
    FORMULATIONS,
    OPEN,
    POSITIONS,
    PROJECTION,
    SMALLEST,
    TIME,
    UNSOLVED,
    VALUE,
    VELOCITIES,
    Method,
    Point,
    evaluate,
    new_point,
    position_error,
    velocity_error,
)
from dalembert.kernel.compile import compiled, inner
from dalembert.kernel.vec3 import Array, copy, load, norm
from dalembert.linalg.pattern import Indices
from dalembert.linalg.saddle import STRONG_REGULARISATION, UndeterminedUnknownsError
from dalembert.system import assembly
from dalembert.system.system import System

LARGEST_TURN = 2.5  # rad a step and body: the rotation vector stays regular, and the angles of joints continuous
PASS_ACCURACY = 1e-7  # relative; one pass of the saddle solve from a guess near by is better than that
FIRST_ERROR = 0.01  # aimed at by the first step, in units of what is allowed

T0, T, H, ERROR, FRESH, RESTARTED, REGULARISATION, REASON, ROW, FAILURE = range(10)  # places in `Run.numbers`
STEPS, REJECTED, POSITION, VELOCITY, ACCELERATION = range(2, 7)  # places in `Run.counts`, after those of `rates`
STATISTICS = (
    "evaluations",
    "factorisations",
    "steps",
    "rejected_steps",
    "position_violation",
    "velocity_violation",
    "acceleration_violation",
)
KIND, STAGE, AT_BREAK, WAS_REJECTED, ROWS, STEPS_MADE = range(6)  # places in `Task.what`
BETWEEN, IN_STEP, RESTART, SAMPLE = range(4)  # kinds of task
DONE, BUDGET, FAILED, GO = range(4)  # results of `integrate_chunk` and of `prepare`
TOO_INACCURATE, TURNED = 3, 4  # why a step was rejected, besides the results of `evaluate`
KINDS = ("position", "angle", "velocity", "angular_velocity")


class Run(NamedTuple):
    """All that the continuation of a run needs.

    Attributes
    ----------
    numbers, counts : array
        Time, step, what step control remembers; statistics.
    q0, v0 : array
        State at the start of the last step.
    q, v : array
        State at its end.
    K : array, shape (7, 2 n)
        Rates (d', v') of its stages.
    lam, w : array
        Multipliers and velocities of the positions at its end.
    """

    numbers: Array
    counts: Array
    q0: Array
    v0: Array
    q: Array
    v: Array
    K: Array
    lam: Array
    w: Array


class Task(NamedTuple):
    """What is to be evaluated next.

    Attributes
    ----------
    what : array of int
        Kind, stage, whether the step ends at a break point, whether it was rejected before; rows filled, steps made.
    step : array
        The step that is tried, and the time at its end.
    weights : array
        Of the dense output.
    """

    what: Indices
    step: Array
    weights: Array


@inner
def place(problem: Problem, work: Work, run: Run, point: Point, h: float, weights: Array, stages: int) -> None:
    """Go from the start of the step by ``h sum_i weights_i k_i`` to a point, and look at its positions."""
    n, y = run.v.size, point.y
    combine(h, weights, run.K, stages, y)
    assembly.advance(problem.tables, run.q0, y[:n], work.now.poses, point.q)
    for j in range(n):
        point.v[j] = run.v0[j] + y[n + j]


@inner
def want(point: Point, factors: bool, positions: bool, velocities: bool, careful: bool, smallest: bool) -> None:
    """Set the flags of a point."""
    point.wanted[FACTORS], point.wanted[POSITIONS], point.wanted[VELOCITIES] = factors, positions, velocities
    point.wanted[CAREFUL], point.wanted[SMALLEST] = careful, smallest


@inner
def prepare_restart(problem: Problem, work: Work, run: Run, task: Task, point: Point) -> None:
    """Make the state consistent and evaluate the first stage anew: at the start, and after break points."""
    task.what[KIND] = RESTART
    point.at[TIME] = run.numbers[T]
    point.y[:] = 0.0
    copy(point.q, run.q)
    copy(point.v, run.v)
    assembly.set_positions(point.q, work.now.poses)
    want(point, True, True, True, True, False)


@inner
def prepare_sample(problem: Problem, work: Work, method: Method, run: Run, task: Task, point: Point, t: float) -> None:
    """Go to a time within the last step: dense output, to be projected."""
    task.what[KIND] = SAMPLE
    h = run.numbers[T] - run.numbers[T0]
    dense_weights((t - run.numbers[T0]) / h if h > 0.0 else 0.0, task.weights)
    place(problem, work, run, point, h, task.weights, STAGES)
    point.at[TIME] = t
    projected = method.formulation == PROJECTION
    want(point, True, projected, projected, True, True)


@inner
def begin_step(run: Run) -> None:
    """Make the end of the last step the start of the next, and its last stage the first."""
    n = run.v.size
    if run.numbers[T] > run.numbers[T0] and run.numbers[RESTARTED] == 0.0:
        copy(run.K[0], run.K[STAGES - 1])
        copy(run.K[0, :n], run.w)  # d = 0 now, and T(0) = I
    run.numbers[RESTARTED] = 0.0
    copy(run.q0, run.q)
    copy(run.v0, run.v)
    run.numbers[T0] = run.numbers[T]


@inner
def planned_step(method: Method, breaks: Array, t: float, h: float) -> tuple[float, float, bool]:
    """Return the step, the time at its end, and whether that is a break point."""
    h = min(h, method.max_step)
    following = np.searchsorted(breaks, t, side="right")
    if following < breaks.size:
        gap = breaks[following] - t
        if 1.000001 * h >= gap:
            return gap, breaks[following], True
        if 2.0 * h > gap and not method.fixed:
            h = 0.5 * gap
    return h, t + h, False


@inner
def plan(method: Method, breaks: Array, run: Run, task: Task, point: Point) -> bool:
    """Begin to try a step; False if it would be too small."""
    t = run.numbers[T]
    h, end, at_break = planned_step(method, breaks, t, run.numbers[H])
    if not t + 0.5 * h > t or h < 1e-16:
        return False
    task.step[0], task.step[1], task.what[AT_BREAK] = h, end, at_break
    copy(point.lam, run.lam)
    copy(point.a, run.K[0, run.v.size :])
    task.what[KIND], task.what[STAGE] = IN_STEP, 0
    return True


@inner
def largest_turn(y: Array) -> float:
    """Return the largest turn of a body [rad]."""
    largest = 0.0
    for i in range(y.size // 12):
        largest = max(largest, norm(load(y, 6 * i + 3)))
    return largest


@inner
def prepare_stage(problem: Problem, work: Work, method: Method, run: Run, task: Task, point: Point) -> bool:
    """Go to the next stage; False if a body turns too far on the way."""
    task.what[STAGE] += 1
    i, h = task.what[STAGE], task.step[0]
    place(problem, work, run, point, h, A[i], i)
    if C[i] < 1.0:
        point.at[TIME] = run.numbers[T] + C[i] * h
    else:
        point.at[TIME] = np.nextafter(task.step[1], -np.inf) if task.what[AT_BREAK] != 0 else task.step[1]  # from the left
    last, projected = i == STAGES - 1, method.formulation == PROJECTION
    inside = projected and method.project_stages  # all along their own A^T, or else the rates were not smooth
    want(point, inside, inside or (projected and last), projected, last, False)
    return largest_turn(point.y) <= LARGEST_TURN


@inner
def record(problem: Problem, work: Work, method: Method, run: Run) -> None:
    """Take note of the violations at the end of a step, which has been evaluated last."""
    counts = run.counts
    counts[POSITION] = max(counts[POSITION], position_error(problem, work, run.q))
    if method.formulation >= BAUMGARTE:
        assembly.right_sides(problem.tables, work.now, work.b1, work.b2)
    counts[VELOCITY] = max(counts[VELOCITY], velocity_error(problem, work, run.v))
    jacobian_times(problem, work, run.K[STAGES - 1, run.v.size :], work.phi)
    for k in range(work.phi.size):
        counts[ACCELERATION] = max(counts[ACCELERATION], abs(work.phi[k] - work.b2[k]))


@inner
def accept(problem: Problem, work: Work, method: Method, run: Run, task: Task, point: Point, error: float) -> None:
    """Make the end of a tried step the state, and choose the next step."""
    numbers, h, rejected = run.numbers, task.step[0], task.what[WAS_REJECTED] != 0
    copy(run.q, point.q)
    copy(run.v, point.v)
    copy(run.lam, point.lam)
    copy(run.w, point.w)
    numbers[T], numbers[FRESH] = task.step[1], task.what[AT_BREAK]
    run.counts[STEPS] += 1
    task.what[STEPS_MADE] += 1
    task.what[KIND], task.what[WAS_REJECTED] = BETWEEN, 0
    record(problem, work, method, run)
    if not method.fixed:
        factor = step_factor(error, numbers[ERROR])
        following = h * (min(factor, 1.0) if rejected else factor)
        truncated = h < numbers[H] and not rejected
        numbers[H] = max(following, numbers[H] * min(factor, 1.0)) if truncated else following
        numbers[ERROR] = error


@inner
def reject(method: Method, breaks: Array, run: Run, task: Task, point: Point, error: float) -> bool:
    """Try again with a smaller step; False if there is none, or all steps are to be of one length."""
    task.what[WAS_REJECTED] = 1
    run.counts[REJECTED] += 1
    run.numbers[H] = task.step[0] * rejected_factor(error)
    return not method.fixed and plan(method, breaks, run, task, point)


@inner
def digest_restart(method: Method, run: Run, task: Task, point: Point) -> None:
    """Take the consistent state and its rates."""
    copy(run.q, point.q)
    copy(run.v, point.v)
    copy(run.lam, point.lam)
    copy(run.w, point.w)
    copy(run.K[0], point.rates)
    run.numbers[FRESH], run.numbers[RESTARTED] = 0.0, 1.0
    task.what[KIND] = BETWEEN
    if run.numbers[H] == 0.0:
        size = error_norm(run.K[0], run.q, run.q, run.v, run.v, method.rtol, method.atol)
        run.numbers[H] = (FIRST_ERROR / size) ** 0.2 if size > 0.0 else FIRST_ERROR


@inner
def digest_sample(task: Task, point: Point, out: Samples) -> None:
    """Fill a row of the samples."""
    row = task.what[ROWS]
    copy(out.q[row], point.q)
    copy(out.v[row], point.v)
    copy(out.a[row], point.a)
    copy(out.lam[row], point.lam)
    task.what[ROWS] += 1
    task.what[KIND] = BETWEEN


@inner
def digest_stage(
    problem: Problem, work: Work, method: Method, breaks: Array, run: Run, task: Task, point: Point, fine: bool
) -> bool:
    """Keep the rates of a stage; after the last one, accept or reject the step. False if none can be made."""
    if not fine:
        return reject(method, breaks, run, task, point, math.inf)
    i = task.what[STAGE]
    copy(run.K[i], point.rates)
    if i < STAGES - 1:
        return True
    combine(task.step[0], E, run.K, STAGES, point.rates)
    error = error_norm(point.rates, run.q0, point.q, run.v0, point.v, method.rtol, method.atol)
    if error <= 1.0 or (method.fixed and error < math.inf):
        accept(problem, work, method, run, task, point, error)
        return True
    run.numbers[REASON] = TOO_INACCURATE
    return reject(method, breaks, run, task, point, error)


@inner
def prepare(
    problem: Problem,
    work: Work,
    method: Method,
    breaks: Array,
    run: Run,
    task: Task,
    point: Point,
    times: Array,
    max_steps: int,
) -> int:
    """Set up what is to be evaluated next; return GO, or why there is nothing."""
    row, numbers = task.what[ROWS], run.numbers
    if task.what[KIND] == BETWEEN:
        if row < times.size and times[row] <= numbers[T]:
            prepare_sample(problem, work, method, run, task, point, times[row])
            return GO
        if row == times.size:
            return DONE
        if task.what[STEPS_MADE] >= max_steps:
            return BUDGET
        if numbers[FRESH] != 0.0:
            prepare_restart(problem, work, run, task, point)
            return GO
        begin_step(run)
        if not plan(method, breaks, run, task, point):
            return FAILED
    while not prepare_stage(problem, work, method, run, task, point):
        numbers[REASON] = TURNED
        if not reject(method, breaks, run, task, point, math.inf):
            return FAILED
    return GO


@inner
def note_failure(work: Work, run: Run, point: Point, result: int) -> None:
    """Remember why an evaluation failed."""
    run.numbers[REASON], run.numbers[FAILURE] = result, point.at[VALUE]
    if result == OPEN:
        run.numbers[ROW] = 0.0
        for k in range(work.phi.size):
            if abs(work.phi[k]) > abs(work.phi[int(run.numbers[ROW])]):
                run.numbers[ROW] = k


@compiled
def integrate_chunk(
    problem: Problem,
    work: Work,
    method: Method,
    breaks: Array,
    run: Run,
    task: Task,
    point: Point,
    times: Array,
    out: Samples,
    max_steps: int,
) -> tuple[int, int]:
    """Integrate until the samples at all `times` are filled, or for `max_steps` steps.

    A machine with one place where rates are evaluated: a stage of a step, a restart, a sample. (Numba optimises what a
    function calls anew for each caller, so that an evaluation called from many places takes a minute to compile.)

    Returns
    -------
    status : int
        DONE, BUDGET (go on with the rest of the times), or FAILED, with the reason in ``run.numbers``.
    rows : int
        Rows of the samples filled.
    """
    what = task.what
    what[:] = 0
    while True:
        status = prepare(problem, work, method, breaks, run, task, point, times, max_steps)
        if status != GO:
            break
        result = evaluate(problem, work, method, point, run.counts)
        if result != FINE:
            note_failure(work, run, point, result)
        if what[KIND] == IN_STEP:
            if not digest_stage(problem, work, method, breaks, run, task, point, result == FINE):
                status = FAILED
                break
        elif result != FINE:
            status = FAILED
            break
        elif what[KIND] == RESTART:
            digest_restart(method, run, task, point)
        else:
            digest_sample(task, point, out)
    if status == FAILED:
        run.numbers[FRESH] = 1.0
    return status, what[ROWS]


class ExplicitIntegrator:
    """Dormand-Prince 5(4) for a system of rigid bodies and joints.

    Parameters
    ----------
    system : System
    formulation : str
        ``"projection"``, ``"index1"``, ``"baumgarte"`` or ``"braun_goldfarb"``: see `rates`.
    rtol : float
        Error allowed in a step, relative to the length of the body's position or velocity, or to one radian.
    atol : float or mapping
        Least error allowed [m, rad, m/s, rad/s]; a mapping gives it for ``"position"``, ``"angle"``, ``"velocity"``,
        ``"angular_velocity"``.
    max_step, first_step : float
        [s]; the first step is chosen if not given.
    fixed_step : float, optional
        All steps have this length [s], whatever their error.
    breaks : iterable of float
        Times to be hit [s]: where laws of time jump in a derivative.
    weights : str
        W of the projections: ``"mass"`` or ``"identity"``.
    length : float
        Arm at which an angle counts like a distance in W = I [m].
    alpha, beta : float, optional
        Gains of Baumgarte, 2/s unless given, or of Braun and Goldfarb, the inverse of the first step or 100/s [1/s].
    project_stages : bool
        Project the positions inside the step, too, as the procedure of Masarati 2011, section 3.5, has it. The order is five
        either way.
    tolerance : float
        Residual of the positions [m, sine of half an angle].

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.integrators.common import new_samples
    >>> model = da.Model("pendulum", gravity=(0, 0, -9.81))
    >>> bob = model.body("bob", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(1.0, 0, 0))
    >>> hinge = model.revolute("hinge", model.ground, bob, axis=(0, 1, 0))
    >>> system = da.build(model)
    >>> integrator = ExplicitIntegrator(system, rtol=1e-8, atol=1e-8)
    >>> integrator.start(0.0, system.design.q, system.design.v)
    >>> out = new_samples(system, 2)
    >>> integrator.run_chunk(np.array([0.0, 0.5]), out)
    2
    >>> bool(abs(np.hypot(out.q[1, 0], out.q[1, 2]) - 1.0) < 1e-12)
    True
    """

    def __init__(
        self,
        system: System,
        *,
        formulation: str = "projection",
        rtol: float = 1e-6,
        atol: float | Mapping[str, float] = 1e-6,
        max_step: float = math.inf,
        first_step: float | None = None,
        fixed_step: float | None = None,
        breaks: Iterable[float] = (),
        weights: str = "mass",
        length: float = 1.0,
        alpha: float | None = None,
        beta: float | None = None,
        project_stages: bool = False,
        tolerance: float = 1e-12,
    ) -> None:
        self.system = system
        self.breaks = np.unique(np.asarray(list(breaks), float))
        self._problem = make_problem(system, length=positive("length", length))
        self._work = make_work(system, self._problem)
        self._first_step = positive("first_step", fixed_step or first_step or 1.0) if fixed_step or first_step else 0.0
        gain = 1.0 / (self._first_step or 0.01) if formulation == "braun_goldfarb" else 2.0
        self._method = Method(
            formulation=choice("formulation", formulation, FORMULATIONS),
            identity=bool(choice("weights", weights, ("mass", "identity"))),
            alpha=float(gain if alpha is None else alpha),
            beta=float(gain if beta is None else beta),
            tolerance=positive("tolerance", tolerance),
            passes=1,
            acceleration_passes=1,
            project_stages=bool(project_stages),
            rtol=positive("rtol", rtol),
            max_step=positive("max_step", fixed_step or max_step),
            atol=_tolerances(atol),
            fixed=fixed_step is not None,
        )
        self._run = _new_run(system)
        self._task = Task(np.zeros(6, np.intp), np.zeros(2), np.zeros(STAGES))
        self._point = new_point(self._problem, system.n_positions)

    @property
    def method(self) -> str:
        """Name of the method."""
        return f"dopri5, {FORMULATIONS[self._method.formulation]}"

    @property
    def time(self) -> float:
        """Time reached by the steps [s]; at least that of the last sample."""
        return float(self._run.numbers[T])

    @property
    def step_size(self) -> float:
        """Size of the next step [s]."""
        return float(self._run.numbers[H])

    @property
    def statistics(self) -> dict[str, float]:
        """Steps, rejected steps, evaluations, factorisations, and the largest violations at the ends of steps."""
        return {name: float(value) for name, value in zip(STATISTICS, self._run.counts, strict=True)}

    def start(self, t: float, q: Array, v: Array) -> None:
        """Begin at a state, which is projected on the constraints."""
        for array in self._run:
            array[...] = 0.0
        run = self._run
        run.numbers[T0] = run.numbers[T] = float(t)
        run.numbers[H] = self._first_step
        run.numbers[FRESH] = 1.0
        run.numbers[REGULARISATION] = self._problem.regularisation
        run.q0[:] = run.q[:] = q
        run.v0[:] = run.v[:] = v
        if self.system.friction is not None:
            self.system.friction.check(t, q)
        self._check_massless()

    def run_chunk(self, times: Array, out: Samples, budget: int = CHUNK_STEPS) -> int:
        """Integrate until all `times` are reached and fill the rows of `out`; return the number of rows filled.

        It is smaller than ``len(times)`` only when the budget of steps is used up: call again with the rest.

        Raises
        ------
        IntegrationError
            If the motion cannot be continued; the rows filled before stay.
        """
        times = np.ascontiguousarray(times, dtype=float)
        if times.size and (times[0] < self._run.numbers[T0] or np.any(np.diff(times) < 0.0)):
            raise ModelError("times", "they do not increase from the state reached", f"begin at {self.time:.6g} s or later")
        filled = 0
        while True:
            before = self._run.counts[STEPS]
            status, rows = self._integrate(times[filled:], Samples(*(array[filled:] for array in out)), budget)
            filled, budget = filled + rows, budget - int(self._run.counts[STEPS] - before)
            if status != FAILED:
                self._forget_errors()
                return filled
            if not self._strengthen():
                raise self._error(filled)

    def checkpoint(self) -> dict[str, Array]:
        """Return all that the continuation needs, bit for bit."""
        return {name: array.copy() for name, array in self._run._asdict().items()}

    def restore(self, data: Mapping[str, Array]) -> None:
        """Continue from a checkpoint of an integrator of the same system and options."""
        take_arrays(self._run._asdict(), data)

    def _check_massless(self) -> None:
        """Refuse what can move without inertia and without violating a constraint."""
        if self._problem.regularisation < STRONG_REGULARISATION:
            return
        try:
            accelerations(self.system, self.time, self._run.q, self._run.v)
        except SolveError as error:
            if isinstance(error.__cause__, UndeterminedUnknownsError):
                raise IntegrationError(self.time, str(error), statistics=self.statistics) from error

    def _integrate(self, times: Array, out: Samples, budget: int) -> tuple[int, int]:
        regularisation = float(self._run.numbers[REGULARISATION])
        problem = self._problem._replace(regularisation=regularisation)
        passes = 2 if regularisation >= STRONG_REGULARISATION else 1
        accurate = self._method.rtol < PASS_ACCURACY or self._method.fixed
        method = self._method._replace(passes=passes, acceleration_passes=passes + accurate)
        arguments = (problem, self._work, method, self.breaks, self._run, self._task, self._point, times, out, budget)
        status, rows = integrate_chunk(*arguments)
        return int(status), int(rows)

    def _strengthen(self) -> bool:
        """Take the stronger regularisation where the saddle system could not be solved; False if that was done before."""
        numbers = self._run.numbers
        if numbers[REASON] != UNSOLVED or numbers[REGULARISATION] >= STRONG_REGULARISATION:
            return False
        numbers[REGULARISATION] = STRONG_REGULARISATION
        numbers[H] = self._first_step
        return True

    def _forget_errors(self) -> None:
        """Forget what laws of time raised in steps that were rejected."""
        try:
            self.system.tables.raise_error()
        except Exception:  # a user's own exception, at a time that nobody asked for
            return

    def _error(self, filled: int) -> IntegrationError:
        """Return the error that says why no step could be made."""
        element, problem, cause = self._diagnosis()
        error = IntegrationError(self.time, problem, element=element, statistics=self.statistics, filled=filled)
        error.__cause__ = cause
        return error

    def _diagnosis(self) -> tuple[str | None, str, Exception | None]:
        """Return element, problem and the exception behind it."""
        run, system = self._run, self.system
        try:
            system.tables.raise_error()
        except ModelError as error:
            return error.element, error.problem, error
        except Exception as error:  # a user's own
            return None, f"a law of time failed: {error!r}", error
        if not (np.isfinite(run.q).all() and np.isfinite(run.v).all()):
            return None, "the state is not finite", None
        element, problem = system.overbent(run.q, slack=0.02)
        if element:
            return element, problem, None
        reason = int(run.numbers[REASON])
        if reason == OPEN:
            row = system.layout.rows[int(run.numbers[ROW])]
            return (
                _element_of(system, int(run.numbers[ROW])),
                (f"the constraints cannot be met: row {row!r} stays open by {run.numbers[FAILURE]:.3g}"),
                None,
            )
        if reason == UNSOLVED:
            try:
                accelerations(system, self.time, run.q, run.v)
            except DalembertError as error:
                return None, str(error), error
            why = singular_position(system, self.time, run.q)
            residual = f"the accelerations cannot be computed (relative residual {run.numbers[FAILURE]:.3g})"
            return None, residual + (f": {why}" if why else ""), None
        body = system.layout.bodies[int(np.abs(run.K[0, run.v.size :]).argmax()) // 6] if system.n_bodies else "none"
        return f"body {body!r}", f"the step size fell to {run.numbers[H]:.3g} s without meeting the tolerances", None


def _new_run(system: System) -> Run:
    nq, n, m = system.n_positions, system.n_velocities, system.n_constraints
    numbers, counts, q0, v0, q, v = (np.zeros(size) for size in (10, len(STATISTICS), nq, n, nq, n))
    return Run(numbers, counts, q0, v0, q, v, np.zeros((STAGES, 2 * n)), np.zeros(m), np.zeros(n))


def _element_of(system: System, row: int) -> str | None:
    """Return the joint or coupling that a constraint row belongs to."""
    for name, rows in system.layout.joint_rows.items():
        if row in rows:
            return f"joint {name!r}"
    return None


def _tolerances(atol: float | Mapping[str, float]) -> Array:
    """Return the absolute tolerances of the four kinds."""
    if not isinstance(atol, Mapping):
        return np.full(len(KINDS), positive("atol", atol))
    for kind in atol:
        choice("atol", kind, KINDS)
    return np.array([positive(f"atol[{kind}]", atol.get(kind, 1e-6)) for kind in KINDS])
