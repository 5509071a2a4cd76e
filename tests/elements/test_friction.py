"""Friction in joints, from the joint's own reaction, against closed forms and against equations solved by SciPy."""

import numpy as np
import pytest
from scipy.optimize import brentq

import dalembert as da
from dalembert.analysis.simulate import Simulation
from dalembert.kernel.compile import JIT_DISABLED

long = pytest.mark.skipif(JIT_DISABLED, reason="takes long as plain Python")

G, MU = 9.81, 0.25


def block(slope, speed=1.0, joint="planar", **friction):
    """A block of 1.7 kg on a plane that gravity is inclined to, sliding along x."""
    model = da.Model("block", gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    model.body("block", mass=1.7, inertia=(1, 2, 3), velocity=(speed, 0, 0))
    model.joint("plane", joint, model.ground, "block", axis=(0, 0, 1) if joint == "planar" else (1, 0, 0))
    model.friction("dry", "plane", **({"coefficient": MU} | friction))
    return model


def start(model):
    system = da.build(model)
    return system, da.assemble(system)


@pytest.mark.parametrize("joint", ["planar", "prismatic"])
def test_a_block_slides_down(joint):
    """x'' = g (sin a - mu cos a), and the constraint force Q^c has the friction in it (Udwadia and Schutte 2010, eq. 6)."""
    slope = 0.4
    system, at = start(block(slope, joint=joint))
    found = da.accelerations(system, at.t, at.q, at.v)
    np.testing.assert_allclose(found.acceleration[:3], [G * (np.sin(slope) - MU * np.cos(slope)), 0, 0], atol=1e-12)
    normal = 1.7 * G * np.cos(slope)
    np.testing.assert_allclose(found.constraint_force[:3], [-MU * normal, 0, normal], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(system.non_ideal_force(at.t, at.q, at.v)[:3], [-MU * normal, 0, 0], rtol=1e-12, atol=1e-12)


@long
@pytest.mark.parametrize(
    "control", [{"method": "dopri5", "atol": 1e-8}, {"method": "generalized_alpha", "step": 2e-3}, {"atol": 1e-8}]
)
def test_a_block_stops_and_creeps_no_faster_than_the_regularisation_lets_it(control):
    slope, speed, u0 = 0.1, 1.0, 1e-3
    run = da.simulate(block(slope, speed), duration=1.2, output_step=0.1, **control)
    brake = G * (MU * np.cos(slope) - np.sin(slope))
    before = run.time.values < speed / brake - 0.05
    exact = speed * run.time.values - brake * run.time.values**2 / 2
    np.testing.assert_allclose(run.position.values[before, 0, 0], exact[before], atol=1e-5)
    assert abs(run.position.values[-1, 0, 0] - speed**2 / (2 * brake)) < 1e-3
    creep = u0 * np.arctanh(np.tan(slope) / MU)  # tanh(v/u0) mu cos a = sin a
    np.testing.assert_allclose(run.velocity.values[-1, 0, 0], creep, rtol=1e-3)
    np.testing.assert_allclose(run.joint_force.values[:, 0, 0], 1.7 * G * np.cos(slope), rtol=1e-9)


def pendulum_acceleration(angle, rate, mass, arm, inertia, radius, mu, u0=1e-3):
    """Of a compound pendulum in a journal bearing, by one equation in the acceleration, friction and reaction both in it."""

    def left(a):
        radial, tangential = mass * (G * np.cos(angle) + arm * rate**2), mass * (G * np.sin(angle) + arm * a)
        brake = mu * radius * np.hypot(radial, tangential) * np.tanh(radius * rate / u0)
        return (inertia + mass * arm**2) * a + mass * G * arm * np.sin(angle) + brake

    return brentq(left, -1e3, 1e3, xtol=1e-13, rtol=1e-15)


@pytest.mark.parametrize(("rate", "radius", "mu"), [(2.0, 0.05, 0.3), (-3.0, 0.1, 0.8), (1e-3, 0.05, 0.5), (1e-9, 0.05, 0.5)])
def test_a_pendulum_in_a_journal_bearing(rate, radius, mu):
    mass, arm, inertia, angle = 2.0, 0.7, 0.3, 0.9
    model = da.Model("pendulum", gravity=(0, 0, -G))
    place = (arm * np.sin(angle), 0, -arm * np.cos(angle))
    speed = (arm * np.cos(angle) * rate, 0, arm * np.sin(angle) * rate)
    spin = (0, -rate, 0)  # about y, from -z to +x it turns backwards
    model.body("bob", mass=mass, inertia=(1, inertia, 1), position=place, velocity=speed, angular_velocity=spin)
    model.revolute("hinge", model.ground, "bob", axis=(0, 1, 0))
    model.friction("bearing", "hinge", coefficient=mu, radius=radius)
    system, at = start(model)
    found = -da.accelerations(system, at.t, at.q, at.v).acceleration[4]
    assert found == pytest.approx(pendulum_acceleration(angle, rate, mass, arm, inertia, radius, mu), rel=1e-10)


def test_a_guide_of_some_length_is_pressed_by_moments():
    """A slider pushed at a height h above its guide: N = m g + 2 P h / L (statics of a drawer)."""
    push, height, length = 30.0, 0.2, 0.5
    model = da.Model("drawer", gravity=(0, 0, -G))
    model.body("drawer", mass=2.0, inertia=(1, 1, 1), velocity=(0.5, 0, 0))
    model.prismatic("guide", model.ground, "drawer", axis=(1, 0, 0))
    model.load("push", "drawer", force=(push, 0, 0), at=(0, 0, height))
    model.friction("dry", "guide", coefficient=MU, length=length)
    system, at = start(model)
    normal = 2.0 * G + 2.0 * push * height / length
    found = da.accelerations(system, at.t, at.q, at.v).acceleration[0]
    assert found == pytest.approx((push - MU * normal) / 2.0, rel=1e-12)


def test_a_ball_joint_brakes_against_its_rotation():
    model = da.Model("ball", gravity=(0, 0, -G))
    w = np.array([1.0, -2.0, 0.5])
    model.body("ball", mass=3.0, inertia=(0.4, 0.4, 0.4), angular_velocity=w)
    model.spherical("socket", model.ground, "ball", at=(0, 0, 0))
    model.friction("dry", "socket", coefficient=0.2, radius=0.03)
    system, at = start(model)
    torque = -0.2 * 0.03 * 3.0 * G * w / np.linalg.norm(w)
    np.testing.assert_allclose(da.accelerations(system, at.t, at.q, at.v).acceleration[3:], torque / 0.4, atol=1e-12)


def test_viscous_friction_is_a_damper():
    """The same as the damper of a torsion spring with c r^2; and no reaction is needed, redundant or not."""
    found = []
    for how in ("friction", "damper"):
        model = da.Model("wheel")
        model.body("wheel", mass=1.0, inertia=(0.1, 0.2, 0.3), angular_velocity=(0, 0, 4.0))
        for k in (0, 1):
            model.revolute(f"bearing {k}", model.ground, "wheel", at=(0, 0, k), axis=(0, 0, 1))
        if how == "friction":
            model.friction("oil", "bearing 0", viscous=8.0, radius=0.05)
        else:
            model.torsion_spring("oil", "bearing 0", damping=8.0 * 0.05**2)
        system, at = start(model)
        found.append(da.accelerations(system, at.t, at.q, at.v).acceleration)
        D = system.damping(at.t, at.q, np.zeros(6), np.zeros(system.n_constraints)).toarray()
        assert D[5, 5] == pytest.approx(0.02)
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)


def crank():
    """A crank and a slider with friction everywhere, under gravity."""
    model = da.Model("slider-crank", gravity=(0, 0, -G))
    model.body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.1, 0, 0.1), angular_velocity=(0, 3.0, 0))
    model.body("rod", mass=0.6, inertia=(0.05, 0.05, 0.05), position=(0.4, 0, 0.1))
    model.body("slider", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0.6, 0, 0))
    model.revolute("main", model.ground, "crank", at=(0, 0, 0), axis=(0, 1, 0))
    model.spherical("pin", "crank", "rod", at=(0.2, 0, 0.2))
    model.universal("wrist", "rod", "slider", at=(0.6, 0, 0), axis=(0, 1, 0), axis_driven=(0, 0, 1))
    model.prismatic("guide", model.ground, "slider", at=(0.6, 0, 0), axis=(1, 0, 0))
    for joint in ("main", "pin", "guide"):
        model.friction(f"of {joint}", joint, coefficient=0.2, radius=0.02, velocity=0.05)
    return model


