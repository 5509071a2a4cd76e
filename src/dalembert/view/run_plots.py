"""Pictures of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray.plot.accessor import DatasetPlotAccessor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dalembert.analysis.results import Run

MOST = 8
"""Bodies or joints of one picture, if none are named."""


class RunPlots(DatasetPlotAccessor):
    """The plots of an xarray dataset; called, the picture of the whole run.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("falling", gravity=(0, 0, -10.0))
    >>> stone = model.body("stone", mass=1.0, inertia=(1, 1, 1))
    >>> figure = da.simulate(model, duration=1.0, output_step=0.5).plot()
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['position [m]', 'energy [J]', 'joint force [N]', 'violation']
    """

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._run = run

    def __call__(  # type: ignore[override]
        self, *, bodies: Sequence[str] | None = None, joints: Sequence[str] | None = None
    ) -> Figure:
        """Draw positions, energies, sizes of the joint forces (dashed where they are not unique) and violations.

        Parameters
        ----------
        bodies, joints : sequence of str, optional
            Those to be drawn; the first eight if not given.
        """
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(4, 1, sharex=True, figsize=(8, 10), layout="constrained")
        run = self._run
        if "body" in run.dims:
            _draw_positions(axes[0], run, list(run.body.values[:MOST] if bodies is None else bodies))
            _draw_forces(axes[2], run, list(run.joint.values[:MOST] if joints is None else joints))
        else:  # a user's own equations
            _draw_coordinates(axes[0], run)
            _draw_multipliers(axes[2], run)
        _draw_energies(axes[1], run)
        _draw_violations(axes[3], run)
        axes[3].set_xlabel("time [s]")
        figure.suptitle(run.attrs.get("title", ""))
        return figure


def _draw_positions(ax: Axes, run: Run, bodies: list[Any]) -> None:
    for number, body in enumerate(bodies):
        for axis, style in zip("xyz", ("-", "--", ":"), strict=True):
            label = f"{body}.{axis}" if len(bodies) <= 3 else str(body) if axis == "x" else None
            ax.plot(run.time, run.position.sel(body=body, axis=axis), style, color=f"C{number}", label=label)
    finish(ax, "position [m]")


def _draw_coordinates(ax: Axes, run: Run) -> None:
    for name in run.coordinate.values[:MOST]:
        ax.plot(run.time, run.position.sel(coordinate=name), label=str(name))
    finish(ax, "coordinates")


def _draw_multipliers(ax: Axes, run: Run) -> None:
    for name in run.row.values[:MOST]:
        unique = bool(run.multiplier_unique.sel(row=name))
        label = str(name) if unique else f"{name} (not unique)"
        ax.plot(run.time, run.multiplier.sel(row=name), "-" if unique else "--", label=label)
    finish(ax, "multipliers")


def _draw_energies(ax: Axes, run: Run) -> None:
    total = run.kinetic_energy + run.potential_energy
    for label, values in (("kinetic", run.kinetic_energy), ("potential", run.potential_energy), ("total", total)):
        ax.plot(run.time, values, label=label, color="black" if label == "total" else None)
    finish(ax, "energy [J]")


def _draw_forces(ax: Axes, run: Run, joints: list[Any]) -> None:
    for joint in joints:
        unique = bool(run.force_unique.sel(joint=joint).all())
        size = np.linalg.norm(run.joint_force.sel(joint=joint).values, axis=-1)
        ax.plot(run.time, size, "-" if unique else "--", label=str(joint) if unique else f"{joint} (not unique)")
    finish(ax, "joint force [N]")


def _draw_violations(ax: Axes, run: Run) -> None:
    floor = np.finfo(float).eps
    for level in run.level.values:
        ax.semilogy(run.time, np.maximum(run.constraint_violation.sel(level=level), floor), label=str(level))
    finish(ax, "violation")


def finish(ax: Axes, label: str) -> None:
    """Label the upright axis, draw a grid, and a legend if there is something to explain."""
    ax.set_ylabel(label)
    ax.grid(alpha=0.3)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize="small", ncols=2)
