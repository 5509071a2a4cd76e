"""Motion laws against closed forms, against their own differences, and compiled against called."""

import itertools
import math
import pickle
import time

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.interpolate import CubicSpline

from dalembert.elements.expression import derivative, parse_expression, read_expression, scalar_function, switch_points
from dalembert.elements.formula import LAW, evaluate, evaluate_many
from dalembert.elements.law import (
    Constant,
    Expression,
    Function,
    Harmonic,
    Law,
    Polynomial,
    Ramp,
    SmoothStep,
    Speed,
    Spline,
    law_tables,
)
from dalembert.errors import ModelError

TIMES = [0.0, 0.4, 1.0, 1.7, 3.0]
VALUES = [0.2, -0.5, 0.3, 1.1, 0.2]

FORMULAS = {
    "constant": Constant(1.5),
    "ramp": Ramp(slope=-2.0, start_value=0.5, start_time=0.3, end_time=1.9),
    "endless ramp": Ramp(slope=3.0, start_time=-0.5),
    "smooth step": SmoothStep(start_value=-1.0, end_value=2.0, start_time=-0.7, end_time=2.1),
    "polynomial": Polynomial([0.3, -1.0, 0.5, 0.25, -0.05]),
    "harmonic": Harmonic(amplitude=0.7, frequency=0.8, phase=0.4, offset=-0.2),
    "spline": Spline(TIMES, VALUES),
    "natural spline": Spline(TIMES, VALUES, end="natural", outside="extrapolate"),
    "clamped spline": Spline(TIMES, VALUES, end="clamped"),
    "periodic spline": Spline(TIMES, VALUES, end="periodic"),
}
CALLBACKS = {
    "expression": Expression("0.3*sin(2*t)*exp(-t/4) + t**3/(1 + t**2)"),
    "cornered expression": Expression("abs(t - 1) + max(0.5*t, t**2 - 1) + step(t - 2)*(t - 2)**2 + sign(t + 1)"),
    "function": Function(lambda t: math.sin(3.0 * t) + 0.1 * t * t),
    "function with rate": Function(lambda t: math.sin(3.0 * t), lambda t: 3.0 * math.cos(3.0 * t)),
    "kinked function": Function(lambda t: math.cos(t) if t < 1.0 else 2.0 + t * t, breakpoints=[1.0]),
}
SPEEDS = {f"speed of {name}": Speed(law, initial=0.4) for name, law in {**FORMULAS, **CALLBACKS}.items()}
SPEEDS["speed of speed of harmonic"] = Speed(Speed(FORMULAS["harmonic"]))
SPEEDS["speed of speed of periodic spline"] = Speed(Speed(FORMULAS["periodic spline"], initial=1.0))
SPEEDS["speed of speed of expression"] = Speed(Speed(CALLBACKS["expression"]))
LAWS: dict[str, Law] = {**FORMULAS, **CALLBACKS, **SPEEDS}

every_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
times = st.floats(-3.0, 5.0).filter(lambda t: t == 0.0 or abs(t) > 1e-6)  # quad gives up on intervals of 1e-300 s


# where third derivatives jump
KNOTS = {-0.7, 2.1, *(one + shift for one in TIMES for shift in (-3.0, 0.0, 3.0))}


def near_break(law: Law, t: float, distance: float) -> bool:
    return any(abs(t - one) <= distance for one in law.break_points())


# --- every law


@every_law
@settings(deadline=None, max_examples=30)
@given(t=times)
def test_rates_are_the_derivatives(law: Law, t: float) -> None:
    h = 2.0**-10
    if not near_break(law, t, 3.0 * h) and all(abs(t - knot) > 3.0 * h for knot in KNOTS):
        for lower, upper in ((law, law.rate), (law.rate, law.acceleration)):
            values = [lower(t + k * h) for k in (-3, -2, -1, 1, 2, 3)]
            slope = np.dot([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0], values) / (60.0 * h)
            assert slope == pytest.approx(upper(t), rel=1e-7, abs=1e-6)


