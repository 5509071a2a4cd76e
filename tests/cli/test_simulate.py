"""The command `simulate`: stopped, resumed, out of disk, failing; nothing that was computed is lost."""

import json
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.io.results import load_checkpoint
from dalembert.kernel.compile import JIT_DISABLED

EXAMPLES = Path(__file__).parents[2] / "examples"


def command(model, target, *more):
    return [sys.executable, "-m", "dalembert.cli.main", "simulate", str(model), "-o", str(target), *more]


def run(*arguments, **options):
    return subprocess.run(command(*arguments), capture_output=True, text=True, check=False, **options)


def stopped(arguments, number):
    """Start the command and send the signal in the middle of the run; return exit code and messages.

    How long it takes to start depends on the machine: a signal that came too early is tried again later.
    """
    for wait in (2.0, 4.0, 8.0, 16.0):
        process = subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(wait)
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
        if process.returncode == 130 and da.load_run(arguments[1]).time.size > 0:
            break
    return process.returncode, err


@pytest.mark.skipif(JIT_DISABLED, reason="takes minutes as plain Python")
@pytest.mark.parametrize(
    ("number", "duration", "control"),
    [(signal.SIGINT, "250", "--method dopri5 --rtol 1e-11"), (signal.SIGTERM, "100", "--method generalized_alpha --step 5e-5")],
)
def test_a_run_that_is_stopped_goes_on_to_the_same_bits(tmp_path, number, duration, control):
    model, whole, halves = EXAMPLES / "four_bar.yaml", tmp_path / "whole.nc", tmp_path / "halves.nc"
    options = ["--duration", duration, "--output-step", "0.5", *control.split()]
    code, error = stopped((model, halves, *options), number)
    assert code == 130, error
    assert "the same command with --resume goes on" in error
    first = da.load_run(halves)
    assert 0 < first.time.size < 2 * float(duration) + 1
    assert load_checkpoint(halves) is not None
    assert run(model, halves, *options, "--resume").returncode == 0
    assert run(model, whole, *options).returncode == 0
    one, other = da.load_run(whole), da.load_run(halves)
    for name in one.variables:
        assert np.array_equal(one[name].values, other[name].values), name
    assert load_checkpoint(halves) is None
    again = run(model, halves, *options, "--resume")
    assert again.returncode == 2
    assert "the run in it is complete" in again.stderr


def test_what_does_not_fit_is_not_resumed(tmp_path):
    model, target = tmp_path / "model.yaml", tmp_path / "run.nc"
    model.write_text((EXAMPLES / "four_bar.yaml").read_text())
    simulation = da.Simulation(da.load_model(model), duration=1.0)
    simulation.start()
    attributes = {"options": json.dumps({"duration": 9.0})}
    part = simulation.run().assign_attrs(attributes)
    da.save_run(part, target, model_text=model.read_text(), checkpoint=simulation.checkpoint())
    answer = run(model, target, "--duration", "1", "--resume")
    assert answer.returncode == 2
    assert "it was made with other options" in answer.stderr
    model.write_text(model.read_text() + "# another\n")
    answer = run(model, target, "--duration", "1", "--resume")
    assert answer.returncode == 2
    assert "the model file is not the one that made it" in answer.stderr
    answer = run(model, tmp_path / "nothing.nc", "--duration", "1", "--resume")
    assert answer.returncode == 2
    assert "there is no such file" in answer.stderr


def small_files():
    """Let no file grow beyond 8 KiB: the disk is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))


def test_a_full_disk_is_reported_and_the_older_run_stays(tmp_path):
    target = tmp_path / "run.nc"
    assert run(EXAMPLES / "pendulum.yaml", target, "--duration", "0.1", "--output-step", "0.05").returncode == 0
    before = target.read_bytes()
    assert len(before) > 8192
    answer = run(EXAMPLES / "pendulum.yaml", target, "--duration", "0.2", preexec_fn=small_files)
    assert answer.returncode == 3
    assert "the run could not be saved" in answer.stderr
    assert "is the disk full?; what was saved there before is untouched" in answer.stderr
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


def test_a_motion_that_ends_keeps_what_was_computed(tmp_path):
    """The driven slider of a slider-crank is asked to go farther than crank and rod reach."""
    model = tmp_path / "stretched.yaml"
    text = (EXAMPLES / "slider_crank.yaml").read_text()
    begin, end = text.index("motions:"), text.index("forces:")
    motion = "motions:\n  pull: {joint: cylinder, coordinate: distance, law: {type: ramp, slope: 0.5}}\n"
    model.write_text(text[:begin] + motion + text[end:])
    answer = run(model, tmp_path / "run.nc", "--duration", "1", "--output-step", "0.01")
    assert answer.returncode == 3
    assert "error: the motion stops at t = " in answer.stderr
    assert "what was computed up to t = " in answer.stderr
    kept = da.load_run(tmp_path / "run.nc")
    reach = 0.1 + np.hypot(0.4, 0.1)  # crank and rod in one line
    assert kept.time.values[-1] == pytest.approx((reach - 0.4) / 0.5, abs=0.011)
    assert kept.attrs["completed"] == 0
