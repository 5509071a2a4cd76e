"""Rotation vectors against 60 digits (mpmath), SciPy and finite differences."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from dalembert.rotation import so3

DIGITS = 60
TINY = [0.0, 1e-300, 1e-160, 1e-20, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2]
SWITCHES = [x * (1.0 + off) for x in (0.1, 0.5, 1.0) for off in (-1e-3, -1e-12, 0.0, 1e-12, 1e-3)]  # from series to closed form
USUAL = [0.2, 0.3, 0.7, 1.5, 2.0, 2.5, 3.0]
NEAR_PI = [math.pi - 1e-3, math.pi - 1e-6, math.pi - 1e-9, math.pi - 1e-12]
BEYOND = [math.pi, math.pi + 1e-9, 4.0, 5.0, 6.0]
UP_TO_PI = [*TINY, *SWITCHES, *USUAL, *NEAR_PI]
DIRECTIONS = np.array(
    [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.6, 0.0, -0.8], [2.0, -6.0, 3.0], [-1.0, 1.0, 1.0]]
)

vector = st.tuples(*[st.floats(-1.7, 1.7)] * 3)


def rotation_vectors(magnitude):
    return [tuple(float(c) for c in magnitude * n / np.linalg.norm(n)) for n in DIRECTIONS]


def matrix(entries):
    return np.reshape(entries, (3, 3))


def tilde(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def exact_tilde(theta):
    x, y, z = (mpmath.mpf(c) for c in theta)
    return mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def power_series(theta, coefficient):
    """Return sum_k coefficient(k) tilde(theta)^k in 60 digits: definitions, no closed form."""
    with mpmath.workdps(DIGITS):
        K = exact_tilde(theta)
        term, total, k = mpmath.eye(3), mpmath.zeros(3), 0
        while k < 3 or mpmath.mnorm(term) * abs(coefficient(k)) > mpmath.mpf(10) ** -DIGITS:
            total += coefficient(k) * term
            term *= K
            k += 1
        return total


def exact_exponential(theta):
    return power_series(theta, lambda k: 1 / mpmath.factorial(k))


def exact_tangent(theta):
    return power_series(theta, lambda k: (-1) ** k / mpmath.factorial(k + 1))


def exact_tangent_inverse(theta):
    with mpmath.workdps(DIGITS):
        return exact_tangent(theta) ** -1


def error(found, exact):
    with mpmath.workdps(DIGITS):
        return max(abs(float(found[3 * i + j] - exact[i, j])) for i in range(3) for j in range(3))


def rounded(exact):
    return tuple(float(exact[i, j]) for i in range(3) for j in range(3))


@pytest.mark.parametrize("magnitude", [*UP_TO_PI, *BEYOND, 20.0])
def test_exponential(magnitude):
    for theta in rotation_vectors(magnitude):
        assert error(so3.exponential(theta), exact_exponential(theta)) < (2e-15 if magnitude < 7.0 else 1e-14)


@settings(deadline=None)
@given(theta=vector)
def test_exponential_is_scipys(theta):
    assert np.allclose(matrix(so3.exponential(theta)), Rotation.from_rotvec(theta).as_matrix(), rtol=0.0, atol=2e-15)
    assert np.allclose(matrix(so3.exponential(theta)), expm(tilde(theta)), rtol=0.0, atol=5e-15)


@pytest.mark.parametrize("magnitude", UP_TO_PI)
def test_logarithm_of_an_exact_matrix(magnitude):
    """Relative to the angle: no digit is lost at small rotations, none near a half turn."""
    for theta in rotation_vectors(magnitude):
        found = so3.logarithm(rounded(exact_exponential(theta)))
        assert np.max(np.abs(np.subtract(found, theta))) <= 1e-15 * magnitude


@pytest.mark.parametrize("magnitude", UP_TO_PI)
def test_logarithm_of_our_exponential(magnitude):
    for theta in rotation_vectors(magnitude):
        found = so3.logarithm(so3.exponential(theta))
        assert np.max(np.abs(np.subtract(found, theta))) <= 1e-15 * magnitude


@pytest.mark.parametrize("excess", [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 1.0])
def test_logarithm_beyond_a_half_turn_takes_the_short_way(excess):
    for theta in rotation_vectors(math.pi + excess):
        found = np.array(so3.logarithm(so3.exponential(theta)))
        assert np.linalg.norm(found) <= np.nextafter(math.pi, 4.0)
        short = np.array(theta) * (1.0 - 2.0 * math.pi / np.linalg.norm(theta))
        difference = min(np.max(np.abs(found - short)), np.max(np.abs(found + short)) if excess < 1e-14 else math.inf)
        assert difference < 4e-15


@settings(deadline=None)
@given(theta=vector)
def test_logarithm_is_scipys(theta):
    R = so3.exponential(theta)
    assert np.allclose(so3.logarithm(R), Rotation.from_matrix(matrix(R)).as_rotvec(), rtol=0.0, atol=4e-15)


@pytest.mark.parametrize("magnitude", [*UP_TO_PI, *BEYOND, 20.0])
def test_tangent(magnitude):
    for theta in rotation_vectors(magnitude):
        assert error(so3.tangent(theta), exact_tangent(theta)) < 1e-15


@pytest.mark.parametrize("magnitude", [*UP_TO_PI, *BEYOND])
def test_tangent_inverse(magnitude):
    for theta in rotation_vectors(magnitude):
        exact = exact_tangent_inverse(theta)
        assert error(so3.tangent_inverse(theta), exact) < (5e-16 if magnitude < 3.2 else 5e-15) * float(mpmath.mnorm(exact))


@pytest.mark.parametrize("below_full_turn", [1e-2, 1e-4, 1e-6])
def test_tangent_inverse_near_its_singularity(below_full_turn):
    """At a full turn T is singular; before it, the error is what rounding of theta makes of it."""
    for theta in rotation_vectors(2.0 * math.pi - below_full_turn):
        exact = exact_tangent_inverse(theta)
        assert error(so3.tangent_inverse(theta), exact) < 1e-15 / below_full_turn * float(mpmath.mnorm(exact))


@settings(deadline=None)
@given(theta=vector)
def test_tangent_times_its_inverse(theta):
    assert np.allclose(matrix(so3.tangent(theta)) @ matrix(so3.tangent_inverse(theta)), np.eye(3), rtol=0.0, atol=2e-15)


@pytest.mark.parametrize(
    "magnitude", [0.0, 1e-8, 1e-4, 1e-2, 0.0999, 0.1001, 0.4999, 0.5001, 0.9999, 1.0001, 2.0, math.pi - 1e-9]
)
def test_tangent_is_the_derivative_of_the_exponential(magnitude):
    """R^T dR/dtheta_k = tilde(T e_k), with steps of 1e-25 in 60 digits."""
    for theta in rotation_vectors(magnitude):
        T = matrix(so3.tangent(theta))
        with mpmath.workdps(DIGITS):
            R, step = exact_exponential(theta), mpmath.mpf(10) ** -25
            for k in range(3):
                ahead, behind = ([mpmath.mpf(c) + side * step * (i == k) for i, c in enumerate(theta)] for side in (1, -1))
                W = R.T * (exact_exponential(ahead) - exact_exponential(behind)) / (2 * step)
                axial = [float(W[2, 1]), float(W[0, 2]), float(W[1, 0])]
                assert np.allclose(T[:, k], axial, rtol=0.0, atol=1e-15)


@settings(deadline=None)
@given(theta=vector, rate=st.tuples(*[st.floats(-2.0, 2.0)] * 3))
def test_angular_velocity_in_either_axes(theta, rate):
    """w_B = T theta', w_W = T^T theta', against differences of SciPy's rotations."""
    h = 1e-5
    ahead, behind = (Rotation.from_rotvec(np.array(theta) + side * h * np.array(rate)) for side in (1, -1))
    R, T = Rotation.from_rotvec(theta), matrix(so3.tangent(theta))
    w_B = (R.inv() * ahead).as_rotvec() - (R.inv() * behind).as_rotvec()
    assert np.allclose(T @ rate, w_B / (2 * h), rtol=0.0, atol=2e-9)
    assert np.allclose(T.T @ rate, R.apply(T @ rate), rtol=0.0, atol=4e-15)


