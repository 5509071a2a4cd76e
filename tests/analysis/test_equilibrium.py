"""Equilibria against closed forms: positions, stability, reactions, held coordinates; what cannot rest."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert.analysis.assemble import AssemblyError
from dalembert.papers.metzger2010_models import stewart_gough

GRAVITY = 9.81


def pendulum(degrees):
    angle = np.radians(degrees)
    model = da.Model("pendulum", gravity=(0, 0, -GRAVITY))
    model.body("bob", mass=15.0, position=4.0 * np.array([np.sin(angle), 0, -np.cos(angle)]))
    model.revolute("hinge", "ground", "bob", axis=(0, 1, 0))
    return model


def double_pendulum(first, second):
    """Two rods of 1 m and 1 kg, drawn at angles from the vertical [degrees]."""
    model = da.Model("double pendulum", gravity=(0, 0, -GRAVITY))
    end = np.zeros(3)
    for name, above, degrees in (("upper", "ground", first), ("lower", "upper", second)):
        turn = Rotation.from_euler("y", -degrees, degrees=True)
        along = turn.apply([0, 0, -1.0])
        inertia = da.inertia.rod(1.0, 1.0, axis="z")
        model.body(name, mass=1.0, inertia=inertia, position=end + 0.5 * along, orientation=turn)
        model.revolute(f"hinge of {name}", above, name, at=end, axis=(0, 1, 0))
        end = end + along
    return model


@pytest.mark.parametrize(("start", "height", "stable"), [(30, -4, True), (89, -4, True), (91, 4, False), (150, 4, False)])
def test_a_pendulum_goes_to_the_nearest_equilibrium(start, height, stable):
    rest = da.equilibrium(pendulum(start))
    assert np.allclose(rest.position.sel(body="bob"), [0, 0, height], atol=1e-12)
    assert rest.stable is stable
    assert rest.unstable_directions == (0 if stable else 1)
    assert np.linalg.norm(rest.joint_force.sel(joint="hinge")) == pytest.approx(15.0 * GRAVITY)
    assert bool(rest.joint_unique.sel(joint="hinge"))


@pytest.mark.parametrize("start", [30, 120, 180])
def test_a_stable_equilibrium_can_be_asked_for(start):
    rest = da.equilibrium(pendulum(start), stable=True)
    assert np.allclose(rest.position.sel(body="bob"), [0, 0, -4], atol=1e-9)
    assert rest.stable


@pytest.mark.parametrize(("first", "second", "unstable"), [(3, -2, 0), (4, 177, 1), (176, 182, 2), (177, -3, 1)])
def test_the_four_equilibria_of_a_double_pendulum(first, second, unstable):
    rest = da.equilibrium(double_pendulum(first, second))
    assert np.allclose(rest.position.values[:, :2], 0.0, atol=1e-10)
    assert rest.unstable_directions == unstable
    down = da.equilibrium(double_pendulum(first, second), stable=True)
    assert np.allclose(down.position.sel(axis="z"), [-0.5, -1.5], atol=1e-9)


def test_without_the_stiffness_of_joints_newtons_method_has_no_direction():
    """Peng et al. 2024, section 4.1."""
    with pytest.raises(da.EquilibriumError, match=r"without K_c there is no stiffness for body 'bob'") as error:
        da.equilibrium(pendulum(30), without_constraint_stiffness=True)
    assert error.value.iterations == 1


def test_a_sagging_string_of_masses_follows_a_catenary_with_order_two():
    """N links between two points: the lowest point nears that of the catenary of the same length like 1/N^2."""
    span, length = 10.0, 2.0 * np.sqrt(61.0)
    a = brentq(lambda one: 2.0 * one * np.sinh(span / (2.0 * one)) - length, 0.5, 50.0)
    sag = -a * (np.cosh(span / (2.0 * a)) - 1.0)
    errors = []
    for n in (10, 20, 40):
        model, leg = da.Model("string", gravity=(0, 0, -GRAVITY)), length / n
        previous, slope = "ground", np.arctan2(6.0, 5.0)
        for k in range(n):
            turn = Rotation.from_euler("y", slope if k < n // 2 else -slope)
            along = turn.apply([leg, 0, 0])
            start = np.array([k * along[0], 0, -k * leg * 6 / np.sqrt(61)]) if k < n // 2 else None
            start = np.array([10 - (n - k) * along[0], 0, -(n - k) * leg * 6 / np.sqrt(61)]) if start is None else start
            inertia = da.inertia.rod(leg, leg, axis="x")
            model.body(f"link {k}", mass=leg, inertia=inertia, position=start + 0.5 * along, orientation=turn)
            model.universal(f"joint {k}", previous, f"link {k}", at=start, axis=(0, 1, 0), axis_driven=turn.apply([0, 0, 1]))
            previous = f"link {k}"
        model.spherical("end", "ground", previous, at=(10, 0, 0))
        rest = da.equilibrium(model)
        middle = rest.position.sel(body=f"link {n // 2}").values
        turn = Rotation.from_quat(rest.orientation.sel(body=f"link {n // 2}").values, scalar_first=True)
        errors.append(abs((middle - turn.apply([0.5 * leg, 0, 0]))[2] - sag))
        assert rest.stable
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)


def test_a_linkage_that_is_drawn_open_is_assembled_first():
    """A ladder against a wall, held by a rope: rope force = m g / (2 tan(angle)), from moments about the top."""
    angle, length, mass = np.radians(60.0), 5.0, 20.0
    turn = Rotation.from_euler("y", -np.degrees(angle) - 0.5, degrees=True)  # drawn half a degree off
    model = da.Model("ladder", gravity=(0, 0, -GRAVITY))
    centre = 0.5 * length * np.array([np.cos(angle), 0, np.sin(angle)])
    inertia = da.inertia.rod(mass, length)
    model.body("ladder", mass=mass, inertia=inertia, position=centre, orientation=turn)
    ends = {"foot": -0.5 * length, "top": 0.5 * length}
    drawn = {name: centre + turn.apply([x, 0, 0]) for name, x in ends.items()}
    model.point_on_plane("floor", "ground", "ladder", at=(0, 0, 0), at_driven=drawn["foot"], axis=(0, 0, 1))
    model.point_on_plane("wall", "ground", "ladder", at=(length * np.cos(angle), 0, 0), at_driven=drawn["top"], axis=(1, 0, 0))
    model.lock("upright", "ground", "ladder", rows=("y", "Rx", "Rz"))
    model.distance("rope", "ground", "ladder", at=(length, 0, 0), at_driven=drawn["foot"], length=length)
    rest = da.equilibrium(model)
    rope = np.linalg.norm(rest.joint_force.sel(joint="rope"))
    assert rope == pytest.approx(mass * GRAVITY / (2.0 * np.tan(angle)), rel=1e-9)


def lever():
    """A massless lever of 2 m on a hinge, with a spring and a weight at its end; level as drawn."""
    model = da.Model("lever", gravity=(0, 0, -GRAVITY))
    model.body("lever", mass=0.0, position=(1, 0, 0))
    model.body("weight", mass=3.0, position=(2, 0, 0))
    model.frame("tip", "lever", at=(2, 0, 0))
    model.revolute("hinge", "ground", "lever", axis=(0, 1, 0))
    model.fixed("bolt", "lever", "weight", at=(2, 0, 0))
    model.torsion_spring("spring", "hinge", stiffness=200.0)
    return model


def test_held_coordinates_carry_what_holds_them():
    weight = 3.0 * GRAVITY
    held = da.equilibrium(lever(), hold={"hinge.angle": 0.0})
    assert held.held["hinge.angle"] == pytest.approx(-2.0 * weight)  # against the weight's +y moment
    held = da.equilibrium(lever(), hold={"tip.z": None})
    assert held.held["tip.z"] == pytest.approx(weight)
    angle = 0.3
    held = da.equilibrium(lever(), hold={"tip.z": -2.0 * np.sin(angle)})
    assert held.held["tip.z"] == pytest.approx(weight - 200.0 * angle / (2.0 * np.cos(angle)), rel=1e-9)
    held = da.equilibrium(lever(), hold={"lever": None})
    assert held.held["lever.Ty"] == pytest.approx(-2.0 * weight + weight)  # about the middle of the lever, which holds it
    assert held.held["lever.Fz"] == pytest.approx(weight)


def test_unknown_things_to_be_held_are_refused():
    with pytest.raises(da.ModelError, match=r"did you mean 'angle'"):
        da.equilibrium(lever(), hold={"hinge.angel": 0.0})
    with pytest.raises(da.ModelError, match=r"no such joint coordinate, point or body"):
        da.equilibrium(lever(), hold={"levr": None})
    with pytest.raises(da.ModelError, match="needs a model"):
        da.equilibrium(da.build(lever()), hold={"lever": None})


def test_driven_joints_are_looked_at_at_a_given_time():
    model = lever()
    model.motion("drive", "hinge", "angle", da.Ramp(slope=0.1))
    rest = da.equilibrium(model, t=5.0)
    assert np.allclose(rest.position.sel(body="weight"), [2 * np.cos(0.5), 0, -2 * np.sin(0.5)])


def test_a_body_that_nothing_holds_has_no_equilibrium():
    model = da.Model("falling", gravity=(0, 0, -GRAVITY))
    model.body("stone", mass=2.0, inertia=(1, 1, 1))
    with pytest.raises(da.EquilibriumError, match=r"body 'stone' \(z\) is left with 19\.6 .*nothing holds it") as error:
        da.equilibrium(model)
    assert error.value.residual == pytest.approx(2.0 * GRAVITY)
    assert error.value.state.q.size == 7


def test_a_slide_has_no_equilibrium():
    model = da.Model("slide", gravity=(0, 0, -GRAVITY))
    model.body("sledge", mass=2.0, inertia=(1, 1, 1))
    model.prismatic("slope", "ground", "sledge", axis=(1, 0, -1))
    with pytest.raises(da.EquilibriumError, match="nothing holds it there"):
        da.equilibrium(model)


def test_joints_that_cannot_close_are_named():
    model = pendulum(30)
    model.spherical("ball", "ground", "bob", at=(10, 0, 0), at_driven=(2.0, 0, -np.sqrt(12.0)))
    with pytest.raises(AssemblyError, match=r"stays open by"):
        da.equilibrium(model)


def test_a_free_body_without_forces_rests_anywhere():
    model = da.Model("free")
    model.body("stone", mass=2.0, inertia=(1, 1, 1))
    rest = da.equilibrium(model)
    assert rest.stable
    assert rest.neutral_directions == 6


def test_a_follower_force_that_is_too_large_makes_a_column_flutter():
    """Ziegler's column of two rods (m1 = 2 m, m2 = m at their ends): flutter above (7/2 - sqrt 2) k / l."""

    def column(force):
        model = da.Model("Ziegler")
        for k, mass in ((1, 2.0), (2, 1.0)):
            model.body(f"mass {k}", mass=mass, inertia=(1e-12, 1e-12, 1e-12), position=(k, 0, 0))
        model.revolute("hinge 1", "ground", "mass 1", at=(0, 0, 0), axis=(0, 1, 0))
        model.revolute("hinge 2", "mass 1", "mass 2", at=(1, 0, 0), axis=(0, 1, 0))
        for k in (1, 2):
            model.torsion_spring(f"spring {k}", f"hinge {k}", stiffness=10.0)
        model.load("push", "mass 2", force=(-force, 0, 0), follower=True)
        return model

    critical = (3.5 - np.sqrt(2.0)) * 10.0
    assert da.equilibrium(column(0.99 * critical)).stable
    beyond = da.equilibrium(column(1.01 * critical))
    assert not beyond.stable
    grows = da.modes(column(1.01 * critical), None)
    assert "growing oscillation" in grows.kind.values


def test_rest_is_kept_by_a_run_and_by_a_model_that_is_drawn_anew():
    rest = da.equilibrium(lever())
    run = da.simulate(lever(), duration=0.5, step=1e-2, start=rest.state)
    assert np.allclose(run.position, rest.position, atol=1e-10)
    again = da.redrawn(lever(), rest.state)
    assert da.equilibrium(again).iterations <= 2
    assert np.allclose(da.build(again).design.q[:7], rest.q.values[:7])


def test_preloaded_springs_that_balance_each_other_rest():
    """All forces cancel, so that nothing is left to measure the residual by but what rounding does to the springs."""
    rest = da.equilibrium(stewart_gough())
    assert rest.residual < 1e-10
    again = da.equilibrium(stewart_gough(), start=rest.state)
    assert again.iterations == 1
    assert again.position.values == pytest.approx(rest.position.values, abs=1e-12)
