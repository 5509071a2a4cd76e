"""Every file in broken/ has one mistake (some have more); its first lines say what must be told: line, element, problem."""

import json
import re
from pathlib import Path

import pytest

import dalembert as da
from dalembert.cli.main import main
from dalembert.io import read_model_file

BROKEN = sorted(Path(__file__).with_name("broken").glob("*.yaml"))
WITHOUT_COMMENTS = {
    "binary": ["1: the file: byte 0x89 is not UTF-8 text; give a YAML file"],
    "control_character": ["2: YAML: the character 0 is not allowed; is this a text file?"],
    "empty": ["1: the file: it is empty; begin with 'dalembert: 1', then sections such as 'bodies:'"],
}


def expected(path):
    return WITHOUT_COMMENTS.get(path.stem) or re.findall(r"^# expect: (.*?)\s*$", path.read_text(), re.MULTILINE)


def test_there_are_many():
    assert len(BROKEN) >= 80


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_a_broken_file_is_refused_with_file_line_and_element(path):
    with pytest.raises(da.ModelFileError) as refused:
        read_model_file(path).build()
    told = str(refused.value).splitlines()
    wanted = expected(path)
    assert wanted
    for want in wanted:
        assert any(line.startswith(f"{path}:{want}") for line in told), told
    first = refused.value
    assert (first.file, first.line) == (str(path), int(wanted[0].partition(":")[0]))
    assert first.element
    assert first.problem
    assert first.remedy


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_the_command_line_refuses_it_with_exit_code_2(path, capsys):
    assert main(["check", str(path), "--json"]) == 2
    out, err = capsys.readouterr()
    figures = json.loads(out)
    assert figures["valid"] is False
    assert [f"{e['file']}:{e['line']}: {e['element']}: " for e in figures["errors"]] == [
        re.match(r".*?:\d+: .*?: ", line)[0] for line in err.removeprefix("error: ").splitlines()
    ]
    for want in expected(path):
        assert f"{path}:{want}" in err
    assert "Traceback" not in err
    assert main(["check", str(path)]) == 2
    assert capsys.readouterr() == ("", err)


def test_no_file_ran_a_command():
    assert not Path("/tmp/dalembert_was_here").exists()
