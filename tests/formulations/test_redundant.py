"""Redundant constraints, handled in different ways: one motion, and one value of what is unique."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalembert as da
from dalembert.formulations.choose import DENSE
from dalembert.formulations.redundant import independent_rows
from dalembert.papers.wojtyra2013 import mobile_robot

HANDLINGS = {
    "saddle": {},
    "pseudo_inverse": {},
    "null_space": {},
    "elimination": {},
    "augmented_lagrangian": {},
    "elimination by name": {"formulation": "elimination", "remove": ["C.y", "W4.sideways"]},
    "elimination of others": {"formulation": "elimination", "remove": ["W1.sideways", "W3.sideways"]},
    "augmented Lagrangian with weights": {"formulation": "augmented_lagrangian", "weights": "random"},
}


@pytest.fixture(scope="module")
def steering():
    """The robot, its wheels in a curve: the state of rest of the steering at 5 s, moving at 0.1 m/s."""
    system = da.build(mobile_robot())
    state = da.assemble(system, t=5.0)
    return system, state.q, state.v


def solved(system, q, v, name):
    options = {"formulation": name} | HANDLINGS[name]
    if "weights" in options:
        options["weights"] = 1e5 * np.random.default_rng(0).uniform(0.3, 3.0, system.n_constraints)
    return da.accelerations(system, 5.0, q, v, **options)


@pytest.mark.parametrize("name", HANDLINGS)
def test_all_handlings_give_the_same_motion_and_the_same_unique_multipliers(steering, name):
    system, q, v = steering
    reference, found = solved(system, q, v, "saddle"), solved(system, q, v, name)
    size = np.abs(reference.acceleration).max()
    assert np.abs(found.acceleration - reference.acceleration).max() < 1e-9 * size
    assert np.abs(system.jacobian(5.0, q).T @ (found.multipliers - reference.multipliers)).max() < 1e-9
    unique = da.reactions(system, state=da.State(5.0, q, v)).row_unique.values
    assert np.abs((found.multipliers - reference.multipliers)[unique]).max() < 1e-9


def test_multipliers_that_are_not_unique_depend_on_the_handling(steering):
    system, q, v = steering
    rows = [system.layout.rows.index(name) for name in ("B.y", "W1.sideways", "W2.sideways", "W3.sideways")]
    names = ("saddle", "elimination by name", "elimination of others", "augmented Lagrangian with weights")
    values = np.array([solved(system, q, v, name).multipliers[rows] for name in names])
    for k in range(1, len(names)):
        assert (np.abs(values[:k] - values[k]) > 1e-4).any(axis=1).all()


def test_eliminated_rows_carry_nothing(steering):
    system, q, v = steering
    found = solved(system, q, v, "elimination by name")
    assert found.multipliers[[system.layout.rows.index(name) for name in ("C.y", "W4.sideways")]].tolist() == [0.0, 0.0]
    assert np.count_nonzero(solved(system, q, v, "elimination").multipliers == 0.0) >= 2


def test_smallest_multipliers_are_the_smallest(steering):
    system, q, v = steering
    sizes = {name: np.linalg.norm(solved(system, q, v, name).multipliers) for name in HANDLINGS}
    assert min(sizes.values()) == pytest.approx(sizes["pseudo_inverse"], rel=1e-9)
    assert sizes["saddle"] == pytest.approx(sizes["pseudo_inverse"], rel=1e-9)


def test_a_penalty_gives_way_by_the_multiplier_over_its_weight():
    """One pass: A v' - b = lambda/W exactly."""
    model = da.Model("hanging", gravity=(0, 0, -10.0))
    model.body("bob", mass=2.0)
    model.distance("rod", model.ground, "bob", at=(0, 0, 3), at_driven=(0, 0, 0))
    model.same_orientation("no turn", model.ground, "bob")
    system = da.build(model)
    q, v = system.design.q, system.design.v
    found = da.accelerations(system, 0.0, q, v, formulation="penalty", weights=1e4)
    stretch = -found.acceleration[2]
    assert found.multipliers[0] == pytest.approx(1e4 * stretch, rel=1e-9)
    assert stretch == pytest.approx(20.0 / (2.0 + 1e4), rel=1e-9)


def test_rows_that_others_do_not_replace_may_not_be_left_out(steering):
    system, q, v = steering
    with pytest.raises(da.SolveError, match="do not depend on the others: they are violated by"):
        da.accelerations(system, 5.0, q, v, formulation="elimination", remove=["A.y", "C.y", "W4.sideways"])
    with pytest.raises(da.SolveError, match="still depend on each other"):
        da.accelerations(system, 5.0, q, v, formulation="elimination", remove=["W4.sideways"])
    with pytest.raises(da.ModelError, match=r"did you mean 'W4\.sideways'"):
        da.accelerations(system, 5.0, q, v, formulation="elimination", remove=["W4.sidewais"])


@given(st.integers(0, 2**32 - 1))
def test_random_redundant_systems(seed):
    """Consistent right sides, masses singular where the rows make the motion unique."""
    rng = np.random.default_rng(seed)
    n, rank = int(rng.integers(4, 12)), int(rng.integers(1, 4))
    A = rng.normal(size=(rank + int(rng.integers(0, 4)), rank)) @ rng.normal(size=(rank, n))
    root = rng.normal(size=(n, n))
    M, Q, b, C = root @ root.T + 0.1 * np.eye(n), rng.normal(size=n), A @ rng.normal(size=n), np.zeros(n)
    reference = DENSE["null_space"](M, A, Q, b, C)
    for name in ("elimination", "augmented_lagrangian"):
        found = DENSE[name](M, A, Q, b, C)
        assert np.allclose(found.acceleration, reference.acceleration, atol=1e-6 * np.abs(reference.acceleration).max())
    assert len(independent_rows(A)) == np.linalg.matrix_rank(A)
