"""Modes of vibration: eigenvalues, shapes, and what moves in them, about an equilibrium or a steady motion.

    (s^2 M + s D + K_f + K_c + K_i) x + A^T l = 0,   A x = 0         Peng et al. 2024, eqs. (7) to (10)

The shares say who takes part: the kinetic energy of each body, and the work of each element's stiffness, x^H K_e x, joints with
their K_c among them, each as a part of the whole. A share of stiffness may be negative: an element that works against the
others.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dalembert.analysis.linearize import Linearization, linearize
from dalembert.analysis.results import AXES
from dalembert.analysis.spectrum import Spectrum, spectrum
from dalembert.kernel.vec3 import Array
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.protocol import MechanicalSystem
from dalembert.system.state import State
from dalembert.system.system import System

KINDS = ("neutral", "oscillating", "decaying", "growing", "growing oscillation")


class Modes(xr.Dataset):  # type: ignore[no-untyped-call]
    """Modes as labelled data, with pictures."""

    __slots__ = ()

    @property
    def plot(self) -> Any:  # type: ignore[override]
        """The plots of xarray; called, it draws the eigenvalues and the first shapes."""
        return import_module("dalembert.view.mode_plots").ModePlots(self)  # pictures are a layer above

    def animate(self, mode: int = 1, **options: Any) -> Any:
        """Return a Matplotlib animation of one mode; see `view.mode_plots.animate`."""
        return import_module("dalembert.view.mode_plots").animate(self, mode, **options)


def modes(
    model: Model | MechanicalSystem,
    count: int | None = 10,
    *,
    at: str = "equilibrium",
    state: State | None = None,
    t: float = 0.0,
    axes: Array | None = None,
    without_constraint_stiffness: bool = False,
) -> Modes:
    """Return the modes nearest to zero, in the order of their size.

    Parameters
    ----------
    model : Model or MechanicalSystem
    count : int, optional
        How many; None: all of them.
    at, state, t, axes
        Where; see `linearize`.
    without_constraint_stiffness : bool
        Leave K_c out, for comparison: the result is then wrong.

    Returns
    -------
    Modes
        eigenvalue [1/s], frequency_hz (of what is seen: |Im s|/2 pi), natural_frequency_hz (|s|/2 pi), damping_ratio (-Re
        s/|s|), kind, shape, and for bodies translation, rotation, kinetic_share, strain_share. The attributes hold the numbers
        of neutral and unstable modes and whether all modes are listed.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("pendulum", gravity=(0, 0, -9.81))
    >>> bob = model.body("bob", mass=15.0, position=(2.0, 0, -3.4641016151377544))
    >>> hinge = model.revolute("hinge", model.ground, bob, axis=(0, 1, 0))
    >>> modes(model).eigenvalue.values.imag.round(9).tolist()
    [1.566045976]
    """
    system: MechanicalSystem = build(model) if isinstance(model, Model) else model
    keep = not without_constraint_stiffness
    lin = linearize(system, at=at, state=state, t=t, axes=axes, with_constraint_stiffness=keep)
    return modes_of(lin, count, with_constraint_stiffness=keep)


def modes_of(lin: Linearization, count: int | None = 10, *, with_constraint_stiffness: bool = True) -> Modes:
    """Return the modes of a linearised system."""
    found = spectrum(lin.pencil, count)
    shapes = _normalised(lin.pencil.T @ found.shapes)
    s = found.eigenvalues
    variables: dict[str, Any] = {
        "eigenvalue": ("mode", s, {"units": "1/s"}),
        "frequency_hz": ("mode", np.abs(s.imag) / (2.0 * np.pi), {"units": "Hz"}),
        "natural_frequency_hz": ("mode", np.abs(s) / (2.0 * np.pi), {"units": "Hz"}),
        "damping_ratio": ("mode", damping_ratios(s), {"units": "1"}),
        "kind": ("mode", np.array([kind_of(one) for one in s], dtype=str)),
        "shape": (("mode", "displacement"), shapes.T, {"meaning": "largest entry one"}),
    }
    coordinates: dict[str, Any] = {
        "mode": np.arange(1, s.size + 1),
        "displacement": list(lin.system.velocity_names),
    }
    if isinstance(lin.system, System):
        variables |= _bodies(lin, shapes) | _shares(lin, shapes)
        coordinates |= {"body": list(lin.system.layout.bodies), "axis": AXES, "element": _elements(lin.system)}
    return Modes(variables, coords=coordinates, attrs=_attributes(lin, found, with_constraint_stiffness))


def kind_of(s: complex) -> str:
    """Return what a motion with the eigenvalue s does.

    Examples
    --------
    >>> kind_of(2j), kind_of(-1 + 0j), kind_of(0j), kind_of(0.1 + 3j)
    ('oscillating', 'decaying', 'neutral', 'growing oscillation')
    """
    if s == 0.0:
        return "neutral"
    grows = s.real > 1e-9 * abs(s)
    if s.imag == 0.0:
        return "growing" if grows else "decaying"
    return "growing oscillation" if grows else "oscillating"


def damping_ratios(s: NDArray[np.complex128]) -> Array:
    """Return -Re s / |s|; zero for neutral modes."""
    size = np.abs(s)
    return np.where(size > 0.0, -s.real / np.where(size > 0.0, size, 1.0), 0.0) + 0.0


def _normalised(shapes: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Return the shapes with their largest entry one: real, if the mode is undamped."""
    if not shapes.size:
        return shapes
    largest = shapes[np.argmax(np.abs(shapes), axis=0), np.arange(shapes.shape[1])]
    return np.asarray(shapes / largest)


