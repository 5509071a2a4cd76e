"""``dalembert check``: is the model file right, and what does its mechanism look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dalembert.cli.output import AsJson, ModelPath, print_json, print_table
from dalembert.errors import ModelFileError

if TYPE_CHECKING:
    from dalembert.io import ModelSource
    from dalembert.system.model import Model
    from dalembert.system.system import System

_OPEN = 1e-6  # m, or sine of half an angle: a joint drawn further open than this is worth a word
_SLIP = 1e-6  # m/s, rad/s


def check(model: ModelPath, as_json: AsJson = False) -> None:
    """Validate a model file; count bodies, constraints and degrees of freedom; name what is redundant."""
    from dalembert.io import read_model_file

    try:
        source = read_model_file(model)
        figures = figures_of(source)
    except ModelFileError as error:
        if as_json:
            print_json(refusal(error))
        raise
    if as_json:
        print_json(figures)
    else:
        print_table(f"{source.model.name} ({model})", _rows(figures))


def figures_of(source: ModelSource) -> dict[str, Any]:
    """Return what the command tells about a valid model."""
    from dalembert.linalg.rank import dependencies

    system = source.build()
    found = dependencies(system.jacobian(0.0, system.design.q), units=system.rotational)
    planes = system.layout.plane_rows.size
    return {
        "valid": True,
        "bodies": len(source.model.bodies),
        "joints": len(source.model.joints),
        "constraints": system.n_constraints - planes,
        "rank": found.rank - planes,
        "degrees_of_freedom": system.n_velocities - found.rank,
        "degree_of_redundancy": found.degree,
        "redundant": [system.layout.rows[row] for row in found.rows],
        "warnings": warnings_of(source.model, system),
    }


def refusal(error: ModelFileError) -> dict[str, Any]:
    """Return what the command tells about an invalid file: nothing but its errors."""
    unknown = ("bodies", "joints", "constraints", "rank", "degrees_of_freedom", "degree_of_redundancy")
    errors = [mistake._asdict() for mistake in error.mistakes]
    return {"valid": False, **dict.fromkeys(unknown), "redundant": [], "warnings": [], "errors": errors}


def warnings_of(model: Model, system: System) -> list[str]:
    """Return what is allowed but seldom meant."""
    return [*_massless(model), *_open_joints(system), *_slipping_joints(system), *_undetermined(system)]


def _massless(model: Model) -> list[str]:
    return [f"body {body.name!r} has no mass" for body in model.bodies.values() if body.mass == 0.0]


def _open_joints(system: System) -> list[str]:
    """Return the joints that are not closed as drawn, at t = 0."""
    import numpy as np

    gaps = system.constraint(0.0, system.design.q)
    texts = []
    for joint, rows in system.layout.joint_rows.items():
        worst = max(rows, key=lambda row: abs(gaps[row]), default=None)
        if worst is None or abs(gaps[worst]) <= _OPEN:
            continue
        label = system.layout.rows[worst]
        angle = label.rpartition(".")[2] in ("Rx", "Ry", "Rz")
        gap = 2.0 * np.arcsin(min(1.0, abs(gaps[worst]))) if angle else abs(gaps[worst])
        unit = " rad" if angle else " m" if label.rpartition(".")[2] in ("x", "y", "z", "distance", "normal") else ""
        texts.append(f"joint {joint!r} is drawn open: {label} by {gap:.3g}{unit}")
    return texts


def _slipping_joints(system: System) -> list[str]:
    """Return the joints that the velocities at the start do not fit."""
    q, v = system.design.q, system.design.v
    slip = abs(system.jacobian(0.0, q) @ v - system.velocity_right_side(0.0, q))
    worst = {joint: max((slip[row] for row in rows), default=0.0) for joint, rows in system.layout.joint_rows.items()}
    return [f"the start velocities do not fit joint {joint!r}: {x:.3g} m/s or rad/s" for joint, x in worst.items() if x > _SLIP]


def _undetermined(system: System) -> list[str]:
    """Return why the accelerations at the start are not unique or do not exist."""
    from dalembert.errors import SolveError
    from dalembert.formulations.choose import accelerations

    try:
        accelerations(system, 0.0, system.design.q, system.design.v)
    except SolveError as error:
        return [str(error)]
    return []


def _rows(figures: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the table for people."""
    counts = [(name.replace("_", " "), str(value)) for name, value in figures.items() if isinstance(value, int)][1:]
    redundant = [("redundant", ", ".join(figures["redundant"]))] if figures["redundant"] else []
    return [*counts, *redundant, *(("warning", text) for text in figures["warnings"])]
