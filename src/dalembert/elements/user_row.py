"""Velocity rows as a user writes them: ``psi(t, q, v) = 0``, linear in the velocities of one or two bodies, as a formula.

    A = d(psi)/dv,   b' = -psi(v = 0),   b'' = -(sum over j of v_j D_j psi + d(psi)/dt),   K_c = gamma D_j A_i,   B_j = D_j psi

D_j is the derivative along the j-th of the twelve displacements: of a position, or of a rotation about an axis of the body, by
which ``R -> R (1 + tilde(e_k))``. All of them are symbolic, and exact.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.elements import checks
from dalembert.errors import ModelError
from dalembert.kernel.callback import FunctionOfState, call_function_of_state
from dalembert.kernel.compile import compiled
from dalembert.kernel.vec3 import Array

if TYPE_CHECKING:
    import sympy

USER_ROW = np.dtype(
    [("body_1", np.intp), ("body_2", np.intp), ("callback", np.intp), ("row", np.intp), ("term", np.intp)], align=True
)

ROW, ACCELERATION, TANGENT, VELOCITY_TANGENT = range(4)
INPUTS, OUTPUTS = 36, (13, 1, 144, 12)


def symbols_of(suffix: str) -> tuple[list[str], list[str], list[str]]:
    """Return how a formula calls positions, entries of R_WB and velocities of a body."""
    places = [f"{label}{suffix}" for label in "xyz"]
    rotation = [f"R{i}{j}{suffix}" for i in (1, 2, 3) for j in (1, 2, 3)]
    return places, rotation, [f"{label}{suffix}" for label in ("vx", "vy", "vz", "wx", "wy", "wz")]


@dataclass(frozen=True, eq=False, kw_only=True)
class VelocityRow:
    """A linear relation between velocities, as a formula that is zero.

    Parameters
    ----------
    name : str
    expression : str or sympy.Expr
        In ``x, y, z`` [m] and ``vx, vy, vz`` [m/s] of the driven body's centre in the world, ``wx, wy, wz`` [rad/s] in its own
        axes, ``R11`` to ``R33`` (its orientation R_WB, world from body), and ``t`` [s]; of the main body the same with an
        underscore behind: ``x_``, ``vx_``, ``R11_``. Linear in the velocities.
    main, driven : str
        Names of the two bodies; ``"ground"`` for the main one, if there is no other.

    Examples
    --------
    >>> blade = VelocityRow(name="blade", expression="R12*vx + R22*vy + R32*vz", main="ground", driven="sleigh")
    >>> blade.derivatives[0][:3]
    [R12, R22, R32]
    """

    name: str
    expression: str | sympy.Expr
    main: str
    driven: str

    def __post_init__(self) -> None:
        checks.element_name("velocity row", self.name)
        checks_two_bodies(self)
        self.derivatives  # noqa: B018  (reads the formula now, so that errors show where they were made)

    @property
    def element(self) -> str:
        """How errors call this row."""
        return f"velocity row {self.name!r}"

    @functools.cached_property
    def derivatives(self) -> tuple[list[sympy.Expr], ...]:
        """The formulas of the four orders: A and b', b'', d(A)/dd, d(psi)/dd."""
        import sympy as sp

        from dalembert.elements.expression import read_expression

        known = [symbols_of(""), symbols_of("_")]
        names = [name for body in known for group in body for name in group]
        psi = sp.expand(read_expression(self.expression, ["t", *names], element=self.element))
        symbol = {name: sp.Symbol(name, real=True) for name in ["t", *names]}
        v = [symbol[name] for body in known for name in body[2]]
        A = [sp.diff(psi, one) for one in v]
        if any(one.has(*v) for one in A):
            raise ModelError(
                self.element, "it is not linear in the velocities", "write it as a sum of factors times velocities"
            )
        if not any(A):
            raise ModelError(self.element, "it restricts no velocity", "use vx, vy, vz, wx, wy, wz of the driven body")

        def along(formula: sp.Expr) -> list[sp.Expr]:
            return [one for body in known for one in _along(formula, body, symbol)]

        D = along(psi)
        free = psi.subs(dict.fromkeys(v, 0))
        rate = sum((one * velocity for one, velocity in zip(D, v, strict=True)), sp.S.Zero) + sp.diff(psi, symbol["t"])
        return [*A, -free], [-rate], [one for row in A for one in along(row)], D


