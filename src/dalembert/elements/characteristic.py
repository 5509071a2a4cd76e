"""What a spring and a damper do: force from deflection and rate, as numbers, tables or a formula.

    F(x, x') = U'(x) + c x' + G'(x')       U, G piecewise polynomials: the *curves*
    F(x, x') = expression                  called back

A curve is the integral of a table: its value is the potential energy, its derivative the force, its second derivative the
stiffness. In compiled code all curves stand in one array, each as its origins followed by its coefficients.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.elements import checks
from dalembert.elements.formula import find_piece, horner
from dalembert.errors import ModelError
from dalembert.kernel.callback import FunctionOfState, call_function_of_state
from dalembert.kernel.compile import compiled, inlined
from dalembert.kernel.vec3 import Array

if TYPE_CHECKING:
    import sympy

WIDTH = 5  # coefficients of a piece: the integral of a cubic

FIELDS = [
    ("curve", np.intp),  # where the potential U starts in the curves
    ("pieces", np.intp),
    ("damping", np.float64),  # c
    ("damping_curve", np.intp),  # where G starts
    ("damping_pieces", np.intp),  # 0: none
    ("callback", np.intp),  # of the expression, in the callbacks; -1: none
]

FORCE, ENERGY = 0, 1  # what an expression is called back for

GRADIENT, VELOCITY, RATE_GRADIENT = 0, 1, 2  # rows of the work array


# ---------------------------------------------------------------------------------------------------------------------
# compiled


@inlined
def _read(curves: Array, first: int, pieces: int, x: float) -> tuple[float, float, float]:
    """Return the value of a curve and two derivatives."""
    piece = find_piece(curves, first, pieces, x)
    return horner(curves, first + pieces + piece * WIDTH, WIDTH, x - curves[first + piece])


@compiled
def force(element: Any, curves: Array, callbacks: Any, exchange: Array, x: float, rate: float) -> tuple[float, float, float]:
    """Return F and its derivatives with respect to x and x'."""
    if element.callback >= 0:
        exchange[0] = x
        exchange[1] = rate
        start = exchange.ctypes.data
        address = callbacks[element.callback].address
        call_function_of_state(address, 0.0, FORCE, start, start + 16)
        return exchange[2], exchange[3], exchange[4]
    _, F, stiffness = _read(curves, element.curve, element.pieces, x)
    F += element.damping * rate
    damping = element.damping
    if element.damping_pieces > 0:
        _, drag, slope = _read(curves, element.damping_curve, element.damping_pieces, rate)
        F += drag
        damping += slope
    return F, stiffness, damping


@compiled
def energy(element: Any, curves: Array, callbacks: Any, exchange: Array, x: float) -> float:
    """Return the potential energy [J] of the force at rest, F(x, 0)."""
    if element.callback >= 0:
        exchange[0] = x
        exchange[1] = 0.0
        start = exchange.ctypes.data
        address = callbacks[element.callback].address
        call_function_of_state(address, 0.0, ENERGY, start, start + 16)
        return float(exchange[2])
    return _read(curves, element.curve, element.pieces, x)[0]


@compiled
def load_velocities(element: Any, bodies: Any, v: Array) -> None:
    """Write the velocities of both bodies to a 12-array."""
    one, two = bodies[element.body_1], bodies[element.body_2]
    for k in range(3):
        v[k], v[k + 3] = one.velocity[k], one.angular_velocity[k]
        v[k + 6], v[k + 9] = two.velocity[k], two.angular_velocity[k]


@compiled
def complete_tangents(F: float, stiffness: float, damping: float, work: Array, K: Array, D: Array) -> None:
    """Turn H = dg/dd in K into K of the force -F g, g = dx/dd, and write its D; g and v are rows of `work`.

    x' = g . v changes by v^T H, so that K = F H + g (F_x g + F_x' H^T v)^T and D = F_x' g g^T.
    """
    g, v, h = work[GRADIENT], work[VELOCITY], work[RATE_GRADIENT]
    for j in range(12):
        h[j] = 0.0
        for i in range(12):
            h[j] += K[i, j] * v[i]
    for i in range(12):
        for j in range(12):
            K[i, j] = F * K[i, j] + g[i] * (stiffness * g[j] + damping * h[j])
            D[i, j] = damping * g[i] * g[j]


