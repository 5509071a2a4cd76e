"""Implicit integration of the index-3 equations on the Lie group: generalized-alpha, HHT-alpha as one of its settings.

One step from t to t + h (Arnold and Bruels 2007), with the algorithmic accelerations a beside the true ones v':

    M v'_1 + A^T lambda_1 = f(t_1, q_1, v_1),   phi(t_1, q_1) = 0
    q_1 = advance(q, h v + h^2 ((1/2 - beta) a + beta a_1)),   v_1 = v + h ((1 - gamma) a + gamma a_1)
    (1 - alpha_m) a_1 + alpha_m a = (1 - alpha_f) v'_1 + alpha_f v'

The unknowns of Newton's method are v'_1 and lambda_1. With c = (1 - alpha_f)/(1 - alpha_m), beta' = h^2 beta c and
gamma' = h gamma c:

    [ M + gamma' D + beta' K   A^T ] [ delta v'     ]   [ f - A^T lambda - M v' ]
    [ A                         0  ] [ delta lambda ] = [ -phi / beta'          ]

so that scaling and conditioning do not depend on the step. Rows that restrict velocities only, psi(q, v) = 0, have the right
side -psi / gamma' instead. The factors are kept as long as the iteration contracts well. D and
K hold the tangents of forces and K_c; without stiff forces the iteration converges without them, and they are left out.

Redundant rows cannot meet the rounding of phi, which divided by beta' and by the mu that regularises the matrix would stray
into the multipliers that do nothing, and would act as soon as A is not that of the kept factors. So their right side is
replaced by what they can meet, A x with the x of a first solve, and a small part of mu lambda lets such multipliers decay.

Where the iteration fails with fresh factors and there are forces, it is tried again with new factors in each iteration: slender
beams, much stiffer along than across, need it where they turn. Where that fails too, a singular position is near, as a rule:
the flat position of a parallelogram, where one more row becomes redundant. For some steps the rows then are a little soft,
``phi = -beta' mu lambda``: a violation of some 1e-10 of the lengths, through which the inertia carries the mechanism.

References
----------
M. Arnold, O. Bruels, Convergence of the generalized-alpha scheme for constrained mechanical systems, Multibody Syst. Dyn. 18
(2007). J. Chung, G. M. Hulbert, A time integration algorithm for structural dynamics with improved numerical dissipation,
J. Appl. Mech. 60 (1993). H. M. Hilber, T. J. R. Hughes, R. L. Taylor, Improved numerical dissipation for time integration
algorithms in structural dynamics, Earthq. Eng. Struct. Dyn. 5 (1977).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from dalembert.elements import coordinate, distance, lock, modal_body, nonholonomic, perpendicular, user_row
from dalembert.errors import ModelError
from dalembert.formulations.saddle import SaddleFormulation
from dalembert.integrators.common import CHUNK_STEPS, IntegrationError, Samples, singular_position, take_arrays
from dalembert.integrators.problem import (
    Problem,
    Work,
    jacobian_values,
    linearise,
    look,
    make_problem,
    make_work,
    project_position,
    project_velocity,
    solve_accelerations,
    subtract_inertia,
)
from dalembert.kernel.compile import compiled, inner, inner_inlined
from dalembert.kernel.vec3 import Array, add, copy, load, store, store_matrix
from dalembert.linalg.pattern import Indices
from dalembert.linalg.saddle import (
    SaddlePlan,
    SaddleWork,
    allocate_work,
    analyse_saddle,
    constraint_product,
    equilibrate,
    factorize,
    set_values,
    solve_refined,
)
from dalembert.rotation import quaternion
from dalembert.system import assembly
from dalembert.system.system import System

DONE, BUDGET, REJECTED, NO_CONVERGENCE, NOT_FINITE, NO_FACTORS, STEP_TOO_SMALL = range(7)

ROUNDING_OF_PLACES = 2e-14
"""Of places relative to the largest one, as velocities feel it in one step: some hundred units of rounding."""

SOFT, SOFT_STEPS = 1e-6, 20.0
"""mu of the soft rows near singular positions, and for how many steps."""

DECAY = 0.01
"""Part by which multipliers that do nothing decay in one iteration."""

REASONS = {
    NO_CONVERGENCE: "Newton's method does not converge; take a smaller step",
    NOT_FINITE: "the state is not finite any more",
    NO_FACTORS: "the iteration matrix cannot be factorised: the position is singular or the motion not unique",
    STEP_TOO_SMALL: "the error control asks for a vanishing step",
}


class Coefficients(NamedTuple):
    """The parameters of the method."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float


