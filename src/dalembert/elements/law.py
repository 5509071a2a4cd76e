"""Motion laws: scalar functions of time with two derivatives, for drives and loads.

All but expressions and plain functions are a `Formula` (formula.py), the same few numbers for compiled code.

Expressions and plain Python functions are called back from compiled code, 0.1 us and their own time for each of value, rate and
acceleration. Compiling an expression with Numba would save 0.6 to 2 us per evaluation of all three, but takes 0.13 to 0.26 s
per expression and process, which only 200,000 evaluations bring back, and it would hide the errors.

`law_tables` turns laws into arrays, `formula.evaluate` reads them in compiled code.

At a break point, where a derivative jumps, laws return the value from the right.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast

import numpy as np
from numpy.polynomial import polynomial

from dalembert.elements import checks
from dalembert.elements.formula import CALLBACK, LAW, Formula, LawTables
from dalembert.elements.quadrature import Integral
from dalembert.errors import ModelError
from dalembert.kernel.callback import FunctionOfTime
from dalembert.kernel.vec3 import Array

if TYPE_CHECKING:
    import sympy

TimeFunction: TypeAlias = Callable[[float, int], float]
"""``f(t, order)``: value (order 0), rate (1) or acceleration (2)."""

Times = TypeVar("Times", float, Array)


class Law:
    """A scalar function of time with two derivatives. Call it, or its ``rate`` and ``acceleration``, with a time or an array.

    The unit of the value is that of what it drives: m, rad, N, ...
    """

    def __call__(self, t: Times) -> Times:
        """Return the value at t [s]."""
        return self._sample(t, 0)

    def rate(self, t: Times) -> Times:
        """Return the first derivative at t [s]."""
        return self._sample(t, 1)

    def acceleration(self, t: Times) -> Times:
        """Return the second derivative at t [s]."""
        return self._sample(t, 2)

    def break_points(self) -> tuple[float, ...]:
        """Return the times [s], sorted, at which the value, the rate or the acceleration jumps."""
        return self._source.break_points() if isinstance(self._source, Formula) else self._declared_breaks()

    def _make(self) -> Formula | TimeFunction:
        raise NotImplementedError

    def _declared_breaks(self) -> tuple[float, ...]:
        return ()

    @functools.cached_property
    def _source(self) -> Formula | TimeFunction:
        return self._make()

    def _sample(self, t: Times, order: int) -> Times:
        times = np.asarray(t, dtype=np.float64)
        flat = times.ravel()
        source = self._source
        if isinstance(source, Formula):
            values = source.at(flat, order)
        else:
            values = np.array([source(float(one), order) for one in flat], dtype=np.float64)
        return cast(Times, values.reshape(times.shape) if times.ndim else float(values[0]))

    @property
    def _element(self) -> str:
        return f"motion law {type(self).__name__}"

    def _floats(self, *names: str) -> None:
        """Replace fields by finite floats."""
        for name in names:
            self._set(name, checks.number(self._element, name, getattr(self, name)))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {own.name: getattr(self, own.name) for own in fields(cast(Any, self))}


def _finites(element: str, name: str, values: Any) -> tuple[float, ...]:
    """Return a tuple of finite floats."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ModelError(element, f"{name} is {values!r}, which is not a list", "give a list of numbers")
    return tuple(checks.number(element, f"{name}[{k}]", value) for k, value in enumerate(values))


# ---------------------------------------------------------------------------------------------------------------------
# laws that are formulas


@dataclass(frozen=True)
class Constant(Law):
    """A value that never changes.

    Examples
    --------
    >>> Constant(2.5)(10.0)
    2.5
    """

    value: float

    def __post_init__(self) -> None:
        self._floats("value")

    def _make(self) -> Formula:
        return Formula(origins=np.zeros(1), coefficients=np.array([[self.value]]))


