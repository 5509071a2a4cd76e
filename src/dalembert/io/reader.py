"""From a YAML text to a `Model`, with lines in all errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from dalembert.elements import checks
from dalembert.elements.law import Law
from dalembert.errors import Mistake, ModelError, ModelFileError, nearest
from dalembert.io.schema import LAWS, SECTION_TYPES, SECTIONS
from dalembert.io.validation import structural_mistakes
from dalembert.io.yaml_text import Path, Text, read_yaml, shown, value_at
from dalembert.kernel.vec3 import Array
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.system import System

_UNIT = 4e-15  # squared length of a quaternion or an axis that was scaled to one before


@dataclass(frozen=True, eq=False)
class ModelSource:
    """A model and the text that it was read from.

    Parameters
    ----------
    model : Model
    text : Text
    """

    model: Model
    text: Text

    def build(self) -> System:
        """Return the system of the model; its errors name lines of the file."""
        try:
            return build(self.model)
        except ModelError as error:
            raise ModelFileError([self.located(error)]) from error

    def located(self, error: ModelError) -> Mistake:
        """Return where in the file an error of the model has its cause."""
        return _located(error, self.text, _path_of(error.element, self.text.data))


def read_source(content: str, file: str) -> ModelSource:
    """Return the model of a YAML text with its text.

    Raises
    ------
    ModelFileError
        With all mistakes that were found.
    """
    text = read_yaml(content, file)
    if not isinstance(text.data, dict):
        problem = "it is empty" if text.data is None else "it holds no sections"
        remedy = "begin with 'dalembert: 1', then sections such as 'bodies:'"
        raise ModelFileError([Mistake(file, text.line(()), "the file", problem, remedy)])
    for section in SECTIONS:
        if section in text.data and text.data[section] is None:
            text.data[section] = {}  # a section whose lines are all comments
    structural = structural_mistakes(text)
    mistakes = [mistake for _, mistake in structural]
    wrong = {str(path[0]) for path, _ in structural if len(path) == 1 or path[0] in ("gravity", "planar")}
    if wrong & set(SECTIONS):  # a whole section is missing then, and nothing after it makes sense
        raise ModelFileError(mistakes)
    reader = _Reader(text, {(str(path[0]), str(path[1])) for path, _ in structural if path[0] in SECTIONS})
    model = reader.read(wrong)
    if mistakes or reader.mistakes:
        raise ModelFileError([*mistakes, *reader.mistakes])
    return ModelSource(model, text)


_NAMED = {"body": ("bodies",), "joint": ("joints",), "point": ("points", "frames")}


class _Reader:
    """Makes the elements of a model one by one; collects the mistakes."""

    def __init__(self, text: Text, broken: set[tuple[str, str]]) -> None:
        self.text = text
        self.data: Mapping[str, Any] = text.data
        self.broken = broken  # sections and names of elements with a mistake
        self.mistakes: list[Mistake] = []

    def read(self, wrong: set[str]) -> Model:
        """Return the model, without what is broken."""
        model = Model(self.data.get("name", "model") if "name" not in wrong else "model")
        if "gravity" not in wrong:
            model.gravity = np.array(self.data.get("gravity", model.gravity), float)
        self.read_whole(model, wrong)
        for section in SECTIONS:
            add = _ADD[section]
            for name, data in self.data.get(section, {}).items():
                if (section, name) not in self.broken:
                    self.add(model, section, name, data, add)
            if section == "frames":
                self.check_frames(model)
        return model

    def read_whole(self, model: Model, wrong: set[str]) -> None:
        """Set what the model has as a whole: its plane and its tolerance."""
        for key, attribute in (("planar", "plane"), ("tolerance", "tolerance")):
            if key in self.data and key not in wrong:
                try:
                    whole = Model(model.name, **{key: _floats(self.data[key])})
                except ModelError as error:
                    self.mistakes.append(_located(error, self.text, (key,)))
                else:
                    setattr(model, attribute, getattr(whole, attribute))
        if model.plane is not None and isinstance(self.data["planar"], list):
            model.plane = _kept_bits(model.plane, self.data["planar"])

    def check_frames(self, model: Model) -> None:
        """Refuse frames that are at no known point; they may be at each other, in any order, but not in a circle."""
        for name in model.frames:
            try:
                _check_place_of_frame(model, name)
            except ModelError as error:
                self.broken.add(("frames", name))
                self.mistakes.append(_located(self.with_all_names(error), self.text, ("frames", name)))

    def add(self, model: Model, section: str, name: str, data: Any, add: Callable[[Model, str, Any], Any]) -> None:
        """Add one element; what names a broken one is left out in silence."""
        names = {broken for _, broken in self.broken}
        if names and any(value in names for value in _texts(data)):
            self.broken.add((section, name))
            return
        try:
            add(model, name, _floats(data))
        except ModelError as error:
            self.broken.add((section, name))
            self.mistakes.append(_located(self.with_all_names(error), self.text, (section, name)))

    def with_all_names(self, error: ModelError) -> ModelError:
        """Return the error of an unknown name with a remedy that knows all names of the file, the broken ones too."""
        match = re.fullmatch(r"unknown (body|joint|point) '(.*)'", error.problem)
        if match is None:
            return error
        known = [name for section in _NAMED[match[1]] for name in self.data.get(section, {})]
        known += self.nodes(match[1])
        return ModelError(error.element, error.problem, nearest(match[2], known))

    def nodes(self, kind: str) -> list[str]:
        """Return the names of the bodies or places of all nodes of beams."""
        middle = {"body": " ", "point": " node "}.get(kind)
        beams = self.data.get("beams", {}) if middle else ()
        counts = {name: self.data["beams"][name].get("elements") for name in beams if ("beams", name) not in self.broken}
        return [f"{name}{middle}{k}" for name, count in counts.items() for k in range(int(min(count, 1000)) + 1)]


# --- elements ----------------------------------------------------------------------------------------------------------


def _add_point(model: Model, name: str, data: Any) -> None:
    model.point(name, data)


def _add_body(model: Model, name: str, data: Any) -> None:
    model.body(name, **_arguments(f"body {name!r}", data))


def _add_beam(model: Model, name: str, data: Any) -> None:
    model.beam(name, **_arguments(f"beam {name!r}", data))


def _add_frame(model: Model, name: str, data: Any) -> None:
    model.frame(name, **_arguments(f"frame {name!r}", data))


def _check_place_of_frame(model: Model, name: str) -> None:
    """Refuse a frame at an unknown point, or at a frame at a frame ... that is at the first one."""
    at, element = model.frames[name].at, f"frame {name!r}"
    if isinstance(at, str) and at not in model.frames:
        model.place(at, element)
    passed = {name}
    while isinstance(at, str) and at in model.frames:
        if at in passed:
            raise ModelError(element, f"its place {model.frames[name].at!r} leads back to it", "give it coordinates")
        passed.add(at)
        at = model.frames[at].at


def _add_joint(model: Model, name: str, data: Any) -> None:
    element = f"joint {name!r}"
    _check_places(model, element, data)
    joint = model.joint(name, **_arguments(element, data))
    _keep_axes(joint, data)


def _add_coupling(model: Model, name: str, data: Any) -> None:
    arguments = {key: value for key, value in data.items() if key != "type"}
    match data["type"]:
        case "gear":
            model.gear(name, *data["joints"], ratio=data["ratio"])
        case "rack_and_pinion":
            model.rack_and_pinion(name, **arguments)
        case _:
            terms = {(term["joint"], term["coordinate"]): term["ratio"] for term in data["terms"]}
            if len(terms) < len(data["terms"]):
                raise ModelError(f"coupling {name!r}", "two terms have the same joint and coordinate", "add their ratios")
            model.coupling(name, terms, offset=data.get("offset"))


def _add_motion(model: Model, name: str, data: Any) -> None:
    model.motion(name, **_arguments(f"motion {name!r}", data))


def _add_force(model: Model, name: str, data: Any) -> None:
    element = f"{data['type'].replace('_', ' ')} {name!r}"
    _check_places(model, element, data)
    arguments = {key: value for key, value in _arguments(element, data).items() if key != "type"}
    force = getattr(model, data["type"])(name, **arguments)
    _keep_axes(force, data)


def _check_places(model: Model, element: str, data: Mapping[str, Any]) -> None:
    """Refuse an unknown point here already, not when the system is built."""
    for label in ("at", "at_driven"):
        if label in data:
            model.place(data[label], element)


_ADD: dict[str, Callable[[Model, str, Any], Any]] = {
    "points": _add_point,
    "bodies": _add_body,
    "beams": _add_beam,
    "frames": _add_frame,
    "joints": _add_joint,
    "couplings": _add_coupling,
    "motions": _add_motion,
    "forces": _add_force,
}


def _arguments(element: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a dataclass from the entry of a file."""
    arguments: dict[str, Any] = {}
    for key, value in data.items():
        if key == "between":
            arguments["main"], arguments["driven"] = value
        elif key.endswith("_wxyz"):
            arguments[key.removesuffix("_wxyz")] = _orientation(element, key, value)
        else:
            arguments[key] = _law_or_value(value)
    return arguments


