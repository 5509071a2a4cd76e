"""The JSON Schema: what editors see is what the reader accepts."""

import dataclasses
import re
from pathlib import Path

import pytest

import dalembert as da
from dalembert.elements.joint import ALIASES, JOINT_TYPES
from dalembert.elements.law import Law
from dalembert.io.schema import COUPLING_ENTRIES, FORCE_ENTRIES, FORCES, LAW_ENTRIES, LAWS, SECTIONS, ModelFile, model_schema
from dalembert.io.validation import structural_mistakes
from dalembert.io.yaml_text import read_yaml
from dalembert.system import model as model_module

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
SCHEMA = model_schema()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_fit_the_schema(path):
    assert ModelFile.model_validate(read_yaml(path.read_text(), path.name).data).dalembert == 1


def mappings(node):
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from mappings(value)
    elif isinstance(node, list):
        for value in node:
            yield from mappings(value)


def test_it_is_a_closed_schema_of_the_right_draft():
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["required"] == ["dalembert"]
    assert set(SCHEMA["properties"]) == {"dalembert", "name", "gravity", "planar", "tolerance", *SECTIONS}
    assert all(node["additionalProperties"] is False for node in mappings(SCHEMA) if "properties" in node and "type" in node)


def test_every_reference_leads_somewhere_and_nothing_is_null_by_default():
    for node in mappings(SCHEMA):
        assert node.get("default", 0) is not None
        if isinstance(node.get("$ref"), str):
            assert node["$ref"].removeprefix("#/$defs/") in SCHEMA["$defs"]


def test_every_field_has_a_description():
    for label, entry in SCHEMA["$defs"].items():
        assert entry["description"], label
        for key, field in entry["properties"].items():
            assert field.get("description"), f"{label}.{key}"


def test_units_come_from_the_docstrings():
    body = SCHEMA["$defs"]["Body"]["properties"]
    assert body["mass"]["description"].startswith("[kg]")
    assert "[kg m2]" in body["inertia"]["description"]
    assert "scalar first" in body["orientation_wxyz"]["description"]


def test_every_type_is_offered():
    assert set(SCHEMA["$defs"]["Joint"]["properties"]["type"]["enum"]) == {*JOINT_TYPES, *ALIASES}
    assert set(SCHEMA["properties"]["forces"]["additionalProperties"]["discriminator"]["mapping"]) == set(FORCES)
    assert set(SCHEMA["properties"]["couplings"]["additionalProperties"]["discriminator"]["mapping"]) == set(COUPLING_ENTRIES)
    assert set(SCHEMA["$defs"]["Motion"]["properties"]["law"]["discriminator"]["mapping"]) == set(LAWS)


def test_every_law_and_force_of_the_library_has_an_entry():
    laws = {law for law in Law.__subclasses__() if dataclasses.is_dataclass(law)}
    assert laws - set(LAWS.values()) == {da.Function}
    assert set(model_module._FORCE_KINDS) - set(FORCES.values()) == {da.UserForce}
    for kind in FORCES:
        assert callable(getattr(da.Model, kind))
    assert len(LAW_ENTRIES) == len(LAWS)
    assert len(FORCE_ENTRIES) == len(FORCES)


BLOCKS = re.findall(r"```yaml\n(.*?)```", (EXAMPLES[0].parents[1] / "docs" / "model_file.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.partition(":")[0].split()[-1])
def test_the_reference_shows_what_the_schema_accepts(block):
    text = read_yaml(block, "model_file.md")
    assert structural_mistakes(dataclasses.replace(text, data={"dalembert": 1, **text.data})) == []


def test_the_reference_has_every_section_law_and_force():
    reference = (EXAMPLES[0].parents[1] / "docs" / "model_file.md").read_text()
    assert all(f"## {section}\n" in reference for section in SECTIONS)
    assert all(f"type: {kind}" in reference for kind in [*LAWS, *FORCES, *COUPLING_ENTRIES])
    assert all(kind in reference for kind in JOINT_TYPES)