@dataclass(frozen=True, kw_only=True)
class Ramp(Law):
    """Constant, then a straight line from the start to the end time, then constant.

    Parameters
    ----------
    slope : float
        Slope of the line [per s].
    start_value : float
        Value up to the start time.
    start_time, end_time : float
        Where the line starts and ends [s]; it need not end.

    Examples
    --------
    >>> law = Ramp(slope=2.0, start_time=1.0, end_time=3.0)
    >>> law(0.5), law(2.0), law(5.0), law.break_points()
    (0.0, 2.0, 4.0, (1.0, 3.0))
    """

    slope: float
    start_value: float = 0.0
    start_time: float = 0.0
    end_time: float = math.inf

    def __post_init__(self) -> None:
        self._floats("slope", "start_value", "start_time")
        if self.end_time != math.inf:
            self._floats("end_time")
        _check_interval(self._element, self.start_time, self.end_time)

    def _make(self) -> Formula:
        line = [[self.start_value, 0.0], [self.start_value, self.slope]]
        if self.end_time == math.inf:
            return Formula(origins=np.full(2, self.start_time), coefficients=np.array(line))
        end_value = self.start_value + self.slope * (self.end_time - self.start_time)
        origins = np.array([self.start_time, self.start_time, self.end_time])
        return Formula(origins=origins, coefficients=np.array([*line, [end_value, 0.0]]))


@dataclass(frozen=True, kw_only=True)
class SmoothStep(Law):
    """From one value to another with two continuous derivatives: ``10 s^3 - 15 s^4 + 6 s^5`` of the way, s from 0 to 1.

    Parameters
    ----------
    end_value, start_value : float
        Values after the end and before the start time.
    end_time, start_time : float
        Where the step ends and starts [s].

    Examples
    --------
    >>> law = SmoothStep(end_value=2.0, end_time=4.0)
    >>> law(-1.0), law(2.0), law(4.0), law.rate(2.0)
    (0.0, 1.0, 2.0, 0.9375)
    """

    end_value: float
    end_time: float
    start_value: float = 0.0
    start_time: float = 0.0

    def __post_init__(self) -> None:
        self._floats("end_value", "end_time", "start_value", "start_time")
        _check_interval(self._element, self.start_time, self.end_time)

    def _make(self) -> Formula:
        coefficients = np.zeros((3, 6))
        coefficients[:, 0] = self.start_value, self.start_value, self.end_value
        s = 1.0 / (self.end_time - self.start_time)
        coefficients[1, 3:] = (self.end_value - self.start_value) * np.array([10.0 * s**3, -15.0 * s**4, 6.0 * s**5])
        return Formula(origins=np.array([self.start_time, self.start_time, self.end_time]), coefficients=coefficients)


def _check_interval(element: str, start: float, end: float) -> None:
    if not end > start:
        raise ModelError(element, f"the end time {end} s is not after the start time {start} s", "exchange them")


@dataclass(frozen=True)
class Polynomial(Law):
    """``c[0] + c[1] t + c[2] t^2 + ...``, for all times.

    Examples
    --------
    >>> law = Polynomial([1.0, 0.0, 3.0])
    >>> law(2.0), law.rate(2.0), law.acceleration(2.0)
    (13.0, 12.0, 6.0)
    """

    coefficients: Sequence[float]

    def __post_init__(self) -> None:
        self._set("coefficients", _finites(self._element, "coefficients", self.coefficients))
        if not self.coefficients:
            raise ModelError(self._element, "there are no coefficients", "give at least one")

    def _make(self) -> Formula:
        return Formula(origins=np.zeros(1), coefficients=np.array([self.coefficients]))


@dataclass(frozen=True, kw_only=True)
class Harmonic(Law):
    """``offset + amplitude sin(2 pi frequency t + phase)``.

    Parameters
    ----------
    amplitude, offset : float
        In the unit of what the law drives.
    frequency : float
        In Hz, positive.
    phase : float
        In rad.

    Examples
    --------
    >>> law = Harmonic(amplitude=2.0, frequency=0.25, offset=1.0)
    >>> law(1.0), law(3.0)
    (3.0, -1.0)
    """

    amplitude: float
    frequency: float
    phase: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        self._floats("amplitude", "frequency", "phase", "offset")
        if self.frequency <= 0.0:
            raise ModelError(self._element, f"the frequency is {self.frequency} Hz", "give a positive one, or use Constant")

    def _make(self) -> Formula:
        return Formula(
            origins=np.zeros(1),
            coefficients=np.array([[self.offset]]),
            amplitude=self.amplitude,
            omega=2.0 * math.pi * self.frequency,
            phase=self.phase,
        )


