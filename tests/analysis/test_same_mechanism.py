"""One mechanism twice, as bodies and joints and as expressions: the same motion, rest and modes."""

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.kernel.compile import JIT_DISABLED

G, CART, BOB, INERTIA, ARM, STIFFNESS, DAMPING = 9.81, 3.0, 1.2, 0.05, 0.7, 90.0, 1.5


def bodies(angle=0.9):
    model = da.Model("pendulum on a cart", gravity=(0, 0, -G))
    model.body("cart", mass=CART, inertia=(1, 1, 1))
    place = (ARM * np.sin(angle), 0, -ARM * np.cos(angle))
    model.body("bob", mass=BOB, inertia=(1, INERTIA, 1), position=place)
    model.prismatic("rail", model.ground, "cart", axis=(1, 0, 0))
    model.revolute("hinge", "cart", "bob", at=(0, 0, 0), axis=(0, 1, 0))
    model.torsion_spring("spring", "rail", coordinate="distance", stiffness=STIFFNESS, damping=DAMPING, free=0.0)
    return model


def expressions(angle=0.9):
    """The angle grows from -z to +x."""
    x, a, vx, va = sp.symbols("x a vx va")
    bob = sp.Matrix([x + ARM * sp.sin(a), -ARM * sp.cos(a)])
    rate = bob.jacobian([x, a]) * sp.Matrix([vx, va])
    return da.Mechanics(
        "pendulum on a cart", [x, a], [vx, va],
        kinetic_energy=CART * vx**2 / 2 + BOB * rate.dot(rate) / 2 + INERTIA * va**2 / 2,
        potential_energy=BOB * G * bob[1] + STIFFNESS * x**2 / 2, force=[-DAMPING * vx, 0], position=[0, angle],
    )  # fmt: skip


@pytest.mark.skipif(JIT_DISABLED, reason="takes long as plain Python")
def test_the_same_motion():
    tight = {"duration": 2.0, "output_step": 0.1, "method": "dopri5", "rtol": 1e-10, "atol": 1e-10}
    one, other = da.simulate(bodies(), **tight), da.simulate(expressions(), **tight)
    x, a = other.position.values.T
    np.testing.assert_allclose(one.position.sel(body="cart", axis="x"), x, atol=1e-8)
    np.testing.assert_allclose(one.position.sel(body="bob", axis="x"), x + ARM * np.sin(a), atol=1e-8)
    np.testing.assert_allclose(one.position.sel(body="bob", axis="z"), -ARM * np.cos(a), atol=1e-8)
    np.testing.assert_allclose(one.kinetic_energy, other.kinetic_energy, atol=1e-7)


def test_the_same_rest_and_modes():
    for make in (bodies, expressions):
        assert da.equilibrium(make(0.5)).stable
    one, other = (da.modes(make(0.5), None).eigenvalue.values for make in (bodies, expressions))
    np.testing.assert_allclose(one, other, rtol=1e-9)
    up = [da.modes(make(np.pi - 0.2), None).eigenvalue.values for make in (bodies, expressions)]
    np.testing.assert_allclose(*up, rtol=1e-9)
    assert up[0].real.max() > 1.0


def test_the_same_frequency_response():
    hertz = np.array([0.3, 0.8, 2.0])
    found = [
        da.frequency_response(da.linearize(make(0.5), inputs=[name], outputs=[place]), hertz).response.values.ravel()
        for make, name, place in ((bodies, "cart.Fx", "cart.x"), (expressions, "x", "x"))
    ]
    np.testing.assert_allclose(*found, rtol=1e-9)


def test_redundant_rows_and_a_massless_coordinate_do_no_harm_to_the_modes():
    """A mass between two springs, its place also as a coordinate without inertia, tied twice."""
    x, y, vx, vy = sp.symbols("x y vx vy")
    system = da.Mechanics(
        "oscillator", [x, y], [vx, vy], mass=sp.diag(2, 0), potential_energy=None, force=[-8 * x, -24 * y],
        holonomic=[x - y, 2 * x - 2 * y],
    )  # fmt: skip
    np.testing.assert_allclose(da.modes(system, None).eigenvalue.values, [4j], rtol=1e-10)