@every_law
def test_derivatives_jump_at_break_points_only(law: Law) -> None:
    grid = np.linspace(-3.0, 5.0, 4001)  # some knots lie on it, some between
    bounds = [law, law.rate, law.acceleration]
    for order, function in enumerate(bounds):
        values = function(grid)
        jumps = np.abs(np.diff(values))
        usual = np.median(jumps) + 1e-3 * (1.0 + np.abs(bounds[min(order + 1, 2)](grid)).max())
        for k in np.flatnonzero(jumps > 20.0 * usual):
            assert near_break(law, 0.5 * (grid[k] + grid[k + 1]), 2.01e-3)


@every_law
@settings(deadline=None, max_examples=20)
@given(t=times)
def test_compiled_equals_called(law: Law, t: float) -> None:
    table = law_tables([Constant(3.0), Polynomial([1.0, 2.0]), law])
    called = law(t), law.rate(t), law.acceleration(t)
    assert_allclose(evaluate(table, 2, t), called, rtol=1e-14)
    assert evaluate(table, 0, t) == (3.0, 0.0, 0.0)


@every_law
def test_arrays_are_as_scalars(law: Law) -> None:
    grid = np.linspace(-3.0, 5.0, 12).reshape(3, 4)
    for function in (law, law.rate, law.acceleration):
        assert_allclose(function(grid), [[function(float(t)) for t in row] for row in grid], rtol=1e-14)
    assert isinstance(law(1), float)


@every_law
def test_break_points_are_sorted(law: Law) -> None:
    points = law.break_points()
    assert isinstance(points, tuple)
    assert list(points) == sorted(set(points))


@pytest.mark.parametrize("law", FORMULAS.values(), ids=FORMULAS.keys())
def test_laws_survive_pickling(law: Law) -> None:
    law(1.0)
    again = pickle.loads(pickle.dumps(Speed(law)))
    assert again == Speed(law)
    assert again(2.0) == Speed(law)(2.0)
    table = pickle.loads(pickle.dumps(law_tables([law, CALLBACKS["expression"]])))
    assert evaluate(table, 0, 0.5)[0] == law(0.5)


def test_the_table_of_all_laws() -> None:
    table = law_tables(list(LAWS.values()))
    assert table.laws.dtype.fields == LAW.fields
    grid = np.linspace(-2.9, 4.9, 41)
    out = np.empty((41, 3))
    for i, law in enumerate(LAWS.values()):
        evaluate_many(table, i, grid, out)
        assert_allclose(out.T, [law(grid), law.rate(grid), law.acceleration(grid)], rtol=1e-14)
    table.raise_error()


def test_index_minus_one_is_zero() -> None:
    table = law_tables([])
    assert evaluate(table, -1, 2.0) == (0.0, 0.0, 0.0)


# --- closed forms


@settings(deadline=None)
@given(t=times)
def test_ramp(t: float) -> None:
    law = FORMULAS["ramp"]
    assert law(t) == pytest.approx(0.5 - 2.0 * (min(max(t, 0.3), 1.9) - 0.3), rel=1e-14, abs=1e-15)
    assert law.rate(t) == (-2.0 if 0.3 <= t < 1.9 else 0.0)
    assert law.acceleration(t) == 0.0
    assert law.break_points() == (0.3, 1.9)
    assert FORMULAS["endless ramp"].break_points() == (-0.5,)
    assert Speed(law).break_points() == (0.3, 1.9)  # the acceleration jumps


@settings(deadline=None)
@given(t=times)
def test_smooth_step(t: float) -> None:
    s = min(max((t + 0.7) / 2.8, 0.0), 1.0)
    law = FORMULAS["smooth step"]
    assert law(t) == pytest.approx(-1.0 + 3.0 * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5), rel=1e-13, abs=1e-14)
    assert law.rate(t) == pytest.approx(3.0 / 2.8 * 30.0 * s**2 * (1.0 - s) ** 2, rel=1e-12, abs=1e-13)
    assert law.acceleration(t) == pytest.approx(3.0 / 2.8**2 * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s), rel=1e-12, abs=1e-13)
    assert law.break_points() == ()  # only the third derivative jumps


