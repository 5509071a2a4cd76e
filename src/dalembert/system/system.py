"""Bodies and joints as arrays: what answers the protocol (protocol.py) for them.

    M v' + A^T lambda = f(t, q, v),    phi(t, q) = 0,    A v = b'(t, q),    A v' = b''(t, q, v)

Small displacements d, velocities v, forces f and all tangents share one ordering: per body three components in the world,
then three about the body's own axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse import csc_array

from dalembert.elements import beam_element, load, lock
from dalembert.errors import ModelError, SolveError, nearest
from dalembert.kernel.vec3 import Array
from dalembert.linalg.pattern import Indices, Pattern
from dalembert.system import assembly
from dalembert.system.assembly import Now, Tables
from dalembert.system.friction import JointFriction
from dalembert.system.state import State


@dataclass(frozen=True)
class Layout:
    """Names to indices, and indices back to names.

    Parameters
    ----------
    bodies : tuple of str
        In the order of q and v.
    rows : tuple of str
        Name of each constraint row: ``"hinge.x"``.
    joint_rows : dict
        Rows of each joint and coupling.
    motion_rows : dict
        For each motion that drives a coordinate which its joint leaves free: the row.
    plane_rows : array of int
        Rows that keep the bodies of a planar model in their planes.
    term_row, term_bodies : array of int
        Constraint row of each term of the Jacobian, and its two bodies (B1, B2); the ground comes after the last body.
    constraint_elements, force_elements : tuple of str
        Element of each block of the tangents: of K_c, and of the forces.
    friction_joints : dict
        Joint of each friction.
    force_coordinates : dict
        Joint and coordinate of each torsion spring and joint load.
    observers : dict
        Record in the family `coordinate` of each (joint, coordinate).
    joint_frames : dict
        For each joint: body 2, and position and orientation (3x3) of F2 in it.
    frames : dict
        For each frame: its body, and its position and orientation (3x3) in it.
    """

    bodies: tuple[str, ...]
    rows: tuple[str, ...]
    joint_rows: dict[str, Indices]
    motion_rows: dict[str, int]
    plane_rows: Indices
    joint_bodies: dict[str, tuple[int, int]]
    term_row: Indices
    term_bodies: Indices
    constraint_elements: tuple[str, ...]
    force_elements: tuple[str, ...]
    friction_joints: dict[str, str]
    force_coordinates: dict[str, tuple[str, str]]
    observers: dict[tuple[str, str], int]
    joint_frames: dict[str, tuple[Array, Array]]
    frames: dict[str, tuple[int, Array, Array]]


FREEDOMS = ("x", "y", "z", "rotation about its x", "rotation about its y", "rotation about its z")
"""The six velocities of a body in words."""


@dataclass(frozen=True)
class Reaction:
    """The wrench of a joint on its driven body, at the origin of F2 and in its axes.

    Parameters
    ----------
    force : array
        [N].
    torque : array
        [N m].
    """

    force: Array
    torque: Array


@dataclass(frozen=True)
class Energy:
    """The energies of a system in one state.

    Parameters
    ----------
    kinetic : float
        [J].
    potentials : dict
        Potential energy of each kind [J]: ``"gravity"`` (zero at the world's origin), ``"springs"`` and ``"joint forces"``
        (zero where they are relaxed, or as drawn if they are expressions), ``"bushings"``, ``"beams"``,
        ``"loads"`` (constant dead forces).
        Forces that depend on time, rates or a user's function have none.
    """

    kinetic: float
    potentials: dict[str, float]

    @property
    def potential(self) -> float:
        """The sum of all potential energies [J]."""
        return sum(self.potentials.values())

    @property
    def total(self) -> float:
        """Kinetic and potential energy [J]; constant while nothing damps or drives."""
        return self.kinetic + self.potential


class System:
    """Bodies and joints as arrays; made by `build`.

    Parameters
    ----------
    name : str
    tables : Tables
    layout : Layout
    design : State
        The design position with the velocities of the bodies, not yet assembled.
    tolerance : float
        How far rows may stay open where they contradict each other [m], [sine of half an angle].

    Examples
    --------
    >>> from dalembert.system.build import build
    >>> from dalembert.system.model import Model
    >>> model = Model("pendulum", gravity=(0, 0, -9.81))
    >>> bob = model.body("bob", mass=15.0, position=(0, 0, -4))
    >>> hinge = model.revolute("hinge", model.ground, bob, axis=(0, 1, 0))
    >>> system = build(model)
    >>> system.n_velocities, system.n_constraints
    (6, 5)
    >>> system.force(0.0, system.design.q, system.design.v).tolist()
    [0.0, 0.0, -147.15, 0.0, 0.0, 0.0]
    """

    def __init__(self, name: str, tables: Tables, layout: Layout, design: State, *, tolerance: float = 0.0) -> None:
        self.name = name
        self.tables = tables
        self.layout = layout
        self.design = design
        self.tolerance = tolerance
        self.n_bodies = len(layout.bodies)
        self.n_positions = design.q.size
        self.n_velocities = 6 * self.n_bodies
        self.n_constraints = len(layout.rows)
        self._now = assembly.new_now(tables)
        self._body_columns = _columns_of_bodies(self.n_bodies)
        self.joint_of_term = self._joints_of_terms()
        self._n_constraint_blocks = sum(table.size for table in assembly.constraint_tables(tables))
        self.reaction_places = self._places_of_reactions()
        self._mass = self._constant_mass()
        self._n_user_entries = sum(36 * int(user.count) ** 2 for user in tables.user_forces)
        self._velocity_rows = np.concatenate([tables.contacts.row[:, 1:].reshape(-1), tables.user_rows.row])
        self._holonomic = np.ones(self.n_constraints, dtype=bool)
        self._holonomic[self._velocity_rows[self._velocity_rows >= 0]] = False
        self._jacobian_pattern = self._pattern_of_jacobian()
        self._tangent_pattern = self._pattern_of_tangents()
        self._damping_pattern = self._pattern_of_damping()
        self._transport_pattern = self._square_pattern([self._body_columns[:-1, 3:]])
        self.friction = JointFriction(self) if tables.frictions.size else None

    # --- the protocol -------------------------------------------------------------------------------------------------

    @property
    def holonomic(self) -> NDArray[np.bool_]:
        """Which rows of A come from a phi(t, q) = 0: all but those of contacts that roll or do not slip sideways."""
        return self._holonomic

    @property
    def rotational(self) -> NDArray[np.bool_]:
        """Which entries of v are angular velocities: the last three of each body."""
        return np.arange(self.n_velocities) % 6 >= 3

    @property
    def row_names(self) -> tuple[str, ...]:
        """Constraint rows as errors call them: ``"hinge.x"``."""
        return self.layout.rows

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Entries of v as errors call them: ``"body 'bob' (x)"``."""
        return tuple(f"body {body!r} ({label})" for body in self.layout.bodies for label in FREEDOMS)

    def mass(self, t: float = 0.0, q: Array | None = None) -> csc_array:
        """Return M [kg], [kg m2]; constant in this basis."""
        return self._mass

    def inertia_stiffness(self, t: float, q: Array, a: Array) -> csc_array:
        """Return d(M a)/dd: zero, because M is constant in this basis."""
        return csc_array((self.n_velocities, self.n_velocities))

    def transport(self, v: Array) -> csc_array:
        """Return N of dv = d' + N d: w_B x d for the rotations, because d turns with the body (Peng et al. 2024, K_i)."""
        w = np.asarray(v, float).reshape(-1, 6)[:, 3:]
        x, y, z, zero = *w.T, np.zeros(len(w))
        entries = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=1)
        return self._transport_pattern.matrix(entries)

    def force(self, t: float, q: Array, v: Array) -> Array:
        """Return f: forces of all elements, weight, and the gyroscopic torques -w x I w [N], [N m]."""
        f = self._applied(t, q, v)
        return f if self.friction is None else f + self.friction.force(t, q, v, f)

    def non_ideal_force(self, t: float, q: Array, v: Array) -> Array:
        """Return C, the part of f that is due to the constraints and does work: friction in joints [N], [N m]."""
        return np.zeros(self.n_velocities) if self.friction is None else self.friction.force(t, q, v, self._applied(t, q, v))

    def _applied(self, t: float, q: Array, v: Array) -> Array:
        """Return f without the friction in joints."""
        f = np.empty(self.n_velocities + 6)
        assembly.force(self.tables, self._at(t, q, v), self._last(q), f)
        self.tables.callbacks.raise_error()
        self._refuse_overbent(f, q)
        return f[:-6]

    def constraint(self, t: float, q: Array) -> Array:
        """Return the residual phi: lengths [m] and sines of half angles."""
        phi = np.empty(self.n_constraints)
        assembly.constraint(self.tables, self._at(t, q), self._last(q), phi)
        return phi

    def jacobian(self, t: float, q: Array, v: Array | None = None) -> csc_array:
        """Return A = d(phi)/d(d); it does not depend on v."""
        return self._jacobian_pattern.matrix(self.jacobian_terms(t, q))

    def jacobian_terms(self, t: float, q: Array) -> Array:
        """Return the terms of A, 12 columns each; see `Layout`."""
        J = np.zeros((self.layout.term_row.size, 12))
        assembly.jacobian(self.tables, self._at(t, q), J)
        self.tables.callbacks.raise_error()
        return J

    def velocity_residual(self, t: float, q: Array, v: Array) -> Array:
        """Return A v - b'."""
        return np.asarray(self.jacobian(t, q) @ v - self.velocity_right_side(t, q))

    def velocity_stiffness(self, t: float, q: Array, v: Array) -> csc_array:
        """Return d(A v - b')/dd of the rows that restrict velocities only."""
        B, kept = np.zeros((self._velocity_rows.size, 12)), self._velocity_rows >= 0
        assembly.velocity_tangents(self.tables, self._at(t, q, v), B)
        of_contacts = np.repeat(self._columns_of_pairs(self.tables.contacts), 2, axis=0)
        columns = np.concatenate([of_contacts, self._columns_of_pairs(self.tables.user_rows)])[kept]
        rows = np.repeat(self._velocity_rows[kept], 12)
        return Pattern(rows, columns.ravel(), (self.n_constraints, self.n_velocities)).matrix(B[kept].ravel())

    def velocity_right_side(self, t: float, q: Array) -> Array:
        """Return b' of A v = b'."""
        return self._right_sides(t, q, np.zeros(self.n_velocities))[0]

    def acceleration_right_side(self, t: float, q: Array, v: Array) -> Array:
        """Return b'' of A v' = b''."""
        return self._right_sides(t, q, v)[1]

    def stiffness(self, t: float, q: Array, v: Array, multipliers: Array, *, with_constraints: bool = True) -> csc_array:
        """Return K = d(A^T lambda - f)/d(d), not symmetric in general; without K_c if `with_constraints` is false."""
        entries = np.zeros(self._tangent_pattern.slots.size)
        n = self._n_constraint_blocks
        if with_constraints:
            blocks = entries[: 144 * n].reshape(n, 12, 12)
            assembly.constraint_tangents(self.tables, self._at(t, q, v), np.asarray(multipliers, float), blocks)
        entries[144 * n :] = self._force_tangents(t, q, v)[0]
        K = self._tangent_pattern.matrix(entries)
        return K if self.friction is None else sp.csc_array(K + self.friction.stiffness(t, q, v))

    def damping(self, t: float, q: Array, v: Array, multipliers: Array | None = None) -> csc_array:
        """Return D = -d(f)/d(v), gyroscopic terms included."""
        gyroscopic = np.empty((self.n_bodies, 9))
        assembly.gyroscopic_damping(self.tables, self._at(t, q, v).poses, gyroscopic)
        D = self._damping_pattern.matrix(np.concatenate([gyroscopic.ravel(), self._force_tangents(t, q, v)[1]]))
        return D if self.friction is None else sp.csc_array(D + self.friction.damping(t, q, v, multipliers))

    def energy(self, t: float, q: Array, v: Array) -> Energy:
        """Return kinetic and potential energies [J]."""
        out = np.empty(len(assembly.ENERGIES))
        assembly.energies(self.tables, self._at(t, q, v), self._last(q), out)
        self.tables.callbacks.raise_error()
        kinetic, *potentials = out.tolist()
        return Energy(kinetic, dict(zip(assembly.ENERGIES[1:], potentials, strict=True)))

    def advance(self, q: Array, d: Array) -> Array:
        """Return q moved by d: positions add, quaternions turn about the body's axes, angles follow."""
        out = np.empty(self.n_positions)
        q, d = _flat(q, self.n_positions, "q"), _flat(d, self.n_velocities, "d")
        assembly.advance(self.tables, q, d, self._now.poses, out)
        return out

    # --- in a user's words --------------------------------------------------------------------------------------------

    def coordinate(self, joint: str, coordinate: str, q: Array) -> float:
        """Return the angle [rad], continuous over many turns, or the distance [m] of a joint."""
        return float(self.coordinates(q)[self._observer(joint, coordinate)])

    def coordinates(self, q: Array) -> Array:
        """Return the coordinate of each record of the family `coordinate`; `layout.observers` says which is which."""
        values = np.empty(self.tables.coordinates.size)
        assembly.coordinates(self.tables, self._at(0.0, q).poses, self._last(q), values)
        return values

    def coordinate_gradient(self, joint: str, coordinate: str, q: Array) -> Array:
        """Return d(coordinate)/dd of a joint: the generalised force of a unit torque [N m] or force [N] along it."""
        record = self.tables.coordinates[self._observer(joint, coordinate)]
        row, gradient = np.zeros(12), np.zeros(self.n_velocities + 6)
        assembly.coordinate_gradient(record, self._at(0.0, q).poses, row)
        columns = self._body_columns[[record.body_1, record.body_2]].ravel()
        np.add.at(gradient, columns, row)  # those of the ground are -1
        return gradient[:-6]

    def _observer(self, joint: str, coordinate: str) -> int:
        """Return the record of a joint's coordinate."""
        known = [f"{j}.{c}" for j, c in self.layout.observers]
        if (joint, coordinate) not in self.layout.observers:
            raise ModelError(f"joint {joint!r}", f"it has no {coordinate!r}", nearest(f"{joint}.{coordinate}", known))
        return self.layout.observers[joint, coordinate]

    def frame(self, name: str, q: Array) -> tuple[Array, Array]:
        """Return position [m] and orientation (3x3) of a frame in the world."""
        if name not in self.layout.frames:
            raise ModelError(f"frame {name!r}", "there is no such frame", nearest(name, self.layout.frames))
        body, position, orientation = self.layout.frames[name]
        pose = self._at(0.0, q).poses[body]
        R = np.reshape(pose.rotation, (3, 3))
        return pose.position + R @ position, R @ orientation

    def reaction(self, joint: str, t: float, q: Array, multipliers: Array) -> Reaction:
        """Return the wrench of one joint on its driven body; see `reactions`."""
        names = list(self.layout.joint_frames)
        if joint not in names:
            raise ModelError(f"joint {joint!r}", "there is no such joint", nearest(joint, names))
        return Reaction(*(part[names.index(joint)] for part in self.reactions(t, q, multipliers)))

    def reactions(self, t: float, q: Array, multipliers: Array) -> tuple[Array, Array]:
        """Return force [N] and torque [N m] of every joint on its driven body, in the axes of F2 and about its origin."""
        n, lam = self.reaction_places.size, np.ascontiguousarray(multipliers, float)
        force, torque, J = np.empty((n, 3)), np.empty((n, 3)), self.jacobian_terms(t, q)
        places, poses = self.reaction_places, self._now.poses
        assembly.reactions(self.tables, places, self.joint_of_term, self.layout.term_row, poses, J, lam, force, torque)
        return force, torque

    def load_force(self, name: str, t: float, q: Array) -> Array:
        """Return what one more unit of the factor of a load adds to f; for a joint load, 1 N m or 1 N along its coordinate."""
        if name in self.layout.force_coordinates:
            return self.coordinate_gradient(*self.layout.force_coordinates[name], q)
        loads = self.layout.force_elements[: assembly.n_force_blocks(self.tables)][-self.tables.loads.size :]
        if not self.tables.loads.size or name not in loads:
            raise ModelError(f"force {name!r}", "it is not a load", nearest(name, [*self.layout.force_coordinates, *loads]))
        k = loads.index(name)
        record, f = self.tables.loads[k : k + 1].copy(), np.zeros(self.n_velocities + 6)
        record.factor, record.factor_law = 1.0, -1
        now = self._at(t, q)
        load.add_force(record[0], now.poses, now.laws, f)
        return f[:-6]

    def motion_right_side(self, name: str, t: float, q: Array) -> Array:
        """Return A d for a unit change of the coordinate that a motion prescribes: b' for a unit rate of its law."""
        names = self.motion_names
        if name not in names:
            raise ModelError(f"motion {name!r}", "there is no such motion", nearest(name, names))
        now, b1, b2 = self._at(t, q), np.empty(self.n_constraints), np.empty(self.n_constraints)
        now.laws[:, 1:] = 0.0
        now.laws[self._laws().index(f"motion {name!r}"), 1] = 1.0
        for joint in self.tables.locks:
            if joint.motion > 0:
                lock.prescribe(joint, now.laws, now.motions)
        assembly.right_sides(self.tables, now, b1, b2)
        return b1

    @property
    def gaps(self) -> dict[str, float]:
        """Rows that stay open because redundant constraints contradict each other [m], [sine of half an angle]."""
        return {self.layout.rows[k]: float(self.tables.gaps[k]) for k in np.flatnonzero(self.tables.gaps)}

    @property
    def motion_names(self) -> tuple[str, ...]:
        """The motions of the model."""
        return tuple(name[8:-1] for name in self._laws() if name.startswith("motion "))

    def element_stiffnesses(self, t: float, q: Array, v: Array, multipliers: Array) -> list[tuple[str, Indices, Array]]:
        """Return name, columns (-1: the ground) and tangent of each joint (K_c) and force element, block by block."""
        n, m = self._n_constraint_blocks, assembly.n_force_blocks(self.tables)
        blocks = np.zeros((n + m, 12, 12))
        assembly.constraint_tangents(self.tables, self._at(t, q, v), np.asarray(multipliers, float), blocks[:n])
        entries = self._force_tangents(t, q, v)[0]
        blocks[n:] = entries[: 144 * m].reshape(m, 12, 12)
        families = assembly.constraint_tables(self.tables)
        groups = [*(self._columns_of_pairs(table) for table in families), *self._columns_of_forces()]
        columns = [one for group in groups for one in group]
        names = [*self.layout.constraint_elements, *self.layout.force_elements]
        users = np.split(entries[144 * m :], np.cumsum([columns[k].size ** 2 for k in range(n + m, len(columns))])[:-1])
        squares = [*blocks, *(one.reshape(-1, int(np.sqrt(one.size))) for one in users if one.size)]
        return list(zip(names, columns, squares, strict=True))

    def overbent(self, q: Array, slack: float = 0.0) -> tuple[str | None, str]:
        """Return name and problem of the beam element that turns furthest from end to end, if it turns too far."""
        beams, poses = self.tables.beams, self._at(0.0, q).poses
        angles = [beam_element.turn(beam, poses) for beam in beams]
        if not max(angles, default=0.0) > beam_element.LARGEST_TURN - slack:
            return None, ""
        worst = int(np.argmax(angles))
        before = assembly.n_force_blocks(self.tables) - self.tables.loads.size - beams.size
        name = self.layout.force_elements[before + worst]
        return f"beam element {name!r}", f"{beam_element.turns(angles[worst])}; {beam_element.REMEDY}"

    # --- inside -------------------------------------------------------------------------------------------------------

    def _at(self, t: float, q: Array, v: Array | None = None) -> Now:
        """Return what the elements look at, at t, q and v."""
        assembly.set_time(self.tables, float(t), self._now)
        self.tables.laws.raise_error()
        assembly.set_positions(_flat(q, self.n_positions, "q"), self._now.poses)
        velocities = np.zeros(self.n_velocities) if v is None else _flat(v, self.n_velocities, "v")
        assembly.set_velocities(velocities, self._now.poses)
        return self._now

    def _laws(self) -> tuple[str, ...]:
        """Return what each law of time drives."""
        return tuple(self.tables.laws.laws.keeper.names)

    def _last(self, q: Array) -> Array:
        """Return the part of q that remembers angles."""
        return np.ascontiguousarray(q[7 * self.n_bodies :], dtype=float)

    def _force_tangents(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Return the entries of K and of D of all force elements."""
        n = assembly.n_force_blocks(self.tables)
        K, D = np.zeros((2, 144 * n + self._n_user_entries))
        blocks = [one[: 144 * n].reshape(n, 12, 12) for one in (K, D)]
        of_users = [one[144 * n :] for one in (K, D)]
        assembly.force_tangents(self.tables, self._at(t, q, v), self._last(q), blocks[0], blocks[1], of_users[0], of_users[1])
        self.tables.callbacks.raise_error()
        self._refuse_overbent(K, q)
        return K, D

    def _refuse_overbent(self, result: Array, q: Array) -> None:
        """Raise an error if a result is not finite because a beam element turns too far."""
        if self.tables.beams.size and not np.isfinite(result).all():
            element, problem = self.overbent(q)
            if element:
                raise SolveError(f"{element}: {problem}")

    def _right_sides(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        b1, b2 = np.empty(self.n_constraints), np.empty(self.n_constraints)
        assembly.right_sides(self.tables, self._at(t, q, v), b1, b2)
        return b1, b2

    def _joints_of_terms(self) -> Indices:
        """Return the number of the joint that each term of the Jacobian belongs to; couplings come after the last joint."""
        joint_of_row = np.full(self.n_constraints, len(self.layout.joint_frames), dtype=np.intp)
        for number, joint in enumerate(self.layout.joint_frames):
            joint_of_row[self.layout.joint_rows[joint]] = number
        joint_of_term: Indices = joint_of_row[self.layout.term_row]
        terms = self.tables.shapes.term.ravel()
        joint_of_term[terms[terms >= 0]] = len(self.layout.joint_frames)  # they act on modal coordinates
        return joint_of_term

    def _places_of_reactions(self) -> Any:
        """Return where the wrench of each joint is shown."""
        places = np.zeros(len(self.layout.joint_frames), assembly.REACTION).view(np.recarray)
        last = self._n_constraint_blocks - self.tables.user_rows.size
        names = self.layout.constraint_elements[last - self.tables.contacts.size : last]
        contacts = {name: k for k, name in enumerate(names)}
        for place, (joint, (position, orientation)) in zip(places, self.layout.joint_frames.items(), strict=True):
            place.body_1, place.body_2 = self.layout.joint_bodies[joint]
            place.point_2, place.rotation_2 = position, np.ravel(orientation)
            place.contact = contacts.get(joint, -1)
        return places

    def _constant_mass(self) -> csc_array:
        bodies = self.tables.bodies
        rows = np.concatenate([self._body_columns[:-1, :3].ravel(), np.repeat(self._body_columns[:-1, 3:], 3, axis=1).ravel()])
        cols = np.concatenate([self._body_columns[:-1, :3].ravel(), np.tile(self._body_columns[:-1, 3:], (1, 3)).ravel()])
        entries = np.concatenate([np.repeat(bodies.mass, 3), bodies.inertia.ravel()])
        return Pattern(rows, cols, (self.n_velocities, self.n_velocities)).matrix(entries)

    def _pattern_of_jacobian(self) -> Pattern:
        rows = np.repeat(self.layout.term_row, 12)
        columns = self._body_columns[self.layout.term_bodies].reshape(-1)
        return Pattern(rows, columns, (self.n_constraints, self.n_velocities))

    def _pattern_of_tangents(self) -> Pattern:
        of_constraints = [self._columns_of_pairs(table) for table in assembly.constraint_tables(self.tables)]
        return self._square_pattern([*of_constraints, *self._columns_of_forces()])

    def _pattern_of_damping(self) -> Pattern:
        return self._square_pattern([self._body_columns[:-1, 3:], *self._columns_of_forces()])

    def _columns_of_forces(self) -> list[Indices]:
        """Return the columns of the tangents of all force elements, in the order of `_force_tangents`."""
        tables = self.tables
        pairs = [self._columns_of_pairs(table) for table in assembly.force_pairs(tables)]
        members = [tables.members[user.first : user.first + user.count] for user in tables.user_forces]
        return [*pairs, *(self._body_columns[one].reshape(1, -1) for one in members)]

    def _columns_of_pairs(self, table: Any) -> Indices:
        columns: Indices = self._body_columns[np.column_stack([table.body_1, table.body_2])].reshape(-1, 12)
        return columns

    def _square_pattern(self, groups: list[Indices]) -> Pattern:
        """Return the pattern of square blocks; each group holds the columns of its blocks, one block a row."""
        rows = [np.repeat(columns, columns.shape[1], axis=1).ravel() for columns in groups]
        columns = [np.tile(columns, (1, columns.shape[1])).ravel() for columns in groups]
        return Pattern(np.concatenate(rows), np.concatenate(columns), (self.n_velocities, self.n_velocities))


def _columns_of_bodies(n: int) -> Indices:
    """Return the six columns of each body; those of the ground, the last, are -1."""
    columns = np.arange(6 * n + 6, dtype=np.intp).reshape(n + 1, 6)
    columns[n] = -1
    return columns


def _flat(values: Array, size: int, label: str) -> Array:
    array = np.ascontiguousarray(values, dtype=float)
    if array.shape != (size,):
        raise ModelError(label, f"it has shape {array.shape}", f"this system needs {size} numbers")
    return array
