"""Pictures of modes and of frequency responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from xarray.plot.accessor import DatasetPlotAccessor

from dalembert.kernel.vec3 import Array
from dalembert.view.run_plots import finish

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dalembert.analysis.frequency_response import FrequencyResponse
    from dalembert.analysis.modes import Modes

SHAPES = 6
"""Shapes in one picture."""

_AMPLITUDE = 0.15  # of the largest displacement, beside the size of the system


class ModePlots(DatasetPlotAccessor):
    """The plots of an xarray dataset; called, eigenvalues and first shapes.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("pendulum", gravity=(0, 0, -10.0))
    >>> bob = model.body("bob", mass=1.0, position=(0, 0, -1))
    >>> hinge = model.revolute("hinge", "ground", bob, axis=(0, 1, 0))
    >>> figure = da.modes(model).plot()
    >>> [ax.get_xlabel() for ax in figure.axes]
    ['Re s [1/s]', 'x [m]']
    """

    def __init__(self, modes: Modes) -> None:
        super().__init__(modes)
        self._modes = modes

    def __call__(self, *, shapes: int = SHAPES) -> Figure:  # type: ignore[override]
        """Draw the eigenvalues in the complex plane and the first shapes, places of the bodies at both ends of the swing."""
        import matplotlib.pyplot as plt

        found = self._modes
        shown = min(shapes, found.sizes["mode"]) if "translation" in found else 0
        rows = max(1, -(-shown // 2))
        figure = plt.figure(figsize=(12, 2.5 * rows + 1), layout="constrained")
        grid = figure.add_gridspec(rows, 3)
        _draw_plane(figure.add_subplot(grid[:, 0]), found)
        for k in range(shown):
            draw_shape(figure.add_subplot(grid[k // 2, 1 + k % 2]), found, k)
        figure.suptitle(found.attrs.get("title", ""))
        return figure


def _draw_plane(ax: Axes, found: Modes) -> None:
    s = found.eigenvalue.values
    both = np.concatenate([s, s[s.imag > 0.0].conj()])
    grows = both.real > 1e-9 * np.abs(both)
    for kept, mark, label in ((~grows, "C0o", None), (grows, "C3x", "growing")):
        if kept.any():
            ax.plot(both[kept].real, both[kept].imag, mark, label=label)
    ax.axvline(0.0, color="black", linewidth=0.5)
    ax.set_xlabel("Re s [1/s]")
    finish(ax, "Im s [rad/s]")


def draw_shape(ax: Axes, found: Modes, k: int) -> None:
    """Draw one shape in the plane in which it shows most."""
    places, shape = found.position.values, found.translation.values[k]
    across, up = plane_of(places, np.real(shape))
    reach = float(np.ptp(places, axis=0).max()) or float(np.abs(places).max()) or 1.0
    largest = float(np.abs(shape).max()) or 1.0
    line = "o-" if len(places) > 2 else "o"
    for phase, style in ((0.0, {"color": "C0"}), (np.pi, {"color": "C0", "alpha": 0.35})):
        moved = places + _AMPLITUDE * reach / largest * np.real(shape * np.exp(1j * phase))
        ax.plot(moved[:, across], moved[:, up], line, markersize=2, linewidth=1, **style)
    ax.plot(places[:, across], places[:, up], ".", color="black", markersize=2)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title(f"{k + 1}: {found.frequency_hz.values[k]:.4g} Hz, {found.kind.values[k]}", fontsize="small")
    ax.set_xlabel("xyz"[across] + " [m]")
    finish(ax, "xyz"[up] + " [m]")


def plane_of(places: Array, shape: Array) -> tuple[int, int]:
    """Return the two axes in which places and displacements show most: the horizontal one first.

    Examples
    --------
    >>> plane_of(np.array([[0.0, 0, 0], [5.0, 0, 0]]), np.array([[0.0, 0, 0], [0, 1.0, 0]]))
    (0, 1)
    """
    extent = np.ptp(places, axis=0)
    first = int(np.argmax(extent)) if extent.any() else int(np.argmax(np.abs(places).max(axis=0)))
    rest = np.abs(shape).max(axis=0, initial=0.0).astype(float)
    size = float(extent.max()) or 1.0
    weight = rest / (float(rest.max()) or 1.0) + 0.5 * extent / size
    weight[first] = -1.0
    pair = sorted((first, int(np.argmax(weight))))
    return pair[0], pair[1]


def animate(modes: Modes, mode: int = 1, *, frames: int = 40, amplitude: float = _AMPLITUDE) -> FuncAnimation:
    """Return an animation of one mode, for notebooks (``.to_jshtml()``) and files (``.save("mode.gif")``).

    Parameters
    ----------
    modes : Modes
    mode : int
        Its number, from one on.
    frames : int
        Pictures of one period.
    amplitude : float
        Largest displacement beside the size of the system.
    """
    import matplotlib.pyplot as plt
    from matplotlib.animation import FuncAnimation

    found = modes.sel(mode=mode)
    places, shape = found.position.values, found.translation.values
    across, up = plane_of(places, np.real(shape))
    reach = (float(np.ptp(places, axis=0).max()) or 1.0) * amplitude / (float(np.abs(shape).max()) or 1.0)
    figure, ax = plt.subplots(layout="constrained")
    ax.plot(places[:, across], places[:, up], ".", color="black", markersize=2)
    (line,) = ax.plot(places[:, across], places[:, up], "o-" if len(places) > 2 else "o")
    margin = reach * float(np.abs(shape).max()) + 0.05 * (float(np.ptp(places, axis=0).max()) or 1.0)
    for axis, limits in ((across, ax.set_xlim), (up, ax.set_ylim)):
        limits(places[:, axis].min() - margin, places[:, axis].max() + margin)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title(f"mode {mode}: {float(found.frequency_hz):.4g} Hz")

    def draw(frame: int) -> list[Any]:
        moved = places + reach * np.real(shape * np.exp(2j * np.pi * frame / frames))
        line.set_data(moved[:, across], moved[:, up])
        return [line]

    return FuncAnimation(figure, draw, frames=frames, interval=50, blit=True)


class BodePlots(DatasetPlotAccessor):
    """The plots of an xarray dataset; called, gain and phase over frequency."""

    def __init__(self, response: FrequencyResponse) -> None:
        super().__init__(response)
        self._response = response

    def __call__(self) -> Figure:  # type: ignore[override]
        """Draw a Bode plot, a line for each input and output."""
        import matplotlib.pyplot as plt

        figure, (gain, phase) = plt.subplots(2, 1, sharex=True, figsize=(8, 6), layout="constrained")
        data = self._response.response
        for one in data.input.values:
            for other in data.output.values:
                values = data.sel(input=one, output=other).values
                gain.loglog(data.frequency, np.abs(values), label=f"{one} to {other}")
                phase.semilogx(data.frequency, np.degrees(np.unwrap(np.angle(values))))
        finish(gain, "gain")
        finish(phase, "phase [degrees]")
        phase.set_xlabel("frequency [Hz]")
        figure.suptitle(self._response.attrs.get("title", ""))
        return figure
