"""Explicit integration: order, closed forms, constraints at all levels, break points, chunks and checkpoints, failures."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.special import ellipj, ellipk

import dalembert as da
from dalembert.integrators.common import IntegrationError, new_samples
from dalembert.integrators.explicit import ExplicitIntegrator
from dalembert.kernel.compile import JIT_DISABLED
from dalembert.rotation.quaternion import to_rotation
from random_models import coupled

long = pytest.mark.skipif(JIT_DISABLED, reason="takes minutes as plain Python")

TIGHT = {"rtol": 1e-11, "atol": 1e-11}


def integrate(model, times, budget=2000, **options):
    """Samples at the times, the integrator and the system."""
    system = da.build(model)
    integrator = ExplicitIntegrator(system, **options)
    integrator.start(0.0, system.design.q, system.design.v)
    return (*run(system, integrator, times, budget), system)


def run(system, integrator, times, budget=2000):
    times = np.asarray(times, float)
    out, filled = new_samples(system, times.size), 0
    while filled < times.size:
        filled += integrator.run_chunk(times[filled:], type(out)(*(a[filled:] for a in out)), budget)
    return out, integrator


def pendulum(gravity=9.81, mass=2.0, arm=1.0, inertia=0.3):
    model = da.Model("pendulum", gravity=(0, 0, -gravity))
    model.body("bob", mass=mass, inertia=(0.1, inertia, 0.2), position=(arm, 0, 0))
    model.revolute("hinge", model.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0))
    return model


def spatial_chain(n=4):
    model = da.Model("chain", gravity=(0, 0, -9.81))
    above = model.ground
    for k in range(n):
        body = model.body(
            f"link {k}", mass=1.0, inertia=da.inertia.box(1.0, (0.5, 0.05, 0.05)), position=(0.5 * k + 0.25, 0, 0)
        )
        axis = (0, 0.6, 0.8) if k % 2 else (0, 1, 0)
        model.revolute(f"hinge {k}", above, body, at=(0.5 * k, 0, 0), axis=axis)
        above = body
    return model


def pendulum_angle(t, omega):
    """Angle from the vertical of a pendulum released at rest from the horizontal: sin(theta/2) = k sn(K - omega t, k)."""
    k2 = 0.5
    sn, _, _, _ = ellipj(ellipk(k2) - omega * np.asarray(t), k2)
    return 2.0 * np.arcsin(np.sqrt(k2) * sn)


def position_at(fixed_step, model, end, **options):
    out, _, _ = integrate(model, [end], fixed_step=fixed_step, **options)
    return np.concatenate([out.q[0], out.v[0]])


def order(model, options):
    """Observed order, over four halvings of the step, 40 to 2.5 ms."""
    exact = position_at(0.0005, model, 0.4, **options)
    errors = [np.abs(position_at(h, model, 0.4, **options) - exact).max() for h in (0.04, 0.0025)]
    return np.log2(errors[0] / errors[1]) / 4.0


@long
@pytest.mark.parametrize("formulation", ["projection", "index1", "baumgarte", "braun_goldfarb"])
def test_the_order_is_five(formulation):
    options = {"formulation": formulation}
    if formulation == "braun_goldfarb":
        options |= {"alpha": 5.0, "beta": 5.0}
    assert 4.8 < order(spatial_chain(3), options) < 6.2


@long
@pytest.mark.parametrize("options", [{"weights": "identity", "length": 0.3}, {"project_stages": True}])
def test_the_order_is_five_however_it_is_projected(options):
    assert 4.8 < order(spatial_chain(3), options) < 6.2


@long
def test_the_dense_output_is_of_order_four():
    times = np.linspace(0.0, 0.4, 87)
    exact = integrate(pendulum(), times, fixed_step=0.002)[0].q
    errors = [np.abs(integrate(pendulum(), times, fixed_step=h)[0].q - exact).max() for h in (0.04, 0.02)]
    assert 3.8 < np.log2(errors[0] / errors[1]) < 6.0


@long
def test_a_compound_pendulum_follows_the_elliptic_functions():
    times = np.linspace(0.0, 10.0, 101)
    out, _, _ = integrate(pendulum(), times, **TIGHT)
    angle = pendulum_angle(times, np.sqrt(2.0 * 9.81 * 1.0 / (0.3 + 2.0 * 1.0)))
    assert np.abs(out.q[:, 0] - np.sin(angle)).max() < 1e-8
    assert np.abs(out.q[:, 2] + np.cos(angle)).max() < 1e-8


@long
def test_a_torque_free_body_follows_the_solution_of_jacobi():
    """w = (a cn, b sn, c dn)(Omega t) for I1 < I2 < I3 and h^2 > 2 T I2 (Landau, Lifshitz, Mechanics, section 37)."""
    inertia, w0 = np.array([1.0, 2.0, 3.0]), np.array([0.8, 0.0, 1.5])
    model = da.Model("free")
    model.body("body", mass=1.0, inertia=inertia, angular_velocity=w0)
    times = np.linspace(0.0, 10.0, 51)
    out, integrator, system = integrate(model, times, **TIGHT)
    I1, I2, I3 = inertia
    omega = np.sqrt((I3 - I2) * (I3 - I1) / (I1 * I2)) * w0[2]
    k2 = I1 * (I2 - I1) * w0[0] ** 2 / (I3 * (I3 - I2) * w0[2] ** 2)
    sn, cn, dn, _ = ellipj(omega * times, k2)
    b = w0[0] * np.sqrt(I1 * (I3 - I1) / (I2 * (I3 - I2)))
    assert np.abs(out.v[:, 3:] - np.column_stack([w0[0] * cn, b * sn, w0[2] * dn])).max() < 1e-8
    rotations = [to_rotation(q[3:7]).as_matrix() for q in out.q]
    momentum = np.array([R @ (inertia * w) for R, w in zip(rotations, out.v[:, 3:], strict=True)])
    assert np.abs(momentum - inertia * w0).max() < 1e-8
    assert integrator.statistics["rejected_steps"] < 10
    assert system.n_constraints == 0


@long
def test_a_heavy_top_keeps_energy_and_two_angular_momenta():
    """Energy, the momentum about the vertical, and that about the figure axis."""
    mass, arm, g, inertia = 1.5, 0.4, 9.81, np.array([0.05, 0.05, 0.03])
    tilt = np.array([np.sin(0.5), 0.0, np.cos(0.5)])
    turn = Rotation.from_euler("y", 0.5)
    w = turn.apply([0.0, 0.0, 60.0])
    model = da.Model("top", gravity=(0, 0, -g))
    model.body(
        "top",
        mass=mass,
        inertia=inertia,
        position=arm * tilt,
        orientation=turn,
        angular_velocity=w,
        velocity=np.cross(w, arm * tilt),
    )
    model.spherical("tip", model.ground, "top", at=(0, 0, 0))
    out, _, _ = integrate(model, np.linspace(0.0, 3.0, 31), rtol=1e-10, atol=1e-10)
    kept = []
    for q, v in zip(out.q, out.v, strict=True):
        R = to_rotation(q[3:7]).as_matrix()
        energy = 0.5 * mass * v[:3] @ v[:3] + 0.5 * v[3:] @ (inertia * v[3:]) + mass * g * q[2]
        momentum = R @ (inertia * v[3:]) + mass * np.cross(q[:3], v[:3])
        kept.append([energy, momentum[2], momentum @ R[:, 2]])
    assert np.abs(np.array(kept) / kept[0] - 1.0).max() < 1e-7
    assert np.ptp(out.q[:, 2]) > 0.001  # it nutates


@long
@pytest.mark.parametrize("rtol", [1e-3, 1e-9])
@pytest.mark.parametrize("weights", ["mass", "identity"])
def test_constraints_hold_at_all_levels(rtol, weights):
    times = np.linspace(0.0, 2.0, 41)
    out, integrator, system = integrate(spatial_chain(), times, rtol=rtol, atol=rtol, weights=weights)
    for k, t in enumerate(times):
        assert np.abs(system.constraint(t, out.q[k])).max() <= 1e-12
        assert np.abs(system.jacobian(t, out.q[k]) @ out.v[k] - system.velocity_right_side(t, out.q[k])).max() <= 1e-12
        b2 = system.acceleration_right_side(t, out.q[k], out.v[k])
        assert np.abs(system.jacobian(t, out.q[k]) @ out.a[k] - b2).max() <= 1e-12 * max(1.0, np.abs(out.a[k]).max())
    largest = integrator.statistics
    assert largest["position_violation"] <= 1e-12
    assert largest["velocity_violation"] <= 1e-12
    assert largest["acceleration_violation"] <= 1e-10


@long
def test_what_does_not_project_drifts():
    _, integrator, _ = integrate(spatial_chain(), [2.0], rtol=1e-4, atol=1e-4, formulation="index1")
    _, stabilised, _ = integrate(spatial_chain(), [2.0], rtol=1e-4, atol=1e-4, formulation="baumgarte", alpha=5.0, beta=5.0)
    assert integrator.statistics["position_violation"] > 5.0 * stabilised.statistics["position_violation"] > 0.0


def test_couplings_and_their_angles():
    """Gear, rack and pinion, differential: drawn open, closed by the start, and kept so."""
    model = coupled(np.random.default_rng(1))
    times = np.linspace(0.0, 1.0, 5)
    out, _, system = integrate(model, times, rtol=1e-8, atol=1e-8)
    assert max(np.abs(system.constraint(t, q)).max() for t, q in zip(times, out.q, strict=True)) <= 1e-12


def driven(law):
    model = da.Model("driven", gravity=(0, 0, -9.81))
    model.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    model.body("end", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.5, 0, 0))
    model.revolute("motor", model.ground, "arm", axis=(0, 1, 0))
    model.revolute("elbow", "arm", "end", at=(1, 0, 0), axis=(0, 1, 0))
    model.motion("drive", "motor", "angle", law)
    return model


def test_a_driven_joint_follows_its_law():
    law = da.Polynomial((0.0, 0.0, 1.5))
    times = np.linspace(0.0, 3.0, 31)
    out, _, system = integrate(driven(law), times, rtol=1e-8, atol=1e-8)
    angles = [system.coordinate("motor", "angle", q) for q in out.q]
    assert np.abs(np.array(angles) - 1.5 * times**2).max() < 1e-11  # over two turns
    assert np.abs(out.v[:, 4] - 3.0 * times).max() < 1e-11
    assert np.abs(out.a[:, 4] - 3.0).max() < 1e-10


def test_break_points_are_hit_and_a_kink_is_an_impact():
    """A ramp starts at 0.5 s with a jump of its rate: the free elbow is struck, and takes the velocity of the impact."""
    law = da.Ramp(start_value=0.0, slope=1.0, start_time=0.5, end_time=1.25)
    assert law.break_points() == (0.5, 1.25)
    ends = []
    model = driven(law)
    system = da.build(model)
    integrator = ExplicitIntegrator(system, rtol=1e-8, atol=1e-8, breaks=law.break_points())
    integrator.start(0.0, system.design.q, system.design.v)
    out = new_samples(system, 1)
    while integrator.run_chunk(np.array([2.0]), out, 1) == 0:
        ends.append(integrator.time)
    assert {0.5, 1.25} <= set(ends)
    assert integrator.statistics["rejected_steps"] <= 4  # the step to a break point sees nothing of what is behind
    assert integrator.statistics["velocity_violation"] <= 1e-12
    before = 0.5 - 1e-12
    out, _, _ = integrate(model, [before, 0.5, 0.6], rtol=1e-8, atol=1e-8, breaks=law.break_points())
    assert np.abs(out.v[0, 4]) < 1e-12
    assert out.v[1:, 4] == pytest.approx(1.0, abs=1e-12)
    A, M = system.jacobian(0.5, out.q[1]).toarray(), system.mass().toarray()
    jump = system.velocity_right_side(0.5, out.q[1]) - system.velocity_right_side(before, out.q[0])
    X = np.linalg.solve(M, A.T)
    assert np.allclose(out.v[1] - out.v[0], X @ np.linalg.solve(A @ X, jump), atol=1e-8)
    assert np.abs(out.v[1, 6:] - out.v[0, 6:]).max() > 0.1


@long
def test_a_massless_link():
    """A bob on a massless link swings like a pendulum of the link's length."""
    model = da.Model("link", gravity=(0, 0, -9.81))
    model.body("link", mass=0.0, position=(0.5, 0, 0))
    model.body("bob", mass=2.0, inertia=(1, 1, 1), position=(1, 0, 0))
    model.revolute("top", model.ground, "link", axis=(0, 1, 0))
    model.fixed("weld", "link", "bob", at=(1, 0, 0))
    times = np.linspace(0.0, 3.0, 7)
    out, integrator, _ = integrate(model, times, rtol=1e-9, atol=1e-9)
    angle = pendulum_angle(times, np.sqrt(2.0 * 9.81 / 3.0))
    assert np.abs(out.q[:, 7] - np.sin(angle)).max() < 1e-6
    assert integrator.statistics["velocity_violation"] <= 1e-12


