"""Every constraint element at random states, with open joints too: derivatives, third law, invariance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalembert as da
from dalembert.elements.joint import JOINT_TYPES
from dalembert.rotation.quaternion import from_rotation, multiply, to_rotation
from random_models import LAWS, central, coupled, errors, one_joint, random_rotation, random_state, relative

SEEDS = st.integers(0, 2**32 - 1)
LARGEST = 1e-8


def check(system, seed):
    for what, error in errors(system, np.random.default_rng(seed)).items():
        assert error < LARGEST, (what, error)


@pytest.mark.parametrize("main", ["two", "ground"])
@pytest.mark.parametrize("kind", JOINT_TYPES)
@given(seed=SEEDS)
def test_derivatives_of_every_joint_type(kind, main, seed):
    check(da.build(one_joint(np.random.default_rng(seed), kind, main=main)), seed)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", ["fixed", "revolute", "universal", "distance"])
@given(seed=SEEDS)
def test_derivatives_of_driven_joints(kind, law, seed):
    check(da.build(one_joint(np.random.default_rng(seed), kind, law=law)), seed)


@given(seed=SEEDS)
def test_derivatives_of_couplings(seed):
    check(da.build(coupled(np.random.default_rng(seed))), seed)


@given(seed=SEEDS)
def test_gyroscopic_damping(seed):
    rng = np.random.default_rng(seed)
    system = da.build(one_joint(rng, "spherical"))
    t, q, v = random_state(rng, system)
    D = np.column_stack([-central(lambda h, e=e: system.force(t, q, v + h * e)) for e in np.eye(system.n_velocities)])
    assert relative(D, system.damping(t, q, v).toarray()) < LARGEST


@pytest.mark.parametrize("kind", JOINT_TYPES)
@given(seed=SEEDS)
def test_nothing_changes_when_the_whole_moves_as_a_rigid_body(kind, seed):
    rng = np.random.default_rng(seed)
    system = da.build(one_joint(rng, kind))
    t, q, _ = random_state(rng, system)
    shift, turn = rng.normal(size=3), random_rotation(rng)
    moved = q.copy()
    for b in (0, 7):
        moved[b : b + 3] = shift + turn.apply(q[b : b + 3])
        moved[b + 3 : b + 7] = multiply(from_rotation(turn), tuple(q[b + 3 : b + 7]))
    assert relative(system.constraint(t, moved), system.constraint(t, q)) < 1e-13


@pytest.mark.parametrize("kind", JOINT_TYPES)
@given(seed=SEEDS)
def test_reactions_on_both_bodies_balance(kind, seed):
    """Newton's third law: force and moment about the origin of -A^T lambda add up to zero, however open the joint is."""
    rng = np.random.default_rng(seed)
    system = da.build(one_joint(rng, kind))
    t, q, _ = random_state(rng, system)
    wrench = -(system.jacobian(t, q).T @ rng.normal(size=system.n_constraints)).reshape(2, 6)
    force, moment = np.zeros(3), np.zeros(3)
    for b in range(2):
        position, R = q[7 * b : 7 * b + 3], to_rotation(q[7 * b + 3 : 7 * b + 7])
        force += wrench[b, :3]
        moment += R.apply(wrench[b, 3:]) + np.cross(position, wrench[b, :3])
    assert np.abs(np.concatenate([force, moment])).max() < 1e-12 * (1.0 + np.abs(q).max()) * (1.0 + np.abs(wrench).max())


FREE = {  # components of the reaction wrench (force x y z, torque x y z in F2) that a closed joint cannot carry
    "fixed": "", "revolute": "Rx", "prismatic": "x", "cylindrical": "x Rx", "spherical": "Rx Ry Rz",
    "universal_torsion_locked": "Ry Rz", "planar": "y z Rx", "parallel": "x y z Rx", "orthogonal": "x y z Ry Rz",
    "same_orientation": "x y z", "point_on_plane": "y z Rx Ry Rz", "point_on_line": "x Rx Ry Rz",
}  # fmt: skip


@pytest.mark.parametrize("kind", FREE)
@given(seed=SEEDS)
def test_a_closed_joint_carries_nothing_along_its_freedoms(kind, seed):
    rng = np.random.default_rng(seed)
    system = da.build(one_joint(rng, kind, spread=0.0))
    q = system.design.q
    assert np.abs(system.constraint(0.0, q)).max() < 1e-14
    reaction = system.reaction("joint", 0.0, q, rng.normal(size=system.n_constraints))
    wrench = dict(zip(("x", "y", "z", "Rx", "Ry", "Rz"), [*reaction.force, *reaction.torque], strict=True))
    assert all(abs(wrench[row]) < 1e-13 for row in FREE[kind].split())
    assert all(abs(value) > 1e-9 for row, value in wrench.items() if row not in FREE[kind].split())


@given(seed=SEEDS)
def test_a_screw_carries_force_and_torque_in_the_ratio_of_its_lead(seed):
    """A screw without friction does no work along its own motion: F_x lead/(2 pi) + T_x = 0."""
    rng = np.random.default_rng(seed)
    system = da.build(one_joint(rng, "screw", spread=0.0))
    reaction = system.reaction("joint", 0.0, system.design.q, rng.normal(size=5))
    assert abs(reaction.force[0] * 0.3 / (2 * np.pi) + reaction.torque[0]) < 1e-13


@given(seed=SEEDS)
def test_a_universal_joint_carries_torque_about_the_normal_of_its_cross_only(seed):
    rng = np.random.default_rng(seed)
    system = da.build(one_joint(rng, "universal", spread=0.0))
    reaction = system.reaction("joint", 0.0, system.design.q, np.array([0.0, 0.0, 0.0, 2.0]))
    assert np.allclose(np.abs(reaction.torque), [0.0, 0.0, 2.0], atol=1e-13)  # the cross has its arms along x and y of F2
    assert np.abs(reaction.force).max() < 1e-13
