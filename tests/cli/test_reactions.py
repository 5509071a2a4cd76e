"""`dalembert reactions`: keys, nulls where nothing is known, tables, and what is refused."""

import json
from pathlib import Path

import pytest

import dalembert as da
from dalembert.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"


def reactions(capsys, *arguments):
    assert main(["reactions", *map(str, arguments), "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def test_the_robot_as_json(capsys):
    figures = reactions(capsys, EXAMPLES / "mobile_robot.yaml")
    assert {key: figures[key] for key in ("constraints", "rank", "degree_of_redundancy", "degrees_of_freedom")} == {
        "constraints": 22, "rank": 20, "degree_of_redundancy": 2, "degrees_of_freedom": 1
    }  # fmt: skip
    assert (figures["rank_holonomic"], figures["rank_nonholonomic"]) == (17, 4)
    unique = {name for name, joint in figures["joints"].items() if joint["unique"]}
    assert unique == {"A", "D", "E", "F", "G", "H", "drive", "W5"}
    assert figures["joints"]["W3"]["force"][1] is None
    assert all(isinstance(x, float) for x in figures["joints"]["D"]["force"] + figures["joints"]["D"]["torque"])
    assert figures["close_decision"] is False
    assert len(figures["releases"]) == 2


@pytest.mark.parametrize("method", ["ranks", "svd", "qr"])
def test_the_methods_of_the_paper_say_the_same(capsys, method):
    flags = [
        {name: joint["unique"] for name, joint in reactions(capsys, EXAMPLES / "four_bar.yaml", *extra)["joints"].items()}
        for extra in ((), ("--method", method))
    ]
    assert flags[0] == flags[1]


def test_people_get_a_table(capsys):
    assert main(["reactions", str(EXAMPLES / "mobile_robot.yaml")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("degree of redundancy" in line and line.split()[-1] == "2" for line in lines)
    assert any("W4.sideways = W3.sideways" in line for line in lines)
    assert any(line.split()[:2] == ["W3", "no"] and "?" in line for line in lines)
    assert any(line.split()[:2] == ["W5", "yes"] and "?" not in line for line in lines)


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.yaml")))
def test_every_example_has_reactions_and_the_counts_of_check(capsys, name):
    path = EXAMPLES / f"{name}.yaml"
    figures = reactions(capsys, path)
    assert main(["check", str(path), "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)
    for key in ("constraints", "rank", "degree_of_redundancy", "degrees_of_freedom"):
        assert figures[key] == counts[key]
    assert all(joint["unique"] for joint in figures["joints"].values()) == (figures["degree_of_redundancy"] == 0)


def test_singular_positions_along_a_motion(capsys, tmp_path):
    model = da.Model("parallelogram", planar=True)
    model.body("bar", mass=1.0, inertia=(1, 1, 1), position=(1, 1, 0), velocity=(-3, 0, 0))
    for k, x in ((1, 0.0), (2, 2.0)):
        model.body(
            f"crank {k}", mass=1.0, inertia=(1, 1, 1), position=(x, 0.5, 0), velocity=(-1.5, 0, 0), angular_velocity=(0, 0, 3)
        )
        model.revolute(f"foot {k}", model.ground, f"crank {k}", at=(x, 0, 0))
        model.revolute(f"head {k}", f"crank {k}", "bar", at=(x, 1, 0))
    da.save_model(model, tmp_path / "m.yaml")
    figures = reactions(capsys, tmp_path / "m.yaml", "--along", 1)
    (one,) = figures["singular"]
    assert one["time"] == pytest.approx(3.14159265 / 6, abs=1e-5)
    assert one["joints"] == "'foot 1', 'head 1', 'foot 2', 'head 2'"
    assert main(["reactions", str(tmp_path / "m.yaml"), "--along", "1"]) == 0
    assert "singular position" in capsys.readouterr().out


def test_contradicting_joints_are_refused_with_their_names(capsys, tmp_path):
    model = da.Model("door")
    model.body("leaf", mass=1.0, inertia=(1, 1, 1))
    model.spherical("top", model.ground, "leaf", at=(0, 0, 1))
    model.spherical("bottom", model.ground, "leaf", at=(0, 0, 0), at_driven=(0, 0, 0.001))
    da.save_model(model, tmp_path / "m.yaml")
    assert main(["reactions", str(tmp_path / "m.yaml"), "--json"]) == 3
    assert "'top', 'bottom' contradict each other by 0.001 m" in capsys.readouterr().err
    model.tolerance = 0.002
    da.save_model(model, tmp_path / "m.yaml")
    assert reactions(capsys, tmp_path / "m.yaml")["gaps"] == ["bottom.z: 0.001"]


def test_an_unknown_method_is_answered_with_the_nearest(capsys):
    assert main(["reactions", str(EXAMPLES / "four_bar.yaml"), "--method", "rank"]) == 2
    assert "did you mean 'ranks'" in capsys.readouterr().err
