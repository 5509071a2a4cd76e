"""Which reactions are unique at a position: of every row, joint and single component (Wojtyra and Fraczek 2013, section 3.2).

Multipliers n with A^T n = 0 do nothing to the motion, so that any of them may be added to those that a solver found. What they
change is not unique: a row in which some n differs from zero, a joint whose wrench some n changes. Random n, a dozen of them,
miss nothing (`linalg.rank`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dalembert.kernel.vec3 import Array
from dalembert.linalg.rank import MEMBER, Dependencies, dependencies
from dalembert.system.protocol import MechanicalSystem
from dalembert.system.system import System

Flags = NDArray[np.bool_]


class Uniqueness(NamedTuple):
    """What is unique.

    Attributes
    ----------
    row : array of bool, shape (constraints,)
        Multipliers.
    force, torque : array of bool, shape (joints, 3)
        Components of the wrench on the driven body, in the axes in which it is shown.
    """

    row: Flags
    force: Flags
    torque: Flags

    @property
    def joint(self) -> Flags:
        """Which joints have a unique wrench."""
        return np.asarray(self.force.all(axis=1) & self.torque.all(axis=1))


def uniqueness(system: MechanicalSystem, t: float, q: Array, found: Dependencies | None = None) -> Uniqueness:
    """Return which reactions of a system are unique at a position; one without joints has multipliers only.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("door")
    >>> leaf = model.body("leaf", mass=1.0, inertia=(1, 1, 1))
    >>> for k in (1, 2):
    ...     _ = model.revolute(f"hinge {k}", model.ground, leaf, at=(0, 0, k), axis=(0, 0, 1))
    >>> system = da.build(model)
    >>> uniqueness(system, 0.0, system.design.q).joint.tolist()
    [False, False]
    """
    found = dependencies(system.jacobian(t, q), units=system.rotational) if found is None else found
    result = _all_unique(system)
    null = found.sample()
    if not null.size:
        return result
    result.row[:] = unique_rows(found)
    if not isinstance(system, System):
        return result
    J = np.abs(system.jacobian_terms(t, q))
    extent = _extent(system, q)
    for n in null.T:
        force, torque = system.reactions(t, q, n)
        size = np.abs(n)[system.layout.term_row]  # what rounding counts with
        largest_force = float((size * J[:, :3].max(axis=1)).max())
        largest_torque = float((size * J[:, 3:6].max(axis=1)).max()) + extent * largest_force
        result.force[:] &= np.abs(force) <= MEMBER * largest_force
        result.torque[:] &= np.abs(torque) <= MEMBER * largest_torque
    return result


def unique_rows(found: Dependencies) -> Flags:
    """Return which rows of a constraint matrix have unique multipliers.

    Examples
    --------
    >>> unique_rows(dependencies(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]]))).tolist()
    [False, False, True]
    """
    null = found.sample()
    if not null.size:
        return np.ones(found.row_scale.size, bool)
    scaled = np.abs(null / found.row_scale[:, None]).max(axis=1)
    return np.asarray(scaled <= MEMBER * scaled.max())


def spread(count: int, most: int = 9) -> list[int]:
    """Return the numbers of some of the positions of a motion, spread evenly.

    Examples
    --------
    >>> spread(100, 4), spread(2)
    ([0, 33, 66, 99], [0, 1])
    """
    return np.unique(np.linspace(0, count - 1, most).round().astype(int)).tolist() if count else []


def uniqueness_along(system: System, times: Array, positions: Array) -> Uniqueness:
    """Return what is unique at all of some positions of a motion."""
    at_each = [uniqueness(system, float(times[k]), positions[k]) for k in spread(len(times))]
    if not at_each:
        return _all_unique(system)
    return Uniqueness(*(np.all(flags, axis=0) for flags in zip(*at_each, strict=True)))


def _all_unique(system: MechanicalSystem) -> Uniqueness:
    joints = len(system.layout.joint_frames) if isinstance(system, System) else 0
    return Uniqueness(np.ones(system.n_constraints, bool), np.ones((joints, 3), bool), np.ones((joints, 3), bool))


def _extent(system: System, q: Array) -> float:
    """Return the largest distance of a body from the origin [m]."""
    return float(np.abs(q[: 7 * system.n_bodies].reshape(-1, 7)[:, :3]).max(initial=0.0))
