"""What motion laws are for compiled code: arrays, and the one function that reads them.

Constants, ramps, smooth steps, polynomials, splines and harmonics are one thing, a `Formula`:

    value(t) = sum_k c[i, k] (u - origin[i])^k + gain n + amplitude sin(omega t + phase)

where piece i holds u, and n = floor((t - origin[0]) / period), u = t - n period if the formula is periodic (else n = 0, u = t).
The integral of a formula is a formula again, so that a speed drive of such a law is exact. Every other law is called back.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.polynomial import polynomial

from dalembert.errors import ModelError
from dalembert.kernel.callback import call_function_of_time
from dalembert.kernel.compile import compiled
from dalembert.kernel.vec3 import Array

FORMULA = 0
CALLBACK = 1

LAW = np.dtype(
    [
        ("kind", np.intp),  # FORMULA or CALLBACK
        ("first_knot", np.intp),  # of its origins in the table's knots
        ("pieces", np.intp),
        ("first_coefficient", np.intp),  # of its pieces in the table's coefficients
        ("width", np.intp),  # coefficients per piece, ascending powers
        ("address", np.intp),  # of the function of time, for a callback
        ("period", np.float64),  # s, or 0
        ("gain", np.float64),  # added once per period
        ("amplitude", np.float64),
        ("omega", np.float64),  # rad/s
        ("phase", np.float64),  # rad
    ],
    align=True,
)


@compiled
def find_piece(knots: Array, first: int, pieces: int, t: float) -> int:
    """Return the piece i that holds t: the last one with knots[first + i] <= t, or 0."""
    low = 0
    high = pieces
    while high - low > 1:
        middle = (low + high) // 2
        if t >= knots[first + middle]:
            low = middle
        else:
            high = middle
    return low


@compiled
def horner(coefficients: Array, first: int, width: int, x: float) -> tuple[float, float, float]:
    """Return the value and two derivatives of a polynomial, ascending powers."""
    value = 0.0
    rate = 0.0
    half = 0.0
    for k in range(first + width - 1, first - 1, -1):
        half = half * x + rate
        rate = rate * x + value
        value = value * x + coefficients[k]
    return value, rate, 2.0 * half


class LawTables(NamedTuple):
    """Motion laws as arrays for compiled code: what `law_tables` returns.

    The first array also keeps alive what compiled code calls back. A copy in another process is built anew.

    Parameters
    ----------
    laws : recarray of LAW
    knots, coefficients : array
        Of all laws, one after the other.
    """

    laws: Any
    knots: Array
    coefficients: Array

    def raise_error(self) -> None:
        """Raise what the first failing law raised since the last time; compiled code got NaN from it."""
        keeper = self.laws.keeper
        for i, callback in keeper.callbacks.items():
            error, callback.error = callback.error, None
            if isinstance(error, ModelError):
                element = f"{keeper.names[i]}, {error.element}" if keeper.names else error.element
                raise ModelError(element, error.problem, error.remedy) from error
            if error is not None:
                raise error

    def __reduce__(self) -> tuple[Any, ...]:
        from dalembert.elements.law import law_tables

        return law_tables, (self.laws.keeper.laws, self.laws.keeper.names)


@compiled
def evaluate(tables: LawTables, index: int, t: float) -> tuple[float, float, float]:
    """Return value, rate and acceleration of a law at time t [s]; index -1 is the law that is zero."""
    if index < 0:
        return 0.0, 0.0, 0.0
    law = tables.laws[index]
    if law.kind == CALLBACK:
        address = law.address
        return call_function_of_time(address, t, 0), call_function_of_time(address, t, 1), call_function_of_time(address, t, 2)
    cycles = 0.0
    if law.period > 0.0:
        cycles = np.floor((t - tables.knots[law.first_knot]) / law.period)
    u = t - cycles * law.period
    piece = find_piece(tables.knots, law.first_knot, law.pieces, u)
    x = u - tables.knots[law.first_knot + piece]
    value, rate, acceleration = horner(tables.coefficients, law.first_coefficient + piece * law.width, law.width, x)
    value += law.gain * cycles
    if law.amplitude != 0.0:
        angle = law.omega * t + law.phase
        value += law.amplitude * math.sin(angle)
        rate += law.amplitude * law.omega * math.cos(angle)
        acceleration -= law.amplitude * law.omega**2 * math.sin(angle)
    return value, rate, acceleration


@compiled
def evaluate_many(tables: LawTables, index: int, times: Array, out: Array) -> None:
    """Write value, rate and acceleration at each time to the rows of ``out``."""
    for k in range(times.size):
        out[k, 0], out[k, 1], out[k, 2] = evaluate(tables, index, times[k])


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A piecewise polynomial plus a harmonic: see the equation at the head of this module.

    Parameters
    ----------
    origins : array (n,)
        Where each piece starts and has its origin; the first piece also holds all earlier times.
    coefficients : array (n, width)
        Ascending powers, per piece.
    """

    origins: Array
    coefficients: Array
    period: float = 0.0
    gain: float = 0.0
    amplitude: float = 0.0
    omega: float = 0.0
    phase: float = 0.0

    @functools.cached_property
    def tables(self) -> LawTables:
        """The formula as tables of one law."""
        laws = np.zeros(1, LAW)
        laws["pieces"], laws["width"] = self.coefficients.shape
        for name in ("period", "gain", "amplitude", "omega", "phase"):
            laws[name] = getattr(self, name)
        return LawTables(laws.view(np.recarray), np.array(self.origins), np.array(self.coefficients).ravel())

    def at(self, times: Array, order: int) -> Array:
        """Return the value or a derivative at a flat array of times."""
        out = np.empty((times.size, 3))
        evaluate_many(self.tables, 0, times, out)
        return out[:, order]

    def break_points(self) -> tuple[float, ...]:
        """Return the origins at which the value or one of two derivatives jumps by more than rounding."""
        lengths = np.diff(self.origins)
        left, right, size = np.zeros((3, 3, len(lengths)))
        for order in range(3):
            derivatives: Array = np.asarray(polynomial.polyder(self.coefficients, order, axis=1), dtype=np.float64)
            left[order] = _row_values(derivatives[:-1], lengths)
            right[order] = derivatives[1:, 0]
            size[order] = np.maximum(_row_values(abs(derivatives[:-1]), lengths), abs(right[order]))
        jumps = abs(right - left) > 1e-10 * size.max(axis=1, initial=0.0, keepdims=True)
        return tuple(float(t) for t in self.origins[1:][jumps.any(axis=0)])

    def integral(self, initial: float) -> Formula:
        """Return the formula whose rate is this one and whose value at t = 0 is given; ``gain`` must be zero."""
        integrals: Array = np.asarray(polynomial.polyint(self.coefficients, axis=1), dtype=np.float64)
        ends = np.append(self.origins[1:], self.origins[0] + self.period)
        grown = np.cumsum(_row_values(integrals, ends - self.origins))
        integrals[1:, 0] = grown[:-1]
        result = Formula(
            origins=self.origins,
            coefficients=integrals,
            period=self.period,
            gain=float(grown[-1]) if self.period > 0.0 else 0.0,
            amplitude=self.amplitude / self.omega if self.amplitude else 0.0,
            omega=self.omega,
            phase=self.phase - 0.5 * math.pi,
        )
        integrals[:, 0] += initial - result.at(np.zeros(1), 0)[0]
        result.__dict__.pop("tables")  # they hold the old coefficients
        return result


def _row_values(rows: Array, x: Array) -> Array:
    """Return the value of the polynomial in each row at its own x."""
    return cast(Array, (rows * x[:, None] ** np.arange(rows.shape[1])).sum(axis=1))
