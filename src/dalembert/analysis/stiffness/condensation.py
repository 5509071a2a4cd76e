"""The stiffness seen at a body when the rest of the mechanism follows quasi-statically, and its inverse, the compliance.

A wrench w is applied to one body of a mechanism at rest; everything else gives way as springs and joints let it (pencil.py):

    [ K   A^T ] [ d  ]   [ S^T ]
    [ A    0  ] [ dl ] = [  0  ] w,        twist = S d = C w

K holds the forces' tangents and K_c, without which a loaded mechanism is too stiff or too soft. S takes displacements to the
twist of the body: displacement of the point A and rotation. C exists wherever the mechanism resists, K = C^-1 only if the
joints leave the body all six freedoms. About another point and in other axes

    C_A = X C X^T,      X = [I -tilde(a); 0 I]

Up to `MOST_DENSE` velocities d = Z y, with Z the null space of A, so that directions that nothing resists are told apart;
beyond, the sparse matrix is factorised once.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import xarray as xr

from dalembert.analysis.linearize import Linearization, linearize
from dalembert.analysis.results import AXES
from dalembert.analysis.spectrum import MOST_DENSE
from dalembert.analysis.stiffness import labels
from dalembert.analysis.stiffness.data import elastic_data
from dalembert.analysis.stiffness.force_field import body_index, field_at
from dalembert.analysis.stiffness.places import Axes, PlacesOfModel, Point
from dalembert.errors import ModelError, SolveError
from dalembert.kernel.vec3 import Array
from dalembert.linalg.combination import CombinationSolver, stiffness_of_rows
from dalembert.linalg.null import complement, null_directions
from dalembert.rotation.skew import tilde
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.state import State
from dalembert.system.system import System

AT_REST = 1e-6
"""Largest force that may be left unbalanced, beside the largest one."""

BLOCKED = 1e-12
"""Compliance, beside the largest one, of a direction that counts as blocked by the joints."""

NEUTRAL = 1e-9
"""Work beside that of the single stiffnesses which counts as none: a change of these by as much would decide its sign."""


class CondensedStiffness(xr.Dataset):  # type: ignore[no-untyped-call]
    """Compliance and stiffness of a mechanism at one of its bodies, as labelled data.

    Attributes
    ----------
    freedoms : int
        Directions in which the body gives way; the joints block the others.
    """

    __slots__ = ()

    def along(self, direction: Any) -> float:
        """Return the stiffness along a direction of the point, all else free: ``1 / (n . C n)`` [N/m].

        Parameters
        ----------
        direction : array_like, shape (3,)
            In the axes of the result; need not have length one.
        """
        n, C = np.asarray(direction, float), self.compliance.values[:3, :3]
        given = n @ C @ n / (n @ n)
        return float(1.0 / given) if abs(given) > BLOCKED * np.abs(C).max() else np.inf

    @property
    def plot(self) -> Any:  # type: ignore[override]
        """The plots of xarray; called, it draws the ellipsoids of compliance."""
        return import_module("dalembert.view.stiffness_plots").StiffnessPlots(self)  # pictures are a layer above


def condensed_stiffness(
    model: Model | System,
    body: str,
    *,
    about: Point = "center",
    axes: Axes = "world",
    at: str = "equilibrium",
    state: State | None = None,
    t: float = 0.0,
) -> CondensedStiffness:
    """Return compliance and stiffness at a body, the rest of the mechanism following quasi-statically.

    Parameters
    ----------
    model : Model or System
    body : str
        The body that is pushed.
    about : str or array_like
        Where it is pushed: ``"center"``, ``"origin"``, the name of a frame or a point, or a place in the design position [m]
        that moves with the body.
    axes : str, Rotation or array_like
        Of all components; see `cartesian_stiffness`.
    at : str
        ``"equilibrium"``: the nearest one. ``"design"``: as drawn, if the model is at rest there.
    state : State, optional
        At this state of rest instead.
    t : float
        Time at which laws are looked at [s].

    Returns
    -------
    CondensedStiffness
        compliance; rate [N/m], [N m/rad]: stiffness of each component while the others are free, infinite where the joints
        block it; freedoms. With six freedoms also stiffness, eigen-stiffnesses and the centre_of_compliance.

    Raises
    ------
    ModelError
        If the state is not one of rest.
    SolveError
        If nothing resists the body in some direction.

    Examples
    --------
    A lever of 2 m, hinged at one end and held by a spring of 100 N/m in its middle:

    >>> import dalembert as da
    >>> model = da.Model("lever")
    >>> lever = model.body("lever", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    >>> hinge = model.revolute("hinge", "ground", lever, at=(0, 0, 0), axis=(0, 1, 0))
    >>> spring = model.spring("spring", "ground", lever, at=(1, 0, -1), at_driven=(1, 0, 0), stiffness=100.0)
    >>> tip = condensed_stiffness(model, "lever", about=(2, 0, 0))
    >>> round(tip.along((0, 0, 1)), 9), tip.freedoms
    (25.0, 1)
    """
    system = build(model) if isinstance(model, Model) else model
    index = body_index(system, body)
    wrench = [f"{body}.{name}" for name in ("Fx", "Fy", "Fz", "Tx", "Ty", "Tz")]
    twist = [f"{body}.{name}" for name in labels.DISPLACEMENTS]
    lin = linearize(system, at=at, state=state, t=t, inputs=wrench, outputs=twist)
    _refuse_motion(lin)
    C = _dense_compliance(lin, body) if system.n_velocities <= MOST_DENSE else _sparse_compliance(lin, body)
    places = PlacesOfModel(model, system, field_at(system, (body,), lin.state, touched=False), lin.state)
    centre = lin.at.q[7 * index : 7 * index + 3]
    known = {"center": centre, "origin": np.zeros(3)}
    place = known[about] if isinstance(about, str) and about in known else places.material(about)[0]
    E = places.axes(axes)
    X = np.kron(np.eye(2), E.T) @ np.block([[np.eye(3), -tilde(place - centre)], [np.zeros((3, 3)), np.eye(3)]])
    return _dataset(X @ C @ X.T, E.T @ place, {"body": body, "title": system.name})


def _refuse_motion(lin: Linearization) -> None:
    """Raise if the state is not one of rest."""
    system, (t, q, v, _, lam) = lin.system, lin.at
    f = system.force(t, q, v)
    left = np.abs(f - lin.pencil.A.T @ lam)
    worst = int(np.argmax(left))
    size = max(float(np.abs(f).max(initial=0.0)), float(np.abs(lam).max(initial=0.0)))
    rounding = 1e-12 * float(np.abs(lin.pencil.K.data).max(initial=0.0))
    if v.any() or left[worst] > AT_REST * size + rounding:
        raise ModelError(
            system.velocity_names[worst],
            f"the mechanism is not at rest there: {left[worst]:.3g} N or N m are left unbalanced",
            "use at='equilibrium', or add the load that holds it",
        )


def _dense_compliance(lin: Linearization, body: str) -> Array:
    """Return C by the null space of A; what nothing resists is left out, if the body takes no part in it."""
    Z, _, _, K = lin.reduced()
    force = Z.T @ np.column_stack([one.force for one in lin.inputs])
    S = np.array([one.position for one in lin.outputs]) @ Z
    right, left = null_directions(K)
    if np.abs(S @ right).max(initial=0.0) > NEUTRAL or np.abs(force.T @ left).max(initial=0.0) > NEUTRAL:
        raise _unresisted(body)
    W, V = complement(right), complement(left)
    return np.asarray(S @ W @ np.linalg.solve(V.T @ K @ W, V.T @ force)) if W.size else np.zeros((6, 6))


def _sparse_compliance(lin: Linearization, body: str) -> Array:
    """Return C by sparse factors of the whole matrix; A^T S A beside K gives good pivots and changes no d with A d = 0."""
    K, A = lin.pencil.K, lin.pencil.A
    parts, none = [K, stiffness_of_rows(K, A)], np.zeros(A.shape[0])
    combination = CombinationSolver(parts, A)
    combination.factorize(parts, [1.0, 1.0], A)
    try:
        d = np.column_stack([combination.solver.solve(one.force, none).x for one in lin.inputs])
    except SolveError as error:
        raise _unresisted(body) from error
    work, single = np.abs(np.sum(d * (K @ d), axis=0)), np.sum(np.abs(d) * (abs(K) @ np.abs(d)), axis=0)
    size = np.linalg.norm(d, axis=0)
    if np.any((work <= NEUTRAL * single) & (size > NEUTRAL * size.max())):
        raise _unresisted(body)
    return np.array([one.position for one in lin.outputs]) @ d


def _unresisted(body: str) -> SolveError:
    problem = "nothing resists it in some direction, so that its compliance is infinite"
    return SolveError(f"body {body!r}: {problem}; attach a spring, or a joint that holds it")


def _dataset(C: Array, place: Array, attributes: dict[str, Any]) -> CondensedStiffness:
    """Return a compliance and what follows from it as labelled data."""
    pushed, turned = (float(np.abs(part).max()) for part in (C[:3, :3], C[3:, 3:]))
    size = np.repeat([1.0, np.sqrt(pushed / turned) if pushed * turned > 0.0 else 1.0], 3)
    values = np.linalg.svd(C * np.outer(size, size), compute_uv=False)
    freedoms = int(np.sum(values > BLOCKED * values[0])) if values[0] > 0.0 else 0
    given = np.where(np.abs(np.diag(C)) * size**2 > BLOCKED * values[0], np.diag(C), 0.0)
    rates = np.divide(1.0, given, out=np.full(6, np.inf), where=given != 0.0)
    variables: dict[str, Any] = {
        "compliance": labels.compliance_matrix(C, labels.LOADS, labels.DISPLACEMENTS),
        "rate": ("displacement", rates, {"units": "N/m, N m/rad", "meaning": "stiffness, the other components free"}),
        "point": ("axis", place, {"units": "m", "meaning": "A"}),
    }
    if freedoms == 6:
        K: Array = np.asarray(np.linalg.inv(C), float)
        variables["stiffness"] = labels.stiffness_matrix(K, labels.LOADS, labels.DISPLACEMENTS)
        variables |= elastic_data(K, place, labels.LOADS, labels.DISPLACEMENTS)
    return CondensedStiffness(variables, coords={"axis": AXES}, attrs=attributes | {"freedoms": freedoms})
