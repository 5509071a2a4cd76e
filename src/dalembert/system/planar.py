"""Planar models: which rows of a joint matter in the plane, and the rows that keep each body in it.

A body of a planar model is tied to its plane by three rows of the lock: no way along the normal, no turn out of the plane. So
the same elements, analyses and integrators serve planar and spatial models alike.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from dalembert.elements import nonholonomic
from dalembert.elements.joint import Joint
from dalembert.elements.lock import ROWS
from dalembert.errors import ModelError
from dalembert.kernel.vec3 import Array

PLANE_ROWS = ("x", "Ry", "Rz")
"""Of a frame whose x axis is the normal: what a body in a plane does not do."""

_ASKEW = 1e-9


def plane_name(body: str) -> str:
    """Return how the plane of a body is called; no user can call anything so."""
    return f"plane({body})"


def drawn_in_plane(joint: Joint, normal: Array) -> Joint:
    """Return a joint whose axis, if it has none and is one to turn about, is the normal of the plane."""
    if joint.kind.perpendicular or joint.kind.screw:
        raise ModelError(joint.element, f"a {joint.type} joint makes no sense in a plane", "leave it out, or planar")
    free = joint.axis is None and joint.orientation is None
    return replace(joint, axis=normal) if free and "angle" in joint.kind.coordinates else joint


def rows_in_plane(joint: Joint, R2: Rotation, normal: Array) -> tuple[str, ...]:
    """Return the rows of the lock that move in the plane: two of x, y, z, and the rotation about the normal.

    Examples
    --------
    >>> hinge = Joint(name="hinge", type="revolute", main="ground", driven="arm")
    >>> rows_in_plane(hinge, Rotation.identity(), np.array([0.0, 0.0, 1.0]))
    ('x', 'y', 'Rz')
    """
    along = np.abs(R2.as_matrix().T @ normal)
    i = int(np.argmax(along))
    if along[i] < 1.0 - _ASKEW:
        raise ModelError(joint.element, "its frame is askew to the plane", "give an axis in the plane or normal to it")
    return tuple(row for k, row in enumerate(ROWS) if (k != i if k < 3 else k - 3 == i))


def contact_rows_in_plane(joint: Joint, R2: Rotation, R1: Rotation, normal: Array) -> tuple[str, ...]:
    """Return the rows of a contact whose directions lie in the plane."""
    F1, F2 = R1.as_matrix(), R2.as_matrix()
    kind = joint.kind.contact
    if kind == nonholonomic.KNIFE_EDGE:
        directions = {"sideways": F1[:, 0]}
    elif kind == nonholonomic.PFAFFIAN:
        coefficients = np.asarray(joint.coefficients, float)
        linear, angular = F1 @ coefficients[:3], F1 @ coefficients[3:]
        in_plane = np.abs(np.cross(angular, normal)).max() < _ASKEW  # turns about the normal only
        directions = {"sideways": linear if in_plane else normal}
    else:
        k, t = F2[:, 0], F2[:, 1] if kind == nonholonomic.SPHERE else np.cross(F1[:, 0], F2[:, 0])
        directions = {"normal": k, "rolling": t, "sideways": np.cross(k, t)}
        axle = F1[:, 0] if kind == nonholonomic.WHEEL else normal
        if abs(axle @ normal) < 1.0 - _ASKEW or abs(k @ normal) > _ASKEW:
            raise ModelError(joint.element, "it rolls out of the plane", "take a knife_edge for a wheel seen from above")
    rows = tuple(row for row, g in directions.items() if abs(g @ normal) < _ASKEW)
    if not rows:
        raise ModelError(joint.element, "its direction leads out of the plane", "give an axis in the plane")
    return rows