def checks_two_bodies(row: VelocityRow) -> None:
    """Refuse a row on the ground alone, or on one body twice."""
    if row.driven == checks.GROUND or row.main == row.driven:
        raise ModelError(
            row.element, f"it is about {row.driven!r} alone", "name a body as the driven one, another as the main one"
        )


def _along(formula: sympy.Expr, body: tuple[list[str], list[str], list[str]], symbol: dict[str, sympy.Symbol]) -> list[Any]:
    """Return the derivatives of a formula along the six displacements of a body."""
    import sympy as sp

    places, rotation, _ = body
    R = sp.Matrix(3, 3, [symbol[name] for name in rotation])
    turned = [R * sp.Matrix(3, 3, skew) for skew in _SKEWS]
    by_rotation = [sum((sp.diff(formula, R[i]) * one[i] for i in range(9)), sp.S.Zero) for one in turned]
    return [*(sp.diff(formula, symbol[name]) for name in places), *by_rotation]


_SKEWS = ((0, 0, 0, 0, 0, -1, 0, 1, 0), (0, 0, 1, 0, 0, 0, -1, 0, 0), (0, -1, 0, 1, 0, 0, 0, 0, 0))
"""tilde(e_x), tilde(e_y), tilde(e_z)."""


@dataclass(frozen=True)
class VelocityRowSource:
    """What a velocity row is called back for."""

    row: VelocityRow

    @property
    def element(self) -> str:
        """How errors call the row."""
        return self.row.element

    def callback(self) -> FunctionOfState:
        """Return the C function for all orders."""
        import sympy as sp

        names = [name for suffix in ("", "_") for group in symbols_of(suffix) for name in group]
        arguments = [sp.Symbol(name, real=True) for name in ["t", *names]]
        functions = [sp.lambdify(arguments, order, modules="math", cse=True) for order in self.row.derivatives]

        def function(t: float, order: int, x: list[float]) -> list[float]:
            return [float(one) for one in functions[order](t, *x)]

        return FunctionOfState(function, INPUTS, OUTPUTS)


@compiled
def _call(element: Any, bodies: Any, t: float, callbacks: Any, order: int, work: Array) -> int:
    """Write the state of both bodies and what the formulas of an order give to `work`; return where the result starts."""
    k = 0
    for body in (element.body_1, element.body_2):
        pose = bodies[body]
        for i in range(3):
            work[k + i] = pose.position[i]
            work[k + 12 + i] = pose.velocity[i]
            work[k + 15 + i] = pose.angular_velocity[i]
        for i in range(9):
            work[k + 3 + i] = pose.rotation[i]
        k += 18
    start = work.ctypes.data
    call_function_of_state(callbacks[element.callback].address, t, order, start, start + 8 * INPUTS)
    return INPUTS


@compiled
def velocity_residual(element: Any, bodies: Any, t: float, callbacks: Any, work: Array, psi: Array) -> None:
    """Add psi = A v - b'."""
    first = _call(element, bodies, t, callbacks, ROW, work)
    total = -work[first + 12]
    for i in range(6):
        total += work[first + i] * work[12 + i] + work[first + 6 + i] * work[30 + i]
    psi[element.row] += total


@compiled
def jacobian(element: Any, bodies: Any, t: float, callbacks: Any, work: Array, J: Array) -> None:
    """Write the row of A."""
    first = _call(element, bodies, t, callbacks, ROW, work)
    for i in range(12):
        J[element.term, i] = work[first + i]


@compiled
def right_sides(element: Any, bodies: Any, t: float, callbacks: Any, work: Array, b1: Array, b2: Array) -> None:
    """Add b' and b''."""
    first = _call(element, bodies, t, callbacks, ROW, work)
    b1[element.row] += work[first + 12]
    first = _call(element, bodies, t, callbacks, ACCELERATION, work)
    b2[element.row] += work[first]


@compiled
def tangent(element: Any, bodies: Any, t: float, callbacks: Any, work: Array, gamma: Array, K: Array) -> None:
    """Write K_c = d(A^T gamma)/dd, 12x12."""
    first = _call(element, bodies, t, callbacks, TANGENT, work)
    for i in range(12):
        for j in range(12):
            K[i, j] = gamma[element.row] * work[first + 12 * i + j]


@compiled
def velocity_tangent(element: Any, bodies: Any, t: float, callbacks: Any, work: Array, B: Array) -> None:
    """Write d(psi)/dd at constant v to B (12)."""
    first = _call(element, bodies, t, callbacks, VELOCITY_TANGENT, work)
    for j in range(12):
        B[j] = work[first + j]
