"""The whole from its elements: compiled loops over the tables of records.

`Tables` holds one table per element family, `Now` what all elements look at: the bodies' poses, with the ground as the last
row, the values of the laws of time, with zero as the last law, the prescribed motions, with rest as the first, and the time.
So no element asks whether its body is the ground or whether it is driven. Jacobians are kept as *terms*: one row of 12 numbers
for two bodies; each term belongs to a constraint row (several terms to one row only in couplings). The force has six entries
more than v, those of the ground, which mean nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.elements import (
    beam_element,
    body,
    bushing,
    coordinate,
    distance,
    friction,
    joint_force,
    load,
    lock,
    modal_body,
    nonholonomic,
    perpendicular,
    spring,
    user_force,
    user_row,
)
from dalembert.elements.body import POSE
from dalembert.elements.callbacks import Callbacks
from dalembert.elements.formula import LawTables, evaluate
from dalembert.kernel import vec3
from dalembert.kernel.compile import compiled
from dalembert.kernel.vec3 import Array, add, store, store_matrix
from dalembert.linalg.pattern import Indices
from dalembert.rotation.quaternion import advance as turned
from dalembert.rotation.quaternion import load4, normalize, to_matrix


class Tables(NamedTuple):
    """The records of all elements of a system; `gaps` is what rows stay open by, where they contradict each other."""

    gravity: Array
    bodies: Any
    locks: Any
    perpendiculars: Any
    distances: Any
    coordinates: Any
    shapes: Any
    contacts: Any
    user_rows: Any
    gaps: Array
    springs: Any
    joint_forces: Any
    bushings: Any
    beams: Any
    loads: Any
    user_forces: Any
    frictions: Any
    curves: Array
    members: Any
    laws: LawTables
    callbacks: Callbacks

    def raise_error(self) -> None:
        """Raise what a function of the user raised since the last time; compiled code got NaN from it."""
        self.laws.raise_error()
        self.callbacks.raise_error()


class Now(NamedTuple):
    """What the elements look at, at one time and state; and where they write what nobody else reads.

    Parameters
    ----------
    poses : recarray of POSE
    laws : array
        Value, rate, acceleration of each law.
    motions : recarray of MOTION
    time : array of one
    work : array (4, 12, 12)
    exchange : array
        Between compiled code and a user's function.
    """

    poses: Any
    laws: Array
    motions: Any
    time: Array
    work: Array
    exchange: Array


def new_poses(n_bodies: int) -> Any:
    """Return a table of poses, at rest at the origin; its last row is the ground and stays so."""
    poses = np.zeros(n_bodies + 1, POSE).view(np.recarray)
    poses.quaternion[:, 0] = 1.0
    poses.rotation[:] = np.eye(3).ravel()
    return poses


def new_now(tables: Tables) -> Now:
    """Return the arrays that `set_time`, `set_positions` and `set_velocities` fill."""
    n_laws = tables.laws.laws.size
    work, exchange = np.zeros((4, 12, 12)), np.zeros(_exchange_size(tables))
    return Now(
        new_poses(tables.bodies.size), np.zeros((n_laws + 1, 3)), lock.new_motions(tables.locks), np.zeros(1), work, exchange
    )


def _exchange_size(tables: Tables) -> int:
    rows = user_row.INPUTS + max(user_row.OUTPUTS) if tables.user_rows.size else 0
    return max(rows, user_force.exchange_size(tables.user_forces))


@compiled
def set_time(tables: Tables, t: float, now: Now) -> None:
    """Evaluate all laws of time and the prescribed motions."""
    now.time[0] = t
    if now.laws.shape[0] == 1:
        return
    for k in range(now.laws.shape[0] - 1):
        now.laws[k, 0], now.laws[k, 1], now.laws[k, 2] = evaluate(tables.laws, k, t)
    for k in range(tables.locks.shape[0]):
        if tables.locks[k].motion > 0:
            lock.prescribe(tables.locks[k], now.laws, now.motions)


@compiled
def set_positions(q: Array, poses: Any) -> None:
    """Copy the positions of the bodies from q; quaternions are scaled to length one."""
    for i in range(poses.shape[0] - 1):
        pose = poses[i]
        store(pose.position, 0, vec3.load(q, 7 * i))
        rho = normalize(load4(q, 7 * i + 3))
        pose.quaternion[0], pose.quaternion[1], pose.quaternion[2], pose.quaternion[3] = rho
        store_matrix(pose.rotation, to_matrix(rho))


@compiled
def set_velocities(v: Array, poses: Any) -> None:
    """Copy the velocities of the bodies from v."""
    for i in range(poses.shape[0] - 1):
        store(poses[i].velocity, 0, vec3.load(v, 6 * i))
        store(poses[i].angular_velocity, 0, vec3.load(v, 6 * i + 3))


@compiled
def advance(tables: Tables, q: Array, d: Array, poses: Any, out: Array) -> None:
    """Move q by d: positions add, quaternions turn about the body's axes, angles follow continuously."""
    n = poses.shape[0] - 1
    for i in range(n):
        store(out, 7 * i, add(vec3.load(q, 7 * i), vec3.load(d, 6 * i)))
        rho = turned(load4(q, 7 * i + 3), vec3.load(d, 6 * i + 3))
        out[7 * i + 3], out[7 * i + 4], out[7 * i + 5], out[7 * i + 6] = rho
    set_positions(out, poses)
    follow_angles(tables, poses, q[7 * n :], out[7 * n :])


