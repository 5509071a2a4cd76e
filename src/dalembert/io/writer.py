"""From a `Model` to a YAML text: one line per element, only what differs from the defaults, all digits of all numbers."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from dalembert.elements.beam import Beam
from dalembert.elements.body import Body
from dalembert.elements.coupling import Coupling
from dalembert.elements.frame import Frame
from dalembert.elements.law import Law
from dalembert.elements.section_law import Section
from dalembert.errors import ModelError
from dalembert.io.schema import FORCES, LAWS, LEFT_OUT, SECTION_TYPES, file_key
from dalembert.io.yaml_text import is_text
from dalembert.kernel.vec3 import Array
from dalembert.system.model import Model

_LAW_TYPES = {law: kind for kind, law in LAWS.items()}
_FORCE_TYPES = {force: kind for kind, force in FORCES.items()}
_SECTION_TYPES = {section: kind for kind, section in SECTION_TYPES.items()}


def text_of(model: Model) -> str:
    """Return the YAML text of a model."""
    for part in model.modal_bodies.values():
        raise ModelError(part.element, "its shapes are arrays, which no model file can hold", "keep this model in Python")
    for row in model.velocity_rows.values():
        raise ModelError(
            row.element, "a file has no place for formulas of velocities", "use a pfaffian joint, or keep it in Python"
        )
    whole = {name: beam for name, beam in model.beams.items() if _is_whole(model, beam)}
    parts = {id(part) for beam in whole.values() for part in (*beam.bodies, *beam.frames, *beam.joints, *beam.pieces)}
    head = {"dalembert": 1, "name": str(model.name), "gravity": model.gravity.tolist(), **_plane_and_tolerance(model)}
    sections: dict[str, Mapping[str, Any]] = {
        "points": {name: at.tolist() for name, at in model.points.items()},
        "frames": _entries(_own(model.frames, parts), "frame"),
        "bodies": _entries(_own(model.bodies, parts), "body"),
        "beams": _entries(whole, "beam"),
        "joints": _entries(_own(model.joints, parts), "joint"),
        "couplings": {name: _coupling(coupling) for name, coupling in model.couplings.items()},
        "motions": _entries(model.motions, "motion"),
        "forces": {name: _force(force) for name, force in _own(model.forces, parts).items()},
    }
    lines = [f"{key}: {_flow(value)}" for key, value in head.items()]
    for section, entries in sections.items():
        if entries:
            lines.append(f"{section}:")
            lines += [f"  {_quoted(name)}: {_flow(entry)}" for name, entry in entries.items()]
    return "\n".join(lines) + "\n"


def _plane_and_tolerance(model: Model) -> dict[str, Any]:
    """Return the plane and the tolerance of a model, if it has any."""
    plane = {} if model.plane is None else {"planar": model.plane.tolist()}
    return plane | ({"tolerance": model.tolerance} if model.tolerance else {})


def _is_whole(model: Model, beam: Beam) -> bool:
    """Return whether the model still has all parts of a beam as they were made; it is written part by part otherwise."""
    sections: list[tuple[Mapping[str, Any], tuple[Any, ...]]] = [
        (model.bodies, beam.bodies), (model.frames, beam.frames), (model.joints, beam.joints), (model.forces, beam.pieces),
    ]  # fmt: skip
    return all(section.get(part.name) is part for section, listed in sections for part in listed)


def _own(elements: Mapping[str, Any], parts: set[int]) -> dict[str, Any]:
    """Return the elements that are no parts of a beam."""
    return {name: element for name, element in elements.items() if id(element) not in parts}


def _entries(elements: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {name: _entry(element, f"{kind} {name!r}") for name, element in elements.items()}


def _entry(element: Any, called: str) -> dict[str, Any]:
    """Return what a file says of a dataclass: its fields without the defaults."""
    entry: dict[str, Any] = {}
    for own in dataclasses.fields(element):
        value = getattr(element, own.name)
        if own.name in LEFT_OUT or _is_default(element, own, value):
            continue
        entry[file_key(own)] = [str(value), str(element.driven)] if own.name == "main" else _plain(value, own.name, called)
    return entry


def _is_default(element: Any, own: dataclasses.Field[Any], value: Any) -> bool:
    if value is None or own.default is dataclasses.MISSING:
        return value is None
    if isinstance(value, Rotation):
        return isinstance(element, Body | Frame) and _same_bits(value.as_quat(), (0.0, 0.0, 0.0, 1.0))
    if isinstance(value, np.ndarray):  # a matrix was made from zeros, however many
        return _same_bits(value, own.default if value.ndim == 1 else np.zeros(value.shape))
    return repr(value) == repr(own.default)


def _plain(value: Any, label: str, called: str) -> Any:
    """Return a value as lists, texts and numbers."""
    if isinstance(value, Law):
        return _law(value, called)
    if isinstance(value, Section):
        return _section(value, called)
    if label == "elements":
        return int(value)
    if isinstance(value, Rotation):
        return np.roll(value.as_quat(), 1).tolist()
    if isinstance(value, np.ndarray):
        return _matrix(value).tolist()
    if isinstance(value, str | bool | np.bool_):
        return str(value) if isinstance(value, str) else bool(value)
    if hasattr(value, "free_symbols"):
        return _formula_text(value, called)
    if isinstance(value, Iterable):
        return [_plain(item, label, called) for item in value]
    if callable(value):
        problem = f"{label} is a Python function, which no file can hold"
        raise ModelError(called, problem, "keep this model in Python, or use an expression or a table")
    return float(value)


def _matrix(A: Array) -> Array:
    """Return the short form of an inertia (3 or 6 numbers) or of a diagonal matrix; other arrays as they are."""
    if A.ndim == 2 and _same_bits(A, np.diag(A.diagonal())):
        return A.diagonal()
    if A.shape == (3, 3) and _same_bits(A, A.T):
        return np.append(A.diagonal(), (A[0, 1], A[0, 2], A[1, 2]))
    return A


def _same_bits(a: Any, b: Any) -> bool:
    return np.asarray(a, float).tobytes() == np.asarray(b, float).tobytes()


def _law(law: Law, called: str) -> dict[str, Any]:
    if type(law) not in _LAW_TYPES:
        problem = f"its law {type(law).__name__} is a Python function, which no file can hold"
        raise ModelError(called, problem, "use an Expression, a Spline or another law that is data")
    return {"type": _LAW_TYPES[type(law)], **_entry(law, called)}


def _section(section: Section, called: str) -> dict[str, Any]:
    if type(section) not in _SECTION_TYPES:
        problem = f"its section {type(section).__name__} is a Python class, which no file can hold"
        raise ModelError(called, problem, "use a General section with its matrices")
    return {"type": _SECTION_TYPES[type(section)], **_entry(section, called)}


def _formula_text(expression: Any, called: str) -> str:
    """Return the text of a SymPy expression, if it reads back as the same expression."""
    from dalembert.elements.expression import read_expression

    symbols = [symbol.name for symbol in expression.free_symbols]
    same = read_expression(expression, symbols)
    try:
        if read_expression(str(expression), symbols) == same:
            return str(expression)
    except ModelError:
        pass  # it has functions that a text may not have
    problem = f"the text of the SymPy expression {expression} does not read back as the same"
    raise ModelError(called, problem, "give the expression as text")


def _coupling(coupling: Coupling) -> dict[str, Any]:
    terms = [{"joint": t.joint, "coordinate": t.coordinate, "ratio": float(t.ratio)} for t in coupling.terms]
    offset = {} if coupling.offset is None else {"offset": float(coupling.offset)}
    return {"type": "linear", "terms": terms, **offset}


def _force(force: Any) -> dict[str, Any]:
    if type(force) not in _FORCE_TYPES:
        problem = "it is a Python function, which no file can hold"
        raise ModelError(force.element, problem, "keep this model in Python")
    return {"type": _FORCE_TYPES[type(force)], **_entry(force, force.element)}


# --- YAML --------------------------------------------------------------------------------------------------------------

_UNQUOTED = re.compile(r"[A-Za-z_][A-Za-z0-9_ +-]*[A-Za-z0-9_+-]|[A-Za-z_]")
_OLD_BOOLS = frozenset(("y", "n", "yes", "no", "on", "off"))  # texts in YAML 1.2, booleans for older readers


def _flow(value: Any) -> str:
    """Return a value in YAML's flow style."""
    writers: dict[type, Callable[[Any], str]] = {
        bool: lambda x: "true" if x else "false",
        float: repr,
        int: repr,
        str: _quoted,
        list: lambda x: "[" + ", ".join(map(_flow, x)) + "]",
        dict: lambda x: "{" + ", ".join(f"{_quoted(key)}: {_flow(item)}" for key, item in x.items()) + "}",
    }
    return writers[type(value)](value)


def _quoted(text: str) -> str:
    """Return a text as YAML, in quotes where it could be taken for something else.

    Examples
    --------
    >>> _quoted("front left"), _quoted("1e3"), _quoted("a: b")
    ('front left', '"1e3"', '"a: b"')
    """
    if _UNQUOTED.fullmatch(text) and is_text(text) and text.lower() not in _OLD_BOOLS:
        return text
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08x}"