@settings(deadline=None)
@given(t=times)
def test_polynomial(t: float) -> None:
    law = FORMULAS["polynomial"]
    exact = np.polynomial.Polynomial(law.coefficients)
    assert_allclose(
        [law(t), law.rate(t), law.acceleration(t)], [exact(t), exact.deriv()(t), exact.deriv(2)(t)], rtol=1e-13, atol=1e-14
    )


@settings(deadline=None)
@given(t=times)
def test_harmonic(t: float) -> None:
    law = FORMULAS["harmonic"]
    omega = 2.0 * math.pi * 0.8
    angle = omega * t + 0.4
    exact = -0.2 + 0.7 * math.sin(angle), 0.7 * omega * math.cos(angle), -0.7 * omega**2 * math.sin(angle)
    assert_allclose([law(t), law.rate(t), law.acceleration(t)], exact, rtol=1e-14)


@pytest.mark.parametrize("end", ["not-a-knot", "natural", "clamped", "periodic"])
@settings(deadline=None)
@given(t=times)
def test_spline(end: str, t: float) -> None:
    law = Spline(TIMES, VALUES, end=end, outside="extrapolate")
    exact = CubicSpline(TIMES, VALUES, bc_type=end)
    assert_allclose([law(t), law.rate(t), law.acceleration(t)], [exact(t, k) for k in range(3)], rtol=1e-11, atol=1e-11)
    assert law.break_points() == ()


def test_spline_goes_through_its_table_and_holds() -> None:
    law = FORMULAS["spline"]
    assert_allclose(law(np.array(TIMES)), VALUES, rtol=1e-14)
    assert (law(-5.0), law.rate(-5.0), law(9.0)) == (0.2, 0.0, 0.2)
    assert law.break_points() == (0.0, 3.0)
    assert FORMULAS["clamped spline"].rate(-1e-9) == 0.0
    assert abs(FORMULAS["clamped spline"].rate(1e-9)) < 1e-6
    assert Spline([0.0, 1.0], [1.0, 3.0])(0.25) == 1.5


def test_expression_from_text_and_from_sympy() -> None:
    t = sympy.Symbol("t")
    for expression in ("0.3*sin(2*t)", sympy.Rational(3, 10) * sympy.sin(2 * t)):
        law = Expression(expression)
        exact = 0.3 * math.sin(1.4), 0.6 * math.cos(1.4), -1.2 * math.sin(1.4)
        assert_allclose([law(0.7), law.rate(0.7), law.acceleration(0.7)], exact, rtol=1e-14)
    assert Expression(sympy.Abs(t - 2) + sympy.Max(t, 0)).break_points() == (0.0, 2.0)
    assert Expression(sympy.Heaviside(t - 1) * t)(1.0) == 1.0
    assert Expression("abs(sin(t))", breakpoints=[math.pi, 0]).break_points() == (0.0, math.pi)
    assert CALLBACKS["cornered expression"].break_points()[:3] == (-1.0, pytest.approx(0.25 - math.sqrt(17) / 4), 1.0)


@pytest.mark.parametrize("w", [0.5, 1.0, 10.0, 60.0])
def test_function_differences_are_as_accurate_as_stated(w: float) -> None:
    law = Function(lambda t: math.sin(w * t))
    wh = w * 2.0**-10
    for t in np.linspace(0.0, 2.0 / w, 50):
        assert abs(law.rate(t) - w * math.cos(w * t)) <= w * (wh**6 / 140 + 2e-15 / wh)
        assert abs(law.acceleration(t) + w**2 * math.sin(w * t)) <= w**2 * (wh**6 / 560 + 4e-15 / wh**2)


