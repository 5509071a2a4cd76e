"""``dalembert simulate``: the motion of a model, to NetCDF."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli.output import AsJson, ModelPath, print_json, print_table
from dalembert.errors import DalembertError, ModelError

if TYPE_CHECKING:
    import xarray as xr

    from dalembert.analysis.simulate import Simulation

SAVE_SECONDS = 30.0
"""Wall time between two saves of an unfinished run; longer where saving itself takes long."""

_SHARE = 20.0  # the time between saves is at least so many times that of the last one

Option = typer.Option


def simulate(
    model: ModelPath,
    duration: Annotated[float, Option(help="Seconds of motion.", show_default=False)],
    step: Annotated[float | None, Option(help="Fixed step [s]; error-controlled steps without it.")] = None,
    rtol: Annotated[float | None, Option(help="Relative local error of controlled steps; 1e-6 if not given.")] = None,
    atol: Annotated[float | None, Option(help="Absolute local error [m, rad, m/s, rad/s]; as rtol if not given.")] = None,
    method: Annotated[str, Option(help="auto, generalized_alpha, hht, dopri5, index1, baumgarte or braun_goldfarb.")] = "auto",
    max_step: Annotated[float | None, Option(help="Largest step [s].")] = None,
    output_step: Annotated[float | None, Option(help="Time between outputs [s]; duration/500 if not given.")] = None,
    output: Annotated[Path | None, Option("--output", "-o", help="NetCDF file; MODEL.nc if not given.")] = None,
    resume: Annotated[bool, Option("--resume", help="Go on with the unfinished run in the output file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Simulate the motion of a model; what was computed is saved also when it is stopped or fails."""
    from dalembert.analysis.simulate import Simulation, stop_requests
    from dalembert.integrators import implicit
    from dalembert.io import read_model_file
    from dalembert.io.results import check_writable
    from dalembert.kernel.compile import is_cold

    source = read_model_file(model)
    target = output or model.with_suffix(".nc")
    check_writable(target)
    control: dict[str, Any] = {"step": step, "rtol": rtol, "atol": atol, "method": method, "output_step": output_step}
    control |= {"max_step": max_step} if max_step is not None else {}
    simulation = Simulation(source.build(), duration=duration, **control)
    file = _RunFile(target, model.read_text(encoding="utf-8"), control | {"duration": duration})
    if is_cold(Path(implicit.__file__)):
        print("compiling, the first time only ...", file=sys.stderr)
    with stop_requests() as stop:
        if resume:
            file.restore(simulation)
        else:
            simulation.start()
        try:
            with _progress(simulation) as show:
                while not simulation.done and not stop.is_set():
                    simulation.advance()
                    show()
                    file.save_now_and_then(simulation)
        except DalembertError:
            file.save(simulation)
            print(f"what was computed up to t = {simulation.time:.6g} s is in {target}", file=sys.stderr)
            raise
        run = file.save(simulation)
    _print(f"{source.model.name} ({model})", run, target, as_json)
    if not simulation.done:
        print(f"stopped at t = {simulation.time:.6g} s; the same command with --resume goes on", file=sys.stderr)
        raise KeyboardInterrupt


class _RunFile:
    """The file of a run that grows: saved now and then, with what is needed to go on."""

    def __init__(self, target: Path, model_text: str, control: dict[str, Any]) -> None:
        self.target = target
        self.model_text = model_text
        self.control = json.dumps(control, sort_keys=True)
        self._saved = time.monotonic()
        self._pause = SAVE_SECONDS

    def restore(self, simulation: Simulation) -> None:
        """Go on where the run in the file ends."""
        from dalembert.io.results import load_checkpoint, load_run

        run, checkpoint = load_run(self.target), load_checkpoint(self.target)
        element = f"option '--resume', {self.target}"
        if checkpoint is None:
            raise ModelError(element, "the run in it is complete", "leave --resume out to simulate anew")
        if run.attrs.get("model") != self.model_text:
            raise ModelError(element, "the model file is not the one that made it", "restore it, or simulate anew")
        if run.attrs.get("options") != self.control:
            raise ModelError(element, f"it was made with other options, {run.attrs.get('options')}", "give the same ones")
        simulation.restore(checkpoint, run)

    def save_now_and_then(self, simulation: Simulation) -> None:
        """Save if the last time is long ago; a full disk is reported, and the run goes on."""
        if time.monotonic() - self._saved < self._pause or simulation.done:
            return
        begin = time.monotonic()
        try:
            self.save(simulation)
        except DalembertError as error:
            print(f"warning: {error}", file=sys.stderr)
        self._saved = time.monotonic()
        self._pause = max(SAVE_SECONDS, _SHARE * (self._saved - begin))

    def save(self, simulation: Simulation) -> xr.Dataset:
        """Save the run so far, with a checkpoint if it is not complete."""
        from dalembert.io.results import save_run

        run = simulation.run()
        run.attrs["options"] = self.control
        checkpoint = None if simulation.done else simulation.checkpoint()
        save_run(run, self.target, model_text=self.model_text, checkpoint=checkpoint)
        return run


def _print(title: str, run: xr.Dataset, target: Path, as_json: bool) -> None:
    figures = _figures(run, target)
    if as_json:
        print_json(figures)
    else:
        print_table(title, [(label.replace("_", " "), f"{value}") for label, value in figures.items()])


def _figures(run: xr.Dataset, target: Path) -> dict[str, Any]:
    energy, some = run.kinetic_energy + run.potential_energy, bool(run.time.size)
    return {
        "file": str(target),
        "method": run.attrs["method"],
        "end_time": float(run.time[-1]) if some else 0.0,
        "outputs": int(run.time.size),
        "steps": int(run.attrs["steps"]),
        "rejected_steps": int(run.attrs["rejected_steps"]),
        "factorisations": int(run.attrs["factorisations"]),
        "wall_time": float(run.attrs["wall_time"]),
        "energy_change": float(energy[-1] - energy[0]) if some else 0.0,
        "largest_position_violation": float(run.constraint_violation.sel(level="position").max()) if some else 0.0,
        "completed": bool(run.attrs["completed"]),
    }


@contextmanager
def _progress(simulation: Simulation) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error; none where that is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    text = TextColumn("t = {task.completed:.4g} of {task.total:g} s, step {task.fields[size]:.2e} s")
    with Progress(text, BarColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("simulate", total=simulation.duration, size=0.0)
        yield lambda: bar.update(task, completed=simulation.time, size=simulation.step_size)
