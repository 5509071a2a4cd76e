"""Redundancy along a motion: where the rank of the constraints falls, and which joints that concerns.

At a singular position one more row depends on the others: a freedom appears for an instant, the mechanism may branch, and
reactions that are unique elsewhere are not. With the largest rank r that A has along the motion, its r-th singular value

    sigma_r(t)    of A(q(t)), rows and columns scaled, relative to the largest

goes down to zero there, like |t - t_0| as a rule, so that samples hardly ever meet it. Every local minimum of it is therefore
searched between the samples, on cubic curves through positions and velocities; it is singular if sigma_r there is small beside
its median. The left singular vector names the joints.

Large systems have no sigma_r here; the rank is then that of the samples alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from scipy.optimize import minimize_scalar

from dalembert.analysis.results import Run
from dalembert.analysis.uniqueness import uniqueness
from dalembert.errors import ModelError
from dalembert.integrators.common import joints_of_rows
from dalembert.kernel.vec3 import Array
from dalembert.linalg.rank import MOST_DENSE_ROWS, Dependencies, Weakest, dependencies, weakest
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.system import System

SINGULAR = 1e-3
"""Of the median of sigma_r: below, a minimum is a singular position."""


class Singularity(NamedTuple):
    """A singular position of a motion.

    Attributes
    ----------
    time : float
        [s].
    joints : str
        Those whose constraints depend on each other there.
    value : float
        sigma_r that is left.
    """

    time: float
    joints: str
    value: float

    def __str__(self) -> str:
        what = f"the constraints of {self.joints} lose one more of their rank"
        return f"t = {self.time:.6g} s: singular position, {what} (singular value {self.value:.1e})"


class ReactionsAlong(xr.Dataset):  # type: ignore[no-untyped-call]
    """Redundancy and uniqueness at the times of a run: constraint_rank, sigma, joint_unique, force_unique, torque_unique."""

    __slots__ = ()

    @property
    def singular(self) -> list[Singularity]:
        """The singular positions, in their order."""
        return [Singularity(*one) for one in self.attrs["singularities"]]


def reactions_along(model: Model | System, run: Run) -> ReactionsAlong:
    """Return the redundancy of a model along one of its runs, with the singular positions that it passed.

    Parameters
    ----------
    model : Model or System
    run : Run
        Of `simulate`, with outputs so near to each other that the motion between is smooth.

    Examples
    --------
    A slider-crank whose crank is as long as its rod: at 90 degrees the slider is above the shaft, and may stay there.

    >>> import dalembert as da
    >>> model = da.Model("isosceles", planar=True)
    >>> moving = {"velocity": (0, 0.5, 0), "angular_velocity": (0, 0, 1)}
    >>> crank = model.body("crank", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0), **moving)
    >>> rod = model.body("rod", mass=1e-6, position=(1.5, 0, 0))
    >>> for name, main, driven, x in (("shaft", "ground", crank, 0), ("pin", crank, rod, 1)):
    ...     _ = model.revolute(name, main, driven, at=(x, 0, 0))
    >>> guide = model.point_on_line("guide", "ground", rod, at=(2, 0, 0), axis=(1, 0, 0))
    >>> along = reactions_along(model, da.simulate(model, duration=2.0, output_step=0.05))
    >>> [(round(one.time, 3), one.joints) for one in along.singular]
    [(1.571, "'shaft', 'pin', 'guide'")]
    """
    system = model if isinstance(model, System) else build(model)
    if list(run.body.values) != list(system.layout.bodies):
        raise ModelError("reactions_along", "the run has other bodies than the model", "give a run of this model")
    path = _Path(system, run)
    found = [dependencies(path.jacobian(t), units=system.rotational) for t in path.times]
    flags = [uniqueness(system, float(t), path.q(t), one) for t, one in zip(path.times, found, strict=True)]
    rank, planes = max((one.rank for one in found), default=0), system.layout.plane_rows.size
    sigma = np.array([path.sigma(t, rank).value for t in path.times]) if path.dense else _smallest(found)
    singular = path.singularities(sigma, rank) if path.dense else []
    when = ("time", "joint", "axis")
    variables: dict[str, Any] = {
        "constraint_rank": ("time", np.array([one.rank - planes for one in found])),
        "sigma": ("time", sigma, {"meaning": "r-th singular value, relative to the largest"}),
        "joint_unique": (when[:2], np.array([one.joint for one in flags])),
        "force_unique": (when, np.array([one.force for one in flags])),
        "torque_unique": (when, np.array([one.torque for one in flags])),
    }
    attributes = {"title": system.name, "largest_rank": rank - planes, "singularities": [tuple(one) for one in singular]}
    coordinates = {"time": run.time.values, "joint": list(system.layout.joint_frames), "axis": ["x", "y", "z"]}
    return ReactionsAlong(variables, coords=coordinates, attrs=attributes)


def _smallest(found: list[Dependencies]) -> Array:
    return np.array([one.smallest for one in found])


class _Path:
    """The positions of a run and, by cubic curves, between its outputs."""

    def __init__(self, system: System, run: Run) -> None:
        self.system = system
        self.times = run.time.values
        self.dense = system.n_constraints <= MOST_DENSE_ROWS
        rates = [run.velocity.values, run.angular_velocity.values]
        self._v = np.concatenate(rates, axis=2).reshape(self.times.size, -1)
        poses = np.concatenate([run.position.values, run.orientation.values], axis=2).reshape(self.times.size, -1)
        tail = np.zeros((self.times.size, system.n_positions - poses.shape[1]))
        self._q = np.hstack([poses, tail])

    def q(self, t: float) -> Array:
        """Return the position at a time: `advance` from the output before it, by a cubic of both velocities."""
        k = int(np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, self.times.size - 1))
        if t == self.times[k] or k == self.times.size - 1:
            return np.array(self._q[k])
        h = self.times[k + 1] - self.times[k]
        s = (t - self.times[k]) / h
        step = self._displacement(k)
        a, b = h * self._v[k], h * self._v[k + 1]
        d = s * a + s**2 * (3.0 * step - 2.0 * a - b) + s**3 * (a + b - 2.0 * step)
        return self.system.advance(self._q[k], d)

    def _displacement(self, k: int) -> Array:
        """Return the displacement between two outputs, rotations as rotation vectors."""
        from scipy.spatial.transform import Rotation

        n = self.system.n_bodies
        one, two = (self._q[j, : 7 * n].reshape(n, 7) for j in (k, k + 1))
        turns = [Rotation.from_quat(np.roll(x[:, 3:], -1, axis=1)) for x in (one, two)]
        return np.hstack([two[:, :3] - one[:, :3], (turns[0].inv() * turns[1]).as_rotvec()]).ravel()

    def jacobian(self, t: float) -> Any:
        """Return A at a time."""
        return self.system.jacobian(float(t), self.q(t))

    def sigma(self, t: float, rank: int) -> Weakest:
        """Return the r-th singular value at a time, with the rows that take part."""
        return weakest(self.jacobian(t), rank, units=self.system.rotational)

    def singularities(self, sigma: Array, rank: int) -> list[Singularity]:
        """Return the minima of sigma_r that are small beside its median."""
        found, usual = [], float(np.median(sigma)) if sigma.size else 0.0
        for k in range(sigma.size):
            left, right = max(k - 1, 0), min(k + 1, sigma.size - 1)
            if sigma[k] > min(sigma[left], sigma[right]) or (k > 0 and sigma[k] == sigma[left]):
                continue
            best = self._minimum(float(self.times[left]), float(self.times[right]), float(self.times[k]), rank)
            value, part = self.sigma(best, rank)
            if value <= SINGULAR * usual:
                found.append(Singularity(best, joints_of_rows(self.system, part), value))
        return found

    def _minimum(self, first: float, last: float, start: float, rank: int) -> float:
        """Return the time of the smallest sigma_r between two times."""
        result = minimize_scalar(
            lambda t: self.sigma(t, rank).value, bounds=(first, last), method="bounded", options={"xatol": 1e-12 + 1e-10 * last}
        )
        return float(result.x) if result.fun < self.sigma(start, rank).value else start
