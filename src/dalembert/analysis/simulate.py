"""Motion in time: `simulate` assembles, integrates in compiled chunks and returns labelled data."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.analysis.assemble import assemble
from dalembert.analysis.results import dataset
from dalembert.errors import ModelError
from dalembert.integrators.common import IntegrationError, new_samples
from dalembert.integrators.implicit import Coefficients, ImplicitIntegrator, generalized_alpha, hht_alpha
from dalembert.kernel.vec3 import Array
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.system import System

if TYPE_CHECKING:
    import xarray as xr

Progress = Callable[[float, float], None]
"""Called between chunks with the time reached and the duration [s]."""

METHODS: dict[str, Callable[[], Coefficients]] = {"generalized_alpha": generalized_alpha, "hht": hht_alpha}


def simulate(
    model: Model | System,
    *,
    duration: float,
    step: float | None = None,
    rtol: float | None = None,
    output_step: float | None = None,
    method: str | Coefficients = "generalized_alpha",
    progress: Progress | None = None,
) -> xr.Dataset:
    """Return the motion of a model from its design position on.

    The position and the velocities are assembled first. An interruption (Ctrl-C) returns what was computed so far, with the
    attribute ``completed = 0``; a failure raises `IntegrationError`, whose ``partial`` holds it.

    Parameters
    ----------
    model : Model or System
    duration : float
        [s].
    step : float, optional
        Fixed step of the integrator [s]. Without a step, the steps follow from `rtol`.
    rtol : float, optional
        Relative local error of the positions; 1e-6 if neither is given.
    output_step : float, optional
        Time between outputs [s]; a 500th of the duration if not given.
    method : str or Coefficients
        ``"generalized_alpha"`` (spectral radius 0.9), ``"hht"`` (alpha -0.1), or the coefficients of either with other damping.
    progress : callable, optional
        See `Progress`.

    Returns
    -------
    xarray.Dataset
        position, orientation, velocity, angular_velocity, joint_force, joint_torque, joint_unique, kinetic_energy,
        potential_energy and constraint_violation, with units in the attributes.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("pendulum", gravity=(0, 0, -9.81))
    >>> bob = model.body("bob", mass=1.0, position=(0.6, 0, -0.8))
    >>> hinge = model.revolute("hinge", model.ground, bob, axis=(0, 1, 0))
    >>> run = simulate(model, duration=0.5, step=1e-3)
    >>> bool(abs(run.constraint_violation).max() < 1e-12)
    True
    """
    system = model if isinstance(model, System) else build(model)
    times = _output_times(duration, output_step)
    if step is not None and not step > 0.0:
        raise ModelError("simulate", f"the step {step} is not positive", "give a step in seconds")
    control = {"step": step} if step is not None else {"rtol": 1e-6 if rtol is None else rtol}
    integrator = ImplicitIntegrator(system, coefficients=_coefficients(method), **control)  # type: ignore[arg-type]
    integrator.breaks = _break_points(system, duration)
    state = assemble(system)
    integrator.start(state.t, state.q, state.v)
    samples = new_samples(system, times.size)
    begin = clock.perf_counter()
    filled, failure, completed = 0, None, True
    try:
        while filled < times.size:
            part = type(samples)(*(array[filled:] for array in samples))
            filled += integrator.run_chunk(times[filled:], part)
            if progress is not None:
                progress(float(integrator.track.clock[0]), duration)
    except IntegrationError as error:
        filled += error.filled
        failure = error
    except KeyboardInterrupt:
        completed = False
    seconds = clock.perf_counter() - begin
    part = type(samples)(*(array[:filled] for array in samples))
    attributes: dict[str, Any] = integrator.statistics | {"wall_time": seconds, "completed": int(completed and failure is None)}
    run = dataset(system, times[:filled], part, attributes)
    if failure is not None:
        failure.partial = run
        raise failure
    return run


def _output_times(duration: float, output_step: float | None) -> Array:
    if not (np.isfinite(duration) and duration > 0.0):
        raise ModelError("simulate", f"the duration {duration} is not positive", "give a duration in seconds")
    if output_step is None:
        return np.linspace(0.0, duration, 501)
    if not output_step > 0.0:
        raise ModelError("simulate", f"the output step {output_step} is not positive", "give it in seconds")
    count = max(1, round(duration / output_step))
    return np.linspace(0.0, duration, count + 1)


def _coefficients(method: str | Coefficients) -> Coefficients:
    if isinstance(method, Coefficients):
        return method
    if method not in METHODS:
        from dalembert.errors import nearest

        raise ModelError("simulate", f"unknown method {method!r}", nearest(method, METHODS))
    return METHODS[method]()


def _break_points(system: System, duration: float) -> Array:
    laws = system.tables.laws.laws.keeper.laws
    points = {point for law in laws for point in law.break_points() if 0.0 < point < duration}
    return np.array(sorted(points))
