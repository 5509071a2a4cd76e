"""Runs as labelled data: the names, dimensions and units of a run."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.analysis.uniqueness import unique_rows
from dalembert.integrators.common import Samples
from dalembert.kernel.vec3 import Array
from dalembert.system.system import System

if TYPE_CHECKING:
    import xarray as xr

AXES = ["x", "y", "z"]
LEVELS = ["position", "velocity", "acceleration"]


def dataset(system: System, times: Array, samples: Samples, attributes: dict[str, Any]) -> xr.Dataset:
    """Return the samples of a run as a dataset."""
    import xarray as xr

    bodies = list(system.layout.bodies)
    n, size = system.n_bodies, times.size
    q = samples.q[:, : 7 * n].reshape(size, n, 7)
    v = samples.v.reshape(size, n, 6)
    body_axis = ("time", "body", "axis")
    variables = {
        "position": (body_axis, q[..., :3], {"units": "m", "frame": "world"}),
        "orientation": (("time", "body", "quaternion"), q[..., 3:], {"units": "1", "order": "w, x, y, z", "frame": "world"}),
        "velocity": (body_axis, v[..., :3], {"units": "m/s", "frame": "world"}),
        "angular_velocity": (body_axis, v[..., 3:], {"units": "rad/s", "frame": "body"}),
    } | _observations(system, times, samples)
    coordinates = {
        "time": ("time", times, {"units": "s"}),
        "body": bodies,
        "axis": AXES,
        "quaternion": ["w", *AXES],
        "joint": list(system.layout.joint_frames),
        "level": LEVELS,
    }
    title = {"title": system.name, "dalembert_version": version("dalembert")}
    return xr.Dataset(variables, coords=coordinates, attrs=title | attributes)


def _observations(system: System, times: Array, samples: Samples) -> dict[str, Any]:
    """Return reactions, energies and constraint violations at each time."""
    joints = list(system.layout.joint_frames)
    force, torque = np.empty((times.size, len(joints), 3)), np.empty((times.size, len(joints), 3))
    kinetic, potential = np.empty(times.size), np.empty(times.size)
    violation = np.zeros((times.size, 3))
    for k, t in enumerate(times):
        q, v, a, lam = samples.q[k], samples.v[k], samples.a[k], samples.lam[k]
        force[k], torque[k] = system.reactions(t, q, lam)
        energy = system.energy(t, q, v)
        kinetic[k], potential[k] = energy.kinetic, energy.potential
        violation[k] = _violations(system, t, q, v, a)
    of_joint = {"frame": "main frame F2 of the joint", "on": "driven body"}
    unique = unique_rows(system, times[-1], samples.q[-1]) if times.size else np.ones(system.n_constraints, bool)
    flags = [bool(np.all(unique[system.layout.joint_rows[joint]])) for joint in joints]
    return {
        "joint_force": (("time", "joint", "axis"), force, {"units": "N"} | of_joint),
        "joint_torque": (("time", "joint", "axis"), torque, {"units": "N m"} | of_joint),
        "joint_unique": ("joint", np.array(flags, dtype=bool), {"meaning": "whether the reaction is unique (last time)"}),
        "kinetic_energy": ("time", kinetic, {"units": "J"}),
        "potential_energy": ("time", potential, {"units": "J"}),
        "constraint_violation": (("time", "level"), violation, {"meaning": "largest residual of all constraints"}),
    }


def _violations(system: System, t: float, q: Array, v: Array, a: Array) -> tuple[float, float, float]:
    if system.n_constraints == 0:
        return 0.0, 0.0, 0.0
    A = system.jacobian(t, q)
    return (
        float(np.abs(system.constraint(t, q)).max()),
        float(np.abs(A @ v - system.velocity_right_side(t, q)).max()),
        float(np.abs(A @ a - system.acceleration_right_side(t, q, v)).max()),
    )
