"""Runs as labelled data: the names, dimensions and units of a run."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from dalembert.analysis.uniqueness import spread, unique_rows, uniqueness_along
from dalembert.integrators.common import Samples
from dalembert.integrators.observe import Observations
from dalembert.kernel.vec3 import Array
from dalembert.lagrange.mechanics import Mechanics
from dalembert.linalg.rank import dependencies
from dalembert.system import assembly
from dalembert.system.system import System

AXES = ["x", "y", "z"]
LEVELS = ["position", "velocity", "acceleration"]
WHEN = {"meaning": "whether it is unique, at nine times of the run"}


class Run(xr.Dataset):  # type: ignore[no-untyped-call]
    """The motion of a model: an xarray dataset that can also be plotted and turned into a table as a whole.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("falling", gravity=(0, 0, -10.0))
    >>> stone = model.body("stone", mass=1.0, inertia=(1, 1, 1))
    >>> run = da.simulate(model, duration=1.0, output_step=0.5)
    >>> run.position.sel(body="stone", axis="z").values.round(6).tolist()
    [0.0, -1.25, -5.0]
    >>> run.to_dataframe()["stone.velocity.z"].round(6).tolist()
    [0.0, -5.0, -10.0]
    """

    __slots__ = ()

    @classmethod
    def of(cls, data: xr.Dataset) -> Run:
        """Return a dataset as a run."""
        return cls(data.data_vars, coords=data.coords, attrs=data.attrs)

    def to_dataframe(self, dim_order: Any = None) -> pd.DataFrame:
        """Return a table with one row for each time and columns like ``"bob.position.x"``; xarray's own with `dim_order`."""
        if dim_order is not None:
            return super().to_dataframe(dim_order)
        columns: dict[str, Array] = {}
        for name, variable in self.data_vars.items():
            if variable.dims[:1] == ("time",):
                columns |= _columns(str(name), variable)
        return pd.DataFrame(columns, index=pd.Index(self.time.values, name="time"))

    @property
    def plot(self) -> Any:  # type: ignore[override]
        """The plots of xarray; called, it draws the run: places, energies, reactions, violations."""
        return import_module("dalembert.view.run_plots").RunPlots(self)  # pictures are a layer above


def _columns(name: str, variable: xr.DataArray) -> dict[str, Array]:
    """Return the columns of a variable: element first, then quantity, then component."""
    if variable.ndim == 1:
        return {name: variable.values}
    if variable.ndim == 2:
        labels = variable[variable.dims[1]].values
        return {f"{name}.{label}": variable.values[:, k] for k, label in enumerate(labels)}
    elements, components = (variable[dimension].values for dimension in variable.dims[1:])
    return {
        f"{element}.{name}.{component}": variable.values[:, i, j]
        for i, element in enumerate(elements)
        for j, component in enumerate(components)
    }


class Labelled(NamedTuple):
    """What makes a dataset: variables, coordinates, attributes, each by name."""

    variables: dict[str, Any]
    coordinates: dict[str, Any]
    attributes: dict[str, Any]

    def run(self) -> Run:
        """Return the dataset."""
        return Run(self.variables, coords=self.coordinates, attrs=self.attributes)

    def at_one_time(self) -> Labelled:
        """Return the first row of everything, without the time."""
        variables = {
            name: (one[0][1:], one[1][0], *one[2:]) if one[0][0] == "time" else one for name, one in self.variables.items()
        }
        variables |= {name: ((), one[1][0], *one[2:]) for name, one in self.variables.items() if one[0] == "time"}
        coordinates = {name: one for name, one in self.coordinates.items() if name != "time"}
        return Labelled(variables, coordinates, self.attributes)


def labelled(system: System, times: Array, samples: Samples, observed: Observations, attributes: dict[str, Any]) -> Labelled:
    """Return the samples of a run, and what follows from them."""
    variables = _motion(system, samples) | _joints(system, times, samples, observed) | _energies(observed)
    variables["constraint_violation"] = (
        ("time", "level"),
        observed.violation,
        {"meaning": "largest residual: m or sine of half an angle; m/s or rad/s; m/s2 or rad/s2"},
    )
    coordinates = {
        "time": ("time", times, {"units": "s"}),
        "body": list(system.layout.bodies),
        "axis": AXES,
        "quaternion": ["w", *AXES],
        "joint": list(system.layout.joint_frames),
        "coordinate": [f"{joint}.{name}" for joint, name in system.layout.observers],
        "energy": list(assembly.ENERGIES[1:]),
        "level": LEVELS,
    }
    title = {"title": system.name, "dalembert_version": _version()}
    if system.gaps:
        attributes = attributes | {"gaps": [f"{row}: {gap:.6g}" for row, gap in system.gaps.items()]}
    return Labelled(variables, coordinates, title | attributes)


