"""Which reactions are unique: mechanisms whose answer statics gives, single components, what to release, contradictions."""

import numpy as np
import pytest

import dalembert as da
from dalembert.analysis.assemble import AssemblyError
from dalembert.elements.lock import ROWS
from dalembert.linalg.solvability import METHODS

GRAVITY = (0, 0, -10.0)


def door(kind, *heights):
    model = da.Model("door", gravity=GRAVITY)
    model.body("leaf", mass=20.0, inertia=(4, 4, 2), position=(0.5, 0, 1))
    for k, z in enumerate(heights, 1):
        model.joint(f"hinge {k}", kind, model.ground, "leaf", at=(0, 0, z), axis=(0, 0, 1))
    return model


def parallelogram(cranks=3, **options):
    """A bar of 2 m on vertical cranks of 1 m, with a weight of its own that hangs off the middle."""
    model = da.Model("parallelogram", gravity=GRAVITY, **options)
    model.body("bar", mass=3.0, inertia=(0.1, 1, 1), position=(1.2, 0, 1), velocity=(0.5, 0, 0))
    for k, x in enumerate(np.linspace(0, 2, cranks), 1):
        spin = {"velocity": (0.25, 0, 0), "angular_velocity": (0, 0.5, 0)}
        model.body(f"crank {k}", mass=1.0, inertia=(0.1, 0.1, 0.01), position=(x, 0, 0.5), **spin)
        model.revolute(f"foot {k}", model.ground, f"crank {k}", at=(x, 0, 0), axis=(0, 1, 0))
        model.revolute(f"head {k}", f"crank {k}", "bar", at=(x, 0, 1), axis=(0, 1, 0))
    return model


def table(*feet):
    model = da.Model("table", gravity=GRAVITY)
    model.body("top", mass=12.0, inertia=(1, 1, 1), position=(0.1, 0.05, 1))
    for k, foot in enumerate(feet, 1):
        model.point_on_plane(f"leg {k}", model.ground, "top", at=(*foot, 0), axis=(0, 0, 1))
    return model


def bennett(theta=0.7, lengths=(1.0, 1.3), twist=0.6):
    """Bennett's linkage: opposite links alike, a/sin(alpha) = b/sin(beta), closed for every theta."""
    a, b = lengths
    alpha, beta = twist, np.arcsin(b / a * np.sin(twist))
    other = 2 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(theta / 2))
    T, frames = np.eye(4), []
    for angle, length, turn in ((theta, a, alpha), (other, b, beta), (-theta, a, alpha), (-other, b, beta)):
        frames.append(T.copy())
        c, s, ct, st = np.cos(angle), np.sin(angle), np.cos(turn), np.sin(turn)
        T = T @ [[c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0, st, ct, 0], [0, 0, 0, 1]]
    assert np.abs(T - np.eye(4)).max() < 1e-12  # the loop closes
    model = da.Model("Bennett", gravity=GRAVITY)
    links = ["ground", "link 1", "link 2", "link 3"]
    for k in (1, 2, 3):
        middle = (frames[k][:3, 3] + frames[(k + 1) % 4][:3, 3]) / 2
        model.body(links[k], mass=1.0, inertia=(0.1, 0.1, 0.1), position=middle)
    for k in range(4):
        model.revolute(f"hinge {k + 1}", links[k - 1], links[k], at=frames[k][:3, 3], axis=frames[k][:3, 2])
    return model