@compiled
def follow_angles(tables: Tables, poses: Any, last: Array, out: Array) -> None:
    """Write the angle of each hinged joint, continuous with the last one."""
    for k in range(tables.coordinates.shape[0]):
        joint = tables.coordinates[k]
        if joint.row < 0 and joint.memory >= 0:
            out[joint.memory] = coordinate.value(joint, poses, last)


@compiled
def coordinates(tables: Tables, poses: Any, last: Array, out: Array) -> None:
    """Write the coordinate of each record of the family `coordinate`."""
    for k in range(tables.coordinates.shape[0]):
        out[k] = coordinate.value(tables.coordinates[k], poses, last)


@compiled
def coordinate_gradient(joint: Any, poses: Any, row: Array) -> None:
    """Write the gradient of the coordinate of one record, 12 numbers."""
    coordinate.gradient(joint, poses, row)


@compiled
def force(tables: Tables, now: Now, last: Array, f: Array) -> None:
    """Write the force f of M v' + A^T lambda = f; the ground's six entries follow those of the bodies."""
    poses, work, exchange = now.poses, now.work, now.exchange
    curves, callbacks = tables.curves, tables.callbacks.table
    f[:] = 0.0
    for i in range(tables.bodies.shape[0]):
        body.add_force(tables.bodies[i], poses[i], tables.gravity, f[6 * i : 6 * i + 6])
    for k in range(tables.springs.shape[0]):
        spring.add_force(tables.springs[k], poses, curves, callbacks, exchange, work[0], f)
    for k in range(tables.joint_forces.shape[0]):
        joint_force.add_force(tables.joint_forces[k], poses, now.laws, last, curves, callbacks, exchange, work[0], f)
    for k in range(tables.bushings.shape[0]):
        bushing.add_force(tables.bushings[k], poses, work[0], f)
    for k in range(tables.beams.shape[0]):
        beam_element.add_force(tables.beams[k], poses, f)
    for k in range(tables.loads.shape[0]):
        load.add_force(tables.loads[k], poses, now.laws, f)
    for k in range(tables.user_forces.shape[0]):
        user_force.add_force(tables.user_forces[k], tables.members, poses, now.time[0], callbacks, exchange, f)


def constraint_tables(tables: Tables) -> tuple[Any, ...]:
    """Return the tables of all constraint families, in the order of their tangents."""
    return tables.locks, tables.perpendiculars, tables.distances, tables.coordinates, tables.contacts, tables.user_rows


def force_pairs(tables: Tables) -> tuple[Any, ...]:
    """Return the tables of the force elements between two bodies, in the order of their tangents."""
    return tables.springs, tables.joint_forces, tables.bushings, tables.beams, tables.loads