@compiled
def add_generalized_force(element: Any, Q: float, g: Array, f: Array) -> None:
    """Add Q g to the force on both bodies."""
    for k in range(6):
        f[6 * element.body_1 + k] += Q * g[k]
        f[6 * element.body_2 + k] += Q * g[k + 6]


# ---------------------------------------------------------------------------------------------------------------------
# what the user wrote


def check_characteristic(element: str, drawn: Any, *, free: str, symbols: tuple[str, str]) -> None:
    """Check stiffness, damping, free position, preload, tables and expression, and keep clean values in the declaration."""
    keep = functools.partial(object.__setattr__, drawn)
    for label in ("stiffness", "damping"):
        keep(label, checks.number(element, label, getattr(drawn, label), minimum=0.0))
    for label in (free, "preload"):
        if getattr(drawn, label) is not None:
            keep(label, checks.number(element, label, getattr(drawn, label)))
    for label in ("table", "damping_table"):
        if getattr(drawn, label) is not None:
            keep(label, _table(element, label, getattr(drawn, label)))
    labels = ("stiffness", "damping", free, "preload", "table", "damping_table", "expression")
    given = {label for label in labels if getattr(drawn, label) not in (None, 0.0)}
    given |= {label for label in (free, "preload") if getattr(drawn, label) is not None}
    if "expression" in given and len(given) > 1:
        other = next(label for label in labels if label in given)
        raise ModelError(element, f"both expression and {other} are given", "the expression alone says it all")
    for one, other, remedy in (
        ("stiffness", "table", "the table alone says how stiff it is"),
        ("damping", "damping_table", "the table alone says how it damps"),
        (free, "preload", "one follows from the other"),
        ("table", "preload", f"give the {free} of the table's zero instead"),
    ):
        if {one, other} <= given:
            raise ModelError(element, f"both {one} and {other} are given", remedy)
    if not given - {free}:
        raise ModelError(element, "it does nothing", "give stiffness, damping, a table or an expression")
    if drawn.expression is not None:
        _derivatives(element, drawn.expression, symbols)  # reads it now, so that errors show where they were made


def _table(element: str, label: str, value: Any) -> tuple[tuple[float, float], ...]:
    """Return a table of (abscissa, force) with increasing abscissae."""
    try:
        points = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(element, f"{label} is not a list of pairs", "give [[x, force], [x, force], ...]") from None
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2:
        raise ModelError(element, f"{label} has shape {points.shape}", "give two or more pairs [x, force]")
    if not np.all(np.isfinite(points)):
        raise ModelError(element, f"{label} is not finite", "give finite numbers in SI units")
    for k, (before, after) in enumerate(zip(points[:, 0], points[1:, 0], strict=False)):
        if not after > before:
            raise ModelError(element, f"{label}[{k + 1}] at {after:g} is not beyond {before:g}", "sort the table")
    return tuple((float(x), float(y)) for x, y in points)


def _derivatives(element: str, expression: str | sympy.Expr, symbols: tuple[str, str]) -> list[sympy.Expr]:
    """Return an expression and its derivatives with respect to both symbols."""
    from dalembert.elements.expression import derivative, read_expression

    known = read_expression(expression, symbols, element=element)
    return [known, *(derivative(known, symbol, element=element) for symbol in symbols)]


@dataclass(frozen=True)
class ExpressionSource:
    """What an expression is called back for: F and its derivatives, and its potential energy at rest.

    Parameters
    ----------
    element : str
    expression : str or sympy.Expr
    symbols : tuple of str
        Of the coordinate and its rate.
    drawn : float
        Coordinate in the design position, where the potential energy is zero.
    """

    element: str
    expression: str | sympy.Expr
    symbols: tuple[str, str]
    drawn: float

    def callback(self) -> FunctionOfState:
        """Return the C function for `force` and `energy`."""
        import sympy

        from dalembert.elements.expression import scalar_function

        known = _derivatives(self.element, self.expression, self.symbols)
        at_rest: Any = scalar_function(known[0], self.symbols)
        parts: Any = scalar_function(sympy.Tuple(*known), self.symbols)

        def function(t: float, order: int, x: list[float]) -> list[float]:
            try:
                values = list(parts(*x)) if order == FORCE else [self._energy(at_rest, x[0])]
            except Exception as error:
                raise ModelError(self.element, f"{self._at(x)} failed: {type(error).__name__}: {error}") from error
            if not all(map(math.isfinite, values)) and all(map(math.isfinite, x)):
                raise ModelError(self.element, f"{self._at(x)} gave {values[0]}", "keep it finite and smooth in all positions")
            return values

        return FunctionOfState(function, 2, (3, 1))

    def _energy(self, force_at: Any, x: float) -> float:
        from scipy.integrate import quad

        return float(quad(lambda y: force_at(y, 0.0), self.drawn, x, epsabs=0.0, epsrel=1e-12, limit=200)[0])

    def _at(self, x: Sequence[float]) -> str:
        where = ", ".join(f"{symbol} = {value:g}" for symbol, value in zip(self.symbols, x, strict=True))
        return f"'{self.expression}' at {where}"


