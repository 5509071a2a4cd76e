"""Generalized-alpha and HHT: orders on closed forms, repeatability to the bit, continuation, failures."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.special import ellipj, ellipk

import dalembert as da
from dalembert.elements.joint import frame_about
from dalembert.integrators.common import IntegrationError, new_samples
from dalembert.integrators.implicit import ImplicitIntegrator, generalized_alpha, hht_alpha
from dalembert.kernel.compile import JIT_DISABLED

MASS, HALF, GRAVITY, START = 2.0, 0.5, 9.81, 1.2  # a slender rod on a hinge, released at 1.2 rad
OMEGA = np.sqrt(1.5 * GRAVITY / (2 * HALF))  # of small swings


def rod():
    turn = Rotation.from_euler("y", -START)
    model = da.Model("rod", gravity=(0, 0, -GRAVITY))
    place = turn.apply([0, 0, -HALF])
    inertia = da.inertia.rod(MASS, 2 * HALF, axis="z")
    model.body("rod", mass=MASS, inertia=inertia, position=place, orientation=turn)
    model.revolute("hinge", model.ground, "rod", axis=(0, 1, 0))
    return da.build(model)


def exact(t):
    """Angle from the vertical, its rate and acceleration: sin(angle/2) = k cd(omega t), k = sin(start/2)."""
    k = np.sin(START / 2)
    sn, cn, _, _ = ellipj(ellipk(k**2) - OMEGA * t, k**2)
    angle = 2 * np.arcsin(k * sn)
    return angle, -2 * k * OMEGA * cn, -(OMEGA**2) * np.sin(angle)


def state_of_rod(t):
    """Position, velocity and hinge force in the world, from the exact angle."""
    angle, rate, acceleration = exact(t)
    radial, tangential = np.array([np.sin(angle), 0, -np.cos(angle)]), np.array([np.cos(angle), 0, np.sin(angle)])
    a = HALF * (acceleration * tangential - rate**2 * radial)
    return HALF * radial, HALF * rate * tangential, MASS * (a + np.array([0, 0, GRAVITY]))


def integrate(system, times, **options):
    integrator = ImplicitIntegrator(system, **options)
    integrator.start(0.0, system.design.q, system.design.v)
    samples = new_samples(system, len(times))
    assert integrator.run_chunk(np.asarray(times, float), samples, budget=10**9) == len(times)
    return integrator, samples


def errors_of_rod(step, coefficients, **options):
    system = rod()
    _, samples = integrate(system, [1.0], step=step, coefficients=coefficients, newton_tolerance=1e-12, **options)
    position, velocity, force = state_of_rod(1.0)
    reaction = system.reaction("hinge", 1.0, samples.q[0], samples.lam[0]).force
    world = frame_about(np.array([0.0, 1.0, 0.0])).apply(reaction)
    return [np.abs(x - y).max() for x, y in ((samples.q[0, :3], position), (samples.v[0, :3], velocity), (world, force))]


@pytest.mark.parametrize("closing", [True, False])
@pytest.mark.parametrize("coefficients", [generalized_alpha(0.9), generalized_alpha(0.5), hht_alpha(-0.2), hht_alpha(0.0)])
def test_positions_velocities_and_reactions_are_of_second_order(coefficients, closing):
    coarse, fine = (errors_of_rod(h, coefficients, closing_projection=closing) for h in (2e-3, 1e-3))
    orders = np.log2(np.array(coarse) / fine)
    if coefficients == hht_alpha(0.0) and not closing:  # no damping at all: multipliers are neutrally stable, no order holds
        orders = orders[:2]
    assert np.all(orders > 1.9)
    assert np.all(orders < 2.2)


def test_error_control_converges_as_a_method_of_second_order():
    """The error of the whole run goes with tolerance^(2/3), the number of steps with tolerance^(-1/3)."""
    steps, errors = [], []
    for rtol in (1e-6, 1e-9):
        integrator, samples = integrate(rod(), [1.0], rtol=rtol, atol=rtol, newton_tolerance=1e-12)
        errors.append(np.abs(samples.q[0, :3] - state_of_rod(1.0)[0]).max())
        steps.append(integrator.statistics["steps"])
    assert errors[0] < 1e-3
    assert 1.5 / 3 < np.log(errors[0] / errors[1]) / np.log(1000) < 2.5 / 3
    assert 0.8 / 3 < np.log(steps[1] / steps[0]) / np.log(1000) < 1.2 / 3


def test_the_closing_projection_satisfies_all_levels():
    system = rod()
    _, samples = integrate(system, [0.3, 0.7], step=1e-2)
    for t, q, v, a in zip((0.3, 0.7), samples.q, samples.v, samples.a, strict=True):
        A = system.jacobian(t, q)
        assert np.abs(system.constraint(t, q)).max() < 1e-14
        assert np.abs(A @ v - system.velocity_right_side(t, q)).max() < 1e-13
        assert np.abs(A @ a - system.acceleration_right_side(t, q, v)).max() < 1e-11


def test_chunks_of_any_budget_give_the_bits_of_one_call():
    times = np.linspace(0.1, 0.5, 5)
    _, whole = integrate(rod(), times, step=1e-3)
    system = rod()
    integrator = ImplicitIntegrator(system, step=1e-3)
    integrator.start(0.0, system.design.q, system.design.v)
    pieces, filled = new_samples(system, times.size), 0
    while filled < times.size:
        part = type(pieces)(*(array[filled:] for array in pieces))
        filled += integrator.run_chunk(times[filled:], part, budget=37)
    for one, other in zip(whole, pieces, strict=True):
        assert np.array_equal(one, other)


def test_a_checkpoint_goes_on_with_the_same_bits():
    _, whole = integrate(rod(), [0.2, 0.4], step=1e-3)
    first, _ = integrate(rod(), [0.2], step=1e-3)
    data = {name: value.copy() for name, value in first.checkpoint().items()}
    system = rod()
    second = ImplicitIntegrator(system, step=1e-3)
    second.restore(data)
    samples = new_samples(system, 1)
    second.run_chunk(np.array([0.4]), samples)
    assert np.array_equal(samples.q[0], whole.q[1])
    assert np.array_equal(samples.lam[0], whole.lam[1])


def test_a_driven_crank_follows_its_law_over_many_turns():
    model = da.Model("crank")
    model.body("crank", mass=1.0, inertia=(0.1, 0.1, 0.2), position=(0.3, 0, 0))
    model.revolute("axle", model.ground, "crank", axis=(0, 0, 1))
    model.motion("drive", "axle", "angle", da.Polynomial((0.0, 20.0)))
    run = da.simulate(model, duration=3.0, step=1e-3, output_step=0.5)
    angle = 20.0 * run.time.values
    assert np.allclose(run.position.values[:, 0, 0], 0.3 * np.cos(angle), atol=1e-12)
    assert np.allclose(np.linalg.norm(run.joint_force.values[:, 0], axis=-1), 1.0 * 20.0**2 * 0.3, rtol=1e-10)


def test_stiff_springs_converge_with_their_tangents():
    """A mass on a stiff spring and damper: the damped oscillation in closed form."""
    mass, k, c = 1.0, 1e4, 20.0
    model = da.Model("oscillator")
    model.body("mass", mass=mass, inertia=(1, 1, 1), position=(1.01, 0, 0))
    model.prismatic("rail", model.ground, "mass", at=(1.01, 0, 0), axis=(1, 0, 0))
    model.spring("spring", model.ground, "mass", at=(0, 0, 0), at_driven=(1.01, 0, 0), stiffness=k, damping=c, free_length=1.0)
    run = da.simulate(model, duration=0.2, step=2e-4, output_step=0.05)
    delta, omega = c / (2 * mass), np.sqrt(k / mass - (c / (2 * mass)) ** 2)
    t = run.time.values
    x = 1.0 + 0.01 * np.exp(-delta * t) * (np.cos(omega * t) + delta / omega * np.sin(omega * t))
    assert np.abs(run.position.values[:, 0, 0] - x).max() < 2e-5
    assert run.attrs["iterations"] / run.attrs["steps"] < 3.0


def test_a_redundant_door_swings_and_its_reactions_are_not_unique():
    model = da.Model("door", gravity=(0, 0, -9.81))
    model.body("leaf", mass=30.0, inertia=(3, 3, 1), position=(0.5, 0, 1), velocity=(0, 0.5, 0), angular_velocity=(0, 0, 1))
    for name, z in (("lower", 0.5), ("upper", 1.5)):
        model.revolute(name, model.ground, "leaf", at=(0, 0, z), axis=(0, 0, 1))
    run = da.simulate(model, duration=2.0, step=1e-2, output_step=0.5)
    assert np.allclose(run.position.values[:, 0, 0], 0.5 * np.cos(run.time.values), atol=2e-5)
    assert not run.joint_unique.any()
    assert float(run.constraint_violation.max()) < 1e-11


@pytest.mark.parametrize(("make", "message"), [
    (lambda: generalized_alpha(1.5), "is not between 0 and 1"),
    (lambda: hht_alpha(-0.5), "is not between -1/3 and 0"),
    (lambda: ImplicitIntegrator(rod()), "neither a step nor a tolerance"),
    (lambda: da.simulate(da.Model("m"), duration=1.0), "it has no body"),
])  # fmt: skip
def test_wrong_settings_are_refused(make, message):
    with pytest.raises(da.ModelError, match=message):
        make()


def test_a_force_that_fails_stops_the_motion_with_its_own_error():
    model = da.Model("failing")
    model.body("mass", mass=1.0, inertia=(1, 1, 1))

    def force(t, q, v):
        raise RuntimeError("no force any more")

    model.user_force("broken", force, bodies=("mass",))
    with pytest.raises((RuntimeError, da.ModelError, IntegrationError), match="no force any more"):
        da.simulate(model, duration=1.0, step=1e-2)


@pytest.mark.skipif(JIT_DISABLED, reason="takes minutes as plain Python")
def test_small_steps_of_a_redundant_linkage_keep_converging():
    """A four-bar linkage of four hinges in space: rounding of phi / h^2 must not blow up what is not unique."""
    model = da.Model("four bar", gravity=(0, 0, -9.81))
    points = {"A": (0, 0, 0), "B": (0, 0, 0.1), "C": (0.35, 0, 0.28), "D": (0.4, 0, 0)}
    for name, (a, b) in {"crank": "AB", "coupler": "BC", "rocker": "DC"}.items():
        middle = (np.array(points[a]) + points[b]) / 2
        model.body(name, mass=1.0, inertia=(1e-2, 1e-2, 1e-2), position=middle)
    pairs = {"A": ("ground", "crank"), "B": ("crank", "coupler"), "C": ("coupler", "rocker"), "D": ("ground", "rocker")}
    for name, pair in pairs.items():
        model.revolute(name, *pair, at=points[name], axis=(0, 1, 0))
    integrator, _ = integrate(da.build(model), [0.25], step=2e-5)
    assert integrator.statistics["iterations"] / integrator.statistics["steps"] < 3.5
    assert np.abs(integrator.track.lam).max() < 1e4  # what is unique stays below 1e2 N
