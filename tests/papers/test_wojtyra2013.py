"""Wojtyra and Fraczek 2013, section 4: the mobile robot against what is printed and independent formulations."""

from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel.compile import JIT_DISABLED
from dalembert.linalg.solvability import null_by_svd
from dalembert.papers import wojtyra2013
from dalembert.papers.wojtyra2013 import HANDLINGS, SOLVABLE, mobile_robot

EXAMPLE = Path(__file__).parents[2] / "examples" / "mobile_robot.yaml"

Q0 = [  # (34), x y and angle of each body [m], [rad]
    1.0, 0.0, 0.0, 1.2, 0.0, 0.0, 0.8, 0.0, 0.0, 1.0939366093740917, 0.03396052573712718, 0.0, 0.9060633906259083,
    0.03396052573712718, 0.0, 1.0, 0.0, 0.0, 0.25, 0.0, 0.0,
]  # fmt: skip


def test_ranks_matrices_and_verdicts():
    assert [figure for figure in wojtyra2013.solvability_figures() if not figure.met] == []


@pytest.mark.skipif(JIT_DISABLED, reason="takes minutes as plain Python")
def test_motion_and_multipliers_with_four_handlings():
    assert [figure for figure in wojtyra2013.motion_figures() if not figure.met] == []


def test_the_robot_is_drawn_in_the_printed_position_and_closed():
    system = da.build(mobile_robot())
    q = system.design.q[:49].reshape(-1, 7)
    assert np.allclose(np.column_stack([q[:, :2], np.zeros(7)]).ravel(), Q0, atol=1e-15)
    assert np.abs(system.constraint(0.0, system.design.q)).max() < 1e-15
    assert np.abs(system.velocity_residual(0.0, system.design.q, system.design.v)).max() < 1e-15


def test_the_example_file_is_the_robot_of_the_paper():
    one, two = da.build(da.load_model(EXAMPLE)), da.build(mobile_robot())
    assert one.layout.rows == two.layout.rows
    assert np.allclose(one.design.q, two.design.q, atol=1e-15)
    assert np.array_equal(one.design.v, two.design.v)
    for t in (0.0, 3.3, 20.0):
        assert np.allclose(one.constraint(t, one.design.q), two.constraint(t, two.design.q), atol=1e-15)
        assert np.allclose(
            one.acceleration_right_side(t, one.design.q, one.design.v),
            two.acceleration_right_side(t, two.design.q, two.design.v),
            atol=1e-14,
        )


def test_the_null_vectors_of_the_constraint_matrix():
    """n1 = (B_y, C_y, W1, W2, W3, W4) = (-1, -1, 1, 1, -1, -1)/sqrt(6), n2 = (W3, W4) = (1, -1)/sqrt(2), y of the world."""
    system = da.build(mobile_robot())
    null = null_by_svd(system.jacobian(0.0, system.design.q).toarray())
    names = ["B.y", "C.y", "W1.sideways", "W2.sideways", "W3.sideways", "W4.sideways"]
    signs = [-system.layout.joint_frames[joint][1][1, 1] for joint in "BC"]  # y of the joint's frame is minus y of the world
    expected = np.zeros((system.n_constraints, 2))
    rows = [system.layout.rows.index(name) for name in names]
    expected[rows, 0] = np.array([signs[0], signs[1], 1, 1, -1, -1]) / np.sqrt(6)
    expected[rows[4:], 1] = np.array([1, -1]) / np.sqrt(2)
    assert np.allclose(null @ null.T, expected @ expected.T, atol=1e-12)


def test_single_components_at_the_start():
    """The x components of B and C are unique although the joints are not; A, D to H are unique as wholes."""
    found = da.reactions(mobile_robot())
    assert found.unique == {name: name in SOLVABLE for name in found.unique}
    frames = da.build(mobile_robot()).layout.joint_frames
    for joint in "BC":
        along_y = np.abs(frames[joint][1].T @ [0, 1, 0]) > 0.5
        assert found.force_unique.sel(joint=joint).values.tolist() == (~along_y).tolist()
        assert found.torque_unique.sel(joint=joint).values.all()


def test_the_advice_makes_all_reactions_unique():
    found = da.reactions(mobile_robot())
    assert len(found.releases) == 2
    after = da.reactions(da.build(mobile_robot(), without=found.releases))
    assert after.degree_of_redundancy == 0
    assert all(after.unique.values())
    assert after.degrees_of_freedom == 1


@pytest.mark.parametrize("handling", HANDLINGS)
def test_the_variants_of_the_paper_are_not_redundant(handling):
    found = da.reactions(da.build(mobile_robot(), without=HANDLINGS[handling]))
    assert found.degree_of_redundancy == 2 - len(HANDLINGS[handling])
    assert found.rank == 20


@pytest.mark.skipif(JIT_DISABLED, reason="takes minutes as plain Python")
def test_the_rank_is_the_same_along_the_path():
    model = mobile_robot()
    run = da.simulate(model, duration=30.0, output_step=0.5, rtol=1e-8, atol=1e-8)
    along = da.reactions_along(model, run)
    assert (along.constraint_rank == 20).all()
    assert along.singular == []
    assert along.joint_unique.all("time").sel(joint=["A", "D", "E", "F", "G", "H", "W5"]).all()
    assert run.joint_unique.sel(joint=["A", "D", "E", "F", "G", "H", "W5"]).all()
    assert not run.joint_unique.sel(joint=["B", "C", "W1", "W2", "W3", "W4"]).any()


@pytest.mark.skipif(JIT_DISABLED, reason="takes minutes as plain Python")
def test_pictures_are_drawn(tmp_path):
    paths = wojtyra2013.draw(tmp_path)
    assert [path.name for path in paths] == ["wojtyra2013_figure_3.png", "wojtyra2013_figure_4.png"]
    assert all(path.stat().st_size > 20_000 for path in paths)
