"""The model as a user writes it: bodies, points, joints, couplings, motions and forces by name. Nothing is computed here."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dalembert.elements import checks
from dalembert.elements.beam import Beam
from dalembert.elements.beam_element import BeamElement
from dalembert.elements.body import Body
from dalembert.elements.bushing import Bushing
from dalembert.elements.checks import GROUND
from dalembert.elements.coupling import Coupling, Term
from dalembert.elements.frame import Frame
from dalembert.elements.friction import Friction
from dalembert.elements.joint import ALIASES, JOINT_TYPES, Joint, Place
from dalembert.elements.joint_force import JointLoad, TorsionSpring
from dalembert.elements.law import Law
from dalembert.elements.load import Load
from dalembert.elements.modal_body import ModalBody, Shapes
from dalembert.elements.motion import Motion
from dalembert.elements.spring import SpringDamper
from dalembert.elements.user_force import StateFunction, UserForce
from dalembert.elements.user_row import VelocityRow
from dalembert.errors import ModelError, nearest
from dalembert.kernel.vec3 import Array

Force: TypeAlias = SpringDamper | TorsionSpring | Bushing | BeamElement | Load | JointLoad | Friction | UserForce
Element = TypeVar("Element", Body, Joint, Coupling, VelocityRow, Motion, Frame)
OneForce = TypeVar("OneForce", SpringDamper, TorsionSpring, Bushing, BeamElement, Load, JointLoad, Friction, UserForce)


class Model:
    """Bodies tied together by joints.

    Parameters
    ----------
    name : str
    gravity : array_like
        [m/s2]; default: none.
    planar : bool or array_like
        Whether all bodies move in the x y plane, or in the one with this normal. Joints then keep the rows that matter in the
        plane, so that planar mechanisms are not redundant by accident.
    tolerance : float
        How far joints may stay open where redundant constraints contradict each other [m], [sine of half an angle].

    Examples
    --------
    >>> model = Model("pendulum", gravity=(0, 0, -9.81))
    >>> bob = model.body("bob", mass=15.0, position=(0, 0, -4))
    >>> hinge = model.revolute("hinge", model.ground, bob, at=(0, 0, 0), axis=(0, 1, 0))
    >>> print(model)
    pendulum: 1 body, 1 joint, gravity (0, 0, -9.81) m/s2
      body    bob     15 kg at (0, 0, -4)
      joint   hinge   revolute: ground - bob
    """

    ground = GROUND

    def __init__(
        self,
        name: str = "model",
        *,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        planar: bool | ArrayLike = False,
        tolerance: float = 0.0,
    ) -> None:
        self.name = name
        self.gravity: Array = checks.vector(f"model {name!r}", "gravity", gravity)
        self.plane: Array | None = checks.plane(f"model {name!r}", planar)
        self.tolerance: float = checks.number(f"model {name!r}", "tolerance", tolerance, minimum=0.0)
        self.bodies: dict[str, Body] = {}
        self.points: dict[str, Array] = {}
        self.frames: dict[str, Frame] = {}
        self.joints: dict[str, Joint] = {}
        self.couplings: dict[str, Coupling] = {}
        self.velocity_rows: dict[str, VelocityRow] = {}
        self.motions: dict[str, Motion] = {}
        self.forces: dict[str, Force] = {}
        self.beams: dict[str, Beam] = {}
        self.modal_bodies: dict[str, ModalBody] = {}

    def body(self, name: str, *, mass: float, **arguments: Any) -> Body:
        """Add a rigid body; see `Body` for the arguments."""
        return _add(self.bodies, Body(name=name, mass=mass, **arguments), "body")

    def point(self, name: str, at: ArrayLike) -> str:
        """Name a place in the design position [m]; joints and frames may then say ``at="name"``."""
        element = checks.element_name("point", name)
        _refuse_double({**self.points, **self.frames}, name, element)
        self.points[name] = checks.vector(element, "at", at)
        return name

    def frame(self, name: str, body: Body | str, *, at: Place, orientation: Any = None) -> Frame:
        """Add a frame that is fixed in a body; see `Frame`."""
        frame = Frame(name=name, body=self._body_name(body, f"frame {name!r}"), at=at, orientation=orientation)
        _refuse_double(self.points, name, frame.element)
        return _add(self.frames, frame, "frame")

    def joint(self, name: str, type: str, main: Body | str, driven: Body | str, **arguments: Any) -> Joint:
        """Add a joint of any type; see `Joint` for the arguments. ``model.revolute(name, ...)`` and so on are short for it."""
        element = f"joint {name!r}"
        main, driven = self._body_name(main, element), self._body_name(driven, element)
        return _add(self.joints, Joint(name=name, type=type, main=main, driven=driven, **arguments), "joint")

    def coupling(self, name: str, terms: Mapping[tuple[str, str], float], *, offset: float | None = None) -> Coupling:
        """Add a linear relation ``sum of ratio * coordinate = offset``.

        `terms` maps (joint, ``"angle"`` or ``"distance"``) to the ratio; the offset is as drawn if not given.
        """
        listed = tuple(Term(ratio, joint, coordinate) for (joint, coordinate), ratio in terms.items())
        for term in listed:
            self._check_coordinate(f"coupling {name!r}", term.joint, term.coordinate)
        return _add(self.couplings, Coupling(name=name, terms=listed, offset=offset), "coupling")

    def velocity_row(self, name: str, expression: Any, main: Body | str, driven: Body | str) -> VelocityRow:
        """Add a relation between the velocities of two bodies as a formula, text or SymPy; see `VelocityRow`."""
        main, driven = self._two_bodies(main, driven, f"velocity row {name!r}")
        return _add(self.velocity_rows, VelocityRow(name=name, expression=expression, main=main, driven=driven), "velocity row")

    def gear(self, name: str, joint_1: Joint | str, joint_2: Joint | str, *, ratio: float) -> Coupling:
        """Couple two angles: ``angle_2 = ratio * angle_1`` from the drawn position on; negative for outer meshing."""
        one, two = _name_of(joint_1), _name_of(joint_2)
        return self.coupling(name, {(one, "angle"): ratio, (two, "angle"): -1.0})

    def rack_and_pinion(self, name: str, *, pinion: Joint | str, rack: Joint | str, radius: float) -> Coupling:
        """Couple an angle and a distance: ``distance = radius * angle`` from the drawn position on; radius in m, signed."""
        return self.coupling(name, {(_name_of(pinion), "angle"): radius, (_name_of(rack), "distance"): -1.0})

    def motion(self, name: str, joint: Joint | str, coordinate: str, law: Law) -> Motion:
        """Prescribe a joint coordinate as a function of time; see `Motion`."""
        motion = Motion(name=name, joint=_name_of(joint), coordinate=coordinate, law=law)
        if motion.joint not in self.joints:
            raise ModelError(motion.element, f"unknown joint {motion.joint!r}", nearest(motion.joint, self.joints))
        for other in self.motions.values():
            if (other.joint, other.row) == (motion.joint, motion.row):
                problem = f"{coordinate!r} of joint {motion.joint!r} already follows motion {other.name!r}"
                raise ModelError(motion.element, problem, "keep one of the two")
        return _add(self.motions, motion, "motion")

    def spring(self, name: str, main: Body | str, driven: Body | str, **arguments: Any) -> SpringDamper:
        """Add a spring with a damper between two points; see `SpringDamper` for the arguments."""
        main, driven = self._two_bodies(main, driven, f"spring {name!r}")
        return self._add_force(SpringDamper(name=name, main=main, driven=driven, **arguments))

    def torsion_spring(self, name: str, joint: Joint | str, **arguments: Any) -> TorsionSpring:
        """Add a spring with a damper on the angle or the distance of a joint; see `TorsionSpring` for the arguments."""
        spring = TorsionSpring(name=name, joint=_name_of(joint), **arguments)
        self._check_coordinate(spring.element, spring.joint, spring.coordinate)
        return self._add_force(spring)

    def bushing(self, name: str, main: Body | str, driven: Body | str, **arguments: Any) -> Bushing:
        """Add six springs and dampers between two frames; see `Bushing` for the arguments."""
        main, driven = self._two_bodies(main, driven, f"bushing {name!r}")
        return self._add_force(Bushing(name=name, main=main, driven=driven, **arguments))

    def beam_element(self, name: str, main: Body | str, driven: Body | str, **arguments: Any) -> BeamElement:
        """Add a massless piece of a beam between two bodies; see `BeamElement` for the arguments."""
        main, driven = self._two_bodies(main, driven, f"beam element {name!r}")
        return self._add_force(BeamElement(name=name, main=main, driven=driven, **arguments))

    def beam(self, name: str, start: Place, end: Place, **arguments: Any) -> Beam:
        """Add a beam between two places: bodies, elements, frames, and joints at its ends; see `Beam` for the arguments."""
        element = f"beam {name!r}"
        places = {label: self.place(at, element) for label, at in {"start": start, "end": end}.items()}
        if arguments.get("via") is not None:
            places["via"] = self.place(arguments["via"], element)
        for label in ("start_body", "end_body"):
            arguments[label] = self._body_name(arguments.get(label, GROUND), element)
        beam = Beam(name=name, **(arguments | places))
        _refuse_double(self.beams, name, element)
        self._add_parts(element, bodies=beam.bodies, frames=beam.frames, joints=beam.joints, forces=beam.pieces)
        self.beams[name] = beam
        return beam

    def modal_body(self, name: str, shapes: Shapes, **arguments: Any) -> ModalBody:
        """Add a flexible part by its shapes; see `ModalBody` for the arguments."""
        part = ModalBody(name=name, shapes=shapes, **arguments)
        _refuse_double(self.modal_bodies, name, part.element)
        self._add_parts(part.element, bodies=part.bodies, joints=part.joints, forces=part.springs)
        self.modal_bodies[name] = part
        return part

    def _add_parts(self, element: str, **parts: tuple[Any, ...]) -> None:
        """Add what an element is made of to its sections, all or nothing."""
        for section, listed in parts.items():
            for part in listed:
                if part.name in getattr(self, section) or (section == "frames" and part.name in self.points):
                    raise ModelError(element, f"the name of its part {part.name!r} is used already", "give it another name")
        for section, listed in parts.items():
            getattr(self, section).update({part.name: part for part in listed})

    def load(self, name: str, body: Body | str, **arguments: Any) -> Load:
        """Add a force and a torque on a body; see `Load` for the arguments."""
        return self._add_force(Load(name=name, body=self._body_name(body, f"load {name!r}"), **arguments))

    def joint_load(self, name: str, joint: Joint | str, law: Law | float, *, coordinate: str = "angle") -> JointLoad:
        """Add the torque or force of a motor on a joint; see `JointLoad`."""
        load = JointLoad(name=name, joint=_name_of(joint), law=law, coordinate=coordinate)
        self._check_coordinate(load.element, load.joint, load.coordinate)
        return self._add_force(load)

    def friction(self, name: str, joint: Joint | str, **arguments: Any) -> Friction:
        """Add friction in a joint, in proportion to the joint's own reaction; see `Friction` for the arguments."""
        friction = Friction(name=name, joint=_name_of(joint), **arguments)
        if friction.joint not in self.joints:
            raise ModelError(friction.element, f"unknown joint {friction.joint!r}", nearest(friction.joint, self.joints))
        return self._add_force(friction)

    def user_force(
        self, name: str, function: StateFunction, *, bodies: Iterable[Body | str] = (), **arguments: Any
    ) -> UserForce:
        """Add forces that a Python function computes; see `UserForce` for the arguments."""
        listed = [bodies] if isinstance(bodies, str | Body) else bodies
        names = tuple(self._body_name(body, f"user force {name!r}") for body in listed)
        return self._add_force(UserForce(name=name, function=function, bodies=names, **arguments))

    def _two_bodies(self, main: Body | str, driven: Body | str, element: str) -> tuple[str, str]:
        return self._body_name(main, element), self._body_name(driven, element)

    def _add_force(self, force: OneForce) -> OneForce:
        _refuse_double(self.forces, force.name, force.element)
        self.forces[force.name] = force
        return force

    def place(self, at: Place, element: str) -> Array:
        """Return the global coordinates of a place [m]."""
        if not isinstance(at, str):
            return checks.vector(element, "at", at)
        if at in self.points:
            return self.points[at]
        if at in self.frames:
            return self.place(self.frames[at].at, element)
        raise ModelError(element, f"unknown point {at!r}", nearest(at, [*self.points, *self.frames]))

    def _body_name(self, body: Body | str, element: str) -> str:
        name = body if isinstance(body, str) else body.name
        if name != GROUND and name not in self.bodies:
            raise ModelError(element, f"unknown body {name!r}", nearest(name, [*self.bodies, GROUND]))
        if isinstance(body, Body) and self.bodies[name] is not body:
            raise ModelError(element, f"body {name!r} belongs to another model", "add it to this model first")
        return name

    def _check_coordinate(self, element: str, joint: str, coordinate: str) -> None:
        if joint not in self.joints:
            raise ModelError(element, f"unknown joint {joint!r}", nearest(joint, self.joints))
        known = self.joints[joint].kind.coordinates
        if coordinate not in known:
            kind = self.joints[joint].type
            has = " and ".join(known) or "no coordinate of its own"
            raise ModelError(element, f"joint {joint!r} ({kind}) has no {coordinate!r}", f"it has {has}")

    def __str__(self) -> str:
        lines = [self._title(), *("  " + "  ".join(row) for row in _aligned(self._rows()))]
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in self._rows())
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        return f"<table><caption>{html.escape(self._title())}</caption>{body}</table>"

    def _title(self) -> str:
        counts = [_count(len(self.bodies), "body", "bodies"), _count(len(self.joints), "joint", "joints")]
        counts += [_count(len(self.couplings), "coupling", "couplings")] if self.couplings else []
        counts += [_count(len(self.forces), "force", "forces")] if self.forces else []
        counts += ["planar"] if self.plane is not None else []
        return f"{self.name}: {', '.join(counts)}, gravity {_numbers(self.gravity)} m/s2"

    def _rows(self) -> list[tuple[str, str, str]]:
        rows = [("body", b.name, f"{b.mass:g} kg at {_numbers(b.position)}") for b in self.bodies.values()]
        rows += [("joint", j.name, f"{j.type}: {j.main} - {j.driven}") for j in self.joints.values()]
        rows += [("coupling", c.name, _relation(c)) for c in self.couplings.values()]
        rows += [("velocity row", r.name, f"{r.main} - {r.driven}: {r.expression} = 0") for r in self.velocity_rows.values()]
        rows += [("motion", m.name, f"{m.coordinate} of {m.joint}: {type(m.law).__name__}") for m in self.motions.values()]
        rows += [(_FORCE_KINDS[type(f)], f.name, _acts(f)) for f in self.forces.values()]
        rows += [("frame", f.name, f"on {f.body}") for f in self.frames.values()]
        return rows

    if TYPE_CHECKING:  # the joint types by name: model.revolute(...), model.hinge(...)

        def __getattr__(self, kind: str) -> Callable[..., Joint]: ...


