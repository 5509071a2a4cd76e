"""YAML 1.2 as plain data with lines; text that nobody has to trust."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalembert as da
from dalembert.io.writer import _quoted
from dalembert.io.yaml_text import DEEPEST_NESTING, LARGEST_FILE, read_yaml

SCALARS = {
    "1": 1, "-7": -7, "010": 10, "0o17": 15, "0xff": 255, "1.5": 1.5, ".5": 0.5, "5.": 5.0, "1e3": 1000.0, "-1E-3": -0.001,
    ".inf": math.inf, "-.Inf": -math.inf, "true": True, "False": False, "null": None, "~": None, "": None,
    "yes": "yes", "1_000": "1_000", "1:30": "1:30", "2020-01-01": "2020-01-01", "'1'": "1", '"true"': "true", "!!str 12": "12",
    "123456789012345678901234567890": 123456789012345678901234567890.0,
}  # fmt: skip


@pytest.mark.parametrize("text", SCALARS)
def test_plain_scalars_follow_the_core_schema(text):
    value = read_yaml(f"a: {text}", "x").data["a"]
    assert value == SCALARS[text]
    assert type(value) is type(SCALARS[text])


def test_nan():
    assert math.isnan(read_yaml("a: .nan", "x").data["a"])


def test_keys_are_texts_and_lines_are_those_of_the_keys():
    read = read_yaml("1: a\ntrue:\n  - 2\n\n  - {x: &p [1,\n     2], y: *p}\n", "x")
    assert read.data == {"1": "a", "true": [2, {"x": [1, 2], "y": [1, 2]}]}
    assert [read.line(path) for path in [("1",), ("true",), ("true", 0), ("true", 1, "x", 0), ("true", 1, "x", 1)]] == [
        1,
        2,
        3,
        5,
        6,
    ]
    assert read.line(("true", 1, "nothing", "at all")) == 5


def test_anchors_may_be_used_again():
    assert read_yaml("a: &x 1\nb: &x 2\nc: *x", "x").data == {"a": 1, "b": 2, "c": 2}


def test_the_limits_are_where_they_are_said_to_be():
    deep = "[" * DEEPEST_NESTING + "]" * DEEPEST_NESTING
    read_yaml(deep, "x")
    with pytest.raises(da.ModelFileError, match="too deeply"):
        read_yaml(f"[{deep}]", "x")
    with pytest.raises(da.ModelFileError, match="more than 10 MB"):
        read_yaml("#" * (LARGEST_FILE + 1), "x")


@given(st.text())
def test_a_quoted_text_reads_back(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert read_yaml(f"{{a: {_quoted(text)}, {_quoted(text)}: b}}" if text != "a" else "{a: a}", "x").data["a"] == text


@given(st.text(alphabet="ab1 \n\t:-[]{},&*!|>'\"%@`#?<.", max_size=60))
def test_any_text_is_read_or_refused(text):
    try:
        read_yaml(text, "x")
    except da.ModelFileError as error:
        assert error.line >= 1  # noqa: PT017
