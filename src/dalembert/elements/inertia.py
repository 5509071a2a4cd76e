"""Inertia tensors [kg m2] of common shapes about their centre of mass, and moving them to other axes and points."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from dalembert.elements import checks
from dalembert.errors import ModelError
from dalembert.kernel.vec3 import Array

_AXES = {"x": 0, "y": 1, "z": 2}


def point() -> Array:
    """Return the inertia of a point mass: zero.

    Examples
    --------
    >>> point().tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    return np.zeros((3, 3))


def _about_axis(along: float, across: float, axis: str) -> Array:
    if axis not in _AXES:
        raise ModelError("inertia", f"unknown axis {axis!r}", "use 'x', 'y' or 'z'")
    moments = np.full(3, across)
    moments[_AXES[axis]] = along
    return np.diag(moments)


def rod(mass: float, length: float, *, axis: str = "x") -> Array:
    """Return the inertia of a slender rod of `mass` [kg] and `length` [m] along an axis of the body.

    Examples
    --------
    >>> rod(12.0, 1.0).diagonal().tolist()
    [0.0, 1.0, 1.0]
    """
    return _about_axis(0.0, mass * length**2 / 12.0, axis)


def box(mass: float, size: ArrayLike) -> Array:
    """Return the inertia of a box of `mass` [kg] with edges `size` (x, y, z) [m].

    Examples
    --------
    >>> box(12.0, (1.0, 2.0, 3.0)).diagonal().tolist()
    [13.0, 10.0, 5.0]
    """
    x, y, z = checks.vector("inertia of a box", "size", size)
    return np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) * mass / 12.0


def cylinder(mass: float, radius: float, length: float, *, axis: str = "z") -> Array:
    """Return the inertia of a solid cylinder of `mass` [kg], `radius` and `length` [m] about an axis of the body.

    Examples
    --------
    >>> cylinder(2.0, 1.0, 0.0).diagonal().tolist()
    [0.5, 0.5, 1.0]
    """
    return _about_axis(mass * radius**2 / 2.0, mass * (3.0 * radius**2 + length**2) / 12.0, axis)


def sphere(mass: float, radius: float) -> Array:
    """Return the inertia of a solid sphere of `mass` [kg] and `radius` [m].

    Examples
    --------
    >>> sphere(5.0, 1.0).diagonal().tolist()
    [2.0, 2.0, 2.0]
    """
    return 0.4 * mass * radius**2 * np.eye(3)


def rotated(inertia: ArrayLike, axes: Rotation) -> Array:
    """Return an inertia in the body's axes that was given in other axes; `axes` turns those into the body's.

    Examples
    --------
    >>> quarter = Rotation.from_euler("z", 90, degrees=True)
    >>> rotated(rod(12.0, 1.0, axis="x"), quarter).diagonal().round(12).tolist()
    [1.0, 0.0, 1.0]
    """
    R = axes.as_matrix()
    return np.asarray(R @ tensor("inertia", inertia) @ R.T)


def moved(inertia: ArrayLike, mass: float, offset: ArrayLike) -> Array:
    """Return an inertia about the centre of mass moved to a point at `offset` [m] from it (Steiner, Huygens).

    Examples
    --------
    >>> moved(point(), 2.0, (0.0, 0.0, 3.0)).diagonal().tolist()
    [18.0, 18.0, 0.0]
    """
    return tensor("inertia", inertia) + mass * _parallel_axis(offset)


def about_centre(inertia: ArrayLike, mass: float, offset: ArrayLike) -> Array:
    """Return the inertia about the centre of mass, given about a point at `offset` [m] from it.

    Examples
    --------
    >>> about_centre([4.0, 4.0, 0.0], 1.0, (0.0, 0.0, 1.0)).diagonal().tolist()
    [3.0, 3.0, 0.0]
    """
    return tensor("inertia", inertia) - mass * _parallel_axis(offset)


def _parallel_axis(offset: ArrayLike) -> Array:
    r = checks.vector("inertia", "offset", offset)
    return np.asarray(r @ r * np.eye(3) - np.outer(r, r))


class MassProperties(NamedTuple):
    """Mass [kg], centre of mass [m] and inertia about it [kg m2] of several parts welded together."""

    mass: float
    centre: Array
    inertia: Array


def welded(parts: Iterable[tuple[float, ArrayLike, ArrayLike]]) -> MassProperties:
    """Return the mass properties of parts ``(mass, position, inertia about its centre)`` in common axes.

    Examples
    --------
    >>> both = welded([(1.0, (0, 0, 0), point()), (1.0, (2, 0, 0), point())])
    >>> both.centre.tolist(), both.inertia.diagonal().tolist()
    ([1.0, 0.0, 0.0], [0.0, 2.0, 2.0])
    """
    known = [(float(m), checks.vector("welded part", "position", p), tensor("welded part", i)) for m, p, i in parts]
    mass = sum(m for m, _, _ in known)
    if not mass > 0.0:
        raise ModelError("welded parts", "their mass is zero, so they have no centre", "give at least one part a mass")
    centre = sum((m * p for m, p, _ in known), np.zeros(3)) / mass
    return MassProperties(mass, centre, sum((moved(i, m, p - centre) for m, p, i in known), np.zeros((3, 3))))


def tensor(element: str, value: ArrayLike) -> Array:
    """Return a 3x3 inertia tensor from [Ixx, Iyy, Izz], [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] or a symmetric 3x3 matrix.

    The last three are entries of the tensor, that is minus the products of inertia. A tensor that no body can have is refused.

    Examples
    --------
    >>> tensor("body 'b'", [1.0, 1.0, 3.0])
    Traceback (most recent call last):
        ...
    dalembert.errors.ModelError: body 'b': no body can have this inertia: the principal moments 1, 1, 3 break the triangle
    inequality; each must not exceed the sum of the other two
    """
    given = np.array(value, dtype=float)
    if given.shape == (3,):
        given = np.diag(given)
    elif given.shape == (6,):
        xx, yy, zz, xy, xz, yz = given
        given = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if given.shape != (3, 3):
        raise ModelError(
            element, f"inertia has shape {given.shape}", "give [Ixx, Iyy, Izz], [.., Ixy, Ixz, Iyz] or a 3x3 tensor"
        )
    _check_tensor(element, given)
    return given


def _check_tensor(element: str, inertia: Array) -> None:
    if not np.all(np.isfinite(inertia)):
        raise ModelError(element, "inertia is not finite", "give finite numbers in kg m2")
    largest = float(np.abs(inertia).max())
    if not np.allclose(inertia, inertia.T, rtol=0.0, atol=1e-12 * largest):
        raise ModelError(element, "the inertia tensor is not symmetric", "give Ixy = Iyx, Ixz = Izx, Iyz = Izy")
    a, b, c = (float(m) for m in np.linalg.eigvalsh(inertia))
    moments = f"the principal moments {a:.6g}, {b:.6g}, {c:.6g}"
    if a < -1e-9 * largest:
        raise ModelError(element, f"no body can have this inertia: {moments} are not all positive or zero", "check the signs")
    if a + b < c * (1.0 - 1e-9):
        problem = f"no body can have this inertia: {moments} break the triangle inequality"
        raise ModelError(element, problem, "each must not exceed the sum of the other two")
