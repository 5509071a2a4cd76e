"""The program: exit codes, standard output and error, help, what is imported."""

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dalembert import DalembertError, SolveError
from dalembert.cli import main as program
from dalembert.cli.main import main
from dalembert.io import model_schema

ROOT = Path(__file__).parents[2]
PENDULUM = str(ROOT / "examples" / "pendulum.yaml")
DALEMBERT = Path(sys.executable).with_name("dalembert")


def run(*arguments):
    return subprocess.run([DALEMBERT, *arguments], capture_output=True, text=True, timeout=120)


def test_the_installed_program_has_the_contract_s_exit_codes(tmp_path):
    done = run("check", PENDULUM, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["valid"] is True
    refused = run("check", str(tmp_path / "nothing.yaml"), "--json")
    assert refused.returncode == 2
    assert json.loads(refused.stdout)["valid"] is False
    assert refused.stderr.startswith(f"error: {tmp_path / 'nothing.yaml'}:1: the file: no such file or directory")
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("arguments", [["chek", "x"], ["check"], ["check", PENDULUM, "--jason"], ["--nothing"]])
def test_wrong_usage_is_wrong_input(arguments, capsys):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Usage" in err


def test_help_names_every_command(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(command.__name__ in out for command in program.COMMANDS)
    assert "--debug" in out
    assert main(["check", "--help"]) == 0
    assert "--json" in capsys.readouterr().out


def test_version_and_schema(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("dalembert ")
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == model_schema()


ERRORS = {DalembertError("wrong"): 2, SolveError("no way"): 3, KeyboardInterrupt(): 130}


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_become_exit_codes_in_one_place(error, monkeypatch, capsys):
    def fail(arguments):
        raise error

    monkeypatch.setattr(program, "_run", fail)
    assert main(["check", "x"]) == ERRORS[error]
    err = capsys.readouterr().err
    assert err == (f"error: {error}\n" if str(error) else "stopped\n")
    assert main(["check", "x", "--debug"]) == ERRORS[error]
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert err.endswith(f"error: {error}\n" if str(error) else "stopped\n")


def test_control_c_is_130():
    code = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background of a shell
from dalembert.cli import main as program
program.app.command("wait")(lambda: (print("on", flush=True), time.sleep(60)))
sys.exit(program.main(["wait"]))
"""
    waiting = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert waiting.stdout.readline() == b"on\n"
    waiting.send_signal(signal.SIGINT)
    assert waiting.wait(timeout=60) == 130
    waiting.stdout.close()


def test_a_reader_that_has_enough_is_no_error():
    piped = subprocess.run(f"'{DALEMBERT}' schema | head -c 10", shell=True, capture_output=True, text=True, timeout=120)
    assert piped.stdout.startswith("{")
    assert piped.stderr == ""


def test_importing_the_library_does_not_import_what_files_need():
    code = (
        "import sys, dalembert; print([m for m in ('pydantic', 'ruamel.yaml', 'typer', 'rich', 'sympy') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="slow without compiled code")
def test_the_command_line_starts_quickly():
    run("check", PENDULUM)  # compiles, if need be

    def processor_time():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    times = [processor_time()]
    for _ in range(3):
        run("check", PENDULUM)
        times.append(processor_time())
    assert np.diff(times).min() < 1.5  # not the clock: other tests compute beside this one
