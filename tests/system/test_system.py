"""The system of a model: sizes, mass, forces, coordinates over many turns, closed forms of driven joints."""

import numpy as np
import pytest

import dalembert as da
from dalembert.rotation.quaternion import to_rotation
from random_models import coupled, one_joint, random_state


def hinged(**body):
    model = da.Model("hinged", gravity=(0, 0, -9.81))
    model.body("arm", **({"mass": 2.0, "inertia": (0.1, 0.2, 0.3), "position": (0.5, 0, 0)} | body))
    model.revolute("hinge", model.ground, "arm", axis=(0, 1, 0))
    return model


def test_mass_holds_masses_and_full_inertia_tensors():
    system = da.build(hinged(inertia=(1.0, 2.0, 2.5, 0.1, -0.2, 0.3)))
    expected = np.diag([2.0, 2.0, 2.0, 1.0, 2.0, 2.5])
    expected[3:, 3:] += [[0, 0.1, -0.2], [0.1, 0, 0.3], [-0.2, 0.3, 0]]
    assert np.array_equal(system.mass().toarray(), expected)


def test_force_is_weight_and_gyroscopic_torque():
    system = da.build(hinged(angular_velocity=(1.0, 2.0, 3.0)))
    f = system.force(0.0, system.design.q, system.design.v)
    w, inertia = np.array([1.0, 2.0, 3.0]), np.diag([0.1, 0.2, 0.3])
    assert np.allclose(f, [0, 0, -19.62, *(-np.cross(w, inertia @ w))], rtol=1e-15)


def test_an_initial_angular_velocity_is_given_in_the_world():
    turned = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    system = da.build(hinged(orientation=turned, angular_velocity=(1.0, 0.0, 0.0)))
    assert np.allclose(system.design.v[3:], [0.0, -1.0, 0.0])


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_the_angle_of_a_hinge_is_continuous_over_many_turns(direction):
    system = da.build(hinged())
    q, step = system.design.q, np.zeros(6)
    for k in range(1, 101):
        angle = direction * 0.7 * k
        step[4] = direction * 0.7
        q = system.advance(q, step)
        assert system.coordinate("hinge", "angle", q) == pytest.approx(angle, abs=1e-12)


def test_a_gear_holds_over_many_turns():
    model = da.Model("gear")
    for name, x in (("wheel", 0.0), ("pinion", 1.0)):
        model.body(name, mass=1.0, inertia=(1, 1, 1), position=(x, 0, 0))
        model.revolute(f"axle of {name}", model.ground, name, at=(x, 0, 0), axis=(0, 0, 1))
    model.gear("gear", "axle of wheel", "axle of pinion", ratio=-3.5)
    system = da.build(model)
    q, d = system.design.q, np.zeros(12)
    for _ in range(200):
        d[5], d[11] = 0.3, -1.05
        q = system.advance(q, d)
    assert system.coordinate("axle of pinion", "angle", q) == pytest.approx(-210.0, abs=1e-10)
    assert np.abs(system.constraint(0.0, q)).max() < 1e-10


def test_the_drawn_position_satisfies_couplings_and_screws():
    rng = np.random.default_rng(5)
    model = coupled(rng)
    model.screw("screw", "one", "two", lead=0.2, at=(0.1, 0.2, 0.3), at_driven=(0.5, 0.2, 0.3), axis=(1, 0, 0))
    system = da.build(model)
    phi = dict(zip(system.layout.rows, system.constraint(0.0, system.design.q), strict=True))
    assert all(abs(phi[row]) < 1e-14 for row in ("gear", "rack", "screw.screw"))
    assert abs(phi["differential"]) > 1e-3  # its offset was given


def test_a_screw_advances_by_its_lead():
    model = da.Model("screw")
    model.body("nut", mass=1.0, inertia=(1, 1, 1))
    model.screw("screw", model.ground, "nut", axis=(0, 0, 1), lead=0.25)
    system = da.build(model)
    q, d = system.design.q, np.zeros(6)
    for _ in range(10):
        d[2], d[5] = 0.25 / 4, np.pi / 2
        q = system.advance(q, d)
    assert system.coordinate("screw", "distance", q) == pytest.approx(0.625, abs=1e-12)
    assert np.abs(system.constraint(0.0, q)).max() < 1e-12


