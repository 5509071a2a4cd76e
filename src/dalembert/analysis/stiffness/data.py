"""The matrices of a force field as labelled data: names, dimensions and units; see cartesian_stiffness.py."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import xarray as xr

from dalembert.analysis.results import AXES
from dalembert.analysis.stiffness import labels
from dalembert.analysis.stiffness.compliance import centre_of_compliance, inverse, principal
from dalembert.analysis.stiffness.force_field import ForceField
from dalembert.analysis.stiffness.hessians import Chart, charts_of, hessian_1, hessian_2
from dalembert.analysis.stiffness.several_bodies import planar_entries
from dalembert.kernel.vec3 import Array
from dalembert.rotation.euler import EulerSet
from dalembert.rotation.skew import axial, tilde

MOVING = "point"
"""A material point A."""

SELECTED = {"origin": "K1c", "center": "K2c", MOVING: "K4c"}
"""Which matrix belongs to which point."""

ELASTIC = {"origin": "KO", "center": "K2c", MOVING: "K4c"}
"""Which of them has its forces and its displacements at one point, as eigen-stiffnesses and compliance need it."""


class CartesianStiffness(xr.Dataset):  # type: ignore[no-untyped-call]
    """Stiffness matrices of a field on a body or on several, as labelled data.

    Attributes
    ----------
    about : str
        ``"origin"``, ``"center"`` or ``"point"``: which of the matrices `K` is.
    euler_set : str
        The sets of Euler angles of the Hessians, one for each body.
    note : str
        What was done otherwise than wanted: another Euler set where that one is singular.
    potential_error : float
        Largest deviation from (58), relative.
    elastic : str
        The matrix that eigen-stiffnesses, compliance and its centre belong to: K2c, K4c, and KO about the origin, because K1c
        has its forces at O and its displacements at the centre.
    """

    __slots__ = ()

    @property
    def K(self) -> xr.DataArray:
        """The matrix about the point that was asked for: K1c, K2c or K4c."""
        return self[str(self.attrs["selected"])]

    @property
    def symmetric(self) -> xr.DataArray:
        """The symmetric part of `K`."""
        return self.K.copy(data=0.5 * (self.K.values + self.K.values.T))

    @property
    def skew(self) -> xr.DataArray:
        """The skew part of `K`: in 2Kc and 4Kc what the moment leaves, ``tilde(M) / 2`` (58)."""
        return self.K.copy(data=0.5 * (self.K.values - self.K.values.T))

    @property
    def plot(self) -> Any:  # type: ignore[override]
        """The plots of xarray; called, it draws the ellipsoids of compliance."""
        return import_module("dalembert.view.stiffness_plots").StiffnessPlots(self)  # pictures are a layer above


class Matrices:
    """What a result is made of: a field in the axes that were chosen, the fixed point O, material points A or none."""

    def __init__(self, field: ForceField, origin: Array, points: Array | None, euler: str | EulerSet, planar: bool) -> None:
        self.field, self.origin, self.points, self.planar = field, origin, points, planar
        self.fixed = field.about(origin)
        self.charts = charts_of(field, euler)
        self.entries = planar_entries(field) if planar else np.arange(6 * len(field.bodies))
        self.loads = labels.names_of(field.bodies, labels.LOADS, planar=planar)
        self.displacements = labels.names_of(field.bodies, labels.DISPLACEMENTS, planar=planar)

    def dataset(self, about: str, axes: str, E: Array) -> CartesianStiffness:
        """Return everything as labelled data."""
        variables = self._vectors() | self._stiffnesses() | self._hessians()
        attributes: dict[str, Any] = {"about": about, "selected": SELECTED[about], "elastic": ELASTIC[about], "axes": axes}
        attributes |= self._attributes()
        if len(self.field.bodies) == 1:
            variables |= self._parts() | self._axial_vectors() | self._elastic(variables[ELASTIC[about]].values, about)
        variables["axes_in_world"] = (("axis", "column"), E)
        names = {"body": list(self.field.bodies), "axis": AXES, "column": AXES}
        return CartesianStiffness(variables, coords=names, attrs=attributes)

    def _vectors(self) -> dict[str, Any]:
        """Return forces and moments (11), (16), (17), and the points that they belong to."""
        found = {
            "position": (self.field.position, "m", "centre"),
            "force": (self.field.force, "N", "F"),
            "moment": (self.field.moment, "N m", "M, about the centre"),
            "moment_origin": (self.fixed.moment, "N m", "M_O, about the fixed point O"),
        }
        if self.points is not None:
            found["point"] = (self.points, "m", "A")
            found["moment_point"] = (self.field.at(self.points).moment, "N m", "M_A, about the material point A")
        alone = len(self.field.bodies) == 1
        dimensions = ("axis",) if alone else ("body", "axis")
        vectors: dict[str, Any] = {
            name: (dimensions, values[0] if alone else values, {"units": units, "meaning": meaning})
            for name, (values, units, meaning) in found.items()
        }
        return vectors | {"origin": ("axis", self.origin, {"units": "m", "meaning": "O"})}

    def _stiffnesses(self) -> dict[str, Any]:
        found = {"K1c": self.fixed.stiffness, "K2c": self.field.stiffness, "KO": self.fixed.screw_stiffness}
        if self.points is not None:
            there = self.field.at(self.points)
            found |= {"K3c": there.about(self.origin).stiffness, "K4c": there.stiffness}
        kept = np.ix_(self.entries, self.entries)
        return {name: labels.stiffness_matrix(K[kept], self.loads, self.displacements) for name, K in found.items()}

    def _hessians(self) -> dict[str, Any]:
        """Return the Hessians of U1, U2 and, with a point, U3, U4, with their spectra."""
        hessians = {1: hessian_1(self.fixed, self.charts), 2: hessian_2(self.field, self.charts)}
        if self.points is not None:
            there = self.field.at(self.points)
            hessians |= {3: hessian_1(there.about(self.origin), self.charts), 4: hessian_2(there, self.charts)}
        own = [0, 1, 3] if self.planar else list(range(6))  # psi is the first angle
        entries = (6 * np.arange(len(self.charts))[:, None] + own).ravel()
        units = {"units": "N/m, N/rad, N m/rad"}
        found: dict[str, Any] = {}
        for number, whole in hessians.items():
            H = whole[np.ix_(entries, entries)]
            found[f"hessian_{number}"] = (("coordinate_1", "coordinate_2"), H, units)
            found[f"eigenvalues_{number}"] = ("mode", np.linalg.eigvalsh(H), {"meaning": "of mixed units"})
        return found

    def _parts(self) -> dict[str, Any]:
        """Return the parts of (28) and (35) of one body."""
        K_O, chart, lever = self.fixed.screw_stiffness, self.charts[0], tilde(self.fixed.position[0])
        blocks = {
            "C1": (K_O[:3, 3:] - K_O[3:, :3].T, "N/rad"),
            "D1": (chart.D(-chart.g @ self.fixed.moment[0]), "N m/rad"),
            "Y1": (K_O[:3, :3] @ lever, "N/rad"),
            "Z1": (K_O[3:, :3] @ lever, "N m/rad"),
            "D2": (chart.D(-chart.g @ self.field.moment[0]), "N m/rad"),
        }
        return {name: (("axis", "column"), block, {"units": units}) for name, (block, units) in blocks.items()}

    def _axial_vectors(self) -> dict[str, Any]:
        """Return the axial vectors of the skew parts of K_O and 2Kc: F (48), M_O (56) and M (58), if all is well."""
        K_O, K = self.fixed.screw_stiffness, self.field.stiffness
        found = {
            "axial_force": (axial(K_O[:3, 3:] - K_O[3:, :3].T), "N", "of 1C, should be F (48)"),
            "axial_moment_origin": (2.0 * axial(K_O[3:, 3:]), "N m", "of 1D - 1D^T, should be M_O (56)"),
            "axial_moment": (2.0 * axial(K[3:, 3:]), "N m", "of 2D - 2D^T, should be M (58)"),
        }
        return {name: ("axis", values, {"units": units, "meaning": what}) for name, (values, units, what) in found.items()}

    def _elastic(self, K: Array, about: str) -> dict[str, Any]:
        """Return eigen-stiffnesses, compliance and its centre, of the matrix about one of the points."""
        places = {"origin": self.origin, "center": self.field.position[0]}
        place = places[about] if self.points is None else self.points[0]
        return elastic_data(K, place, self.loads, self.displacements)

    def _attributes(self) -> dict[str, Any]:
        return {
            "bodies": ", ".join(self.field.bodies),
            "euler_set": ", ".join(chart.euler.name for chart in self.charts),
            "note": "; ".join(_notes(self.field.bodies, self.charts)),
            "potential_error": self.field.potential_error,
        }


def elastic_data(K: Array, place: Array, loads: Sequence[str], displacements: Sequence[str]) -> dict[str, Any]:
    """Return eigen-stiffnesses with their directions, compliance and its centre, of a matrix about a place [m]."""
    found, C = principal(K), inverse(K)
    centre = centre_of_compliance(C)
    planar = K.shape[0] == 3
    axis = "plane_axis" if planar else "axis"
    data: dict[str, Any] = {
        "translational_stiffness": ("translation", found.translational, {"units": "N/m"}),
        "translational_direction": (("translation", axis), found.translations),
        "rotational_stiffness": ("rotation", found.rotational, {"units": "N m/rad"}),
        "centre_of_compliance": ("axis", place + centre.offset, {"units": "m", "kind": centre.kind}),
    }
    if not planar:
        data["rotational_direction"] = (("rotation", axis), found.rotations)
    if C is not None:
        data["compliance"] = labels.compliance_matrix(C, loads, displacements)
    return data


def _notes(bodies: Sequence[str], charts: Sequence[Chart]) -> list[str]:
    """Return what the report has to say about the sets of Euler angles."""
    return [
        f"body {body!r}: Euler set '{chart.wanted}' is singular at this pose, its Hessian is in the set '{chart.euler.name}'"
        for body, chart in zip(bodies, charts, strict=True)
        if chart.euler.name != chart.wanted
    ]