@long
def test_a_door_on_two_hinges():
    """Redundant hinges: the motion is unique, and of all multipliers that fit the smallest are returned."""
    model = da.Model("door", gravity=(3.0, 0, -10.0))
    model.body("leaf", mass=30.0, inertia=(3, 3, 1), position=(0, 0.5, 1))
    for name, z in (("lower", 0.5), ("upper", 1.5)):
        model.revolute(name, model.ground, "leaf", at=(0, 0, z), axis=(0, 0, 1))
    times = np.linspace(0.0, 2.0, 9)
    out, integrator, system = integrate(model, times, rtol=1e-9, atol=1e-9)
    angle = pendulum_angle(times, np.sqrt(30.0 * 3.0 * 0.5 / (1.0 + 30.0 * 0.25)))
    assert np.abs(out.q[:, 0] - 0.5 * np.cos(angle)).max() < 1e-7
    assert integrator.statistics["position_violation"] <= 1e-12
    for t, q, v, lam in zip(times, out.q, out.v, out.lam, strict=True):
        smallest = da.accelerations(system, t, q, v).multipliers
        assert np.allclose(lam, smallest, atol=1e-8 * np.abs(smallest).max())


def fingerprint(out):
    return b"".join(a.tobytes() for a in out)


def test_chunks_change_no_bit():
    times = np.linspace(0.0, 1.0, 23)
    whole, one, system = integrate(spatial_chain(), times)
    by_steps, two, _ = integrate(spatial_chain(), times, budget=3)
    by_times = ExplicitIntegrator(system)
    by_times.start(0.0, system.design.q, system.design.v)
    parts = [run(system, by_times, part)[0] for part in np.split(times, [1, 2, 9, 10, 20])]
    joined = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    assert fingerprint(whole) == fingerprint(by_steps) == fingerprint(joined)
    assert one.statistics == two.statistics == by_times.statistics