@dataclass(frozen=True)
class Spline(Law):
    """A cubic spline through a table: two continuous derivatives between its ends (`scipy.interpolate.CubicSpline`).

    Parameters
    ----------
    times : sequence of float
        In s, increasing.
    values : sequence of float
        As many as times.
    end : {"not-a-knot", "natural", "clamped", "periodic"}
        What holds at the first and last time: one cubic through the first and the last three points; second derivative zero;
        rate zero; or the table repeats for ever (its last value must be its first).
    outside : {"hold", "extrapolate"}
        Before the first and after the last time: the first and last value (the rate jumps there, unless the spline is clamped),
        or the first and last cubic go on. Without meaning for a periodic spline.

    Examples
    --------
    >>> law = Spline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])
    >>> law(1.5), law(3.0), law.break_points()
    (2.25, 4.0, (0.0, 2.0))
    """

    times: Sequence[float]
    values: Sequence[float]
    end: Literal["not-a-knot", "natural", "clamped", "periodic"] = "not-a-knot"
    outside: Literal["hold", "extrapolate"] = "hold"

    def __post_init__(self) -> None:
        for name in ("times", "values"):
            self._set(name, _finites(self._element, name, getattr(self, name)))
        if len(self.times) != len(self.values):
            raise ModelError(self._element, f"{len(self.times)} times but {len(self.values)} values", "give as many of each")
        if len(self.times) < 2:
            raise ModelError(self._element, f"{len(self.times)} points are not enough", "give at least two, or use Constant")
        for k, (before, after) in enumerate(zip(self.times, self.times[1:], strict=False)):
            if not after > before:
                raise ModelError(self._element, f"times[{k + 1}] = {after} s is not after {before} s", "sort the table")
        self._check_options()

    def _check_options(self) -> None:
        for name, known in (("end", ("not-a-knot", "natural", "clamped", "periodic")), ("outside", ("hold", "extrapolate"))):
            if getattr(self, name) not in known:
                raise ModelError(self._element, f"{name} is {getattr(self, name)!r}", f"choose one of {', '.join(known)}")
        gap = abs(self.values[-1] - self.values[0])
        if self.end == "periodic" and gap > 1e-12 * max(abs(value) for value in self.values):
            problem = f"the first value {self.values[0]} is not the last {self.values[-1]}"
            raise ModelError(self._element, problem, "end the table with the value it starts with")

    def _make(self) -> Formula:
        from scipy.interpolate import CubicSpline

        times, values = np.array(self.times), np.array(self.values)
        if self.end == "periodic":
            values[-1] = values[0]
        coefficients = CubicSpline(times, values, bc_type=self.end).c[::-1].T
        if self.end == "periodic":
            return Formula(origins=times[:-1], coefficients=coefficients, period=times[-1] - times[0])
        if self.outside == "extrapolate":
            return Formula(origins=times[:-1], coefficients=coefficients)
        first, last = np.zeros((2, 1, 4))
        first[0, 0], last[0, 0] = values[0], values[-1]
        return Formula(origins=np.append(times[0], times), coefficients=np.concatenate([first, coefficients, last]))


# ---------------------------------------------------------------------------------------------------------------------
# laws that are called back


@dataclass(frozen=True)
class Expression(Law):
    """A formula of t as text or as a SymPy expression.

    Parameters
    ----------
    expression : str or sympy.Expr
        What text may contain: see `dalembert.elements.expression.parse_expression`. The only symbol is t [s].
    breakpoints : sequence of float
        Times [s] at which the value, the rate or the acceleration jumps, besides those that are found: the real roots of
        polynomials inside abs, sign, step, min and max.

    Examples
    --------
    >>> law = Expression("0.3*sin(2*t)")
    >>> law(0.0), law.rate(0.0)
    (0.0, 0.6)
    >>> Expression("max(0, t - 1)").break_points()
    (1.0,)
    """

    expression: str | sympy.Expr
    breakpoints: Sequence[float] = ()

    def __post_init__(self) -> None:
        self._set("breakpoints", tuple(sorted(_finites(self._element, "breakpoints", self.breakpoints))))
        self._orders  # noqa: B018  (reads the text now, so that errors show where they were made)

    @functools.cached_property
    def _orders(self) -> list[sympy.Expr]:
        from dalembert.elements.expression import derivative, read_expression

        orders = [read_expression(self.expression, ["t"], element=self._element)]
        for _ in range(2):
            orders.append(derivative(orders[-1], "t", element=self._element))
        return orders

    def _make(self) -> TimeFunction:
        from dalembert.elements.expression import scalar_function

        return _checked_function(self._element, f"'{self.expression}'", [scalar_function(one, ["t"]) for one in self._orders])

    def _declared_breaks(self) -> tuple[float, ...]:
        from dalembert.elements.expression import switch_points

        return tuple(sorted({*self.breakpoints, *switch_points(self._orders[0], "t")}))


