"""A model that is written and read again is the same bit by bit; files are replaced whole or not at all."""

import dataclasses
import os
import pickle
import stat
from pathlib import Path

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert.elements.joint import JOINT_TYPES
from dalembert.io import model_from_text, model_to_text, read_model_file
from random_models import LAWS, coupled, frames, one_joint, random_rotation, two_bodies

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
SEEDS = st.integers(0, 2**32 - 1)
DATA_LAWS = sorted(set(LAWS) - {"function"})


def bits(value):
    """What a value is made of, comparable bit by bit."""
    if isinstance(value, Rotation):
        return value.as_quat().tobytes()
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, float | int) and not isinstance(value, bool):
        return float(value).hex()
    if isinstance(value, tuple | list):
        return [bits(item) for item in value]
    if dataclasses.is_dataclass(value):
        own = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return type(value), {name: bits(item) for name, item in own.items() if name != "orientation_wxyz"}
    return value


def contents(model):
    sections = (model.points, model.frames, model.bodies, model.joints, model.couplings, model.motions, model.forces)
    listed = [[(name, bits(element)) for name, element in section.items()] for section in sections]
    beams = [(name, bits(beam)) for name, beam in model.beams.items()]
    return model.name, bits(model.gravity), bits(model.plane), model.tolerance, listed, beams


def assert_survives(model):
    text = model_to_text(model)
    again = model_from_text(text)
    assert contents(again) == contents(model)
    assert model_to_text(again) == text
    return again


def assert_same_systems(one, two):
    one, two = da.build(one), da.build(two)
    assert one.layout.rows == two.layout.rows
    assert bits(one.design) == bits(two.design)
    for label, table in one.tables._asdict().items():
        if isinstance(table, np.ndarray) and label != "callbacks":
            assert table.tobytes() == getattr(two.tables, label).tobytes(), label
    q, v = one.design.q, one.design.v
    for t in (0.0, 0.7):
        assert one.constraint(t, q).tobytes() == two.constraint(t, q).tobytes()
        assert one.acceleration_right_side(t, q, v).tobytes() == two.acceleration_right_side(t, q, v).tobytes()


@given(SEEDS, st.sampled_from(sorted(JOINT_TYPES)), st.sampled_from([None, *DATA_LAWS]), st.sampled_from(["ground", "two"]))
def test_joints_and_motions_survive(seed, kind, law, main):
    model = one_joint(np.random.default_rng(seed), kind, main=main, law=law)
    assert_same_systems(assert_survives(model), model)


@given(SEEDS)
def test_couplings_frames_points_and_axes_survive(seed):
    rng = np.random.default_rng(seed)
    model = coupled(rng)
    model.point("somewhere", rng.normal(size=3))
    model.frame("late", "one", at="tip", orientation=random_rotation(rng))
    model.frame("tip", "two", at="somewhere")
    model.revolute("r", "one", "two", at="late", axis=rng.normal(size=3), axis_driven=rng.normal(size=3), at_driven="tip")
    model.distance("d", "one", model.ground, at="somewhere", at_driven=rng.normal(size=3), length=rng.uniform(0.1, 2.0))
    model.body("spinning", mass=1, velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3), inertia=(1, 2, 2.5))
    assert_same_systems(assert_survives(model), model)


