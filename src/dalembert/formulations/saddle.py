"""Accelerations and multipliers from the saddle-point system, the formulation that all solvers of the library stand on.

    [ M   A^T ] [ v'  ]   [ f   ]
    [ A    0  ] [ lam ] = [ b'' ]

Redundant constraints and singular mass matrices are welcome as long as v' is unique; of all multipliers that fit, the
smallest are returned.
"""

from __future__ import annotations

from typing import NamedTuple

from dalembert.errors import SolveError
from dalembert.kernel.vec3 import Array
from dalembert.linalg.saddle import InconsistentConstraintsError, SaddleSolver, UndeterminedUnknownsError
from dalembert.system.protocol import MechanicalSystem


class Accelerations(NamedTuple):
    """Accelerations and multipliers.

    Attributes
    ----------
    acceleration : array
        v' [m/s2], [rad/s2]; rotations about the bodies' own axes.
    multipliers : array
        lambda; the force of the constraints on the bodies is ``-A^T lambda``.
    residual : float
        Relative residual of the linear system.
    constraint_force : array
        Q^c = C - A^T lambda: what the constraints do to the system, with the non-ideal part C.
    """

    acceleration: Array
    multipliers: Array
    residual: float
    constraint_force: Array


class SaddleFormulation:
    """Solves the saddle-point system of one system at any state; the pattern is analysed once.

    Parameters
    ----------
    system : MechanicalSystem

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("pendulum", gravity=(0, 0, -10.0))
    >>> bob = model.body("bob", mass=2.0, position=(3.0, 0, 0))
    >>> hinge = model.revolute("hinge", model.ground, bob, axis=(0, 1, 0))
    >>> system = da.build(model)
    >>> solution = SaddleFormulation(system).solve(0.0, system.design.q, system.design.v)
    >>> (solution.acceleration[:3] + 0.0).round(9).tolist()
    [0.0, 0.0, -10.0]
    """

    def __init__(self, system: MechanicalSystem) -> None:
        self.system = system
        q, v = system.design.q, system.design.v
        self._solver = SaddleSolver(system.mass(0.0, q), system.jacobian(0.0, q, v))

    @property
    def redundant(self) -> bool:
        """Whether constraint rows depended on each other at the last state."""
        return self._solver.redundant

    def solve(self, t: float, q: Array, v: Array) -> Accelerations:
        """Return v' and lambda at a state.

        Raises
        ------
        SolveError
            If v' is not unique or the constraints contradict each other, with the bodies or joints that take part.
        """
        system = self.system
        try:
            self._solver.factorize(system.mass(t, q).data, system.jacobian(t, q, v).data)
            solution = self._solver.solve(system.force(t, q, v), system.acceleration_right_side(t, q, v))
        except UndeterminedUnknownsError as error:
            raise SolveError(_undetermined(system, error)) from error
        except InconsistentConstraintsError as error:
            raise SolveError(_contradiction(system, error)) from error
        pull = system.jacobian(t, q, v).T @ solution.lam
        return Accelerations(solution.x, solution.lam, solution.residual, system.non_ideal_force(t, q, v) - pull)


def _undetermined(system: MechanicalSystem, error: UndeterminedUnknownsError) -> str:
    names = system.velocity_names
    free = [names[k] for k in error.columns]
    return f"the acceleration is not unique: {_some(free)} can move without inertia and without violating a constraint"


def _contradiction(system: MechanicalSystem, error: InconsistentConstraintsError) -> str:
    rows = [f"'{system.row_names[row]}'" for row in error.rows]
    return f"the constraints {_some(rows)} depend on each other and contradict each other by {error.mismatch:.3g}"


def _some(words: list[str], most: int = 8) -> str:
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")