def n_force_blocks(tables: Tables) -> int:
    """Return the number of 12x12 blocks of force elements."""
    return sum(int(table.size) for table in force_pairs(tables))


@compiled
def force_tangents(tables: Tables, now: Now, last: Array, K: Array, D: Array, K_user: Array, D_user: Array) -> None:
    """Write K = -dF/dd and D = -dF/dv of every force element, 12x12 each, family after family in the order of `Tables`.

    The tangents of user forces, 6n x 6n each, stand one after the other in flat arrays. Gyroscopic torques are not in it.
    """
    poses, work, exchange = now.poses, now.work, now.exchange
    curves, callbacks = tables.curves, tables.callbacks.table
    n = 0
    for k in range(tables.springs.shape[0]):
        spring.tangents(tables.springs[k], poses, curves, callbacks, exchange, work[0], K[n + k], D[n + k])
    n += tables.springs.shape[0]
    for k in range(tables.joint_forces.shape[0]):
        joint = tables.joint_forces[k]
        joint_force.tangents(joint, poses, now.laws, last, curves, callbacks, exchange, work[0], K[n + k], D[n + k])
    n += tables.joint_forces.shape[0]
    for k in range(tables.bushings.shape[0]):
        bushing.tangents(tables.bushings[k], poses, work, K[n + k], D[n + k])
    n += tables.bushings.shape[0]
    for k in range(tables.beams.shape[0]):
        beam_element.tangents(tables.beams[k], poses, K[n + k], D[n + k])
    n += tables.beams.shape[0]
    for k in range(tables.loads.shape[0]):
        load.tangents(tables.loads[k], poses, now.laws, K[n + k], D[n + k])
    for k in range(tables.user_forces.shape[0]):
        user_force.tangents(tables.user_forces[k], tables.members, poses, now.time[0], callbacks, exchange, K_user, D_user)


@compiled
def add_friction(tables: Tables, now: Now, J: Array, term_row: Indices, lam: Array, f: Array) -> None:
    """Add the friction in joints to f, for given terms of the Jacobian and multipliers."""
    for k in range(tables.frictions.shape[0]):
        friction.add_force(tables.frictions[k], now.poses, J, term_row, lam, now.work, f)


@compiled
def friction_damping(tables: Tables, now: Now, J: Array, term_row: Indices, lam: Array, D: Array) -> None:
    """Write D = -dC/dv at constant multipliers of every friction, 12x12 each."""
    for k in range(tables.frictions.shape[0]):
        friction.damping(tables.frictions[k], now.poses, J, term_row, lam, now.work, D[k])


ENERGIES = ("kinetic", "gravity", "springs", "joint forces", "bushings", "beams", "loads")


@compiled
def energies(tables: Tables, now: Now, last: Array, out: Array) -> None:
    """Write the energies [J] in the order of `ENERGIES`."""
    poses, work, exchange = now.poses, now.work, now.exchange
    curves, callbacks = tables.curves, tables.callbacks.table
    out[:] = 0.0
    for i in range(tables.bodies.shape[0]):
        out[0] += body.kinetic_energy(tables.bodies[i], poses[i])
        out[1] += body.weight_energy(tables.bodies[i], poses[i], tables.gravity)
    for k in range(tables.springs.shape[0]):
        out[2] += spring.energy(tables.springs[k], poses, curves, callbacks, exchange)
    for k in range(tables.joint_forces.shape[0]):
        out[3] += joint_force.energy(tables.joint_forces[k], poses, last, curves, callbacks, exchange)
    for k in range(tables.bushings.shape[0]):
        out[4] += bushing.energy(tables.bushings[k], poses, work[0])
    for k in range(tables.beams.shape[0]):
        out[5] += beam_element.energy(tables.beams[k], poses)
    for k in range(tables.loads.shape[0]):
        out[6] += load.energy(tables.loads[k], poses, now.laws)


@compiled
def gyroscopic_damping(tables: Tables, poses: Any, D: Array) -> None:
    """Write -d(f)/d(w_B) of each body's gyroscopic torque, 3x3."""
    for i in range(tables.bodies.shape[0]):
        store_matrix(D[i], body.gyroscopic_damping(tables.bodies[i], vec3.load(poses[i].angular_velocity)))


