"""Whole beams: nodes that are rigid bodies, two-node elements between them, joints at the ends.

Each element is cut in half; each half is a rigid rod that belongs to the body of its node, with its mass, its static moment and
its moment of inertia (Masarati 2011, appendix: finite volumes). So a body at an end has its centre of mass a quarter of an
element inside, and its node is a frame in it; where two equal halves meet, the node is the centre. Nothing else is
special: gravity, joints and loads act on the nodes as on any rigid body, and the mass matrix stays block-diagonal and constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from dalembert.elements import checks, inertia
from dalembert.elements.beam_element import BeamElement
from dalembert.elements.body import Body
from dalembert.elements.frame import Frame
from dalembert.elements.joint import Joint
from dalembert.elements.section_law import Section
from dalembert.errors import ModelError
from dalembert.kernel.vec3 import Array


@dataclass(frozen=True, eq=False, kw_only=True)
class Beam:
    """A straight beam or a circular arc of equal elements, relaxed as drawn.

    Its nodes 0 to n are the bodies ``"name 0"`` to ``"name n"``, the places of the nodes are the frames ``"name node 0"`` to
    ``"name node n"`` (x along the beam, y and z the axes of the section), its elements ``"name 0-1"`` and so on.

    Parameters
    ----------
    name : str
    start, end : array_like
        Its ends [m].
    section : Section
        Cross section: a shape of one material, or matrices.
    elements : int
        How many.
    via : array_like, optional
        A third place between both ends [m]: the beam is the circular arc through all three.
    up : array_like, optional
        A direction near that of the section's z axis at the start; the world's z axis, or its x axis for a vertical beam.
    twist : float
        How far the section turns about the beam from start to end [rad].
    start_joint, end_joint : str, optional
        Type of the joint ``"name start"`` or ``"name end"`` at an end, ``"fixed"`` or any other.
    start_body, end_body : str
        What it joins the end to.
    start_axis, end_axis : array_like, optional
        Its axis; along the beam if not given.
    locking_correction : bool
        See `BeamElement`.

    Examples
    --------
    >>> from dalembert.elements.section import Circle
    >>> rod = Circle(diameter=0.01, youngs_modulus=2.1e11, poisson_ratio=0.3, density=7850)
    >>> beam = Beam(name="rod", start=(0, 0, 0), end=(2, 0, 0), elements=4, section=rod, start_joint="fixed")
    >>> beam.nodes[-1], beam.places[-1], [round(float(body.position[0]), 3) for body in beam.bodies]
    ('rod 4', 'rod node 4', [0.125, 0.5, 1.0, 1.5, 1.875])
    """

    name: str
    start: ArrayLike
    end: ArrayLike
    section: Section
    elements: int
    via: ArrayLike | None = None
    up: ArrayLike | None = None
    twist: float = 0.0
    start_joint: str | None = None
    end_joint: str | None = None
    start_body: str = checks.GROUND
    end_body: str = checks.GROUND
    start_axis: ArrayLike | None = None
    end_axis: ArrayLike | None = None
    locking_correction: bool = True

    def __post_init__(self) -> None:
        element, keep = self.element, object.__setattr__
        for label in ("start", "end", "via"):
            if getattr(self, label) is not None:
                keep(self, label, checks.vector(element, label, getattr(self, label)))
        for label in ("up", "start_axis", "end_axis"):
            if getattr(self, label) is not None:
                keep(self, label, _unit(element, label, getattr(self, label)))
        if not isinstance(self.section, Section):
            raise ModelError(element, f"section is {self.section!r}", "give for example da.section.Circle(...)")
        if not self.section.mass_per_length > 0.0:
            raise ModelError(element, "its section has no mass", "give mass=... in kg/m")
        if int(self.elements) != self.elements or self.elements < 1:
            raise ModelError(element, f"elements is {self.elements:g}", "give a whole number, 1 or more")
        keep(self, "elements", int(self.elements))
        keep(self, "twist", checks.number(element, "twist", self.twist))

    @property
    def element(self) -> str:
        """How errors call this beam."""
        return checks.element_name("beam", self.name)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The bodies of its nodes."""
        return tuple(f"{self.name} {k}" for k in range(self.elements + 1))

    @property
    def places(self) -> tuple[str, ...]:
        """The frames of its nodes."""
        return tuple(f"{self.name} node {k}" for k in range(self.elements + 1))

    @cached_property
    def line(self) -> Line:
        """Where its nodes are."""
        return _line(self)

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of its nodes: half-elements welded together, in the axes of the section."""
        return tuple(self._body(k) for k in range(self.elements + 1))

    def _body(self, node: int) -> Body:
        x, R = self.line.places[node], self.line.frames[node]
        halves = [self._half(x, R, self.line.places[k]) for k in (node - 1, node + 1) if 0 <= k <= self.elements]
        mass, centre, moment = inertia.welded(halves)
        return Body(name=self.nodes[node], mass=mass, inertia=moment, position=x + R.apply(centre), orientation=R)

    def _half(self, x: Array, R: Rotation, other: Array) -> tuple[float, Array, Array]:
        """Return mass, centre and inertia of the half of an element at a node, in the axes of the section."""
        length, half = 0.5 * self.line.length, 0.5 * R.inv().apply(other - x)
        mass = self.section.mass_per_length * length
        rod = mass / 12.0 * (half @ half * np.eye(3) - np.outer(half, half))
        return mass, 0.5 * half + self.section.mass_centre, rod + length * self.section.inertia_per_length

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """The frames of its nodes."""
        listed = zip(self.places, self.nodes, self.line.places, self.line.frames, strict=True)
        return tuple(Frame(name=name, body=body, at=x, orientation=R) for name, body, x, R in listed)

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """The joints at its ends."""
        ends = (("start", 0), ("end", self.elements))
        return tuple(self._joint(label, node) for label, node in ends if getattr(self, f"{label}_joint") is not None)

    def _joint(self, label: str, node: int) -> Joint:
        axis = getattr(self, f"{label}_axis")
        drawn = {"orientation": self.line.frames[node]} if axis is None else {"axis": axis}
        kind, body = getattr(self, f"{label}_joint"), getattr(self, f"{label}_body")
        return Joint(
            name=f"{self.name} {label}", type=kind, main=body, driven=self.nodes[node], at=self.line.places[node], **drawn
        )

    @cached_property
    def pieces(self) -> tuple[BeamElement, ...]:
        """Its elements."""
        return tuple(self._piece(k) for k in range(self.elements))

    def _piece(self, k: int) -> BeamElement:
        return BeamElement(
            name=f"{self.name} {k}-{k + 1}",
            main=self.nodes[k],
            driven=self.nodes[k + 1],
            at=self.line.places[k],
            at_driven=self.line.places[k + 1],
            section=self.section,
            orientation=self.line.frames[k],
            orientation_driven=self.line.frames[k + 1],
            length=self.line.length,
            locking_correction=self.locking_correction,
        )


def _unit(element: str, label: str, value: ArrayLike) -> Array:
    """Return a direction scaled to length one; one that was scaled before keeps its bits."""
    x = checks.vector(element, label, value)
    return x if abs(float(x @ x) - 1.0) <= 4e-15 else checks.unit_axis(element, label, x)


class Line(NamedTuple):
    """The nodes of a beam.

    Attributes
    ----------
    places : array, shape (n + 1, 3)
        [m].
    frames : list of Rotation
        x along the beam.
    length : float
        Of one element, along the beam [m].
    """

    places: Array
    frames: list[Rotation]
    length: float


def _line(beam: Beam) -> Line:
    start, end = np.asarray(beam.start), np.asarray(beam.end)
    steps = np.linspace(0.0, 1.0, beam.elements + 1)
    if not np.linalg.norm(end - start) > 0.0:
        raise ModelError(beam.element, "its ends are at the same place", "give two places; a ring is made of two arcs")
    if beam.via is None:
        places, turns, length = (
            start + np.outer(steps, end - start),
            np.zeros((steps.size, 3)),
            float(np.linalg.norm(end - start)),
        )
        tangent = (end - start) / length
    else:
        normal, radius, angle, tangent = _arc(beam.element, start, np.asarray(beam.via), end)
        turns, length = np.outer(angle * steps, normal), radius * angle
        centre = start + radius * np.cross(normal, tangent)
        places = centre + Rotation.from_rotvec(turns).apply(start - centre)
        places[-1] = end
    first = _section_frame(beam, tangent)
    twists = Rotation.from_rotvec(np.outer(beam.twist * steps, (1.0, 0.0, 0.0)))
    frames = [Rotation.from_rotvec(turn) * first * twist for turn, twist in zip(turns, twists, strict=True)]
    return Line(places, frames, float(length) / beam.elements)


def _section_frame(beam: Beam, x: Array) -> Rotation:
    """Return the frame of the section at the start: x along the beam, z near `up`."""
    up = np.asarray(beam.up) if beam.up is not None else np.eye(3)[2 if abs(x[2]) < 0.9 else 0]
    y = np.cross(up, x)
    size = float(np.linalg.norm(y))
    if size < 1e-9:
        raise ModelError(beam.element, "up is along the beam", "give a direction across it")
    return Rotation.from_matrix(np.array([x, y / size, np.cross(x, y / size)]).T)


def _arc(element: str, start: Array, via: Array, end: Array) -> tuple[Array, float, float, Array]:
    """Return normal, radius, angle and first tangent of the circular arc through three places."""
    a, b = via - start, end - via
    normal = np.cross(a, b)
    size = float(np.linalg.norm(normal))
    if size <= 1e-9 * float(np.linalg.norm(a) * np.linalg.norm(b)):
        raise ModelError(element, "start, via and end are on one line", "leave via out for a straight beam")
    normal = normal / size
    chord = end - start
    half = float(np.arctan2(size, a @ b))  # the angle between both chords is half of the arc's
    radius = float(np.linalg.norm(chord)) / (2.0 * np.sin(half))
    tangent = Rotation.from_rotvec(-half * normal).apply(chord / np.linalg.norm(chord))
    return normal, radius, 2.0 * half, tangent
