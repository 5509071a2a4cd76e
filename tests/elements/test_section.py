"""Cross sections against closed forms, tables and numerical integrals."""

import math

import numpy as np
import pytest

import dalembert as da
from dalembert.elements.section import rectangle_torsion_constant
from dalembert.elements.section_law import corrected

STEEL = {"youngs_modulus": 2.1e11, "poisson_ratio": 0.3, "density": 7850.0}


def test_a_rectangle():
    k = da.section.Rectangle(width=0.02, height=0.01, **STEEL).stiffness_matrix.diagonal()
    G = 2.1e11 / 2.6
    expected = [2.1e11 * 2e-4, 5 / 6 * G * 2e-4, 5 / 6 * G * 2e-4, k[3], 2.1e11 * 0.02e-6 / 12, 2.1e11 * 0.01 * 8e-6 / 12]
    assert np.allclose(k, expected, rtol=1e-14)
    assert math.isclose(k[3] / G, 0.229 * 0.02 * 0.01**3, rel_tol=2e-3)  # Timoshenko, Goodier: k1 = 0.229


@pytest.mark.parametrize(("ratio", "factor"), [(1.0, 0.1406), (1.2, 0.166), (1.5, 0.196), (3.0, 0.263), (10.0, 0.312)])
def test_torsion_of_rectangles(ratio, factor):
    """Timoshenko and Goodier, Theory of Elasticity, table of k1: J = k1 (2a)^3 (2b)."""
    assert abs(rectangle_torsion_constant(1.0, ratio) / ratio - factor) < 6e-4


def test_circle_and_tube():
    k = da.section.Circle(diameter=0.02, **STEEL).stiffness_matrix.diagonal()
    full = da.section.Tube(outer_diameter=0.02, **STEEL).stiffness_matrix.diagonal()
    area, moment, G = math.pi * 1e-4, math.pi * 1e-8 / 4, 2.1e11 / 2.6
    shear = 6 / 7 * G * area
    assert np.allclose(k, [2.1e11 * area, shear, shear, 2 * G * moment, 2.1e11 * moment, 2.1e11 * moment], rtol=1e-14)
    assert np.allclose(k, full, rtol=1e-14)
    thin = da.section.Tube(outer_diameter=0.1, inner_diameter=0.1 - 1e-6, **STEEL)
    assert math.isclose(thin.own_shear_factors[0], 0.5, rel_tol=1e-5)
    assert math.isclose(thin.second_moments[0], math.pi * 0.05**3 * 0.5e-6, rel_tol=1e-4)


def test_an_i_section_against_numerical_integrals():
    section = da.section.ISection(width=0.1, height=0.2, web=0.0056, flange=0.0085, **STEEL)
    z = (np.arange(400_000) + 0.5) / 400_000 * 0.2 - 0.1
    width = np.where(np.abs(z) < 0.0915, 0.0056, 0.1)
    dz = 0.2 / z.size
    first = np.cumsum((width * z)[::-1])[::-1] * dz
    I_y = np.sum(width * z**2) * dz
    assert math.isclose(section.area, np.sum(width) * dz, rel_tol=1e-5)
    assert math.isclose(section.second_moments[0], I_y, rel_tol=1e-5)
    assert math.isclose(section.own_shear_factors[1], I_y**2 / (section.area * np.sum(first**2 / width) * dz), rel_tol=1e-5)
    assert math.isclose(section.second_moments[1], 2 * 0.0085 * 0.1**3 / 12 + 0.183 * 0.0056**3 / 12, rel_tol=1e-12)


def test_an_i_section_without_a_web_that_is_a_rectangle():
    material = STEEL | {"poisson_ratio": 0.0}
    one = da.section.ISection(width=0.1, height=0.2, web=0.1, flange=0.03, **material).stiffness_matrix.diagonal()
    other = da.section.Rectangle(width=0.1, height=0.2, **material).stiffness_matrix.diagonal()
    assert np.allclose(np.delete(one, 3), np.delete(other, 3), rtol=1e-12)


def test_the_correction_in_planes_of_symmetry():
    """GA_c = 1/(1/GA + l^2/(12 EI)) in each plane with its own EI; all else stays."""
    section = da.section.Rectangle(width=0.02, height=0.01, damping_time=0.01, **STEEL)
    k, c = corrected(section.stiffness_matrix, section.damping_matrix, np.array([1.0, 0, 0]), 0.3)
    EA, GA_y, GA_z, GJ, EI_y, EI_z = section.stiffness_matrix.diagonal()
    expected = [EA, 1 / (1 / GA_y + 0.09 / 12 / EI_z), 1 / (1 / GA_z + 0.09 / 12 / EI_y), GJ, EI_y, EI_z]
    assert np.allclose(k, np.diag(expected), rtol=1e-12, atol=0.0)
    assert np.allclose(c, 0.01 * np.diag(expected), rtol=1e-12, atol=1e-9)


WRONG = {
    "MPa": ({"youngs_modulus": 73.0}, "youngs_modulus is 73, hardly in SI units; give it in Pa: 2.1e11 for steel"),
    "g/cm3": ({"density": 7.85e6}, "density is 7.85e+06, hardly in SI units"),
    "mm": ({"width": 120.0}, "width is 120, hardly in SI units; give it in m"),
    "Poisson": ({"poisson_ratio": 0.7}, "poisson_ratio is 0.7; it is between -1 and 0.5"),
    "negative": ({"height": -0.01}, "height is -0.01"),
    "factors": ({"shear_factors": (0.8, 1.2)}, "shear_factors are [0.8, 1.2]"),
    "text": ({"height": "thin"}, "height is not a number"),
    "damping": ({"damping_time": -1.0}, "damping time is negative"),
}


@pytest.mark.parametrize("how", WRONG)
def test_what_cannot_be_meant_is_refused(how):
    change, message = WRONG[how]
    with pytest.raises(da.ModelError) as error:
        da.section.Rectangle(**({"width": 0.02, "height": 0.01} | STEEL | change))
    assert message in str(error.value)


MATRICES = {
    "singular": ({"stiffness": (1, 1, 1, 0, 1, 1)}, "the stiffness is zero in some direction"),
    "asymmetric": ({"stiffness": np.eye(6) + np.eye(6, k=1)}, "the stiffness matrix is not symmetric"),
    "negative": ({"stiffness": -np.eye(6)}, "stiffness is negative in some direction"),
    "five": ({"stiffness": np.ones(5)}, "stiffness has shape (5,)"),
    "mass": ({"stiffness": np.ones(6), "mass": -1.0}, "mass is negative"),
    "inertia": ({"stiffness": np.ones(6), "inertia": (1, 1, 3)}, "break the triangle inequality"),
}


@pytest.mark.parametrize("how", MATRICES)
def test_impossible_matrices_are_refused(how):
    arguments, message = MATRICES[how]
    with pytest.raises(da.ModelError) as error:
        da.section.General(**arguments)
    assert message in str(error.value)


def test_walls_have_to_fit():
    with pytest.raises(da.ModelError, match=r"inner_diameter is 0.03; it is from 0 to less than outer_diameter"):
        da.section.Tube(outer_diameter=0.02, inner_diameter=0.03, **STEEL)
    with pytest.raises(da.ModelError, match="web or flanges are thicker than the whole"):
        da.section.ISection(width=0.1, height=0.1, web=0.01, flange=0.05, **STEEL)
