"""Stiffness and compliance matrices with the names and units of their rows and columns."""

from __future__ import annotations

from collections.abc import Sequence

import xarray as xr

from dalembert.kernel.vec3 import Array

LOADS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
DISPLACEMENTS = ("x", "y", "z", "rx", "ry", "rz")
"""Displacements [m] and small rotations [rad]."""

IN_PLANE = (0, 1, 5)
"""x, y and the rotation about z."""

_UNITS = {("F", False): "N/m", ("F", True): "N/rad", ("M", False): "N", ("M", True): "N m/rad"}
_COMPLIANCES = {("F", False): "m/N", ("F", True): "rad/N", ("M", False): "1/N", ("M", True): "rad/(N m)"}


def names_of(bodies: Sequence[str], names: Sequence[str], *, planar: bool = False) -> list[str]:
    """Return names of components, with those of the bodies in front where there are several.

    Examples
    --------
    >>> names_of(["a"], LOADS, planar=True), names_of(["a", "b"], ("Fx",))
    (['Fx', 'Fy', 'Mz'], ['a.Fx', 'b.Fx'])
    """
    kept = [names[k] for k in IN_PLANE] if planar else list(names)
    return kept if len(bodies) == 1 else [f"{body}.{name}" for body in bodies for name in kept]


def stiffness_matrix(K: Array, loads: Sequence[str], displacements: Sequence[str]) -> xr.DataArray:
    """Return a stiffness with its names and units.

    Examples
    --------
    >>> import numpy as np
    >>> K = stiffness_matrix(np.eye(2), ["Fx", "Mz"], ["x", "rz"])
    >>> K.unit.values.tolist()
    [['N/m', 'N/rad'], ['N', 'N m/rad']]
    """
    units = [[_UNITS[_kind(load), _turns(one)] for one in displacements] for load in loads]
    return _labelled(K, "wrench", loads, "displacement", displacements, units)


def compliance_matrix(C: Array, loads: Sequence[str], displacements: Sequence[str]) -> xr.DataArray:
    """Return a compliance with its names and units."""
    units = [[_COMPLIANCES[_kind(load), _turns(one)] for load in loads] for one in displacements]
    return _labelled(C, "displacement", displacements, "wrench", loads, units)


def _labelled(
    matrix: Array, row: str, rows: Sequence[str], column: str, columns: Sequence[str], units: list[list[str]]
) -> xr.DataArray:
    unit = "unit" if row == "wrench" else "compliance_unit"
    coordinates = {row: list(rows), column: list(columns), unit: ((row, column), units)}
    return xr.DataArray(matrix, coords=coordinates, dims=(row, column))


def _kind(load: str) -> str:
    return load.rpartition(".")[2][0]


def _turns(displacement: str) -> bool:
    return displacement.rpartition(".")[2].startswith("r")