@compiled
def constraint(tables: Tables, now: Now, last: Array, phi: Array) -> None:
    """Write the residual phi(q, t) of all constraints; zero for rows that restrict velocities only."""
    poses = now.poses
    for k in range(phi.size):
        phi[k] = -tables.gaps[k]
    for k in range(tables.locks.shape[0]):
        lock.residual(tables.locks[k], poses, now.motions, phi)
    for k in range(tables.perpendiculars.shape[0]):
        perpendicular.residual(tables.perpendiculars[k], poses, phi)
    for k in range(tables.distances.shape[0]):
        distance.residual(tables.distances[k], poses, now.laws, phi)
    for k in range(tables.coordinates.shape[0]):
        coordinate.residual(tables.coordinates[k], poses, last, now.laws, phi)
    for k in range(tables.shapes.shape[0]):
        modal_body.residual(tables.shapes[k], poses, phi)
    for k in range(tables.contacts.shape[0]):
        nonholonomic.residual(tables.contacts[k], poses, phi)


@compiled
def velocity_residual(tables: Tables, now: Now, psi: Array) -> None:
    """Write the residual psi(q, v) of the rows that restrict velocities only; zero for the others."""
    for k in range(psi.size):
        psi[k] = 0.0
    for k in range(tables.contacts.shape[0]):
        nonholonomic.velocity_residual(tables.contacts[k], now.poses, psi)
    t, callbacks = now.time[0], tables.callbacks.table
    for k in range(tables.user_rows.shape[0]):
        user_row.velocity_residual(tables.user_rows[k], now.poses, t, callbacks, now.exchange, psi)


@compiled
def velocity_tangents(tables: Tables, now: Now, B: Array) -> None:
    """Write d(psi)/dd at constant v: for each contact its rows rolling and sideways (12 columns), then the user's rows."""
    n = tables.contacts.shape[0]
    for k in range(n):
        nonholonomic.velocity_tangent(tables.contacts[k], now.poses, B[2 * k : 2 * k + 2])
    t, callbacks = now.time[0], tables.callbacks.table
    for k in range(tables.user_rows.shape[0]):
        user_row.velocity_tangent(tables.user_rows[k], now.poses, t, callbacks, now.exchange, B[2 * n + k])


@compiled
def jacobian(tables: Tables, now: Now, J: Array) -> None:
    """Write all terms of the Jacobian A, 12 columns each."""
    poses = now.poses
    for k in range(tables.locks.shape[0]):
        lock.jacobian(tables.locks[k], poses, now.motions, J)
    for k in range(tables.perpendiculars.shape[0]):
        perpendicular.jacobian(tables.perpendiculars[k], poses, J)
    for k in range(tables.distances.shape[0]):
        distance.jacobian(tables.distances[k], poses, J)
    for k in range(tables.coordinates.shape[0]):
        coordinate.jacobian(tables.coordinates[k], poses, J)
    for k in range(tables.shapes.shape[0]):
        modal_body.jacobian(tables.shapes[k], J)
    for k in range(tables.contacts.shape[0]):
        nonholonomic.jacobian(tables.contacts[k], poses, J)
    t, callbacks = now.time[0], tables.callbacks.table
    for k in range(tables.user_rows.shape[0]):
        user_row.jacobian(tables.user_rows[k], poses, t, callbacks, now.exchange, J)


@compiled
def right_sides(tables: Tables, now: Now, b1: Array, b2: Array) -> None:
    """Write the right sides of A v = b' and A v' = b''."""
    poses = now.poses
    b1[:] = 0.0
    b2[:] = 0.0
    for k in range(tables.locks.shape[0]):
        lock.right_sides(tables.locks[k], poses, now.motions, b1, b2)
    for k in range(tables.perpendiculars.shape[0]):
        perpendicular.right_sides(tables.perpendiculars[k], poses, b1, b2)
    for k in range(tables.distances.shape[0]):
        distance.right_sides(tables.distances[k], poses, now.laws, b1, b2)
    for k in range(tables.coordinates.shape[0]):
        coordinate.right_sides(tables.coordinates[k], poses, now.laws, b1, b2)
    for k in range(tables.contacts.shape[0]):
        nonholonomic.right_sides(tables.contacts[k], poses, b1, b2)
    t, callbacks = now.time[0], tables.callbacks.table
    for k in range(tables.user_rows.shape[0]):
        user_row.right_sides(tables.user_rows[k], poses, t, callbacks, now.exchange, b1, b2)


