"""Forces on the coordinate of a joint, its angle or distance: springs, dampers, motors; declaration, record, mathematics.

    Q = law(t) - F(x, x'),     f = Q g,     g = dx/dd
    K = -Q dg/dd + F_x g g^T + F_x' g (dx'/dd)^T,     D = F_x' g g^T

x is the coordinate (coordinate.py), an angle counted over any number of turns; F is a `characteristic` of x and x'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.elements import characteristic, checks, coordinate
from dalembert.elements.joint import COORDINATE_ROWS
from dalembert.elements.law import Constant, Law
from dalembert.errors import ModelError, nearest
from dalembert.kernel.compile import compiled
from dalembert.kernel.vec3 import Array

if TYPE_CHECKING:
    import sympy

JOINT_FORCE = np.dtype(
    [
        ("body_1", np.intp),  # the first eight are those of coordinate.COORDINATE
        ("body_2", np.intp),
        ("point_1", np.float64, 3),
        ("point_2", np.float64, 3),
        ("quaternion_1", np.float64, 4),
        ("quaternion_2", np.float64, 4),
        ("kind", np.intp),
        ("memory", np.intp),
        ("law", np.intp),  # of the motor; -1: none
        *characteristic.FIELDS,
    ],
    align=True,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class TorsionSpring:
    """A spring with a damper on the angle of a joint (or on its distance), counted over any number of turns.

    Its torque opposes the coordinate: ``stiffness * (angle - free) + damping * rate``, or what the tables or the expression
    say, acts on the driven body against the coordinate's positive sense, and on the main body the other way.

    Parameters
    ----------
    name : str
    joint : str
        Name of a joint that has the coordinate: revolute, cylindrical, screw, prismatic, ...
    coordinate : {"angle", "distance"}
        What it acts on.
    stiffness : float
        [N m/rad]; for a distance [N/m].
    damping : float
        [N m s/rad]; for a distance [N s/m].
    free : float, optional
        Angle without torque [rad]; for a distance [m]; as drawn if not given.
    preload : float, optional
        Instead of the free angle: the torque in the drawn position [N m]; for a distance [N].
    table : sequence of (deflection, torque), optional
        Instead of the stiffness: deflection ``angle - free``, increasing, and torque. Between the points a monotone cubic
        (PCHIP, one continuous derivative), beyond them straight lines.
    damping_table : sequence of (rate, torque), optional
        Instead of the damping: rate of the angle [rad/s], increasing, and torque, with the same interpolation.
    expression : str or sympy.Expr, optional
        Instead of all of these: the opposing torque [N m] as a formula of `angle` [rad] and `rate` [rad/s]; for a distance, the
        force [N] as a formula of `distance` [m] and `rate` [m/s].

    Examples
    --------
    >>> TorsionSpring(name="watch", joint="hinge", stiffness=2.0, damping=0.1).coordinate
    'angle'
    >>> TorsionSpring(name="watch", joint="hinge")
    Traceback (most recent call last):
        ...
    dalembert.errors.ModelError: torsion spring 'watch': it does nothing; give stiffness, damping, a table or an expression
    """

    name: str
    joint: str
    coordinate: str = "angle"
    stiffness: float = 0.0
    damping: float = 0.0
    free: float | None = None
    preload: float | None = None
    table: Sequence[tuple[float, float]] | None = None
    damping_table: Sequence[tuple[float, float]] | None = None
    expression: str | sympy.Expr | None = None

    def __post_init__(self) -> None:
        _check_coordinate(self.element, self.coordinate)
        characteristic.check_characteristic(self.element, self, free="free", symbols=(self.coordinate, "rate"))

    @property
    def element(self) -> str:
        """How errors call this spring."""
        return checks.element_name("torsion spring", self.name)


@dataclass(frozen=True, eq=False, kw_only=True)
class JointLoad:
    """A torque or force of a motor on a joint: it drives the coordinate in its positive sense and reacts on the main body.

    Parameters
    ----------
    name : str
    joint : str
        Name of a joint that has the coordinate.
    law : Law or float
        Torque on the driven body [N m], for a distance the force [N], as a function of time or constant.
    coordinate : {"angle", "distance"}
        What it acts on.

    Examples
    --------
    >>> JointLoad(name="motor", joint="hinge", law=20.0).law
    Constant(value=20.0)
    """

    name: str
    joint: str
    law: Law | float
    coordinate: str = "angle"

    def __post_init__(self) -> None:
        _check_coordinate(self.element, self.coordinate)
        if not isinstance(self.law, Law):
            object.__setattr__(self, "law", Constant(checks.number(self.element, "law", self.law)))

    @property
    def element(self) -> str:
        """How errors call this load."""
        return checks.element_name("joint load", self.name)


def _check_coordinate(element: str, coordinate: str) -> None:
    if coordinate not in COORDINATE_ROWS:
        raise ModelError(element, f"unknown coordinate {coordinate!r}", nearest(str(coordinate), COORDINATE_ROWS))


@compiled
def _opposing(
    joint: Any, bodies: Any, last: Array, curves: Array, callbacks: Any, exchange: Array, work: Array
) -> tuple[float, float, float]:
    """Return F and its derivatives with respect to x and x'; write g and v to their rows of `work`."""
    g, v = work[characteristic.GRADIENT], work[characteristic.VELOCITY]
    coordinate.gradient(joint, bodies, g)
    characteristic.load_velocities(joint, bodies, v)
    rate = 0.0
    for k in range(12):
        rate += g[k] * v[k]
    return characteristic.force(joint, curves, callbacks, exchange, coordinate.value(joint, bodies, last), rate)


@compiled
def add_force(
    joint: Any, bodies: Any, laws: Array, last: Array, curves: Array, callbacks: Any, exchange: Array, work: Array, f: Array
) -> None:
    """Add the force on both bodies."""
    F, _, _ = _opposing(joint, bodies, last, curves, callbacks, exchange, work)
    characteristic.add_generalized_force(joint, laws[joint.law, 0] - F, work[characteristic.GRADIENT], f)


@compiled
def tangents(
    joint: Any,
    bodies: Any,
    laws: Array,
    last: Array,
    curves: Array,
    callbacks: Any,
    exchange: Array,
    work: Array,
    K: Array,
    D: Array,
) -> None:
    """Write K and D, 12x12 each."""
    F, stiffness, damping = _opposing(joint, bodies, last, curves, callbacks, exchange, work)
    coordinate.hessian(joint, bodies, K)
    characteristic.complete_tangents(F - laws[joint.law, 0], stiffness, damping, work, K, D)


@compiled
def energy(joint: Any, bodies: Any, last: Array, curves: Array, callbacks: Any, exchange: Array) -> float:
    """Return the potential energy [J]; a motor whose law is not constant has none."""
    return characteristic.energy(joint, curves, callbacks, exchange, coordinate.value(joint, bodies, last))