CASES = {  # model, constraints, rank, joints with a unique reaction
    # Two hinges, both of which carry moments: a beam clamped at both ends. Nothing tells one from the other.
    "door": (door("revolute", 0.5, 1.5), 10, 5, ()),
    "door on three hinges": (door("revolute", 0.2, 1.0, 1.8), 15, 5, ()),
    # The cranks push the bar along themselves: three unknown forces, but only one balance of forces and one of moments.
    "parallelogram in its plane": (parallelogram(planar=(0, 1, 0)), 12, 11, ()),
    "two cranks in the plane": (parallelogram(2, planar=(0, 1, 0)), 8, 8, ("foot 1", "foot 2", "head 1", "head 2")),
    # Four upward forces, three balances; three legs stand on any floor.
    "table": (table((-1, -1), (1, -1), (1, 1), (-1, 1)), 4, 3, ()),
    "three legs": (table((-1, -1), (1, -1), (0, 1)), 3, 3, ("leg 1", "leg 2", "leg 3")),
    # Legs 1 to 3 in a row are a beam on three supports; the fourth is the only one to hold the moment about that row.
    "a row of three legs": (table((-1, -1), (0, -1), (1, -1), (0, 1)), 4, 3, ("leg 4",)),
    # Four hinges of one freedom each, but a loop in space needs seven: any wrench that all axes are reciprocal to, 3 = 6 - 3
    # of them because the four axes have rank three, may go round the loop through all hinges.
    "Bennett's linkage": (bennett(), 20, 17, ()),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_statics_gives_the_answer(name):
    model, constraints, rank, unique = CASES[name]
    found = da.reactions(model)
    assert (found.constraints, found.rank, found.degree_of_redundancy) == (constraints, rank, constraints - rank)
    assert {joint for joint, flag in found.unique.items() if flag} == set(unique)
    assert not found.close_decision
    for method in METHODS:
        assert da.reactions(model, method=method).unique == found.unique


@pytest.mark.parametrize("name", CASES)
def test_the_releases_that_are_advised_make_everything_unique(name):
    model = CASES[name][0]
    found = da.reactions(model)
    after = da.reactions(da.build(model, without=found.releases))
    assert len(found.releases) == found.degree_of_redundancy  # no fewer would do
    assert after.degree_of_redundancy == 0
    assert all(after.unique.values())
    assert after.degrees_of_freedom == found.degrees_of_freedom  # it moves as before
    assert (found.advice == []) == (found.degree_of_redundancy == 0)


@pytest.mark.parametrize("name", CASES)
def test_joints_made_compliant_leave_all_others_unique(name):
    model = CASES[name][0]
    found = da.reactions(model)
    system = da.build(model)
    rows = [system.layout.rows[row] for joint in found.compliant for row in system.layout.joint_rows[joint]]
    after = da.reactions(da.build(model, without=rows))
    assert all(after.unique.values())
    for joint in found.compliant:  # none of them is too many
        kept = [
            system.layout.rows[row] for other in found.compliant if other != joint for row in system.layout.joint_rows[other]
        ]
        assert da.reactions(da.build(model, without=kept)).degree_of_redundancy > 0


def flags(found, joint):
    one = found.sel(joint=joint)
    return dict(zip(ROWS, [*one.force_unique.values.tolist(), *one.torque_unique.values.tolist()], strict=True))


def test_components_of_a_door_on_two_balls():
    """Balls carry forces only. The weight may hang on either (x is along the axis); levers share out the pull of the leaf."""
    found = da.reactions(door("spherical", 0.5, 1.5))
    for joint in ("hinge 1", "hinge 2"):
        assert flags(found, joint) == {"x": False, "y": True, "z": True, "Rx": True, "Ry": True, "Rz": True}
    pull = 200.0 * 0.5 / 1.0  # weight times lever over the distance of the balls [N]
    assert np.abs(found.joint_force.sel(joint="hinge 2").values[1:]).max() == pytest.approx(pull, rel=1e-12)
    assert found.dependencies == ["hinge 2.x = hinge 1.x"]
    assert found.advice == ["hinge 2: release x (then it is a point_on_line joint)"]


def test_who_is_not_unique_is_told_why():
    found = da.reactions(door("spherical", 0.5, 1.5))
    assert found.why("hinge 1") == found.why("hinge 2") == ["hinge 2.x = hinge 1.x"]
    mixed = da.reactions(table((-1, -1), (0, -1), (1, -1), (0, 1)))
    assert mixed.why("leg 4") == []
    (equation,) = mixed.why("leg 2")
    assert equation == "leg 2.x = 0.5 leg 1.x + 0.5 leg 3.x"  # the middle of a row stands where the ends want it


def test_components_of_a_door_on_hinges():
    """All but the moment about the axis, which no hinge carries, and which is zero."""
    found = da.reactions(door("revolute", 0.5, 1.5))
    assert flags(found, "hinge 1") == {"x": False, "y": False, "z": False, "Rx": True, "Ry": False, "Rz": False}


def test_components_of_a_parallelogram():
    """Cranks without a load of their own push along themselves only: across (x of the world) all forces are known."""
    found = da.reactions(parallelogram(planar=(0, 1, 0)))
    system = da.build(parallelogram(planar=(0, 1, 0)))
    for joint, (_, frame) in system.layout.joint_frames.items():
        across = np.abs(frame.T @ [1, 0, 0]) > 0.5
        assert found.force_unique.sel(joint=joint).values.tolist() == (across | (np.abs(frame.T @ [0, 1, 0]) > 0.5)).tolist()


def test_groups_of_joints_are_looked_at_together():
    """What four legs carry together is the weight; two legs across the table exchange with the other two."""
    legs = [f"leg {k}" for k in (1, 2, 3, 4)]
    model = CASES["table"][0]
    found = da.reactions(model, groups={"all": legs, "across": legs[::2], "side": legs[:2]})
    assert [found.unique[name] for name in ("all", "across", "side")] == [True, False, False]
    with pytest.raises(da.ModelError, match="did you mean 'leg 4'"):
        da.reactions(model, groups={"typo": ["leg 44"]})


@pytest.mark.parametrize("method", METHODS)
def test_groups_by_the_methods_of_the_paper(method):
    legs = [f"leg {k}" for k in (1, 2, 3, 4)]
    found = da.reactions(CASES["table"][0], groups={"all": legs, "across": legs[::2]}, method=method)
    assert (found.unique["all"], found.unique["across"]) == (True, False)


def test_a_planar_model_is_not_redundant_by_accident():
    space, plane = da.reactions(parallelogram(2)), da.reactions(parallelogram(2, planar=(0, 1, 0)))
    assert (space.degree_of_redundancy, plane.degree_of_redundancy) == (3, 0)
    assert plane.degrees_of_freedom == space.degrees_of_freedom == 1


def test_values_that_are_unique_do_not_depend_on_what_is_left_out():
    model = parallelogram(planar=(0, 1, 0))
    found = da.reactions(model)
    for row in ("foot 1.z", "head 2.z", "foot 3.z"):
        other = da.reactions(da.build(model, without=[row]))
        for one, flag in ((found.joint_force, found.force_unique), (found.joint_torque, found.torque_unique)):
            difference = np.abs((other[one.name] - one).values)
            assert difference[flag.values].max() < 1e-11
        assert np.abs((other.joint_force - found.joint_force).values)[~found.force_unique.values].max() > 1e-2


def test_a_nearly_redundant_model_is_called_a_close_decision():
    model = table((-1, -1), (1, -1), (1, 1), (-1, 1))
    assert not da.reactions(model).close_decision
    tilted = table((-1, -1), (1, -1), (1, 1))
    tilted.point_on_plane("leg 4", "ground", "top", at=(-1, 1, 0), axis=(1e-8, 0, 1))
    found = da.reactions(tilted)
    assert found.close_decision
    assert 1e-10 < found.smallest_singular_value < 1e-7


def misaligned(gap, tolerance=0.0):
    """A four-bar linkage in space, one hinge of which is drawn off along its axis."""
    points = {"A": (0, 0, 0), "B": (0, 0, 0.1), "C": (0.35, 0, 0.28), "D": (0.4, 0, 0)}
    model = da.Model("four-bar", gravity=GRAVITY, tolerance=tolerance)
    for name, (one, other) in {"crank": "AB", "coupler": "BC", "rocker": "DC"}.items():
        model.body(name, mass=1.0, inertia=(0.01,) * 3, position=np.add(points[one], points[other]) / 2)
    for point, main, driven in (("A", "ground", "crank"), ("B", "crank", "coupler"), ("D", "ground", "rocker")):
        model.revolute(point, main, driven, at=points[point], axis=(0, 1, 0))
    model.revolute("C", "coupler", "rocker", at=points["C"], at_driven=np.add(points["C"], (0, gap, 0)), axis=(0, 1, 0))
    return model


def test_a_misaligned_hinge_is_refused_with_the_joints_and_the_size_of_the_contradiction():
    with pytest.raises(AssemblyError, match=r"'A', 'B', 'D', 'C' contradict each other by 0\.001 m") as error:
        da.reactions(misaligned(1e-3))
    assert error.value.contradiction == pytest.approx(1e-3, rel=1e-3)
    assert set(error.value.joints) == {"A", "B", "C", "D"}


def test_with_a_tolerance_it_is_accepted_and_reported():
    with pytest.raises(AssemblyError):
        da.reactions(misaligned(1e-3, tolerance=0.9e-3))
    found = da.reactions(misaligned(1e-3, tolerance=1.1e-3))
    assert found.gaps == ["C.x: 0.001"]
    assert (found.degree_of_redundancy, found.degrees_of_freedom) == (3, 1)
    assert found.mismatch.values.max() < 1e-12
    exact, accepted = (da.simulate(misaligned(gap, tolerance=2e-3), duration=0.3, output_step=0.1) for gap in (0.0, 1e-3))
    assert accepted.gaps == ["C.x: 0.001"]
    assert "gaps" not in exact.attrs
    model = misaligned(1e-3, tolerance=2e-3)
    end = da.assemble(da.build(model))
    again = da.simulate(
        model, duration=0.3, output_step=0.1, start=end
    )  # a state from elsewhere: the gap is known all the same
    assert np.array_equal(again.position.values, accepted.position.values)
    path = [run.position.sel(body="rocker").values for run in (exact, accepted)]
    assert np.abs(path[0] - path[1])[:, [0, 2]].max() < 1e-6  # it moves in its plane as the fitting one does


def test_redundant_motions_that_contradict_each_other_are_refused_at_the_level_where_they_do():
    """Two drives of one angle that agree in position and velocity, but not in acceleration."""
    model = da.Model("two drives")
    model.body("arm", mass=1.0, inertia=(1, 1, 1))
    for name, curve in (("one", 1.0), ("other", 2.0)):
        model.revolute(name, model.ground, "arm", axis=(0, 0, 1))
        model.motion(f"drive {name}", name, "angle", da.Polynomial((0.0, 0.3, curve)))
    with pytest.raises(da.SolveError, match=r"'one\.Rx'.*'other\.Rx'.* contradict each other by"):
        da.reactions(model)


def test_a_row_to_leave_out_is_known_by_name():
    with pytest.raises(da.ModelError, match=r"did you mean 'hinge 1\.x'"):
        da.build(door("revolute", 0.5, 1.5), without=["hinge 1.xx"])


def test_reactions_of_undetermined_motions_have_flags_but_no_values():
    model = table((-1, -1), (1, -1), (0, 1))
    model.body("ghost", mass=0.0)
    model.spherical("ball", "top", "ghost")
    found = da.reactions(model)
    assert found.unique["leg 1"]
    assert np.isnan(found.joint_force.values).all()
    assert "not unique" in found.values_note


def test_runs_and_equilibria_carry_the_flags_of_single_components():
    model = parallelogram(planar=(0, 1, 0))
    found, run = da.reactions(model), da.simulate(model, duration=0.1, output_step=0.05)
    rest = da.equilibrium(parallelogram(planar=(0, 1, 0)))
    for name in ("joint_unique", "force_unique", "torque_unique"):
        assert rest[name].equals(found[name].drop_attrs()) or bool((rest[name] == found[name]).all())
    tilted = run.force_unique.values  # away from the upright position across and along mix
    assert tilted.shape == found.force_unique.shape
    assert not run.joint_unique.values.any()


def test_plots_draw_what_is_not_unique_dashed():
    figure = da.simulate(table((-1, -1), (0, -1), (1, -1), (0, 1)), duration=0.01, output_step=0.005).plot()
    lines = {line.get_label(): line.get_linestyle() for line in figure.axes[2].get_lines()}
    assert lines == {"leg 4": "-", **{f"leg {k} (not unique)": "--" for k in (1, 2, 3)}}


def test_a_large_model_is_taken_apart_into_its_groups():
    """Leaves on two balls and on single hinges, in turn, 100 of each: every pair of balls is a group of its own."""
    model = da.Model("doors", gravity=GRAVITY)
    for k in range(200):
        model.body(f"leaf {k}", mass=1.0, inertia=(1, 1, 1), position=(k % 20, k // 20, 0))
        main = f"leaf {k - 1}" if k % 10 else model.ground
        for j in range(2 if k % 2 else 1):
            kind = "spherical" if k % 2 else "revolute"
            model.joint(f"hinge {k} {j}", kind, main, f"leaf {k}", at=(k % 20 - 0.5, k // 20, j), axis=(0, 0, 1))
    system = da.build(model)
    assert system.n_constraints == 1100
    found = da.reactions(system)
    assert (found.degree_of_redundancy, found.degrees_of_freedom) == (100, 200)
    assert found.unique == {joint: int(joint.split()[1]) % 2 == 0 for joint in model.joints}
    assert found.force_unique.sel(joint="hinge 1 0").values.tolist() == [False, True, True]
    assert da.reactions(da.build(model, without=found.releases)).degree_of_redundancy == 0
    assert len(found.compliant) == 100


def test_rows_of_a_users_own_equations():
    """Two blades in line are one too many; a third one across them is not, and stops the sleigh from going ahead."""
    import sympy as sp

    from dalembert.lagrange.mechanics import Mechanics

    x, y, a, vx, vy, w = sp.symbols("x y a vx vy w")
    sideways = -vx * sp.sin(a) + vy * sp.cos(a)
    blades = [sideways, 2 * sideways, sideways + sp.Rational(1, 2) * w]
    energy = (2 * vx**2 + 2 * vy**2 + sp.Rational(3, 10) * w**2) / 2
    sleigh = Mechanics("sleigh", [x, y, a], [vx, vy, w], kinetic_energy=energy, nonholonomic=blades, velocity=[1, 0, 0])
    found = da.reactions(sleigh)
    assert (found.constraints, found.rank, found.degree_of_redundancy) == (3, 2, 1)
    assert found.unique == {"psi[0]": False, "psi[1]": False, "psi[2]": True}
    assert found.dependencies == ["psi[1] = 2 psi[0]"]
    for method in METHODS:
        assert da.reactions(sleigh, method=method).unique == found.unique
