"""The records of force elements: what `build` asks for each force of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy.spatial.transform import Rotation

from dalembert.elements.beam_element import BEAM_ELEMENT, BeamElement
from dalembert.elements.bushing import BUSHING, Bushing
from dalembert.elements.callbacks import Source, callback_table
from dalembert.elements.characteristic import Curves, ExpressionSource
from dalembert.elements.checks import GROUND
from dalembert.elements.friction import FRICTION, Friction
from dalembert.elements.joint import Joint, Place
from dalembert.elements.joint_force import JOINT_FORCE, JointLoad, TorsionSpring
from dalembert.elements.law import Constant, Law
from dalembert.elements.load import LOAD, Load
from dalembert.elements.spring import SPRING, SpringDamper
from dalembert.elements.user_force import USER_FORCE, UserForce, UserForceSource
from dalembert.errors import ModelError
from dalembert.kernel.vec3 import Array
from dalembert.rotation.quaternion import from_rotation
from dalembert.system.model import Force, Model
from dalembert.system.records import table_of


class Drawing(Protocol):
    """What forces ask of the bodies and joints that are drawn before them."""

    model: Model
    index: dict[str, int]
    observers: dict[tuple[str, str], int]
    coordinates: list[dict[str, Any]]
    slides: dict[str, dict[str, Any]]
    joint_frames: dict[str, tuple[Array, Array]]

    def ends(self, joint: Joint | Bushing) -> dict[str, Any]:
        """Return bodies, points and frames of an element in its bodies."""
        ...

    def pose(self, body: str) -> tuple[Array, Rotation]:
        """Return where a body is drawn."""
        ...

    def place_for(self, element: str) -> Callable[[Place], Array]:
        """Return what turns a place into coordinates."""
        ...

    def in_body(self, body: str, place: Array) -> Array:
        """Return a place in the design position in a body's own axes."""
        ...

    def frame_in_body(self, body: str, orientation: Rotation) -> Array:
        """Return an orientation in a body's own axes."""
        ...

    def new_law(self, law: Law, element: str) -> int:
        """Return the index of a new law of time."""
        ...