class Curves:
    """Collects curves in one array, and the fields of the records that read them."""

    def __init__(self) -> None:
        self._parts: list[Array] = []
        self._size = 0

    def array(self) -> Array:
        """Return all curves, for compiled code."""
        return np.concatenate([np.zeros(0), *self._parts])

    def fields(self, declared: Any, free: str, drawn: float) -> dict[str, Any]:
        """Return the `FIELDS` of a spring that has no expression; `drawn` is its coordinate in the design position."""
        given = getattr(declared, free)
        rest = drawn if given is None else given
        if declared.table is not None:
            first, pieces = self._add(*_curve_of_table(declared.table, rest))
        else:
            first, pieces = self._add(*_curve_of_line(declared.stiffness, rest, declared.preload or 0.0))
        fields = {"curve": first, "pieces": pieces, "damping": declared.damping, "callback": -1}
        damping_first, damping_pieces = 0, 0
        if declared.damping_table is not None:
            damping_first, damping_pieces = self._add(*_curve_of_table(declared.damping_table, 0.0))
        return {**fields, "damping_curve": damping_first, "damping_pieces": damping_pieces}

    def constant(self, F: float) -> dict[str, Any]:
        """Return the `FIELDS` of a constant force."""
        first, pieces = self._add(*_curve_of_line(0.0, 0.0, F))
        return {"curve": first, "pieces": pieces, "damping": 0.0, "callback": -1, "damping_curve": 0, "damping_pieces": 0}

    def _add(self, origins: Array, coefficients: Array) -> tuple[int, int]:
        first = self._size
        self._parts += [origins, coefficients.ravel()]
        self._size += origins.size + coefficients.size
        return first, origins.size


def _curve_of_line(stiffness: float, rest: float, preload: float) -> tuple[Array, Array]:
    """Return the potential of ``preload + stiffness (x - rest)``, zero where the force is."""
    if stiffness > 0.0:
        rest, preload = rest - preload / stiffness, 0.0
    return np.array([rest]), np.array([[0.0, preload, 0.5 * stiffness, 0.0, 0.0]])


def _curve_of_table(table: Sequence[tuple[float, float]], rest: float) -> tuple[Array, Array]:
    """Return the integral of a monotone cubic (Fritsch and Carlson 1980) with straight ends, zero at `rest`.

    Examples
    --------
    >>> origins, coefficients = _curve_of_table([(-1.0, -3.0), (1.0, 3.0)], 10.0)
    >>> origins.tolist(), coefficients[1].tolist()
    ([9.0, 9.0, 11.0], [1.5, -3.0, 1.5, 0.0, 0.0])
    """
    from scipy.interpolate import PchipInterpolator

    x, y = np.array(table).T
    cubic = PchipInterpolator(x, y)
    slopes = cubic(x[[0, -1]], 1)
    origins = np.concatenate([x[:1], x])
    coefficients = np.zeros((origins.size, WIDTH))
    coefficients[0, 1:3] = y[0], 0.5 * slopes[0]
    coefficients[1:-1] = cubic.antiderivative().c[::-1].T
    coefficients[-1, :3] = cubic.integrate(x[0], x[-1]), y[-1], 0.5 * slopes[1]
    at_rest = _read(np.concatenate([origins, coefficients.ravel()]), 0, origins.size, 0.0)[0]
    coefficients[:, 0] -= at_rest
    return origins + rest, coefficients