def generalized_alpha(spectral_radius: float = 0.9) -> Coefficients:
    """Return the parameters with a given spectral radius at infinity, from 0 (all damped) to 1 (no damping).

    Without any damping the multipliers are only neutrally stable: rounding adds up in long runs. 0.9 damps little.

    Examples
    --------
    >>> generalized_alpha(1.0)
    Coefficients(alpha_m=0.5, alpha_f=0.5, beta=0.25, gamma=0.5)
    """
    if not 0.0 <= spectral_radius <= 1.0:
        raise ModelError("integrator", f"the spectral radius {spectral_radius} is not between 0 and 1", "0.9 damps little")
    alpha_m = (2.0 * spectral_radius - 1.0) / (spectral_radius + 1.0)
    alpha_f = spectral_radius / (spectral_radius + 1.0)
    gamma = 0.5 + alpha_f - alpha_m
    return Coefficients(alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma)


def hht_alpha(alpha: float = -0.1) -> Coefficients:
    """Return the parameters of HHT-alpha, alpha from -1/3 (most damping) to 0 (none: the trapezoidal rule).

    Examples
    --------
    >>> hht_alpha(0.0)
    Coefficients(alpha_m=0.0, alpha_f=0.0, beta=0.25, gamma=0.5)
    """
    if not -1.0 / 3.0 <= alpha <= 0.0:
        raise ModelError("integrator", f"alpha = {alpha} of HHT is not between -1/3 and 0", "-0.1 damps little")
    return Coefficients(0.0, -alpha + 0.0, 0.25 * (1.0 - alpha) ** 2, 0.5 - alpha)


class Track(NamedTuple):
    """The state of the method, and the trial state of the step under way.

    Attributes
    ----------
    clock : array
        t, step for the next attempt, start of the interval under way, steps done in it, step of the last success.
    counts : array
        Steps, rejected steps, iterations, factorisations, residuals; 1 if the factors are to be renewed; 1 if rows are
        redundant; steps for which rows stay soft.
    q, v, a, vd, lam, vd_before, lam_before : array
        At the end of the last step, and one step before.
    q1, v1, a1, vd1, lam1, d, delta, dlam : array
        Of the trial.
    """

    clock: Array
    counts: Array
    q: Array
    v: Array
    a: Array
    vd: Array
    lam: Array
    vd_before: Array
    lam_before: Array
    q1: Array
    v1: Array
    a1: Array
    vd1: Array
    lam1: Array
    d: Array
    delta: Array
    dlam: Array


class Iteration(NamedTuple):
    """The iteration matrix: its plan and factors, and the entries of its tangents (empty if they are left out).

    Attributes
    ----------
    plan, saddle
        Of the saddle system with S = M + gamma' D + beta' K in place of M.
    entries : array
        Values of S: those of M, then K and D of each pair of bodies.
    K, D : array, shape (pairs, 12, 12)
    kept : array of int
        Which numbers of K (and D), one after the other, do not belong to the ground.
    n_forces : int
        How many of the pairs are those of forces; they come after those of joints, and before those of frictions.
    user : array
        Room for the tangents of user forces, which stay out of the matrix.
    """

    plan: SaddlePlan
    saddle: SaddleWork
    entries: Array
    K: Array
    D: Array
    kept: Indices
    n_forces: int
    user: Array


class Options(NamedTuple):
    """What controls the steps.

    Attributes
    ----------
    newton : float
        Largest last change of velocities [m/s], [rad/s] that ends the iteration.
    step : float
        Fixed step, or the first one under error control [s].
    largest, smallest : float
        Bounds of the step [s].
    atol, rtol : float
        Of the error control; rtol = 0 and atol = 0: fixed steps.
    """

    newton: float
    step: float
    largest: float
    smallest: float
    atol: float
    rtol: float


