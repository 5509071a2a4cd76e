"""The twelve Euler sets against SciPy, complex-step derivatives and Metzger et al. 2010."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from dalembert.errors import DalembertError, ModelError
from dalembert.rotation.euler import EULER_SETS, EulerSet, euler_set, most_regular_set

SETS = list(EULER_SETS.values())
STEP = 1e-30  # complex step: no subtraction, exact to rounding
E = np.eye(3)

every_set = pytest.mark.parametrize("euler", SETS, ids=[euler.name for euler in SETS])
both_frames = pytest.mark.parametrize("frame", ["world", "body"])

turn = st.floats(-np.pi, np.pi)
tilt = st.floats(0.05, np.pi - 0.05)  # of the symmetric sets; the others have their singularity 90 deg further
three = st.tuples(*[st.floats(-10.0, 10.0)] * 3).map(np.array)
regular = st.tuples(turn, tilt, turn).map(np.array)


def in_range(euler, nu):
    """Move the second angle to where the set is regular."""
    return nu if euler.symmetric else nu - [0.0, np.pi / 2, 0.0]


def complex_step(function, nu):
    """Return dfunction/dnu^k, k first."""
    return np.stack([function(nu + 1j * STEP * E[k]).imag / STEP for k in range(3)])


def tilde(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def differs(a, b):
    """Return the largest deviation of two sets of angles, whole turns apart."""
    return np.max(np.abs(np.remainder(np.asarray(a) - b + np.pi, 2 * np.pi) - np.pi))


def test_there_are_twelve():
    known = ["121", "123", "131", "132", "212", "213", "231", "232", "312", "313", "321", "323"]
    assert list(EULER_SETS) == known
    assert sum(euler.symmetric for euler in SETS) == 6
    assert all(euler.name == name for name, euler in EULER_SETS.items())


@pytest.mark.parametrize("name", ["321", "3-2-1", "zyx", "ZYX", "Z-Y-X"])
def test_names_of_one_set(name):
    assert euler_set(name) is EULER_SETS["321"]
    assert euler_set(name).sequence == "ZYX"


def test_a_set_is_its_own_name():
    assert euler_set(EulerSet((2, 0, 2))) == EULER_SETS["313"]


@pytest.mark.parametrize("name", ["", "32", "3211", "331", "322", "320", "xyw", "xx"])
def test_other_names_are_refused(name):
    with pytest.raises(ModelError, match=r"Euler set '.*': it is none of the twelve; give three digits"):
        euler_set(name)


@pytest.mark.parametrize("axes", [(0, 0, 1), (1, 2, 2), (0, 1, 3), (-1, 0, 1)])
def test_other_axes_are_refused(axes):
    with pytest.raises(ModelError, match="unequal neighbours"):
        EulerSet(axes)


# Rotations


@every_set
@settings(deadline=None)
@given(nu=st.tuples(*[st.floats(-7.0, 7.0)] * 3))
def test_matrix_is_scipys_intrinsic_sequence(euler, nu):
    expected = Rotation.from_euler(euler.sequence, nu)
    assert np.allclose(euler.matrix(nu), expected.as_matrix(), rtol=0.0, atol=4e-15)
    assert (euler.rotation(nu) * expected.inv()).magnitude() < 1e-15


@every_set
@settings(deadline=None)
@given(nu=regular)
def test_angles_are_scipys(euler, nu):
    rotation = Rotation.from_euler(euler.sequence, in_range(euler, nu))
    assert differs(euler.angles(rotation), rotation.as_euler(euler.sequence)) < 2e-13


@every_set
@settings(deadline=None)
@given(nu=regular)
def test_angles_come_back(euler, nu):
    nu = in_range(euler, nu)
    assert differs(euler.angles(euler.matrix(nu)), nu) < 5e-14  # 1/regularity of rounding
    assert differs(euler.angles(euler.rotation(nu)), nu) < 5e-14


@every_set
@settings(deadline=None)
@given(nu=st.tuples(turn, st.sampled_from([1e-1, 1e-3, 1e-5, 1e-7, 3e-8]), turn), end=st.sampled_from([-1.0, 1.0]))
def test_rotation_comes_back_near_the_singularity(euler, nu, end):
    first, near, last = nu
    second = (near if end > 0 else np.pi - near) if euler.symmetric else end * (np.pi / 2 - near)
    R = euler.matrix([first, second, last])
    found = euler.angles(R)
    assert np.allclose(euler.matrix(found), R, rtol=0.0, atol=2e-15)
    assert abs(found[1] - second) < 1e-15


@every_set
def test_angles_lie_in_their_range(euler):
    generator = np.random.default_rng(1)
    nu = euler.angles(Rotation.random(500, rng=generator))
    low, high = (0.0, np.pi) if euler.symmetric else (-np.pi / 2, np.pi / 2)
    assert np.all(np.abs(nu) <= np.pi)
    assert np.all((low < nu[:, 1]) & (nu[:, 1] < high))


def test_321_matrix_124():
    psi, theta, phi = 0.3, -0.7, 1.9
    c, s = np.cos, np.sin
    Q = (
        np.array([[1, 0, 0], [0, c(phi), s(phi)], [0, -s(phi), c(phi)]])
        @ np.array([[c(theta), 0, -s(theta)], [0, 1, 0], [s(theta), 0, c(theta)]])
        @ np.array([[c(psi), s(psi), 0], [-s(psi), c(psi), 0], [0, 0, 1]])
    )  # Q_ki = e_k . E_i
    assert np.allclose(euler_set("321").matrix([psi, theta, phi]).T, Q, rtol=0.0, atol=4e-16)


# Bases


@every_set
@both_frames
@settings(deadline=None)
@given(nu=st.tuples(turn, turn, turn))
def test_euler_basis_is_the_axes_of_the_rotations(euler, frame, nu):
    i, j, k = euler.axes
    first, second = Rotation.from_rotvec(nu[0] * E[i]), Rotation.from_rotvec(nu[1] * E[j])
    g = np.array([E[i], first.apply(E[j]), (first * second).apply(E[k])])
    if frame == "body":
        g = Rotation.from_euler(euler.sequence, nu).inv().apply(g)
    assert np.allclose(euler.basis(nu, frame=frame), g, rtol=0.0, atol=2e-15)


@every_set
@settings(deadline=None)
@given(nu=st.tuples(turn, turn, turn).map(np.array), rates=three)
def test_angular_velocity_is_that_of_the_matrix(euler, nu, rates):
    R = euler.matrix(nu)
    R_dot = euler.matrix(nu + 1j * STEP * rates).imag / STEP
    w_B = euler.angular_velocity(nu, rates, frame="body")
    w = euler.angular_velocity(nu, rates)
    assert np.allclose(R_dot, R @ tilde(w_B), rtol=0.0, atol=4e-14)
    assert np.allclose(R_dot, tilde(w) @ R, rtol=0.0, atol=4e-14)
    assert np.allclose(w, R @ w_B, rtol=0.0, atol=4e-14)


@every_set
@both_frames
@settings(deadline=None)
@given(nu=regular)
def test_dual_basis_is_dual(euler, frame, nu):
    nu = in_range(euler, nu)
    g, dual = euler.basis(nu, frame=frame), euler.dual_basis(nu, frame=frame)
    assert np.allclose(dual @ g.T, E, rtol=0.0, atol=4e-14)  # (4)
    volume = g[0] @ np.cross(g[1], g[2])
    reciprocal = np.array([np.cross(g[1], g[2]), np.cross(g[2], g[0]), np.cross(g[0], g[1])]) / volume
    assert np.allclose(dual, reciprocal, rtol=1e-12, atol=1e-13)
    assert abs(euler.regularity(nu) - abs(volume)) < 1e-15


@every_set
@both_frames
@settings(deadline=None)
@given(nu=regular, rates=three)
def test_rates_come_back(euler, frame, nu, rates):
    nu = in_range(euler, nu)
    w = euler.angular_velocity(nu, rates, frame=frame)
    assert np.allclose(euler.rates(nu, w, frame=frame), rates, rtol=0.0, atol=4e-13)


def test_321_bases_125_126():
    psi, theta, phi = 0.4, 0.9, -2.0
    c, s = np.cos, np.sin
    g = [[0, 0, 1], [-s(psi), c(psi), 0], [c(theta) * c(psi), c(theta) * s(psi), -s(theta)]]
    dual = [
        [c(psi) * np.tan(theta), s(psi) * np.tan(theta), 1],
        [-s(psi), c(psi), 0],
        [c(psi) / c(theta), s(psi) / c(theta), 0],
    ]
    euler = euler_set("321")
    assert np.allclose(euler.basis([psi, theta, phi]), g, rtol=0.0, atol=4e-16)
    assert np.allclose(euler.dual_basis([psi, theta, phi]), dual, rtol=0.0, atol=4e-16)


def test_313_body_rates_of_the_textbooks():
    """Goldstein, Classical Mechanics, eq. 4.87: angular velocity in body components."""
    phi, theta, psi = 0.4, 1.1, -0.8
    phi_dot, theta_dot, psi_dot = 0.3, -1.2, 2.5
    w_B = [
        phi_dot * np.sin(theta) * np.sin(psi) + theta_dot * np.cos(psi),
        phi_dot * np.sin(theta) * np.cos(psi) - theta_dot * np.sin(psi),
        phi_dot * np.cos(theta) + psi_dot,
    ]
    found = euler_set("313").angular_velocity([phi, theta, psi], [phi_dot, theta_dot, psi_dot], frame="body")
    assert np.allclose(found, w_B, rtol=0.0, atol=1e-15)


# Derivatives


@every_set
@settings(deadline=None)
@given(nu=st.tuples(turn, turn, turn).map(np.array))
def test_matrix_derivative(euler, nu):
    derivative = euler.matrix_derivative(nu)
    assert np.allclose(derivative, complex_step(euler.matrix, nu), rtol=0.0, atol=2e-15)
    g, R = euler.basis(nu), euler.matrix(nu)
    for k, i in itertools.product(range(3), repeat=2):
        assert np.allclose(derivative[k, :, i], np.cross(g[k], R[:, i]), rtol=0.0, atol=2e-15)  # (119)


@every_set
@both_frames
@settings(deadline=None)
@given(nu=st.tuples(turn, turn, turn).map(np.array))
def test_basis_derivative(euler, frame, nu):
    expected = np.swapaxes(complex_step(lambda nu: euler.basis(nu, frame=frame), nu), 0, 1)
    assert np.allclose(euler.basis_derivative(nu, frame=frame), expected, rtol=0.0, atol=2e-15)


@every_set
@both_frames
@settings(deadline=None)
@given(nu=regular)
def test_dual_basis_derivative(euler, frame, nu):
    nu = in_range(euler, nu)
    expected = np.swapaxes(complex_step(lambda nu: euler.dual_basis(nu, frame=frame), nu), 0, 1)
    scale = 1.0 / euler.regularity(nu) ** 2
    assert np.allclose(euler.dual_basis_derivative(nu, frame=frame) / scale, expected / scale, rtol=0.0, atol=5e-15)


@every_set
@settings(deadline=None)
@given(nu=regular)
def test_connection_coefficients(euler, nu):
    nu = in_range(euler, nu)
    gamma = euler.connection_coefficients(nu)
    scale = 1.0 / euler.regularity(nu) ** 2
    g_change, dual_change = complex_step(euler.basis, nu), complex_step(euler.dual_basis, nu)
    from_basis = np.einsum("kjn,in->ijk", g_change, euler.dual_basis(nu))  # (5)
    from_dual = -np.einsum("kin,jn->ijk", dual_change, euler.basis(nu))  # (6)
    assert np.allclose(gamma / scale, from_basis / scale, rtol=0.0, atol=5e-15)
    assert np.allclose(gamma / scale, from_dual / scale, rtol=0.0, atol=5e-15)
    assert np.count_nonzero(gamma) <= 5


@every_set
def test_connection_coefficients_against_differences_of_scipys_axes(euler):
    """The same from (5) with central differences of axes that SciPy turned."""
    i, j, k = euler.axes

    def axes(nu):
        first, second = Rotation.from_rotvec(nu[0] * E[i]), Rotation.from_rotvec(nu[1] * E[j])
        return np.array([E[i], first.apply(E[j]), (first * second).apply(E[k])])

    nu, h = in_range(euler, np.array([0.4, 1.1, -0.7])), 1e-5
    change = [(axes(nu + h * E[m]) - axes(nu - h * E[m])) / (2 * h) for m in range(3)]
    expected = np.einsum("kjn,in->ijk", change, np.linalg.inv(axes(nu)).T)
    assert np.allclose(euler.connection_coefficients(nu), expected, rtol=0.0, atol=1e-9)


@every_set
@settings(deadline=None)
@given(nu=st.tuples(turn, turn, turn).map(np.array))
def test_basis_derivatives_commute_up_to_the_bracket(euler, nu):
    g, change = euler.basis(nu), euler.basis_derivative(nu)
    for j, k in itertools.product(range(3), repeat=2):
        assert np.allclose(change[k, j] - change[j, k], np.cross(g[j], g[k]), rtol=0.0, atol=1e-15)  # (123)


def test_321_connection_coefficients_129():
    theta = 0.6
    expected = np.zeros((3, 3, 3))
    expected[0, 1, 0] = expected[2, 2, 1] = -np.tan(theta)
    expected[0, 2, 1] = expected[2, 1, 0] = -1.0 / np.cos(theta)
    expected[1, 2, 0] = np.cos(theta)
    found = euler_set("321").connection_coefficients([0.4, theta, -0.2])
    assert np.allclose(found, expected, rtol=0.0, atol=4e-16)


def test_321_dual_basis_derivatives_127():
    nu = np.array([0.4, 0.6, -0.2])
    theta = nu[1]
    dual = euler_set("321").dual_basis(nu)
    expected = np.zeros((3, 3, 3))
    expected[0, 0] = np.tan(theta) * dual[1]
    expected[1, 0] = -np.cos(theta) * dual[2]
    expected[2, 0] = dual[1] / np.cos(theta)
    expected[0, 1] = dual[2] / np.cos(theta)
    expected[2, 1] = np.tan(theta) * dual[2]
    assert np.allclose(euler_set("321").dual_basis_derivative(nu), expected, rtol=0.0, atol=1e-15)


# The stiffness matrices that stand on them


@every_set
@settings(deadline=None)
@given(nu=regular, force=three, moment=three)
def test_force_and_moment_are_the_skew_parts(euler, nu, force, moment):
    """The matrices C and D of (31) and (38): C is F x, D - D^T is M x, in every set."""
    nu = in_range(euler, nu)
    g, G, R = euler.basis(nu), euler.dual_basis(nu), euler.matrix(nu)
    C = np.einsum("kmi,kn,i->mn", euler.matrix_derivative(nu), G, -R.T @ force)
    D = np.einsum("ikm,kn,i->mn", euler.dual_basis_derivative(nu), G, -g @ moment)
    assert np.allclose(C, tilde(force), rtol=0.0, atol=1e-12)  # (48)
    assert np.allclose(D - D.T, tilde(moment), rtol=0.0, atol=1e-13 / euler.regularity(nu) ** 3)  # (56), (58)


class TestStewartGoughPlatform:
    """What section 7 prints, with angles of six digits."""

    nu = np.radians([-33.0826, -39.9638, 202.701])  # (66)
    euler = euler_set("321")

    def test_dual_basis_69(self):
        printed = [[-0.702167, 0.457433, 1.0], [0.545847, 0.837885, 0.0], [1.0932, -0.712176, 0.0]]
        assert np.allclose(self.euler.dual_basis(self.nu), printed, rtol=0.0, atol=2e-6)

    def test_moments_71_72(self):
        on_dual = np.array([[-200.324, 545.558, -47.945], [369.493, 1475.27, -1363.84]])
        printed = [[386.039, 399.625, -200.324], [-945.122, 2376.42, 369.493]]
        assert np.allclose(on_dual @ self.euler.dual_basis(self.nu), printed, rtol=2e-5)

    def test_blocks_C_and_D_73(self):
        G = self.euler.dual_basis(self.nu)
        force_on_body_axes = np.array([-495.82, 293.658, 142.333])
        C = np.einsum("kmi,kn,i->mn", self.euler.matrix_derivative(self.nu), G, -force_on_body_axes)
        D = self.block_D([369.493, 1475.27, -1363.84])
        printed_C = [[0, 505.968, -59.3016], [-505.968, 0, 304.649], [59.3016, -304.649, 0]]
        printed_D = [[-2638.32, -401.422, 2376.42], [-31.9282, 1402.01, 945.122], [0, 0, 0]]
        assert np.allclose(C, printed_C, rtol=0.0, atol=2e-3)
        assert np.allclose(D, printed_D, rtol=0.0, atol=1e-2)

    def test_block_D_76(self):
        printed = [[-148.617, 385.404, 399.625], [185.080, -308.574, -386.039], [0, 0, 0]]
        assert np.allclose(self.block_D([-200.324, 545.558, -47.945]), printed, rtol=0.0, atol=2e-3)

    def block_D(self, moment_on_dual):
        change, G = self.euler.dual_basis_derivative(self.nu), self.euler.dual_basis(self.nu)
        return np.einsum("ikm,kn,i->mn", change, G, -np.array(moment_on_dual))


@every_set
def test_stiffness_of_a_potential_is_that_of_its_moment(euler):
    """G^T H G + D of U = c . R b is minus the derivative of its moment with respect to a world rotation (35)."""
    nu, b, c = in_range(euler, np.array([0.5, 0.8, -1.3])), np.array([0.3, -0.7, 1.1]), np.array([0.9, 0.4, -0.2])
    G, h = euler.dual_basis(nu), 1e-4

    def potential(nu):
        return c @ euler.matrix(nu) @ b

    def gradient(nu):
        return np.array([potential(nu + 1j * STEP * E[k]).imag / STEP for k in range(3)])

    H = np.array([(gradient(nu + h * E[k]) - gradient(nu - h * E[k])) / (2 * h) for k in range(3)])
    D = np.einsum("ikm,kn,i->mn", euler.dual_basis_derivative(nu), G, gradient(nu))
    a = euler.matrix(nu) @ b
    # U(theta) = c . exp(theta x) a gives M = -a x c; a turns by theta x a, so -dM = (theta x a) x c
    expected = np.outer(a, c) - (a @ c) * E
    assert np.allclose(-gradient(nu) @ G, -np.cross(a, c), rtol=0.0, atol=1e-14)  # (11)
    assert np.allclose(G.T @ H @ G + D, expected, rtol=0.0, atol=3e-8)


# Stacks


@every_set
def test_stacks_are_what_single_angles_are(euler):
    generator = np.random.default_rng(2)
    nu = euler.angles(Rotation.random(6, rng=generator)).reshape(2, 3, 3)
    rates = generator.standard_normal((2, 3, 3))
    for at in np.ndindex(2, 3):
        assert np.array_equal(euler.matrix(nu)[at], euler.matrix(nu[at]))
        assert np.allclose(euler.angles(euler.matrix(nu))[at], nu[at], rtol=0.0, atol=1e-13)
        assert np.array_equal(euler.connection_coefficients(nu)[at], euler.connection_coefficients(nu[at]))
        assert np.array_equal(euler.matrix_derivative(nu)[at], euler.matrix_derivative(nu[at]))
        for frame in ("world", "body"):
            w = euler.angular_velocity(nu, rates, frame=frame)
            assert np.allclose(w[at], euler.angular_velocity(nu[at], rates[at], frame=frame), rtol=0.0, atol=1e-15)
            assert np.allclose(euler.rates(nu, w, frame=frame)[at], rates[at], rtol=0.0, atol=1e-12)
            for of in (euler.basis, euler.dual_basis, euler.basis_derivative, euler.dual_basis_derivative):
                assert np.allclose(of(nu, frame=frame)[at], of(nu[at], frame=frame), rtol=1e-15, atol=1e-15)


# What is refused


def singular_angles(euler):
    return [0.0, np.pi, -np.pi] if euler.symmetric else [np.pi / 2, -np.pi / 2, 1.5 * np.pi]


@every_set
@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("off", [0.0, 9e-9])
def test_singular_angles_are_refused_with_a_remedy(euler, which, off):
    nu = np.array([0.3, singular_angles(euler)[which] + off, -1.2])
    R = euler.matrix(nu)
    uses = [
        lambda: euler.dual_basis(nu),
        lambda: euler.dual_basis(nu, frame="body"),
        lambda: euler.rates(nu, [1.0, 2.0, 3.0]),
        lambda: euler.connection_coefficients(nu),
        lambda: euler.dual_basis_derivative(nu),
        lambda: euler.angles(R),
        lambda: euler.angles(Rotation.from_matrix(R)),
    ]
    for use in uses:
        with pytest.raises(DalembertError, match=f"Euler set '{euler.name}': it is singular at a second angle") as caught:
            use()
        other = EULER_SETS[str(caught.value).split("use the set '")[1][:3]]
        assert other.regularity(other.angles(R)) > 0.5
        assert np.allclose(other.matrix(other.angles(R)), R, rtol=0.0, atol=2e-15)


def test_message_of_a_singular_set():
    with pytest.raises(ModelError) as caught:
        euler_set("321").rates([0.0, np.pi / 2, 0.0], [1.0, 0.0, 0.0])
    assert str(caught.value) == (
        "Euler set '321': it is singular at a second angle of 90 deg: its first and third axis coincide there; "
        "use the set '313', which is regular there"
    )


def test_one_singular_member_of_a_stack_is_refused():
    with pytest.raises(ModelError, match="second angle of -90 deg"):
        euler_set("321").dual_basis([[0.0, 0.1, 0.0], [0.0, -np.pi / 2, 0.0]])


@every_set
def test_singular_angles_still_make_a_rotation_and_a_velocity(euler):
    nu = np.array([0.3, singular_angles(euler)[0], -1.2])
    assert np.allclose(euler.matrix(nu), Rotation.from_euler(euler.sequence, nu).as_matrix(), rtol=0.0, atol=1e-15)
    assert euler.regularity(nu) < 1e-15
    assert np.allclose(abs(euler.basis(nu)[0] @ euler.basis(nu)[2]), 1.0, rtol=0.0, atol=1e-15)
    R_dot = euler.matrix(nu + 1j * STEP * np.array([1.0, 2.0, 3.0])).imag / STEP
    assert np.allclose(tilde(euler.angular_velocity(nu, [1.0, 2.0, 3.0])) @ euler.matrix(nu), R_dot, rtol=0.0, atol=4e-15)


@settings(deadline=None)
@given(nu=st.tuples(turn, turn, turn))
def test_most_regular_set(nu):
    rotation = Rotation.from_euler("ZYX", nu)
    best = most_regular_set(rotation)
    regularity = float(best.regularity(best.angles(rotation)))
    assert regularity > np.sqrt(2.0 / 3.0) - 1e-12  # no row of R has all its entries above sqrt(1/3)
    for euler in SETS:
        i, _, k = euler.axes
        assert np.sqrt(max(0.0, 1.0 - rotation.as_matrix()[i, k] ** 2)) <= regularity + 1e-8


def test_most_regular_set_among_some():
    assert most_regular_set(Rotation.identity(), among=["313", "xyx"]).name == "313"
    assert most_regular_set(Rotation.from_euler("Y", np.pi / 2)).name == "313"


def test_most_regular_set_of_a_motion():
    rolling_over = Rotation.from_rotvec(np.linspace(0.0, 2.0 * np.pi, 50)[:, None] * E[1])
    euler = most_regular_set(rolling_over)
    assert np.all(euler.regularity(euler.angles(rolling_over)) > 0.99)


@pytest.mark.parametrize("matrix", [np.diag([1.0, 1.0, -1.0]), 1.1 * E, np.ones((3, 3)), np.zeros((3, 3))])
def test_matrices_that_are_no_rotation_are_refused(matrix):
    with pytest.raises(ModelError, match="not three right-handed unit vectors"):
        euler_set("321").angles(matrix)


def test_wrong_shapes_and_frames_are_refused():
    euler = euler_set("321")
    with pytest.raises(ModelError, match=r"three are needed along the last axis, the shape is \(2,\)"):
        euler.matrix([0.1, 0.2])
    with pytest.raises(ModelError, match=r"the shape is \(\)"):
        euler.matrix(0.1)
    with pytest.raises(ModelError, match=r"3 by 3, the shape is \(4,\)"):
        euler.angles([1.0, 0.0, 0.0, 0.0])
    with pytest.raises(ModelError, match="did you mean 'body'"):
        euler.basis([0.1, 0.2, 0.3], frame="bodyy")


def test_nan_is_seen():
    nu = [0.1, np.nan, 0.3]
    assert np.isnan(euler_set("321").dual_basis(nu)).any()
    assert np.isnan(euler_set("321").connection_coefficients(nu)).any()
    with pytest.raises(ModelError, match="not finite"):
        euler_set("321").angles(np.diag([1.0, 1.0, np.nan]))