def _law_or_value(value: Any) -> Any:
    """Return a law of time or a section from a mapping, three components of a load, or the value as it is."""
    if isinstance(value, Mapping) and value["type"] in SECTION_TYPES:
        return SECTION_TYPES[value["type"]](**{key: item for key, item in value.items() if key != "type"})
    if isinstance(value, Mapping):
        return _law(value)
    if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        return [_law_or_value(item) for item in value]
    return value


def _law(data: Mapping[str, Any]) -> Law:
    return LAWS[data["type"]](**{key: _law_or_value(value) for key, value in data.items() if key != "type"})


def _orientation(element: str, label: str, value: list[float]) -> Rotation:
    """Return an orientation; a quaternion that has length one but for rounding keeps its bits."""
    w, x, y, z = value
    if abs(w * w + x * x + y * y + z * z - 1.0) <= _UNIT:
        return Rotation([x, y, z, w], normalize=False)
    return checks.rotation_wxyz(element, label, value)


def _keep_axes(element: Any, data: Mapping[str, Any]) -> None:
    """Keep the bits of axes that have length one but for rounding: scaling again would change the last one."""
    for label in ("axis", "axis_driven"):
        if label in data:
            object.__setattr__(element, label, _kept_bits(getattr(element, label), data[label]))


def _kept_bits(axis: Array, given: list[float]) -> Array:
    return np.array(given, float) if abs(sum(x * x for x in given) - 1.0) <= _UNIT else axis


