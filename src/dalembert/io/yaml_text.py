"""YAML as data from strangers: text becomes plain mappings, lists, texts and numbers, and the line of each is remembered.

Only the events of ruamel.yaml's parser are used. No object is ever constructed from a tag; nesting, aliases and size are
bounded, because an alias of aliases can stand for more data than any computer holds. Plain scalars follow the core schema of
YAML 1.2 (``yes`` is a text, ``010`` is ten), and keys are always texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
)
from ruamel.yaml.reader import ReaderError

from dalembert.errors import Mistake, ModelFileError

LARGEST_FILE = 10_000_000  # bytes
DEEPEST_NESTING = 20
MOST_ALIASES = 1000
MOST_VALUES = 2_000_000

Path: TypeAlias = tuple[str | int, ...]
"""The keys and indices that lead to a value: ``("joints", "hinge", "axis", 0)``."""

_ELEMENT = "YAML"  # how errors call what belongs to no element of the model
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_LONGEST_INT = 15  # digits; more become a float, which holds any number


@dataclass
class Text:
    """A text that was read.

    Parameters
    ----------
    file : str
        How errors call it.
    data : object
        Mappings, lists, texts, numbers, booleans, None.
    lines : dict
        Line of each value, counted from 1, by its path; that of a mapping's entry is its key's.
    """

    file: str
    data: Any
    lines: dict[Path, int]

    def line(self, path: Path) -> int:
        """Return the line of a value, or of the nearest that encloses it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read_yaml(text: str, file: str) -> Text:
    r"""Return what a text says, with lines.

    Examples
    --------
    >>> read = read_yaml("a: {b: [1, 2.5]}", "x.yaml")
    >>> read.data, read.line(("a", "b", 1))
    ({'a': {'b': [1, 2.5]}}, 1)
    >>> read_yaml("a: 1\na: 2", "x.yaml")
    Traceback (most recent call last):
        ...
    dalembert.errors.ModelFileError: x.yaml:2: a: the key 'a' is used twice, in lines 1 and 2; keep one of the two
    """
    return _Reader(text, file).read()


@dataclass
class _Node:
    value: Any  # a scalar, a list of nodes, or a dict of (node, line of the key) by key
    line: int
    size: int = 1


@dataclass
class _Reader:
    text: str
    file: str
    anchors: dict[str, _Node] = field(default_factory=dict)
    lines: dict[Path, int] = field(default_factory=dict)
    aliases: int = 0

    def read(self) -> Text:
        if len(self.text) > LARGEST_FILE:
            self.refuse(1, f"the file has more than {LARGEST_FILE // 1_000_000} MB", "build such a model in Python")
        try:
            node = self.document(YAML(typ="safe", pure=True).parse(self.text))
        except MarkedYAMLError as error:
            self.refuse(*_syntax(error))
        except ReaderError as error:
            line = self.text.count("\n", 0, error.position) + 1
            self.refuse(line, f"the character {error.character!r} is not allowed", "is this a text file?")
        return Text(self.file, self.plain(node, ()), self.lines)

    def refuse(self, line: int, problem: str, remedy: str = "", element: str = _ELEMENT) -> NoReturn:
        raise ModelFileError([Mistake(self.file, line, element, problem, remedy)])

    def document(self, events: Iterator[Event]) -> _Node:
        """Return the tree of the only document."""
        node = None
        for event in events:
            if isinstance(event, DocumentStartEvent):
                if node is not None:
                    self.refuse(_line(event), "a second document begins here ('---')", "keep one model in a file")
                node = self.node(next(events), events, ())
        return node or _Node(None, 1)

    def node(self, event: Event, events: Iterator[Event], path: Path) -> _Node:
        """Return the tree that begins with an event."""
        if len(path) >= DEEPEST_NESTING and isinstance(event, CollectionStartEvent):
            self.refuse(_line(event), "it is nested too deeply", f"nest at most {DEEPEST_NESTING} levels", shown(path[:3]))
        if isinstance(event, AliasEvent):
            return self.alias(event, path)
        assert isinstance(event, ScalarEvent | CollectionStartEvent)
        if event.tag is not None and not _is_core(event):
            problem = f"the tag {event.tag!r} is not allowed: a model file holds data, not objects"
            self.refuse(_line(event), problem, "leave the tag out", shown(path) or _ELEMENT)
        if isinstance(event, ScalarEvent):
            node = _Node(self.scalar(event, path), _line(event))
        elif isinstance(event, MappingStartEvent):
            node = self.mapping(event, events, path)
        else:
            node = self.sequence(event, events, path)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def alias(self, event: AliasEvent, path: Path) -> _Node:
        element = shown(path) or _ELEMENT
        self.aliases += 1
        if self.aliases > MOST_ALIASES:
            self.refuse(_line(event), f"there are more than {MOST_ALIASES} aliases", "write the values out", element)
        if event.anchor not in self.anchors:
            remedy = f"write &{event.anchor} before the value that it stands for"
            self.refuse(_line(event), f"the alias *{event.anchor} stands for nothing yet", remedy, element)
        return self.anchors[event.anchor]

    def mapping(self, start: Event, events: Iterator[Event], path: Path) -> _Node:
        entries: dict[str, tuple[_Node, int]] = {}
        size = 1
        while isinstance(event := next(events), NodeEvent):
            key = self.key(event, path)
            line = _line(event)
            if key in entries:
                problem = f"the key {key!r} is used twice, in lines {entries[key][1]} and {line}"
                self.refuse(line, problem, "keep one of the two", shown((*path, key)))
            node = self.node(next(events), events, (*path, key))
            entries[key] = (node, line)
            size = self.grown(size, node, line, (*path, key))
        return _Node(entries, _line(start), size)

    def key(self, event: Event, path: Path) -> str:
        if not isinstance(event, ScalarEvent):
            self.refuse(_line(event), "a key is not a text", "write 'name: value'", shown(path) or _ELEMENT)
        if event.value == "<<" and event.implicit[0]:
            self.refuse(
                _line(event), "merge keys ('<<') are not part of YAML 1.2", "repeat the values", shown(path) or _ELEMENT
            )
        return str(event.value)

    def sequence(self, start: Event, events: Iterator[Event], path: Path) -> _Node:
        items: list[_Node] = []
        size = 1
        while not isinstance(event := next(events), SequenceEndEvent):
            items.append(self.node(event, events, (*path, len(items))))
            size = self.grown(size, items[-1], _line(event), path)
        return _Node(items, _line(start), size)

    def grown(self, size: int, node: _Node, line: int, path: Path) -> int:
        if size + node.size > MOST_VALUES:
            self.refuse(line, f"it stands for more than {MOST_VALUES} values", "use fewer aliases", shown(path))
        return size + node.size

    def scalar(self, event: ScalarEvent, path: Path) -> Any:
        """Return a text, or what a plain scalar means."""
        tag = (event.tag or "").rpartition(":")[2]
        if tag == "str" or (not event.tag and not event.implicit[0]):
            return event.value
        return _meaning(event.value)

    def plain(self, node: _Node, path: Path) -> Any:
        """Return the data of a tree and remember its lines."""
        self.lines.setdefault(path, node.line)
        if isinstance(node.value, list):
            return [self.plain(item, (*path, k)) for k, item in enumerate(node.value)]
        if isinstance(node.value, dict):
            self.lines.update({(*path, key): line for key, (_, line) in node.value.items()})
            return {key: self.plain(child, (*path, key)) for key, (child, _) in node.value.items()}
        return node.value


