"""Two bodies in relative coordinates (section 8): against differences of forces and moments along these coordinates."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert.rotation.quaternion import to_rotation
from random_models import central

JOINT = np.array([0.4, 0.3, -0.1])


def pair(*, tied=False):
    rng = np.random.default_rng(8)
    model = da.Model("pair")
    for name in ("one", "two"):
        model.body(name, mass=1.0, inertia=(1, 1, 1), position=rng.normal(size=3), orientation=Rotation.random(rng=rng))
    for k in range(4):
        ends = {"at": rng.normal(size=3), "at_driven": rng.normal(size=3)}
        model.spring(f"spring {k}", "one", "two", **ends, stiffness=20.0 + 10.0 * k, free_length=0.5)
    model.bushing("disc", "one", "two", at=rng.normal(size=3), at_driven=rng.normal(size=3), stiffness=(9, 8, 7, 3, 2, 1))
    if tied:
        model.spring("tie", "ground", "one", at=(0, 0, 3), at_driven=(0.1, 0, 0), stiffness=30.0)
    return model


class Moved:
    """Both bodies displaced by small motions of the world, and the wrenches on them."""

    def __init__(self, model):
        self.system = da.build(model)
        self.q = self.system.design.q

    def wrenches(self, d, points):
        """F1, M1, F2, M2 about points that move with the bodies; d = (x_A1, theta_1, x_A2, theta_2) in the world."""
        step = d.reshape(2, 6).copy()
        for k in (0, 1):
            arm = points[k] - self.q[7 * k : 7 * k + 3]
            step[k, :3] -= np.cross(step[k, 3:], arm)
            step[k, 3:] = self.orientation(self.q, k).T @ step[k, 3:]
        q = self.system.advance(self.q, step.ravel())
        f = self.system.force(0.0, q, np.zeros(12)).reshape(2, 6)
        found = []
        for k in (0, 1):
            F, M = f[k, :3], self.orientation(q, k) @ f[k, 3:]
            turned = self.orientation(q, k) @ self.orientation(self.q, k).T @ (points[k] - self.q[7 * k : 7 * k + 3])
            found += [F, M - np.cross(turned, F)]
        return np.concatenate(found)

    def orientation(self, q, k):
        return to_rotation(q[7 * k + 3 : 7 * k + 7]).as_matrix()

    @property
    def centres(self):
        return self.q[:14].reshape(2, 7)[:, :3]


def columns(moved, points, directions):
    """-d(wrenches) along directions, whose small rotations add up to first order."""
    return np.column_stack([-central(lambda h, d=d: moved.wrenches(h * d, points)) for d in directions.T])


I, O = np.eye(3), np.zeros((3, 3))  # noqa: E741


def test_the_relative_matrix_is_the_difference_along_relative_coordinates():
    """U3: (F1, M1, F2, M2) of (y, theta_1, theta_rel), 12x9; body 1 stays where it is."""
    model = pair()
    moved = Moved(model)
    directions = np.block([[O, O, O], [O, I, O], [I, O, O], [O, I, I]])
    found = da.relative_stiffness(da.force_field(model, ["one", "two"]))
    expected = columns(moved, moved.centres, directions)
    assert np.abs(found.values - expected).max() < 1e-8 * np.abs(expected).max()
    assert found.displacement.values.tolist()[::4] == ["y.x", "one.ry", "two in one.rz"]
    assert found.unit.sel(wrench="two.Mx", displacement="y.z") == "N"


def test_the_jointed_matrix_is_the_difference_with_the_joint_closed():
    """U6: (F1 + F2, M1_A, M2_A) of (x_A, theta_1, theta_rel), 9x9."""
    model = pair(tied=True)
    moved = Moved(model)
    directions = np.block([[I, O, O], [O, I, O], [I, O, O], [O, I, I]])
    change = columns(moved, np.array([JOINT, JOINT]), directions)
    expected = np.vstack([change[:3] + change[6:9], change[3:6], change[9:]])
    found = da.jointed_stiffness(da.force_field(model, ["one", "two"]), JOINT)
    assert np.abs(found.values - expected).max() < 1e-8 * np.abs(expected).max()
    assert found.wrench.values.tolist()[::3] == ["both.Fx", "one.Mx", "two.Mx"]


def test_springs_between_bodies_balance_with_a_lever_not_alone():
    """Frame indifference: M1 + M2 + y x F2 = 0, so that (99), M2 = -M1, is refused for them."""
    field = da.force_field(pair(), ["one", "two"])
    y = field.position[1] - field.position[0]
    assert np.abs(field.moment.sum(axis=0) + np.cross(y, field.force[1])).max() < 1e-12
    assert np.abs(field.moment.sum(axis=0)).max() > 1.0
    with pytest.raises(da.ModelError, match=r"U is no function of \(R, y\) alone.*use relative_stiffness"):
        da.pair_stiffness(field)


def test_a_field_of_relative_rotation_and_place_alone():
    """U5 = k y.y/2 + trace(B R), R the axes of body 2 in those of body 1: 6x6, by differences of (99)."""
    B = np.random.default_rng(1).normal(size=(3, 3))
    potential = da.Potential(
        lambda R, x: 15.0 * np.sum((x[1] - x[0]) ** 2) + np.trace(B @ R[0].T @ R[1]), bodies=("one", "two")
    )
    turns = Rotation.from_euler("ZYX", [[0.3, 0.2, 0.1], [-0.4, 0.5, 0.2]]).as_matrix()
    places = np.array([[0.0, 0, 0], [0.3, 0.2, 0.5]])
    field = potential.field(places, turns)
    assert np.abs(field.moment.sum(axis=0)).max() < 1e-8  # (99)
    found = da.pair_stiffness(field)
    assert found.shape == (6, 6)
    assert found.values[:3, :3] == pytest.approx(30.0 * np.eye(3), abs=1e-6)
    for k, e in enumerate(np.eye(3)):
        changed = [
            potential.field(places, [turns[0], Rotation.from_rotvec(s * 1e-4 * e).as_matrix() @ turns[1]]) for s in (1, -1)
        ]
        expected = -(changed[0].moment[1] - changed[1].moment[1]) / 2e-4
        assert found.values[3:, 3 + k] == pytest.approx(expected, abs=1e-5)


def test_what_is_not_a_pair():
    with pytest.raises(da.ModelError, match="it also depends on where the pair is"):
        da.relative_stiffness(da.force_field(pair(tied=True), ["one", "two"]))
    with pytest.raises(da.ModelError, match="it is of two bodies, the field has 1"):
        da.relative_stiffness(da.force_field(pair(), "one"))


def test_bodies_that_are_not_named_stay_where_they_are():
    """The field of one body of a pair is its block of the field of both."""
    both, one = da.force_field(pair(), ["one", "two"]), da.force_field(pair(), "one")
    assert one.stiffness == pytest.approx(both.stiffness[:6, :6])
    found = da.cartesian_stiffness(pair(), ["one", "two"])
    assert found.K2c.values == pytest.approx(both.stiffness)
    assert found.K1c.values == pytest.approx(both.about().stiffness)
    assert found.K2c.wrench.values[7] == "two.Fy"