class ForceBuilder:
    """Collects the records of the force elements.

    Parameters
    ----------
    drawing : Drawing
    """

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self.springs: list[dict[str, Any]] = []
        self.joint_forces: list[dict[str, Any]] = []
        self.bushings: list[dict[str, Any]] = []
        self.beams: list[dict[str, Any]] = []
        self.loads: list[dict[str, Any]] = []
        self.user_forces: list[dict[str, Any]] = []
        self.frictions: list[dict[str, Any]] = []
        self.friction_joints: dict[str, str] = {}
        self.force_coordinates: dict[str, tuple[str, str]] = {}
        self.members: list[int] = []
        self.curves = Curves()
        self.sources: list[Source] = []

    def families(self) -> tuple[list[dict[str, Any]], ...]:
        """Return the records of all families, in the order of their tangents."""
        return self.springs, self.joint_forces, self.bushings, self.beams, self.loads, self.user_forces

    def tables(self) -> dict[str, Any]:
        """Return the tables of all families, by their names in `Tables`."""
        return {
            "springs": table_of(SPRING, self.springs),
            "joint_forces": table_of(JOINT_FORCE, self.joint_forces),
            "bushings": table_of(BUSHING, self.bushings),
            "beams": table_of(BEAM_ELEMENT, self.beams),
            "loads": table_of(LOAD, self.loads),
            "user_forces": table_of(USER_FORCE, self.user_forces),
            "frictions": table_of(FRICTION, self.frictions),
            "curves": self.curves.array(),
            "members": np.array(self.members, dtype=np.intp),
            "callbacks": callback_table(self.sources),
        }

    def add_source(self, source: Source) -> int:
        """Return the index of a new callback."""
        self.sources.append(source)
        return len(self.sources) - 1

    def add(self, force: Force, drawn: Array) -> None:
        """Add the record of a force; `drawn` holds the joint coordinates in the design position."""
        match force:
            case SpringDamper():
                self._add_spring(force)
            case TorsionSpring():
                self._add_torsion_spring(force, drawn)
            case JointLoad():
                self._add_joint_load(force)
            case Bushing():
                self._add_bushing(force)
            case BeamElement():
                self._add_beam_element(force)
            case Load():
                self._add_load(force)
            case Friction():
                self._add_friction(force)
            case UserForce():
                self._add_user_force(force)

    def _add_bushing(self, bushing: Bushing) -> None:
        orientation = bushing.frames(self.drawing.place_for(bushing.element))[1]
        self.bushings.append({
            "element": bushing.name,
            **self.drawing.ends(bushing),
            "rotation_2": self.drawing.frame_in_body(bushing.main, orientation).ravel(),
            **{label: getattr(bushing, label) for label in ("stiffness", "damping", "preload")},
        })  # fmt: skip

    def _add_spring(self, spring: SpringDamper) -> None:
        place = self.drawing.place_for(spring.element)
        place_1, place_2 = place(spring.at_driven), place(spring.at)
        length = float(np.linalg.norm(place_1 - place_2))
        if length == 0.0:
            remedy = "draw its ends apart, or use a bushing, which needs no direction"
            raise ModelError(spring.element, "its length is zero, its direction undefined", remedy)
        self.springs.append({
            "element": spring.name,
            "body_1": self.drawing.index[spring.driven],
            "body_2": self.drawing.index[spring.main],
            "point_1": self.drawing.in_body(spring.driven, place_1),
            "point_2": self.drawing.in_body(spring.main, place_2),
            **self._characteristic(spring, "free_length", ("length", "rate"), length),
        })  # fmt: skip

    def _add_beam_element(self, beam: BeamElement) -> None:
        place = self.drawing.place_for(beam.element)
        at, R1, at_driven, R2 = beam.frames(place)
        record: dict[str, Any] = {"element": beam.name, **beam.record(place)}
        for k, body, x, R in ((1, beam.main, at, R1), (2, beam.driven, at_driven, R2)):
            record[f"body_{k}"], record[f"point_{k}"] = self.drawing.index[body], self.drawing.in_body(body, x)
            record[f"quaternion_{k}"] = from_rotation(self.drawing.pose(body)[1].inv() * R)
        self.beams.append(record)

    def _add_torsion_spring(self, spring: TorsionSpring, drawn: Array) -> None:
        k = self.drawing.observers[spring.joint, spring.coordinate]
        self.force_coordinates[spring.name] = (spring.joint, spring.coordinate)
        fields = self._characteristic(spring, "free", (spring.coordinate, "rate"), float(drawn[k]))
        self.joint_forces.append({**self.drawing.coordinates[k], **fields, "element": spring.name, "law": -1})

    def _add_joint_load(self, load: JointLoad) -> None:
        assert isinstance(load.law, Law)
        observer = self.drawing.coordinates[self.drawing.observers[load.joint, load.coordinate]]
        self.force_coordinates[load.name] = (load.joint, load.coordinate)
        if isinstance(load.law, Constant):
            fields = {**self.curves.constant(-load.law.value), "law": -1}
        else:
            fields = {**self.curves.constant(0.0), "law": self.drawing.new_law(load.law, load.element)}
        self.joint_forces.append({**observer, **fields, "element": load.name})

    def _add_load(self, load: Load) -> None:
        index, new_law = self.drawing.index, self.drawing.new_law
        record: dict[str, Any] = {"element": load.name, "body_1": index[load.body], "body_2": index[GROUND]}
        for label in ("force", "torque"):
            parts = getattr(load, label)
            record[label] = [0.0 if isinstance(part, Law) else part for part in parts]
            record[label + "_law"] = [new_law(part, load.element) if isinstance(part, Law) else -1 for part in parts]
        record["factor"] = 1.0 if load.law is None else 0.0
        record["factor_law"] = -1 if load.law is None else new_law(load.law, load.element)
        record["constant"] = all(index == -1 for index in (record["factor_law"], *record["force_law"]))
        record["point_1"] = np.zeros(3)
        if load.at is not None:
            record["point_1"] = self.drawing.in_body(load.body, self.drawing.model.place(load.at, load.element))
        record["follower"] = load.follower
        record["rotation"] = self.drawing.pose(load.body)[1].as_matrix().ravel()
        self.loads.append(record)

    def _add_friction(self, friction: Friction) -> None:
        kind = self.drawing.model.joints[friction.joint].kind
        slide = self.drawing.slides[friction.joint]
        if kind.rod or kind.screw or kind.contact is not None:
            problem = f"the friction of a {self.drawing.model.joints[friction.joint].type} joint is not known"
            raise ModelError(friction.element, problem, "put it on a hinge, a guide, a ball or a plane, or use a user force")
        if not any(slide["free"]):
            raise ModelError(friction.element, f"joint {friction.joint!r} leaves nothing free", "leave the friction out")
        if not any(slide["free"][:3]) and friction.radius == 0.0:
            remedy = "give radius=..., where the surfaces slide [m]"
            raise ModelError(friction.element, f"joint {friction.joint!r} only turns, and the radius is zero", remedy)
        self.friction_joints[friction.name] = friction.joint
        self.frictions.append({
            "element": friction.name,
            **slide,
            "rotation_2": self.drawing.joint_frames[friction.joint][1].ravel(),
            **{label: getattr(friction, label) for label in ("coefficient", "radius", "velocity", "viscous")},
            "lever": 0.0 if friction.length is None else 2.0 / friction.length,
        })  # fmt: skip

    def _add_user_force(self, force: UserForce) -> None:
        members = [self.drawing.index[name] for name in force.bodies or self.drawing.model.bodies]
        self.user_forces.append({
            "element": force.name,
            "first": len(self.members),
            "count": len(members),
            "callback": self.add_source(UserForceSource(force, len(members))),
            "entry": sum(36 * other["count"] ** 2 for other in self.user_forces),
        })  # fmt: skip
        self.members += members

    def _characteristic(
        self, spring: SpringDamper | TorsionSpring, free: str, symbols: tuple[str, str], drawn: float
    ) -> dict[str, Any]:
        """Return the fields of a spring's characteristic."""
        if spring.expression is None:
            return self.curves.fields(spring, free, drawn)
        source = ExpressionSource(spring.element, spring.expression, symbols, drawn)
        return {**self.curves.constant(0.0), "callback": self.add_source(source)}
