"""Response of a linearised system to harmonic inputs, from the sparse pencil: no state space, no modes.

[ K + i w D - w^2 M   A^T ] [ d ]   [ B ]
[ A                    0  ] [ l ] = [ G ] u          y = (C_0 + i w C_1) d + C_l l
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import splu

from dalembert.analysis.linearize import Linearization, linearize
from dalembert.errors import ModelError, SolveError
from dalembert.kernel.vec3 import Array
from dalembert.system.model import Model
from dalembert.system.protocol import MechanicalSystem

REDUNDANT = 1e-13  # of the scaled rows: keeps redundant ones from making the matrix singular
_PASSES = 3


class FrequencyResponse(xr.Dataset):  # type: ignore[no-untyped-call]
    """Transfer functions as labelled data, with a Bode plot."""

    __slots__ = ()

    @property
    def plot(self) -> Any:  # type: ignore[override]
        """The plots of xarray; called, it draws gain and phase."""
        return import_module("dalembert.view.mode_plots").BodePlots(self)  # pictures are a layer above


def frequency_response(
    model: Linearization | Model | MechanicalSystem,
    frequencies: ArrayLike,
    *,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    **place: Any,
) -> FrequencyResponse:
    """Return the complex ratios of outputs to inputs at frequencies in Hz.

    Parameters
    ----------
    model : Linearization, Model or MechanicalSystem
    frequencies : array_like
        [Hz].
    inputs, outputs : iterable of str
        See `signals`; those of the linearization if it is one.
    **place
        ``at``, ``state``, ``t``, ``axes``: see `linearize`.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("oscillator")
    >>> mass = model.body("mass", mass=2.0, inertia=(1, 1, 1), position=(1, 0, 0))
    >>> rail = model.prismatic("rail", model.ground, mass, at=(1, 0, 0), axis=(1, 0, 0))
    >>> spring = model.spring("spring", model.ground, mass, at=(0, 0, 0), at_driven=(1, 0, 0), stiffness=200.0)
    >>> answer = frequency_response(model, [0.0], inputs=["mass.Fx"], outputs=["mass.x"])
    >>> complex(answer.response[0, 0, 0].round(9))
    (0.005+0j)
    """
    lin = model if isinstance(model, Linearization) else linearize(model, inputs=inputs, outputs=outputs, **place)
    if not lin.inputs or not lin.outputs:
        raise ModelError("frequency_response", "there is no input or no output", "name inputs=[...] and outputs=[...]")
    hertz = np.atleast_1d(np.asarray(frequencies, float))
    response = np.stack([_response(lin, 2j * np.pi * one) for one in hertz])
    names = {"input": [one.name for one in lin.inputs], "output": [one.name for one in lin.outputs]}
    data = {"response": (("frequency", "output", "input"), response)}
    coordinates = {"frequency": ("frequency", hertz, {"units": "Hz"}), **names}
    return FrequencyResponse(data, coords=coordinates, attrs={"title": lin.system.name})


def _response(lin: Linearization, s: complex) -> NDArray[np.complex128]:
    """Return the transfer functions at one s."""
    M, D, K, A, T, T1, B, holonomic = lin.pencil[:8]
    n, m = K.shape[0], A.shape[0]
    S = sp.csc_array(s**2 * M + s * D + K)
    force = np.column_stack([T.T @ one.force for one in lin.inputs]).astype(complex)
    motion = np.column_stack([one.motion / (s**2 if one.by_acceleration else 1.0) for one in lin.inputs]).astype(complex)
    scale = _scales(S, A)
    left, right = sp.diags_array(scale[:n]), sp.diags_array(scale[n:])
    rates = sp.diags_array(np.where(holonomic, 1.0, s)) @ A + B  # rows that restrict velocities only: s A + B
    S, A, rates = left @ S @ left, right @ A @ left, right @ rates @ left
    rows = [[S, A.T], [rates, sp.csc_array((m, m))]]
    exact = sp.csc_matrix(sp.block_array(rows)) if m else sp.csc_matrix(S)
    shift = sp.diags_array(np.concatenate([np.zeros(n), np.full(m, -REDUNDANT)]))
    solve = _factors(sp.csc_matrix(exact + shift), s)
    rhs = scale[:, None] * np.vstack([force, motion])
    x = solve(rhs)
    for _ in range(_PASSES):
        x = x + solve(rhs - exact @ x)
    x = scale[:, None] * x
    d, l = x[:n], x[n:]  # noqa: E741
    C0 = np.array([T.T @ one.position + T1.T @ one.rate for one in lin.outputs])
    C1 = np.array([T.T @ one.rate for one in lin.outputs])
    Cl = np.array([one.multiplier for one in lin.outputs]).reshape(len(lin.outputs), m)
    return np.asarray((C0 + s * C1) @ d + Cl @ l)


def _scales(S: sp.csc_array, A: sp.csc_array) -> Array:
    """Return scales of unknowns and rows that bring the matrix to entries of about one."""
    size = abs(S).max(axis=1).toarray().ravel()
    unknowns = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
    rows = (abs(A) @ sp.diags_array(unknowns)).max(axis=1).toarray().ravel() if A.shape[0] else np.zeros(0)
    return np.concatenate([unknowns, 1.0 / np.where(rows > 0.0, rows, 1.0)])


def _factors(matrix: sp.csc_matrix, s: complex) -> Any:
    try:
        return splu(matrix.astype(complex)).solve
    except RuntimeError as error:
        hertz = abs(s.imag) / (2.0 * np.pi)
        raise SolveError(f"the response at {hertz:.6g} Hz is infinite: an undamped resonance or a neutral direction") from error