def test_a_driven_hinge_is_closed_when_it_follows_its_law():
    model = hinged()
    model.motion("drive", "hinge", "angle", da.Polynomial((0.0, 2.0, 0.5)))
    system = da.build(model)
    t = 1.3
    theta, rate, acceleration = 2 * t + 0.5 * t**2, 2 + t, 1.0
    s, c = np.sin(theta), np.cos(theta)
    q = system.advance(system.design.q, np.array([0.5 * c - 0.5, 0, -0.5 * s, 0, theta, 0]))
    v = np.array([-0.5 * s * rate, 0, -0.5 * c * rate, 0, rate, 0])
    a_x = -0.5 * (s * acceleration + c * rate**2)
    a_z = -0.5 * (c * acceleration - s * rate**2)
    a = np.array([a_x, 0, a_z, 0, acceleration, 0])
    A = system.jacobian(t, q)
    assert system.n_constraints == 6
    assert np.abs(system.constraint(t, q)).max() < 1e-14
    assert np.abs(A @ v - system.velocity_right_side(t, q)).max() < 1e-14
    assert np.abs(A @ a - system.acceleration_right_side(t, q, v)).max() < 1e-13


def test_a_speed_drive_turns_at_its_rate():
    model = hinged()
    model.motion("drive", "hinge", "angle", da.Speed(da.Constant(3.0)))
    system = da.build(model)
    q = system.advance(system.design.q, np.array([0.5 * np.cos(1.5) - 0.5, 0, -0.5 * np.sin(1.5), 0, 1.5, 0]))
    assert np.abs(system.constraint(0.5, q)).max() < 1e-14


def test_a_rod_reports_its_tension():
    """A bob on a vertical rod: A^T lambda + weight balance gives lambda = m g, in tension."""
    model = da.Model("rod", gravity=(0, 0, -9.81))
    model.body("bob", mass=2.0, position=(0, 0, -3))
    model.distance("rod", model.ground, "bob", at=(0, 0, 0), at_driven=(0, 0, -3))
    system = da.build(model)
    q, v = system.design.q, system.design.v
    A = system.jacobian(0.0, q).toarray()
    assert np.allclose(A.T @ [19.62], system.force(0.0, q, v))


def test_stiffness_without_constraints_is_zero_for_a_pendulum():
    system = da.build(hinged())
    q, v = system.design.q, system.design.v
    multipliers = np.arange(1.0, 6.0)
    assert not np.any(system.stiffness(0.0, q, v, multipliers, with_constraints=False).toarray())
    assert np.any(system.stiffness(0.0, q, v, multipliers).toarray())


def test_wrong_sizes_are_refused_with_the_right_ones():
    system = da.build(hinged())
    with pytest.raises(da.ModelError, match="this system needs 8 numbers"):
        system.constraint(0.0, np.zeros(7))
    with pytest.raises(da.ModelError, match="this system needs 6 numbers"):
        system.force(0.0, system.design.q, np.zeros(5))
    with pytest.raises(da.ModelError, match=r"did you mean 'hinge\.angle'"):
        system.coordinate("hinge", "angel", system.design.q)


def test_evaluations_leave_the_state_alone_and_repeat_to_the_bit():
    rng = np.random.default_rng(3)
    system = da.build(one_joint(rng, "revolute"))
    t, q, v = random_state(rng, system)
    q0, first = q.copy(), system.acceleration_right_side(t, q, v)
    system.stiffness(t, q, v, rng.normal(size=5))
    assert np.array_equal(first, system.acceleration_right_side(t, q, v))
    assert np.array_equal(q, q0)


def test_small_displacements_along_a_motion_obey_the_transport_equation():
    """dv = d' + N d: of two neighbouring motions of a body, by differences in time and between the motions."""
    rng = np.random.default_rng(3)
    model = da.Model("body")
    model.body("body", mass=1.0, inertia=(1, 1, 1))
    system = da.build(model)
    q, (v, d, dv) = system.design.q, rng.normal(size=(3, 6))

    def difference(t, epsilon):
        """Displacement from the first motion to the second at time t: their velocities are v and v + epsilon dv."""
        first = system.advance(q, t * v)
        second = system.advance(system.advance(q, epsilon * d), t * (v + epsilon * dv))
        turn = to_rotation(first[3:7]).inv() * to_rotation(second[3:7])
        return np.concatenate([second[:3] - first[:3], turn.as_rotvec()]) / epsilon

    h, epsilon = 1e-4, 1e-6
    derivative = (difference(h, epsilon) - difference(-h, epsilon)) / (2 * h)
    assert np.allclose(dv, derivative + system.transport(v) @ d, atol=1e-5)
