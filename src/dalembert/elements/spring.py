"""Springs and dampers between two points: what the user writes, the record, and the mathematics.

    f = -F(L, L') n on B1, and its opposite on B2,     L = |d|,   n = d/L,   d = r_B1 + R_B1 r_1 - r_B2 - R_B2 r_2

F is the tension [N], a `characteristic` of the length and its rate. With the gradient of the length, g = dL/dd:

    g = [n | r_1 x R_B1^T n | -n | -r_2 x R_B2^T n]
    f = -F g,     K = F dg/dd + F_L g g^T + F_L' g (dL'/dd)^T,     D = F_L' g g^T
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.elements import characteristic, checks, distance
from dalembert.elements.joint import Place, check_bodies
from dalembert.elements.pair import separation_rate
from dalembert.kernel.compile import compiled
from dalembert.kernel.vec3 import Array, dot

if TYPE_CHECKING:
    import sympy


@dataclass(frozen=True, eq=False, kw_only=True)
class SpringDamper:
    """A massless spring with a damper between two points of two bodies, drawn in the design position.

    Its force is positive in tension, as that of a rod: ``stiffness * (length - free_length) + damping * rate``, or what the
    tables or the expression say. Its length must never become zero; a bushing has no such bound.

    Parameters
    ----------
    name : str
    main, driven : str
        Names of the two bodies, or ``"ground"``.
    at, at_driven : Place
        Its ends on the main and on the driven body [m].
    stiffness : float
        [N/m].
    damping : float
        [N s/m].
    free_length : float, optional
        Length without force [m]; as drawn if not given.
    preload : float, optional
        Instead of the free length: the force in the drawn position [N], positive in tension, so negative for a spring that is
        compressed.
    table : sequence of (deflection, force), optional
        Instead of the stiffness: deflection ``length - free_length`` [m], increasing, and tension [N]. Between the points a
        monotone cubic (PCHIP, one continuous derivative), beyond them straight lines.
    damping_table : sequence of (rate, force), optional
        Instead of the damping: rate of the length [m/s], increasing, and tension [N], with the same interpolation.
    expression : str or sympy.Expr, optional
        Instead of all of these: the tension [N] as a formula of `length` [m] and `rate` [m/s].

    Examples
    --------
    >>> SpringDamper(name="strut", main="ground", driven="wheel", at=(0, 0, 1), at_driven=(0, 0, 0), stiffness=2e4).stiffness
    20000.0
    """

    name: str
    main: str
    driven: str
    at: Place
    at_driven: Place
    stiffness: float = 0.0
    damping: float = 0.0
    free_length: float | None = None
    preload: float | None = None
    table: Sequence[tuple[float, float]] | None = None
    damping_table: Sequence[tuple[float, float]] | None = None
    expression: str | sympy.Expr | None = None

    def __post_init__(self) -> None:
        element = self.element
        check_bodies(element, self)
        characteristic.check_characteristic(element, self, free="free_length", symbols=("length", "rate"))
        if self.free_length is not None:
            checks.number(element, "free_length", self.free_length, minimum=0.0)

    @property
    def element(self) -> str:
        """How errors call this spring."""
        return checks.element_name("spring", self.name)


SPRING = np.dtype(
    [
        ("body_1", np.intp),
        ("body_2", np.intp),
        ("point_1", np.float64, 3),  # in B1 [m]
        ("point_2", np.float64, 3),  # in B2 [m]
        *characteristic.FIELDS,
    ],
    align=True,
)


@compiled
def _tension(spring: Any, bodies: Any, curves: Array, callbacks: Any, exchange: Array) -> tuple[float, float, float]:
    """Return F and its derivatives with respect to L and L'."""
    length, n = distance.length_and_direction(spring, bodies)
    rate, _ = separation_rate(spring, bodies)
    return characteristic.force(spring, curves, callbacks, exchange, length, dot(n, rate))


@compiled
def add_force(spring: Any, bodies: Any, curves: Array, callbacks: Any, exchange: Array, work: Array, f: Array) -> None:
    """Add the force on both bodies."""
    F, _, _ = _tension(spring, bodies, curves, callbacks, exchange)
    g = work[characteristic.GRADIENT]
    distance.gradient(spring, bodies, g)
    characteristic.add_generalized_force(spring, -F, g, f)


@compiled
def tangents(spring: Any, bodies: Any, curves: Array, callbacks: Any, exchange: Array, work: Array, K: Array, D: Array) -> None:
    """Write K and D, 12x12 each."""
    F, stiffness, damping = _tension(spring, bodies, curves, callbacks, exchange)
    distance.gradient(spring, bodies, work[characteristic.GRADIENT])
    characteristic.load_velocities(spring, bodies, work[characteristic.VELOCITY])
    distance.hessian(spring, bodies, 1.0, K)
    characteristic.complete_tangents(F, stiffness, damping, work, K, D)


@compiled
def energy(spring: Any, bodies: Any, curves: Array, callbacks: Any, exchange: Array) -> float:
    """Return the potential energy [J]."""
    length, _ = distance.length_and_direction(spring, bodies)
    return characteristic.energy(spring, curves, callbacks, exchange, length)
