"""Quaternions: the identities of Peng et al. 2024, appendices B and C (as corrected), SciPy and closed forms."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from dalembert.rotation import quaternion as q

I3, I4 = np.eye(3), np.eye(4)

component = st.floats(-1.0, 1.0)
vector = st.tuples(*[st.floats(-5.0, 5.0)] * 3)
any_quaternion = st.tuples(*[st.floats(-3.0, 3.0)] * 4)
unit = (
    st.tuples(*[component] * 4)
    .filter(lambda a: np.linalg.norm(a) > 0.1)
    .map(lambda a: tuple(float(c) for c in np.array(a) / np.linalg.norm(a)))
)


def tilde(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def matrix(entries):
    return np.reshape(entries, (3, 3))


def R(rho):
    return matrix(q.to_matrix(rho))


def P(rho):
    return matrix(q.projection(rho))


def pure(a):
    return (0.0, *(float(c) for c in a))


def scipy(rho):
    return Rotation.from_quat(np.roll(rho, -1))


def close(a, b, atol=4e-15):
    return np.allclose(a, b, rtol=0.0, atol=atol)


def variation(function, rho, d):
    """Return dfunction/dh of rho (x) (1, h d/2) at h = 0 by central differences: exact where function is quadratic."""
    change = 0.5 * np.array(q.multiply(rho, pure(d)))
    ahead, behind = np.array(rho) + change, np.array(rho) - change
    return 0.5 * (np.array(function(tuple(ahead))) - np.array(function(tuple(behind))))


# The product


def test_hamiltons_units():
    one, i, j, k = (tuple(float(c) for c in row) for row in I4)
    minus_one = (-1.0, 0.0, 0.0, 0.0)
    assert q.multiply(i, i) == q.multiply(j, j) == q.multiply(k, k) == q.multiply(q.multiply(i, j), k) == minus_one
    assert q.multiply(i, j) == k
    assert q.multiply(j, k) == i
    assert q.multiply(k, i) == j
    assert q.multiply(one, k) == k == q.multiply(k, one)


@settings(deadline=None)
@given(a=any_quaternion, b=any_quaternion)
def test_product_in_scalars_and_vectors(a, b):
    s, v, t, w = a[0], np.array(a[1:]), b[0], np.array(b[1:])
    assert close(q.multiply(a, b), [s * t - v @ w, *(s * w + t * v + np.cross(v, w))], 1e-13)
    assert close(q.conjugate(q.multiply(a, b)), q.multiply(q.conjugate(b), q.conjugate(a)), 1e-13)
    assert q.imaginary(a) == a[1:]


@settings(deadline=None)
@given(a=unit, b=unit)
def test_product_is_scipys_composition(a, b):
    assert (scipy(q.multiply(a, b)) * (scipy(a) * scipy(b)).inv()).magnitude() < 2e-15


@settings(deadline=None)
@given(rho=unit, d=vector)
def test_variation_of_the_unit_length_b1(rho, d):
    change = tuple(0.5 * c for c in q.multiply(rho, pure(d)))
    first, second = q.multiply(change, q.conjugate(rho)), q.multiply(rho, q.conjugate(change))
    assert close(np.add(first, second), 0.0, 1e-14)
    first, second = q.multiply(q.conjugate(change), rho), q.multiply(q.conjugate(rho), change)
    assert close(np.add(first, second), 0.0, 1e-14)


@settings(deadline=None)
@given(a=any_quaternion.filter(lambda a: np.linalg.norm(a) > 1e-3))
def test_normalize(a):
    found = q.normalize(a)
    assert close(found, np.array(a) / np.linalg.norm(a), 1e-15)
    assert abs(math.hypot(*found) - 1.0) < 5e-16


def test_load4():
    assert q.load4(np.arange(9.0), 3) == (3.0, 4.0, 5.0, 6.0)


# Appendix B


@settings(deadline=None)
@given(rho=unit, r=vector)
def test_rotation_of_a_vector_b2_b3_b4(rho, r):
    rotated = q.multiply(q.multiply(rho, pure(r)), q.conjugate(rho))
    assert abs(rotated[0]) < 1e-14
    assert close(rotated[1:], R(rho) @ r, 2e-14)
    assert close(R(rho), scipy(rho).as_matrix(), 2e-15)
    assert close(R(rho) @ R(rho).T, I3)
    assert abs(np.linalg.det(R(rho)) - 1.0) < 4e-15


@settings(deadline=None)
@given(rho=unit, a=any_quaternion)
def test_auxiliary_matrices_b5_b6(rho, a):
    plus, minus = q.f_plus(rho), q.f_minus(rho)
    s, x, y, z = rho
    assert np.array_equal(plus, [[x, s, -z, y], [y, z, s, -x], [z, -y, x, s]])  # (B.5b), corrected
    assert np.array_equal(minus, [[x, s, z, -y], [y, -z, s, x], [z, y, -x, s]])  # (B.5c)
    assert close(plus @ minus.T, R(rho), 2e-15)  # (B.5a)
    assert close(plus @ plus.T, I3, 2e-15)  # (B.6a), corrected
    assert close(minus @ minus.T, I3, 2e-15)
    conjugate = np.array(q.conjugate(rho))
    assert close(plus.T @ plus, I4 - np.outer(conjugate, conjugate), 2e-15)  # (B.6b)
    assert close(minus.T @ minus, I4 - np.outer(conjugate, conjugate), 2e-15)
    assert close(plus @ a, q.multiply(rho, a)[1:], 1e-14)
    assert close(minus @ a, q.multiply(a, rho)[1:], 1e-14)


@settings(deadline=None)
@given(rho=unit, r=vector, dr=vector, d=vector)
def test_variation_of_a_rotated_vector_b7_b9(rho, r, dr, d):
    change = tuple(0.5 * c for c in q.multiply(rho, pure(d)))
    chain = (
        np.array(q.multiply(q.multiply(change, pure(r)), q.conjugate(rho)))
        + q.multiply(q.multiply(rho, pure(r)), q.conjugate(change))
        + q.multiply(q.multiply(rho, pure(dr)), q.conjugate(rho))
    )  # (B.7)
    assert close(chain, pure(R(rho) @ np.cross(d, r) + R(rho) @ dr), 2e-13)  # (B.8)
    turned = q.multiply(q.multiply(rho, pure(np.cross(d, r))), q.conjugate(rho))
    moved = q.multiply(q.multiply(rho, pure(dr)), q.conjugate(rho))
    assert close(chain, np.add(turned, moved), 2e-13)  # (B.9)


@settings(deadline=None)
@given(rho=unit, r=vector, d=vector)
def test_local_variation_b10_b11(rho, r, d):
    step = q.multiply(q.conjugate(rho), tuple(0.5 * c for c in q.multiply(rho, pure(d))))
    assert abs(step[0]) < 1e-14
    assert close(np.subtract(q.multiply(step, pure(r)), q.multiply(pure(r), step)), pure(np.cross(d, r)), 2e-13)  # (B.10)
    assert close(tilde(d) @ r, 2.0 * tilde(step[1:]) @ r, 2e-13)  # (B.11)


@settings(deadline=None)
@given(rho=unit, d=vector)
def test_variation_of_the_matrix(rho, d):
    assert close(variation(q.to_matrix, rho, d), (R(rho) @ tilde(d)).ravel(), 4e-14)  # delta R = R tilde(theta_l)
    assert close(matrix(variation(q.to_matrix, rho, d)), tilde(R(rho) @ d) @ R(rho), 4e-14)


@settings(deadline=None)
@given(rho=unit, d=vector)
def test_variation_of_the_quaternion_b12_b13(rho, d):
    change = 0.5 * np.array(q.multiply(rho, pure(d)))  # (B.12a)
    d_a = R(rho) @ d
    assert close(change, 0.5 * np.array(q.multiply(pure(d_a), rho)), 2e-14)  # (B.12b), corrected
    conjugate = q.conjugate(rho)
    assert close(change, 0.5 * q.f_plus(conjugate).T @ d, 2e-14)  # (B.13a)
    assert close(change, 0.5 * q.f_minus(conjugate).T @ d_a, 2e-14)  # (B.13b), corrected


@settings(deadline=None)
@given(rho=unit, d=vector)
def test_variation_is_the_derivative_of_advance(rho, d):
    h = 1e-5
    ahead = q.advance(rho, tuple(h * c for c in d))
    behind = q.advance(rho, tuple(-h * c for c in d))
    assert close(np.subtract(ahead, behind) / (2 * h), 0.5 * np.array(q.multiply(rho, pure(d))), 1e-8)


# Appendix C


@settings(deadline=None)
@given(rho=unit, d=vector)
def test_projection_c1_c2(rho, d):
    s, v = rho[0], np.array(rho[1:])
    assert close(P(rho), 0.5 * (s * I3 + tilde(v)), 0.0)  # (C.1)
    assert close(P(rho), 0.5 * q.f_plus(q.conjugate(rho)).T[1:], 0.0)
    assert close(P(rho) @ d, 0.5 * np.array(q.multiply(rho, pure(d)))[1:], 1e-14)  # (C.2)


@settings(deadline=None)
@given(rho=unit)
def test_properties_of_the_projection_c3(rho):
    assert np.array_equal(P(rho).T, P(q.conjugate(rho)))  # (C.3a)
    assert close(P(rho), P(rho).T @ R(rho), 1e-15)  # (C.3b)
    assert close(P(rho), R(rho).T @ P(rho) @ R(rho), 1e-15)  # (C.3c)
    assert close(P(rho) @ (R(rho).T + I3), rho[0] * I3, 2e-15)  # (C.3d), times s
    assert abs(np.linalg.det(P(rho)) - rho[0] / 8.0) < 1e-15  # singular where the rotation is pi


@settings(deadline=None)
@given(rho_1=unit, rho_2=unit)
def test_projection_of_a_relative_rotation_c4(rho_1, rho_2):
    relative = q.multiply(q.conjugate(rho_2), rho_1)
    assert close(R(relative), R(rho_2).T @ R(rho_1), 4e-15)
    assert close(P(relative).T @ R(rho_2).T, P(relative) @ R(rho_1).T, 4e-15)  # (C.4)


@settings(deadline=None)
@given(rho=unit, d=vector)
def test_variation_of_scalar_and_vector_c6_c8(rho, d):
    s, v, theta = rho[0], np.array(rho[1:]), np.array(d)
    change = variation(lambda rho: rho, rho, d)
    assert close(change, 0.5 * np.array([-v @ theta, *(s * theta + np.cross(v, theta))]), 1e-14)  # (C.6)
    assert close(change[0], -0.5 * v @ theta, 1e-14)  # (C.7)
    assert close(change[1:], P(rho) @ theta, 1e-14)  # (C.8)


@settings(deadline=None)
@given(rho=unit, d=vector, gamma=vector)
def test_tangent_of_the_projection_c9_c12(rho, d, gamma):
    s, v = rho[0], np.array(rho[1:])
    change = matrix(variation(q.projection, rho, d))
    expanded = 0.25 * (-(v @ d) * I3 + (s * I3 + tilde(v)) @ tilde(d) - tilde(d) @ tilde(v))
    assert close(change, expanded, 2e-14)  # (C.9)
    G = matrix(q.projection_tangent(rho, gamma))
    assert close(G, -0.25 * np.outer(gamma, v) - 0.25 * tilde(gamma) @ (s * I3 + tilde(v)), 2e-14)  # (C.11)
    assert close(change @ gamma, G @ d, 2e-13)  # (C.10), (C.12)


def test_tangent_of_the_projection_along_advance():
    """(C.12) once more, by differences along true rotations."""
    rho, d, gamma, h = q.normalize((0.3, -0.5, 0.7, 0.2)), np.array([0.4, -1.1, 0.6]), (1.5, 0.2, -0.8), 1e-5
    ahead, behind = P(q.advance(rho, tuple(h * d))), P(q.advance(rho, tuple(-h * d)))
    G = matrix(q.projection_tangent(rho, gamma))
    assert close((ahead - behind) @ gamma / (2 * h), G @ d, 1e-10)
    assert not close((ahead - behind).T @ gamma / (2 * h), G @ d, 1e-2)  # it is not the tangent of P^T gamma


# From and to matrices and rotation vectors


@settings(deadline=None)
@given(rho=unit)
def test_quaternion_of_a_matrix(rho):
    found = q.from_matrix(q.to_matrix(rho))
    assert close(abs(np.dot(found, rho)), 1.0, 1e-15)
    assert min(np.max(np.abs(np.subtract(found, rho))), np.max(np.abs(np.add(found, rho)))) < 1e-15


@pytest.mark.parametrize("largest", range(4))
@pytest.mark.parametrize("others", [0.0, 1e-9, 0.3, 0.999])
def test_quaternion_of_a_matrix_from_each_component(largest, others):
    rho = np.full(4, others)
    rho[largest] = 1.0
    rho /= np.linalg.norm(rho)
    assert close(q.from_matrix(q.to_matrix(tuple(float(c) for c in rho))), rho, 1e-15)


def test_half_turns_and_the_threefold_axis():
    """Where two or all components are equally large."""
    for axis in np.array([[1, 1, 0], [0, 1, -1], [1, 0, 1], [1, 1, 1], [1, -1, 1]]) / 1.0:
        n = axis / np.linalg.norm(axis)
        R_half = 2.0 * np.outer(n, n) - I3
        found = np.array(q.from_matrix(tuple(float(c) for c in R_half.ravel())))
        assert close(abs(found[1:] @ n), 1.0, 1e-15)
        assert abs(found[0]) < 1e-15
    cyclic = (0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0)  # x to y to z to x: 120 deg about (1, 1, 1)
    assert close(q.from_matrix(cyclic), 0.5, 0.0)


MAGNITUDES = [0.0, 1e-200, 1e-12, 1e-8, 1e-4, 1e-2, 0.0999999, 0.1, 0.1000001, 0.5, 1.0, 2.0, 3.0, math.pi - 1e-9]
DIRECTIONS = np.array([[1, 0, 0], [0, -1, 0], [0, 0, 1], [3, 0, -4], [2, -6, 3], [1, 1, 1]])


def rotation_vectors(magnitude):
    return [tuple(float(c) for c in magnitude * n / np.linalg.norm(n)) for n in DIRECTIONS]


def exact_exponential(theta):
    """Return cos(|theta|/2), sin(|theta|/2)/|theta| theta in 50 digits."""
    with mpmath.workdps(50):
        vector = [mpmath.mpf(c) for c in theta]
        angle = mpmath.sqrt(mpmath.fdot(vector, vector))
        factor = mpmath.sinc(angle / 2) / 2
        return [mpmath.cos(angle / 2)] + [factor * c for c in vector]


@pytest.mark.parametrize("magnitude", [*MAGNITUDES, math.pi, 4.0, 6.0, 2 * math.pi, 9.0])
def test_exponential(magnitude):
    for theta in rotation_vectors(magnitude):
        found, exact = q.exponential(theta), exact_exponential(theta)
        assert max(abs(float(a - b)) for a, b in zip(found, exact, strict=True)) < 1e-15
        if 0.0 < magnitude < 3.5:  # small components are relatively as good
            assert all(abs(a - float(b)) <= 4e-16 * abs(float(b)) for a, b in zip(found[1:], exact[1:], strict=True))
        assert abs(math.hypot(*found) - 1.0) < 5e-16


@pytest.mark.parametrize("magnitude", MAGNITUDES)
def test_logarithm(magnitude):
    for theta in rotation_vectors(magnitude):
        rho = tuple(float(c) for c in exact_exponential(theta))
        found = np.array(q.logarithm(rho))
        assert np.max(np.abs(found - theta)) <= 5e-16 * magnitude
        opposite = q.logarithm(tuple(-c for c in rho))  # the same rotation
        assert np.array_equal(opposite, found)


@settings(deadline=None)
@given(rho=unit)
def test_logarithm_is_scipys(rho):
    found = np.array(q.logarithm(rho))
    assert np.linalg.norm(found) <= np.nextafter(math.pi, 4.0)
    difference = np.minimum(np.abs(found - scipy(rho).as_rotvec()), np.abs(found + scipy(rho).as_rotvec()))
    assert np.max(difference) < 2e-15  # either sign at a half turn
    assert (scipy(q.exponential(tuple(found))) * scipy(rho).inv()).magnitude() < 2e-15


@pytest.mark.parametrize("s", [0.0, 1e-300, 1e-12, 1e-4, 9.999999e-3, 1e-2, 1.0000001e-2, 0.1, 1.0, 9.0, 39.0])
def test_half_sinc(s):
    with mpmath.workdps(50):
        exact = float(mpmath.sinc(mpmath.sqrt(mpmath.mpf(s)) / 2) / 2)
    assert abs(q.half_sinc(s) - exact) <= 2.3e-16 * 0.5


@settings(deadline=None)
@given(rho=unit, d=vector)
def test_advance_turns_about_the_bodys_axes(rho, d):
    found = q.advance(rho, d)
    assert (scipy(found) * (scipy(rho) * Rotation.from_rotvec(d)).inv()).magnitude() < 4e-15
    assert abs(math.hypot(*found) - 1.0) < 5e-16


def test_advance_keeps_unit_length_for_a_million_radians():
    rho = (1.0, 0.0, 0.0, 0.0)
    for _ in range(1000):
        rho = q.advance(rho, (600.0, 700.0, -400.0))
    assert abs(math.hypot(*rho) - 1.0) < 5e-16


# SciPy


@settings(deadline=None)
@given(rho=unit)
def test_scipy_there_and_back(rho):
    assert close(q.to_rotation(rho).as_matrix(), R(rho), 2e-15)
    back = q.from_rotation(q.to_rotation(rho))
    assert back[0] >= 0.0
    assert close(np.abs(np.dot(back, rho)), 1.0, 1e-15)
    assert all(type(c) is float for c in back)


def test_stack_to_scipy():
    rho = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.5, 0.5, 0.5, 0.5]])
    rotations = q.to_rotation(rho)
    assert len(rotations) == 3
    assert close(rotations.as_matrix(), [R(tuple(row)) for row in rho], 1e-15)
