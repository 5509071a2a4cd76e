"""Shapes of a flexible part from a model of it: modes of the part as it is held there, and static shapes of unit loads.

The model holds the part alone, for example a beam with pinned, clamped or free ends. Its modes are those of the pencil about
the design position; a static shape is what a unit force at a node does, K x + A^T l = f.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from dalembert.analysis.linearize import reference_motion
from dalembert.analysis.pencil import pencil_at
from dalembert.analysis.spectrum import spectrum
from dalembert.elements.modal_body import Shapes
from dalembert.errors import ModelError, nearest
from dalembert.kernel.vec3 import Array
from dalembert.rotation.quaternion import to_rotation
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.system import System

SMALL = 1e-9
"""Displacement of a part beside that of the whole mode, where the part stands still."""


def shapes_of(
    model: Model,
    modes: int | Sequence[int] = 6,
    *,
    static: Iterable[tuple[str, ArrayLike]] = (),
    bodies: Sequence[str] | None = None,
) -> Shapes:
    """Return modes and static shapes of the bodies of a model, with their masses and the stiffness between them.

    Parameters
    ----------
    model : Model
        The part, held as its shapes are to be; in its design position.
    modes : int or sequence of int
        How many of the modes that vibrate, or which (0 is the lowest).
    static : iterable of (body, force)
        A static shape for each force [N] at the centre of a body.
    bodies : sequence of str, optional
        The bodies of the part; all if not given. Others (a mass that only tunes the modes) are left out.

    Examples
    --------
    >>> import dalembert as da
    >>> rod = da.section.Circle(diameter=0.01, youngs_modulus=2.1e11, poisson_ratio=0.3, density=7850)
    >>> model = da.Model("part")
    >>> beam = model.beam("rod", (0, 0, 0), (1, 0, 0), section=rod, elements=8)
    >>> shapes = shapes_of(model, 4)
    >>> shapes.count, bool(np.allclose(shapes.frequencies_hz, da.modes(model, 10).frequency_hz.values[6:], rtol=1e-6))
    (4, True)
    """
    system = build(model)
    chosen = range(modes) if isinstance(modes, int) else modes
    kept = list(system.layout.bodies) if bodies is None else list(bodies)
    for name in kept:
        if name not in system.layout.bodies:
            raise ModelError("shapes_of", f"unknown body {name!r}", nearest(name, system.layout.bodies))
    numbers = [system.layout.bodies.index(name) for name in kept]
    displacements = [*_modes(system, chosen), *(_static(system, body, force) for body, force in static)]
    if not displacements:
        raise ModelError("shapes_of", "no modes and no static shapes are asked for", "give modes=... or static=...")
    return _shapes(system, numbers, np.array(displacements))


def _modes(system: System, chosen: Sequence[int]) -> list[Array]:
    """Return displacements (bodies, 6) of the modes that vibrate, the lowest first."""
    if not len(chosen):
        return []
    pencil = pencil_at(system, reference_motion(system, at="design", state=None, t=0.0))
    found = spectrum(pencil)
    vibrates = np.flatnonzero(np.abs(found.eigenvalues.imag) > 0.0)
    if max(chosen) >= vibrates.size:
        raise ModelError("shapes_of", f"mode {max(chosen)} is asked for, {vibrates.size} vibrate", "ask for fewer")
    shapes = found.shapes[:, vibrates[list(chosen)]]
    largest = shapes[np.abs(shapes).argmax(axis=0), np.arange(shapes.shape[1])]
    return [one.reshape(-1, 6) for one in np.real(shapes / largest).T]


def _static(system: System, body: str, force: ArrayLike) -> Array:
    """Return the displacements (bodies, 6) by a force at the centre of a body."""
    if body not in system.layout.bodies:
        raise ModelError("shapes_of", f"unknown body {body!r}", nearest(body, system.layout.bodies))
    rest, q = np.zeros(system.n_velocities), system.design.q
    A = system.jacobian(0.0, q).toarray()
    K = system.stiffness(0.0, q, rest, np.zeros(len(A))).toarray()
    f = np.zeros(system.n_velocities + len(A))
    start = 6 * system.layout.bodies.index(body)
    f[start : start + 3] = np.asarray(force, float)
    matrix = np.block([[K, A.T], [A, np.zeros((len(A), len(A)))]])
    x = np.linalg.lstsq(matrix, f, rcond=1e-14)[0]
    if np.abs(matrix @ x - f).max() > 1e-6 * np.abs(f).max():
        raise ModelError("shapes_of", f"nothing holds {body!r} against the force of a static shape", "hold the part by joints")
    return np.asarray(x[: rest.size].reshape(-1, 6))


def _shapes(system: System, numbers: list[int], displacements: Array) -> Shapes:
    """Return the shapes of some bodies, in the axes of the world, each with a largest displacement of one."""
    places = system.design.q[: 7 * system.n_bodies].reshape(-1, 7)[numbers]
    R = to_rotation(places[:, 3:]).as_matrix()
    u, psi = displacements[:, numbers, :3], np.einsum("nxy,jny->jnx", R, displacements[:, numbers, 3:])
    extent = float(np.ptp(places[:, :3], axis=0).max())  # rotations count with it as an arm: a part may only twist
    size = np.maximum(np.abs(u).max(axis=(1, 2)), extent * np.abs(psi).max(axis=(1, 2)))
    if np.any(size <= SMALL * np.abs(displacements).max(axis=(1, 2))):
        raise ModelError("shapes_of", "a mode does not move the bodies that were named", "name others, or choose other modes")
    moved = np.zeros((len(displacements), system.n_bodies + 1, 6))
    moved[:, numbers] = displacements[:, numbers] / size[:, None, None]
    inertias = system.tables.bodies.inertia.reshape(-1, 3, 3)[numbers]
    return Shapes(
        positions=places[:, :3],
        masses=system.tables.bodies.mass[numbers],
        inertias=np.einsum("nxa,nab,nyb->nxy", R, inertias, R),
        translations=u / size[:, None, None],
        rotations=psi / size[:, None, None],
        stiffness=_stiffness(system, set(numbers), moved),
    )


def _stiffness(system: System, numbers: set[int], moved: Array) -> Array:
    """Return X^T K X of the force elements between the bodies of the part."""
    x = moved.reshape(len(moved), -1)
    x[:, -6:] = 0.0
    total, rest = np.zeros((len(x), len(x))), np.zeros(system.n_velocities)
    elements = system.element_stiffnesses(0.0, system.design.q, rest, np.zeros(system.n_constraints))
    for name, columns, block in elements:
        if name in system.layout.force_elements and set((columns[columns >= 0] // 6).tolist()) <= numbers:
            total += x[:, columns] @ block @ x[:, columns].T
    return np.asarray(0.5 * (total + total.T))
