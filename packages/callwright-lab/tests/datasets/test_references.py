"""References as data sets write them. The core's tests of references use them, too."""

from __future__ import annotations

import pytest

from callwright.nouns.types import Tool, ToolCall
from callwright.repair.ordering.notations import reference_notations
from callwright.repair.ordering.references import find_call_references
from callwright_lab.datasets.references import NOTATIONS

OUTPUT = {"type": "object", "properties": {"output_city": {"type": "string"}}}


def test_all_of_them_are_registered_in_their_rank() -> None:
    names = [row.name for row in reference_notations()]
    assert set(NOTATIONS) <= set(reference_notations())
    assert names == ["variable", "response", "numbered", "braces", "output"]


@pytest.mark.parametrize(
    ("text", "notation", "label"),
    [
        ("$var1.id$", "variable", "var1"),
        ("$var_2.result", "variable", "var_2"),
        ("API_call_0", "response", "API_call_0"),
        ("see API_call_1 there", "response", "API_call_1"),
        ("{API_call_0.id}", "response", "API_call_0"),
        ("output_city", "output", "output_city"),
    ],
)
def test_a_text_of_a_data_set_is_a_reference(text: str, notation: str, label: str) -> None:
    tools = [Tool("f", output_schema=OUTPUT), Tool("g")]
    calls = [ToolCall("call_1", "f", {}), ToolCall("call_2", "g", {"a": text})]
    (found,) = find_call_references(calls, tools)
    assert (found.notation, found.label) == (notation, label)