def _floats(data: Any) -> Any:
    """Return data with all numbers as floats."""
    if isinstance(data, Mapping):
        return {key: _floats(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_floats(value) for value in data]
    return float(data) if isinstance(data, int) and not isinstance(data, bool) else data


# --- where an error has its cause ----------------------------------------------------------------------------------------

_SECTION_OF = {
    "point": "points",
    "body": "bodies",
    "beam": "beams",
    "frame": "frames",
    "joint": "joints",
    "coupling": "couplings",
    "motion": "motions",
}


def _path_of(element: str, data: Mapping[str, Any]) -> Path:
    """Return where an element is in a file: ``joint 'hinge'`` is ``joints.hinge``; what is no element else is a force."""
    match = re.fullmatch(r"([a-z ]+) '(.*)'", element)
    if match is None:
        return ()
    section = _SECTION_OF.get(match[1], "forces")
    return (section, match[2]) if match[2] in (data.get(section) or {}) else ()


def _located(error: ModelError, text: Text, path: Path) -> Mistake:
    path = _cause(error.problem, path, value_at(text.data, path))
    return Mistake(text.file, text.line(path), shown(path) or error.element, error.problem, error.remedy)


def _cause(problem: str, path: Path, data: Any) -> Path:
    """Return the entry that a problem is about: that whose key its text names first or whose value it quotes first."""
    found = []
    for entry, value in _entries(path, data):
        place = _mention(str(entry[-1]), problem) if isinstance(entry[-1], str) else -1
        quote = _quote(value, problem) if isinstance(value, str) else -1
        cause = entry[:-1] if isinstance(entry[-1], int) else entry
        found += [(where, -len(cause), cause) for where in (place, quote) if where >= 0]
    return min(found, key=lambda one: one[:2])[2] if found else path


def _mention(key: str, problem: str) -> int:
    """Return where a text names a key; -1 if it does not. ``at`` counts as the first word only."""
    words = re.escape(key.removesuffix("_wxyz")).replace("_", "[ _]") + "(_wxyz)?"
    match = re.match(r"at\b", problem) if key == "at" else re.search(rf"\b{words}\b", problem)
    return match.start() if match else -1


def _quote(value: str, problem: str) -> int:
    """Return where a text quotes a value, a long one by its beginning; -1 if it does not."""
    return max(problem.find(repr(value)), problem.find(f'"{value}"' if len(value) <= 60 else f'"{value[:57]}...'))


def _entries(path: Path, data: Any) -> Iterator[tuple[Path, Any]]:
    """Return all that is inside a value, outer before inner."""
    inside = list(data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, list) else ())
    yield from (((*path, key), value) for key, value in inside)
    for key, value in inside:
        yield from _entries((*path, key), value)


def _texts(data: Any) -> Iterator[str]:
    """Return all texts in a value."""
    if isinstance(data, str):
        yield data
    for _, value in _entries((), data):
        if isinstance(value, str):
            yield value
