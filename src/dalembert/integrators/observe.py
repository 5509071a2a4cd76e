"""What is derived from the states of a run: energies, joint coordinates, reactions, violations of the constraints."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.integrators.common import Samples
from dalembert.integrators.problem import Problem, Work, jacobian_times, jacobian_values, look, make_problem, make_work
from dalembert.kernel.compile import compiled
from dalembert.kernel.vec3 import Array
from dalembert.linalg.pattern import Indices
from dalembert.system import assembly
from dalembert.system.system import System


class Observations(NamedTuple):
    """One row for each sample.

    Attributes
    ----------
    energies : array
        In the order of `assembly.ENERGIES` [J].
    coordinates : array
        Of each record of the family `coordinate` [rad], [m].
    force, torque : array, shape (rows, joints, 3)
        On the driven body, in F2 [N], [N m].
    violation : array, shape (rows, 3)
        Largest residual of positions, velocities, accelerations.
    """

    energies: Array
    coordinates: Array
    force: Array
    torque: Array
    violation: Array


@compiled
def _observe(
    problem: Problem, work: Work, places: Any, joint_of_term: Indices, times: Array, samples: Samples, out: Observations
) -> None:
    """Fill the observations, row by row."""
    tables, now = problem.tables, work.now
    for row in range(times.size):
        q, v, a, lam = samples.q[row], samples.v[row], samples.a[row], samples.lam[row]
        last = q[7 * (v.size // 6) :]
        look(problem, work, times[row], q, v)
        assembly.energies(tables, now, last, out.energies[row])
        assembly.coordinates(tables, now.poses, last, out.coordinates[row])
        jacobian_values(problem, work)
        force, torque = out.force[row], out.torque[row]
        assembly.reactions(tables, places, joint_of_term, problem.term_row, now.poses, work.J, lam, force, torque)
        violation = out.violation[row]
        for level in range(3):
            violation[level] = 0.0
        assembly.right_sides(tables, now, work.b1, work.b2)
        jacobian_times(problem, work, v, work.phi)
        jacobian_times(problem, work, a, work.mu)
        for k in range(work.phi.size):
            violation[1] = max(violation[1], abs(work.phi[k] - work.b1[k]))
            violation[2] = max(violation[2], abs(work.mu[k] - work.b2[k]))
        assembly.constraint(tables, now, last, work.phi)
        for k in range(work.phi.size):
            violation[0] = max(violation[0], abs(work.phi[k]))


class Observer:
    """Observes the samples of a run as they come in; each row once.

    Parameters
    ----------
    system : System
    rows : int
        Of the samples in all.
    """

    def __init__(self, system: System, rows: int) -> None:
        self._places, self._joint_of_term = system.reaction_places, system.joint_of_term
        self._problem = make_problem(system)
        self._work = make_work(system, self._problem)
        joints = self._places.size
        shapes = ((rows, len(assembly.ENERGIES)), (rows, system.tables.coordinates.size), *2 * ((rows, joints, 3),), (rows, 3))
        self._out = Observations(*(np.zeros(shape) for shape in shapes))
        self._seen = 0

    def observe(self, times: Array, samples: Samples, first: int, last: int) -> Observations:
        """Return what follows from the rows `first` to `last` of the samples."""
        new = slice(max(first, self._seen), last)
        if new.start < new.stop:
            rows, out = Samples(*(array[new] for array in samples)), Observations(*(array[new] for array in self._out))
            _observe(self._problem, self._work, self._places, self._joint_of_term, times[new], rows, out)
            self._seen = last
        return Observations(*(array[first:last] for array in self._out))