@given(SEEDS, st.sampled_from(DATA_LAWS))
def test_forces_survive(seed, law):
    rng = np.random.default_rng(seed)
    model = two_bodies(rng)
    model.cylindrical("c", "one", "two", **frames(rng))
    L = rng.normal(size=(6, 6))
    model.spring("plain", "one", "two", at=rng.normal(size=3), at_driven=(9, 9, 9), stiffness=3.7, damping=0.1, preload=-2)
    model.spring("table", model.ground, "two", at=(9, 9, 9), at_driven=rng.normal(size=3), free_length=rng.uniform(),
                 table=[(-1, -rng.uniform()), (0, 0), (1, 3)], damping_table=[(-1, -1), (2, 5)])  # fmt: skip
    model.spring("formula", "one", "two", at=(7, 7, 7), at_driven=(1, 1, 1), expression="3*(length - 0.1)**3 + rate")
    model.torsion_spring("turn", "c", stiffness=rng.uniform(), free=0.3)
    model.torsion_spring("slide", "c", coordinate="distance", expression="2*distance + 0.1*rate")
    model.bushing(
        "full", "one", "two", stiffness=L @ L.T, damping=(1, 2, 3, 4, 5, 6), preload=rng.normal(size=6), **frames(rng)
    )
    model.bushing("diagonal", "one", model.ground, at=(0, 0, 0), stiffness=(1, 2, 3, 4, 5, 6), axis=rng.normal(size=3))
    model.load("push", "one", force=(1, LAWS[law](), -0.0), torque=rng.normal(size=3), at=rng.normal(size=3), follower=True)
    model.load("weight", "two", force=rng.normal(size=3), law=LAWS[law]())
    model.joint_load("motor", "c", LAWS[law]())
    model.joint_load("constant", "c", 3, coordinate="distance")
    model.friction("rust", "c", coefficient=rng.uniform(), radius=0.02, length=0.3, viscous=rng.uniform())
    assert_same_systems(assert_survives(model), model)


SECTIONS = {
    "rectangle": lambda rng: da.section.Rectangle(width=rng.uniform(0.01, 0.1), height=0.02, damping_time=1e-5, **MATERIAL),
    "circle": lambda rng: da.section.Circle(diameter=rng.uniform(0.01, 0.1), shear_factors=(0.8, 0.9), **MATERIAL),
    "tube": lambda rng: da.section.Tube(outer_diameter=0.1, inner_diameter=rng.uniform(0.01, 0.09), **MATERIAL),
    "i": lambda rng: da.section.ISection(width=0.1, height=0.2, web=rng.uniform(0.005, 0.01), flange=0.01, **MATERIAL),
    "general": lambda rng: da.section.General(
        stiffness=_positive(rng), damping=_positive(rng), mass=rng.uniform(), inertia=(3, 2, 2, 0.1, 0.2, 0.3), centre=(0.1, 0)
    ),
    "diagonal": lambda rng: da.section.General(stiffness=rng.uniform(1, 2, 6), mass=1),
}
MATERIAL = {"youngs_modulus": 2.1e11, "poisson_ratio": 0.3, "density": 7850}


def _positive(rng):
    L = rng.normal(size=(6, 6))
    return L @ L.T + np.eye(6)


@given(SEEDS, st.sampled_from(sorted(SECTIONS)))
def test_beams_survive(seed, kind):
    rng = np.random.default_rng(seed)
    model = da.Model("frame")
    model.point("A", rng.normal(size=3))
    model.body("hub", mass=1)
    section = SECTIONS[kind](rng)
    model.beam("straight", "A", rng.normal(size=3), section=section, elements=3, up=rng.normal(size=3), twist=rng.normal())
    model.beam(
        "arc", (0, 0, 0), (1, 0, 0), via=rng.normal(size=3), section=section, elements=2, start_joint="revolute",
        start_body="hub", start_axis=rng.normal(size=3), end_joint="fixed", locking_correction=False,
    )  # fmt: skip
    model.frame("tip", "arc 2", at=rng.normal(size=3))
    model.spherical("ball", "hub", "straight 1", at="straight node 1")
    model.spring("spring", "straight 0", "arc 1", at="straight node 0", at_driven="arc node 1", stiffness=3.0)
    turn, bend = random_rotation(rng), Rotation.from_rotvec(0.4 * rng.normal(size=3))
    model.beam_element(
        "piece", "hub", "arc 0", at=rng.normal(size=3), at_driven="arc node 0", section=section, free=rng.normal(size=6),
        orientation=turn, orientation_driven=turn * bend, length=rng.uniform(0.1, 1.0),
    )  # fmt: skip
    again = assert_survives(model)
    assert_same_systems(again, model)
    assert "straight 0-1" not in model_to_text(model)


def test_a_beam_whose_parts_were_changed_is_written_part_by_part():
    model = da.Model("beam")
    beam = model.beam("b", (0, 0, 0), (1, 0, 0), section=SECTIONS["circle"](np.random.default_rng(0)), elements=2)
    model.bodies["b 1"] = dataclasses.replace(beam.bodies[1], mass=7.0)
    again = model_from_text(model_to_text(model))
    assert again.bodies["b 1"].mass == 7.0
    assert not again.beams
    assert_same_systems(again, model)


