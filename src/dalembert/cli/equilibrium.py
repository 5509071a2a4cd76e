"""``dalembert equilibrium``: where a model rests, whether that is stable, and what its joints carry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli.output import AsJson, ModelPath, print_columns, print_json, print_table
from dalembert.errors import ModelError

if TYPE_CHECKING:
    from dalembert.analysis.equilibrium import EquilibriumError
    from dalembert.analysis.rest import Equilibrium
    from dalembert.system.model import Model
    from dalembert.system.state import State

Option = typer.Option


def equilibrium(
    model: ModelPath,
    output: Annotated[Path | None, Option("--output", "-o", help="Write the model, drawn at rest, to a YAML file.")] = None,
    stable: Annotated[bool, Option("--stable", help="Look for a stable one; the nearest otherwise, stable or not.")] = False,
    time: Annotated[float, Option(help="Time at which laws and drives are looked at [s].")] = 0.0,
    hold: Annotated[
        list[str] | None,
        Option(help="Hold a coordinate or a body: hinge.angle=0.3, wheel.z, crank; may be given several times."),
    ] = None,
    without_constraint_stiffness: Annotated[
        bool, Option("--without-constraint-stiffness", help="Newton's method without K_c, for comparison: it fails.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find the static equilibrium of a model, its stability and its reactions."""
    from dalembert.analysis.equilibrium import EquilibriumError
    from dalembert.analysis.equilibrium import equilibrium as find
    from dalembert.io import read_model_file

    source = read_model_file(model)
    source.build()
    try:
        rest = find(
            source.model,
            t=time,
            stable=stable,
            hold=_holds(hold or []),
            without_constraint_stiffness=without_constraint_stiffness,
        )
    except EquilibriumError as error:
        if as_json:
            print_json(_failure(error))
        if output is not None:
            _write(source.model, error.state, output, f"NOT an equilibrium: {error}")
            print_note(f"the best position found is in {output}")
        raise
    if output is not None:
        _write(source.model, rest.state, output, f"at rest; stable: {'yes' if rest.stable else 'no'}")
    if as_json:
        print_json(figures_of(rest))
    else:
        _print(f"{source.model.name} ({model})", rest)


def print_note(text: str) -> None:
    """Print a message beside the figures."""
    typer.echo(text, err=True)


def _holds(words: list[str]) -> dict[str, float | None]:
    """Return what is to be held from words like ``hinge.angle=0.3``."""
    found: dict[str, float | None] = {}
    for word in words:
        name, sign, value = word.partition("=")
        try:
            found[name.strip()] = float(value) if sign else None
        except ValueError as error:
            raise ModelError(
                f"option '--hold {word}'", f"{value!r} is not a number", "say for example --hold hinge.angle=0.3"
            ) from error
    return found


def _write(model: Model, state: State, path: Path, remark: str) -> None:
    from dalembert.io import save_model
    from dalembert.system.redraw import redrawn

    save_model(redrawn(model, state), path, remark=f"{model.name}, {remark}")


def figures_of(rest: Equilibrium) -> dict[str, Any]:
    """Return what the command tells."""
    names = ("converged", "iterations", "residual", "stable", "unstable_directions", "neutral_directions")
    bodies = {
        str(body): {
            "position": rest.position.sel(body=body).values.tolist(),
            "orientation_wxyz": rest.orientation.sel(body=body).values.tolist(),
        }
        for body in rest.body.values
    }
    joints = {
        str(joint): {
            "force": rest.joint_force.sel(joint=joint).values.tolist(),
            "torque": rest.joint_torque.sel(joint=joint).values.tolist(),
            "unique": bool(rest.joint_unique.sel(joint=joint)),
        }
        for joint in rest.joint.values
    }
    held = {"held": rest.held} if rest.held else {}
    return {name: rest.attrs[name] for name in names} | {"bodies": bodies, "joints": joints} | held


def _failure(error: EquilibriumError) -> dict[str, Any]:
    return {
        "converged": False,
        "iterations": error.iterations,
        "residual": error.residual,
        "stable": None,
        "bodies": {},
        "joints": {},
    }


def _print(title: str, rest: Equilibrium) -> None:
    stable = "yes" if rest.stable else f"no: {rest.unstable_directions} unstable direction(s)"
    stable += f"; {rest.neutral_directions} neutral direction(s)" if rest.neutral_directions else ""
    rows = [("iterations", f"{rest.iterations}"), ("largest force left [N, N m]", f"{rest.residual:.3g}"), ("stable", stable)]
    rows += [(f"force to hold {name} [N, N m]", f"{value:.9g}") for name, value in rest.held.items()]
    print_table(title, rows)
    places = ((str(body), *(f"{x:.6f}" for x in rest.position.sel(body=body).values)) for body in rest.body.values)
    print_columns(("body", "x [m]", "y", "z"), places)
    print_columns(("on driven body, N, N m", "Fx", "Fy", "Fz", "Tx", "Ty", "Tz", "unique"), _wrenches(rest))


def _wrenches(rest: Equilibrium) -> list[tuple[str, ...]]:
    """Return a line for each joint; what is rounding beside the largest force or torque is zero."""
    import numpy as np

    force, torque = rest.joint_force.values, rest.joint_torque.values
    shown = [np.where(np.abs(part) > 1e-10 * np.abs(part).max(initial=0.0), part, 0.0) + 0.0 for part in (force, torque)]
    unique = ["yes" if one else "no" for one in rest.joint_unique.values]
    return [
        (str(joint), *(f"{x:.4g}" for x in (*shown[0][k], *shown[1][k])), unique[k])
        for k, joint in enumerate(rest.joint.values)
    ]
