"""Motion in time: `simulate` assembles, integrates in compiled chunks and returns labelled data.

`Simulation` is the same in pieces, for programs that want to look, save or stop in between. Where it is cut into pieces changes
no bit of the result: a checkpoint, also one of another process, continues as if there had been no pause.
"""

from __future__ import annotations

import signal
import threading
import time as clock
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.analysis.assemble import accept_gaps, assemble
from dalembert.analysis.methods import make_integrator
from dalembert.errors import ModelError
from dalembert.integrators.common import IntegrationError, Samples, new_samples
from dalembert.integrators.observe import Observer
from dalembert.kernel.vec3 import Array
from dalembert.lagrange.mechanics import Mechanics
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.state import State
from dalembert.system.system import System

if TYPE_CHECKING:
    from dalembert.analysis.results import Run

OUTPUTS = 500
"""Outputs of a run, if their distance is not given."""

CHUNK_SECONDS = 0.25
"""Wall time of one chunk of steps, about: progress, Ctrl-C and checkpoints come between chunks."""

Progress = Callable[["Simulation"], None]
"""Called between chunks."""


class Simulation:
    """A simulation in pieces: `start` (or `restore`), then `advance` until it is `done`.

    Parameters
    ----------
    model : Model, System or Mechanics
    duration, output_step, method, step, rtol, atol, options
        See `simulate`.

    Attributes
    ----------
    times : array
        Of the outputs [s].
    filled : int
        Outputs reached so far.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("falling", gravity=(0, 0, -10.0))
    >>> stone = model.body("stone", mass=1.0, inertia=(1, 1, 1))
    >>> simulation = Simulation(model, duration=1.0, output_step=0.5)
    >>> simulation.start()
    >>> while not simulation.done:
    ...     simulation.advance()
    >>> simulation.run().position.sel(axis="z").values.ravel().round(6).tolist()
    [0.0, -1.25, -5.0]
    """

    def __init__(
        self,
        model: Model | System | Mechanics,
        *,
        duration: float,
        output_step: float | None = None,
        method: str = "auto",
        step: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        **options: Any,
    ) -> None:
        self.system = build(model) if isinstance(model, Model) else model
        self.duration = duration
        self.times = _output_times(duration, output_step)
        self.filled = 0
        self.wall_time = 0.0
        self._control = {"method": method, "step": step, "rtol": rtol, "atol": atol} | options
        self._samples = new_samples(self.system, self.times.size)
        self._before: Run | None = None
        self._skipped = 0
        self._budget = 100

    def start(self, state: State | None = None) -> None:
        """Begin at a consistent state, the assembled design position if none is given."""
        if state is None:
            state = assemble(self.system)
        else:
            accept_gaps(self.system, state.t)
        self._prepare(state)
        self._integrator.start(state.t, state.q, state.v)

    def _prepare(self, state: State) -> None:
        breaks = break_points(self.system, self.duration)
        spacing = float(self.times[1] - self.times[0])
        self._integrator = make_integrator(self.system, state, breaks=breaks, spacing=spacing, **self._control)
        self._observer = Observer(self.system, self.times.size) if isinstance(self.system, System) else None

    @property
    def time(self) -> float:
        """Time reached by the steps [s]."""
        return self._integrator.time

    @property
    def step_size(self) -> float:
        """Size of the next step [s]."""
        return self._integrator.step_size

    @property
    def done(self) -> bool:
        """Whether all outputs are there."""
        return self.filled == self.times.size

    def advance(self) -> None:
        """Go on for about a quarter of a second of wall time.

        Raises
        ------
        IntegrationError
            If the motion cannot be continued; its ``partial`` is the run so far.
        """
        begin, steps = clock.perf_counter(), self._integrator.statistics["steps"]
        part = Samples(*(array[self.filled :] for array in self._samples))
        try:
            self.filled += self._integrator.run_chunk(self.times[self.filled :], part, self._budget)
        except IntegrationError as error:
            self.filled += error.filled
            error.partial = self.run()
            raise
        finally:
            seconds = clock.perf_counter() - begin
            self.wall_time += seconds
        made = self._integrator.statistics["steps"] - steps
        self._budget = int(np.clip(made * CHUNK_SECONDS / max(seconds, 1e-6), 1, 20 * self._budget))

    def run(self) -> Run:
        """Return what was computed so far."""
        import xarray as xr

        from dalembert.analysis.results import Run

        run = self._new_part(slice(self._skipped, self.filled))
        if self._before is None:
            return run
        if self._skipped == self.filled:
            return self._before
        joined = xr.concat([self._before, run], dim="time", data_vars="minimal", coords="minimal", compat="override")
        flags = {name: self._before[name] & run[name] for name in run.data_vars if str(name).endswith("_unique")}
        return Run.of(joined.assign(flags).assign_attrs(run.attrs))

    def _new_part(self, new: slice) -> Run:
        """Return some rows of the samples, and what follows from them."""
        from dalembert.analysis.results import labelled, plain_labelled

        samples = Samples(*(array[new] for array in self._samples))
        wall = {"method": self._integrator.method, "wall_time": self.wall_time, "completed": int(self.done)}
        attributes = self._integrator.statistics | wall
        if isinstance(self.system, Mechanics):
            return plain_labelled(self.system, self.times[new], samples, attributes).run()
        assert self._observer is not None
        observed = self._observer.observe(self.times, self._samples, new.start, new.stop)
        return labelled(self.system, self.times[new], samples, observed, attributes).run()

    def checkpoint(self) -> dict[str, Array]:
        """Return all that another process needs to go on, beside the run so far."""
        own = {"filled": np.array([self.filled]), "wall_time": np.array([self.wall_time])}
        return own | {f"integrator_{name}": array for name, array in self._integrator.checkpoint().items()}

    def restore(self, data: Mapping[str, Array], run: Run) -> None:
        """Go on from a checkpoint of a simulation of the same system and options, and its run so far."""
        self.filled = self._skipped = int(data["filled"][0])
        self.wall_time = float(data["wall_time"][0])
        if run.sizes["time"] != self.filled or not np.array_equal(run.time.values, self.times[: self.filled]):
            raise ModelError("checkpoint", "it does not fit the run beside it", "start anew, without resuming")
        self._before = run
        self._prepare(assemble(self.system))
        prefix = "integrator_"
        self._integrator.restore(
            {name.removeprefix(prefix): np.asarray(data[name]) for name in data if name.startswith(prefix)}
        )


