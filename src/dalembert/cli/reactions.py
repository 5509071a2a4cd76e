"""``dalembert reactions``: redundancy, and which reactions are unique; values where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli.output import AsJson, ModelPath, print_columns, print_json, print_table

if TYPE_CHECKING:
    from dalembert.analysis.reactions import Reactions
    from dalembert.analysis.singularities import Singularity
    from dalembert.system.system import System

Option = typer.Option

COUNTS = (
    "constraints", "rank", "degree_of_redundancy", "degrees_of_freedom", "rank_holonomic", "rank_nonholonomic",
    "smallest_singular_value", "largest_zero_singular_value", "close_decision",
)  # fmt: skip


def reactions(
    model: ModelPath,
    method: Annotated[str, Option(help="How to decide: sparse, ranks, svd or qr.")] = "sparse",
    time: Annotated[float, Option(help="Time at which laws and drives are looked at [s].")] = 0.0,
    along: Annotated[float | None, Option(help="Simulate for so long, too, and name singular positions [s].")] = None,
    as_json: AsJson = False,
) -> None:
    """Say how many constraints are redundant, which reactions are unique, and what to release to make them so."""
    from dalembert.analysis.reactions import reactions as analyse
    from dalembert.io import read_model_file

    source = read_model_file(model)
    system = source.build()
    found = analyse(system, t=time, method=method)
    passed = _singular_positions(system, along) if along is not None else []
    if as_json:
        positions = {"singular": [one._asdict() for one in passed]} if along is not None else {}
        print_json(figures_of(found) | positions)
    else:
        _print(f"{source.model.name} ({model})", found)
        for one in passed:
            typer.echo(str(one))


def _singular_positions(system: System, duration: float) -> list[Singularity]:
    """Return the singular positions of a motion."""
    from dalembert.analysis.simulate import simulate
    from dalembert.analysis.singularities import reactions_along

    return reactions_along(system, simulate(system, duration=duration)).singular


def figures_of(found: Reactions) -> dict[str, Any]:
    """Return what the command tells; components that are not unique are null."""
    import numpy as np

    counts = {name: found.attrs[name] for name in COUNTS}
    joints = {
        str(joint): {
            "unique": bool(one.joint_unique),
            "why": found.why(str(joint)),
            "force": np.where(one.force_unique, one.joint_force, np.nan).tolist(),
            "torque": np.where(one.torque_unique, one.joint_torque, np.nan).tolist(),
        }
        for joint, one in ((joint, found.sel(joint=joint)) for joint in found.joint.values)
    }
    others = {
        name: {"unique": flag, "why": found.why(name), "force": None, "torque": None}
        for name, flag in found.unique.items()
        if name not in joints
    }
    mismatch = dict(zip(found.level.values.tolist(), found.mismatch.values.tolist(), strict=True))
    lists = {name: getattr(found, name) for name in ("dependencies", "releases", "advice", "compliant")}
    gaps = {"gaps": found.attrs["gaps"]} if found.attrs["gaps"] else {}
    return counts | {"joints": joints | others, "mismatch": mismatch} | lists | gaps


def _print(title: str, found: Reactions) -> None:
    from dalembert.analysis.reactions import closeness

    names = ("constraints", "rank", "degree_of_redundancy", "degrees_of_freedom")
    rows = [(name.replace("_", " "), str(found.attrs[name])) for name in names]
    gap = f"{found.attrs['smallest_singular_value']:.2g} / {found.attrs['largest_zero_singular_value']:.2g}"
    rows.append(("singular values at the gap", gap))
    rows += [("warning", closeness(found))] if closeness(found) else []
    rows += [("stays open", text) for text in found.attrs["gaps"]]
    rows += [("redundant", text) for text in _some(found.dependencies)]
    rows += [("to make all unique", text) for text in _some(found.advice)]
    rows += [("or make compliant", ", ".join(_some(found.compliant)))] if found.compliant else []
    if found.degree_of_redundancy and not found.advice:
        rows.append(("to make all unique", "no advice: too many rows depend on each other in one group"))
    print_table(title, rows)
    lines = [_line(found, str(joint)) for joint in found.joint.values]
    print_columns(("on driven body, N, N m", "unique", "Fx", "Fy", "Fz", "Tx", "Ty", "Tz"), lines)
    others = [(name, "yes" if flag else "no") for name, flag in found.unique.items() if name not in found.joint.values]
    if others:
        print_columns(("couplings and motions", "unique"), others)


def _some(texts: list[str], most: int = 20) -> list[str]:
    return texts[:most] + ([f"... and {len(texts) - most} more"] if len(texts) > most else [])


def _line(found: Reactions, joint: str) -> tuple[str, ...]:
    """Return a line of the table; "?" is not unique."""
    one = found.sel(joint=joint)
    values = [*one.joint_force.values, *one.joint_torque.values]
    flags = [*one.force_unique.values, *one.torque_unique.values]
    size = 1e-10 * max((abs(value) for value in found.joint_force.values.ravel()), default=0.0)
    shown = (
        "?" if not flag else f"{value if abs(value) > size else 0.0:.4g}" for value, flag in zip(values, flags, strict=True)
    )
    return joint, "yes" if bool(one.joint_unique) else "no", *shown