REACTION = np.dtype(
    [
        ("body_1", np.intp),  # driven body
        ("body_2", np.intp),  # main body
        ("point_2", np.float64, 3),  # r_F2 in B2 [m]
        ("rotation_2", np.float64, 9),  # F2 in B2
        ("contact", np.intp),  # record of the contact that it is, -1: none
    ],
    align=True,
)
"""Where the wrench of a joint is shown."""


@compiled
def reactions(
    tables: Tables,
    places: Any,
    joint_of_term: Indices,
    term_row: Indices,
    poses: Any,
    J: Array,
    lam: Array,
    force: Array,
    torque: Array,
) -> None:
    """Write force [N] and torque [N m] of each joint on its driven body, about the origin of F2 and in its axes.

    Those of wheels, spheres and knife edges are shown at the contact point, in the axes rolling, sideways, normal.

    They are -A^T lambda of the joint's own terms on that body; for a closed joint the torque is P(rho) times the multipliers
    (Peng et al. 2024, appendix C), with the sign of the wrench on the body. Terms of couplings belong to no joint.
    """
    n = places.shape[0]
    for k in range(n):
        store(force[k], 0, vec3.ZERO)
        store(torque[k], 0, vec3.ZERO)
    for k in range(joint_of_term.size):
        joint = joint_of_term[k]
        if joint < n:
            for i in range(3):
                force[joint, i] -= lam[term_row[k]] * J[k, i]
                torque[joint, i] -= lam[term_row[k]] * J[k, 3 + i]
    for k in range(n):
        place = places[k]
        one, two = poses[place.body_1], poses[place.body_2]
        R2 = vec3.load_matrix(two.rotation)
        origin = add(vec3.load(two.position), vec3.mul(R2, vec3.load(place.point_2)))
        F2 = vec3.matmul(R2, vec3.load_matrix(place.rotation_2))
        if place.contact >= 0:
            origin, F2 = nonholonomic.shown_frame(tables.contacts[place.contact], poses)
        world = vec3.load(force[k])
        moment = vec3.mul(vec3.load_matrix(one.rotation), vec3.load(torque[k]))
        moment = add(moment, vec3.cross(vec3.sub(vec3.load(one.position), origin), world))
        store(force[k], 0, vec3.tmul(F2, world))
        store(torque[k], 0, vec3.tmul(F2, moment))


@compiled
def constraint_tangents(tables: Tables, now: Now, gamma: Array, K: Array) -> None:
    """Write K_c of every record, 12x12 each, family after family in the order of `Tables`."""
    poses = now.poses
    n = 0
    for k in range(tables.locks.shape[0]):
        lock.tangent(tables.locks[k], poses, now.motions, gamma, K[n + k])
    n += tables.locks.shape[0]
    for k in range(tables.perpendiculars.shape[0]):
        perpendicular.tangent(tables.perpendiculars[k], poses, gamma, K[n + k])
    n += tables.perpendiculars.shape[0]
    for k in range(tables.distances.shape[0]):
        distance.tangent(tables.distances[k], poses, gamma, K[n + k])
    n += tables.distances.shape[0]
    for k in range(tables.coordinates.shape[0]):
        coordinate.tangent(tables.coordinates[k], poses, gamma, K[n + k])
    n += tables.coordinates.shape[0]
    for k in range(tables.contacts.shape[0]):
        nonholonomic.tangent(tables.contacts[k], poses, gamma, K[n + k])
    n += tables.contacts.shape[0]
    t, callbacks = now.time[0], tables.callbacks.table
    for k in range(tables.user_rows.shape[0]):
        user_row.tangent(tables.user_rows[k], poses, t, callbacks, now.exchange, gamma, K[n + k])
