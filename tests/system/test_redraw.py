"""A model drawn anew in another state is the same mechanism."""

from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.io import load_model

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_has_the_same_forces_and_constraints(path):
    model, rng = load_model(path), np.random.default_rng(2)
    system = da.build(model)
    n = system.n_velocities
    free = np.ones(n) if model.plane is None else np.isin(np.arange(n) % 6, (0, 1, 5))  # bodies stay in the x y plane
    q, v = system.advance(system.design.q, 0.2 * free * rng.standard_normal(n)), free * rng.standard_normal(n)
    again = da.build(da.redrawn(model, da.State(0.0, q, v)))
    one, other = (x[: 7 * system.n_bodies].reshape(-1, 7) for x in (again.design.q, q))
    signs = np.sign(np.sum(one[:, 3:] * other[:, 3:], axis=1))[:, None]  # of quaternions: both are the same orientation
    assert np.allclose(one[:, :3], other[:, :3], atol=1e-14)
    assert np.allclose(one[:, 3:], signs * other[:, 3:], atol=1e-14)
    assert np.allclose(again.design.v, v, atol=1e-13)
    assert np.allclose(again.force(0.0, again.design.q, v), system.force(0.0, q, v), rtol=1e-9, atol=1e-9)
    rows = [k for k, name in enumerate(system.layout.rows) if not name.endswith(".screw")]  # screws are closed as drawn
    one, other = again.constraint(0.0, again.design.q), system.constraint(0.0, q)
    assert np.allclose(np.abs(one[rows]), np.abs(other[rows]), atol=1e-12)  # a quaternion's sign goes with it


def test_a_state_of_another_model_is_refused():
    model = load_model(EXAMPLES[0])
    with pytest.raises(da.ModelError, match="give a state of this model"):
        da.redrawn(model, da.State(0.0, np.zeros(3), np.zeros(3)))


def test_follower_loads_turn_along():
    model = da.Model("rocket")
    model.body("rocket", mass=1.0, inertia=(1, 1, 1))
    model.load("thrust", "rocket", force=(0, 0, 5.0), at=(0, 0, -1), follower=True)
    system = da.build(model)
    turned = da.State(0.0, system.advance(system.design.q, [0, 0, 0, 0, np.pi / 2, 0]), system.design.v)
    assert np.allclose(da.redrawn(model, turned).forces["thrust"].force, (5.0, 0, 0))


def test_a_planar_model_with_wheels_is_the_same_mechanism_when_it_is_drawn_anew():
    from dalembert.papers.wojtyra2013 import mobile_robot

    model = mobile_robot()
    system = da.build(model)
    state = da.assemble(system, t=5.0)
    again = da.build(da.redrawn(model, state))
    assert again.layout.rows == system.layout.rows
    assert np.abs(again.constraint(5.0, again.design.q)).max() < 1e-12
    joints = np.setdiff1d(np.arange(system.n_constraints), system.layout.plane_rows)  # rows of planes mix as bodies turn
    A, B = (one.jacobian(5.0, q).toarray()[joints] for one, q in ((system, state.q), (again, again.design.q)))
    assert np.abs(A - B).max() < 1e-12
