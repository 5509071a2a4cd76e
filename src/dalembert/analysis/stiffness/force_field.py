"""The forces of a conservative field on bodies at one pose, and how they change (Metzger, Faruk Senan & O'Reilly 2010).

    [dF; dM] = -2Kc [dx; dtheta]                (33)     F at the centre, M about it, components and rotations in the world

is what a field is here, of one body or of several. All other matrices are the same numbers seen from elsewhere. With
a = x_A - x a material point A takes the centre's place, with r = x - x_O a fixed point O takes the moments:

    M_A = M - a x F,   dx = dx_A + tilde(a) dtheta              (12), (13)
    4Kc = [I 0; -tilde(a) I] 2Kc [I tilde(a); 0 I] + [0 0; 0 tilde(F) tilde(a)]

    M_O = M + r x F                                             (12)
    1Kc = [I 0; tilde(r) I] 2Kc + [0 0; tilde(F) 0]             3Kc from 4Kc in the same way
    K_O = 1Kc [I -tilde(r); 0 I]                                (40), (42): displacements ds of the point of the body at O

as tilde(a) b = a x b, and da = dtheta x a. Where the forces have a potential, and only there,

    2Kc - 2Kc^T = blockdiag(0, tilde(M))                        (58), with several bodies M_1, M_2, ... in their blocks

Several bodies stand one after the other in all of these: dx_1, dtheta_1, dx_2, ..., with tilde(a) and so on block by block.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag

from dalembert.analysis.assemble import assemble
from dalembert.analysis.equilibrium import equilibrium
from dalembert.errors import ModelError, nearest
from dalembert.kernel.vec3 import Array
from dalembert.rotation.quaternion import to_rotation
from dalembert.rotation.skew import tilde
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.state import State
from dalembert.system.system import System

GRAVITY = "gravity"
"""How the weight is called among the forces."""

PLACES = ("design", "equilibrium")

SLIGHT = 1e-9
"""Of the largest stiffness, with a lever of a metre: what a rotational stiffness is at least measured by."""


@dataclass(frozen=True, eq=False)
class ForceField:
    """Forces and moments of a field on bodies at one pose, and their stiffness.

    Parameters
    ----------
    bodies : tuple of str
    position : array, shape (n, 3)
        The points of the bodies at which the forces act and about which the moments are taken: their centres [m].
    rotation : array, shape (n, 3, 3)
        R_WB of each body.
    force, moment : array, shape (n, 3)
        In world axes [N], [N m].
    stiffness : array, shape (6 n, 6 n)
        2Kc, or 4Kc if the points are not the centres: [N/m], [N/rad], [N], [N m/rad].

    Examples
    --------
    A spring of 100 N/m along x, drawn by 0.1 m, resists sideways as a string does: with 10 N over its length of 1 m.

    >>> import dalembert as da
    >>> model = da.Model("one spring")
    >>> mass = model.body("mass", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    >>> spring = model.spring("spring", "ground", "mass", at=(0, 0, 0), at_driven=(1, 0, 0), stiffness=100.0, free_length=0.9)
    >>> field = force_field(model, "mass")
    >>> field.force.round(9).tolist(), field.stiffness.diagonal().round(9).tolist()
    ([[-10.0, 0.0, 0.0]], [100.0, 10.0, 10.0, 0.0, 0.0, 0.0])
    """

    bodies: tuple[str, ...]
    position: Array
    rotation: Array
    force: Array
    moment: Array
    stiffness: Array

    def at(self, points: ArrayLike) -> ForceField:
        """Return the field with other points of the bodies: F, M_A and 4Kc.

        Parameters
        ----------
        points : array_like, shape (3,) or (n, 3)
            Where the points A are now, in the world [m]; one place for all bodies, or one for each.
        """
        place = np.broadcast_to(np.asarray(points, float), self.position.shape)
        a, F = tilde(place - self.position), tilde(self.force)
        left, right = _blocks(None, -a), _blocks(a, None)
        K = left @ self.stiffness @ right + block_diag(*(corners(rr=one) for one in F @ a))
        moment = self.moment - np.cross(place - self.position, self.force)
        return replace(self, position=place.copy(), moment=moment, stiffness=K)

    def about(self, origin: ArrayLike = (0.0, 0.0, 0.0)) -> FixedPointField:
        """Return what the field is about a fixed point O [m]: M_O, 1Kc (3Kc, if the points are not the centres) and K_O."""
        r = self.position - np.asarray(origin, float)
        moment = self.moment + np.cross(r, self.force)
        lever = tilde(r)
        K = _blocks(None, lever) @ self.stiffness + block_diag(*(corners(rt=one) for one in tilde(self.force)))
        return FixedPointField(r, self.rotation, self.force, moment, K, K @ _blocks(-lever, None))

    def in_axes(self, axes: ArrayLike) -> ForceField:
        """Return the field with all components in other axes: the columns of a rotation matrix, shape (3, 3) (43)."""
        E = np.asarray(axes, float)
        n = len(self.bodies)
        P = np.kron(np.eye(2 * n), E.T)
        turned = {name: getattr(self, name) @ E for name in ("position", "force", "moment")}
        return replace(self, **turned, rotation=E.T @ self.rotation, stiffness=P @ self.stiffness @ P.T)

    @property
    def asymmetry(self) -> Array:
        """What ``2Kc - 2Kc^T - blockdiag(0, tilde(M))`` leaves (58), shape (6 n, 6 n): zero where there is a potential."""
        K = self.stiffness
        return np.asarray(K - K.T - block_diag(*(corners(rr=one) for one in tilde(self.moment))))

    @property
    def potential_error(self) -> float:
        """The largest entry of `asymmetry`, beside what is largest in its kind: forces by displacements, and so on (58)."""
        K, n = self.stiffness, len(self.bodies)
        turns = np.arange(6 * n) % 6 >= 3
        floor = SLIGHT * float(np.abs(K).max(initial=0.0))
        t, r = (max(float(np.abs(K[np.ix_(one, one)]).max(initial=0.0)), floor) for one in (~turns, turns))
        r = max(r, float(np.abs(self.moment).max(initial=0.0)))
        mixed = max(np.sqrt(t * r), float(np.abs(K[np.ix_(turns, ~turns)]).max(initial=0.0)))
        size = np.where(turns[:, None] ^ turns, mixed, np.where(turns, r, t))
        return float((np.abs(self.asymmetry) / np.maximum(size, 1e-300)).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class FixedPointField:
    """A field with moments about a fixed point O.

    Parameters
    ----------
    position : array, shape (n, 3)
        r, from O to the points of the bodies [m].
    rotation : array, shape (n, 3, 3)
    force, moment : array, shape (n, 3)
        F and M_O [N], [N m].
    stiffness : array, shape (6 n, 6 n)
        1Kc or 3Kc (24).
    screw_stiffness : array, shape (6 n, 6 n)
        K_O of screw theory (40).
    """

    position: Array
    rotation: Array
    force: Array
    moment: Array
    stiffness: Array
    screw_stiffness: Array

    def centred(self, bodies: tuple[str, ...], origin: ArrayLike = (0.0, 0.0, 0.0)) -> ForceField:
        """Return the field with moments about the points of the bodies again: the opposite of `ForceField.about`."""
        lever = tilde(self.position)
        K = self.stiffness - block_diag(*(corners(rt=one) for one in tilde(self.force)))
        moment = self.moment - np.cross(self.position, self.force)
        place = self.position + np.asarray(origin, float)
        return ForceField(bodies, place, self.rotation, self.force, moment, _blocks(None, -lever) @ K)


def _blocks(upper: Array | None, lower: Array | None) -> Array:
    """Return ``blockdiag([I U; L I], ...)``; what is None is zero."""
    parts = upper if upper is not None else lower
    assert parts is not None
    none = np.zeros((3, 3))
    pairs = ((one, none) if upper is not None else (none, one) for one in parts)
    return np.asarray(block_diag(*(np.block([[np.eye(3), u], [low, np.eye(3)]]) for u, low in pairs)))


def corners(*, tr: Array | float = 0.0, rt: Array | float = 0.0, rr: Array | float = 0.0) -> Array:
    """Return a 6x6 matrix ``[0 tr; rt rr]``."""
    K = np.zeros((6, 6))
    K[:3, 3:], K[3:, :3], K[3:, 3:] = tr, rt, rr
    return K


def force_field(
    model: Model | System,
    body: str | Sequence[str],
    *,
    forces: Sequence[str] | None = None,
    at: str = "design",
    state: State | None = None,
    t: float = 0.0,
) -> ForceField:
    """Return the field of a model's forces on one of its bodies or on several, the others held where they are.

    Springs, bushings, loads, weight and so on count, joints do not; see `condensed_stiffness` for what a mechanism does.

    Parameters
    ----------
    model : Model or System
    body : str or sequence of str
    forces : sequence of str, optional
        Only these forces make the field; ``"gravity"`` is the weight. All of them if not given.
    at : str
        ``"design"``: as drawn (assembled). ``"equilibrium"``: the nearest one.
    state : State, optional
        At this state instead.
    t : float
        Time at which laws are looked at [s].

    Raises
    ------
    ModelError
        If a name is unknown, or nothing acts on the bodies.
    """
    system = build(model) if isinstance(model, Model) else model
    place = pose_of(system, at=at, state=state, t=t)
    acting = system if forces is None else build(with_forces(model, forces))
    return field_at(acting, (body,) if isinstance(body, str) else tuple(body), place)


def pose_of(system: System, *, at: str, state: State | None, t: float) -> State:
    """Return the state to look at: a given one, as drawn and assembled, or the nearest equilibrium."""
    if at not in PLACES:
        raise ModelError("at", f"unknown place {at!r}", nearest(at, PLACES))
    if state is not None:
        return state
    return assemble(system, t=t) if at == "design" else equilibrium(system, t=t).state


def with_forces(model: Model | System, forces: Sequence[str]) -> Model:
    """Return a copy of a model with some of its forces only."""
    if not isinstance(model, Model):
        raise ModelError("forces", "they can be chosen in a model, not in a system that is built", "give the model")
    for name in forces:
        if name not in model.forces and name != GRAVITY:
            raise ModelError(f"force {name!r}", "there is no such force", nearest(name, [*model.forces, GRAVITY]))
    chosen = copy(model)
    chosen.forces = {name: force for name, force in model.forces.items() if name in forces}
    chosen.gravity = model.gravity if GRAVITY in forces else np.zeros(3)
    return chosen


def body_index(system: System, name: str) -> int:
    """Return the number of a body."""
    if name not in system.layout.bodies:
        raise ModelError(f"body {name!r}", "there is no such body", nearest(name, system.layout.bodies))
    return system.layout.bodies.index(name)


def field_at(system: System, names: tuple[str, ...], at: State, *, touched: bool = True) -> ForceField:
    """Return F, M and 2Kc at a state from the force and its tangent, whose moments and rotations are in the bodies' axes.

    Bodies that nothing acts on are refused if `touched`.
    """
    indices, rest = [body_index(system, name) for name in names], np.zeros(system.n_velocities)
    f = system.force(at.t, at.q, rest).reshape(-1, 6)[indices]
    columns = (6 * np.array(indices)[:, None] + np.arange(6)).ravel()
    K = system.stiffness(at.t, at.q, rest, np.zeros(system.n_constraints), with_constraints=False)
    places = at.q[: 7 * system.n_bodies].reshape(-1, 7)[indices]
    R = np.stack([to_rotation(one[3:]).as_matrix() for one in places])
    moment = np.einsum("nij,nj->ni", R, f[:, 3:])
    T = block_diag(*(one for R_WB in R for one in (np.eye(3), R_WB)))
    turning = block_diag(*(corners(rr=one) for one in tilde(moment)))  # d(R_WB M_B) = R_WB dM_B + dtheta x M
    own = T @ K[columns][:, columns].toarray() @ T.T + turning
    found = ForceField(names, places[:, :3].copy(), R, f[:, :3].copy(), moment, own)
    if touched:
        _refuse_nothing(system, found, indices, at)
    return found


def _refuse_nothing(system: System, field: ForceField, indices: list[int], at: State) -> None:
    """Raise if no force element touches any of the bodies and nothing pulls at them."""
    if field.force.any() or field.moment.any() or field.stiffness.any():
        return
    rest = np.zeros(system.n_velocities)
    blocks = system.element_stiffnesses(at.t, at.q, rest, np.zeros(system.n_constraints))
    blocks = blocks[len(system.layout.constraint_elements) :]
    touched = {int(column) // 6 for _, columns, _ in blocks for column in columns if column >= 0}
    if not touched & set(indices):
        listed = " and ".join(repr(name) for name in field.bodies)
        raise ModelError(
            f"body {listed}",
            "no force field acts on it: it has no spring, bushing or load, and no weight",
            "attach one; for a body that joints hold, ask for the condensed stiffness",
        )