def _bodies(lin: Linearization, shapes: NDArray[np.complex128]) -> dict[str, Any]:
    """Return where the bodies are and what they do in each mode."""
    system, q = lin.system, lin.at.q
    assert isinstance(system, System)
    parts = shapes.T.reshape(shapes.shape[1], system.n_bodies, 6)
    axes = ("mode", "body", "axis")
    return {
        "translation": (axes, parts[..., :3], {"frame": "world"}),
        "rotation": (axes, parts[..., 3:], {"frame": "body"}),
        "position": (("body", "axis"), q[: 7 * system.n_bodies].reshape(-1, 7)[:, :3], {"units": "m"}),
    }


def _elements(system: System) -> list[str]:
    layout = system.layout
    return list(dict.fromkeys([*layout.constraint_elements, *layout.force_elements]))


def _shares(lin: Linearization, shapes: NDArray[np.complex128]) -> dict[str, Any]:
    """Return the parts of kinetic energy and of stiffness."""
    assert isinstance(lin.system, System)
    system, at = lin.system, lin.at
    kinetic = np.real(shapes.conj() * (system.mass() @ shapes)).reshape(system.n_bodies, 6, -1).sum(axis=1).T
    names = _elements(system)
    strain, extended = np.zeros((shapes.shape[1], len(names))), np.vstack([shapes, np.zeros((1, shapes.shape[1]))])
    for name, columns, block in system.element_stiffnesses(at.t, at.q, at.v, at.lam):
        x = extended[columns]  # the ground's columns are -1: the row of zeros
        strain[:, names.index(name)] += np.real(np.einsum("im,ij,jm->m", x.conj(), block, x))
    return {
        "kinetic_share": (("mode", "body"), _parts(kinetic), {"units": "1"}),
        "strain_share": (("mode", "element"), _parts(strain), {"units": "1"}),
    }


def _parts(energies: Array) -> Array:
    """Return energies as parts of their sum; as they are, zero, where there is none."""
    total = energies.sum(axis=1, keepdims=True)
    scale = np.abs(energies).sum(axis=1, keepdims=True)
    there = np.abs(total) > 1e-9 * scale
    return np.where(there, energies / np.where(there, total, 1.0), 0.0)


def _attributes(lin: Linearization, found: Spectrum, with_constraint_stiffness: bool) -> dict[str, Any]:
    s = found.eigenvalues
    return {
        "title": lin.system.name,
        "neutral_modes": found.zero_modes,
        "unstable_modes": int(np.sum(s.real > 1e-9 * np.abs(s))),
        "infinite_eigenvalues": -1 if found.infinite is None else found.infinite,
        "complete": found.complete,
        "with_constraint_stiffness": with_constraint_stiffness,
    }
