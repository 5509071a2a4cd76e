"""Joints as a user writes them. A joint type is a line of data: which rows of the lock it keeps (Peng et al. 2024, Table 1).

A joint ties a *driven* body to a *main* body (the paper's B1 and B2): its frame F2 is fixed in the main body, F1 in the driven
one. Both are drawn in the design position, in global coordinates; the x axis is the joint's axis. Its reaction is the wrench on
the driven body, in F2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from dalembert.elements import checks, nonholonomic
from dalembert.elements.lock import ROWS
from dalembert.errors import ModelError, nearest
from dalembert.kernel.vec3 import Array, cross, load, norm, scale

Place: TypeAlias = ArrayLike | str
"""Global coordinates in the design position [m], or the name of a point of the model."""


@dataclass(frozen=True)
class JointType:
    """What makes a joint type.

    Parameters
    ----------
    summary : str
        What it does, in a user's words.
    rows : tuple of str
        The active rows of the lock, in the basis of F2: the suppressed relative freedoms.
    coordinates : tuple of str
        The free coordinates that have a name: ``"angle"`` about x, ``"distance"`` along x.
    perpendicular, rod, screw : bool
        Further rows that are not masks of the lock.
    contact : int, optional
        Kind of a contact that restricts velocities (nonholonomic.py), instead of rows of the lock.
    """

    summary: str
    rows: tuple[str, ...] = ()
    coordinates: tuple[str, ...] = ()
    perpendicular: bool = False
    rod: bool = False
    screw: bool = False
    contact: int | None = None


def _rows(text: str) -> tuple[str, ...]:
    return tuple(text.split())


JOINT_TYPES: dict[str, JointType] = {
    "fixed": JointType("no relative motion", _rows("x y z Rx Ry Rz")),
    "revolute": JointType("turns about x", _rows("x y z Ry Rz"), ("angle",)),
    "prismatic": JointType("slides along x", _rows("y z Rx Ry Rz"), ("distance",)),
    "cylindrical": JointType("turns about x and slides along it", _rows("y z Ry Rz"), ("angle", "distance")),
    "screw": JointType("turns about x and advances by `lead` a turn", _rows("y z Ry Rz"), ("angle", "distance"), screw=True),
    "spherical": JointType("turns about its point", _rows("x y z")),
    "universal": JointType("Hooke: the two x axes stay perpendicular", _rows("x y z"), perpendicular=True),
    "universal_torsion_locked": JointType("bends about y and z, no torsion about x: homokinetic", _rows("x y z Rx")),
    "planar": JointType("slides in the plane normal to x and turns about x", _rows("x Ry Rz")),
    "parallel": JointType("the x axes stay parallel", _rows("Ry Rz"), ("angle",)),
    "orthogonal": JointType("no relative rotation about x", _rows("Rx")),
    "same_orientation": JointType("no relative rotation", _rows("Rx Ry Rz")),
    "point_on_plane": JointType("the point stays in the plane normal to x", _rows("x")),
    "point_on_line": JointType("the point stays on the x axis", _rows("y z"), ("distance",)),
    "distance": JointType("a massless rod between two points", rod=True),
    "lock": JointType("any rows of the lock, named in `rows`"),
    "knife_edge": JointType("its point does not move along x of the driven body: blade, skate, ideal wheel", contact=0),
    "rolling_wheel": JointType("rolls about x of the driven body on the plane normal to x of the main one", contact=1),
    "pfaffian": JointType("a linear relation between the relative velocities, in the axes of the driven body", contact=3),
    "rolling_sphere": JointType("rolls on the plane normal to x of the main body", contact=2),
}  # fmt: skip

ALIASES: dict[str, str] = {
    "fix": "fixed", "weld": "fixed", "hinge": "revolute", "slider": "prismatic", "coaxial": "cylindrical", "ball": "spherical",
    "skate": "knife_edge", "rolling_disc": "rolling_wheel",
    "hooke": "universal", "plane": "planar", "distance_along_x": "point_on_plane", "inline": "point_on_line", "rod": "distance",
}  # fmt: skip
"""Other usual names, those of the paper's Table 1 among them."""

COORDINATE_ROWS = {"angle": "Rx", "distance": "x"}


def joint_type_name(element: str, kind: str) -> str:
    """Return the joint type that a name or an alias stands for."""
    known = ALIASES.get(kind, kind)
    if known not in JOINT_TYPES:
        raise ModelError(element, f"unknown joint type {kind!r}", nearest(kind, [*JOINT_TYPES, *ALIASES]))
    return known


