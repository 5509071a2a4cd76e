"""Systems from expressions against closed forms and against minimal coordinates integrated by SciPy."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.kernel.compile import JIT_DISABLED

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="takes long as plain Python")

G = 9.81
TIGHT = {"rtol": 1e-11, "atol": 1e-11}
METHODS = [{"method": "dopri5", **TIGHT}, {"method": "generalized_alpha", "step": 5e-5}]
TIMES = np.linspace(0.0, 1.0, 11)


def minimal(L, angles, rates, start):
    """Positions in minimal coordinates by Lagrange's equations of the second kind, at `TIMES`."""
    t = sp.Symbol("t")
    momentum = sp.Matrix([L]).jacobian(rates).T
    M = momentum.jacobian(rates)
    Q = sp.Matrix([L]).jacobian(angles).T - momentum.jacobian(angles) * sp.Matrix(rates) - momentum.diff(t)
    solve = sp.lambdify((t, *angles, *rates), (M, Q), "numpy")

    def ode(s, y):
        mass, force = solve(s, *y)
        return np.concatenate([y[len(angles) :], np.linalg.solve(mass, force).ravel()])

    return solve_ivp(ode, (0, TIMES[-1]), start, method="DOP853", t_eval=TIMES, rtol=1e-12, atol=1e-12).y[: len(angles)]


def test_a_double_pendulum_in_cartesian_coordinates():
    x1, z1, x2, z2, *v = sp.symbols("x1 z1 x2 z2 v1:5")
    m1, m2, l1, l2 = 1.5, 0.8, 1.0, 0.6
    a, b, va, vb = sp.symbols("a b va vb")
    p1 = sp.Matrix([l1 * sp.sin(a), -l1 * sp.cos(a)])
    p2 = p1 + sp.Matrix([l2 * sp.sin(b), -l2 * sp.cos(b)])
    rates = [p.jacobian([a, b]) * sp.Matrix([va, vb]) for p in (p1, p2)]
    T = m1 * rates[0].dot(rates[0]) / 2 + m2 * rates[1].dot(rates[1]) / 2
    start = [1.2, -0.4, 0.5, 2.0]
    angles = minimal(T - G * (m1 * p1[1] + m2 * p2[1]), [a, b], [va, vb], start)
    places = sp.lambdify((a, b), list(p1) + list(p2))
    at, speeds = dict(zip((a, b, va, vb), start, strict=True)), list(rates[0]) + list(rates[1])
    system = da.Mechanics(
        "double pendulum", [x1, z1, x2, z2], v,
        kinetic_energy=m1 * (v[0] ** 2 + v[1] ** 2) / 2 + m2 * (v[2] ** 2 + v[3] ** 2) / 2,
        potential_energy=G * (m1 * z1 + m2 * z2),
        holonomic=[x1**2 + z1**2 - l1**2, (x2 - x1) ** 2 + (z2 - z1) ** 2 - l2**2],
        position=places(*start[:2]), velocity=[float(one.subs(at)) for one in speeds],
    )  # fmt: skip
    run = da.simulate(system, duration=1.0, output_step=0.1, **METHODS[0])
    np.testing.assert_allclose(run.position.values, np.array(places(*angles)).T, atol=1e-8)
    energy = (run.kinetic_energy + run.potential_energy).values
    assert np.ptp(energy) < 1e-8


def test_a_spherical_pendulum_whose_support_moves():
    x, y, z, vx, vy, vz, t = sp.symbols("x y z vx vy vz t")
    length, mass = 0.9, 1.3
    support = sp.Matrix([0.2 * sp.sin(3 * t), 0.1 * sp.cos(2 * t) - 0.1, 0.05 * t**2])
    a, b, va, vb = sp.symbols("a b va vb")  # no singularity near the lower position
    place = support + length * sp.Matrix([sp.sin(a), sp.cos(a) * sp.sin(b), -sp.cos(a) * sp.cos(b)])
    rate = place.jacobian([a, b]) * sp.Matrix([va, vb]) + place.diff(t)
    start = [0.5, 0.3, -0.4, 0.9]
    angles = minimal(mass * rate.dot(rate) / 2 - mass * G * place[2], [a, b], [va, vb], start)
    exact = sp.lambdify((t, a, b), list(place))(TIMES, *angles)
    first = dict(zip((t, a, b, va, vb), [0.0, *start], strict=True))
    gap = sp.Matrix([x, y, z]) - support
    system = da.Mechanics(
        "spherical pendulum", [x, y, z], [vx, vy, vz],
        mass=mass * sp.eye(3), force=[0, 0, -mass * G], holonomic=[(gap.dot(gap) - length**2) / (2 * length)],
        position=[float(one.subs(first)) for one in place], velocity=[float(one.subs(first)) for one in rate],
    )  # fmt: skip
    run = da.simulate(system, duration=1.0, output_step=0.1, **METHODS[0])
    np.testing.assert_allclose(run.position.values, np.array(exact).T, atol=1e-8)


