"""The whole from its elements: compiled loops over the tables of records.

`Tables` holds one table per element family, `Now` what all elements look at: the bodies' poses, with the ground as the last
row, the values of the laws of time, with zero as the last law, and the prescribed motions, with rest as the first. So no
element asks whether its body is the ground or whether it is driven. Jacobians are kept as *terms*: one row of 12 numbers for
two bodies; each term belongs to a constraint row (several terms to one row only in couplings).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.elements import body, coordinate, distance, lock, perpendicular
from dalembert.elements.body import POSE
from dalembert.elements.formula import LawTables, evaluate
from dalembert.kernel.compile import compiled
from dalembert.kernel.vec3 import Array, add, load, store, store_matrix
from dalembert.rotation.quaternion import advance as turned
from dalembert.rotation.quaternion import load4, normalize, to_matrix


class Tables(NamedTuple):
    """The records of all elements of a system."""

    gravity: Array
    bodies: Any
    locks: Any
    perpendiculars: Any
    distances: Any
    coordinates: Any
    laws: LawTables


class Now(NamedTuple):
    """What the elements look at, at one time and state."""

    poses: Any
    laws: Array
    motions: Any


def new_poses(n_bodies: int) -> Any:
    """Return a table of poses, at rest at the origin; its last row is the ground and stays so."""
    poses = np.zeros(n_bodies + 1, POSE).view(np.recarray)
    poses.quaternion[:, 0] = 1.0
    poses.rotation[:] = np.eye(3).ravel()
    return poses


def new_now(tables: Tables) -> Now:
    """Return the arrays that `set_time`, `set_positions` and `set_velocities` fill."""
    n_laws = tables.laws.laws.size
    return Now(new_poses(tables.bodies.size), np.zeros((n_laws + 1, 3)), lock.new_motions(tables.locks))


@compiled
def set_time(tables: Tables, t: float, now: Now) -> None:
    """Evaluate all laws of time and the prescribed motions."""
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
        store(pose.position, 0, load(q, 7 * i))
        rho = normalize(load4(q, 7 * i + 3))
        pose.quaternion[0], pose.quaternion[1], pose.quaternion[2], pose.quaternion[3] = rho
        store_matrix(pose.rotation, to_matrix(rho))


@compiled
def set_velocities(v: Array, poses: Any) -> None:
    """Copy the velocities of the bodies from v."""
    for i in range(poses.shape[0] - 1):
        store(poses[i].velocity, 0, load(v, 6 * i))
        store(poses[i].angular_velocity, 0, load(v, 6 * i + 3))


@compiled
def advance(tables: Tables, q: Array, d: Array, poses: Any, out: Array) -> None:
    """Move q by d: positions add, quaternions turn about the body's axes, angles follow continuously."""
    n = poses.shape[0] - 1
    for i in range(n):
        store(out, 7 * i, add(load(q, 7 * i), load(d, 6 * i)))
        rho = turned(load4(q, 7 * i + 3), load(d, 6 * i + 3))
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
def force(tables: Tables, poses: Any, f: Array) -> None:
    """Write the force f of M v' + A^T lambda = f."""
    f[:] = 0.0
    for i in range(tables.bodies.shape[0]):
        body.add_force(tables.bodies[i], poses[i], tables.gravity, f[6 * i : 6 * i + 6])


@compiled
def gyroscopic_damping(tables: Tables, poses: Any, D: Array) -> None:
    """Write -d(f)/d(w_B) of each body's gyroscopic torque, 3x3."""
    for i in range(tables.bodies.shape[0]):
        store_matrix(D[i], body.gyroscopic_damping(tables.bodies[i], load(poses[i].angular_velocity)))


@compiled
def constraint(tables: Tables, now: Now, last: Array, phi: Array) -> None:
    """Write the residual phi(q, t) of all constraints."""
    poses = now.poses
    phi[:] = 0.0
    for k in range(tables.locks.shape[0]):
        lock.residual(tables.locks[k], poses, now.motions, phi)
    for k in range(tables.perpendiculars.shape[0]):
        perpendicular.residual(tables.perpendiculars[k], poses, phi)
    for k in range(tables.distances.shape[0]):
        distance.residual(tables.distances[k], poses, now.laws, phi)
    for k in range(tables.coordinates.shape[0]):
        coordinate.residual(tables.coordinates[k], poses, last, now.laws, phi)


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