def test_friction_takes_energy_and_its_tangents_are_those_of_the_whole():
    system, at = start(crank())
    assert np.abs(at.v).max() > 0.1
    C = system.non_ideal_force(at.t, at.q, at.v)
    assert C @ at.v < -1e-3
    lam = da.accelerations(system, at.t, at.q, at.v).multipliers
    rng = np.random.default_rng(0)
    for d in rng.standard_normal((3, system.n_velocities)):
        h = 1e-6
        by_v = (system.force(at.t, at.q, at.v + h * d) - system.force(at.t, at.q, at.v - h * d)) / (2 * h)
        np.testing.assert_allclose(-(system.damping(at.t, at.q, at.v, lam) @ d), by_v, atol=1e-5 * np.abs(by_v).max())
        places = [system.advance(at.q, s * h * d) for s in (1, -1)]
        by_q = (system.force(at.t, places[0], at.v) - system.force(at.t, places[1], at.v)) / (2 * h)
        K = system.stiffness(at.t, at.q, at.v, lam, with_constraints=False)
        np.testing.assert_allclose(-(K @ d), by_q, atol=1e-5 * np.abs(by_q).max())


def test_at_rest_the_damping_is_that_of_slow_sliding():
    system, at = start(crank())
    rest = np.zeros(system.n_velocities)
    D = system.damping(at.t, at.q, rest, None)
    for d in np.random.default_rng(1).standard_normal((3, rest.size)):
        h = 1e-7
        slope = (system.force(at.t, at.q, h * d) - system.force(at.t, at.q, -h * d)) / (2 * h)
        np.testing.assert_allclose(-(D @ d), slope, atol=1e-6 * np.abs(slope).max())
    assert not system.non_ideal_force(at.t, at.q, rest).any()