@dataclass(frozen=True, eq=False, kw_only=True)
class Joint:
    """A joint between two bodies, drawn in the design position.

    Parameters
    ----------
    name, type : str
        `type` is a key of `JOINT_TYPES` or one of its `ALIASES`.
    main, driven : str
        Names of the two bodies, or ``"ground"``.
    at : Place
        Where the joint is [m]; for a distance, the point on the main body; for wheels and spheres, a point of the plane.
    axis : array_like, optional
        The x axis of the joint's frame. Default: the world's x axis.
    orientation : Rotation or 3x3 array, optional
        The whole frame F2 instead of its axis.
    at_driven, axis_driven, orientation_driven : optional
        The same of F1, where the joint is drawn open or where the two frames differ by design; the centre of a wheel or
        sphere, and the axle.
    rows : tuple of str, optional
        For a ``lock``: which of x, y, z, Rx, Ry, Rz are active. For wheels and spheres: which of normal (it touches the plane),
        rolling, sideways (it does not slip forwards, sideways); all of them if not given.
    length : float, optional
        For a distance [m]; as drawn if not given.
    lead : float, optional
        For a screw: advance per turn [m].
    radius : float, optional
        Of a wheel or sphere [m].
    crown_radius : float, optional
        Of the cross-section of a wheel's tyre [m]; zero, a thin disc, if not given.
    coefficients : array_like, optional
        For a ``pfaffian``: what multiplies the three velocities of its point and the three angular velocities of the driven
        body, relative to the main one, in the axes of F1; the sum is zero.

    Examples
    --------
    >>> Joint(name="hinge", type="revolute", main="ground", driven="bob", at=(0, 0, 0), axis=(0, 2, 0)).axis.tolist()
    [0.0, 1.0, 0.0]
    """

    name: str
    type: str
    main: str
    driven: str
    at: Place = (0.0, 0.0, 0.0)
    axis: ArrayLike | None = None
    orientation: Rotation | ArrayLike | None = None
    at_driven: Place | None = None
    axis_driven: ArrayLike | None = None
    orientation_driven: Rotation | ArrayLike | None = None
    rows: tuple[str, ...] | None = None
    length: float | None = None
    lead: float | None = None
    radius: float | None = None
    crown_radius: float | None = None
    coefficients: ArrayLike | None = None

    def __post_init__(self) -> None:
        keep = object.__setattr__
        element = self.element
        keep(self, "type", joint_type_name(element, self.type))
        check_frames(element, self)
        self._check_own_arguments(element)

    def _check_own_arguments(self, element: str) -> None:
        rolls = ("rolling_wheel", "rolling_sphere")
        owners = {
            "rows": ("lock", *rolls),
            "length": ("distance",),
            "lead": ("screw",),
            "radius": rolls,
            "crown_radius": rolls[:1],
            "coefficients": ("pfaffian",),
        }
        for label, types in owners.items():
            if getattr(self, label) is not None and self.type not in types:
                belongs = " or ".join(repr(owner) for owner in types)
                raise ModelError(element, f"a {self.type} joint has no {label!r}", f"leave it out; it belongs to a {belongs}")
        if self.type in rolls:
            self._check_rolling(element)
        if self.type == "pfaffian":
            self._check_pfaffian(element)
        if self.type == "lock":
            object.__setattr__(self, "rows", lock_rows(element, self.rows))
        if self.type == "screw":
            if self.lead is None:
                raise ModelError(element, "the screw has no lead", "give lead=..., the advance in metres per turn")
            checks.number(element, "lead", self.lead)
        if self.length is not None:
            checks.number(element, "length", self.length, minimum=0.0)

    def _check_pfaffian(self, element: str) -> None:
        if self.coefficients is None:
            raise ModelError(element, "the relation has no coefficients", "give coefficients=..., six numbers")
        coefficients = checks.vector(element, "coefficients", self.coefficients, 6)
        if not coefficients.any():
            raise ModelError(element, "all coefficients are zero", "leave it out")
        object.__setattr__(self, "coefficients", coefficients)

    def _check_rolling(self, element: str) -> None:
        what = self.type.removeprefix("rolling_")
        if self.radius is None:
            raise ModelError(element, f"the {what} has no radius", "give radius=... in metres")
        if checks.number(element, "radius", self.radius, minimum=0.0) == 0.0:
            raise ModelError(element, "radius is zero", "give it in metres")
        if self.crown_radius is not None and not 0.0 <= self.crown_radius < self.radius:
            problem = f"crown_radius {self.crown_radius:g} is not between zero and the radius"
            raise ModelError(element, problem, "a tyre is smaller than its wheel; take a sphere otherwise")
        if self.at_driven is None:
            raise ModelError(element, f"the centre of the {what} is not given", "give at_driven=..., in the design position")
        if self.axis is None and self.orientation is None:
            raise ModelError(element, "the plane has no normal", "give axis=..., (0, 0, 1) for level ground")
        if self.type == "rolling_wheel" and self.axis_driven is None and self.orientation_driven is None:
            raise ModelError(element, "the wheel has no axle", "give axis_driven=..., along the axle")
        if self.rows is not None:
            object.__setattr__(self, "rows", known_rows(element, self.rows, nonholonomic.ROWS))

    @property
    def element(self) -> str:
        """How errors call this joint."""
        return checks.element_name("joint", self.name)

    @property
    def kind(self) -> JointType:
        """The data of the joint's type."""
        return JOINT_TYPES[self.type]

    @property
    def active_rows(self) -> tuple[str, ...]:
        """The active rows of the lock, or of the contact."""
        if self.rows is not None:
            return self.rows
        if self.kind.contact is None:
            return self.kind.rows
        one_row = self.kind.contact in (nonholonomic.KNIFE_EDGE, nonholonomic.PFAFFIAN)
        return nonholonomic.ROWS[2:] if one_row else nonholonomic.ROWS

    def frames(self, place: Any) -> tuple[Array, Rotation, Array, Rotation]:
        """Return (position, orientation) of F2 and of F1 in the world, in the design position.

        `place` turns a `Place` into coordinates. F1 coincides with F2 where nothing else is said (in a universal joint it is
        turned by 90 degrees about z); an `axis_driven` is reached from F2 by the smallest rotation.
        """
        return drawn_frames(self.element, self, place, perpendicular=self.kind.perpendicular)