@inner_inlined
def move(q: Array, d: Array, poses: object, out: Array) -> None:
    """Write q moved by d and the poses there; the angles in the tail of q stay (they follow when the step is accepted)."""
    n = poses.shape[0] - 1  # type: ignore[attr-defined]
    for i in range(n):
        pose = poses[i]  # type: ignore[index]
        position = add(load(q, 7 * i), load(d, 6 * i))
        rho = quaternion.advance(quaternion.load4(q, 7 * i + 3), load(d, 6 * i + 3))
        store(out, 7 * i, position)
        store(pose.position, 0, position)
        out[7 * i + 3], out[7 * i + 4], out[7 * i + 5], out[7 * i + 6] = rho
        pose.quaternion[0], pose.quaternion[1], pose.quaternion[2], pose.quaternion[3] = rho
        store_matrix(pose.rotation, quaternion.to_matrix(rho))


@inner_inlined
def _subtract_term(problem: Problem, work: Work, term: int, lam: Array) -> None:
    multiplier = lam[problem.term_row[term]]
    for j in range(12):
        work.f[problem.columns[term, j]] -= work.J[term, j] * multiplier


@inner_inlined
def subtract_all_reactions(problem: Problem, work: Work, lam: Array) -> None:
    """Subtract A^T lambda from the forces: locks directly, the others by their rows of A."""
    tables, poses = problem.tables, work.now.poses
    motions = work.now.motions
    for k in range(tables.locks.shape[0]):
        lock.subtract_reaction(tables.locks[k], poses, motions, lam, work.f)
    for k in range(tables.perpendiculars.shape[0]):
        perpendicular.jacobian(tables.perpendiculars[k], poses, work.J)
        _subtract_term(problem, work, tables.perpendiculars[k].term, lam)
    for k in range(tables.distances.shape[0]):
        distance.jacobian(tables.distances[k], poses, work.J)
        _subtract_term(problem, work, tables.distances[k].term, lam)
    for k in range(tables.coordinates.shape[0]):
        if tables.coordinates[k].row >= 0:
            coordinate.jacobian(tables.coordinates[k], poses, work.J)
            _subtract_term(problem, work, tables.coordinates[k].term, lam)
    for k in range(tables.shapes.shape[0]):
        modal_body.jacobian(tables.shapes[k], work.J)
        for i in range(6):
            if tables.shapes[k].term[i] >= 0:
                _subtract_term(problem, work, tables.shapes[k].term[i], lam)
    for k in range(tables.contacts.shape[0]):
        nonholonomic.jacobian(tables.contacts[k], poses, work.J)
        for i in range(3):
            if tables.contacts[k].term[i] >= 0:
                _subtract_term(problem, work, tables.contacts[k].term[i], lam)
    t, callbacks = work.now.time[0], tables.callbacks.table
    for k in range(tables.user_rows.shape[0]):
        user_row.jacobian(tables.user_rows[k], poses, t, callbacks, work.now.exchange, work.J)
        _subtract_term(problem, work, tables.user_rows[k].term, lam)


@inner_inlined
def _set_trial(work: Work, track: Track, c: Coefficients, h: float) -> None:
    """Compute a_1, v_1 and q_1 from v'_1, and look at them.

    a belongs to the time t + (alpha_m - alpha_f) h: it moves with the step, along the last change of v'.
    """
    last = track.clock[4]
    shift = (c.alpha_m - c.alpha_f) * (h - last) / last if last > 0.0 else 0.0
    for i in range(track.v.size):
        a = track.a[i] + shift * (track.vd[i] - track.vd_before[i])
        a1 = ((1.0 - c.alpha_f) * track.vd1[i] + c.alpha_f * track.vd[i] - c.alpha_m * a) / (1.0 - c.alpha_m)
        track.a1[i] = a1
        track.v1[i] = track.v[i] + h * ((1.0 - c.gamma) * a + c.gamma * a1)
        track.d[i] = h * (track.v[i] + h * ((0.5 - c.beta) * a + c.beta * a1))
    move(track.q, track.d, work.now.poses, track.q1)
    assembly.set_velocities(track.v1, work.now.poses)


@inner_inlined
def _residual(problem: Problem, work: Work, track: Track, stiff: float, damp: float) -> None:
    """Write f - A^T lambda - M v' to ``work.f``, -phi/beta' and -psi/gamma' to ``work.phi``, at the trial."""
    tail = track.q1[7 * problem.tables.bodies.shape[0] :]
    assembly.force(problem.tables, work.now, tail, work.f)
    if problem.tables.frictions.shape[0] > 0:
        assembly.jacobian(problem.tables, work.now, work.J)
        assembly.add_friction(problem.tables, work.now, work.J, problem.term_row, track.lam1, work.f)
    subtract_all_reactions(problem, work, track.lam1)
    subtract_inertia(problem.tables, track.vd1, work.f)
    assembly.constraint(problem.tables, work.now, tail, work.phi)
    for k in range(work.phi.size):
        work.phi[k] /= -stiff
    if problem.velocity_rows.size > 0:
        assembly.velocity_residual(problem.tables, work.now, work.b1)
        for k in problem.velocity_rows:
            work.phi[k] = -work.b1[k] / damp