def skate(slope=0.3, spin=2.0):
    x, y, a, vx, vy, va = sp.symbols("x y a vx vy va")
    return da.Mechanics(
        "skate", [x, y, a], [vx, vy, va], mass=sp.diag(2, 2, 0.7), force=[2 * G * np.sin(slope), 0, 0],
        nonholonomic=[vx * sp.sin(a) - vy * sp.cos(a)], velocity=[0, 0, spin],
    )  # fmt: skip


@pytest.mark.parametrize("control", METHODS)
def test_a_skate_on_an_incline_does_not_go_down(control):
    """x = c sin(wt)^2, y = c (wt - sin(2wt)/2) with c = g sin(slope)/(2 w^2) (Neimark and Fufaev, Nonholonomic Systems)."""
    slope, w = 0.3, 2.0
    run = da.simulate(skate(slope, w), duration=1.0, output_step=0.1, **control)
    c = G * np.sin(slope) / (2 * w**2)
    exact = np.column_stack([c * np.sin(w * TIMES) ** 2, c * (w * TIMES - np.sin(2 * w * TIMES) / 2), w * TIMES])
    np.testing.assert_allclose(run.position.values, exact, atol=1e-8)
    assert run.constraint_violation.max() < 1e-11


@pytest.mark.parametrize("control", METHODS)
def test_appells_constraint_is_nonlinear_in_the_velocities(control):
    """vx^2 + vy^2 = a^2 vz^2 (Appell 1911): the direction stays, vz' = -g/(1 + a^2)."""
    x, y, z, vx, vy, vz = sp.symbols("x y z vx vy vz")
    a, u0, direction = 0.7, 2.0, 0.4
    system = da.Mechanics(
        "Appell", [x, y, z], [vx, vy, vz], mass=1.8 * sp.eye(3), force=[0, 0, -1.8 * G],
        nonholonomic=[vx**2 + vy**2 - a**2 * vz**2], velocity=[a * u0 * np.cos(direction), a * u0 * np.sin(direction), u0],
    )  # fmt: skip
    run = da.simulate(system, duration=0.2, output_step=0.02, **control)  # vz, and with it A, vanishes at 0.3 s
    t = run.time.values
    z = u0 * t - G * t**2 / (2 * (1 + a**2))
    np.testing.assert_allclose(
        run.position.values, np.column_stack([a * np.cos(direction) * z, a * np.sin(direction) * z, z]), atol=1e-8
    )


def test_steady_motion_of_a_skate_is_neutral_and_decays_with_its_centre_behind():
    """Chaplygin's sleigh, its centre of mass a distance l ahead of the edge, runs straight at v: the turning decays with

    I_c th'' + ... : (I + m l^2) w' = -m l v w, that is s = -m l v/(I + m l^2), the other eigenvalues are zero.
    """
    x, y, a, vx, vy, va = sp.symbols("x y a vx vy va")
    m, inertia, ahead, speed = 2.0, 0.7, 0.4, 1.5
    cx, cy = vx - ahead * sp.sin(a) * va, vy + ahead * sp.cos(a) * va
    sleigh = da.Mechanics(
        "sleigh", [x, y, a], [vx, vy, va], kinetic_energy=m * (cx**2 + cy**2) / 2 + inertia * va**2 / 2,
        nonholonomic=[vx * sp.sin(a) - vy * sp.cos(a)], velocity=[speed, 0, 0],
    )  # fmt: skip
    found = da.modes(sleigh, None, at="design").eigenvalue.values
    moving = found[np.abs(found) > 1e-9]
    np.testing.assert_allclose(moving, [-m * ahead * speed / (inertia + m * ahead**2)], rtol=1e-10)
