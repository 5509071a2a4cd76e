"""From pydantic's errors to mistakes in a user's words, with lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from dalembert.errors import Mistake, nearest
from dalembert.io.schema import COUPLING_ENTRIES, FORCE_ENTRIES, LAW_ENTRIES, ModelFile, entry_at
from dalembert.io.yaml_text import Path, Text, shown, value_at

_TYPES = {"law": LAW_ENTRIES, "couplings": COUPLING_ENTRIES, "forces": FORCE_ENTRIES}


def structural_mistakes(text: Text) -> list[tuple[Path, Mistake]]:
    """Return what does not fit the schema: where it is in the data, and the mistake."""
    try:
        ModelFile.model_validate(text.data)
    except ValidationError as error:
        return [_mistake(one, text) for one in error.errors(include_url=False)]
    return []


def _mistake(error: Mapping[str, Any], text: Text) -> tuple[Path, Mistake]:
    path = _place(error["loc"], text.data)
    if error["type"] in ("missing", "union_tag_invalid"):
        path = (*path, str(error["loc"][-1]) if error["type"] == "missing" else "type")
    problem, remedy = _words(error, path, value_at(text.data, path[:-1]))
    return path, Mistake(text.file, text.line(path), shown(path) or "the file", problem, remedy)


def _place(loc: tuple[str | int, ...], data: Any) -> Path:
    """Return where pydantic's place is in the data: the names of types in it are no keys."""
    path: Path = ()
    passed = False
    for part in loc:
        if isinstance(data, Mapping) and part in data and (passed or data.get("type") != part):
            path, data, passed = (*path, part), data[str(part)], False
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            path, data, passed = (*path, part), data[part], False
        else:
            passed = True
    return path


def _words(error: Mapping[str, Any], path: Path, parent: Any) -> tuple[str, str]:
    """Return problem and remedy of an error at a path; `parent` is what holds the last key of it."""
    key, value, told = path[-1] if path else "", _short(error["input"]), error.get("ctx", {})
    match error["type"]:
        case "missing" if key == "dalembert":
            return "the version of the format is missing", "write 'dalembert: 1' first"
        case "missing":
            return f"{key} is missing", _what_is(path, parent)
        case "extra_forbidden":
            entry = entry_at(path[:-1], parent)
            return f"unknown key {key!r}", nearest(str(key), entry.model_fields if entry else ())
        case "union_tag_invalid":
            known = [name.strip("'") for name in told["expected_tags"].split(", ")]
            return f"unknown type {told['tag']!r}", nearest(str(told["tag"]), known)
        case "union_tag_not_found":
            return "type is missing", f"give one of {', '.join(_types(path))}"
        case "literal_error" if key == "dalembert":
            return f"this version reads files of version 1, not {value}", "write 'dalembert: 1'"
        case "literal_error":
            known = [name.strip("'") for name in told["expected"].replace(" or ", ", ").split(", ")]
            return f"unknown {key if isinstance(key, str) else str(path[-2]).rstrip('s')} {value}", nearest(
                str(error["input"]), known
            )
        case "float_type":
            return f"{value} is not a number", "give one number in SI units, without quotes and without a unit"
        case "finite_number":
            return f"{value} is not a finite number", "give a finite number in SI units"
        case "too_short" | "too_long":
            few = error["type"] == "too_short"
            wanted = told["min_length" if few else "max_length"]
            given = "1 entry is" if told["actual_length"] == 1 else f"{told['actual_length']} entries are"
            return f"{given} too {'few' if few else 'many'}", f"give {wanted}"
        case "list_type":
            return f"{value} is not a list", "write [.., .., ..]"
        case "dict_type" | "model_type" | "model_attributes_type":
            return f"{value} is not a mapping", "write 'key: value' in lines of their own, or {key: value, ...}"
        case "string_type":
            return f"{value} is not a text", "put it in quotes if it is meant as one"
        case "bool_type":
            return f"{value} is neither true nor false", "write true or false"
    return f"{error['msg']} ({value})", ""


def _what_is(path: Path, parent: Any) -> str:
    """Return the remedy for a missing key: what it is."""
    entry = entry_at(path[:-1], parent)
    field = entry.model_fields.get(str(path[-1])) if entry else None
    return f"give {path[-1]}: {field.description.rstrip('.')}" if field and field.description else "add it"


def _types(path: Path) -> list[str]:
    return list(_TYPES["law" if len(path) > 2 else str(path[0])])


def _short(value: Any) -> str:
    if isinstance(value, float) and value != value:
        return "nan"
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
