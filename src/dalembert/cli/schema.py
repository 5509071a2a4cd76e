"""``dalembert schema``: the JSON Schema of the model file."""

from __future__ import annotations

import json

import typer


def schema() -> None:
    """Print the JSON Schema of the model file, for editors."""
    from dalembert.io.schema import model_schema

    typer.echo(json.dumps(model_schema(), indent=2))