@pytest.mark.parametrize("name", ["yes", "1", "1e5", "null", "a b", "x ", "a-b+c", "_", "No", "0x1"])
def test_any_name_survives(name):
    model = da.Model("a: 'b' \"c\" # d\n\t\u00e9\U0001f600\x07")
    model.body(name, mass=1.0)
    model.point("p", (0, -0.0, 1e-320))
    model.spherical("2", model.ground, name, at="p")
    assert_survives(model)


@pytest.mark.parametrize("planar", [True, (0, 2, 0), (0.3, -0.4, 1.7)])
def test_a_plane_and_a_tolerance_survive(planar):
    model = da.Model("planar", planar=planar, tolerance=1e-3)
    model.body("b", mass=1.0, inertia=(1, 1, 1))
    assert_same_systems(assert_survives(model), model)


def test_planar_true_is_the_x_y_plane():
    assert model_from_text("dalembert: 1\nplanar: true\n").plane.tolist() == [0, 0, 1]
    assert model_from_text("dalembert: 1\nplanar: false\n").plane is None


def test_a_sympy_law_is_written_as_text():
    t = sympy.Symbol("t")
    model = one_joint(np.random.default_rng(0), "revolute")
    model.motion("drive", "joint", "angle", da.Expression(sympy.sin(3 * t) + t**2 / 2, breakpoints=(1.0,)))
    again = model_from_text(model_to_text(model))
    assert again.motions["drive"].law(0.3) == model.motions["drive"].law(0.3)
    assert again.motions["drive"].law.breakpoints == (1.0,)


@pytest.mark.parametrize("expression", [sympy.Abs(sympy.Symbol("t") - 1), sympy.erf(sympy.Symbol("t"))])
def test_a_sympy_law_without_a_text_is_refused_or_means_the_same(expression):
    model = one_joint(np.random.default_rng(0), "revolute")
    model.motion("drive", "joint", "angle", da.Expression(expression))
    try:
        text = model_to_text(model)
    except da.ModelError as error:
        assert "motion 'drive'" in str(error)  # noqa: PT017
    else:
        assert model_from_text(text).motions["drive"].law(0.3) == model.motions["drive"].law(0.3)


FUNCTIONS = {
    "motion 'm'": lambda m: m.motion("m", "joint", "angle", LAWS["function"]()),
    "joint load 'l'": lambda m: m.joint_load("l", "joint", da.Speed(LAWS["function"]())),
    "user force 'u'": lambda m: m.user_force("u", lambda t, q, v: 0 * v),
}


@pytest.mark.parametrize("element", FUNCTIONS)
def test_a_python_function_cannot_be_written_and_the_old_file_stays(element, tmp_path):
    path = tmp_path / "model.yaml"
    model = one_joint(np.random.default_rng(0), "revolute")
    da.save_model(model, path)
    before = path.read_bytes()
    FUNCTIONS[element](model)
    with pytest.raises(da.ModelError, match="Python function, which no file can hold") as refused:
        da.save_model(model, path)
    assert refused.value.element == element
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.yaml"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_load_and_survive(path):
    model = da.load_model(path)
    assert_same_systems(assert_survives(model), model)
    assert path.read_text().startswith("# ")


def test_there_are_examples():
    assert {"pendulum", "four_bar", "slider_crank", "gyroscope"} <= {path.stem for path in EXAMPLES}


def test_the_file_of_the_pendulum_means_the_same_as_python():
    model = da.Model("pendulum", gravity=(0, 0, -9.81))
    model.point("pivot", (0, 0, 0))
    bob = model.body("bob", mass=15.0, inertia=da.inertia.point(), position=(2.0, 0, -3.4641016))
    model.revolute("hinge", model.ground, bob, at="pivot", axis=(0, 1, 0))
    assert contents(da.load_model(EXAMPLES[0].with_name("pendulum.yaml"))) == contents(model)


