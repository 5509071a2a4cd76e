"""``dalembert stiffness``: force, moments and Cartesian stiffness matrices of a body in the force field of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli.modes import Place
from dalembert.cli.output import AsJson, ModelPath, print_json, print_table
from dalembert.errors import ModelError

if TYPE_CHECKING:
    import xarray as xr

    from dalembert.analysis.stiffness.condensation import CondensedStiffness
    from dalembert.analysis.stiffness.data import CartesianStiffness
    from dalembert.kernel.vec3 import Array
    from dalembert.system.model import Model

Option = typer.Option


def stiffness(
    model: ModelPath,
    body: Annotated[str, Option(help="The body; the others are held where they are.", show_default=False)],
    about: Annotated[
        str,
        Option(
            metavar="origin|center|POINT",
            help="About the origin (1Kc), the centre of mass (2Kc), or a material point (4Kc): a name, or x,y,z as drawn [m].",
        ),
    ] = "center",
    origin: Annotated[
        str | None, Option(metavar="POINT", help="The fixed point O of 1Kc and K_O: a name, or x,y,z [m]; else the origin.")
    ] = None,
    axes: Annotated[str, Option(metavar="world|body|FRAME", help="Axes of all components.")] = "world",
    euler: Annotated[str | None, Option(help="The set of Euler angles of the Hessians; 321 if not given.")] = None,
    at: Annotated[
        Place | None, Option(help="As drawn, or the nearest equilibrium; if not given as drawn, at rest with --condensed.")
    ] = None,
    force: Annotated[
        list[str] | None, Option(help="Only this force makes the field, or 'gravity'; may be given several times.")
    ] = None,
    condensed: Annotated[
        bool, Option("--condensed", help="What is seen at the body when the rest of the mechanism, at rest, gives way.")
    ] = False,
    plot: Annotated[Path | None, Option(help="Draw the ellipsoids of compliance to a file (png, pdf, svg).")] = None,
    as_json: AsJson = False,
) -> None:
    """Find the Cartesian stiffness matrices of a body."""
    from dalembert.analysis.stiffness.cartesian_stiffness import cartesian_stiffness
    from dalembert.analysis.stiffness.condensation import condensed_stiffness
    from dalembert.io import read_model_file

    source = read_model_file(model)
    source.build()
    place = _point(source.model, about)
    found: Any
    if condensed:
        _refuse({"--origin": origin, "--euler": euler, "--force": force})
        found = condensed_stiffness(source.model, body, about=place, axes=axes, at=at.value if at else "equilibrium")
    else:
        options: dict[str, Any] = {"origin": _point(source.model, origin or "origin"), "euler": euler or "321", "axes": axes}
        where = at.value if at else "design"
        found = cartesian_stiffness(source.model, body, about=place, forces=force or None, at=where, **options)
    if plot is not None:
        found.plot().savefig(plot)
    title = f"{source.model.name} ({model}), body {body!r}"
    if as_json:
        print_json(figures_of_condensed(found) if condensed else figures_of(found))
    elif condensed:
        _print_condensed(title, found)
    else:
        _print(title, found)


def _refuse(options: dict[str, Any]) -> None:
    """Raise if an option was given that the condensed stiffness does not know."""
    for name, value in options.items():
        if value:
            raise ModelError(f"option '{name}'", "it says nothing about the condensed stiffness", "leave it or --condensed out")


def _point(model: Model, word: str) -> Any:
    """Return a name, or the place that stands as three numbers."""
    if word in ("origin", "center") or word in model.points or word in model.frames or "," not in word:
        return word
    try:
        place = [float(part) for part in word.split(",")]
    except ValueError as error:
        raise ModelError(f"point {word!r}", "it is neither a name nor three numbers", "say for example 0.1,0,0.25") from error
    return place


_VECTORS = ("force", "moment", "moment_origin", "moment_point")
_MATRICES = ("K1c", "K2c", "K3c", "K4c", "KO", "hessian_1", "hessian_2", "hessian_3", "hessian_4")
_ELASTIC = ("translational_stiffness", "rotational_stiffness", "centre_of_compliance", "compliance")
_SPECTRA = ("eigenvalues_1", "eigenvalues_2", "eigenvalues_3", "eigenvalues_4")


def figures_of(found: CartesianStiffness) -> dict[str, Any]:
    """Return what the command tells."""
    names = [*_VECTORS, *_MATRICES, *_ELASTIC]
    figures: dict[str, Any] = {name: found[name].values.tolist() for name in names if name in found}
    figures |= {name.replace("_", "_hessian_"): found[name].values.tolist() for name in _SPECTRA if name in found}
    kind = {"centre_of_compliance_is": str(found.centre_of_compliance.attrs["kind"])}
    told = ("about", "selected", "axes", "euler_set", "note", "potential_error")
    return figures | kind | {name: found.attrs[name] for name in told}


def figures_of_condensed(found: CondensedStiffness) -> dict[str, Any]:
    """Return what the command tells about a mechanism."""
    names = (
        "compliance",
        "rate",
        "stiffness",
        "point",
        "translational_stiffness",
        "rotational_stiffness",
        "centre_of_compliance",
    )
    return {name: found[name].values.tolist() for name in names if name in found} | {"freedoms": found.freedoms}


def _print(title: str, found: CartesianStiffness) -> None:
    rows = [(f"{found[name].meaning} [{found[name].units}]", _numbers(found[name])) for name in _VECTORS if name in found]
    rows += _elastic(found)
    rows += [(f"eigenvalues of hessian {name[-1]}", _numbers(found[name])) for name in _SPECTRA if name in found]
    rows += [("Euler set", found.euler_set), ("deviation from a potential", f"{found.potential_error:.1e}")]
    rows += [("note", found.note)] if found.note else []
    print_table(title, rows)
    selected = str(found.attrs["selected"])
    for name in [selected] + [one for one in ("K1c", "K2c", "K4c", "KO") if one in found and one != selected]:
        _print_matrix(name, found[name])


def _print_condensed(title: str, found: CondensedStiffness) -> None:
    names = found.displacement.values
    rates = [f"{name} {value:.7g}" for name, value in zip(names, found.rate.values, strict=True)]
    rows = [("freedoms", f"{found.freedoms}"), ("about [m]", _numbers(found.point))]
    rows += [("stiffness of one component [N/m, N m/rad]", "  ".join(rates))]
    print_table(title + ", the mechanism giving way", rows + (_elastic(found) if "stiffness" in found else []))
    _print_matrix("compliance", found.compliance)
    if "stiffness" in found:
        _print_matrix("stiffness", found.stiffness)


def _elastic(found: xr.Dataset) -> list[tuple[str, str]]:
    """Return lines about eigen-stiffnesses and the centre of compliance."""
    rows = []
    for name in ("translational", "rotational"):
        value = found[f"{name}_stiffness"]
        rows.append((f"{name} eigen-stiffnesses [{value.units}]", _numbers(value)))
        if f"{name}_direction" in found:
            directions = "  ".join(f"({_numbers(row, 3)})" for row in found[f"{name}_direction"])
            rows.append(("along" if name == "translational" else "about", directions))
    centre = found.centre_of_compliance
    kinds = {
        "decoupled": "forces through it do not turn the body",
        "symmetric": "the coupling left there is symmetric, not zero",
        "none": "there is none",
    }
    place = "" if centre.kind == "none" else _numbers(centre) + ": "
    return [*rows, ("centre of compliance [m]", place + kinds[centre.kind])]


def _print_matrix(name: str, matrix: xr.DataArray) -> None:
    """Print a matrix with the names of its rows and columns, and the units of its four blocks."""
    rows, columns = matrix.dims
    unit = matrix["unit" if rows == "wrench" else "compliance_unit"].values
    blocks = " | ".join(f"{row[0]}, {row[-1]}" for row in (unit[0], unit[-1]))
    typer.echo(f"{name} [{blocks}]")
    typer.echo("    " + "".join(f"{column:>12}" for column in matrix[columns].values))
    for label, values in zip(matrix[rows].values, _without_rounding(matrix.values), strict=True):
        typer.echo(f"{label:4s}" + "".join(f" {x:11.5g}" for x in values))
    typer.echo()


def _without_rounding(matrix: Array) -> Array:
    """Return a matrix with zeros for what is rounding beside the largest entries of its row and column."""
    import numpy as np

    size = np.abs(matrix)
    return np.where(size > 1e-12 * np.sqrt(np.outer(size.max(axis=1), size.max(axis=0))), matrix, 0.0) + 0.0


def _numbers(values: xr.DataArray, digits: int = 7) -> str:
    return " ".join(f"{x:.{digits}g}" for x in values.values + 0.0)