def test_function_differences_stay_between_break_points() -> None:
    law = CALLBACKS["kinked function"]
    for t in (1.0 - 1e-9, 1.0 - 1e-4):
        assert_allclose([law.rate(t), law.acceleration(t)], [-math.sin(t), -math.cos(t)], rtol=1e-6)
    for t in (1.0, 1.0 + 1e-4):
        assert_allclose([law.rate(t), law.acceleration(t)], [2.0 * t, 2.0], rtol=1e-6)
    narrow = Function(lambda t: t * t if 0.0 <= t < 1e-3 else -1.0, breakpoints=[1e-3, 0.0])
    assert narrow.rate(9.99e-4) == pytest.approx(2.0 * 9.99e-4, rel=1e-9)


def test_function_with_all_derivatives_uses_them() -> None:
    law = Function(lambda t: 1.0, lambda t: 2.0, lambda t: 3.0)
    assert (law(0.1), law.rate(0.1), law.acceleration(0.1)) == (1.0, 2.0, 3.0)


# --- speed drives


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")  # quad says that 1e-13 is below its rounding
@pytest.mark.parametrize("name", [*FORMULAS, *CALLBACKS])
@settings(deadline=None, max_examples=20)
@given(t=times)
def test_speed_drive_integrates_its_rate(name: str, t: float) -> None:
    rate, law = LAWS[name], LAWS[f"speed of {name}"]
    low, high = sorted((0.0, t))
    knots = {
        *rate.break_points(),
        *(TIMES if "spline" in name else ()),
        *(one - 3.0 for one in TIMES),
        *(one + 3.0 for one in TIMES),
    }
    edges = [low, *sorted(one for one in knots if low < one < high), high]
    parts = [quad(rate, a, b, epsabs=1e-14, epsrel=1e-13)[0] for a, b in itertools.pairwise(edges)]
    assert law(t) == pytest.approx(0.4 + math.copysign(1.0, t) * sum(parts), rel=1e-12, abs=2e-13)
    assert_allclose([law.rate(t), law.acceleration(t)], [rate(t), rate.rate(t)], rtol=1e-11, atol=1e-12)


@every_law
def test_speed_drive_starts_at_its_initial_value(law: Law) -> None:
    assert Speed(law, initial=2.5)(0.0) == pytest.approx(2.5, abs=1e-15)


@pytest.mark.parametrize("t", [-700.0, -0.3, 0.001, 2.0, 55.5, 1000.0])
def test_speed_drive_closed_forms(t: float) -> None:
    w = 2.0 * math.pi * 0.8
    harmonic = -0.2 * t + 0.7 / w * (math.cos(0.4) - math.cos(w * t + 0.4))
    assert Speed(FORMULAS["harmonic"])(t) == pytest.approx(harmonic, rel=1e-13, abs=1e-14)
    ramp = 0.5 * 1.9 - 1.6**2 + (t - 1.9) * (0.5 - 3.2)
    if t > 1.9:
        assert Speed(FORMULAS["ramp"])(t) == pytest.approx(ramp - 0.0, rel=1e-13)
    absolute = Function(lambda t: 2.0 + math.cos(7.0 * t))
    assert Speed(absolute)(t) == pytest.approx(2.0 * t + math.sin(7.0 * t) / 7.0, rel=1e-12)
    decay = Expression("exp(-0.01*t)")
    assert Speed(decay)(t) == pytest.approx(-100.0 * math.expm1(-0.01 * t), rel=1e-12)


def test_speed_drive_with_break_points_and_an_undeclared_jump() -> None:
    declared = Speed(Expression("abs(t - 0.3) + step(t + 0.7)"))
    assert declared(2.0) == pytest.approx(0.5 * (0.09 + 1.7**2) + 2.0, rel=1e-13)
    assert declared(-1.0) == pytest.approx(-(0.5 * (1.3**2 - 0.09) + 0.7), rel=1e-13)
    assert declared.break_points() == (-0.7, 0.3)
    jump = Speed(Function(lambda t: 1.0 if t < 0.1234 else 2.0))
    assert jump(1.0) == pytest.approx(2.0 - 0.1234, abs=1e-11)