def plain_labelled(system: Mechanics, times: Array, samples: Samples, attributes: dict[str, Any]) -> Labelled:
    """Return the samples of a system of a user's own equations, and what follows from them."""
    rows = list(zip(times, *samples, strict=True))
    parts = [system.dynamics(t, q, v) for t, q, v, _, _ in rows]
    force = [one.C - one.A.T @ row[4] for one, row in zip(parts, rows, strict=True)]
    energies = np.array([system.energies(t, q, v) for t, q, v, _, _ in rows]).reshape(-1, 2)
    violation = [
        [_largest(system.constraint(t, q)), _largest(system.velocity_residual(t, q, v)), _largest(one.A @ a - one.b)]
        for one, (t, q, v, a, _) in zip(parts, rows, strict=True)
    ]
    unique = [unique_rows(dependencies(parts[k].A)) for k in spread(len(parts))]
    own, by_row = ("time", "coordinate"), {"sign": "the constraints pull with -A^T times it"}
    variables: dict[str, Any] = {
        "position": (own, samples.q),
        "velocity": (own, samples.v),
        "acceleration": (own, samples.a),
        "multiplier": (("time", "row"), samples.lam, by_row),
        "multiplier_unique": ("row", np.all([np.ones(system.n_constraints, bool), *unique], axis=0), WHEN),
        "constraint_force": (own, np.reshape(force, samples.v.shape), {"meaning": "Q^c = C - A^T lambda"}),
        "kinetic_energy": ("time", energies[:, 0], {"units": "J"}),
        "potential_energy": ("time", energies[:, 1], {"units": "J"}),
        "constraint_violation": (("time", "level"), np.reshape(violation, (-1, 3)), {"meaning": "largest residual"}),
    }
    coordinates = {
        "time": ("time", times, {"units": "s"}),
        "coordinate": list(system.coordinates),
        "row": list(system.row_names),
        "level": LEVELS,
    }
    title = {"title": system.name, "dalembert_version": _version()}
    return Labelled(variables, coordinates, title | attributes)


@cache
def _version() -> str:
    return version("dalembert")


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))


def _motion(system: System, samples: Samples) -> dict[str, Any]:
    n, size = system.n_bodies, len(samples.q)
    q, v = samples.q[:, : 7 * n].reshape(size, n, 7), samples.v.reshape(size, n, 6)
    body_axis = ("time", "body", "axis")
    return {
        "position": (body_axis, q[..., :3], {"units": "m", "frame": "world"}),
        "orientation": (("time", "body", "quaternion"), q[..., 3:], {"units": "1", "order": "w, x, y, z", "frame": "world"}),
        "velocity": (body_axis, v[..., :3], {"units": "m/s", "frame": "world"}),
        "angular_velocity": (body_axis, v[..., 3:], {"units": "rad/s", "frame": "body"}),
    }


def _joints(system: System, times: Array, samples: Samples, observed: Observations) -> dict[str, Any]:
    of_joint = {"frame": "main frame F2 of the joint", "on": "driven body"}
    joint_axis = ("time", "joint", "axis")
    records = [*system.layout.observers.values()]
    angles = [name for _, name in system.layout.observers]
    unique = uniqueness_along(system, times, samples.q)
    return {
        "joint_force": (joint_axis, observed.force, {"units": "N"} | of_joint),
        "joint_torque": (joint_axis, observed.torque, {"units": "N m"} | of_joint),
        "joint_unique": ("joint", unique.joint, WHEN),
        "force_unique": (("joint", "axis"), unique.force, WHEN),
        "torque_unique": (("joint", "axis"), unique.torque, WHEN),
        "joint_coordinate": (("time", "coordinate"), observed.coordinates[:, records], {"units": "rad (angle), m (distance)"}),
        "coordinate_unit": ("coordinate", np.array(["rad" if name == "angle" else "m" for name in angles], dtype=str)),
    }


def _energies(observed: Observations) -> dict[str, Any]:
    kinetic, potentials = observed.energies[:, 0], observed.energies[:, 1:]
    return {
        "kinetic_energy": ("time", kinetic, {"units": "J"}),
        "potential_energy": ("time", potentials.sum(axis=1), {"units": "J"}),
        "potential_energy_of": (("time", "energy"), potentials, {"units": "J"}),
    }
