"""What a model file may contain: pydantic models, made from the dataclasses of the elements.

A section of the file holds elements by name; an element is a mapping with the fields of its dataclass, with three changes:
``main`` and ``driven`` are written ``between: [main, driven]``, an orientation is a quaternion (``orientation_wxyz``), and a
law of time is a mapping with a ``type``. Descriptions and units come from the docstrings. What a value means is checked where
elements are made; here it is only checked that a number is a number.

A new law is a line in `LAWS`, a new force a line in `FORCES`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, create_model

from dalembert.elements.beam import Beam
from dalembert.elements.beam_element import BeamElement
from dalembert.elements.body import Body
from dalembert.elements.bushing import Bushing
from dalembert.elements.coupling import Coupling, Term
from dalembert.elements.frame import Frame
from dalembert.elements.friction import Friction
from dalembert.elements.joint import ALIASES, COORDINATE_ROWS, JOINT_TYPES, Joint
from dalembert.elements.joint_force import JointLoad, TorsionSpring
from dalembert.elements.law import Constant, Expression, Harmonic, Law, Polynomial, Ramp, SmoothStep, Speed, Spline
from dalembert.elements.load import Load
from dalembert.elements.lock import ROWS
from dalembert.elements.motion import Motion
from dalembert.elements.nonholonomic import ROWS as CONTACT_ROWS
from dalembert.elements.section import Circle, General, ISection, Rectangle, Tube
from dalembert.elements.section_law import Section
from dalembert.elements.spring import SpringDamper

LAWS: dict[str, type[Law]] = {
    "constant": Constant,
    "ramp": Ramp,
    "smooth_step": SmoothStep,
    "polynomial": Polynomial,
    "harmonic": Harmonic,
    "spline": Spline,
    "expression": Expression,
    "speed": Speed,
}
"""The laws of time that a file may hold, by their type. A Python function is none of them."""

FORCES: dict[str, type] = {
    "spring": SpringDamper,
    "torsion_spring": TorsionSpring,
    "bushing": Bushing,
    "beam_element": BeamElement,
    "load": Load,
    "joint_load": JointLoad,
    "friction": Friction,
}
"""The forces that a file may hold, by their type, which is also the method of `Model` that adds one."""


SECTION_TYPES: dict[str, type[Section]] = {
    "rectangle": Rectangle,
    "circle": Circle,
    "tube": Tube,
    "i_section": ISection,
    "general": General,
}
"""The cross sections of beams that a file may hold, by their type."""


# --- values ------------------------------------------------------------------------------------------------------------

# The types below are made while the program runs, which mypy cannot follow.
_annotated: Any = Annotated
_list: Any = list
_mapping: Any = dict
_literal: Any = Literal
_either: Any = Union

Number = Annotated[float, Field(allow_inf_nan=False)]


def _several(shape: Any, least: int, most: int | None = None) -> Any:
    """Return a list of `least` to `most` values."""
    return _annotated[_list[shape], Field(min_length=least, max_length=most or least)]


def _numbers(n: int) -> Any:
    return _several(Number, n)


def _by_shape(**shapes: Any) -> Any:
    """Return the type of a value that is recognised by its shape: name, law, number, vector or matrix."""
    tagged = [_annotated[shape, Tag(_tag(label))] for label, shape in shapes.items()]
    known = {_tag(label) for label in shapes}
    default = _tag(next(iter(shapes)))

    def shape_of(value: Any) -> str:
        own = _tag(_shape(value))
        return own if own in known else default

    return _annotated[_either[tuple(tagged)], Discriminator(shape_of)]


def _tag(label: str) -> str:
    return f"[{label}]"  # in brackets, so that no key of a file is taken for it


def _shape(value: Any) -> str:
    match value:
        case str():
            return "name"
        case bool():
            return "switch"
        case Mapping():
            return "law"
        case [list(), *_]:
            return "matrix"
        case list():
            return "vector"
    return "number"


Vector = _numbers(3)
Place = _by_shape(vector=Vector, name=str)
Inertia = _by_shape(
    vector=_several(Number, 3, 6),
    matrix=_several(Vector, 3),
)
Plane = _by_shape(switch=bool, vector=Vector)
Six = _by_shape(vector=_numbers(6), matrix=_several(_numbers(6), 6))

_SHAPES: dict[str, Any] = {
    "float": Number,
    "str": str,
    "bool": bool,
    "str | sympy.Expr": str,
    "ArrayLike": Vector,
    "Place": Place,
    "Rotation | ArrayLike": _numbers(4),
    "Sequence[float]": list[Number],
    "Sequence[tuple[float, float]]": _list[_numbers(2)],
    "Law": "AnyLaw",
}
"""What a field looks like in a file, by its annotation in the dataclass."""


_TEXTS = {
    "body": "Name of the body.",
    "joint": "Name of the joint.",
    "coordinate": "The angle [rad] or the distance [m] of the joint.",
    "ratio": "What multiplies the coordinate.",
    "value": "In the unit of what the law drives.",
    "coefficients": "c[0] + c[1] t + c[2] t^2 + ...",
}
"""Descriptions of fields that the docstrings leave to their names."""


# --- entries -----------------------------------------------------------------------------------------------------------


class Entry(BaseModel):
    """What all mappings of a model file share: no other keys, no conversion of texts to numbers."""

    model_config = ConfigDict(extra="forbid", strict=True)


def entry(cls: type, kind: str | None = None, /, **shapes: Any) -> type[Entry]:
    """Return the entry of a file that stands for a dataclass.

    Parameters
    ----------
    cls : type
        The dataclass.
    kind : str, optional
        The `type` that tells it from others in the same place.
    **shapes
        Types of single fields, where their annotation does not tell.
    """
    members: dict[str, Any] = {} if kind is None else {"type": (_literal[kind], Field(description=_summary(cls)))}
    texts = _TEXTS | parameter_texts(cls)
    for own in dataclasses.fields(cls):
        if own.name not in LEFT_OUT:
            key = file_key(own)
            shape = shapes.get(key) or _shape_of(str(own.type), key)
            members[key] = (shape, Field(default=_default(own), description=_description(key, own.name, texts)))
    return create_model(cls.__name__, __base__=Entry, __doc__=_summary(cls), __module__=__name__, **members)


def _description(key: str, name: str, texts: Mapping[str, str]) -> str:
    if key == "between":
        return "The main and the driven body; one of them may be the ground."
    return texts.get(name, "") + (" As a quaternion, scalar first." if key != name else "")


LEFT_OUT = ("name", "driven", "orientation_wxyz")
"""Fields that a file says in another way: the key, `between`, `orientation`."""


def file_key(field: dataclasses.Field[Any]) -> str:
    """Return how a file calls a field of a dataclass."""
    if field.name == "main":
        return "between"
    return f"{field.name}_wxyz" if "Rotation" in str(field.type) else field.name


def _shape_of(annotation: str, key: str) -> Any:
    if key == "between":
        return _several(str, 2)
    annotation = annotation.removesuffix(" | None")
    if annotation.startswith("Literal["):
        return _literal[tuple(re.findall(r"'([^']+)'", annotation))]
    return _SHAPES[annotation]


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is dataclasses.MISSING:
        return ...
    default = list(field.default) if isinstance(field.default, tuple) else field.default
    return None if default == float("inf") else default


def _summary(cls: type) -> str:
    return (cls.__doc__ or "").strip().partition("\n\n")[0].replace("\n    ", " ")


def parameter_texts(cls: type) -> dict[str, str]:
    """Return the texts of a docstring's parameters.

    Examples
    --------
    >>> parameter_texts(Harmonic)["frequency"]
    'In Hz, positive.'
    """
    texts: dict[str, str] = {}
    block = (cls.__doc__ or "").partition("----------\n")[2].partition("\n\n")[0]
    for names, text in re.findall(r"^    (\w[\w, ]*?)(?: : [^\n]*)?\n((?:        [^\n]*\n?)*)", block, re.MULTILINE):
        texts.update({name.strip(): " ".join(text.split()) for name in names.split(",")})
    return {name: text for name, text in texts.items() if text}


def _union(entries: Mapping[str, type[Entry]]) -> Any:
    return _annotated[_either[tuple(entries.values())], Field(discriminator="type")]


LAW_ENTRIES = {kind: entry(law, kind) for kind, law in LAWS.items()}
AnyLaw = _union(LAW_ENTRIES)
_SECTION_SHAPES: dict[str, dict[str, Any]] = {
    "general": {"stiffness": Six, "damping": Six, "inertia": Inertia, "centre": _numbers(2)},
}
SECTION_ENTRIES = {
    kind: entry(section, kind, **_SECTION_SHAPES.get(kind, {"shear_factors": _numbers(2)}))
    for kind, section in SECTION_TYPES.items()
}
NumberOrLaw = _by_shape(number=Number, law=AnyLaw)
_SHAPES |= {
    "Law": AnyLaw,
    "Law | float": NumberOrLaw,
    "Components": _several(NumberOrLaw, 3),
    "Section": _union(SECTION_ENTRIES),
}
for _law in LAW_ENTRIES.values():
    _law.model_rebuild(_types_namespace={"AnyLaw": AnyLaw})

_Coordinate = _literal[tuple(COORDINATE_ROWS)]
_AnyCoordinate = _literal[(*COORDINATE_ROWS, *ROWS)]
_FORCE_SHAPES: dict[str, dict[str, Any]] = {
    "torsion_spring": {"coordinate": _Coordinate},
    "joint_load": {"coordinate": _Coordinate},
    "bushing": {"stiffness": Six, "damping": Six, "preload": _numbers(6)},
    "beam_element": {"free": _numbers(6)},
}
FORCE_ENTRIES = {kind: entry(force, kind, **_FORCE_SHAPES.get(kind, {})) for kind, force in FORCES.items()}

BodyEntry = entry(Body, inertia=Inertia)
BeamEntry = entry(
    Beam,
    start=Place,
    end=Place,
    via=Place,
    elements=_annotated[Number, Field(json_schema_extra={"type": "integer", "minimum": 1})],
)
FrameEntry = entry(Frame)
JointEntry = entry(
    Joint,
    type=_literal[(*JOINT_TYPES, *ALIASES)],
    rows=_list[_literal[(*ROWS, *CONTACT_ROWS)]],
    coefficients=_numbers(6),
)
MotionEntry = entry(Motion, coordinate=_AnyCoordinate)
TermEntry = entry(Term, coordinate=_Coordinate)


class LinearEntry(Entry):
    """A linear relation between joint coordinates: sum of ratio * coordinate = offset."""

    type: Literal["linear"] = Field(description="Any linear relation.")
    terms: list[TermEntry] = Field(description="Joint, coordinate and ratio of each.", min_length=1)  # type: ignore[valid-type]
    offset: Number | None = Field(default=None, description=parameter_texts(Coupling).get("offset"))


class GearEntry(Entry):
    """Two angles: angle_2 = ratio * angle_1 from the drawn position on."""

    type: Literal["gear"] = Field(description="Two angles.")
    joints: list[str] = Field(description="The two joints.", min_length=2, max_length=2)
    ratio: Number = Field(description="Negative for outer meshing.")


class RackAndPinionEntry(Entry):
    """An angle and a distance: distance = radius * angle from the drawn position on."""

    type: Literal["rack_and_pinion"] = Field(description="An angle and a distance.")
    pinion: str = Field(description="The joint that turns.")
    rack: str = Field(description="The joint that slides.")
    radius: Number = Field(description="Of the pinion [m], signed.")


COUPLING_ENTRIES: dict[str, type[Entry]] = {"linear": LinearEntry, "gear": GearEntry, "rack_and_pinion": RackAndPinionEntry}


def _section(shape: Any, text: str) -> Any:
    return _mapping[str, shape], Field(default={}, description=text)


ModelFile = create_model(
    "ModelFile",
    __base__=Entry,
    __doc__="A mechanical model of dalembert. SI units, global coordinates in the design position.",
    dalembert=(Literal[1], Field(description="Version of the format.")),
    name=(str, Field(default="model", description="Name of the model.")),
    gravity=(Vector, Field(default=[0.0, 0.0, 0.0], description="Acceleration of gravity [m/s2].")),
    planar=(Plane, Field(default=False, description="All bodies move in the x y plane, or in the one with this normal.")),
    tolerance=(Number, Field(default=0.0, description="How far joints may stay open that contradict each other [m].")),
    points=_section(Vector, "Named places [m], for `at` of joints, frames and forces."),
    frames=_section(FrameEntry, "Frames that are fixed in a body."),
    bodies=_section(BodyEntry, "Rigid bodies."),
    beams=_section(BeamEntry, "Beams; their nodes are bodies."),
    joints=_section(JointEntry, "Joints between bodies."),
    couplings=_section(_union(COUPLING_ENTRIES), "Gears, racks and other linear relations between joint coordinates."),
    motions=_section(MotionEntry, "Prescribed motions of joints."),
    forces=_section(_union(FORCE_ENTRIES), "Springs, dampers, bushings, pieces of beams and loads."),
)

SECTIONS = ("points", "bodies", "beams", "frames", "joints", "couplings", "motions", "forces")
"""The sections that hold elements by name, in the order in which they are read."""

_PLAIN = {"frames": FrameEntry, "bodies": BodyEntry, "beams": BeamEntry, "joints": JointEntry, "motions": MotionEntry}
_TYPED = {"couplings": COUPLING_ENTRIES, "forces": FORCE_ENTRIES}


def entry_at(path: Sequence[str | int], data: Any) -> type[Entry] | None:
    """Return what the mapping at a path of a file must look like; None if that depends on a type that is not known."""
    if not path:
        return ModelFile
    kind = data.get("type") if isinstance(data, Mapping) else None
    if len(path) > 2:
        return TermEntry if "terms" in path else {**LAW_ENTRIES, **SECTION_ENTRIES}.get(str(kind))
    section = str(path[0])
    return _PLAIN.get(section) or _TYPED.get(section, {}).get(str(kind))


def model_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the model file, for editors.

    Examples
    --------
    >>> schema = model_schema()
    >>> schema["$defs"]["Body"]["properties"]["mass"]["description"]
    '[kg]; zero is allowed where the joints make the motion unique.'
    """
    schema = _without_null_defaults(ModelFile.model_json_schema())
    schema["title"] = "dalembert model"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _without_null_defaults(node: Any) -> Any:
    """Return a schema without ``default: null``, which only says that a key may be left out."""
    if isinstance(node, list):
        return [_without_null_defaults(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: _without_null_defaults(value) for key, value in node.items() if (key, value) != ("default", None)}