def check_frames(element: str, drawn: Any) -> None:
    """Check the two bodies and the two frames of an element that is drawn as a joint is, and keep clean values in it."""
    check_bodies(element, drawn)
    for label in ("axis", "axis_driven"):
        if getattr(drawn, label) is not None:
            object.__setattr__(drawn, label, checks.unit_axis(element, label, getattr(drawn, label)))
    for label in ("orientation", "orientation_driven"):
        if getattr(drawn, label) is not None:
            object.__setattr__(drawn, label, checks.rotation(element, label, getattr(drawn, label)))
    for suffix in ("", "_driven"):
        if getattr(drawn, "axis" + suffix) is not None and getattr(drawn, "orientation" + suffix) is not None:
            problem = f"both axis{suffix} and orientation{suffix} are given"
            raise ModelError(element, problem, f"orientation{suffix} alone says it all; its first column is the axis")


def check_bodies(element: str, drawn: Any) -> None:
    """Check the two bodies and the two points of an element, and keep clean values in it."""
    if drawn.main == drawn.driven:
        raise ModelError(element, f"it ties {drawn.main!r} to itself", "name two different bodies, or 'ground' for one of them")
    for label in ("at", "at_driven"):
        if getattr(drawn, label) is not None:
            object.__setattr__(drawn, label, check_place(element, label, getattr(drawn, label)))


def drawn_frames(
    element: str, drawn: Any, place: Any, *, perpendicular: bool = False
) -> tuple[Array, Rotation, Array, Rotation]:
    """Return (position, orientation) of F2 and of F1 in the world; see `Joint.frames`."""
    position_2 = place(drawn.at)
    position_1 = position_2 if drawn.at_driven is None else place(drawn.at_driven)
    R2 = checks.rotation(element, "orientation", drawn.orientation)
    if drawn.axis is not None:
        R2 = frame_about(np.asarray(drawn.axis))
    R1 = R2 * Rotation.from_euler("z", 90, degrees=True) if perpendicular else R2
    if drawn.orientation_driven is not None:
        R1 = checks.rotation(element, "orientation_driven", drawn.orientation_driven)
    elif drawn.axis_driven is not None:
        R1 = smallest_rotation(R2.as_matrix()[:, 0], np.asarray(drawn.axis_driven)) * R2
    return position_2, R2, position_1, R1


def lock_rows(element: str, rows: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the rows of a lock in the paper's order."""
    return known_rows(element, rows, ROWS)


def known_rows(element: str, rows: tuple[str, ...] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return rows in the order of those known."""
    given = tuple(rows.split()) if isinstance(rows, str) else tuple(rows or ())
    if not given:
        raise ModelError(element, "a lock without rows does nothing", f"give rows=..., some of {', '.join(known)}")
    for row in given:
        if row not in known:
            raise ModelError(element, f"unknown row {row!r}", nearest(row, known))
    return tuple(row for row in known if row in given)


def frame_about(axis: Array) -> Rotation:
    """Return a frame whose x axis is the given unit axis; y is horizontal where z is up.

    Examples
    --------
    >>> frame_about(np.array([0.0, 1.0, 0.0])).as_matrix().round(12).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    x = load(axis)
    y = cross((0.0, 0.0, 1.0) if abs(x[2]) < 0.9 else (1.0, 0.0, 0.0), x)
    y = scale(1.0 / norm(y), y)
    return Rotation.from_matrix(np.array([x, y, cross(x, y)]).T)


def smallest_rotation(start: Array, end: Array) -> Rotation:
    """Return the smallest rotation that turns one unit vector into another.

    Examples
    --------
    >>> smallest_rotation(np.array([1.0, 0, 0]), np.array([0, 1.0, 0])).as_rotvec(degrees=True).round(9).tolist()
    [0.0, 0.0, 90.0]
    """
    normal = np.array(cross(load(start), load(end)))
    sine = float(norm(load(normal)))
    if sine < 1e-15:
        half_turn = np.pi * frame_about(start).as_matrix()[:, 1]
        return Rotation.identity() if start @ end > 0.0 else Rotation.from_rotvec(half_turn)
    return Rotation.from_rotvec(normal / sine * np.arctan2(sine, float(start @ end)))


def check_place(element: str, label: str, value: Place) -> Place:
    """Return coordinates as an array, or the name of a point as it is."""
    return value if isinstance(value, str) else checks.vector(element, label, value)