def shown(path: Path) -> str:
    """Return a path as errors show it.

    Examples
    --------
    >>> shown(("couplings", "gear", "terms", 0, "ratio"))
    'couplings.gear.terms[0].ratio'
    """
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).lstrip(".")


def value_at(data: Any, path: Path) -> Any:
    """Return what stands at a path.

    Examples
    --------
    >>> value_at({"a": [1, 2]}, ("a", 1))
    2
    """
    for key in path:
        data = data[key]
    return data


def is_text(value: str) -> bool:
    """Return whether a plain scalar is a text, not a number or the like.

    Examples
    --------
    >>> is_text("hinge"), is_text("1e3"), is_text("null")
    (True, False, False)
    """
    return isinstance(_meaning(value), str)


def _meaning(value: str) -> Any:
    """Return what a plain scalar means in the core schema of YAML 1.2."""
    if _NULL.fullmatch(value):
        return None
    if _BOOL.fullmatch(value):
        return value.lower() == "true"
    if _INT.fullmatch(value) and len(value) <= _LONGEST_INT:
        return int(value, 0) if value[:2] in ("0o", "0x") else int(value)
    if _FLOAT.fullmatch(value):
        return float(value.replace(".i", "i").replace(".I", "I").replace(".n", "n").replace(".N", "N"))
    return value


def _is_core(event: ScalarEvent | CollectionStartEvent) -> bool:
    """Return whether a tag says no more than the core schema: !!str on a scalar, !!map on a mapping and so on."""
    core = ("map", "seq") if isinstance(event, CollectionStartEvent) else ("str", "int", "float", "bool", "null")
    return str(event.tag) in ("!", *(f"tag:yaml.org,2002:{name}" for name in core))


def _line(event: Event) -> int:
    return int(event.start_mark.line) + 1


def _syntax(error: MarkedYAMLError) -> tuple[int, str, str]:
    """Return line, problem and remedy of an error in the syntax."""
    mark = error.problem_mark or error.context_mark
    problem = " ".join(str(error.problem or error.context).split())
    context = f" ({error.context})" if error.context and error.problem else ""
    if "\\t" in problem:
        return mark.line + 1, "a tab stands where the indentation is read", "indent with spaces"
    return (
        mark.line + 1,
        f"{problem}{context}",
        "check the indentation, the colons and the brackets of this line and the one before",
    )
