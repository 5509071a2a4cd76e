"""What commands print: one JSON object on standard output, or tables for people."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file (YAML).", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]


def print_json(figures: Any) -> None:
    """Print one JSON object; what is not a finite number is null, as JSON knows no NaN."""
    typer.echo(json.dumps(_clean(figures)))


def print_table(title: str, rows: Iterable[tuple[str, str]]) -> None:
    """Print a title, then names and values in two columns."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, show_header=False, show_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name), Text(value))
    console = Console(highlight=False)
    console.print(Text(title))
    console.print(table)


def print_columns(names: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """Print a table with a header: texts left, numbers right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    lines = list(rows)
    table = Table(box=box.SIMPLE, show_edge=False)
    for k, name in enumerate(names):
        numeric = k > 0 and all(_is_number(line[k]) for line in lines)
        table.add_column(name, justify="right" if numeric else "left", no_wrap=True)
    for line in lines:
        table.add_row(*(Text(cell) for cell in line))
    Console(highlight=False).print(table)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text == "-"
    return True


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    if hasattr(value, "item"):  # a NumPy number
        value = value.item()
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value