def simulate(
    model: Model | System | Mechanics,
    *,
    duration: float,
    output_step: float | None = None,
    method: str = "auto",
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    start: State | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Run:
    """Return the motion of a model from its design position on.

    The position and the velocities are assembled first. Ctrl-C ends the run between two steps and returns what was computed so
    far with the attribute ``completed = 0`` and a warning (a second Ctrl-C raises); a failure raises `IntegrationError`, whose
    ``partial`` holds what was computed so far.

    Parameters
    ----------
    model : Model, System or Mechanics
    duration : float
        [s].
    output_step : float, optional
        Time between outputs [s]; a 500th of the duration if not given.
    method : str
        ``"auto"``, ``"generalized_alpha"``, ``"hht"``, ``"dopri5"``, ``"index1"``, ``"baumgarte"`` or ``"braun_goldfarb"``:
        see `methods`.
    step : float, optional
        Fixed step of the integrator [s]. Without a step, the steps follow from the tolerances.
    rtol, atol : float, optional
        Local error allowed in a step, relative and absolute [m, rad, m/s, rad/s]; both 1e-6 if neither is given.
    start : State, optional
        A consistent state to start from, instead of the assembled design position.
    progress : callable, optional
        Called between chunks with the `Simulation`: its `time`, `step_size`, `duration`.
    **options
        Of the method: ``spectral_radius`` (generalized_alpha), ``alpha`` (hht, baumgarte, braun_goldfarb), ``beta``,
        ``weights``, ``max_step``, ...; see `methods`.

    Returns
    -------
    Run
        An xarray.Dataset with position, orientation, velocity, angular_velocity, joint_force, joint_torque, joint_unique,
        joint_coordinate, kinetic_energy, potential_energy (and potential_energy_of each kind) and constraint_violation, with
        units in the attributes of each, and the statistics of the solver in its own. Of a `Mechanics`: position, velocity,
        acceleration and constraint_force of each coordinate, multiplier of each row, energies and constraint_violation.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("pendulum", gravity=(0, 0, -9.81))
    >>> bob = model.body("bob", mass=1.0, position=(0.6, 0, -0.8))
    >>> hinge = model.revolute("hinge", model.ground, bob, axis=(0, 1, 0))
    >>> run = simulate(model, duration=0.5)
    >>> bool(abs(run.constraint_violation).max() < 1e-10)
    True
    """
    control = {"method": method, "step": step, "rtol": rtol, "atol": atol} | options
    simulation = Simulation(model, duration=duration, output_step=output_step, **control)
    simulation.start(start)
    with stop_requests() as stop:
        while not simulation.done and not stop.is_set():
            simulation.advance()
            if progress is not None:
                progress(simulation)
    if not simulation.done:
        warnings.warn(f"stopped at t = {simulation.time:.6g} s; the run holds what was computed so far", stacklevel=2)
    return simulation.run()


@contextmanager
def stop_requests() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C or SIGTERM into an event, so that the step under way is finished; the second one raises."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():  # Python delivers signals to the main thread only
        yield event
        return

    def handle(number: int, frame: object) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _output_times(duration: float, output_step: float | None) -> Array:
    if not (np.isfinite(duration) and duration > 0.0):
        raise ModelError("simulate", f"the duration {duration} is not positive", "give a duration in seconds")
    if output_step is None:
        return np.linspace(0.0, duration, OUTPUTS + 1)
    if not output_step > 0.0:
        raise ModelError("simulate", f"the output step {output_step} is not positive", "give it in seconds")
    count = int(duration / output_step * (1.0 + 1e-12))
    times = np.asarray(np.arange(count + 1) * output_step, float)
    return times if np.isclose(times[-1], duration, rtol=1e-9) else np.append(times, duration)


def break_points(system: System | Mechanics, duration: float) -> Array:
    """Return the times at which laws jump in a derivative [s]."""
    if isinstance(system, Mechanics):
        return np.array(sorted(point for point in system.breaks if 0.0 < point < duration))
    points = {point for law in system.tables.laws.laws.keeper.laws for point in law.break_points() if 0.0 < point < duration}
    return np.array(sorted(points))
