"""Cartesian stiffness matrices of bodies in force fields, as labelled data (Metzger, Faruk Senan & O'Reilly 2010).

| name | loads | displacements | eq. |
| --- | --- | --- | --- |
| K1c | F, M_O: about a fixed point O | of the centre | (24), (28) |
| K2c | F, M: about the centre | of the centre | (33), (35) |
| K3c, K4c | F, M_O and F, M_A: about a material point A | of A | (16), (116) |
| KO | F, M_O | of the point of the body that is at O | (40), (41) |

All say ``d(load) = -K d(displacement)``, with components along the axes E_i that were chosen; body axes are those of the moment
(43). `hessian_1` to `hessian_4` are those of U1 to U4 in Euler angles: they depend on the set, the matrices do not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.analysis.stiffness.data import MOVING, SELECTED, CartesianStiffness, Matrices
from dalembert.analysis.stiffness.force_field import ForceField, field_at, force_field, pose_of, with_forces
from dalembert.analysis.stiffness.labels import DISPLACEMENTS, LOADS, names_of
from dalembert.analysis.stiffness.places import Axes, Places, PlacesOfModel, Point
from dalembert.errors import ModelError
from dalembert.rotation.euler import EulerSet
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.state import State
from dalembert.system.system import System

ASYMMETRIC = 1e-5
"""Asymmetry, beside the stiffness, that no potential has; functions of users have their tangents by differences."""


def cartesian_stiffness(
    model: Model | System | ForceField,
    body: str | Sequence[str] | None = None,
    *,
    about: Point = "center",
    origin: Point = (0.0, 0.0, 0.0),
    axes: Axes = "world",
    euler: str | EulerSet = "321",
    planar: bool = False,
    forces: Sequence[str] | None = None,
    at: str = "design",
    state: State | None = None,
    t: float = 0.0,
) -> CartesianStiffness:
    """Return force, moments and Cartesian stiffness matrices of the field on a body, or on several.

    Parameters
    ----------
    model : Model, System or ForceField
        Its springs, bushings, weight and so on make the field; or a field, as `Potential.field` makes it.
    body : str or sequence of str, optional
        Which body of the model, the others held where they are; several are taken together.
    about : str or array_like
        The point of the matrix `K`: ``"center"`` of mass (K2c); the fixed point ``"origin"`` (K1c); or a material point A
        (K4c): the name of a frame or a point of the model, or a place in the design position [m], which moves with the body. In
        a field of one's own, the place where A is now.
    origin : str or array_like
        The fixed point O of K1c, K3c and KO: a name or a place in the world [m].
    axes : str, Rotation or array_like
        The axes E_i of all components: ``"world"``, ``"body"`` (those of the first body now), the name of a frame, or a
        rotation whose matrix has the axes as columns.
    euler : str or EulerSet
        The set of Euler angles of the Hessians; another one is taken where it is singular, and `note` says so.
    planar : bool
        Motions in the plane of the first two axes only: x, y and the rotation about z.
    forces : sequence of str, optional
        Only these forces of the model; ``"gravity"`` is the weight.
    at : str
        ``"design"``: as drawn. ``"equilibrium"``: the nearest one.
    state : State, optional
        At this state instead.
    t : float
        Time at which laws are looked at [s].

    Returns
    -------
    CartesianStiffness
        force [N], moment, moment_origin [N m]; K1c, K2c, KO, hessian_1, hessian_2 and eigenvalues_1, eigenvalues_2 of these;
        with a point moment_point, K3c, K4c and so on; of one body also the parts C1, D1, Y1, Z1, D2 of (28) and (35), and the
        eigen-stiffnesses with their directions, the compliance and the centre_of_compliance of `K`.

    Raises
    ------
    ModelError
        If nothing acts on the body, or if the forces have no potential.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("mount")
    >>> engine = model.body("engine", mass=100.0, inertia=(5, 5, 5), position=(0, 0, 0.5))
    >>> rubber = model.bushing("rubber", "ground", engine, at=(0, 0, 0.2), stiffness=(1e5, 1e5, 3e5, 500, 500, 500))
    >>> stiff = cartesian_stiffness(model, "engine")
    >>> float(stiff.K2c.sel(wrench="Fx", displacement="x")), stiff.centre_of_compliance.values.round(9).tolist()
    (100000.0, [0.0, 0.0, 0.2])
    """
    if isinstance(model, ForceField):
        field, places = model, Places(model)
    else:
        field, places = _field_of_model(model, body, forces, at, state, t)
    _refuse_without_potential(field, model, places)
    E, fixed = places.axes(axes), places.fixed(origin)
    named = about if isinstance(about, str) and about in SELECTED else MOVING
    points = places.material(about) @ E if named == MOVING else None
    matrices = Matrices(field.in_axes(E), E.T @ fixed, points, euler, planar)
    return matrices.dataset(named, axes if isinstance(axes, str) else "given", E)


def _field_of_model(
    model: Model | System,
    body: str | Sequence[str] | None,
    forces: Sequence[str] | None,
    at: str,
    state: State | None,
    t: float,
) -> tuple[ForceField, Places]:
    """Return the field on bodies of a model, and what its points are called."""
    if body is None:
        raise ModelError("cartesian_stiffness", "no body is named", "say body='...'")
    system = build(model) if isinstance(model, Model) else model
    pose = pose_of(system, at=at, state=state, t=t)
    acting = system if forces is None else build(with_forces(model, forces))
    field = field_at(acting, (body,) if isinstance(body, str) else tuple(body), pose)
    return field, PlacesOfModel(model, system, field, pose)


def _refuse_without_potential(field: ForceField, model: Model | System | ForceField, places: Places) -> None:
    """Raise if the forces have no potential (58), naming those that have none."""
    if field.potential_error <= ASYMMETRIC:
        return
    remedy, who = "check its moment and its stiffness", ""
    if isinstance(model, Model) and isinstance(places, PlacesOfModel):
        remedy = "follower forces, torques and the like have no Hessian: leave them out with forces=[...]"
        who = " and ".join(f"force {name!r}" for name in _without_potential(model, field, places.pose))
    row, column = np.unravel_index(int(np.argmax(np.abs(field.asymmetry))), field.asymmetry.shape)
    loads, displacements = (names_of(field.bodies, names) for names in (LOADS, DISPLACEMENTS))
    raise ModelError(
        who or f"force field on body {' and '.join(repr(name) for name in field.bodies)}",
        "it is not a potential: 2Kc - 2Kc^T should have the axial vector M and nothing else (eq. 58), but is off by "
        f"{field.potential_error:.2g} of the stiffness, in {loads[row]} by {displacements[column]}",
        remedy,
    )


def _without_potential(model: Model, field: ForceField, pose: State) -> list[str]:
    """Return the forces of a model that have no potential at a pose."""
    found = []
    for name in model.forces:
        try:
            one = force_field(model, field.bodies, forces=[name], state=pose)
        except ModelError:  # it does not act on these bodies
            continue
        found += [name] if one.potential_error > ASYMMETRIC else []
    return found
