"""Beams in the stiffness of bodies and of mechanisms."""

import numpy as np
import pytest

import dalembert as da

E, G, WIDTH, HEIGHT, LENGTH = 7e10, 7e10 / 2.6, 0.02, 0.01, 1.0


def cantilever(elements):
    model = da.Model("cantilever")
    section = da.section.Rectangle(width=WIDTH, height=HEIGHT, youngs_modulus=E, poisson_ratio=0.3, density=2700)
    model.beam("blade", start=(0, 0, 0), end=(LENGTH, 0, 0), elements=elements, section=section, start_joint="fixed")
    return model


@pytest.mark.parametrize("elements", [1, 8])
@pytest.mark.parametrize(("direction", "inertia"), [((0, 0, 1), WIDTH * HEIGHT**3 / 12), ((0, 1, 0), HEIGHT * WIDTH**3 / 12)])
def test_the_tip_of_a_cantilever(elements, direction, inertia):
    """1/k = L^3/(3 E I) + L/(kappa G A), exact for any number of elements with the locking correction."""
    stiff = da.condensed_stiffness(cantilever(elements), f"blade {elements}", about=f"blade node {elements}")
    compliance = LENGTH**3 / (3 * E * inertia) + LENGTH / (5 / 6 * G * WIDTH * HEIGHT)
    assert stiff.along(direction) == pytest.approx(1 / compliance, rel=1e-8)
    assert stiff.along((1, 0, 0)) == pytest.approx(E * WIDTH * HEIGHT / LENGTH, rel=1e-8)


def test_one_element_beside_its_matrix():
    """Bending of one element from a clamped node: 12 E I/l^3 with shear, about the node at its other end."""
    stiff = da.cartesian_stiffness(cantilever(1), body="blade 1", about="blade node 1")
    inertia, shear = WIDTH * HEIGHT**3 / 12, 5 / 6 * G * WIDTH * HEIGHT
    phi = 12 * E * inertia / (shear * LENGTH**2)
    expected = E * inertia / (1 + phi) * np.array([[12, 6], [6, 4 + phi]])  # z and ry: a tip that rises turns by -ry
    np.testing.assert_allclose(stiff.K4c.values[np.ix_([2, 4], [2, 4])], expected, rtol=1e-7)
