"""From a model to a system: names become indices, global drawings become frames in bodies, elements become records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from dalembert.elements import checks
from dalembert.elements.body import BODY
from dalembert.elements.bushing import Bushing
from dalembert.elements.checks import GROUND
from dalembert.elements.coordinate import ANGLE, COORDINATE, DISTANCE_ALONG_X
from dalembert.elements.coupling import Coupling
from dalembert.elements.distance import DISTANCE
from dalembert.elements.frame import Frame
from dalembert.elements.joint import Joint, Place
from dalembert.elements.law import Law, law_tables
from dalembert.elements.lock import LOCK, ROWS
from dalembert.elements.modal_body import SHAPE_TERM, ModalBody
from dalembert.elements.motion import Motion
from dalembert.elements.nonholonomic import CONTACT
from dalembert.elements.nonholonomic import ROWS as CONTACT_ROWS
from dalembert.elements.perpendicular import PERPENDICULAR
from dalembert.elements.user_row import USER_ROW, VelocityRow, VelocityRowSource
from dalembert.errors import ModelError, nearest
from dalembert.kernel.vec3 import Array
from dalembert.rotation.quaternion import Quaternion, from_rotation, load4, multiply, to_matrix
from dalembert.system import assembly
from dalembert.system.assembly import Tables
from dalembert.system.build_forces import ForceBuilder
from dalembert.system.model import Model
from dalembert.system.planar import PLANE_ROWS, contact_rows_in_plane, drawn_in_plane, plane_name, rows_in_plane
from dalembert.system.records import elements_of, table_of
from dalembert.system.state import State
from dalembert.system.system import Layout, System

KINDS = {"angle": ANGLE, "distance": DISTANCE_ALONG_X}


def build(model: Model, *, without: Iterable[str] = ()) -> System:
    """Return the system of a model in its design position.

    Parameters
    ----------
    model : Model
    without : iterable of str
        Constraint rows that are left out (``"hinge 2.Rz"``): redundant ones, which others keep up. Their reactions are zero.

    Examples
    --------
    >>> model = Model("door")
    >>> leaf = model.body("leaf", mass=20.0, inertia=(1, 1, 2), position=(0.5, 0, 1))
    >>> hinge = model.revolute("hinge", model.ground, leaf, at=(0, 0, 1), axis=(0, 0, 1))
    >>> build(model).layout.rows
    ('hinge.x', 'hinge.y', 'hinge.z', 'hinge.Ry', 'hinge.Rz')
    """
    return _Builder(model, frozenset(without)).system()


class _Builder:
    """Collects the records of all elements, joint by joint, so that the rows of a joint stand together."""

    def __init__(self, model: Model, without: frozenset[str]) -> None:
        self.model = model
        self.without = without
        self.row_names: list[str] = []
        self.index = {name: i for i, name in enumerate([*model.bodies, GROUND])}
        self.locks: list[dict[str, Any]] = []
        self.perpendiculars: list[dict[str, Any]] = []
        self.distances: list[dict[str, Any]] = []
        self.coordinates: list[dict[str, Any]] = []
        self.shapes: list[dict[str, Any]] = []
        self.contacts: list[dict[str, Any]] = []
        self.user_rows: list[dict[str, Any]] = []
        self.forces = ForceBuilder(self)
        self.laws: list[Law] = []
        self.law_names: list[str] = []
        self.rows: list[str] = []
        self.joint_rows: dict[str, list[int]] = {}
        self.motion_rows: dict[str, int] = {}
        self.plane_rows: list[int] = []
        self.term_row: list[int] = []
        self.term_bodies: list[tuple[int, int]] = []
        self.observers: dict[tuple[str, str], int] = {}
        self.joint_frames: dict[str, tuple[Array, Array]] = {}
        self.slides: dict[str, dict[str, Any]] = {}
        self.n_angles = 0
        self.n_motions = 0

    def system(self) -> System:
        """Return the finished system."""
        self._check_bodies()
        for joint in self.model.joints.values():
            self._add_joint(joint)
        for coupling in self.model.couplings.values():
            self._add_coupling(coupling)
        for modal_body in self.model.modal_bodies.values():
            self._add_shapes(modal_body)
        for velocity_row in self.model.velocity_rows.values():
            self._add_velocity_row(velocity_row)
        if self.model.plane is not None:
            carriers = {name for part in self.model.modal_bodies.values() for name in part.carriers}
            for body in self.model.bodies:
                if body not in carriers:  # their coordinates are no places
                    self._add_plane(body, self.model.plane)
        self._check_left_out()
        tables = Tables(
            gravity=self.model.gravity.copy(),
            bodies=table_of(BODY, [{"mass": b.mass, "inertia": np.ravel(b.inertia)} for b in self.model.bodies.values()]),
            locks=table_of(LOCK, self.locks),
            perpendiculars=table_of(PERPENDICULAR, self.perpendiculars),
            distances=table_of(DISTANCE, self.distances),
            coordinates=table_of(COORDINATE, self.coordinates),
            shapes=table_of(SHAPE_TERM, self.shapes),
            contacts=table_of(CONTACT, self.contacts),
            user_rows=table_of(USER_ROW, self.user_rows),
            gaps=np.zeros(len(self.rows)),
            **self.forces.tables(),
            laws=law_tables([]),
        )
        design = self._design(tables)
        drawn = self._drawn_coordinates(tables, design)
        self._offsets_as_drawn(tables, drawn)
        for force in self.model.forces.values():
            self.forces.add(force, drawn)
        tables = tables._replace(**self.forces.tables(), laws=law_tables(self.laws, self.law_names))
        return System(self.model.name, tables, self._layout(), design, tolerance=self.model.tolerance)

    # --- joints -------------------------------------------------------------------------------------------------------

    def _add_joint(self, joint: Joint) -> None:
        motions = {m.row: m for m in self.model.motions.values() if m.joint == joint.name}
        if self.model.plane is not None:
            joint = drawn_in_plane(joint, self.model.plane)
        ends = self.ends(joint)
        first_term = len(self.term_row)
        self.joint_frames[joint.name] = (ends["point_2"], np.reshape(to_matrix(load4(ends["quaternion_2"])), (3, 3)))
        self.joint_rows[joint.name] = []
        if joint.kind.rod:
            self._add_rod(joint, ends, motions)
        elif joint.kind.contact is not None:
            self._add_contact(joint, ends, motions)
        else:
            self._add_lock(joint, ends, motions)
        if joint.kind.perpendicular:
            self._add_perpendicular(joint, ends)
        for label in joint.kind.coordinates:
            self._add_observer(joint, ends, label)
        if joint.kind.screw:
            assert joint.lead is not None
            row = self._new_row(joint.name, "screw")
            if row >= 0:
                self._add_term(joint.name, "distance", 1.0, row, joint.name)
                self._add_term(joint.name, "angle", -joint.lead / (2.0 * np.pi), row, joint.name)
        free = [0.0 if label in joint.active_rows else 1.0 for label in ROWS]
        self.slides[joint.name] = {**ends, "free": free, "first_term": first_term, "last_term": len(self.term_row)}

    def ends(self, joint: Joint | Bushing) -> dict[str, Any]:
        """Return bodies, points and frames of an element in its bodies; F1's quaternion is the one nearest to F2's."""
        place_2, R2, place_1, R1 = joint.frames(self.place_for(joint.element))
        R_WB1, R_WB2 = self.pose(joint.driven)[1], self.pose(joint.main)[1]
        rho_1, rho_2 = np.array(from_rotation(R_WB1.inv() * R1)), np.array(from_rotation(R_WB2.inv() * R2))
        scalar = _scalar_of_relative(from_rotation(R_WB1), rho_1, from_rotation(R_WB2), rho_2)
        return {
            "body_1": self.index[joint.driven],
            "body_2": self.index[joint.main],
            "point_1": self.in_body(joint.driven, place_1),
            "point_2": self.in_body(joint.main, place_2),
            "quaternion_1": rho_1 if scalar >= 0.0 else -rho_1,
            "quaternion_2": rho_2,
        }

    def pose(self, body: str) -> tuple[Array, Rotation]:
        if body == GROUND:
            return np.zeros(3), Rotation.identity()
        return np.asarray(self.model.bodies[body].position), self.model.bodies[body].rotation

    def _add_lock(self, joint: Joint, ends: dict[str, Any], motions: dict[str, Motion]) -> None:
        if joint.kind.perpendicular and any(row.startswith("R") for row in motions):
            motion = next(m for row, m in motions.items() if row.startswith("R"))
            problem = f"the angle of the {joint.type} joint {joint.name!r} cannot be driven"
            raise ModelError(motion.element, problem, "drive a revolute joint before or behind it")
        active = [label in joint.active_rows or label in motions for label in ROWS]
        if self.model.plane is not None:
            self._keep_in_plane(joint, motions, active)
        row = [self._new_row(joint.name, label) if on else -1 for label, on in zip(ROWS, active, strict=True)]
        if not any(active):
            raise ModelError(joint.element, "it restricts nothing in the plane", "leave it out, or planar")
        self.motion_rows |= {
            m.name: row[ROWS.index(x)] for x, m in motions.items() if x not in joint.active_rows and row[ROWS.index(x)] >= 0
        }
        self.locks.append({
            "element": joint.name,
            **ends,
            "rotation_2": self.joint_frames[joint.name][1].ravel(),
            "row": row,
            "term": [self._new_term(r, ends) if r >= 0 else -1 for r in row],
            "motion": self._new_motion() if motions else 0,
            "law": [self._law(motions.get(label)) for label in ROWS],
        })  # fmt: skip

    def _keep_in_plane(self, joint: Joint, motions: dict[str, Motion], active: list[bool]) -> None:
        """Leave out the rows that lead out of the plane of a planar model."""
        assert self.model.plane is not None
        kept = rows_in_plane(joint, joint.frames(self.place_for(joint.element))[1], self.model.plane)
        for row, motion in motions.items():
            if row not in kept:
                raise ModelError(motion.element, f"{motion.coordinate!r} leads out of the plane", f"drive {', '.join(kept)}")
        active[:] = [on and label in kept for label, on in zip(ROWS, active, strict=True)]

    def _add_plane(self, body: str, normal: Array) -> None:
        """Tie a body to its plane."""
        place = np.asarray(self.model.bodies[body].position)
        plane = Joint(name="plane", type="planar", main=GROUND, driven=body, at=place, axis=normal)
        ends = self.ends(plane)
        name, first = plane_name(body), len(self.rows)
        self.joint_rows[name] = []
        row = [self._new_row(name, label) if label in PLANE_ROWS else -1 for label in ROWS]
        self.plane_rows += range(first, len(self.rows))
        self.locks.append({
            "element": name,
            **ends,
            "rotation_2": np.ravel(to_matrix(load4(ends["quaternion_2"]))),
            "row": row,
            "term": [self._new_term(r, ends) if r >= 0 else -1 for r in row],
            "motion": 0,
            "law": [-1] * 6,
        })  # fmt: skip

    def _add_contact(self, joint: Joint, ends: dict[str, Any], motions: dict[str, Motion]) -> None:
        for motion in motions.values():
            raise ModelError(motion.element, f"a {joint.type} joint cannot be driven", "drive the joint of its axle")
        active, (_, R2, _, R1) = joint.active_rows, joint.frames(self.place_for(joint.element))
        if self.model.plane is not None:
            kept = contact_rows_in_plane(joint, R2, R1, self.model.plane)
            active = tuple(row for row in active if row in kept)
        names = dict.fromkeys(CONTACT_ROWS, "velocity") if joint.type == "pfaffian" else {}
        row = [self._new_row(joint.name, names.get(label, label)) if label in active else -1 for label in CONTACT_ROWS]
        F1 = np.reshape(to_matrix(load4(ends["quaternion_1"])), (3, 3))
        coefficients = np.array([1.0, 0, 0, 0, 0, 0]) if joint.coefficients is None else np.asarray(joint.coefficients)
        tyre = joint.crown_radius or 0.0
        if joint.type == "rolling_sphere":
            tyre = joint.radius or 0.0
        self.contacts.append({
            **{label: ends[label] for label in ("body_1", "body_2", "point_1", "point_2")},
            "element": joint.name,
            "kind": joint.kind.contact,
            "rotation_1": F1.ravel(),
            "direction": F1 @ coefficients[:3],
            "couple": F1 @ coefficients[3:],
            "rotation_2": self.joint_frames[joint.name][1].ravel(),
            "ring": (joint.radius or 0.0) - tyre,
            "tyre": tyre,
            "row": row,
            "term": [self._new_term(r, ends) if r >= 0 else -1 for r in row],
        })  # fmt: skip

    def _add_velocity_row(self, velocity_row: VelocityRow) -> None:
        if velocity_row.name in self.joint_rows:
            raise ModelError(velocity_row.element, "a joint or coupling has the same name", "give each its own name")
        self.joint_rows[velocity_row.name] = []
        row = self._new_row(velocity_row.name, "")
        if row < 0:
            return
        ends = {"body_1": self.index[velocity_row.driven], "body_2": self.index[velocity_row.main]}
        callback = self.forces.add_source(VelocityRowSource(velocity_row))
        own = {"element": velocity_row.name, "callback": callback, "row": row, "term": self._new_term(row, ends)}
        self.user_rows.append(ends | own)

    def _add_perpendicular(self, joint: Joint, ends: dict[str, Any]) -> None:
        row = self._new_row(joint.name, "perpendicular")
        if row < 0:
            return
        axes = {f"axis_{k}": _x_axis(ends[f"quaternion_{k}"]) for k in (1, 2)}
        bodies = {label: ends[label] for label in ("body_1", "body_2")}
        self.perpendiculars.append({**bodies, **axes, "element": joint.name, "row": row, "term": self._new_term(row, ends)})

    def _add_rod(self, joint: Joint, ends: dict[str, Any], motions: dict[str, Motion]) -> None:
        for motion in motions.values():
            if motion.coordinate != "distance":
                raise ModelError(motion.element, f"a distance joint has no {motion.coordinate!r}", "drive its 'distance'")
        place_2, _, place_1, _ = joint.frames(self.place_for(joint.element))
        length = float(np.linalg.norm(place_1 - place_2)) if joint.length is None else joint.length
        if length == 0.0:
            remedy = "draw its points apart, or use a spherical joint to keep two points together"
            raise ModelError(joint.element, "the distance is zero, its direction undefined", remedy)
        row = self._new_row(joint.name, "distance")
        if row < 0:
            return
        own = {label: ends[label] for label in ("body_1", "body_2", "point_1", "point_2")}
        law = self._law(motions.get("x"))
        term = self._new_term(row, ends)
        self.distances.append({**own, "element": joint.name, "length": length, "law": law, "row": row, "term": term})

    # --- coordinates and couplings ------------------------------------------------------------------------------------

    def _add_observer(self, joint: Joint, ends: dict[str, Any], label: str) -> None:
        memory = -1
        if label == "angle":
            memory = self.n_angles
            self.n_angles += 1
        self.observers[joint.name, label] = len(self.coordinates)
        own = {"kind": KINDS[label], "memory": memory, "ratio": 1.0, "offset": 0.0, "law": -1, "row": -1, "term": -1}
        self.coordinates.append({**ends, **own, "element": joint.name})

    def _add_coupling(self, coupling: Coupling) -> None:
        if coupling.name in self.joint_rows:
            raise ModelError(coupling.element, "a joint has the same name", "give each its own name")
        self.joint_rows[coupling.name] = []
        row = self._new_row(coupling.name, "")
        if row < 0:
            return
        for term in coupling.terms:
            self._add_term(term.joint, term.coordinate, term.ratio, row, coupling.name)
        if coupling.offset is not None:
            self.coordinates[-1]["offset"] = coupling.offset

    def _add_term(self, joint: str, label: str, ratio: float, row: int, element: str) -> None:
        observer = self.coordinates[self.observers[joint, label]]
        term = self._new_term(row, observer)
        self.coordinates.append({**observer, "element": element, "ratio": ratio, "row": row, "term": term})

    def _add_shapes(self, modal_body: ModalBody) -> None:
        rows_of = {lock["element"]: lock["row"] for lock in self.locks}  # -1: left out
        for tie, carriers, form in modal_body.terms():
            ends = {f"body_{k + 1}": self.index[carrier] for k, carrier in enumerate(carriers)}
            rows = rows_of[tie]
            terms = [self._new_term(row, ends) if row >= 0 else -1 for row in rows]
            self.shapes.append({**ends, "row": rows, "term": terms, "form": form})

    def _drawn_coordinates(self, tables: Tables, design: State) -> Array:
        """Return the coordinate of each record in the design position."""
        poses = assembly.new_poses(len(self.model.bodies))
        assembly.set_positions(design.q, poses)
        values = np.empty(tables.coordinates.size)
        assembly.coordinates(tables, poses, design.q[7 * len(self.model.bodies) :], values)
        return values

    def _offsets_as_drawn(self, tables: Tables, drawn: Array) -> None:
        """Give couplings and screws without an offset the one that the design position has."""
        free = {row for c in self.model.couplings.values() if c.offset is None for row in self.joint_rows[c.name]}
        free |= {row for row, name in enumerate(self.rows) if name.endswith(".screw")}
        for record, value in zip(tables.coordinates, drawn, strict=True):
            if record.row in free:
                record.offset = record.ratio * value

    def place_for(self, element: str) -> Callable[[Place], Array]:
        return lambda at: self.model.place(at, element)

    def in_body(self, body: str, place: Array) -> Array:
        """Return a place in the design position in a body's own axes."""
        position, R_WB = self.pose(body)
        return np.asarray(R_WB.inv().apply(place - position))

    def frame_in_body(self, body: str, orientation: Rotation) -> Array:
        return np.asarray((self.pose(body)[1].inv() * orientation).as_matrix())

    # --- indices ------------------------------------------------------------------------------------------------------

    def _new_row(self, element: str, label: str) -> int:
        """Return the index of a new row; -1 if it is to be left out."""
        name = f"{element}.{label}" if label else element
        self.row_names.append(name)
        if name in self.without:
            return -1
        self.rows.append(name)
        self.joint_rows[element].append(len(self.rows) - 1)
        return len(self.rows) - 1

    def _new_term(self, row: int, ends: dict[str, Any]) -> int:
        self.term_row.append(row)
        self.term_bodies.append((ends["body_1"], ends["body_2"]))
        return len(self.term_row) - 1

    def _new_motion(self) -> int:
        self.n_motions += 1
        return self.n_motions

    def _law(self, motion: Motion | None) -> int:
        return self.new_law(motion.law, motion.element) if motion else -1  # the last law, which is zero

    def new_law(self, law: Law, element: str) -> int:
        self.laws.append(law)
        self.law_names.append(element)
        return len(self.laws) - 1

    def _check_left_out(self) -> None:
        for name in self.without:
            if name not in self.row_names:
                raise ModelError(f"row {name!r}", "there is no such constraint row", nearest(name, self.row_names))

    # --- the whole ----------------------------------------------------------------------------------------------------

    def _check_bodies(self) -> None:
        held = {end for joint in self.model.joints.values() for end in (joint.main, joint.driven)}
        if not self.model.bodies:
            raise ModelError(f"model {self.model.name!r}", "it has no body", "add one with model.body(...)")
        for body in self.model.bodies.values():
            if body.mass == 0.0 and body.name not in held:
                remedy = "give it a mass, or tie it to other bodies by joints"
                raise ModelError(f"body {body.name!r}", "it has no mass and no joint: its motion is not determined", remedy)

    def _design(self, tables: Tables) -> State:
        bodies = self.model.bodies.values()
        q = np.concatenate([*(np.concatenate([b.position, b.quaternion]) for b in bodies), np.zeros(self.n_angles)])
        v = np.concatenate([np.concatenate([b.velocity, b.rotation.inv().apply(b.angular_velocity)]) for b in bodies])
        poses = assembly.new_poses(len(self.model.bodies))
        assembly.set_positions(q, poses)
        tail = q[7 * len(self.model.bodies) :]
        assembly.follow_angles(tables, poses, tail.copy(), tail)
        return State(0.0, q, v)

    def _layout(self) -> Layout:
        return Layout(
            bodies=tuple(self.model.bodies),
            rows=tuple(self.rows),
            joint_rows={name: np.array(rows, dtype=np.intp) for name, rows in self.joint_rows.items()},
            motion_rows=self.motion_rows,
            plane_rows=np.array(self.plane_rows, dtype=np.intp),
            joint_bodies={j.name: (self.index[j.driven], self.index[j.main]) for j in self.model.joints.values()},
            term_row=np.array(self.term_row, dtype=np.intp),
            term_bodies=np.array(self.term_bodies, dtype=np.intp).reshape(-1, 2),
            constraint_elements=elements_of(
                self.locks, self.perpendiculars, self.distances, self.coordinates, self.contacts, self.user_rows
            ),
            force_elements=elements_of(*self.forces.families()),
            friction_joints=self.forces.friction_joints,
            force_coordinates=self.forces.force_coordinates,
            observers=self.observers,
            joint_frames=self.joint_frames,
            frames={frame.name: self._frame(frame) for frame in self.model.frames.values()},
        )

    def _frame(self, frame: Frame) -> tuple[int, Array, Array]:
        position, R_WB = self.pose(frame.body)
        place = self.model.place(frame.at, frame.element)
        orientation = R_WB.inv() * checks.rotation(frame.element, "orientation", frame.orientation)
        return self.index[frame.body], R_WB.inv().apply(place - position), orientation.as_matrix()


def _x_axis(rho: Array) -> Array:
    return np.array(to_matrix(load4(rho))[::3])


def _scalar_of_relative(body_1: Quaternion, frame_1: Array, body_2: Quaternion, frame_2: Array) -> float:
    """Return the scalar part of rho_F2* rho_F1: the inner product of the two quaternions."""
    return float(np.dot(multiply(body_1, load4(frame_1)), multiply(body_2, load4(frame_2))))