@dataclass(frozen=True)
class Function(Law):
    """A Python function of time.

    Parameters
    ----------
    function : callable
        ``function(t) -> float``, t in s.
    rate_function, acceleration_function : callable, optional
        Its derivatives. What is missing is the derivative of the polynomial through seven values at distances ``step``. If the
        function varies like sin(w t), the relative error is (w step)^6 / 140 + 2e-15 / (w step) in the rate and
        (w step)^6 / 560 + 4e-15 / (w step)^2 in the acceleration: 2e-13 and 4e-11 with the default step and w = 10 rad/s. (The
        acceleration from a given rate function has the error of a rate.) Beside break points, which the seven values never
        straddle, the errors are up to a thousand times larger.
    breakpoints : sequence of float
        Times [s] at which the value, the rate or the acceleration jumps.
    step : float
        In s, about a hundredth of the function's time scale; a power of two is taken, so that no time is rounded.

    Examples
    --------
    >>> law = Function(lambda t: t**3)
    >>> round(law.rate(2.0), 9), round(law.acceleration(2.0), 6)
    (12.0, 12.0)
    """

    function: Callable[[float], float]
    rate_function: Callable[[float], float] | None = None
    acceleration_function: Callable[[float], float] | None = None
    breakpoints: Sequence[float] = ()
    step: float = 2.0**-10

    def __post_init__(self) -> None:
        self._set("breakpoints", tuple(sorted(_finites(self._element, "breakpoints", self.breakpoints))))
        self._floats("step")
        if self.step <= 0.0:
            raise ModelError(self._element, f"the step is {self.step} s", "give a positive one")
        for name in ("function", "rate_function", "acceleration_function"):
            given = getattr(self, name)
            if not callable(given) and (given is not None or name == "function"):
                raise ModelError(self._element, f"{name} is {given!r}, which is not a function", "give a function of t")

    def _make(self) -> TimeFunction:
        step = 2.0 ** round(math.log2(self.step))

        def difference(function: Callable[[float], float], order: int) -> Callable[[float], float]:
            return lambda t: _difference(function, t, order, step, self.breakpoints)

        rate = self.rate_function or difference(self.function, 1)
        known = (self.rate_function, 1) if self.rate_function else (self.function, 2)
        acceleration = self.acceleration_function or difference(*known)
        name = getattr(self.function, "__name__", repr(self.function))
        return _checked_function(self._element, f"function '{name}'", [self.function, rate, acceleration])

    def _declared_breaks(self) -> tuple[float, ...]:
        return cast("tuple[float, ...]", self.breakpoints)


def _checked_function(element: str, what: str, orders: Sequence[Callable[[float], float]]) -> TimeFunction:
    """Return the function of time whose failures say where and when; value, rate and acceleration are given."""

    def function(t: float, order: int) -> float:
        try:
            value = float(orders[order](t))
        except Exception as error:
            raise ModelError(element, f"{what} failed at t = {t} s: {type(error).__name__}: {error}") from error
        if not math.isfinite(value):
            raise ModelError(element, f"{what} gave {value} at t = {t} s", "keep the law finite at all times of the run")
        return value

    return function


_FIT = np.linalg.inv(np.vander(np.arange(-3.0, 4.0), increasing=True))  # coefficients of the polynomial through seven values


def _difference(function: Callable[[float], float], t: float, order: int, step: float, breaks: Sequence[float]) -> float:
    """Return a derivative of the polynomial through seven equidistant values between two break points."""
    k = bisect_right(breaks, t)
    low = breaks[k - 1] if k else -math.inf
    high = breaks[k] if k < len(breaks) else math.inf
    step = min(step, (high - low) / 8.0)
    centre = min(max(t, low + 3.0 * step), high - 3.01 * step)  # the right end belongs to the next piece
    weights = _difference_weights((t - centre) / step, order)
    return math.fsum(weight * function(centre + j * step) for j, weight in enumerate(weights, -3)) / step**order


