"""Checks of what a user wrote; each error names the element and the remedy."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from dalembert.errors import ModelError
from dalembert.kernel.vec3 import Array
from dalembert.rotation.quaternion import to_rotation

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ +-]*")

GROUND = "ground"


def element_name(kind: str, name: str) -> str:
    """Return how errors call an element, after a check that its name is usable.

    Examples
    --------
    >>> element_name("body", "bob")
    "body 'bob'"
    """
    element = f"{kind} {name!r}"
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ModelError(element, "the name is not usable", "use letters, digits, '_', '-', '+' and spaces")
    if name == GROUND:
        raise ModelError(element, "'ground' is the name of the world itself", "choose another name")
    return element


def number(element: str, label: str, value: float, *, minimum: float | None = None) -> float:
    """Return a finite number, not below a minimum."""
    try:
        x = float(value)
    except (TypeError, ValueError):
        raise ModelError(element, f"{label} is not a number ({value!r})", "give one number in SI units") from None
    if not np.isfinite(x):
        raise ModelError(element, f"{label} is not finite ({x})", "give a finite number in SI units")
    if minimum is not None and x < minimum:
        raise ModelError(
            element,
            f"{label} is negative ({x:g})" if minimum == 0.0 else f"{label} is below {minimum:g} ({x:g})",
            f"give {minimum:g} or more",
        )
    return x


def vector(element: str, label: str, value: ArrayLike, size: int = 3) -> Array:
    """Return a finite vector of the given size."""
    try:
        x = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(element, f"{label} is not a list of numbers ({value!r})", f"give {size} numbers in SI units") from None
    if x.shape != (size,):
        raise ModelError(element, f"{label} has shape {x.shape}", f"give {size} numbers in SI units")
    if not np.all(np.isfinite(x)):
        raise ModelError(element, f"{label} is not finite ({x.tolist()})", f"give {size} finite numbers in SI units")
    return x


def unit_axis(element: str, label: str, value: ArrayLike) -> Array:
    """Return a direction scaled to length one; a vector of length zero has none."""
    x = vector(element, label, value)
    length = float(np.linalg.norm(x))
    if length == 0.0:
        raise ModelError(element, f"{label} has length zero", "give a vector along the axis, of any length but zero")
    return x / length


def rotation(element: str, label: str, value: Rotation | ArrayLike | None) -> Rotation:
    """Return an orientation; None is no rotation, a 3x3 matrix must be a rotation matrix."""
    if value is None:
        return Rotation.identity()
    if isinstance(value, Rotation):
        return value
    matrix = np.array(value, dtype=float)
    if matrix.shape != (3, 3):
        raise ModelError(
            element,
            f"{label} is neither a SciPy Rotation nor a 3x3 matrix",
            "give a Rotation, a rotation matrix, or name the argument orientation_wxyz for a quaternion",
        )
    if not np.allclose(matrix.T @ matrix, np.eye(3), atol=1e-9) or np.linalg.det(matrix) < 0.0:
        raise ModelError(element, f"{label} is not a rotation matrix", "give three perpendicular unit columns, right-handed")
    return Rotation.from_matrix(matrix)


def rotation_wxyz(element: str, label: str, value: ArrayLike) -> Rotation:
    """Return the orientation of a quaternion [w, x, y, z] of any length but zero."""
    rho = vector(element, label, value, 4)
    length = float(np.linalg.norm(rho))
    if length == 0.0:
        raise ModelError(element, f"{label} is a quaternion of length zero", "give [1, 0, 0, 0] for no rotation")
    return to_rotation(rho / length)


def plane(element: str, value: bool | ArrayLike) -> Array | None:
    """Return the unit normal of a plane: True is the x y plane, False none.

    Examples
    --------
    >>> plane("model 'm'", True).tolist(), plane("model 'm'", False)
    ([0.0, 0.0, 1.0], None)
    """
    if isinstance(value, bool | np.bool_):
        return np.array([0.0, 0.0, 1.0]) if value else None
    return unit_axis(element, "planar", value)
