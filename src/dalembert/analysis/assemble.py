"""Initial assembly: positions and velocities that satisfy the constraints, near the drawn ones."""

from __future__ import annotations

import numpy as np

from dalembert.errors import SolveError
from dalembert.integrators.problem import (
    Problem,
    Work,
    linearise,
    linearise_metric,
    look,
    make_problem,
    make_work,
    project_velocity,
)
from dalembert.kernel.vec3 import Array
from dalembert.linalg.saddle import solve_refined
from dalembert.system.state import State
from dalembert.system.system import System

LARGEST_TURN = 0.5
"""Largest rotation of a body in one iteration [rad]."""


class AssemblyError(SolveError):
    """The joints cannot be closed.

    Attributes
    ----------
    joint : str
        The constraint row with the largest residual.
    residual : float
        Its residual: metres, or the sine of half an angle.
    state : State
        The best position found.
    """

    def __init__(self, joint: str, residual: float, state: State, reason: str) -> None:
        self.joint = joint
        self.residual = residual
        self.state = state
        unit = "rad" if joint.rpartition(".")[2].startswith("R") else "m"
        value = 2.0 * residual if unit == "rad" else residual
        super().__init__(f"the model cannot be assembled: {joint!r} stays open by {value:.3g} {unit} {reason}")


def assemble(system: System, *, t: float = 0.0, tolerance: float = 1e-12, iterations: int = 100) -> State:
    """Return the state nearest to the design position that satisfies all constraints at time t.

    Newton's method on phi with the smallest corrections (Masarati 2011, eq. 17), bodies turning by half a radian at the most in
    one iteration and the step halved until the residual falls; then the nearest velocities with A v = b' (weighted by M).

    Raises
    ------
    AssemblyError
        With the joint that cannot close, and by how much.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("pendulum")
    >>> bob = model.body("bob", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -1.1))
    >>> hinge = model.revolute("hinge", model.ground, bob, at=(0, 0, 0), at_driven=(0, 0, -0.1), axis=(0, 1, 0))
    >>> assemble(da.build(model)).q[:3].round(12).tolist()
    [0.0, 0.0, -1.0]
    """
    problem = make_problem(system)
    work = make_work(system, problem)
    q = system.design.q
    residual = system.constraint(t, q)
    for _ in range(iterations):
        if np.abs(residual).max(initial=0.0) <= tolerance:
            return State(t, q, _velocities(system, problem, work, t, q))
        q, residual_new = _improved(system, problem, work, t, q, residual)
        if not np.abs(residual_new).max() < np.abs(residual).max() and not np.linalg.norm(residual_new) < np.linalg.norm(
            residual
        ):
            break
        residual = residual_new
    if np.abs(residual).max(initial=0.0) <= 100.0 * tolerance:
        return State(t, q, _velocities(system, problem, work, t, q))
    row = int(np.argmax(np.abs(residual)))
    state = State(t, q, system.design.v)
    raise AssemblyError(system.layout.rows[row], abs(float(residual[row])), state, "however the bodies are moved from here")


def _improved(system: System, problem: Problem, work: Work, t: float, q: Array, residual: Array) -> tuple[Array, Array]:
    """Return q after one damped Newton correction, and its residual."""
    look(problem, work, t, q, np.zeros(system.n_velocities))
    if linearise_metric(problem, work) >= 0:
        raise SolveError("the model cannot be assembled: its constraint matrix cannot be factorised")
    d, mu = np.zeros(system.n_velocities), np.zeros(system.n_constraints)
    solve_refined(problem.plan, work.metric, work.zero, -residual, d, mu, 20, False)
    turn = np.abs(d.reshape(-1, 6)[:, 3:]).max(initial=0.0)
    step = min(1.0, LARGEST_TURN / turn) if turn > 0.0 else 1.0
    size = np.linalg.norm(residual)
    for _ in range(12):
        trial = system.advance(q, step * d)
        after = system.constraint(t, trial)
        if np.linalg.norm(after) < size:
            return trial, after
        step *= 0.5
    return q, residual


def _velocities(system: System, problem: Problem, work: Work, t: float, q: Array) -> Array:
    v = system.design.v.copy()
    look(problem, work, t, q, v)
    if linearise(problem, work) < 0:
        project_velocity(problem, work, v)
    error = np.abs(system.jacobian(t, q) @ v - system.velocity_right_side(t, q))
    if error.max(initial=0.0) > 1e-8 * max(1.0, np.abs(v).max(initial=0.0)):
        row = system.layout.rows[int(np.argmax(error))]
        raise SolveError(
            f"no velocities satisfy the constraints: {row!r} is violated by {error.max():.3g}; its motion contradicts others"
        )
    return v
