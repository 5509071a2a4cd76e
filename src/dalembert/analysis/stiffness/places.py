"""Points and axes by what a user calls them: names, coordinates, rotations."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from dalembert.analysis.stiffness.force_field import ForceField, body_index
from dalembert.errors import ModelError, nearest
from dalembert.kernel.vec3 import Array
from dalembert.rotation.quaternion import to_rotation
from dalembert.system.model import Model
from dalembert.system.state import State
from dalembert.system.system import System

Point: TypeAlias = str | ArrayLike
Axes: TypeAlias = str | Rotation | ArrayLike


class Places:
    """Points and axes by what a user calls them, for a field of his own: places are where they are now."""

    def __init__(self, field: ForceField) -> None:
        self.field = field

    def fixed(self, point: Point) -> Array:
        """Return a fixed place in the world."""
        if isinstance(point, str):
            return np.zeros(3) if point == "origin" else self._named(point)[0]
        return _three_numbers(point)

    def material(self, point: Point) -> Array:
        """Return where a material point of each body is now, shape (n, 3)."""
        return np.broadcast_to(self.fixed(point), self.field.position.shape)

    def axes(self, axes: Axes) -> Array:
        """Return the axes as columns."""
        if isinstance(axes, Rotation):
            return np.asarray(axes.as_matrix())
        if not isinstance(axes, str):
            return _right_handed(axes)
        if axes in ("world", "body"):
            return np.eye(3) if axes == "world" else self.field.rotation[0]
        return self._named(axes)[1]

    def _named(self, name: str) -> tuple[Array, Array]:
        raise ModelError(f"point {name!r}", "a field of its own has no named points", "give coordinates [m]")


class PlacesOfModel(Places):
    """The same for a model: names, and places in the design position that move with a body."""

    def __init__(self, model: Model | System, system: System, field: ForceField, at: State) -> None:
        super().__init__(field)
        self.points = model.points if isinstance(model, Model) else {}
        self.system, self.pose = system, at

    def material(self, point: Point) -> Array:
        """Return where a material point of each body is now; it is named or given in the design position."""
        if isinstance(point, str) and point in self.system.layout.frames:
            return super().material(point)
        drawn = self.points[point] if isinstance(point, str) and point in self.points else self.fixed(point)
        indices = [body_index(self.system, name) for name in self.field.bodies]
        design = self.system.design.q[: 7 * self.system.n_bodies].reshape(-1, 7)[indices]
        moved = [
            x + R @ to_rotation(one[3:]).inv().apply(drawn - one[:3])
            for x, R, one in zip(self.field.position, self.field.rotation, design, strict=True)
        ]
        return np.array(moved)

    def _named(self, name: str) -> tuple[Array, Array]:
        if name in self.system.layout.frames:
            return self.system.frame(name, self.pose.q)
        if name in self.points:
            return self.points[name], np.eye(3)
        known = ["origin", "center", "world", "body", *self.points, *self.system.layout.frames]
        raise ModelError(f"point {name!r}", "there is no such point or frame", nearest(name, known))


def _right_handed(axes: ArrayLike) -> Array:
    try:
        E = np.asarray(axes, float)
    except (TypeError, ValueError):
        E = np.zeros(0)
    if E.shape != (3, 3) or not np.abs(E.T @ E - np.eye(3)).max() < 1e-9 or np.linalg.det(E) < 0.0:
        raise ModelError("axes", "they are not three right-handed unit vectors at right angles", "give a rotation, or a name")
    return E


def _three_numbers(point: ArrayLike) -> Array:
    try:
        place = np.array(point, dtype=float)
    except (TypeError, ValueError):
        place = np.zeros(0)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise ModelError(f"point {point!r}", "it is not a place", "give a name or three coordinates [m]")
    return place
