"""Systems of a user's own equations: derivatives, SymPy's own method objects, plain functions, and what is refused."""

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import KanesMethod, LagrangesMethod, Particle, Point, ReferenceFrame, dynamicsymbols

import dalembert as da
from dalembert.lagrange.numeric import derivative

x, y, a, vx, vy, va, t = sp.symbols("x y a vx vy va t")
m, k = sp.symbols("m k")


def everything(**more):
    """A system in which every term is there: M(q), Q(q, v, t), phi(q, t), psi nonlinear in v, C."""
    return da.Mechanics(
        "everything", [x, y, a], [vx, vy, va],
        kinetic_energy=m * (vx**2 + vy**2) / 2 + (1 + x**2) * va**2 / 2 + sp.cos(a) * vx * va / 3,
        potential_energy=k * x**2 * y / 2 + sp.sin(a) * y, force=[sp.sin(t) * vy, -0.3 * vx * y, x * va],
        holonomic=[x**2 + y**2 + sp.sin(a) - (1 + t / 10)], nonholonomic=[vx**2 + x * vy - 0.2 * va + t],
        non_ideal=[-0.1 * vx * sp.Abs(vx), 0, -0.2 * va * y**2],
        parameters={m: 2.0, k: 3.0}, **more,
    )  # fmt: skip


def as_functions(**more):
    """The same as plain functions."""
    system = everything()

    def M(t, q):
        x, _, a = q
        zero = 0 * x
        return np.array([[2.0 + zero, zero, np.cos(a) / 3], [zero, 2.0 + zero, zero], [np.cos(a) / 3, zero, 1 + x**2]])

    def Q(t, q, v):
        (x, y, a), (vx, vy, va) = q, v
        return np.array([
            -3.0 * x * y + x * va**2 + np.sin(a) * va**2 / 3 + np.sin(t) * vy,
            -1.5 * x**2 - np.sin(a) - 0.3 * vx * y,
            -np.cos(a) * y - 2 * x * vx * va + x * va,
        ])  # fmt: skip

    return system, da.Mechanics.from_functions(
        "functions", ["x", "y", "a"], mass=M, force=Q,
        holonomic=lambda t, q: np.array([q[0] ** 2 + q[1] ** 2 + np.sin(q[2]) - (1 + t / 10)]),
        nonholonomic=lambda t, q, v: np.array([v[0] ** 2 + q[0] * v[1] - 0.2 * v[2] + t]),
        non_ideal=lambda t, q, v: np.array([-0.1 * v[0] * abs(v[0].real), 0 * v[0], -0.2 * v[2] * q[1] ** 2]), **more,
    )  # fmt: skip


STATES = [(0.3 * s, *np.random.default_rng(s).standard_normal((2, 3))) for s in range(4)]


@pytest.mark.parametrize("state", STATES)
def test_derivatives_against_differences(state):
    system, (t0, q, v) = everything(), state
    a, lam = np.array([0.4, -0.7, 1.1]), np.array([0.9, -1.3])

    def d(function, at, h=1e-6):
        columns = [(function(at + h * e) - function(at - h * e)) / (2 * h) for e in np.eye(3)]
        return np.array(columns).T

    pull = lambda q, v: system.jacobian(t0, q, v).T @ lam - system.force(t0, q, v)  # noqa: E731
    close = {"rtol": 1e-7, "atol": 2e-8}
    np.testing.assert_allclose(system.stiffness(t0, q, v, lam).toarray(), d(lambda s: pull(s, v), q), **close)
    np.testing.assert_allclose(system.damping(t0, q, v, lam).toarray(), d(lambda s: pull(q, s), v), **close)
    np.testing.assert_allclose(system.inertia_stiffness(t0, q, a).toarray(), d(lambda s: system.mass(t0, s) @ a, q), **close)
    np.testing.assert_allclose(system.jacobian(t0, q, v).toarray()[0], d(lambda s: system.constraint(t0, s), q)[0], **close)
    residual = lambda q, v: system.velocity_residual(t0, q, v)  # noqa: E731
    np.testing.assert_allclose(system.jacobian(t0, q, v).toarray(), d(lambda s: residual(q, s), v), **close)
    np.testing.assert_allclose(system.velocity_stiffness(t0, q, v).toarray(), d(lambda s: residual(s, v), q), **close)


