"""``dalembert modes``: eigenvalues and frequencies of a model, with and without the stiffness of its joints."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli.output import AsJson, ModelPath, print_columns, print_json, print_table

if TYPE_CHECKING:
    from dalembert.analysis.modes import Modes

Option = typer.Option


class Place(StrEnum):
    """Where the modes are looked at."""

    equilibrium = "equilibrium"
    design = "design"


def modes(
    model: ModelPath,
    count: Annotated[int, Option("-n", "--count", min=1, help="How many modes, from the lowest on.")] = 10,
    at: Annotated[
        Place, Option(help="About the nearest equilibrium, or about the design position, moving as drawn.")
    ] = Place.equilibrium,
    without_constraint_stiffness: Annotated[
        bool, Option("--without-constraint-stiffness", help="Leave K_c out, for comparison: the result is then wrong.")
    ] = False,
    plot: Annotated[Path | None, Option(help="Draw eigenvalues and shapes to a file (png, pdf, svg).")] = None,
    as_json: AsJson = False,
) -> None:
    """Find eigenvalues, frequencies and damping ratios of small vibrations."""
    from dalembert.analysis.linearize import Linearization, reference_motion
    from dalembert.analysis.modes import modes_of
    from dalembert.analysis.pencil import steady_pencil
    from dalembert.io import read_model_file

    source = read_model_file(model)
    system = source.build()
    where = reference_motion(system, at=at.value, state=None, t=0.0)
    found = {
        keep: modes_of(
            Linearization(system, where, steady_pencil(system, where, with_constraints=keep), (), ()),
            count,
            with_constraint_stiffness=keep,
        )
        for keep in ((True, False) if not as_json else (not without_constraint_stiffness,))
    }
    shown = found[not without_constraint_stiffness]
    if plot is not None:
        shown.plot().savefig(plot)
    if as_json:
        print_json(figures_of(shown))
    else:
        _print(
            f"{source.model.name} ({model}), about {'its equilibrium' if at is Place.equilibrium else 'the design position'}",
            found,
        )


def figures_of(found: Modes) -> dict[str, Any]:
    """Return what the command tells."""
    rows = [
        {
            "eigenvalue": [float(s.real), float(s.imag)],
            "frequency_hz": float(f),
            "natural_frequency_hz": float(n),
            "damping_ratio": float(z),
            "kind": str(kind),
        }
        for s, f, n, z, kind in zip(
            found.eigenvalue.values,
            found.frequency_hz.values,
            found.natural_frequency_hz.values,
            found.damping_ratio.values,
            found.kind.values,
            strict=True,
        )
    ]
    names = ("with_constraint_stiffness", "neutral_modes", "unstable_modes", "complete")
    return {"modes": rows} | {name: found.attrs[name] for name in names}


def _print(title: str, found: dict[bool, Modes]) -> None:
    both, without, moving = found[True], found[False].frequency_hz.values, _most_moving(found[True])
    lines = [
        (
            f"{k + 1}",
            _text(s),
            f"{both.frequency_hz.values[k]:.6f}",
            f"{without[k]:.6f}" if k < without.size else "-",
            f"{100.0 * both.damping_ratio.values[k]:.3g} %",
            moving[k],
        )
        for k, s in enumerate(both.eigenvalue.values)
    ]
    print_table(title, [("neutral modes", f"{both.neutral_modes}"), ("unstable modes", f"{both.unstable_modes}")])
    print_columns(("mode", "s [1/s]", "f [Hz]", "without K_c", "damping", "moves most"), lines)


def _text(s: complex) -> str:
    """Return an eigenvalue, and a word about it if it is not a plain vibration."""
    if s.imag == 0.0:
        return f"{s.real + 0.0:.5g}" + (" grows" if s.real > 0.0 else " neutral" if s == 0.0 else "")
    grows = s.real > 1e-9 * abs(s)
    real = "" if abs(s.real) <= 1e-9 * abs(s) else f"{s.real:.4g} "
    return f"{real}+-{s.imag:.6g}i" + (" grows" if grows else "")


def _most_moving(found: Modes) -> list[str]:
    """Return the body with the largest share of the kinetic energy in each mode."""
    shares = found.kinetic_share.values
    return [f"{found.body.values[row.argmax()]} ({100.0 * row.max():.0f} %)" for row in shares]
