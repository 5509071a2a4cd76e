"""Forces and torques on a body at a point: declaration, record, mathematics.

    dead      f = [F | r x R_B^T F + R_B^T T]       K: -tilde(r) tilde(R_B^T F) - tilde(R_B^T T) in the rotations
    follower  f = [R_B F_B | r x F_B + T_B]         K: R_B tilde(F_B) in (position, rotation)

F, T are the laws' values, times the value of one more law. A constant dead force has the potential energy -F . r_P.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dalembert.elements import checks
from dalembert.elements.checks import GROUND
from dalembert.elements.joint import Place, check_place
from dalembert.elements.law import Law
from dalembert.errors import ModelError
from dalembert.kernel.compile import compiled, inlined
from dalembert.kernel.vec3 import (
    Array,
    Vec3,
    accumulate,
    add,
    clear,
    cross,
    dot,
    load,
    load_matrix,
    madd,
    matmul,
    mneg,
    mul,
    scale,
    skew,
    store_block,
    tmul,
)

Components: TypeAlias = Sequence[float | Law]

LOAD = np.dtype(
    [
        ("body_1", np.intp),
        ("body_2", np.intp),  # the ground, so that its blocks are like all others
        ("point_1", np.float64, 3),  # in B [m]
        ("force", np.float64, 3),  # the constant part; in W, for a follower as in the design position
        ("torque", np.float64, 3),
        ("force_law", np.intp, 3),  # added to it; -1: none
        ("torque_law", np.intp, 3),
        ("factor", np.float64),  # of both: factor + factor_law(t)
        ("factor_law", np.intp),
        ("follower", np.intp),
        ("rotation", np.float64, 9),  # R_WB in the design position
        ("constant", np.intp),  # 1: no law of time
    ],
    align=True,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Load:
    """A force and a torque on a body, constant or with laws of time.

    Parameters
    ----------
    name : str
    body : str
    force : sequence of three float or Law
        [N], in world axes.
    torque : sequence of three float or Law
        [N m], in world axes.
    at : Place, optional
        Where the force acts on the body, drawn in the design position [m]; the centre of mass if not given.
    law : Law, optional
        A function of time that multiplies both.
    follower : bool
        Force and torque turn with the body; they are then written as in the design position.

    Examples
    --------
    >>> thrust = Load(name="thrust", body="rocket", force=(0, 0, 5e3), at=(0, 0, -4), follower=True)
    >>> thrust.force
    (0.0, 0.0, 5000.0)
    """

    name: str
    body: str
    force: Components = (0.0, 0.0, 0.0)
    torque: Components = (0.0, 0.0, 0.0)
    at: Place | None = None
    law: Law | None = None
    follower: bool = False

    def __post_init__(self) -> None:
        element = self.element
        if self.body == GROUND:
            raise ModelError(element, "it acts on the ground, which nothing moves", "name a body")
        for label in ("force", "torque"):
            object.__setattr__(self, label, _components(element, label, getattr(self, label)))
        if not any(isinstance(part, Law) or part != 0.0 for part in (*self.force, *self.torque)):
            raise ModelError(element, "force and torque are zero", "give force=(...) in N or torque=(...) in N m")
        if self.at is not None:
            object.__setattr__(self, "at", check_place(element, "at", self.at))
        if self.law is not None and not isinstance(self.law, Law):
            raise ModelError(element, f"{self.law!r} is not a law of time", "give for example da.Harmonic(...)")

    @property
    def element(self) -> str:
        """How errors call this load."""
        return checks.element_name("load", self.name)


def _components(element: str, label: str, values: Any) -> tuple[float | Law, ...]:
    """Return three numbers or laws."""
    parts = tuple(values) if isinstance(values, Iterable) and not isinstance(values, str) else ()
    if len(parts) != 3:
        raise ModelError(element, f"{label} is {values!r}", "give three numbers or laws of time, in world axes")
    return tuple(one if isinstance(one, Law) else checks.number(element, label, one) for one in parts)


@inlined
def _now(constant: Array, index: Any, factor: float, laws: Array) -> Vec3:
    """Return three components at this time."""
    laws_now = laws[index[0], 0], laws[index[1], 0], laws[index[2], 0]
    return scale(factor, add(load(constant), laws_now))


@inlined
def force_and_torque(element: Any, bodies: Any, laws: Array) -> tuple[Vec3, Vec3]:
    """Return force in W and torque about the point in B."""
    factor = element.factor + laws[element.factor_law, 0]
    F = _now(element.force, element.force_law, factor, laws)
    T = _now(element.torque, element.torque_law, factor, laws)
    R = load_matrix(bodies[element.body_1].rotation)
    if element.follower == 1:
        drawn = load_matrix(element.rotation)
        return mul(R, tmul(drawn, F)), tmul(drawn, T)
    return F, tmul(R, T)


@compiled
def add_force(element: Any, bodies: Any, laws: Array, f: Array) -> None:
    """Add the force on the body."""
    F, T = force_and_torque(element, bodies, laws)
    in_body = tmul(load_matrix(bodies[element.body_1].rotation), F)
    accumulate(f, 6 * element.body_1, F)
    accumulate(f, 6 * element.body_1 + 3, add(cross(load(element.point_1), in_body), T))


@compiled
def tangents(element: Any, bodies: Any, laws: Array, K: Array, D: Array) -> None:
    """Write K and D, 12x12 each."""
    F, T = force_and_torque(element, bodies, laws)
    R = load_matrix(bodies[element.body_1].rotation)
    in_body = skew(tmul(R, F))
    clear(K)
    clear(D)
    if element.follower == 1:
        store_block(K, 0, 3, matmul(R, in_body))
    else:
        store_block(K, 3, 3, mneg(madd(matmul(skew(load(element.point_1)), in_body), skew(T))))


@compiled
def energy(element: Any, bodies: Any, laws: Array) -> float:
    """Return the potential energy of a constant dead force, zero for the rest [J]."""
    if element.follower == 1 or element.constant == 0:
        return 0.0
    F, _ = force_and_torque(element, bodies, laws)
    pose = bodies[element.body_1]
    return -dot(F, add(load(pose.position), mul(load_matrix(pose.rotation), load(element.point_1))))
