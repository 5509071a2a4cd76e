"""Half-way between two orientations: eqs. 36 and 37 of Masarati 2011, and their variations against differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from dalembert.kernel.vec3 import load
from dalembert.rotation import midpoint
from dalembert.rotation.quaternion import from_rotation, to_rotation
from random_models import central, random_rotation, relative

SEEDS = st.integers(0, 2**32 - 1)


def half_way(R_1, R_2):
    return R_1 * Rotation.from_rotvec(0.5 * (R_1.inv() * R_2).as_rotvec())


@given(seed=SEEDS)
def test_the_middle_is_that_of_both_forms_of_eq_36(seed):
    """The second form needs exp(-theta/2), which the print lacks."""
    rng = np.random.default_rng(seed)
    R_1, R_2 = random_rotation(rng), random_rotation(rng)
    theta = (R_1.inv() * R_2).as_rotvec()
    ours = to_rotation(midpoint.middle(from_rotation(R_1), from_rotation(R_2)))
    for other in (R_1 * Rotation.from_rotvec(0.5 * theta), R_2 * Rotation.from_rotvec(-0.5 * theta)):
        assert np.allclose(ours.as_matrix(), other.as_matrix(), atol=1e-14)


@pytest.mark.parametrize("angle", [1e-9, 1e-3, 0.4999, 0.5001, 1.5, 3.0])
@given(seed=SEEDS)
def test_variations_of_the_middle_and_of_theta(angle, seed):
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    R_1 = random_rotation(rng)
    R_2 = R_1 * Rotation.from_rotvec(angle * axis / np.linalg.norm(axis))
    R_I, theta = half_way(R_1, R_2), load((R_1.inv() * R_2).as_rotvec())
    a, b = rng.normal(size=(2, 3))  # in the axes of R_I

    def turned(h):
        in_world = [Rotation.from_rotvec(h * R_I.apply(d)) for d in (a, b)]
        return in_world[0] * R_1, in_world[1] * R_2

    sigma, g, _, _ = midpoint.coefficients(float(np.dot(theta, theta)))
    theta_rate = central(lambda h: (turned(h)[0].inv() * turned(h)[1]).as_rotvec(), 1e-2 if angle < 2.9 else 1e-3)
    c = central(lambda h: (R_I.inv() * half_way(*turned(h))).as_rotvec())
    S = np.reshape(midpoint.stretch(theta, sigma), (3, 3))
    assert relative(S @ (b - a), theta_rate) < 1e-8
    assert relative(midpoint.shared(theta, g, load(a), load(b)), c) < 1e-8
    C = np.reshape(midpoint.share(theta, g), (3, 3))
    assert relative(C @ a + C.T @ b, c) < 1e-8


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.4999, 0.5001, 1.5, 3.0])
@given(seed=SEEDS)
def test_second_variations(angle, seed):
    rng = np.random.default_rng(seed)
    axis, u = rng.normal(size=(2, 3))
    theta = angle * axis / np.linalg.norm(axis)

    def image(h, e, linear):
        moved = load(theta + h * e)
        return linear(moved, *midpoint.coefficients(float(np.dot(moved, moved)))[:2])

    sigma, g, sigma_rate, g_rate = midpoint.coefficients(float(theta @ theta))
    forms = {
        "stretch": lambda t, s, _: np.reshape(midpoint.stretch(t, s), (3, 3)) @ u,
        "share": lambda t, _, k: k * np.cross(t, u),
    }
    exact = {
        "stretch": midpoint.stretch_derivative(load(theta), load(u), sigma, sigma_rate),
        "share": midpoint.share_derivative(load(theta), load(u), g, g_rate),
    }
    for name, linear in forms.items():
        differences = np.column_stack([central(lambda h, e=e, linear=linear: image(h, e, linear)) for e in np.eye(3)])
        assert relative(differences, np.reshape(exact[name], (3, 3))) < 1e-8, name
