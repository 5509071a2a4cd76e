"""Peng et al. 2024: the Jacobian (25), (33) and K_c = (45) + (49) at three given states; Table 1; the examples of section 4."""

import json
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.elements import lock
from dalembert.elements.joint import ALIASES, JOINT_TYPES
from dalembert.elements.lock import ROWS
from dalembert.kernel.compile import JIT_DISABLED
from dalembert.papers import peng2024
from dalembert.rotation.quaternion import logarithm, to_rotation

PAPER = json.loads((Path(__file__).parent / "peng2024.json").read_text())
TOLERANCE = 1e-10

TABLE_1 = {
    "Fix": "fix", "Coaxial": "coaxial", "Prismatic": "prismatic", "Revolute": "revolute", "Orthogonal": "orthogonal",
    "Parallel": "parallel", "Plane": "plane", "Spherical": "spherical", "Distance_along_X": "distance_along_x",
}  # fmt: skip


@pytest.fixture(params=PAPER["states"])
def state(request):
    return PAPER["states"][request.param]


def system_at(state):
    """Two bodies and a lock with all six rows, drawn at the state."""
    model = da.Model("state")
    for k, name in ((1, "driven"), (2, "main")):
        orientation = to_rotation(state[f"quaternion_body{k}"])
        model.body(name, mass=1.0, position=state[f"position_body{k}"], orientation=orientation)
    frames = {}
    for k, suffix in ((1, "_driven"), (2, "")):
        R = to_rotation(state[f"quaternion_body{k}"])
        frames["at" + suffix] = np.array(state[f"position_body{k}"]) + R.apply(state[f"position_frame{k}_in_body{k}"])
        frames["orientation" + suffix] = R * to_rotation(state[f"quaternion_frame{k}_in_body{k}"])
    model.fixed("lock", "main", "driven", **frames)
    if state["prescribed_translation"] is not None:
        values = [*state["prescribed_translation"], *logarithm(tuple(state["prescribed_quaternion"]))]
        for row, value in zip(ROWS, values, strict=True):
            model.motion(f"motion {row}", "lock", row, da.Constant(value))
    return da.build(model)


def tangents(system, gamma):
    main, both = np.zeros((12, 12)), np.zeros((12, 12))
    now, record = system._at(0.0, system.design.q), system.tables.locks[0]
    lock.tangent_main(record, now.poses, lock.relative_pose(record, now.poses, now.motions), gamma, main)
    lock.tangent(record, now.poses, now.motions, gamma, both)
    return main, both - main


def test_residual_jacobian_and_both_parts_of_the_tangent(state):
    system = system_at(state)
    q = system.design.q
    main, projection = tangents(system, np.array(state["multipliers_force_then_moment_in_frame2"], float))
    assert np.abs(system.constraint(0.0, q) - state["expected_constraint_residual"]).max() < TOLERANCE
    assert np.abs(system.jacobian(0.0, q).toarray() - state["expected_constraint_jacobian_6x12"]).max() < TOLERANCE
    assert np.abs(main - state["expected_Kc_main_part_12x12"]).max() < TOLERANCE
    assert np.abs(projection - state["expected_Kc_projection_part_12x12"]).max() < TOLERANCE


def test_the_system_tangent_is_that_of_the_joint(state):
    system = system_at(state)
    gamma = np.array(state["multipliers_force_then_moment_in_frame2"], float)
    expected = np.array(state["expected_Kc_main_part_12x12"]) + state["expected_Kc_projection_part_12x12"]
    K = system.stiffness(0.0, system.design.q, system.design.v, gamma).toarray()
    assert np.abs(K - expected).max() < TOLERANCE  # the driven body was added first: the columns are in the paper's order


@pytest.mark.parametrize("printed", PAPER["table_1_active_rows"])
def test_table_1(printed):
    kind = JOINT_TYPES[ALIASES.get(TABLE_1[printed], TABLE_1[printed])]
    active = [row for row, on in zip(ROWS, PAPER["table_1_active_rows"][printed], strict=True) if on]
    assert list(kind.rows) == active
    assert (kind.perpendicular, kind.rod, kind.screw) == (False, False, False)


@pytest.mark.parametrize("part", ["pendulum_figures", "chain_figures", "wishbone_figures", "chain_peak_figures"])
def test_the_examples_of_section_4(part):
    """Every figure of `dalembert reproduce peng2024`: printed ones, closed forms, independent programs."""
    if JIT_DISABLED and part != "pendulum_figures":
        pytest.skip("takes minutes as plain Python")
    off = [figure for figure in getattr(peng2024, part)() if not figure.met]
    assert off == []