@pytest.mark.parametrize("formulation", ["projection", "baumgarte", "braun_goldfarb"])
@pytest.mark.parametrize("project_stages", [False, True])
def test_a_checkpoint_continues_to_the_bit(formulation, project_stages):
    options = {"formulation": formulation, "project_stages": project_stages}
    times = np.linspace(0.0, 1.0, 23)
    whole, reference, _ = integrate(spatial_chain(), times, **options)
    system = da.build(spatial_chain())
    first = ExplicitIntegrator(system, **options)
    first.start(0.0, system.design.q, system.design.v)
    out = new_samples(system, times.size)
    filled = first.run_chunk(times, out, 7)
    assert 0 < filled < times.size
    data = first.checkpoint()
    other = da.build(spatial_chain())
    second = ExplicitIntegrator(other, **options)
    second.restore(data)
    rest, _ = run(other, second, times[filled:])
    assert all(np.array_equal(w[:filled], o[:filled]) for w, o in zip(whole, out, strict=True))
    assert fingerprint(rest) == fingerprint([w[filled:] for w in whole])
    assert second.statistics == reference.statistics


@long
def test_a_fast_rotor_keeps_count_of_its_turns():
    model = da.Model("rotor")
    model.body("rotor", mass=1.0, inertia=(1, 1, 2), angular_velocity=(0, 0, 500.0))
    model.revolute("axle", model.ground, "rotor", axis=(0, 0, 1))
    out, _, system = integrate(model, [1.0], rtol=1e-8, atol=1e-8)
    assert system.coordinate("axle", "angle", out.q[0]) == pytest.approx(500.0, abs=1e-6)


