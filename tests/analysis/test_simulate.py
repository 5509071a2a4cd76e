"""`simulate`, `assemble` and the command: names, units, closed forms, messages, files."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.analysis.assemble import AssemblyError

EXAMPLES = Path(__file__).parents[2] / "examples"


def pendulum(**body):
    model = da.Model("pendulum", gravity=(0, 0, -9.81))
    model.body("bob", **({"mass": 15.0, "position": (2.0, 0, -np.sqrt(12.0))} | body))
    model.revolute("hinge", model.ground, "bob", axis=(0, 1, 0))
    return model


def test_a_run_has_the_names_and_units_of_the_contract():
    run = da.simulate(pendulum(), duration=0.1, step=1e-2)
    units = {name: run[name].attrs.get("units") for name in run.data_vars}
    assert units == {
        "position": "m", "orientation": "1", "velocity": "m/s", "angular_velocity": "rad/s", "joint_force": "N",
        "joint_torque": "N m", "joint_unique": None,
        "kinetic_energy": "J", "potential_energy": "J", "constraint_violation": None,
    }  # fmt: skip
    assert run.position.sel(body="bob", axis="z").dims == ("time",)
    assert run.attrs["completed"] == 1


def test_a_point_mass_pendulum_keeps_its_energy_and_its_length():
    """The pendulum of Peng et al. 2024, section 4.1, with its singular mass matrix."""
    run = da.simulate(pendulum(), duration=20.0, step=2e-3)
    energy = run.kinetic_energy + run.potential_energy
    assert float(abs(energy - energy[0]).max()) < 1e-3  # of 78.9 J that are exchanged
    assert np.allclose(np.linalg.norm(run.position.values[:, 0], axis=1), 4.0, atol=1e-12)
    assert float(run.constraint_violation.max()) < 1e-11


def test_the_tension_at_rest_is_the_weight():
    run = da.simulate(pendulum(position=(0, 0, -4)), duration=0.1, step=1e-2)
    assert np.allclose(np.linalg.norm(run.joint_force.values[:, 0], axis=-1), 15 * 9.81)


def test_a_badly_drawn_four_bar_is_assembled():
    model = da.Model("four bar")
    ends = [((0, 0, 0), (0.1, 0, 1.2)), ((0.1, 0, 1.0), (2.2, 0, 1.3)), ((2.3, 0, 1.5), (2, 0, 0))]
    for k, (a, b) in enumerate(ends):
        middle = (np.array(a) + b) / 2
        model.body(f"bar {k}", mass=1.0, inertia=(1, 1, 1), position=middle)
    points = [(model.ground, "bar 0", ends[0][0], ends[0][0]), ("bar 0", "bar 1", ends[0][1], ends[1][0]),
              ("bar 1", "bar 2", ends[1][1], ends[2][0]), (model.ground, "bar 2", ends[2][1], ends[2][1])]  # fmt: skip
    for k, (main, driven, at, at_driven) in enumerate(points):
        model.revolute(f"hinge {k}", main, driven, at=at, at_driven=at_driven, axis=(0, 1, 0))
    state = da.assemble(da.build(model))
    assert np.abs(da.build(model).constraint(0.0, state.q)).max() < 1e-12


def test_a_joint_that_cannot_close_is_named_with_its_gap():
    model = pendulum()
    model.spherical("ball", model.ground, "bob", at=(10, 0, 0), at_driven=(2.0, 0, -np.sqrt(12.0)))
    with pytest.raises(AssemblyError, match=r"stays open by .* m") as error:
        da.simulate(model, duration=1.0, step=1e-2)
    assert error.value.joint.split(".")[0] in ("ball", "hinge")
    assert error.value.residual > 1.0


def test_initial_velocities_are_made_consistent():
    state = da.assemble(da.build(pendulum(position=(0, 0, -4), velocity=(1.0, 0, 5.0))))
    assert np.allclose(state.v[:3], [1.0, 0, 0], atol=1e-12)


@pytest.mark.parametrize(("arguments", "message"), [
    ({"duration": -1.0}, "the duration -1.0 is not positive"),
    ({"duration": 1.0, "step": 0.0}, "the step 0.0 is not positive"),
    ({"duration": 1.0, "output_step": -1.0}, "the output step -1.0 is not positive"),
    ({"duration": 1.0, "method": "hht_alfa"}, "unknown method 'hht_alfa'"),
])  # fmt: skip
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(da.ModelError, match=message):
        da.simulate(pendulum(), **arguments)


def test_ctrl_c_keeps_what_was_computed():
    def stop(time, duration):
        raise KeyboardInterrupt

    run = da.simulate(pendulum(), duration=100.0, step=1e-3, output_step=0.5, progress=stop)
    assert run.attrs["completed"] == 0
    assert 0 < run.time.size < 201
    assert np.isfinite(run.position.values).all()


def test_a_run_survives_its_file(tmp_path):
    run = da.simulate(pendulum(), duration=0.1, step=1e-2)
    da.save_run(run, tmp_path / "run.nc")
    again = da.load_run(tmp_path / "run.nc")
    assert again.equals(run)
    assert again.joint_unique.dtype == bool


def test_the_command_writes_netcdf_and_one_json_object(tmp_path):
    command = [sys.executable, "-m", "dalembert.cli.main", "simulate", str(EXAMPLES / "pendulum.yaml"), "--duration", "0.5"]
    done = subprocess.run([*command, "-o", str(tmp_path / "run.nc"), "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["end_time"] == 0.5
    assert figures["completed"] is True
    assert da.load_run(tmp_path / "run.nc").attrs["model"] == (EXAMPLES / "pendulum.yaml").read_text()
    missing = subprocess.run([*command, "-o", str(tmp_path / "no" / "run.nc")], capture_output=True, text=True, check=False)
    assert missing.returncode == 2
    assert "is there such a folder?" in missing.stderr