@settings(deadline=None)
@given(theta=vector)
def test_classical_relations(theta):
    R, T, K = matrix(so3.exponential(theta)), matrix(so3.tangent(theta)), tilde(theta)
    assert np.allclose(T @ theta, theta, rtol=0.0, atol=4e-15)  # a turn about its own axis
    assert np.allclose(R, T.T @ np.linalg.inv(T), rtol=0.0, atol=2e-14)
    assert np.allclose(R - np.eye(3), T.T @ K, rtol=0.0, atol=4e-15)
    assert np.allclose(matrix(so3.tangent(tuple(-c for c in theta))), T.T, rtol=0.0, atol=0.0)


@settings(deadline=None)
@given(theta=vector, delta=st.tuples(*[st.floats(-1.0, 1.0)] * 3))
def test_addition_of_a_small_rotation(theta, delta):
    """log(exp(theta) exp(delta)) = theta + T^-1 delta + O(delta^2)."""
    h = 1e-5
    R, T_inverse = Rotation.from_rotvec(theta), matrix(so3.tangent_inverse(theta))
    sums = []
    for side in (1, -1):
        R_side = (R * Rotation.from_rotvec(side * h * np.array(delta))).as_matrix()
        sums.append(so3.logarithm(tuple(float(c) for c in R_side.ravel())))
    assert np.allclose(np.subtract(*sums) / (2 * h), T_inverse @ delta, rtol=0.0, atol=2e-8)


@pytest.mark.parametrize("function", [so3.exponential, so3.tangent, so3.tangent_inverse])
def test_nan_is_seen(function):
    assert np.isnan(function((0.1, math.nan, 0.2))).any()
    assert np.isnan(so3.logarithm((math.nan,) * 9)).all()