def crank(reach):
    """A rod between a slider and a point that is driven away: nothing can follow beyond its reach."""
    model = da.Model("reach")
    model.body("arm", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
    model.body("sledge", mass=1.0, inertia=(1, 1, 1), position=(reach, 0, 0))
    model.revolute("hinge", model.ground, "arm", axis=(0, 0, 1))
    model.prismatic("guide", model.ground, "sledge", at=(reach, 0, 0), axis=(1, 0, 0))
    model.distance("rod", "arm", "sledge", at=(0, 1, 0), at_driven=(reach, 0, 0), length=1.0)
    model.motion("pull", "guide", "distance", da.Ramp(start_value=0.0, slope=1.0, start_time=0.0, end_time=10.0))
    return model


@long
def test_out_of_reach_is_an_error_that_names_the_time():
    model = crank(1.0)
    times = np.linspace(0.0, 5.0, 51)
    system = da.build(model)
    integrator = ExplicitIntegrator(system)
    integrator.start(0.0, system.design.q, system.design.v)
    out = new_samples(system, times.size)
    with pytest.raises(IntegrationError, match="the motion stops at t = ") as caught:
        integrator.run_chunk(times, out)
    error = caught.value
    assert 0.0 < error.time < 1.5
    assert 0 < error.filled <= np.searchsorted(times, error.time) + 1
    assert np.isfinite(out.q[: error.filled]).all()
    assert error.statistics["steps"] > 0


def test_inconsistent_constraints_name_the_joint():
    model = da.Model("torn")
    model.body("bar", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
    model.spherical("left", model.ground, "bar", at=(0, 0, 0))
    model.spherical("right", model.ground, "bar", at=(1, 0, 0), at_driven=(1.2, 0, 0))
    with pytest.raises(IntegrationError, match=r"cannot be met: row '(left|right)\.x' stays open") as caught:
        integrate(model, [0.0])
    assert caught.value.element in ("joint 'left'", "joint 'right'")


def test_a_motion_that_is_not_unique_is_refused():
    model = da.Model("loose")
    model.body("ghost", mass=0.0, position=(0.5, 0, 0))
    model.spherical("joint", model.ground, "ghost", at=(0, 0, 0))
    with pytest.raises(IntegrationError, match="'ghost'"):
        integrate(model, [1.0])


def test_a_law_that_fails_says_so():
    def broken(t):
        if t > 0.5:
            raise ValueError("no more data")
        return 0.1 * t

    model = driven(da.Function(broken, lambda t: 0.1, lambda t: 0.0))
    with pytest.raises(IntegrationError, match="no more data") as caught:
        integrate(model, [1.0])
    assert caught.value.time == pytest.approx(0.5, abs=1e-6)


def test_options_are_checked():
    system = da.build(pendulum())
    for options in ({"rtol": 0.0}, {"formulation": "projektion"}, {"atol": {"speed": 1.0}}, {"max_step": -1.0}):
        with pytest.raises(da.ModelError):
            ExplicitIntegrator(system, **options)
    integrator = ExplicitIntegrator(system, atol={"position": 1e-4})
    integrator.start(0.0, system.design.q, system.design.v)
    with pytest.raises(da.ModelError, match="do not increase"):
        integrator.run_chunk(np.array([1.0, 0.5]), new_samples(system, 2))
    with pytest.raises(da.ModelError, match="checkpoint"):
        integrator.restore({})