def test_aliases_empty_sections_and_other_forms():
    model = model_from_text(
        "dalembert: 1\nforces:\nmotions: {}\nbodies:\n  a: {mass: 1, inertia: &I [[2, 0.5, 0], [0.5, 2, 0], [0, 0, 2]]}\n"
        "  b: {mass: 1, inertia: *I, orientation_wxyz: [2, 0, 0, 2]}\n"
        "joints:\n  j: {type: hinge, between: [a, b], orientation_driven_wxyz: [1, 0, 0, 0]}\n"
    )
    assert model.bodies["a"].inertia[0, 1] == model.bodies["b"].inertia[1, 0] == 0.5
    assert np.allclose(model.bodies["b"].rotation.as_euler("xyz", degrees=True), [0, 0, 90])
    assert model.joints["j"].type == "revolute"
    assert_survives(model)


def test_a_new_file_has_the_usual_permissions_and_an_old_one_keeps_its_own(tmp_path):
    model, path, link = da.Model(), tmp_path / "model.yaml", tmp_path / "link.yaml"
    mask = os.umask(0o027)
    try:
        da.save_model(model, path)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    link.symlink_to(path)
    da.save_model(da.Model("other"), link)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert link.is_symlink()
    assert da.load_model(path).name == "other"


def test_what_fails_while_writing_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, "no space left")

    path = tmp_path / "model.yaml"
    da.save_model(da.Model("old"), path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        da.save_model(da.Model("new"), path)
    assert os.listdir(tmp_path) == ["model.yaml"]
    assert da.load_model(path).name == "old"


def test_a_missing_file_and_a_folder(tmp_path):
    (tmp_path / "pendulum.yaml").touch()
    with pytest.raises(da.ModelFileError, match=r"no such file or directory; did you mean 'pendulum.yaml'\?"):
        da.load_model(tmp_path / "pendulun.yaml")
    with pytest.raises(da.ModelFileError, match="is a directory"):
        da.load_model(tmp_path)


def test_later_errors_name_lines_too(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text("dalembert: 1\nbodies:\n  a: {mass: 1}\n  b:\n    mass: 0\n")
    source = read_model_file(path)
    with pytest.raises(da.ModelFileError, match=r"m.yaml:5: bodies.b.mass: it has no mass and no joint") as refused:
        source.build()
    assert pickle.loads(pickle.dumps(refused.value)).mistakes == refused.value.mistakes
    assert source.located(da.ModelError("body 'a'", "it is odd")).line == 3
    assert source.located(da.ModelError("solver", "it is odd")) == (str(path), 1, "solver", "it is odd", "")


def test_a_broken_element_does_not_spoil_what_names_it():
    text = "dalembert: 1\nbodies: {a: {mass: x}, b: {mass: 1}}\njoints: {j: {type: fixed, between: [a, b]}}\n"
    text += "motions: {m: {joint: j, coordinate: x, law: {type: constant, value: 0}}}\n"
    with pytest.raises(da.ModelFileError) as refused:
        model_from_text(text)
    assert [mistake.element for mistake in refused.value.mistakes] == ["bodies.a.mass"]


def test_a_model_of_a_thousand_bodies_is_one_line_each():
    model = da.Model("chain")
    above = model.ground
    for k in range(1000):
        body = model.body(f"b{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(k, 0, 0))
        model.revolute(f"j{k}", above, body, at=(k - 0.5, 0, 0), axis=(0, 1, 0))
        above = body
    text = model_to_text(model)
    assert len(text.splitlines()) == 2005
    assert contents(model_from_text(text)) == contents(model)


@given(st.data())
def test_a_changed_example_is_read_or_refused_in_a_users_words(data):
    text = data.draw(st.sampled_from(EXAMPLES)).read_text()
    start = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 12))
    piece = data.draw(
        st.sampled_from(["", "x", "0", "-1", "[", "}", ": ", "\n", "  ", "null", "{}", "[]", "1e400", "'", "*a", "!"])
    )
    try:
        model_from_text(text[:start] + piece + text[start + length :])
    except da.ModelFileError as error:
        assert all(mistake.element and mistake.problem for mistake in error.mistakes)  # noqa: PT017
