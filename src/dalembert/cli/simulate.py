"""``dalembert simulate``: the motion of a model, to NetCDF."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli.output import AsJson, ModelPath, print_json, print_table

if TYPE_CHECKING:
    import xarray as xr


def simulate(
    model: ModelPath,
    duration: Annotated[float, typer.Option(help="Seconds of motion.", show_default=False)],
    step: Annotated[float | None, typer.Option(help="Fixed step [s]; error-controlled steps without it.")] = None,
    rtol: Annotated[float | None, typer.Option(help="Relative local error of controlled steps; 1e-6 if not given.")] = None,
    method: Annotated[str, typer.Option(help="generalized_alpha or hht.")] = "generalized_alpha",
    output_step: Annotated[float | None, typer.Option(help="Time between outputs [s]; duration/500 if not given.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="NetCDF file; MODEL.nc if not given.")] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate the motion of a model; what was computed is saved also when it is stopped or fails."""
    from dalembert.analysis.simulate import simulate as run_model
    from dalembert.integrators import implicit
    from dalembert.integrators.common import IntegrationError
    from dalembert.io import read_model_file
    from dalembert.io.results import save_run
    from dalembert.kernel.compile import is_cold

    source = read_model_file(model)
    system = source.build()
    target = output or model.with_suffix(".nc")
    text = model.read_text(encoding="utf-8")
    control: dict[str, Any] = {"step": step, "rtol": rtol, "method": method, "output_step": output_step}
    if is_cold(Path(implicit.__file__)):
        print("compiling, the first time only ...", file=sys.stderr)
    try:
        with _progress(duration) as progress:
            run = run_model(system, duration=duration, progress=progress, **control)
    except IntegrationError as error:
        if error.partial is not None:
            save_run(error.partial, target, model_text=text)  # type: ignore[arg-type]
            print(f"what was computed is in {target}", file=sys.stderr)
        raise
    save_run(run, target, model_text=text)
    figures = _figures(run, target)
    if as_json:
        print_json(figures)
    else:
        print_table(
            f"{source.model.name} ({model})", [(label.replace("_", " "), f"{value}") for label, value in figures.items()]
        )
    if not run.attrs["completed"]:
        raise KeyboardInterrupt


def _figures(run: xr.Dataset, target: Path) -> dict[str, Any]:
    energy = run.kinetic_energy + run.potential_energy
    return {
        "file": str(target),
        "end_time": float(run.time[-1]) if run.time.size else 0.0,
        "outputs": int(run.time.size),
        "steps": int(run.attrs["steps"]),
        "rejected_steps": int(run.attrs["rejected_steps"]),
        "factorisations": int(run.attrs["factorisations"]),
        "wall_time": float(run.attrs["wall_time"]),
        "energy_change": float(energy[-1] - energy[0]) if run.time.size else 0.0,
        "largest_position_violation": float(run.constraint_violation.sel(level="position").max()) if run.time.size else 0.0,
        "completed": bool(run.attrs["completed"]),
    }


@contextmanager
def _progress(duration: float) -> Iterator[Callable[[float, float], None] | None]:
    """Show a progress bar on standard error; none where that is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("t = {task.completed:.3f} of {task.total:g} s"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("simulate", total=duration)
        yield lambda time, _: bar.update(task, completed=time)