@inner
def _correct(problem: Problem, work: Work, iteration: Iteration, track: Track) -> None:
    """Solve for the corrections of v' and lambda with the factors at hand."""
    plan, saddle, n, soft = iteration.plan, iteration.saddle, track.v.size, track.counts[7] > 0.0
    if track.counts[6] > 0.0 and not soft:  # redundant rows
        solve_refined(plan, saddle, work.f[:n], work.phi, track.delta, track.dlam, 1, track.counts[6] < 0.0)
        constraint_product(plan, saddle, track.delta, work.phi)
    if track.counts[6] > 0.0 or soft:
        mu = SOFT if soft else DECAY * problem.regularisation
        for k in range(work.phi.size):
            scale = saddle.scale[plan.place[n + k]]
            work.phi[k] += mu / (scale * scale) * track.lam1[k]
    solve_refined(plan, saddle, work.f[:n], work.phi, track.delta, track.dlam, 1, track.counts[6] < 0.0)


@inner
def _renew(problem: Problem, work: Work, iteration: Iteration, track: Track, stiff: float, damp: float) -> int:
    """Set up and factorise the iteration matrix at the trial; -1 if all is well."""
    jacobian_values(problem, work)
    size = problem.mass.size
    for e in range(size):
        iteration.entries[e] = problem.mass[e]
    if iteration.K.shape[0] > 0:
        tail = track.q1[7 * problem.tables.bodies.shape[0] :]
        frictions = iteration.K.shape[0] - problem.tables.frictions.shape[0]
        joints = frictions - iteration.n_forces
        assembly.constraint_tangents(problem.tables, work.now, track.lam1, iteration.K[:joints])
        K_f, D_f = iteration.K[joints:frictions], iteration.D[joints:frictions]
        D_c = iteration.D[frictions:]
        assembly.friction_damping(problem.tables, work.now, work.J, problem.term_row, track.lam1, D_c)
        assembly.force_tangents(problem.tables, work.now, tail, K_f, D_f, iteration.user, iteration.user)
        K, D = iteration.K.reshape(-1), iteration.D.reshape(-1)
        for e in range(iteration.kept.size):
            iteration.entries[size + e] = stiff * K[iteration.kept[e]] + damp * D[iteration.kept[e]]
    set_values(iteration.plan, iteration.saddle, iteration.entries, work.a_values)
    track.counts[3] += 1.0
    track.counts[5] = 0.0
    mu = SOFT if track.counts[7] > 0.0 else problem.regularisation
    return factorize(iteration.plan, iteration.saddle, mu)


@inner_inlined
def _newton(
    problem: Problem, work: Work, iteration: Iteration, track: Track, c: Coefficients, tolerance: float, h: float, full: bool
) -> tuple[int, int]:
    """Iterate from the guess in v'_1 and lambda_1; return a status and the number of iterations.

    `full`: with new factors in each iteration, which may first lead away: beams turn before their places follow.
    """
    ratio = (1.0 - c.alpha_f) / (1.0 - c.alpha_m)
    stiff, damp = h * h * c.beta * ratio, h * c.gamma * ratio
    n, before = track.v.size, np.inf
    _set_trial(work, track, c, h)
    if track.counts[5] > 0.0 and _renew(problem, work, iteration, track, stiff, damp) >= 0:
        return NO_FACTORS, 0
    for k in range(1, 11):
        if full and k > 1 and _renew(problem, work, iteration, track, stiff, damp) >= 0:
            return NO_FACTORS, k
        _residual(problem, work, track, stiff, damp)
        _correct(problem, work, iteration, track)
        change, total = 0.0, 0.0
        for i in range(n):
            track.vd1[i] += track.delta[i]
            change = max(change, abs(track.delta[i]))
            total += track.delta[i]
        for i in range(track.lam1.size):
            track.lam1[i] += track.dlam[i]
        change *= damp
        track.counts[2] += 1.0
        _set_trial(work, track, c, h)
        if not abs(total) < np.inf:  # max() is blind to NaN
            return NOT_FINITE, k
        contraction = change / before
        if change <= tolerance or (0.0 < contraction < 1.0 and change * contraction <= 0.5 * (1.0 - contraction) * tolerance):
            return DONE, k
        if contraction > (100.0 if full else 0.7):
            return NO_CONVERGENCE, k
        before = change
    return NO_CONVERGENCE, 10


