"""`dalembert check`: counts, what is redundant, and warnings."""

import json
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.cli.main import main
from dalembert.linalg.rank import MOST_DENSE_ROWS

EXAMPLES = Path(__file__).parents[2] / "examples"
KEYS = [
    "valid",
    "bodies",
    "joints",
    "constraints",
    "rank",
    "degrees_of_freedom",
    "degree_of_redundancy",
    "redundant",
    "warnings",
]
COUNTS = {  # bodies, joints, constraints, rank, degrees of freedom, redundancy: by hand
    "pendulum": (1, 1, 5, 5, 1, 0),
    "four_bar": (3, 4, 20, 17, 1, 3),
    "slider_crank": (3, 4, 18, 18, 0, 0),
    "gyroscope": (4, 4, 21, 21, 3, 0),
    "gear_train": (4, 4, 23, 23, 1, 0),
    "engine_mount": (2, 1, 5, 5, 7, 0),
    "anchor_chain": (43, 44, 178, 178, 80, 0),
    "double_wishbone": (7, 12, 41, 41, 1, 0),
    "swing": (6, 4, 11, 11, 25, 0),
    "stewart_gough": (1, 0, 0, 0, 6, 0),
    "mobile_robot": (7, 13, 22, 20, 1, 2),
}


def check(path, capsys):
    assert main(["check", str(path), "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("\n") == 1
    return json.loads(out)


def written(tmp_path, model):
    da.save_model(model, tmp_path / "model.yaml")
    return tmp_path / "model.yaml"


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.yaml")))
def test_examples_have_the_counts_that_one_finds_by_hand(name, capsys):
    figures = check(EXAMPLES / f"{name}.yaml", capsys)
    assert list(figures) == KEYS
    assert tuple(figures[key] for key in KEYS[1:7]) == COUNTS[name]
    assert figures["valid"] is True
    open_by_design = name == "anchor_chain"  # its end links are drawn at 45 degrees
    assert bool(figures["warnings"]) is open_by_design
    assert bool(figures["redundant"]) == bool(figures["degree_of_redundancy"])


def test_a_planar_four_bar_is_redundant_out_of_its_plane(capsys):
    redundant = check(EXAMPLES / "four_bar.yaml", capsys)["redundant"]
    assert redundant == [f"{joint}.{row}" for joint in "ABCD" for row in ("x", "Ry", "Rz")]  # x is the hinge's axis


def test_people_get_a_table(capsys):
    assert main(["check", str(EXAMPLES / "four_bar.yaml")]) == 0
    out = capsys.readouterr().out
    assert "four-bar linkage" in out
    assert [line.split()[-1] for line in out.splitlines() if "degree" in line] == ["1", "3"]
    assert "A.x" in out


def test_an_invalid_file_has_the_same_keys_and_the_errors(tmp_path, capsys):
    path = tmp_path / "m.yaml"
    path.write_text("dalembert: 1\nbodies:\n  b: {mass: -1}\n")
    assert main(["check", str(path), "--json"]) == 2
    out, err = capsys.readouterr()
    figures = json.loads(out)
    assert list(figures) == [*KEYS, "errors"]
    assert figures["valid"] is False
    mistake = {
        "file": str(path),
        "line": 3,
        "element": "bodies.b.mass",
        "problem": "mass is negative (-1)",
        "remedy": "give 0 or more",
    }
    assert figures["errors"] == [mistake]
    assert err == f"error: {path}:3: bodies.b.mass: mass is negative (-1); give 0 or more\n"


def test_warnings_say_what_is_seldom_meant(tmp_path, capsys):
    model = da.Model("odd")
    model.body("a", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0), velocity=(0, 0, 2.5))
    model.body("ghost", mass=0.0)
    model.body("point", mass=1.0)
    model.spherical("ball", model.ground, "a", at=(0, 0, 0), at_driven=(0.25, 0, 0))
    model.fixed("weld", "a", "ghost", axis=(1, 0, 0), axis_driven=(0, 1, 0))
    warnings = check(written(tmp_path, model), capsys)["warnings"]
    assert warnings[0] == "body 'ghost' has no mass"
    assert warnings[1] == "joint 'ball' is drawn open: ball.x by 0.25 m"
    assert warnings[2] == "joint 'weld' is drawn open: weld.Rz by 1.57 rad"
    assert warnings[3] == "the start velocities do not fit joint 'ball': 2.5 m/s or rad/s"
    assert "the acceleration is not unique: body 'point' (rotation about its x)" in warnings[-1]


def test_a_motion_that_does_not_start_as_drawn_is_told(tmp_path, capsys):
    model = da.Model("jump")
    model.body("a", mass=1.0, inertia=(1, 1, 1))
    model.prismatic("rail", model.ground, "a")
    model.motion("drive", "rail", "distance", da.Constant(0.5))
    assert check(written(tmp_path, model), capsys)["warnings"] == ["joint 'rail' is drawn open: rail.x by 0.5 m"]


def loop(n):
    """A planar ring of n hinged links, whose plane makes three constraints redundant, and a tail of as many."""
    model = da.Model("ring and tail")
    for k in range(2 * n):
        at = np.array([np.cos(2 * np.pi * (k + 0.5) / n), 0, np.sin(2 * np.pi * (k + 0.5) / n)]) if k < n else [2 + k - n, 0, 0]
        model.body(f"b{k}", mass=1.0, inertia=(1, 1, 1), position=at)
    for k in range(n):
        at = [np.cos(2 * np.pi * k / n), 0, np.sin(2 * np.pi * k / n)]
        model.revolute(f"ring {k}", f"b{k - 1 if k else n - 1}", f"b{k}", at=at, axis=(0, 1, 0))
    for k in range(n, 2 * n):
        model.revolute(f"tail {k}", f"b{k - 1}" if k > n else model.ground, f"b{k}", at=(1.5 + k - n, 0, 0), axis=(0, 1, 0))
    return model


def test_a_large_system_is_counted_sparsely(tmp_path, capsys):
    n = 200
    figures = check(written(tmp_path, loop(n)), capsys)
    assert figures["constraints"] == 10 * n > MOST_DENSE_ROWS
    assert figures["degree_of_redundancy"] == 3
    assert figures["degrees_of_freedom"] == 12 * n - 10 * n + 3
    assert {row.partition(" ")[0] for row in figures["redundant"]} == {"ring"}
    assert {row.rpartition(".")[2] for row in figures["redundant"]} == {"x", "Ry", "Rz"}