def test_speed_drive_of_a_noisy_rate_ends() -> None:
    noisy = Speed(Function(lambda t: math.sin(1e7 + t)))  # its last digits are rounding
    assert noisy(20.0) == pytest.approx(math.cos(1e7) - math.cos(1e7 + 20.0), abs=1e-8)


def test_speed_drive_of_a_pole_says_so() -> None:
    with pytest.raises(ModelError, match=r"motion law Speed: the rate cannot be integrated near \|t\| = 0"):
        Speed(Function(lambda t: 1.0 / t))(1.0)


def test_speed_of_a_periodic_spline_drifts_for_ever() -> None:
    law = Speed(FORMULAS["periodic spline"])
    per_period = law(3.0)
    assert law(300.7) == pytest.approx(100 * per_period + law(0.7), rel=1e-12)
    assert law(-299.3) == pytest.approx(-100 * per_period + law(0.7), rel=1e-12)


# --- text from strangers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/4 + 2*3 - 2**3", -1.75),
        ("-t**2", -0.49),
        ("+t", 0.7),
        ("sin(t)+cos(t)+tan(t)", math.sin(0.7) + math.cos(0.7) + math.tan(0.7)),
        ("asin(t)+acos(t)+atan(t)+atan2(t, -2)", math.asin(0.7) + math.acos(0.7) + math.atan(0.7) + math.atan2(0.7, -2.0)),
        ("sinh(t)+cosh(t)+tanh(t)", math.sinh(0.7) + math.cosh(0.7) + math.tanh(0.7)),
        ("exp(t) + log(t) + sqrt(t)", math.exp(0.7) + math.log(0.7) + math.sqrt(0.7)),
        ("abs(t-1) + sign(t-1) + 0*t", 0.3 - 1.0),
        ("step(t-0.7) + 10*heaviside(-t) + sign(t - t)", 1.0),
        ("min(t, 2, 0.5) + max(t, 0.1)", 1.2),
        ("pi + e", math.pi + math.e),
        ("0.1 + 0.2", 0.1 + 0.2),
        ("1.2345678901234567e-3", 1.2345678901234567e-3),
        ("  t\t", 0.7),
    ],
)
def test_parser_reads(text: str, value: float) -> None:
    assert scalar_function(parse_expression(text, ["t"]), ["t"])(0.7) == pytest.approx(value, rel=4e-16)


