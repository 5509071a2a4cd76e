"""Assembly: from bad guesses, with parts that are held, and the messages where nothing fits."""

import numpy as np
import pytest

import dalembert as da
from dalembert.analysis.assemble import AssemblyError

POINTS = {"A": (0.0, 0.0, 0.0), "B": (0.0, 0.0, 0.1), "C": (0.35, 0.0, 0.28), "D": (0.4, 0.0, 0.0)}
BARS = {"crank": "AB", "coupler": "BC", "rocker": "DC"}


def four_bar(shift=0.0, seed=0):
    """Three bars drawn as they fit, then moved at random by up to `shift` [m, rad]."""
    rng = np.random.default_rng(seed)
    model = da.Model("four bar")
    for name, (a, b) in BARS.items():
        middle = (np.array(POINTS[a]) + POINTS[b]) / 2
        model.body(name, mass=1.0, inertia=(1, 1, 1), position=middle)
    for point, main, driven in (
        ("A", "ground", "crank"),
        ("B", "crank", "coupler"),
        ("C", "coupler", "rocker"),
        ("D", "ground", "rocker"),
    ):
        model.revolute(point, main, driven, at=POINTS[point], axis=(0, 1, 0))
    system = da.build(model)
    system.design.q[:] = system.advance(system.design.q, shift * rng.uniform(-1, 1, system.n_velocities))
    return system


@pytest.mark.parametrize("seed", range(8))
def test_a_badly_drawn_linkage_is_closed(seed):
    system = four_bar(0.3, seed)
    state = da.assemble(system)
    assert np.abs(system.constraint(0.0, state.q)).max() < 1e-12


def test_a_held_body_stays_where_it_was_drawn():
    system = four_bar(0.0)
    crank = system.layout.bodies.index("crank")
    turn = np.zeros(system.n_velocities)
    turn[6 * crank + 4] = 0.4  # the crank about A, with its middle: the others have to follow
    turn[6 * crank : 6 * crank + 3] = np.cross([0, 0.4, 0], [0, 0, 0.05])
    system.design.q[:] = system.advance(system.design.q, turn)
    drawn = system.design.q[7 * crank : 7 * crank + 7].copy()
    angle = system.coordinate("A", "angle", system.design.q)
    state = da.assemble(system, hold=["A.angle"])
    assert np.abs(system.constraint(0.0, state.q)).max() < 1e-12
    assert abs(system.coordinate("A", "angle", state.q) - angle) < 1e-12
    assert abs(abs(state.q[7 * crank + 3 : 7 * crank + 7] @ drawn[3:]) - 1.0) < 1e-12
    free = da.assemble(system)
    assert abs(system.coordinate("A", "angle", free.q) - angle) > 1e-3
    held = da.assemble(four_bar(0.0), hold=["crank", "rocker"])
    assert np.array_equal(held.q, four_bar(0.0).design.q)


def test_an_unknown_part_to_hold_is_answered_with_the_nearest_name():
    with pytest.raises(da.ModelError, match="did you mean 'crank'"):
        da.assemble(four_bar(), hold=["crnk"])


def test_the_gradient_of_a_coordinate_is_its_derivative():
    system = four_bar(0.2, 3)
    q, d = system.design.q, np.random.default_rng(1).normal(size=system.n_velocities)
    h = 1e-6
    for joint in POINTS:
        difference = (
            system.coordinate(joint, "angle", system.advance(q, h * d))
            - system.coordinate(joint, "angle", system.advance(q, -h * d))
        ) / (2 * h)
        assert abs(difference - system.coordinate_gradient(joint, "angle", q) @ d) < 1e-8


def test_a_bar_that_is_too_short_is_named_with_the_gap_it_leaves():
    """Bars of 1 m between pivots 2.5 m apart on one line: the hinge in the middle opens by 0.5 m, shared by all three."""
    model = da.Model("too short")
    model.body("left", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
    model.body("right", mass=1.0, inertia=(1, 1, 1), position=(2.0, 0, 0))
    model.revolute("A", model.ground, "left", at=(0, 0, 0), axis=(0, 1, 0))
    model.revolute("B", "left", "right", at=(1, 0, 0), at_driven=(1.5, 0, 0), axis=(0, 1, 0))
    model.revolute("C", model.ground, "right", at=(2.5, 0, 0), axis=(0, 1, 0))
    with pytest.raises(AssemblyError, match=r"stays open by 0\.\d+ m") as error:
        da.assemble(da.build(model))
    system = da.build(model)
    gaps = system.constraint(0.0, error.value.state.q)
    assert np.linalg.norm(gaps) == pytest.approx(0.5 / np.sqrt(3), rel=1e-3)


def test_motions_that_contradict_each_other_in_their_velocities_are_refused():
    model = da.Model("two drives")
    model.body("arm", mass=1.0, inertia=(1, 1, 1))
    for name, rate in (("one", 1.0), ("other", 2.0)):
        model.revolute(name, model.ground, "arm", axis=(0, 0, 1))
        model.motion(f"drive {name}", name, "angle", da.Polynomial((0.0, rate)))
    with pytest.raises(da.SolveError, match=r"no velocities satisfy the constraints: .*Rx.* contradict others by"):
        da.assemble(da.build(model))


def test_velocities_of_a_redundant_linkage_survive_rounding():
    """A parallelogram of four hinges in space, drawn with the velocities of its motion: 1 m/s of the coupler."""
    model = da.Model("parallelogram")
    for name, place, velocity, rate in (
        ("left", (0, 0.5, 0), (0.5, 0, 0), -1.0),
        ("right", (1, 0.5, 0), (0.5, 0, 0), -1.0),
        ("top", (0.5, 1, 0), (1, 0, 0), 1e-16),
    ):
        model.body(name, mass=1.0, inertia=(1, 1, 1), position=place, velocity=velocity, angular_velocity=(0, 0, rate))
    for name, main, driven, at in (
        ("A", "ground", "left", (0, 0, 0)),
        ("B", "left", "top", (0, 1, 0)),
        ("C", "top", "right", (1, 1, 0)),
        ("D", "ground", "right", (1, 0, 0)),
    ):
        model.revolute(name, main, driven, at=at, axis=(0, 0, 1))
    system = da.build(model)
    assert np.allclose(da.assemble(system).v, system.design.v, atol=1e-14)
