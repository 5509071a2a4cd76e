"""Constraints on somebody's ODE, for the solvers of SciPy (Masarati 2011, sections 3.4 and 3.5)."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.kernel.compile import JIT_DISABLED

long = pytest.mark.skipif(JIT_DISABLED, reason="takes long as plain Python")

# --- a motor, its current, and a slider, tied by a rod -------------------------------------------------------------------

CRANK, ROD, INERTIA, SLIDER = 0.1, 0.3, 2e-3, 0.4
VOLTAGE, RESISTANCE, INDUCTANCE, CONSTANT, FRICTION = 24.0, 1.2, 5e-3, 0.35, 3.0
PLACES = {"position": [0, 1], "velocity": [2, 3]}


def place(angle):
    return CRANK * np.cos(angle) + np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2)


START = np.array([0.5, place(0.5), 0.0, 0.0, 0.0])


def rates(t, y):
    _, _, spin, speed, current = y
    charging = (VOLTAGE - RESISTANCE * current - CONSTANT * spin) / INDUCTANCE
    return np.array([spin, speed, CONSTANT * current / INERTIA, -FRICTION * speed / SLIDER, charging])


def residual(y, rate, t):
    """The same as an implicit problem (18): a balance of momentum in the place of each rate, the circuit in volts."""
    _, _, spin, speed, current = y
    return np.array([
        rate[0] - spin, rate[1] - speed, INERTIA * rate[2] - CONSTANT * current, SLIDER * rate[3] + FRICTION * speed,
        INDUCTANCE * rate[4] + RESISTANCE * current + CONSTANT * spin - VOLTAGE,
    ])  # fmt: skip


def rod(t, x):
    return np.sqrt((x[1] - CRANK * np.cos(x[0])) ** 2 + (CRANK * np.sin(x[0])) ** 2) - ROD


def exact(times):
    """The crank angle by the one equation that is left: (J + m s'^2) a'' = k i - m s' s'' a'^2 - c s'^2 a', s = place(a)."""

    def minimal(t, y):
        angle, spin, current = y
        h = 1e-4
        first = (place(angle + h) - place(angle - h)) / (2 * h)
        second = (place(angle + h) - 2 * place(angle) + place(angle - h)) / h**2
        force = CONSTANT * current - SLIDER * first * second * spin**2 - FRICTION * first**2 * spin
        charging = (VOLTAGE - RESISTANCE * current - CONSTANT * spin) / INDUCTANCE
        return [spin, force / (INERTIA + SLIDER * first**2), charging]

    return solve_ivp(minimal, (0, times[-1]), [0.5, 0.0, 0.0], method="DOP853", t_eval=times, rtol=1e-10, atol=1e-11).y


TIMES = np.linspace(0.0, 0.2, 5)


@long
@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"])
def test_every_solver_of_scipy_stays_on_the_constraint(method):
    ode = da.constrain(rates, **PLACES, mass=[INERTIA, SLIDER], constraint=rod)
    tighter = 0.01 if method == "DOP853" else 1.0  # its steps are so long that the output between them counts
    run = ode.solve((0, 0.2), START, method=method, t_eval=TIMES, rtol=1e-7 * tighter, atol=1e-9 * tighter)
    angle, _, current = exact(TIMES)
    loose = 10 if method in ("RK23", "BDF", "LSODA") else 1
    np.testing.assert_allclose(run.y[0], angle, atol=3e-5 * loose)
    np.testing.assert_allclose(run.y[4], current, atol=2e-4 * loose)
    for t, y in zip(run.t, run.y.T, strict=True):
        position, velocity = ode.violation(t, y)
        assert position < 1e-12
        assert velocity < 1e-11


@long
@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF"])
def test_the_state_is_projected_between_steps_and_drifts_without(method):
    given = {**PLACES, "mass": [INERTIA, SLIDER], "constraint": rod}
    gaps = []
    for projections in (True, False):
        ode = da.constrain(rates, **given, projections=projections)
        run = solve_ivp(ode, (0, 0.2), START, method=ode.method(method), rtol=1e-5, atol=1e-7)
        gaps.append(max(ode.violation(t, y)[0] for t, y in zip(run.t, run.y.T, strict=True)))
    assert gaps[0] < 1e-12
    assert gaps[1] > 1e-9


def test_the_implicit_form_gives_the_same_rates():
    explicit = da.constrain(rates, **PLACES, mass=[INERTIA, SLIDER], constraint=rod)
    implicit = da.constrain(residual=residual, **PLACES, constraint=rod)
    y = np.array([0.7, place(0.7), 3.0, 1.0, 2.0])
    np.testing.assert_allclose(implicit(0.1, y), explicit(0.1, y), rtol=1e-10)
    np.testing.assert_allclose(implicit.multipliers(0.1, y), explicit.multipliers(0.1, y), rtol=1e-10)


def test_other_states_and_their_rates_are_left_alone():
    ode = da.constrain(rates, **PLACES, mass=[INERTIA, SLIDER], constraint=rod)
    y = ode.project(0.0, [0.7, 0.5, 3.0, 1.0, 2.0])
    assert y[4] == 2.0
    assert ode(0.0, y)[4] == rates(0.0, y)[4]


# --- constraints of other kinds -----------------------------------------------------------------------------------------


def free(t, y):
    return np.array([y[2], y[3], 0.0, -9.81])


PLANE = {"position": slice(0, 2), "velocity": slice(2, 4)}


@long
def test_a_rheonomic_constraint():
    """A bead on a wire that turns at a constant rate, no gravity: r = r0 cosh(w t)."""
    w = 1.5
    straight = lambda t, x: x[1] * np.cos(w * t) - x[0] * np.sin(w * t)  # noqa: E731
    ode = da.constrain(lambda t, y: np.array([y[2], y[3], 0.0, 0.0]), **PLANE, mass=np.eye(2), constraint=straight)
    run = ode.solve((0, 1), [1.0, 0.0, 0.0, w], rtol=1e-10, atol=1e-10)
    assert abs(np.hypot(*run.y[:2, -1]) - np.cosh(w)) < 1e-8
    assert abs(run.multipliers[0, -1]) == pytest.approx(2 * w**2 * np.sinh(w), rel=1e-7)  # Coriolis: 2 m w r'


@long
def test_a_nonholonomic_constraint():
    """The skate on an incline: x = c sin(wt)^2 with c = g sin(slope)/(2 w^2)."""
    slope, w = 0.3, 2.0
    pull = 9.81 * np.sin(slope)
    ode = da.constrain(
        lambda t, y: np.array([*y[3:], pull, 0.0, 0.0]), position=slice(0, 3), velocity=slice(3, 6), mass=[2.0, 2.0, 0.7],
        nonholonomic=lambda t, q, v: v[0] * np.sin(q[2]) - v[1] * np.cos(q[2]),
    )  # fmt: skip
    run = ode.solve((0, 1), [0, 0, 0, 0, 0, w], t_eval=TIMES, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(run.y[0], pull / (2 * w**2) * np.sin(w * TIMES) ** 2, atol=1e-8)


def test_redundant_rows_and_any_metric():
    """Both rows say the same; W decides which of the points on the circle is nearest."""
    rows = lambda t, x: np.array([x[0] ** 2 + x[1] ** 2 - 1.0, 2.0 * (x[0] ** 2 + x[1] ** 2 - 1.0)])  # noqa: E731
    near = {}
    for weights in ("identity", np.array([100.0, 1.0])):
        ode = da.constrain(free, **PLANE, mass=np.eye(2), constraint=rows, weights=weights)
        y = ode.project(0.0, [0.9, 0.9, 1.0, 0.0])
        assert abs(np.hypot(*y[:2]) - 1.0) < 1e-12
        assert abs(y[:2] @ y[2:]) < 1e-12
        near[str(weights)[0]] = y
    np.testing.assert_allclose(near["i"][:2], [np.sqrt(0.5)] * 2, atol=1e-12)
    assert near["["][0] > 0.8  # x is dear: it changes little


def test_ritz_forms_meet_what_they_can_and_the_rest_by_least_squares():
    """Three coupled points, two forms: (23) to (26) by hand, with A X of less rank than rows."""
    rng = np.random.default_rng(2)
    X, A, M = rng.standard_normal((3, 2)), np.diag([1.0, 2.0, 1.0]), np.diag([1.0, 2.0, 3.0])
    target = np.array([0.3, -0.2, 0.5])
    ode = da.constrain(
        lambda t, y: np.array([y[2], y[3], 0.4, -0.7]), **PLANE, mass=M, forms=X, weights="identity",
        constraint=lambda t, x: A @ x - target,
    )  # fmt: skip
    y = ode.project(0.0, [0.1, 0.2, 0.3, 0.4])
    best = np.linalg.lstsq(A @ X, target, rcond=None)[0]
    np.testing.assert_allclose(y[:2], best, atol=1e-10)
    np.testing.assert_allclose(y[2:], 0.0, atol=1e-12)
    AX, reduced = A @ X, X.T @ M @ X
    response = np.linalg.solve(reduced, AX.T)
    a = np.array([0.4, -0.7])
    expected = a - response @ np.linalg.pinv(AX @ response) @ (AX @ a)
    np.testing.assert_allclose(ode(0.0, y)[2:], expected, atol=1e-10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"constraint": None}, "no constraint is given"),
        ({"mass": None}, "mass matrix is not given"),
        ({"rhs": None}, "not given, or twice"),
        ({"weights": "masses"}, "did you mean 'mass'"),
        ({"forms": np.eye(3)}, "3 forms for 2 coordinates"),
        ({"velocity": [2]}, "differ in number"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    given = {"rhs": free, **PLANE, "mass": np.eye(2), "constraint": lambda t, x: x[0]} | arguments
    with pytest.raises(da.ModelError, match=message):
        da.constrain(given.pop("rhs"), **given).project(0.0, np.zeros(4))


def test_what_cannot_be_met_or_solved_is_said():
    with pytest.raises(da.SolveError, match=r"cannot be met at t = 0.*phi stays at"):
        da.constrain(free, **PLANE, mass=np.eye(2), constraint=lambda t, x: x[0] ** 2 + 1.0).project(0.0, np.ones(4))
    singular = da.constrain(
        residual=lambda y, rate, t: rate * np.array([1.0, 1.0, 1.0, 0.0]), **PLANE, constraint=lambda t, x: x[0]
    )
    with pytest.raises(da.SolveError, match="dg/dy' is singular"):
        singular(0.0, np.zeros(4))
    with pytest.raises(da.ModelError, match="did you mean 'RK45'"):
        da.constrain(free, **PLANE, mass=np.eye(2), constraint=lambda t, x: x[0]).method("RK46")
