"""A model drawn anew in another state: the same mechanism, with hardpoints, frames and springs where they are then."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from dalembert.elements.beam_element import BeamElement
from dalembert.elements.bushing import Bushing
from dalembert.elements.checks import GROUND
from dalembert.elements.coupling import Coupling
from dalembert.elements.frame import Frame
from dalembert.elements.joint import Joint, drawn_frames
from dalembert.elements.joint_force import TorsionSpring
from dalembert.elements.law import Law
from dalembert.elements.load import Load
from dalembert.elements.spring import SpringDamper
from dalembert.errors import ModelError
from dalembert.kernel.vec3 import Array
from dalembert.rotation.quaternion import to_rotation
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.planar import drawn_in_plane
from dalembert.system.state import State
from dalembert.system.system import System


def redrawn(model: Model, state: State) -> Model:
    """Return a model whose design position is a given state; it moves and rests as the given one does from there.

    What was measured "as drawn" keeps its value: rod lengths, offsets of couplings, free lengths. Angles of joints are those of
    one turn; a screw is closed as drawn.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("pendulum", gravity=(0, 0, -9.81))
    >>> bob = model.body("bob", mass=1.0, position=(1, 0, 0))
    >>> rod = model.distance("rod", "ground", "bob", at=(0, 0, 0), at_driven=(1, 0, 0))
    >>> system = da.build(model)
    >>> below = da.State(0.0, system.advance(system.design.q, [-1, 0, -1, 0, 0, 0]), system.design.v)
    >>> redrawn(model, below).joints["rod"].at_driven.tolist()
    [0.0, 0.0, -1.0]
    """
    return _Redrawing(model, state).model()


class _Redrawing:
    """Moves what is fixed in bodies along with them."""

    def __init__(self, model: Model, state: State) -> None:
        self.old, self.state = model, state
        self.system: System = build(model)
        if state.q.shape != self.system.design.q.shape:
            raise ModelError(
                "state", f"its q has {state.q.size} numbers, the model {self.system.n_positions}", "give a state of this model"
            )
        self.poses = {name: self._poses(k, name) for k, name in enumerate(model.bodies)}
        same = np.zeros(3), Rotation.identity()
        self.poses[GROUND] = (*same, *same)

    def _poses(self, k: int, name: str) -> tuple[Array, Rotation, Array, Rotation]:
        body = self.old.bodies[name]
        q = self.state.q[7 * k : 7 * k + 7]
        return np.asarray(body.position, float), body.rotation, q[:3].copy(), to_rotation(q[3:])

    def model(self) -> Model:
        """Return the new model."""
        new = copy.copy(self.old)
        new.bodies = {name: self._body(k, name) for k, name in enumerate(self.old.bodies)}
        new.frames = {name: self._frame(frame) for name, frame in self.old.frames.items()}
        new.joints = {name: self._joint(joint) for name, joint in self.old.joints.items()}
        new.couplings, new.motions = dict(self.old.couplings), dict(self.old.motions)
        new.forces = {name: self._force(force) for name, force in self.old.forces.items()}
        new.couplings = self._couplings(new)
        new.beams = {}  # their pieces are drawn bent
        used = self._names_in_use(new)
        new.points = {name: at for name, at in self.old.points.items() if name in used}
        return new

    def _couplings(self, new: Model) -> dict[str, Coupling]:
        """Return couplings as far from closed as they were; the angles that they join begin anew."""
        if not new.couplings:
            return {}
        drawn, left = build(new), self.system.constraint(self.state.t, self.state.q)
        found = {}
        for name, coupling in new.couplings.items():
            now = sum(term.ratio * drawn.coordinate(term.joint, term.coordinate, drawn.design.q) for term in coupling.terms)
            found[name] = replace(coupling, offset=float(now - left[self.system.layout.joint_rows[name][0]]))
        return found

    def _names_in_use(self, new: Model) -> set[str]:
        elements = [*new.joints.values(), *new.frames.values(), *new.forces.values()]
        places = [getattr(element, label, None) for element in elements for label in ("at", "at_driven")]
        return {place for place in places if isinstance(place, str)}

    def _moved(self, body: str, place: Array) -> Array:
        p0, R0, p1, R1 = self.poses[body]
        return np.asarray(p1 + (R1 * R0.inv()).apply(place - p0)) + 0.0

    def _turned(self, body: str, rotation: Rotation) -> Rotation:
        _, R0, _, R1 = self.poses[body]
        return R1 * R0.inv() * rotation

    def _body(self, k: int, name: str) -> Any:
        _, _, p1, R1 = self.poses[name]
        v = self.state.v[6 * k : 6 * k + 6]
        rates = {"velocity": v[:3].copy(), "angular_velocity": R1.apply(v[3:])}
        return replace(self.old.bodies[name], position=p1, orientation=R1, **rates)

    def _frame(self, frame: Frame) -> Frame:
        place = self._moved(frame.body, self.old.place(frame.at, frame.element))
        return replace(
            frame, at=place, orientation=self._turned(frame.body, Rotation.from_matrix(np.asarray(_matrix(frame.orientation))))
        )

    def _drawn(self, element: Any, perpendicular: bool = False) -> dict[str, Any]:
        """Return both frames of an element, moved along."""
        at: Callable[[Any], Array] = lambda place: self.old.place(place, element.element)  # noqa: E731
        place_2, R2, place_1, R1 = drawn_frames(element.element, element, at, perpendicular=perpendicular)
        return {
            "at": element.at if self._stays(element) else self._moved(element.main, place_2),
            "orientation": self._turned(element.main, R2),
            "at_driven": self._moved(element.driven, place_1),
            "orientation_driven": self._turned(element.driven, R1),
            "axis": None,
            "axis_driven": None,
        }

    def _stays(self, element: Any) -> bool:
        """Return whether the main end of an element is a named point of the ground."""
        return element.main == GROUND and isinstance(element.at, str) and element.at in self.old.points

    def _joint(self, joint: Joint) -> Joint:
        if self.old.plane is not None:
            joint = drawn_in_plane(joint, self.old.plane)
        drawn = self._drawn(joint, joint.kind.perpendicular)
        if joint.kind.rod and joint.length is None:
            place_2, _, place_1, _ = joint.frames(lambda place: self.old.place(place, joint.element))
            drawn["length"] = float(np.linalg.norm(place_1 - place_2))
        return replace(joint, **drawn)

    def _force(self, force: Any) -> Any:
        match force:
            case SpringDamper():
                return self._spring(force)
            case TorsionSpring():
                return self._torsion_spring(force)
            case Bushing():
                return replace(force, **self._drawn(force))
            case BeamElement():
                return self._beam_element(force)
            case Load():
                return self._load(force)
            case _:
                return force

    def _spring(self, spring: SpringDamper) -> SpringDamper:
        old = [self.old.place(place, spring.element) for place in (spring.at, spring.at_driven)]
        new = [self._moved(body, place) for body, place in zip((spring.main, spring.driven), old, strict=True)]
        lengths = [float(np.linalg.norm(other - one)) for one, other in (old, new)]
        at = spring.at if self._stays(spring) else new[0]
        return replace(spring, at=at, at_driven=new[1], **_kept(spring, "free_length", *lengths))

    def _torsion_spring(self, spring: TorsionSpring) -> TorsionSpring:
        angles = [self.system.coordinate(spring.joint, spring.coordinate, q) for q in (self.system.design.q, self.state.q)]
        return replace(spring, **_kept(spring, "free", *angles))

    def _beam_element(self, beam: BeamElement) -> BeamElement:
        place = lambda at: self.old.place(at, beam.element)  # noqa: E731
        at, R1, at_driven, R2 = beam.frames(place)
        y, theta, length = beam.law(place)
        return replace(
            beam,
            at=self._moved(beam.main, at),
            orientation=self._turned(beam.main, R1),
            at_driven=self._moved(beam.driven, at_driven),
            orientation_driven=self._turned(beam.driven, R2),
            length=length,
            free=np.append(y, theta),
        )

    def _load(self, load: Load) -> Load:
        moved: dict[str, Any] = {}
        if load.at is not None:
            moved["at"] = self._moved(load.body, self.old.place(load.at, load.element))
        if load.follower:
            parts = (*load.force, *load.torque)
            if any(isinstance(part, Law) for part in parts):
                raise ModelError(
                    load.element,
                    "it follows its body and its components are laws of time",
                    "give one law that multiplies a constant force",
                )
            turn = self._turned(load.body, Rotation.identity())
            for label in ("force", "torque"):
                moved[label] = tuple((turn.apply(np.array(getattr(load, label), float)) + 0.0).tolist())
        return replace(load, **moved)


def _matrix(orientation: Any) -> Any:
    return orientation.as_matrix() if isinstance(orientation, Rotation) else orientation


def _kept(spring: Any, free: str, drawn: float, now: float) -> dict[str, Any]:
    """Return what makes a spring the same that was measured as drawn."""
    if spring.expression is not None or getattr(spring, free) is not None:
        return {}
    if spring.table is not None:
        return {free: drawn}
    if spring.stiffness == 0.0:
        return {}
    return {"preload": (spring.preload or 0.0) + spring.stiffness * (now - drawn)}