@long
def test_both_integrators_agree_on_a_mechanism_with_friction():
    runs = [
        da.simulate(crank(), duration=0.5, output_step=0.1, **control)
        for control in ({"method": "dopri5", "rtol": 1e-9, "atol": 1e-9}, {"method": "generalized_alpha", "step": 1e-4})
    ]
    np.testing.assert_allclose(runs[0].position, runs[1].position, atol=2e-6)
    total = (runs[0].kinetic_energy + runs[0].potential_energy).values
    assert np.all(np.diff(total) < 0.0)
    assert runs[0].constraint_violation.max() < 1e-9


@long
def test_pieces_change_no_bit_with_friction():
    whole = da.simulate(crank(), duration=0.2, output_step=0.05, method="dopri5")
    pieces = Simulation(crank(), duration=0.2, output_step=0.05, method="dopri5")
    pieces.start()
    while not pieces.done:
        pieces._budget = 3
        pieces.advance()
    np.testing.assert_array_equal(pieces.run().position, whole.position)


@pytest.mark.parametrize(
    ("joint", "arguments", "message"),
    [
        ("fixed", {"coefficient": 0.2}, "leaves nothing free"),
        ("revolute", {"coefficient": 0.2}, "only turns, and the radius is zero"),
        ("screw", {"coefficient": 0.2, "radius": 0.1}, "friction of a screw joint is not known"),
        ("revolute", {}, "does nothing"),
        ("revolute", {"coefficient": -0.2}, "coefficient"),
        ("revolute", {"coefficient": 0.2, "length": 0.0}, "length is zero"),
        ("revolute", {"coefficient": np.nan}, "coefficient"),
    ],
)
def test_bad_friction_is_refused(joint, arguments, message):
    model = da.Model("bad")
    model.body("body", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    model.joint("joint", joint, model.ground, "body", at=(0, 0, 0), **({"lead": 0.01} if joint == "screw" else {}))

    def build():
        model.friction("bad", "joint", **arguments)
        da.build(model)

    with pytest.raises(da.ModelError, match=rf"friction 'bad'.*{message}"):
        build()


def door():
    model = da.Model("door", gravity=(0, 0, -G))
    model.body("leaf", mass=20.0, inertia=(1, 1, 2), position=(0.5, 0, 1), angular_velocity=(0, 0, 1))
    for k in (0, 1):
        model.revolute(f"hinge {k}", model.ground, "leaf", at=(0, 0, k), axis=(0, 0, 1))
    return model


@pytest.mark.parametrize("method", ["auto", "dopri5", "index1", "generalized_alpha", "hht"])
def test_friction_of_reactions_that_are_not_unique_is_refused(method):
    model = door()
    model.friction("rust", "hinge 0", coefficient=0.3, radius=0.01)
    with pytest.raises(da.ModelError, match=r"friction 'rust'.*reaction of joint 'hinge 0' is not unique.*release"):
        da.simulate(model, duration=0.1, method=method)


def test_viscous_friction_there_is_welcome_beside_dry_friction_elsewhere():
    model = door()
    model.friction("oil", "hinge 0", viscous=5.0, radius=0.01)
    model.body("latch", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 1), velocity=(0, 1.5, 0), angular_velocity=(0, 0, 1.5))
    model.revolute("pivot", "leaf", "latch", at=(1, 0, 1), axis=(0, 0, 1))
    model.friction("dry", "pivot", coefficient=0.3, radius=0.01)
    system, at = start(model)
    assert system.non_ideal_force(at.t, at.q, at.v) @ at.v < 0.0


def test_joints_that_jam_are_reported():
    """A drawer pulled far off its short guide: friction grows with the reaction that it causes (2 mu h / L > 1)."""
    model = da.Model("drawer", gravity=(0, 0, -G))
    model.body("drawer", mass=2.0, inertia=(1, 1, 1), position=(0, 0, 0), velocity=(0.5, 0, 0))
    model.prismatic("guide", model.ground, "drawer", at=(0, 0, -0.6), axis=(1, 0, 0))
    model.load("push", "drawer", force=(30.0, 0, 0))
    model.friction("dry", "guide", coefficient=0.9, length=0.1)
    system, at = start(model)
    with pytest.raises(da.SolveError, match=r"jam \('dry' in 'guide'\)"):
        da.accelerations(system, at.t, at.q, at.v)
