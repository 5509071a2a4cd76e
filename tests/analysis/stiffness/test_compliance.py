"""Eigen-stiffnesses and the centre of compliance against closed forms."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert.analysis.stiffness.compliance import centre_of_compliance, inverse, principal
from dalembert.rotation.skew import tilde

PLACE = np.array([0.3, -0.2, 0.5])


def moved(K, a):
    """The stiffness about a point from which the first one is at a: d = d_A + dtheta x a."""
    X = np.block([[np.eye(3), -tilde(a)], [np.zeros((3, 3)), np.eye(3)]])
    return X.T @ K @ X


def test_a_bushing_is_found_wherever_it_is_looked_at_from():
    """Its three translational and three rotational stiffnesses, their directions, and its centre, where nothing is coupled."""
    turn = Rotation.from_euler("ZYX", [0.3, 0.5, -0.4])
    model = da.Model("bushing")
    model.body("arm", mass=1.0, inertia=(1, 1, 1), position=(1, 1, 1))
    model.bushing("rubber", "ground", "arm", at=PLACE, orientation=turn, stiffness=(3e4, 1e4, 2e4, 90, 70, 80))
    for about in ("center", "origin", (0.7, 0.1, -0.3)):
        found = da.cartesian_stiffness(model, "arm", about=about)
        assert found.translational_stiffness.values == pytest.approx([1e4, 2e4, 3e4])
        assert found.rotational_stiffness.values == pytest.approx([70, 80, 90])
        for directions in (found.translational_direction.values, found.rotational_direction.values):
            along = np.abs(directions @ turn.as_matrix())
            assert along == pytest.approx(np.eye(3)[[1, 2, 0]], abs=1e-9)
        assert found.centre_of_compliance.values == pytest.approx(PLACE)
        assert found.centre_of_compliance.kind == "decoupled"
        assert found.compliance.values == pytest.approx(np.linalg.inv(found[found.elastic].values))


def test_there_is_a_point_where_the_coupling_is_symmetric():
    """Of a random compliance, a screw-like one included: C_tr - tilde(a) C_r is symmetric, and not zero."""
    A = np.random.default_rng(3).normal(size=(6, 6))
    K = A @ A.T
    centre = centre_of_compliance(inverse(K))
    C = np.linalg.inv(moved(K, -centre.offset))
    assert C[:3, 3:] == pytest.approx(C[:3, 3:].T)
    assert np.abs(C[:3, 3:]).max() > 1e-3
    assert centre.kind == "symmetric"


def test_the_centre_moves_with_the_point_of_view():
    K = np.diag([5.0, 6.0, 7.0, 1.0, 2.0, 3.0])
    assert centre_of_compliance(inverse(moved(K, PLACE))).offset == pytest.approx(PLACE)


def test_eigen_stiffnesses_do_not_depend_on_the_point():
    A = np.random.default_rng(5).normal(size=(6, 6))
    one, other = principal(A @ A.T), principal(moved(A @ A.T, PLACE))
    assert one.translational == pytest.approx(other.translational)
    assert one.rotational == pytest.approx(other.rotational)


def test_a_singular_stiffness_has_no_compliance_and_no_centre():
    """A single spring resists its own direction only; its rotational stiffness is that of a body held in place."""
    model = da.Model("one spring")
    model.body("ball", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    model.spring("spring", "ground", "ball", at=(0, 0, 0), at_driven=(1, 0, 0), stiffness=100.0)
    found = da.cartesian_stiffness(model, "ball")
    assert "compliance" not in found
    assert found.centre_of_compliance.kind == "none"
    assert np.isnan(found.centre_of_compliance.values).all()
    assert found.translational_stiffness.values == pytest.approx([0, 0, 100.0])
    assert inverse(np.diag([1e9, 1e9, 1e9, 1e-3, 1e-3, 1e-3])) is not None  # stiff and soft, and regular all the same


def test_in_a_plane_there_is_always_a_centre():
    """Two springs of 100 and 300 N/m along y at x = 0 and 1, and one along x at y = 0.4: the centre is at (0.75, 0.4)."""
    J = np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, -0.4]])  # elongation of each for (x, y, rotation)
    K = J.T @ np.diag([100.0, 300.0, 50.0]) @ J
    assert centre_of_compliance(inverse(K)).offset == pytest.approx([0.75, 0.4, 0.0])
    found = principal(K)
    assert found.translational == pytest.approx([50.0, 400.0])
    assert found.rotational == pytest.approx([75.0])  # 100 * 0.75^2 + 300 * 0.25^2
