"""`dalembert stiffness`: keys, points, the condensed stiffness, messages."""

import json
from pathlib import Path

import numpy as np
import pytest

from dalembert.cli.main import main
from dalembert.io import load_model, model_to_text
from dalembert.papers import metzger2010

EXAMPLES = Path(__file__).parents[2] / "examples"
PLATFORM = str(EXAMPLES / "stewart_gough.yaml")
WISHBONE = str(EXAMPLES / "double_wishbone.yaml")

KEYS = {"force", "moment", "moment_origin", "K1c", "K2c", "KO", "hessian_1", "hessian_2"}


def told(capsys, *arguments):
    assert main(["stiffness", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("about", ["origin", "center"])
def test_the_keys_of_the_contract_hold_the_papers_numbers_in_si_units(about, capsys):
    found, expected = told(capsys, PLATFORM, "--body", "platform", "--about", about), metzger2010.data()["independent"]
    assert set(found) >= KEYS
    for key, name in (("K1c", "stiffness_1Kc_si"), ("K2c", "stiffness_2Kc_si"), ("KO", "stiffness_KO_si")):
        assert np.array(found[key]) == pytest.approx(np.array(expected[name]), rel=1e-8, abs=1e-8)
    assert found["force"] == pytest.approx(expected["force_N"], rel=1e-8)
    assert 100.0 * np.array(found["moment"]) == pytest.approx(expected["moment_about_centre_Ncm"], rel=1e-8)
    assert 100.0 * np.array(found["moment_origin"]) == pytest.approx(expected["moment_about_O_Ncm"], rel=1e-8)
    for number in ("1", "2"):
        spectrum = np.linalg.eigvalsh(np.array(found[f"hessian_{number}"]))
        assert found[f"eigenvalues_hessian_{number}"] == pytest.approx(spectrum)
    assert found["selected"] == {"origin": "K1c", "center": "K2c"}[about]
    assert found["note"] == ""


def test_a_point_by_name_or_by_coordinates(capsys):
    named = told(capsys, PLATFORM, "--body", "platform", "--about", "R")
    place = ",".join(str(x) for x in load_model(PLATFORM).place("R", "here"))
    given = told(capsys, PLATFORM, "--body", "platform", "--about", place)
    assert named["selected"] == "K4c"
    assert np.array(named["K4c"]) == pytest.approx(np.array(given["K4c"]))
    assert {"K3c", "moment_point", "hessian_3", "hessian_4"} <= set(named)
    fixed = told(capsys, PLATFORM, "--body", "platform", "--origin", "P", "--axes", "body", "--force", "leg 1")
    assert len(fixed["K1c"]) == 6


def test_the_table_shows_units_and_what_engineers_ask(tmp_path, capsys):
    picture = tmp_path / "ellipsoids.png"
    assert main(["stiffness", PLATFORM, "--body", "platform", "--plot", str(picture)]) == 0
    text = capsys.readouterr().out
    for words in ("-304.6485", "K2c [N/m, N/rad | N, N m/rad]", "eigen-stiffnesses [N/m]", "centre of compliance [m]"):
        assert words in text
    assert picture.stat().st_size > 10_000


def test_the_condensed_stiffness_of_a_mechanism(capsys):
    found = told(capsys, WISHBONE, "--body", "wheel", "--condensed")
    assert found["freedoms"] == 1
    assert found["rate"][2] == pytest.approx(1.0 / found["compliance"][2][2])
    assert "stiffness" not in found
    assert main(["stiffness", WISHBONE, "--body", "wheel", "--condensed", "--about", "lower ball"]) == 0
    text = capsys.readouterr().out
    assert "compliance [m/N, 1/N | rad/N, rad/(N m)]" in text
    assert "the mechanism giving way" in " ".join(text.split())


def test_the_pose_at_a_singular_angle_is_noted(tmp_path, capsys):
    model = tmp_path / "pitched.yaml"
    turn = "orientation_wxyz: [0.7071067811865476, 0, 0.7071067811865476, 0]"
    mount = "{type: bushing, between: [ground, nose], at: [0, 0, 0], stiffness: [9, 8, 7, 3, 2, 1]}"
    bodies = f"{{nose: {{mass: 1, inertia: [1, 1, 1], {turn}}}}}"
    model.write_text(f"{{dalembert: 1, bodies: {bodies}, forces: {{mount: {mount}}}}}")
    found = told(capsys, str(model), "--body", "nose", "--euler", "321")
    assert found["euler_set"] == "313"
    assert "Euler set '321' is singular at this pose" in found["note"]
    assert main(["stiffness", str(model), "--body", "nose"]) == 0
    assert "'321' is singular" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((PLATFORM, "--body", "platfrm"), "body 'platfrm': there is no such body; did you mean 'platform'?"),
        ((PLATFORM, "--body", "platform", "--about", "Z"), "point 'Z': there is no such point or frame"),
        ((PLATFORM, "--body", "platform", "--about", "1,b,2"), "it is neither a name nor three numbers"),
        ((WISHBONE, "--body", "lower arm"), "body 'lower arm': no force field acts on it"),
        ((PLATFORM, "--body", "platform", "--euler", "322"), "Euler set '322': it is none of the twelve"),
        ((WISHBONE, "--body", "wheel", "--condensed", "--force", "tyre"), "option '--force': it says nothing about"),
        ((PLATFORM, "--body", "platform", "--condensed", "--at", "design"), "the mechanism is not at rest there"),
    ],
)
def test_messages(arguments, message, capsys):
    assert main(["stiffness", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_load_without_potential_is_named(tmp_path, capsys):
    model = tmp_path / "thrust.yaml"
    text = Path(PLATFORM).read_text() + "  thrust: {type: load, body: platform, force: [0, 0, 50], follower: true}\n"
    model.write_text(text)
    assert main(["stiffness", str(model), "--body", "platform"]) == 2
    assert "force 'thrust': it is not a potential" in capsys.readouterr().err
    found = told(capsys, str(model), "--body", "platform", *(word for k in range(1, 7) for word in ("--force", f"leg {k}")))
    expected = metzger2010.data()["independent"]["stiffness_2Kc_si"]
    assert np.array(found["K2c"]) == pytest.approx(np.array(expected), rel=1e-8, abs=1e-8)


def test_the_example_file_is_the_papers_model():
    assert model_to_text(load_model(PLATFORM)) == model_to_text(metzger2010.stewart_gough())
