"""Udwadia and Schutte 2010: worked systems, time histories, the quaternion equations, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.formulations.choose import accelerations
from dalembert.kernel.compile import JIT_DISABLED
from dalembert.papers import udwadia2010
from dalembert.rotation.quaternion import to_rotation

PAPER = json.loads((Path(__file__).parent / "udwadia2010.json").read_text())
SYSTEMS = {
    "two_masses_redundant": "two masses",
    "massless_wheel_on_incline": "massless wheel",
    "pendulum_with_auxiliary_angle": "pendulum with a massless angle",
    "bead_on_vertical_ring_coulomb": "bead on a ring, Coulomb",
    "bead_on_vertical_ring_quadratic_drag": "bead on a ring, drag",
    "block_on_incline_coulomb": "block on an incline, Coulomb",
}


@pytest.fixture(params=SYSTEMS)
def case(request):
    return PAPER["worked_systems"][request.param], udwadia2010.worked_systems()[SYSTEMS[request.param]][0]


def test_the_matrices_are_those_of_the_system(case):
    expected, system = case
    parts = system.dynamics(0.0, system.design.q, system.design.v)
    for name, ours in (("M", parts.M), ("Q", parts.Q), ("A", parts.A), ("b", parts.b)):
        np.testing.assert_allclose(ours, expected[name], atol=1e-12)
    np.testing.assert_allclose(parts.C, np.zeros(parts.Q.size) if expected["C"] is None else expected["C"], atol=1e-12)


def test_accelerations_and_constraint_forces_by_all_formulations(case):
    expected, system = case
    for name, ours in udwadia2010.by_all_formulations(system):
        tolerance = 1e-9 if "alpha" in name else 1e-12
        np.testing.assert_allclose(ours.acceleration, expected["acceleration"], rtol=tolerance, atol=tolerance, err_msg=name)
        np.testing.assert_allclose(ours.constraint_force, expected["constraint_force"], rtol=tolerance, atol=10 * tolerance)
        assert ours.residual < 1e-12


def test_the_acceleration_depends_neither_on_alpha_nor_on_z_and_the_force_does_not_with_the_right_z(case):
    expected, system = case
    rng = np.random.default_rng(3)
    for alpha in (0.3, 0.7, 1.5, 4.0):
        z = 5.0 * rng.standard_normal(system.n_constraints)
        start = (0.0, system.design.q, system.design.v)
        drawn = accelerations(system, *start, formulation="auxiliary", alpha=alpha, z=z)
        np.testing.assert_allclose(drawn.acceleration, expected["acceleration"], atol=1e-9)
        right = accelerations(system, *start, formulation="auxiliary", alpha=alpha)
        np.testing.assert_allclose(right.constraint_force, expected["constraint_force"], atol=1e-9)


def test_the_closed_forms_of_the_examples_are_the_independent_values():
    systems = udwadia2010.worked_systems()
    for key, name in SYSTEMS.items():
        np.testing.assert_allclose(systems[name][1], PAPER["worked_systems"][key]["acceleration"], rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(systems[name][2], PAPER["worked_systems"][key]["constraint_force"], rtol=1e-13, atol=1e-13)


def test_quaternion_equations():
    data = PAPER["quaternion"]
    np.testing.assert_allclose(udwadia2010.QUATERNION, data["quaternion"])
    u, w = np.array(data["quaternion"]), np.array(data["angular_velocity_body"])
    np.testing.assert_allclose(udwadia2010.quaternion_rate(u, w), data["quaternion_rate"], atol=1e-15)
    J, torque = np.array(data["principal_inertias"]), np.array(data["torque_body"])
    for alpha in (0.3, 1.0, 4.0):
        for ours in udwadia2010.quaternion_accelerations(u, w, J, torque, alpha).values():
            np.testing.assert_allclose(ours, data["expected_quaternion_acceleration"], atol=1e-12)
    for name, ours in udwadia2010.by_all_formulations(udwadia2010.rotating_body()):
        np.testing.assert_allclose(ours.acceleration, data["expected_quaternion_acceleration"], atol=1e-12, err_msg=name)
        np.testing.assert_allclose(ours.constraint_force, data["expected_constraint_torque_eq_121"], atol=1e-12)


@pytest.mark.skipif(JIT_DISABLED, reason="takes long as plain Python")
def test_a_quaternion_turns_as_the_rigid_body_of_the_library():
    J = udwadia2010.POSSIBLE_INERTIA
    body = udwadia2010.rotating_body(J, np.zeros(3))
    run = da.simulate(body, duration=3.0, output_step=0.5, rtol=1e-10, atol=1e-10)
    model = da.Model("free")
    turn = to_rotation(udwadia2010.QUATERNION)
    model.body("body", mass=1.0, inertia=J, orientation=turn, angular_velocity=turn.apply(udwadia2010.SPIN))
    other = da.simulate(model, duration=3.0, output_step=0.5, rtol=1e-10, atol=1e-10)
    ours, theirs = run.position.values, other.orientation.values[:, 0]
    signs = np.sign(np.sum(ours * theirs, axis=1))[:, None]
    np.testing.assert_allclose(ours, signs * theirs, atol=1e-8)


def test_what_has_no_unique_acceleration_is_refused():
    system = da.Mechanics.from_functions(
        "free angle", ["x", "angle"], mass=np.diag([1.0, 0.0]), force=lambda t, q, v: np.zeros(2), holonomic=lambda t, q: q[:1]
    )
    for formulation in ("saddle", "auxiliary", "pseudo_inverse", "null_space"):
        with pytest.raises(da.SolveError, match=r"not unique.*angle"):
            accelerations(system, 0.0, np.zeros(2), np.zeros(2), formulation=formulation)


@pytest.mark.skipif(JIT_DISABLED, reason="takes long as plain Python")
def test_time_histories():
    expected = PAPER["histories"]
    coulomb = udwadia2010.bead_run("coulomb")
    assert abs(coulomb.position.values[-1, 2] - expected["ring_without_gravity_coulomb"]["values"]["theta_at_2_s"]) < 1e-8
    speeds = {name: np.hypot(*udwadia2010.bead_run(name).velocity.values[-1, :2]) for name in ("coulomb", "drag")}
    assert abs(speeds["coulomb"] - expected["ring_without_gravity_coulomb"]["values"]["speed_at_2_s"]) < 1e-8
    assert abs(speeds["drag"] - expected["ring_without_gravity_quadratic_drag"]["values"]["speed_at_2_s"]) < 1e-8


@pytest.mark.skipif(JIT_DISABLED, reason="takes long as plain Python")
def test_every_figure_is_met():
    off = [figure for figure in udwadia2010.figures() if not figure.met]
    assert not off