@inner_inlined
def _guess(track: Track, h: float) -> None:
    """Extrapolate v' and lambda from the last two steps."""
    last = track.clock[4]
    s = h / last if last > 0.0 else 0.0
    for i in range(track.vd.size):
        track.vd1[i] = track.vd[i] + s * (track.vd[i] - track.vd_before[i])
    for i in range(track.lam.size):
        track.lam1[i] = track.lam[i] + s * (track.lam[i] - track.lam_before[i])


@inner_inlined
def _reachable(track: Track, tolerance: float, h: float) -> float:
    """Return the tolerance of velocities, not below what rounding of the positions leaves of it in a step of h."""
    largest = 0.0
    for i in range(track.q.size // 7):
        for k in range(3):
            largest = max(largest, abs(track.q[7 * i + k]))
    return max(tolerance, ROUNDING_OF_PLACES * largest / h)


@inner
def _attempt(
    problem: Problem, work: Work, iteration: Iteration, track: Track, c: Coefficients, tolerance: float, t1: float, h: float
) -> int:
    """Try one step, with old factors first if there are any, then fresh ones, at last new ones in each iteration and soft rows.

    Returns a status.
    """
    assembly.set_time(problem.tables, t1, work.now)
    status, iterations, fresh, full, reachable = NO_CONVERGENCE, 0, False, False, _reachable(track, tolerance, h)
    while status != DONE:
        if fresh and not full and iteration.n_forces > 0:
            full = True
        elif fresh and track.counts[7] > 0.0:
            break
        elif fresh:
            track.counts[7] = SOFT_STEPS
        fresh = track.counts[5] > 0.0
        _guess(track, h)
        status, iterations = _newton(problem, work, iteration, track, c, reachable, h, full)
        if status != DONE or (iterations > 4 and not fresh):
            track.counts[5] = 1.0
    return status


@inner_inlined
def _error(track: Track, options: Options, c: Coefficients, h: float) -> float:
    """Return the local error of the positions relative to the tolerance, from the change of a over the step."""
    size, worst = h * h * max(abs(c.beta - 1.0 / 6.0), 1.0 / 12.0), 0.0
    for i in range(track.a.size):
        place = abs(track.q1[7 * (i // 6) + i % 6]) if i % 6 < 3 else 1.0
        worst = max(worst, size * abs(track.a1[i] - track.a[i]) / (options.atol + options.rtol * place))
    return worst


@inner
def _accept(problem: Problem, work: Work, track: Track, t1: float, h: float) -> None:
    """Make the trial the state."""
    tail = 7 * problem.tables.bodies.shape[0]
    assembly.follow_angles(problem.tables, work.now.poses, track.q[tail:], track.q1[tail:])
    copy(track.q, track.q1)
    copy(track.v, track.v1)
    copy(track.a, track.a1)
    copy(track.vd_before, track.vd)
    copy(track.lam_before, track.lam)
    copy(track.vd, track.vd1)
    copy(track.lam, track.lam1)
    track.clock[0], track.clock[4] = t1, h
    track.clock[3] += 1.0
    track.counts[0] += 1.0
    if track.counts[7] > 0.0:
        track.counts[7] -= 1.0
        if track.counts[7] == 0.0:
            track.counts[5] = 1.0


@inner
def _restart(problem: Problem, work: Work, track: Track, t: float) -> float:
    """Take new accelerations behind a break point; return the residual of the saddle system."""
    look(problem, work, t, track.q, track.v)
    if linearise(problem, work) >= 0:
        return np.inf
    residual = solve_accelerations(problem, work, track.q, track.vd, track.lam)
    copy(track.a, track.vd)
    copy(track.vd_before, track.vd)
    copy(track.lam_before, track.lam)
    track.counts[5] = 1.0
    return residual


@inner
def _next_step(track: Track, options: Options, target: float) -> tuple[float, float]:
    """Return the size of the next step and its end: equal steps up to the target, or what the error control asks for."""
    t = track.clock[0]
    if options.atol + options.rtol > 0.0:
        h, left = min(track.clock[1], options.largest), target - t
        if left <= 1.001 * h:
            return left, target
        h = 0.5 * left if left < 2.0 * h else h
        return h, t + h
    begin, j = track.clock[2], int(track.clock[3]) + 1
    steps = int(max(1.0, np.ceil((target - begin) / options.step - 1e-6)))
    h = (target - begin) / steps
    return h, target if j == steps else begin + j * h


@inner
def _judge(track: Track, options: Options, c: Coefficients, status: int, h: float, last: bool) -> int:
    """Choose the next controlled step; return DONE, REJECTED or the reason to stop."""
    error = _error(track, options, c, h) if status == DONE else np.inf
    growth = 0.9 * max(error, 1e-3) ** (-1.0 / 3.0)
    if status == NO_FACTORS:
        return status
    if error <= 1.0:
        if not last or growth < 1.0:  # a last step was cut: it says nothing against a longer one
            track.clock[1] = h * min(2.0, growth)
        return DONE
    track.counts[1] += 1.0
    track.clock[1] = h * (max(0.2, growth) if error < np.inf else 0.25)
    if track.clock[1] < options.smallest:
        return STEP_TOO_SMALL if status == DONE else status
    return REJECTED


@inner
def _sample(problem: Problem, work: Work, track: Track, closing: bool, out: Samples, row: int) -> float:
    """Write the state to a row; with a closing projection, consistent to rounding at all three levels."""
    copy(out.q[row], track.q)
    copy(out.v[row], track.v)
    copy(out.a[row], track.vd)
    copy(out.lam[row], track.lam)
    if not closing:
        return 0.0
    project_position(problem, work, track.clock[0], out.q[row], 1e-14, 5)
    look(problem, work, track.clock[0], out.q[row], out.v[row])
    if linearise(problem, work) >= 0:
        return np.inf
    project_velocity(problem, work, out.v[row])
    return solve_accelerations(problem, work, out.q[row], out.a[row], out.lam[row])


@compiled
def run(
    problem: Problem,
    work: Work,
    iteration: Iteration,
    track: Track,
    c: Coefficients,
    options: Options,
    targets: Array,
    kinds: Array,
    closing: bool,
    budget: int,
    out: Samples,
) -> tuple[int, int]:
    """Integrate to the targets one after the other, as far as the budget of steps goes.

    `kinds` is 1 for an output, 2 for a break point, 3 for both. Returns a status and the number of targets reached.
    """
    row, done, left = 0, 0, budget
    controlled = options.atol + options.rtol > 0.0
    while done < targets.size:
        target, breaks = targets[done], kinds[done] >= 2.0
        if target > track.clock[0]:
            if left <= 0:
                return BUDGET, done
            left -= 1
            h, t1 = _next_step(track, options, target)
            last = t1 == target
            seen = t1 - 1e-14 * max(1.0, abs(t1)) if breaks and last else t1  # a law is seen from the left of its break
            status = _attempt(problem, work, iteration, track, c, options.newton, seen, h)
            if controlled:
                status = _judge(track, options, c, status, h, last)
            if status == DONE:
                _accept(problem, work, track, t1, h)
            elif status != REJECTED:
                return status, done
            continue
        if kinds[done] != 2.0:
            if not _sample(problem, work, track, closing, out, row) < 1e-6:
                return NO_FACTORS, done
            row += 1
        if breaks and not _restart(problem, work, track, track.clock[0]) < 1e-6:
            return NO_FACTORS, done
        track.clock[2], track.clock[3] = track.clock[0], 0.0
        done += 1
    return DONE, done


class ImplicitIntegrator:
    """Generalized-alpha with fixed or controlled steps.

    Parameters
    ----------
    system : System
    step : float, optional
        Fixed step [s]; a little less where it does not divide the time to the next output.
    rtol, atol : float, optional
        Error control of the positions instead of a fixed step.
    coefficients : Coefficients
        `generalized_alpha` or `hht_alpha`.
    newton_tolerance : float
        Largest last change of velocities [m/s], [rad/s] in Newton's method.
    tangents : bool, optional
        Keep K_c and the tangents of the forces in the iteration matrix; if not given, where there are springs or other forces.
    closing_projection : bool
        Project what is put out, so that velocities, accelerations and reactions satisfy the constraints to rounding.
    max_step, min_step : float
        Bounds for the error control [s].
    breaks : iterable of float
        Times to be hit [s]: where laws of time jump in a derivative.
    """

    def __init__(
        self,
        system: System,
        *,
        step: float | None = None,
        rtol: float = 0.0,
        atol: float = 0.0,
        coefficients: Coefficients | None = None,
        newton_tolerance: float = 1e-9,
        tangents: bool | None = None,
        closing_projection: bool = True,
        max_step: float = math.inf,
        min_step: float = 1e-10,
        breaks: Iterable[float] = (),
    ) -> None:
        if step is None and rtol + atol <= 0.0:
            raise ModelError("integrator", "neither a step nor a tolerance is given", "give step=... or rtol=...")
        self.system = system
        self.coefficients = coefficients or generalized_alpha()
        self.closing = closing_projection
        self.problem = make_problem(system)
        self.work = make_work(system, self.problem)
        tangents = assembly.n_force_blocks(system.tables) + system.tables.frictions.size > 0 if tangents is None else tangents
        self.iteration = _make_iteration(system, self.problem, self.work, tangents)
        first = 1e-4 if step is None else step
        if rtol + atol > 0.0:
            atol = atol or 1e-3 * rtol
        self.options = Options(newton_tolerance, first, max_step, min_step, atol, rtol)
        self.breaks = np.unique(np.asarray(list(breaks), float))
        self.track = _make_track(system)

    @property
    def method(self) -> str:
        """Name of the method."""
        parameters = ", ".join(f"{name} {value:.4g}" for name, value in self.coefficients._asdict().items())
        return f"generalized-alpha, {parameters}"

    @property
    def time(self) -> float:
        """Time reached [s]."""
        return float(self.track.clock[0])

    @property
    def step_size(self) -> float:
        """Size of the next step [s]; of a fixed one if there is no error control."""
        return float(self.track.clock[1])

    @property
    def statistics(self) -> dict[str, float]:
        """Steps, rejected steps, iterations and factorisations so far."""
        labels = ("steps", "rejected_steps", "iterations", "factorisations")
        return {label: float(count) for label, count in zip(labels, self.track.counts[:4], strict=True)}

    def start(self, t: float, q: Array, v: Array) -> None:
        """Begin at a consistent state; a is v' at t + (alpha_m - alpha_f) h, as Arnold and Bruels advise."""
        self.track = _make_track(self.system)
        track, c = self.track, self.coefficients
        track.clock[:] = (t, self.options.step, t, 0.0, 0.0)
        track.q[:], track.v[:] = q, v
        formulation = SaddleFormulation(self.system)
        track.vd[:], track.lam[:] = formulation.solve(t, track.q, track.v)[:2]
        track.a[:] = track.vd + (c.alpha_m - c.alpha_f) * self.options.step * self._jerk(formulation, t)
        track.vd_before[:], track.lam_before[:] = track.vd, track.lam
        track.counts[5], track.counts[6] = 1.0, float(formulation.redundant)

    def _jerk(self, formulation: SaddleFormulation, t: float) -> Array:
        """Return v'' at the start by a central difference."""
        track, sides = self.track, []
        epsilon = 1e-3 * self.options.step
        for s in (epsilon, -epsilon):
            q = self.system.advance(track.q, s * track.v + 0.5 * s * s * track.vd)
            sides.append(formulation.solve(t + s, q, track.v + s * track.vd).acceleration)
        return np.asarray((sides[0] - sides[1]) / (2.0 * epsilon))

    def run_chunk(self, times: Array, out: Samples, budget: int = CHUNK_STEPS) -> int:
        """Integrate until all `times` are reached and fill the rows of `out`; return the number of rows filled.

        It is smaller than ``len(times)`` only when the budget of steps is used up: call again with the rest.
        """
        now = self.track.clock[0]
        breaks = self.breaks[(self.breaks > now) & (self.breaks <= (times[-1] if len(times) else now))]
        targets = np.union1d(times, breaks)
        kinds = np.isin(targets, times) + 2.0 * np.isin(targets, breaks)
        status, done = run(
            self.problem, self.work, self.iteration, self.track, self.coefficients, self.options,
            targets, kinds.astype(float), self.closing, budget, out,
        )  # fmt: skip
        self.problem.tables.raise_error()
        filled = int(np.count_nonzero(kinds[:done] != 2.0))
        if status not in (DONE, BUDGET):
            time = float(self.track.clock[0])
            element, problem = self._overbent()
            why = singular_position(self.system, time, self.track.q) if status in (NO_CONVERGENCE, NO_FACTORS) else ""
            problem = problem or REASONS[status] + (f"; {why}" if why else "")
            raise IntegrationError(time, problem, element=element, statistics=self.statistics, filled=filled)
        return filled

    def _overbent(self) -> tuple[str | None, str]:
        """Return name and problem of a beam element that turned too far in the last attempt, or was about to."""
        for q, slack in ((self.track.q1, 0.0), (self.track.q, 0.5)):
            found = self.system.overbent(q, slack) if np.isfinite(q).all() else (None, "")
            if found[0]:
                return found
        return None, ""

    def checkpoint(self) -> dict[str, Array]:
        """Return all that a bit-exact continuation needs."""
        return {name: array.copy() for name, array in self._arrays().items()}

    def _arrays(self) -> dict[str, Array]:
        arrays = {f"track_{name}": value for name, value in self.track._asdict().items()}
        return arrays | {"factors": self.iteration.saddle.store, "values": self.iteration.saddle.values}

    def restore(self, data: Mapping[str, Array]) -> None:
        """Go on where a checkpoint was taken, in this or another process."""
        take_arrays(self._arrays(), data)


def _make_track(system: System) -> Track:
    nq, n, m = system.n_positions, system.n_velocities, system.n_constraints
    sizes = (5, 8, nq, n, n, n, m, n, m, nq, n, n, n, m, n, n, m)
    return Track(*(np.zeros(size) for size in sizes))


def _make_iteration(system: System, problem: Problem, work: Work, tangents: bool) -> Iteration:
    """Return the iteration matrix: that of M alone, or with the pattern of all tangents."""
    if not tangents:
        saddle = allocate_work(problem.plan)
        equilibrate(problem.plan, saddle, problem.mass, work.a_values)
        empty = np.zeros((0, 12, 12))
        return Iteration(problem.plan, saddle, problem.mass.copy(), empty, empty, np.zeros(0, np.intp), 0, np.zeros(0))
    n = system.n_velocities
    pairs, n_forces = _pairs(system)
    columns = np.arange(n + 6).reshape(-1, 6)[pairs].reshape(-1, 12)
    rows, cols = np.repeat(columns, 12, axis=1).ravel(), np.tile(columns, (1, 12)).ravel()
    kept = np.flatnonzero((rows < n) & (cols < n)).astype(np.intp)
    mass = system.mass().tocoo()
    M_rows, M_cols = np.concatenate([mass.row, rows[kept]]), np.concatenate([mass.col, cols[kept]])
    entries = np.concatenate([problem.mass, np.zeros(kept.size)])
    A = _jacobian_pattern(system, problem)
    plan = analyse_saddle(sp.coo_matrix((np.ones(entries.size), (M_rows, M_cols)), shape=(n, n)), A)
    saddle = allocate_work(plan)
    equilibrate(plan, saddle, entries, work.a_values)
    blocks = np.zeros((len(pairs), 12, 12))
    user = np.zeros(max(1, n * n) if system.tables.user_forces.size else 1)
    return Iteration(plan, saddle, entries, blocks, np.zeros_like(blocks), kept, n_forces, user)


def _pairs(system: System) -> tuple[Indices, int]:
    """Return the two bodies of each tangent block, joints, forces, frictions, and the number of forces."""
    t = system.tables
    joints, forces = assembly.constraint_tables(t), assembly.force_pairs(t)
    pairs = [np.column_stack([table.body_1, table.body_2]) for table in (*joints, *forces, t.frictions)]
    return np.concatenate(pairs).astype(np.intp), sum(table.size for table in forces)


def _jacobian_pattern(system: System, problem: Problem) -> sp.coo_matrix:
    """Return the pattern of A with its entries in the order of ``Problem.entry``."""
    rows = np.repeat(problem.term_row, 12)[problem.entry]
    shape = (system.n_constraints, system.n_velocities)
    return sp.coo_matrix((np.ones(problem.entry.size), (rows, problem.columns.ravel()[problem.entry])), shape=shape)
