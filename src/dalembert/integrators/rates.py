"""Rates of the state (d, v) of a constrained system: what an explicit integrator evaluates.

The positions are ``q = advance(q_0, d)`` with the displacement d from the start of the step, so that the rotation vector of
each body obeys ``theta' = T(theta)^-1 w`` (Munthe-Kaas 1999). How the constraints enter is the *formulation*:

    projection       d' = v - W^-1 A^T mu,  A d' = b'                    (Masarati 2011, 11a)
                     M v' + A^T lambda = f(d'),  A v' = b''(d')          (11b)
                     and q, v are overwritten by the projected ones after each step (17)
    index1           d' = v,  A v' = b''                                 (8): drifts
    baumgarte        d' = v,  A v' = b'' - 2 alpha (A v - b') - beta^2 phi
    braun_goldfarb   d' = v - M^-1 A^T mu,  A d' = b' - beta phi         mu: impulses
                     A v' = b'' - alpha (A v - b'),  alpha = beta = 1/dt

with M v' + A^T lambda = f in all of them, the matrix of one saddle system. With W = M (the default) its factors serve
velocities, accelerations and the Newton iteration of the positions; W = I (Masarati's choice) needs factors of its own. The
projected velocity is then the one that an impulse of the joints would leave: momentum along the free motions is kept, massless
bodies are welcome, and lengths and angles need no weighting against each other.

References
----------
P. Masarati, Adding kinematic constraints to purely differential dynamics, Comput. Mech. 47 (2011). J. Baumgarte, Comput.
Methods Appl. Mech. Eng. 1 (1972). D. J. Braun, M. Goldfarb, Comput. Methods Appl. Mech. Eng. (2009), as Masarati describes it.
H. Munthe-Kaas, High order Runge-Kutta methods on manifolds, Appl. Numer. Math. 29 (1999).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dalembert.integrators.problem import Problem, Work, jacobian_times, jacobian_values, position_values, solve_forces
from dalembert.kernel.compile import inner
from dalembert.kernel.vec3 import Array, copy, load, mul, store
from dalembert.linalg.pattern import Indices
from dalembert.linalg.saddle import (
    METRIC_REGULARISATION,
    SaddleWork,
    allocate_work,
    factorize,
    factorize_metric,
    minimum_norm,
    set_values,
    solve_refined,
)
from dalembert.rotation.so3 import tangent_inverse
from dalembert.system import assembly

FORMULATIONS = ("projection", "index1", "baumgarte", "braun_goldfarb")
PROJECTION, INDEX1, BAUMGARTE, BRAUN_GOLDFARB = range(4)

ROUNDING = 1e-13  # a velocity error relative to the velocities that is not worth another correction
ACCURATE = 1e-9  # relative residual of an acceleration that may be believed

EVALUATIONS, FACTORISATIONS = 0, 1  # places in the counts
TIME, VALUE = range(2)  # places in `Point.at`
FACTORS, POSITIONS, VELOCITIES, CAREFUL, SMALLEST = range(5)  # places in `Point.wanted`
FINE, OPEN, UNSOLVED = range(3)  # results of `evaluate`


class Method(NamedTuple):
    """How constraints enter and what is accurate enough.

    Attributes
    ----------
    formulation : int
        Index in `FORMULATIONS`.
    identity : bool
        Whether W = I, not M.
    alpha, beta : float
        Gains of Baumgarte or of Braun and Goldfarb [1/s]. With the step in use for dt, the rates would change with the
        step and the order of the method would be lost; dt is a constant.
    tolerance : float
        Of the positions' residual.
    passes, acceleration_passes : int
        Passes of the saddle solve inside a step: for corrections, and for accelerations from a guess.
    project_stages : bool
        Whether the positions of the stages are projected, too.
    rtol, max_step : float
    atol : array
        Of position, angle, velocity, angular velocity.
    fixed : bool
        Whether all steps are `max_step` and none is rejected.
    """

    formulation: int
    identity: bool
    alpha: float
    beta: float
    tolerance: float
    passes: int
    acceleration_passes: int
    project_stages: bool
    rtol: float
    max_step: float
    atol: Array
    fixed: bool


class Point(NamedTuple):
    """A state to be evaluated, and what comes out.

    Attributes
    ----------
    at : array
        Time; written: what went wrong by how much.
    wanted : array of int
        Flags. FACTORS: those at hand are not of a place near by. POSITIONS, VELOCITIES: to be projected. CAREFUL: all to
        rounding level, from no guess; otherwise a pass or two from the guess do. SMALLEST: of all multipliers that fit.
    y : array, shape (2 n,)
        Increments (d, dv) since the start of the step.
    q, v : array
        The state, as `advance` left it; overwritten by the projected one.
    a, lam : array
        Accelerations and multipliers; the guess before.
    w : array
        Velocities of the positions: v, corrected by the impulses of Braun and Goldfarb.
    rates : array, shape (2 n,)
        (d', v').
    ones, metric
        Weights and saddle system of the smallest multipliers.
    """

    at: Array
    wanted: Indices
    y: Array
    q: Array
    v: Array
    a: Array
    lam: Array
    w: Array
    rates: Array
    ones: Array
    metric: SaddleWork


def new_point(problem: Problem, n_positions: int) -> Point:
    """Return the arrays of a point."""
    n, m = problem.plan.n, problem.plan.m
    y, q, v, a, lam, w, rates = (np.zeros(size) for size in (2 * n, n_positions, n, n, m, n, 2 * n))
    return Point(np.zeros(2), np.zeros(5, np.intp), y, q, v, a, lam, w, rates, np.ones(m), allocate_work(problem.plan))


@inner
def weighted(problem: Problem, work: Work, identity: bool, counts: Array) -> bool:
    """Factorise with the terms of A computed last: the saddle system of W, and that of M; False if there are no factors."""
    set_values(problem.plan, work.saddle, problem.mass, work.a_values)
    failed = factorize(problem.plan, work.saddle, problem.regularisation)
    counts[FACTORISATIONS] += 1
    if identity and failed < 0:
        set_values(problem.plan, work.metric, problem.weight, work.a_values)
        failed = factorize(problem.plan, work.metric, problem.regularisation)
        counts[FACTORISATIONS] += 1
    return failed < 0


@inner
def correction(problem: Problem, work: Work, identity: bool, b: Array, passes: int) -> None:
    """Set ``work.d`` to the smallest d with A d = b, measured by W."""
    saddle: SaddleWork = work.metric if identity else work.saddle
    warm = passes == 0  # never; a literal would be compiled anew
    solve_refined(problem.plan, saddle, work.zero, b, work.d, work.mu, passes, warm)


@inner
def position_error(problem: Problem, work: Work, q: Array) -> float:
    """Set ``work.phi`` to minus the residual of the positions looked at; return the largest (NaN: infinity)."""
    assembly.constraint(problem.tables, work.now, q[7 * (work.d.size // 6) :], work.phi)
    error = 0.0
    for k in range(work.phi.size):
        value = abs(work.phi[k])
        if not value < math.inf:
            return math.inf
        error = max(error, value)
        work.phi[k] = -work.phi[k]
    return error


@inner
def position_rounding(q: Array, bodies: int) -> float:
    """Return the residual that rounding leaves at these positions."""
    largest = 0.0
    for i in range(bodies):
        for k in range(3):
            largest = max(largest, abs(q[7 * i + k]))
    return 4e-15 * largest


@inner
def project_position(problem: Problem, work: Work, method: Method, q: Array, counts: Array) -> float:
    """Replace q by the nearest with phi = 0 (Masarati 2011, eq. 17), at the time looked at; return the residual left.

    Begins with the factors at hand, of a place near by (eq. 17 converges with either), and renews them if it gains less than a
    factor of ten.
    """
    before = math.inf
    allowed = method.tolerance + position_rounding(q, work.d.size // 6)
    for _ in range(12):
        error = position_error(problem, work, q)
        if error <= method.tolerance or not error < math.inf or (error <= allowed and error > 0.1 * before):
            return error
        if error > 0.1 * before:
            position_values(problem, work)
            if not weighted(problem, work, method.identity, counts):
                return math.inf
        before = error
        correction(problem, work, method.identity, work.phi, method.passes)
        copy(work.q, q)
        assembly.advance(problem.tables, work.q, work.d, work.now.poses, q)
    return position_error(problem, work, q)


@inner
def velocity_error(problem: Problem, work: Work, v: Array) -> float:
    """Set ``work.phi`` to b' - A v; return the largest."""
    jacobian_times(problem, work, v, work.phi)
    error = 0.0
    for k in range(work.phi.size):
        work.phi[k] = work.b1[k] - work.phi[k]
        error = max(error, abs(work.phi[k]))
    return error


