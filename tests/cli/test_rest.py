"""`dalembert equilibrium`, `modes` and `reproduce`: keys, exit codes, files."""

import json
from pathlib import Path

import pytest

from dalembert.cli.main import main
from dalembert.io import load_model
from dalembert.papers import peng2024

EXAMPLES = Path(__file__).parents[2] / "examples"
PENDULUM = str(EXAMPLES / "pendulum.yaml")

FALLING = "{dalembert: 1, name: falling, gravity: [0, 0, -9.81], bodies: {stone: {mass: 2, inertia: [1, 1, 1]}}}"


def test_equilibrium_prints_the_keys_of_the_contract(capsys):
    assert main(["equilibrium", PENDULUM, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"converged", "iterations", "residual", "stable", "bodies", "joints"} <= set(found)
    assert found["converged"] is True
    assert found["stable"] is True
    assert found["bodies"]["bob"]["position"] == pytest.approx([0, 0, -4], abs=1e-6)
    assert len(found["bodies"]["bob"]["orientation_wxyz"]) == 4
    assert found["joints"]["hinge"]["unique"] is True
    assert found["joints"]["hinge"]["force"] == pytest.approx([0, 0, 15 * 9.81])


def test_equilibrium_writes_a_model_at_rest(tmp_path, capsys):
    target = tmp_path / "rest.yaml"
    assert main(["equilibrium", PENDULUM, "-o", str(target)]) == 0
    assert load_model(target).bodies["bob"].position[2] == pytest.approx(-4.0)
    assert target.read_text().startswith("# pendulum, at rest; stable: yes")
    assert "147.2" in capsys.readouterr().out
    assert main(["equilibrium", str(target), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["iterations"] == 1


def test_no_equilibrium_is_exit_code_3_and_the_best_state_is_kept(tmp_path, capsys):
    model, target = tmp_path / "falling.yaml", tmp_path / "best.yaml"
    model.write_text(FALLING)
    assert main(["equilibrium", str(model), "-o", str(target), "--json"]) == 3
    out = capsys.readouterr()
    assert json.loads(out.out)["converged"] is False
    assert "nothing holds it there" in out.err
    assert "NOT an equilibrium" in target.read_text()


def test_without_the_stiffness_of_joints_the_command_fails_as_the_paper_says(capsys):
    assert main(["equilibrium", PENDULUM, "--without-constraint-stiffness"]) == 3
    assert "without K_c there is no stiffness" in capsys.readouterr().err


def test_holding_a_coordinate(capsys):
    assert main(["equilibrium", PENDULUM, "--hold", "hinge.angle=0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["held"]["hinge.angle"] == pytest.approx(-15 * 9.81 * 2.0)
    assert main(["equilibrium", PENDULUM, "--hold", "hinge.angle=zero"]) == 2
    assert "'zero' is not a number" in capsys.readouterr().err


def test_modes_prints_the_keys_of_the_contract(capsys):
    assert main(["modes", PENDULUM, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["with_constraint_stiffness"] is True
    (mode,) = found["modes"]
    assert mode["eigenvalue"] == pytest.approx([0.0, 1.5660459763], abs=1e-8)
    assert mode["frequency_hz"] == pytest.approx(1.5660459763 / 6.283185307, rel=1e-8)
    assert mode["damping_ratio"] == 0.0
    assert main(["modes", PENDULUM, "--json", "--without-constraint-stiffness"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["with_constraint_stiffness"] is False
    assert found["modes"][0]["frequency_hz"] == 0.0


def test_modes_shows_both_columns_and_draws(tmp_path, capsys):
    picture = tmp_path / "modes.png"
    assert main(["modes", PENDULUM, "-n", "3", "--plot", str(picture)]) == 0
    text = capsys.readouterr().out
    assert "without K_c" in text
    assert "0.249244" in text
    assert picture.stat().st_size > 10_000


def test_modes_at_the_design_position(capsys):
    assert main(["modes", str(EXAMPLES / "engine_mount.yaml"), "--at", "design", "--json", "-n", "2"]) == 0
    assert len(json.loads(capsys.readouterr().out)["modes"]) == 2


def test_reproduce_knows_its_papers(capsys):
    assert main(["reproduce", "peng2042"]) == 2
    assert "did you mean 'peng2024'" in capsys.readouterr().err


def test_reproduce_fails_where_a_figure_is_off(monkeypatch, capsys):
    monkeypatch.setattr(peng2024, "figures", lambda: iter([next(iter(peng2024.pendulum_figures()))._replace(expected=1.0)]))
    assert main(["reproduce", "peng2024"]) == 3
    out = capsys.readouterr()
    assert "<-- off" in out.out
    assert "1 figure(s) are off" in out.err


def test_reproduce_as_json(monkeypatch, capsys):
    monkeypatch.setattr(peng2024, "figures", peng2024.pendulum_figures)
    assert main(["reproduce", "peng2024", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["peng2024"]
    assert all(row["met"] for row in rows)


@pytest.mark.parametrize(
    ("name", "model"),
    [("anchor_chain", peng2024.anchor_chain()), ("double_wishbone", peng2024.double_wishbone(force=3284.18773))],
)
def test_the_example_files_are_the_papers_models(name, model):
    from dalembert.io import model_to_text

    assert model_to_text(load_model(EXAMPLES / f"{name}.yaml")) == model_to_text(model)
