"""Pictures of stiffness: the ellipsoids of compliance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from xarray.plot.accessor import DatasetPlotAccessor

from dalembert.errors import ModelError
from dalembert.kernel.vec3 import Array

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

_FINE = 40


class StiffnessPlots(DatasetPlotAccessor):
    """The plots of an xarray dataset; called, what a unit force and a unit couple of any direction do.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("mount")
    >>> engine = model.body("engine", mass=100.0, inertia=(5, 5, 5))
    >>> rubber = model.bushing("rubber", "ground", engine, at=(0, 0, 0), stiffness=(1e5, 1e5, 3e5, 500, 500, 900))
    >>> figure = da.cartesian_stiffness(model, "engine").plot()
    >>> [ax.get_title() for ax in figure.axes]
    ['displacement of 1 N [m]', 'rotation of 1 N m [rad]']
    """

    def __init__(self, found: xr.Dataset) -> None:
        super().__init__(found)
        self._found = found

    def __call__(self) -> Figure:  # type: ignore[override]
        """Draw the ellipsoids of displacement and of rotation, with their main axes."""
        import matplotlib.pyplot as plt

        C = _compliance(self._found)
        figure = plt.figure(figsize=(10, 5), layout="constrained")
        parts = ((C[:3, :3], "displacement of 1 N [m]"), (C[3:, 3:], "rotation of 1 N m [rad]"))
        for k, (part, title) in enumerate(parts):
            _draw_ellipsoid(figure.add_subplot(1, 2, k + 1, projection="3d"), part, title)
        figure.suptitle(str(self._found.attrs.get("bodies", self._found.attrs.get("body", ""))))
        return figure


def _compliance(found: xr.Dataset) -> Array:
    if "compliance" not in found or found.compliance.shape != (6, 6):
        raise ModelError(
            "picture of the compliance",
            "there is none: the stiffness is singular, planar, or of several bodies",
            "draw a single body in space whose every motion is resisted, or the condensed stiffness",
        )
    return np.asarray(found.compliance.values)


def _draw_ellipsoid(ax: Any, C: Array, title: str) -> None:
    """Draw the image of the unit sphere under C; red where the answer is against the force."""
    u, v = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, _FINE), np.linspace(0.0, np.pi, _FINE // 2))
    n = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])
    d = np.tensordot(C, n, axes=1)
    against = np.einsum("kij,kij->ij", n, d) < 0.0
    colors = np.where(against[..., None], np.array([0.8, 0.2, 0.2, 0.5]), np.array([0.2, 0.4, 0.8, 0.5]))
    ax.plot_surface(*d, facecolors=colors, rstride=1, cstride=1, linewidth=0.0)
    main, sizes, _ = np.linalg.svd(C)
    for direction, size in zip(main.T, sizes, strict=True):
        ax.plot(*np.outer(direction * size, [-1.0, 1.0]), color="black", linewidth=1.0)
    reach = float(sizes[0]) or 1.0
    for axis in "xyz":
        getattr(ax, f"set_{axis}lim")(-reach, reach)
        getattr(ax, f"set_{axis}label")(axis)
    ax.set_box_aspect((1, 1, 1))
    ax.set_title(title + ("; red: against the load" if against.any() else ""), fontsize="small")