@inner
def project_velocity(problem: Problem, work: Work, method: Method, v: Array, careful: bool) -> float:
    """Replace v by the nearest with A v = b' (Masarati 2011, eq. 11a); return the error left, if careful."""
    error, before = velocity_error(problem, work, v), math.inf
    for _ in range(4 if careful else 1):
        correction(problem, work, method.identity, work.phi, method.passes)
        largest = 0.0
        for k in range(v.size):
            v[k] += work.d[k]
            largest = max(largest, abs(v[k]))
        if not careful:
            break
        before, error = error, velocity_error(problem, work, v)
        if error <= ROUNDING * largest or error > 0.5 * before:
            break
    return error


@inner
def displacement_rates(d: Array, v: Array, out: Array) -> None:
    """Write d': velocities, and ``theta' = T(theta)^-1 w``."""
    for i in range(d.size // 6):
        store(out, 6 * i, load(v, 6 * i))
        store(out, 6 * i + 3, mul(tangent_inverse(load(d, 6 * i + 3)), load(v, 6 * i + 3)))


@inner
def stabilise(problem: Problem, work: Work, method: Method, point: Point) -> None:
    """Change b'' by the terms of Baumgarte, or b'' and w by those of Braun and Goldfarb."""
    v, identity = point.v, method.formulation == PROJECTION  # it is not: W = M
    impulses = method.formulation == BRAUN_GOLDFARB
    damping = method.alpha if impulses else 2.0 * method.alpha
    velocity_error(problem, work, v)
    for k in range(work.b2.size):
        work.b2[k] += damping * work.phi[k]
        work.b1[k] = work.phi[k]
    position_error(problem, work, point.q)
    for k in range(work.b2.size):
        if impulses:
            work.b1[k] += method.beta * work.phi[k]
        else:
            work.b2[k] += method.beta**2 * work.phi[k]
    if impulses:
        correction(problem, work, identity, work.b1, method.passes)
        for k in range(v.size):
            point.w[k] += work.d[k]


@inner
def solve_point(problem: Problem, work: Work, method: Method, point: Point) -> bool:
    """Write accelerations and multipliers with the factors at hand; False if they may not be believed."""
    careful = point.wanted[CAREFUL] != 0
    passes = 10 if careful else method.acceleration_passes
    residual = solve_forces(problem, work, point.a, point.lam, passes, not careful)
    copy(point.rates[point.v.size :], point.a)
    point.at[VALUE] = residual
    if not residual <= ACCURATE:
        return False
    if point.wanted[SMALLEST] != 0:
        if factorize_metric(problem.plan, point.metric, work.a_values, point.ones, METRIC_REGULARISATION) >= 0:
            return False
        minimum_norm(problem.plan, point.metric, point.lam, 60)
    return True


@inner
def evaluate(problem: Problem, work: Work, method: Method, point: Point, counts: Array) -> int:
    """Evaluate the rates at a point whose positions `advance` has set; return FINE, OPEN or UNSOLVED."""
    tables, now, wanted, v = problem.tables, work.now, point.wanted, point.v
    identity = method.identity and wanted[VELOCITIES] != 0
    assembly.set_time(tables, point.at[TIME], now)
    if wanted[POSITIONS] != 0:
        if wanted[FACTORS] != 0 or problem.velocity_rows.size > 0:
            position_values(problem, work)
            weighted(problem, work, identity, counts)
        error = project_position(problem, work, method, point.q, counts)
        point.at[VALUE] = error
        if not error <= method.tolerance + position_rounding(point.q, v.size // 6):
            return OPEN
    assembly.set_velocities(v, now.poses)
    jacobian_values(problem, work)
    counts[EVALUATIONS] += 1
    if not weighted(problem, work, identity, counts):
        point.at[VALUE] = math.inf
        return UNSOLVED
    if wanted[VELOCITIES] != 0:
        work.b1[:] = 0.0
        if now.laws.shape[0] > 1:  # b' is zero without laws of time
            assembly.right_sides(tables, now, work.b1, work.b2)
        project_velocity(problem, work, method, v, wanted[CAREFUL] != 0)
        assembly.set_velocities(v, now.poses)
    copy(point.w, v)
    assembly.force(tables, now, point.q[7 * (v.size // 6) :], work.f)
    assembly.right_sides(tables, now, work.b1, work.b2)
    if method.formulation >= BAUMGARTE:
        stabilise(problem, work, method, point)
    displacement_rates(point.y[: v.size], point.w, point.rates)
    return FINE if solve_point(problem, work, method, point) else UNSOLVED
