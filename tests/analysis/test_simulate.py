"""`simulate`, `assemble` and the command: names, units, closed forms, messages, files."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ellipk

import dalembert as da
from dalembert.analysis.assemble import AssemblyError
from dalembert.analysis.methods import METHODS

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
        "joint_torque": "N m", "joint_unique": None, "joint_coordinate": "rad (angle), m (distance)", "coordinate_unit": None,
        "kinetic_energy": "J", "potential_energy": "J", "potential_energy_of": "J", "constraint_violation": None,
        "force_unique": None, "torque_unique": None,
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
    ({"duration": 1.0, "step": 0.1, "rtol": 1e-3}, "both a fixed step and a tolerance are given"),
    ({"duration": 1.0, "method": "dopri5", "max_stp": 0.1}, "no option 'max_stp'; did you mean 'max_step'"),
    ({"duration": 1.0, "method": "hht", "spectral_radius": 0.1}, "no option 'spectral_radius'"),
])  # fmt: skip
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(da.ModelError, match=message):
        da.simulate(pendulum(), **arguments)


def test_ctrl_c_keeps_what_was_computed():
    def stop(simulation):
        signal.raise_signal(signal.SIGINT)

    with pytest.warns(UserWarning, match=r"stopped at t = "):
        run = da.simulate(pendulum(), duration=1e5, step=1e-3, output_step=0.05, progress=stop)
    assert run.attrs["completed"] == 0
    assert 0 < run.time.size < 1e5 / 0.05
    assert np.isfinite(run.position.values).all()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_swings_the_pendulum(method):
    """The quarter period from 30 degrees by an elliptic integral: the bob passes below the pivot."""
    k = np.sin(np.radians(15))
    quarter = ellipk(k**2) * np.sqrt(4.0 / 9.81)
    steps = {"step": 1e-3} if method in ("generalized_alpha", "hht") else {"rtol": 1e-9}
    run = da.simulate(pendulum(), duration=quarter, method=method, output_step=quarter / 3, **steps)
    assert np.allclose(run.position.values[-1, 0], [0, 0, -4], atol=2e-5)
    assert np.allclose(run.joint_coordinate.sel(coordinate="hinge.angle").values[[0, -1]], [0, np.pi / 6], atol=1e-5)


def test_auto_is_explicit_unless_the_model_is_stiff_or_the_step_is_given():
    assert da.simulate(pendulum(), duration=0.1).attrs["method"].startswith("dopri5")
    assert da.simulate(pendulum(), duration=0.1, step=1e-2).attrs["method"].startswith("generalized-alpha")
    for stiffness, method in ((1e2, "dopri5"), (1e12, "generalized-alpha")):
        model = da.Model("oscillator")
        model.body("mass", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
        model.prismatic("rail", model.ground, "mass", at=(1, 0, 0), axis=(1, 0, 0))
        model.spring("spring", model.ground, "mass", at=(0, 0, 0), at_driven=(1, 0, 0), stiffness=stiffness)
        assert da.simulate(model, duration=1.0).attrs["method"].startswith(method)


@pytest.mark.parametrize("method", ["generalized_alpha", "dopri5"])
def test_pieces_and_a_checkpoint_give_the_bits_of_one_run(method):
    options = {"duration": 3.0, "output_step": 0.01, "method": method}
    whole = da.simulate(pendulum(), **options)
    first = da.Simulation(pendulum(), **options)
    first.start()
    while first.filled < 100:
        first._budget = 7
        first.advance()
    second = da.Simulation(pendulum(), **options)
    second.restore(first.checkpoint(), first.run())
    while not second.done:
        second.advance()
    assert second.run().equals(whole)
    with pytest.raises(da.ModelError, match="it does not fit the run beside it"):
        da.Simulation(pendulum(), **options).restore(first.checkpoint(), whole)


def test_a_table_has_one_row_for_each_time():
    run = da.simulate(pendulum(), duration=0.1, output_step=0.05)
    table = run.to_dataframe()
    assert table.index.tolist() == [0.0, 0.05, 0.1]
    assert table["bob.position.x"].iloc[0] == pytest.approx(2.0)
    assert {"hinge.joint_force.z", "kinetic_energy", "joint_coordinate.hinge.angle"} <= set(table.columns)


def test_the_picture_of_a_run_draws_reactions_that_are_not_unique_dashed():
    model = da.Model("door", gravity=(0, 0, -9.81))
    model.body("leaf", mass=30.0, inertia=(3, 3, 1), position=(0.5, 0, 1))
    model.body("handle", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 1))
    for name, z in (("lower", 0.5), ("upper", 1.5)):
        model.revolute(name, model.ground, "leaf", at=(0, 0, z), axis=(0, 0, 1))
    model.fixed("screws", "leaf", "handle", at=(1, 0, 1))
    figure = da.simulate(model, duration=0.1, output_step=0.05).plot()
    forces = {line.get_label(): line.get_linestyle() for line in figure.axes[2].lines}
    assert forces == {"lower (not unique)": "--", "upper (not unique)": "--", "screws": "-"}


def test_outputs_come_at_the_times_asked_for_and_at_the_end():
    run = da.simulate(pendulum(), duration=1.0, output_step=0.3)
    assert np.allclose(run.time.values, [0, 0.3, 0.6, 0.9, 1.0], atol=1e-15)


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