@pytest.mark.parametrize("state", STATES)
def test_the_right_sides_are_time_derivatives_along_the_motion(state):
    """phi' is the velocity residual; (A v' - b'') is the rate of the velocity residual for any v'."""
    system, (t0, q, v) = everything(), state
    a, h = np.array([0.4, -0.7, 1.1]), 1e-5
    ahead, behind = ((t0 + s, q + s * v + s * s * a / 2, v + s * a) for s in (h, -h))
    rate = (system.constraint(*ahead[:2]) - system.constraint(*behind[:2])) / (2 * h)
    assert abs(rate[0] - system.velocity_residual(t0, q, v)[0]) < 1e-8
    rate = (system.velocity_residual(*ahead) - system.velocity_residual(*behind)) / (2 * h)
    ours = system.jacobian(t0, q, v) @ a - system.acceleration_right_side(t0, q, v)
    np.testing.assert_allclose(ours, rate, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("state", STATES)
def test_plain_functions_give_what_expressions_give(state):
    symbolic, plain = as_functions()
    t0, q, v = state
    lam, a = np.array([0.9, -1.3]), np.array([0.4, -0.7, 1.1])
    for ours, theirs in zip(plain.dynamics(t0, q, v), symbolic.dynamics(t0, q, v), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
    for ours, theirs in zip(plain.tangents(t0, q, v, a, lam), symbolic.tangents(t0, q, v, a, lam), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-7)


def test_a_function_that_takes_no_complex_numbers_is_differentiated_by_differences():
    import math

    exact = np.array([[math.cos(0.7), 0.0], [1.3, 0.7]])
    found = derivative(lambda q: np.array([math.sin(q[0]), q[0] * q[1]]), np.array([0.7, 1.3]))
    np.testing.assert_allclose(found, exact, atol=1e-9)


def test_given_derivatives_are_used():
    calls = []

    def jacobian(t, q, v):
        calls.append("A")
        return np.array([[1.0, 0.0]])

    system = da.Mechanics.from_functions(
        "given", ["x", "y"], mass=np.eye(2), force=lambda t, q, v: np.array([1.0, 2.0]), holonomic=lambda t, q: q[:1],
        jacobian=jacobian, acceleration_right_side=lambda t, q, v: np.array([7.0]),
    )  # fmt: skip
    assert da.accelerations(system, 0.0, np.zeros(2), np.zeros(2)).acceleration.tolist() == [7.0, 2.0]
    assert calls


def test_parameters_can_be_changed_without_compiling_anew():
    system = da.Mechanics("spring", [x], [vx], mass=[[m]], force=[-k * x], parameters={m: 2, k: 8}, position=[1.0])
    assert da.accelerations(system, 0.0, system.design.q, system.design.v).acceleration.tolist() == [-4.0]
    system.parameters["k"] = 2.0
    assert da.accelerations(system, 0.0, system.design.q, system.design.v).acceleration.tolist() == [-1.0]


def test_lagranges_method_of_sympy():
    """A pendulum in x, z with its constraint, against the same from expressions."""
    X, Z = dynamicsymbols("X Z")
    T = m * (X.diff() ** 2 + Z.diff() ** 2) / 2
    method = LagrangesMethod(T - m * k * Z, [X, Z], hol_coneqs=[X**2 + Z**2 - 1])
    system = da.Mechanics.from_sympy_mechanics("pendulum", method, parameters={m: 2, k: 9.81}, position=[0.6, -0.8])
    found = da.accelerations(system, 0.0, system.design.q, np.array([0.8, 0.6]))
    np.testing.assert_allclose(found.acceleration, [-0.6 * 1 + 9.81 * -0.6 * 0.8, 0.8 - 9.81 * 0.36], rtol=1e-12)


def test_kanes_method_of_sympy():
    """x'' = -k x / m of a particle on a spring."""
    q, u = dynamicsymbols("q u")
    N = ReferenceFrame("N")
    P = Point("P")
    P.set_vel(N, u * N.x)
    method = KanesMethod(N, [q], [u], kd_eqs=[q.diff() - u])
    method.kanes_equations([Particle("body", P, m)], [(P, -k * q * N.x)])
    system = da.Mechanics.from_sympy_mechanics("spring", method, parameters={m: 2, k: 8}, position=[1.0])
    assert da.accelerations(system, 0.0, system.design.q, system.design.v).acceleration.tolist() == [-4.0]
    assert abs(da.modes(system).eigenvalue.values[0] - 2j) < 1e-12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"coordinates": []}, "no coordinates"),
        ({"coordinates": [x, x], "velocities": [vx, vy]}, "stands twice"),
        ({"velocities": [vx, vy]}, "2 velocities for 1"),
        ({"mass": None}, "inertia is not given"),
        ({"mass": [[1, 0], [0, 1]]}, "mass matrix is"),
        ({"force": [1, 2]}, "force has 2 entries"),
        ({"force": [k * x]}, "unknown symbols: k"),
        ({"holonomic": [object()]}, "is not an expression"),
        ({"lagrangian": vx**2, "mass": None, "kinetic_energy": vx**2}, "both a Lagrangian"),
        ({"position": [1.0, 2.0]}, "give 1 finite numbers: x"),
        ({"position": [np.nan]}, "give 1 finite numbers: x"),
    ],
)
def test_bad_systems_are_refused(arguments, message):
    given = {"coordinates": [x], "velocities": [vx], "mass": [[1]]} | arguments
    with pytest.raises(da.ModelError, match=message):
        da.Mechanics("bad", **given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mass": np.eye(3)}, r"mass matrix is \(3, 3\)"),
        ({"force": lambda t, q, v: np.zeros(3)}, "force has 3 entries"),
        ({"force": lambda t, q: np.zeros(2)}, "'force' failed"),
        ({"holonomic": lambda t, q: q[7]}, "'holonomic' failed"),
    ],
)
def test_bad_functions_are_refused(arguments, message):
    given = {"mass": np.eye(2), "force": lambda t, q, v: np.zeros(2)} | arguments
    with pytest.raises(da.ModelError, match=message):
        da.Mechanics.from_functions("bad", ["x", "y"], **given)


def test_constraints_that_contradict_each_other_are_named():
    system = da.Mechanics("bad", [x], [vx], mass=[[1]], holonomic=[x, 2 * x - t**2])
    with pytest.raises(da.SolveError, match=r"'phi\[0\]', 'phi\[1\]' depend on each other and contradict"):
        da.accelerations(system, 0.0, system.design.q, system.design.v)