def test_parser_takes_other_symbols() -> None:
    expression = parse_expression("k*x + c*v", ["x", "v", "k", "c"])
    assert scalar_function(expression, ["x", "v", "k", "c"])(1.0, 2.0, 3.0, 4.0) == 11.0
    assert derivative(expression, "v") == sympy.Symbol("c", real=True)
    with pytest.raises(ModelError, match="unknown symbol 'y'"):
        read_expression(sympy.Symbol("y"), ["x"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("__import__('os')", "unknown function '__import__'"),
        ("__import__('os').system('true')", "call is not allowed"),
        ("t.real", "attribute is not allowed"),
        ("().__class__.__bases__", "attribute is not allowed"),
        ("lambda: t", "lambda is not allowed"),
        ("[t for t in 'a']", "listcomp is not allowed"),
        ("(t for t in 'a')", "generatorexp is not allowed"),
        ("t[0]", "subscript is not allowed"),
        ("f'{t}'", "joinedstr is not allowed"),
        ("(t := 1)", "namedexpr is not allowed"),
        ("t if t else 1", "ifexp is not allowed"),
        ("t < 1", "compare is not allowed"),
        ("'a'", "constant is not allowed"),
        ("True", "constant is not allowed"),
        ("1j", "constant is not allowed"),
        ("t; t", "not a formula"),
        ("import os", "not a formula"),
        ("", "not a formula"),
        ("t\0", "not a formula"),
        ("sin", "unknown name 'sin'"),
        ("sin(x=t)", "call is not allowed"),
        ("sin(*t)", "starred is not allowed"),
        ("sin(t, t)", "sin has 2 arguments"),
        ("min(t)", "give 2 to 8"),
        ("eval(t)", "unknown function 'eval'"),
        ("sun(t)", "did you mean 'sin'"),
        ("x + t", "unknown name 'x'"),
        ("t^2", r"write \*\* for a power"),
        ("t // 2", "operator floordiv is not allowed"),
        ("9**9**9**9", "a number is too large"),
        ("t**101", "the exponent 101 is too large"),
        ("(((2*t)**100)**100)**100", "a number is too large"),
        ("exp(1e15*log(2*t))", "a number is too large"),
        ("1e400", "a number is too large"),
        ("1" * 900, "a number is too large"),
        ("1/0", "not defined"),
        ("t/0", "infinite or not real"),
        ("sqrt(-1)", "not defined"),
        ("log(0)", "not defined"),
        ("(-8)**(1/3)", "not defined"),
        ("+".join(["t"] * 600), "characters"),
        ("(" * 300 + "t" + ")" * 300, "not a formula|too many nested"),
        ("-" * 900 + "t", "too many nested"),
        ("sin(" * 25 + "t" + ")" * 25, "too many nested"),
        ("+".join(["t"] * 500), "too many nested"),
        ("*".join(f"sin({k}*t)" for k in range(1, 90)), "the derivative has more than 10000 terms"),
    ],
)
def test_expression_refuses(text: str, problem: str) -> None:
    start = time.perf_counter()
    with pytest.raises(ModelError, match=problem) as caught:
        Expression(text)
    assert time.perf_counter() - start < 10.0
    assert caught.value.element == "motion law Expression"
    assert caught.value.remedy


@pytest.mark.parametrize(
    "text", ["abs(" * 19 + "sin(t)" + ")" * 19, "max(" * 7 + "sin(t)" + ",cos(t*t)*t)" * 7, "sin(" * 20 + "t" + ")" * 20]
)
def test_nested_text_takes_no_time(text: str) -> None:
    start = time.perf_counter()
    assert math.isfinite(Expression(text).acceleration(0.3))
    assert time.perf_counter() - start < 10.0


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="t019.+-*/()e sincoxp,_[]'", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        expression = parse_expression(text, ["t"])
    except ModelError:
        return
    assert expression.free_symbols <= {sympy.Symbol("t", real=True)}


def test_switch_points() -> None:
    assert switch_points(parse_expression("abs((t - 1)*(t - 3)) + min(t, 5)", ["t"]), "t") == pytest.approx((1.0, 3.0, 5.0))
    assert switch_points(parse_expression("abs(t**2 + 1)", ["t"]), "t") == ()
    x = sympy.Symbol("t", real=True)
    assert switch_points(sympy.Piecewise((x, x < 2), (2, True)), "t") == (2.0,)


