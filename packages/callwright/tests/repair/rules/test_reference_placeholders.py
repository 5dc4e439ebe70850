"""References and nulls pass the schema and come back where they were."""

from __future__ import annotations

from callwright.nouns.types import Tool, ToolCall
from callwright.repair.draft import LocatedEdit
from callwright.repair.location import in_arguments
from callwright.repair.ordering.references import find_call_references
from callwright.repair.rules.reference_placeholders import build_sample, replace_references

TOOL = Tool(
    "t",
    "",
    {
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "note": {"type": "string"},
            "ids": {"type": "array"},
        },
        "required": ["n"],
    },
)


def test_references_of_any_type_are_set_aside_and_restored() -> None:
    arguments = {"n": "API_call_0", "note": None, "ids": ["API_call_1"]}
    aside = replace_references(
        arguments, TOOL, find_call_references([ToolCall("", "t", arguments)], [TOOL])
    )
    assert aside.arguments["n"] == 1
    assert "note" not in aside.arguments
    assert aside.restored(aside.arguments) == arguments
    assert list(aside.restored(aside.arguments)) == list(arguments)


def test_a_renamed_key_keeps_its_reference() -> None:
    arguments = {"N": "$1"}
    aside = replace_references(
        arguments, TOOL, find_call_references([ToolCall("", "t", arguments)], [TOOL])
    )
    renamed = LocatedEdit(in_arguments(0, "N"), "N", "n", "rename_key")
    assert aside.restored({"n": aside.arguments["N"]}, [renamed]) == {"n": "$1"}


def test_samples_fit_simple_schemas() -> None:
    assert build_sample({"enum": ["a", "b"]}) == "a"
    assert build_sample({"type": "integer", "minimum": 7}) == 7
    assert build_sample({"type": ["null", "array"]}) == []
    assert build_sample(None, "$1") == "$1"
