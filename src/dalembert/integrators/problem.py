"""A system as compiled loops see it: its tables, its saddle plan, and one set of work arrays.

`Problem` is what does not change during a run, `Work` what every evaluation overwrites. The compiled functions below are the
steps that all integrators are made of:

    look(problem, work, t, q, v)                      laws, poses, velocities: everything else looks at these
    linearise(problem, work)                          Jacobian A at the state looked at, into the saddle system
    solve_accelerations(problem, work, q, a, lam)     M v' + A^T lambda = f,  A v' = b''
    project_velocity(problem, work, v)                the nearest v with A v = b'
    project_position(problem, work, t, q, ...)        the nearest q with phi = 0 (Masarati 2011, eq. 17)

"Nearest" is measured by the weights W of the saddle system in use: `work.saddle` has W = M, `work.metric` W = I with angles
scaled by a length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from dalembert.kernel.compile import inner
from dalembert.kernel.vec3 import Array, copy, load, load_matrix, mul
from dalembert.linalg.pattern import Indices
from dalembert.linalg.saddle import (
    REGULARISATION,
    STRONG_REGULARISATION,
    SaddlePlan,
    SaddleWork,
    allocate_work,
    analyse_saddle,
    equilibrate,
    factorize,
    set_values,
    solve_refined,
)
from dalembert.system import assembly
from dalembert.system.assembly import Now, Tables
from dalembert.system.system import System

REPETITIONS, SETTLED = 200, 1e-12
"""Of the solve for friction: the most, and the change of the multipliers, relative to the largest, that ends it."""


class Problem(NamedTuple):
    """What a compiled loop needs to know of a system.

    Attributes
    ----------
    tables : Tables
    plan : SaddlePlan
        Of the saddle system with the pattern of M.
    mass, weight : array
        Entries of M and of W = I (angles times length squared), in the order of the plan.
    entry : array of int
        Place of each entry of A in the terms of the Jacobian, read row by row.
    term_row : array of int
        Constraint row of each term.
    columns : array of int, shape (terms, 12)
        Column of each number of a term; the six numbers of the ground come after the last body.
    regularisation : float
        Of the saddle system.
    velocity_rows : array of int
        Rows that restrict velocities only: they have no part in corrections of positions.
    """

    tables: Tables
    plan: SaddlePlan
    mass: Array
    weight: Array
    entry: Indices
    term_row: Indices
    columns: Indices
    regularisation: float
    velocity_rows: Indices


class Work(NamedTuple):
    """What evaluations overwrite.

    Attributes
    ----------
    now : Now
        Poses, laws and motions at the state looked at.
    saddle, metric : SaddleWork
        Saddle systems with W = M and with W = I.
    J : array, shape (terms, 12)
        Terms of the Jacobian.
    a_values : array
        Entries of A.
    f, applied : array, shape (6 bodies + 6,)
        Forces; the last six act on the ground. Those without friction in joints.
    phi, b1, b2, mu : array, shape (constraints,)
        Residual, right sides of velocities and accelerations, multipliers of projections.
    d, zero : array, shape (6 bodies,)
        Small displacement; zeros.
    q : array
        Positions.
    """

    now: Now
    saddle: SaddleWork
    metric: SaddleWork
    J: Array
    a_values: Array
    f: Array
    applied: Array
    phi: Array
    b1: Array
    b2: Array
    mu: Array
    d: Array
    zero: Array
    q: Array


def make_problem(system: System, *, length: float = 1.0) -> Problem:
    """Return the problem of a system; `length` [m] is the arm at which an angle counts like a distance in W = I."""
    n = system.n_velocities
    columns = np.arange(n + 6).reshape(-1, 6)[system.layout.term_bodies].reshape(-1, 12)
    kept = np.flatnonzero(columns.ravel() < n)
    rows = np.repeat(system.layout.term_row, 12)[kept]
    M = system.mass()
    A = sp.coo_matrix((np.ones(kept.size), (rows, columns.ravel()[kept])), shape=(system.n_constraints, n))
    M_coo = M.tocoo()
    diagonal = np.where(M_coo.row == M_coo.col, np.where(M_coo.row % 6 < 3, 1.0, length**2), 0.0)
    massless = bool(np.any(M.diagonal() == 0.0))
    return Problem(
        tables=system.tables,
        plan=analyse_saddle(M, A),
        mass=np.array(M.data),
        weight=diagonal,
        entry=kept.astype(np.intp),
        term_row=system.layout.term_row,
        columns=columns.astype(np.intp),
        regularisation=STRONG_REGULARISATION if massless else REGULARISATION,
        velocity_rows=np.flatnonzero(~system.holonomic).astype(np.intp),
    )


def make_work(system: System, problem: Problem) -> Work:
    """Return work arrays; the saddle systems are scaled at the design position."""
    n, m = system.n_velocities, system.n_constraints
    work = Work(
        now=assembly.new_now(problem.tables),
        saddle=allocate_work(problem.plan),
        metric=allocate_work(problem.plan),
        J=np.zeros((problem.term_row.size, 12)),
        a_values=np.zeros(problem.entry.size),
        f=np.zeros(n + 6),
        applied=np.zeros(n + 6),
        phi=np.zeros(m),
        b1=np.zeros(m),
        b2=np.zeros(m),
        mu=np.zeros(m),
        d=np.zeros(n),
        zero=np.zeros(n),
        q=np.zeros(system.n_positions),
    )
    work.a_values[:] = system.jacobian_terms(system.design.t, system.design.q).ravel()[problem.entry]
    equilibrate(problem.plan, work.saddle, problem.mass, work.a_values)
    equilibrate(problem.plan, work.metric, problem.weight, work.a_values)
    return work


@inner
def look(problem: Problem, work: Work, t: float, q: Array, v: Array) -> None:
    """Set time, positions and velocities for all that follows."""
    assembly.set_time(problem.tables, t, work.now)
    assembly.set_positions(q, work.now.poses)
    assembly.set_velocities(v, work.now.poses)


@inner
def jacobian_values(problem: Problem, work: Work) -> None:
    """Compute the terms of A and its entries at the positions looked at."""
    assembly.jacobian(problem.tables, work.now, work.J)
    flat = work.J.reshape(-1)
    for e in range(problem.entry.size):
        work.a_values[e] = flat[problem.entry[e]]


@inner
def position_values(problem: Problem, work: Work) -> None:
    """Compute the entries of A at the positions looked at, zero in the rows that restrict velocities only."""
    jacobian_values(problem, work)
    if problem.velocity_rows.size > 0:
        for k in range(work.mu.size):
            work.mu[k] = 1.0
        for k in problem.velocity_rows:
            work.mu[k] = 0.0
        for e in range(problem.entry.size):
            work.a_values[e] *= work.mu[problem.term_row[problem.entry[e] // 12]]


@inner
def linearise(problem: Problem, work: Work) -> int:
    """Set up and factorise the saddle system with W = M at the positions looked at; -1 if all is well."""
    jacobian_values(problem, work)
    set_values(problem.plan, work.saddle, problem.mass, work.a_values)
    return factorize(problem.plan, work.saddle, problem.regularisation)


@inner
def linearise_metric(problem: Problem, work: Work) -> int:
    """Set up and factorise the saddle system of positions with W = I at those looked at; -1 if all is well."""
    position_values(problem, work)
    set_values(problem.plan, work.metric, problem.weight, work.a_values)
    return factorize(problem.plan, work.metric, problem.regularisation)


@inner
def jacobian_times(problem: Problem, work: Work, v: Array, out: Array) -> None:
    """Write A v, from the terms computed last."""
    out[:] = 0.0
    for k in range(problem.term_row.size):
        total = 0.0
        for j in range(12):
            column = problem.columns[k, j]
            if column < v.size:
                total += work.J[k, j] * v[column]
        out[problem.term_row[k]] += total


@inner
def subtract_reactions(problem: Problem, work: Work, lam: Array, f: Array) -> None:
    """Subtract A^T lambda from f (with the ground's entries), from the terms computed last."""
    for k in range(problem.term_row.size):
        multiplier = lam[problem.term_row[k]]
        for j in range(12):
            f[problem.columns[k, j]] -= work.J[k, j] * multiplier


@inner
def subtract_inertia(tables: Tables, a: Array, f: Array) -> None:
    """Subtract M a from f."""
    for i in range(tables.bodies.shape[0]):
        body = tables.bodies[i]
        torque = mul(load_matrix(body.inertia), load(a, 6 * i + 3))
        for k in range(3):
            f[6 * i + k] -= body.mass * a[6 * i + k]
            f[6 * i + 3 + k] -= torque[k]


@inner
def solve_accelerations(problem: Problem, work: Work, q: Array, a: Array, lam: Array) -> float:
    """Write v' and lambda at the state looked at, with the factors of `linearise`; return the relative residual."""
    assembly.force(problem.tables, work.now, q[7 * (a.size // 6) :], work.f)
    assembly.right_sides(problem.tables, work.now, work.b1, work.b2)
    return solve_forces(problem, work, a, lam, 10, False)


@inner
def solve_forces(problem: Problem, work: Work, a: Array, lam: Array, passes: int, warm: bool) -> float:
    """Solve ``M v' + A^T lambda = f + C(lambda)``, ``A v' = b''`` for the f and b'' at hand; return the relative residual.

    The friction C in joints is that of the last multipliers, until these stay (system/friction.py); infinite if they do not.
    """
    f = work.f[: a.size]
    residual, _ = solve_refined(problem.plan, work.saddle, f, work.b2, a, lam, passes, warm)
    if problem.tables.frictions.shape[0] == 0:
        return residual
    copy(work.applied, work.f)
    for _ in range(REPETITIONS):
        copy(work.f, work.applied)
        assembly.add_friction(problem.tables, work.now, work.J, problem.term_row, lam, work.f)
        copy(work.mu, lam)
        residual, _ = solve_refined(problem.plan, work.saddle, f, work.b2, a, lam, passes, True)
        change = size = 0.0
        for k in range(lam.size):
            change, size = max(change, abs(lam[k] - work.mu[k])), max(size, abs(lam[k]))
        if change <= SETTLED * size:
            return residual
    return np.inf


@inner
def project_velocity(problem: Problem, work: Work, v: Array) -> float:
    """Replace v by the nearest with A v = b' (W = M) at the state looked at, with the factors of `linearise`.

    Returns the largest velocity error found.
    """
    assembly.right_sides(problem.tables, work.now, work.b1, work.b2)
    jacobian_times(problem, work, v, work.phi)
    error = 0.0
    for k in range(work.phi.size):
        work.b1[k] -= work.phi[k]
        error = max(error, abs(work.b1[k]))
    solve_refined(problem.plan, work.saddle, work.zero, work.b1, work.d, work.mu, 10, False)
    for k in range(v.size):
        v[k] += work.d[k]
    assembly.set_velocities(v, work.now.poses)
    return error


@inner
def project_position(problem: Problem, work: Work, t: float, q: Array, tolerance: float, most: int) -> tuple[float, int]:
    """Replace q by the nearest with phi(q, t) = 0 (W = I) by Newton's method (Masarati 2011, eq. 17).

    Returns the largest residual left and the number of iterations.
    """
    n = work.d.size // 6
    assembly.set_time(problem.tables, t, work.now)
    for iteration in range(most + 1):
        assembly.set_positions(q, work.now.poses)
        assembly.constraint(problem.tables, work.now, q[7 * n :], work.phi)
        error = 0.0
        for k in range(work.phi.size):
            error = max(error, abs(work.phi[k]))
            work.phi[k] = -work.phi[k]
        if not error > tolerance or iteration == most:
            return error, iteration
        if linearise_metric(problem, work) >= 0:
            return error, iteration
        solve_refined(problem.plan, work.metric, work.zero, work.phi, work.d, work.mu, 10, False)
        copy(work.q, q)
        assembly.advance(problem.tables, work.q, work.d, work.now.poses, q)
    return error, most