# --- bad input


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Constant(math.nan), "motion law Constant: value is not finite \\(nan\\)"),
        (lambda: Constant("three"), "motion law Constant: value is not a number"),
        (lambda: Constant([1.0]), "is not a number"),
        (lambda: Constant(1j), "is not a number"),
        (
            lambda: Ramp(slope=1.0, start_time=2.0, end_time=1.0),
            "motion law Ramp: the end time 1.0 s is not after the start time 2.0 s",
        ),
        (lambda: Ramp(slope=1.0, end_time=math.nan), "motion law Ramp: end_time is not finite"),
        (lambda: Ramp(slope=math.inf), "motion law Ramp: slope is not finite"),
        (lambda: SmoothStep(end_value=1.0, end_time=0.0), "motion law SmoothStep: the end time 0.0 s is not after"),
        (lambda: SmoothStep(end_value=1.0, end_time=math.inf), "motion law SmoothStep: end_time is not finite"),
        (lambda: Polynomial([]), "motion law Polynomial: there are no coefficients"),
        (lambda: Polynomial([1.0, math.nan]), r"motion law Polynomial: coefficients\[1\] is not finite"),
        (lambda: Polynomial(3.0), "motion law Polynomial: coefficients is 3.0, which is not a list"),
        (lambda: Harmonic(amplitude=1.0, frequency=0.0), "motion law Harmonic: the frequency is 0.0 Hz; give a positive one"),
        (lambda: Spline([0.0, 1.0], [1.0]), "motion law Spline: 2 times but 1 values"),
        (lambda: Spline([0.0], [1.0]), "motion law Spline: 1 points are not enough"),
        (lambda: Spline([0.0, 1.0, 1.0], [1.0, 2.0, 3.0]), r"motion law Spline: times\[2\] = 1.0 s is not after 1.0 s; sort"),
        (lambda: Spline([0.0, math.nan], [1.0, 2.0]), r"motion law Spline: times\[1\] is not finite"),
        (lambda: Spline([0.0, 1.0], [1.0, 2.0], end="free"), "motion law Spline: end is 'free'; choose one of"),
        (lambda: Spline([0.0, 1.0], [1.0, 2.0], outside="x"), "motion law Spline: outside is 'x'; choose one of"),
        (
            lambda: Spline([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], end="periodic"),
            "motion law Spline: the first value 1.0 is not the last 3.0",
        ),
        (lambda: Expression(3.0), "motion law Expression: 3.0 is neither text nor a SymPy expression"),
        (lambda: Expression(sympy.Symbol("x")), "motion law Expression: unknown symbol 'x' in x; known are 't'"),
        (lambda: Expression(sympy.floor(sympy.Symbol("t"))), "has no derivative that can be written down"),
        (lambda: Expression("t", breakpoints=[math.inf]), r"motion law Expression: breakpoints\[0\] is not finite"),
        (lambda: Function(3.0), "motion law Function: function is 3.0, which is not a function"),
        (lambda: Function(math.sin, 2.0), "motion law Function: rate_function is 2.0, which is not a function"),
        (lambda: Function(math.sin, step=0.0), "motion law Function: the step is 0.0 s"),
        (lambda: Speed(3.0), "motion law Speed: 3.0 is not a motion law"),
        (lambda: Speed(Constant(1.0), initial=math.nan), "motion law Speed: initial is not finite"),
    ],
)
def test_bad_input(make, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make()


def test_nan_time_gives_nan() -> None:
    for law in FORMULAS.values():
        assert math.isnan(law(math.nan))


def failing(t: float) -> float:
    raise RuntimeError("no more data")


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (Function(failing), "function 'failing' failed at t = 0.5 s: RuntimeError: no more data"),
        (Function(lambda t: math.nan), "gave nan at t = 0.5 s"),
        (Expression("1/(t - 0.5)"), r"'1/\(t - 0.5\)' failed at t = 0.5 s: ZeroDivisionError"),
        (Expression("log(t - 1)"), "failed at t = 0.5 s: ValueError"),
        (Speed(Function(failing)), "function 'failing' failed at t = "),
    ],
)
def test_errors_in_user_functions_are_found_again(law: Law, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        law(0.5)
    table = law_tables([Constant(1.0), law], ["joint 'slider'", "joint 'hinge'"])
    assert math.isnan(evaluate(table, 1, 0.5)[0])
    with pytest.raises(ModelError, match=f"joint 'hinge', motion law {'Function|Expression'}.*"):
        table.raise_error()
    table.raise_error()  # told once
    evaluate(table, 1, 0.5)
    with pytest.raises(ModelError, match=message):
        table.raise_error()


def test_an_interrupt_in_a_user_function_stays_one() -> None:
    def interrupted(t: float) -> float:
        raise KeyboardInterrupt

    table = law_tables([Function(interrupted, interrupted, interrupted)])
    evaluate(table, 0, 0.5)
    with pytest.raises(KeyboardInterrupt):
        table.raise_error()