def _shorthand(kind: str) -> Callable[..., Joint]:
    def add(self: Model, name: str, main: Body | str, driven: Body | str, **arguments: Any) -> Joint:
        return self.joint(name, kind, main, driven, **arguments)

    known = ALIASES.get(kind, kind)
    add.__name__ = kind
    add.__qualname__ = f"Model.{kind}"
    add.__doc__ = f"Add a {known} joint: {JOINT_TYPES[known].summary}. See `Joint` for the arguments."
    return add


for _kind in (*JOINT_TYPES, *ALIASES):
    setattr(Model, _kind, _shorthand(_kind))


def _refuse_double(known: Mapping[str, object], name: str, element: str) -> None:
    if name in known:
        raise ModelError(element, "the name is used twice", "give each its own name")


def _add(known: dict[str, Element], element: Element, kind: str) -> Element:
    _refuse_double(known, element.name, f"{kind} {element.name!r}")
    known[element.name] = element
    return element


def _name_of(joint: Joint | str) -> str:
    return joint if isinstance(joint, str) else joint.name


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def _numbers(values: ArrayLike) -> str:
    return "(" + ", ".join(f"{x:g}" for x in np.asarray(values, float)) + ")"


def _relation(coupling: Coupling) -> str:
    return " + ".join(f"{t.ratio:g} {t.coordinate} of {t.joint}" for t in coupling.terms) + " = constant"


_FORCE_KINDS: dict[type, str] = {
    SpringDamper: "spring", TorsionSpring: "torsion spring", Bushing: "bushing", BeamElement: "beam element", Load: "load",
    JointLoad: "joint load", Friction: "friction", UserForce: "user force",
}  # fmt: skip


def _acts(force: Force) -> str:
    """Return what a force acts on, in a user's words."""
    match force:
        case SpringDamper() | Bushing() | BeamElement():
            return f"{force.main} - {force.driven}"
        case TorsionSpring():
            return f"{force.coordinate} of {force.joint}"
        case JointLoad():
            return f"{force.coordinate} of {force.joint}: {type(force.law).__name__}"
        case Load():
            return f"on {force.body}"
        case Friction():
            return f"in {force.joint}"
        case UserForce():
            return f"on {', '.join(force.bodies) or 'all bodies'}"


def _aligned(rows: list[tuple[str, str, str]], most: int = 40) -> list[tuple[str, ...]]:
    """Pad the columns; a long list shows its beginning and how many more there are."""
    shown = rows[:most] + ([("...", "", f"{len(rows) - most} more")] if len(rows) > most else [])
    widths = [max((len(row[k]) for row in shown), default=0) + 1 for k in range(3)]
    return [tuple(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in shown]
