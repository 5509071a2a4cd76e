"""``dalembert reproduce``: the papers' examples; printed figures, ours, and the deviation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalembert.cli.output import AsJson, print_json
from dalembert.errors import ModelError, SolveError, nearest

Option = typer.Option


class NotReproducedError(SolveError):
    """A figure of a paper is not met."""


def reproduce(
    paper: Annotated[
        str | None, typer.Argument(help="peng2024, ...; all of them if none is named.", show_default=False)
    ] = None,
    output: Annotated[Path | None, Option("--output", "-o", help="Draw the papers' figures to files in this folder.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run the papers' examples; print paper, ours and deviation; fail where one is off."""
    from dalembert.papers import PAPERS, module_of
    from dalembert.papers.figures import Figure, table_of

    if paper is not None and paper not in PAPERS:
        raise ModelError(f"paper {paper!r}", "it is not among the examples", nearest(paper, PAPERS))
    all_figures: dict[str, list[Figure]] = {}
    for name in [paper] if paper else list(PAPERS):
        module = module_of(name)
        typer.echo(f"{name}: {PAPERS[name]}", err=as_json)
        all_figures[name] = list(module.figures())
        if not as_json:
            typer.echo(table_of(all_figures[name]) + "\n")
        if output is not None:
            output.mkdir(parents=True, exist_ok=True)
            for path in module.draw(output):
                typer.echo(f"drawn: {path}", err=True)
    if as_json:
        print_json({name: [_as_dict(figure) for figure in figures] for name, figures in all_figures.items()})
    off = [figure.name for figures in all_figures.values() for figure in figures if not figure.met]
    if off:
        raise NotReproducedError(f"{len(off)} figure(s) are off: {'; '.join(off)}")


def _as_dict(figure: object) -> dict[str, object]:
    from dalembert.papers.figures import Figure

    assert isinstance(figure, Figure)
    return {**figure._asdict(), "deviation": figure.deviation, "met": figure.met}
