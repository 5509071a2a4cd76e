"""Accelerations and reactions against closed forms; singular masses, redundant joints, and what is refused."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import dalembert as da

FRAME = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # its x axis is the world's y axis


def solve(model, t=0.0):
    system = da.build(model)
    q, v = system.design.q, system.design.v
    return system, q, da.accelerations(system, t, q, v)


def test_a_compound_pendulum():
    """theta'' = m g l cos(alpha)/(I + m l^2) for a rod inclined by alpha below the horizontal; hinge force m (a - g)."""
    mass, half, alpha, g = 3.0, 0.6, 0.4, 9.81
    turn = Rotation.from_euler("y", alpha)  # the rod is drawn along its own x axis
    model = da.Model("rod", gravity=(0, 0, -g))
    model.body("rod", mass=mass, inertia=da.inertia.rod(mass, 2 * half), position=turn.apply([half, 0, 0]), orientation=turn)
    model.revolute("hinge", model.ground, "rod", orientation=FRAME)
    system, q, solution = solve(model)
    angular = mass * g * half * np.cos(alpha) / (mass * (2 * half) ** 2 / 3)
    expected = angular * half * np.array([-np.sin(alpha), 0.0, -np.cos(alpha)])
    assert np.allclose(solution.acceleration, [*expected, 0.0, angular, 0.0], atol=1e-12)
    force = FRAME @ system.reaction("hinge", 0.0, q, solution.multipliers).force
    assert np.allclose(force, mass * (expected + np.array([0, 0, g])), rtol=1e-12)


def test_a_conical_pendulum_is_held_by_gravity_and_centripetal_force():
    """A bob on a rod that turns about the vertical: tension = m g / cos(beta), w^2 = g / (L cos(beta))."""
    g, length, beta, mass = 9.81, 2.0, 0.7, 1.5
    w = np.sqrt(g / (length * np.cos(beta)))
    place = length * np.array([np.sin(beta), 0, -np.cos(beta)])
    model = da.Model("conical", gravity=(0, 0, -g))
    model.body("bob", mass=mass, position=place, velocity=(0, w * length * np.sin(beta), 0))
    model.distance("rod", model.ground, "bob", at=(0, 0, 0), at_driven=place)
    model.same_orientation("no spin", model.ground, "bob")
    _, _, solution = solve(model)
    assert np.allclose(solution.acceleration[:3], [-(w**2) * length * np.sin(beta), 0, 0], atol=1e-12)
    assert solution.multipliers[0] == pytest.approx(mass * g / np.cos(beta), rel=1e-12)


def test_a_massless_rod_between_two_bodies_is_only_a_constraint():
    """A bob hung from a massless link: the same acceleration as a pendulum of the link's length."""
    model = da.Model("link", gravity=(0, 0, -9.81))
    model.body("link", mass=0.0, position=(0.5, 0, 0))
    model.body("bob", mass=2.0, inertia=(1, 1, 1), position=(1, 0, 0))
    model.revolute("top", model.ground, "link", axis=(0, 1, 0))
    model.fixed("weld", "link", "bob", at=(1, 0, 0))
    _, _, solution = solve(model)
    assert solution.acceleration[10] == pytest.approx(2.0 * 9.81 / (1.0 + 2.0), rel=1e-10)


def test_a_door_on_two_hinges_falls_not_and_shares_its_weight_evenly():
    """Redundant hinges: of all reactions that fit the smallest; both hinges carry half of the weight along their axis."""
    model = da.Model("door", gravity=(0, 0, -10.0))
    model.body("leaf", mass=30.0, inertia=(3, 3, 1), position=(0.5, 0, 1))
    for name, z in (("lower", 0.5), ("upper", 1.5)):
        model.revolute(name, model.ground, "leaf", at=(0, 0, z), axis=(0, 0, 1))
    system, q, solution = solve(model)
    assert np.abs(solution.acceleration).max() < 1e-10
    forces = [system.reaction(name, 0.0, q, solution.multipliers).force for name in ("lower", "upper")]
    assert np.allclose([f[0] for f in forces], 150.0)  # the axis is the x axis of the joint's frame


def test_a_driven_crank_takes_the_torque_of_its_motion():
    """torque = I theta'' for a balanced wheel."""
    model = da.Model("wheel")
    model.body("wheel", mass=1.0, inertia=(0.3, 0.3, 0.6))
    model.revolute("axle", model.ground, "wheel", axis=(0, 0, 1))
    model.motion("spin up", "axle", "angle", da.Polynomial((0.0, 0.0, 2.5)))
    system, q, solution = solve(model)
    assert solution.acceleration[5] == pytest.approx(5.0, rel=1e-12)
    assert system.reaction("axle", 0.0, q, solution.multipliers).torque[0] == pytest.approx(3.0, rel=1e-12)


def test_a_massless_body_that_nothing_holds_is_named():
    model = da.Model("loose", gravity=(0, 0, -9.81))
    model.body("link", mass=0.0)
    model.spherical("ball", model.ground, "link")
    with pytest.raises(da.SolveError, match=r"not unique: body 'link' \(rotation about its x\)"):
        solve(model)


def test_contradicting_motions_are_named():
    model = da.Model("contradiction")
    model.body("wheel", mass=1.0, inertia=(1, 1, 1))
    for name, rate in (("left", 1.0), ("right", 2.0)):
        model.revolute(name, model.ground, "wheel", axis=(0, 0, 1))
        model.motion(f"drive {name}", name, "angle", da.Polynomial((0.0, 0.0, rate)))
    with pytest.raises(da.SolveError, match=r"'left\.Rx', 'right\.Rx' depend on each other and contradict each other"):
        solve(model)