@functools.lru_cache(maxsize=64)
def _difference_weights(x: float, order: int) -> tuple[float, ...]:
    """Return what multiplies the values at -3, -2, ..., 3 in the derivative at x of the polynomial through them."""
    powers = polynomial.polyval(x, polynomial.polyder(np.eye(7), order, axis=0))
    return tuple((powers @ _FIT).tolist())


# ---------------------------------------------------------------------------------------------------------------------
# speed drives


@dataclass(frozen=True)
class Speed(Law):
    """A speed drive: the law whose rate is the given law.

    Its value is the initial value plus the integral from t = 0: a formula again for all laws that are formulas, else
    Gauss-Legendre quadrature between the break points, relative error 1e-12 of the integral of abs(rate) where the rate is
    smooth. Panels are at most one second long and remembered, so that the first call at a late time takes a time proportional
    to it (about 50 evaluations per second of motion). A rate with a pulse shorter than 0.02 s needs break points.

    Parameters
    ----------
    law : Law
        The rate.
    initial : float
        Value at t = 0.

    Examples
    --------
    >>> law = Speed(Polynomial([1.0, 2.0]), initial=5.0)
    >>> law(3.0), law.rate(3.0), law.acceleration(3.0)
    (17.0, 7.0, 2.0)
    """

    law: Law
    initial: float = 0.0

    def __post_init__(self) -> None:
        self._floats("initial")
        if not isinstance(self.law, Law):
            raise ModelError(self._element, f"{self.law!r} is not a motion law", "write for example Speed(Constant(2.0))")

    def _make(self) -> Formula | TimeFunction:
        source = self.law._source
        if isinstance(source, Formula) and source.gain == 0.0:
            return source.integral(self.initial)
        rate = self.law._sample if isinstance(source, Formula) else source
        integral = Integral(lambda t: rate(t, 0), self.law.break_points(), self._element)

        def function(t: float, order: int) -> float:
            return self.initial + integral(t) if order == 0 else rate(t, order - 1)

        return function

    def _declared_breaks(self) -> tuple[float, ...]:
        return self.law.break_points()


# ---------------------------------------------------------------------------------------------------------------------
# the table


@dataclass
class _Keeper:
    """What tables were made of, and the C functions whose addresses they hold."""

    laws: tuple[Law, ...]
    names: tuple[str, ...]
    callbacks: dict[int, FunctionOfTime] = field(default_factory=dict)


def law_tables(laws: Sequence[Law], names: Sequence[str] = ()) -> LawTables:
    """Return motion laws as arrays for compiled code.

    Parameters
    ----------
    laws : sequence of Law
    names : sequence of str, optional
        What each law drives, for error messages: ``"joint 'hinge'"``.

    Examples
    --------
    >>> from dalembert.elements.formula import evaluate
    >>> tables = law_tables([Constant(2.0), Expression("t**2")])
    >>> evaluate(tables, 1, 3.0)
    (9.0, 6.0, 2.0)
    """
    keeper = _Keeper(tuple(laws), tuple(names))
    records: Any = np.zeros(len(laws), LAW).view(np.recarray)
    formulas = [law._source.tables if isinstance(law._source, Formula) else None for law in laws]
    first_knot = first_coefficient = 0
    for i, (law, formula) in enumerate(zip(laws, formulas, strict=True)):
        if formula is not None:
            records[i] = formula.laws[0]
            records["first_knot"][i], records["first_coefficient"][i] = first_knot, first_coefficient
            first_knot += formula.knots.size
            first_coefficient += formula.coefficients.size
        else:
            keeper.callbacks[i] = _callback(cast(TimeFunction, law._source))
            records["kind"][i], records["address"][i] = CALLBACK, keeper.callbacks[i].address
    records.keeper = keeper
    knots = [np.zeros(0), *(formula.knots for formula in formulas if formula)]
    coefficients = [np.zeros(0), *(formula.coefficients for formula in formulas if formula)]
    return LawTables(records, np.concatenate(knots), np.concatenate(coefficients))


def _callback(source: TimeFunction) -> FunctionOfTime:
    """Return a C function that runs a Python function: its errors are kept, and it means what it means in Python."""
    return FunctionOfTime(lambda t, order: source(t, order))  # Numba refuses to compile the call of a Python function
