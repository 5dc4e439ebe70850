"""The inputs that a tool takes, and whether a request speaks of them."""

from __future__ import annotations

from callwright.nouns.types import Tool
from callwright.retrieval.document import build_document
from callwright.retrieval.inputs import INPUTS, compare_inputs
from callwright.retrieval.terms import query_terms


def test_required_inputs_of_which_the_request_has_a_word() -> None:
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "name of the town"},
            "days": {"type": "integer"},
        },
        "required": ["city", "days"],
    }
    shapes = [build_document(tool).shape for tool in (Tool("a", "", schema), Tool("b"))]
    found = compare_inputs(shapes, frozenset(query_terms("The weather in the city, a town")))
    assert set(found) == set(INPUTS)
    assert found["required"].tolist() == [2.0, 0.0]
    assert found["taken"].tolist() == [2.0, 0.0]
    assert found["required_in_request"].tolist() == [0.5, -1.0]
    assert found["described_in_request"].tolist() == [1.0, 0.0]


def test_a_schema_that_is_none_takes_nothing() -> None:
    found = compare_inputs(["[{},null,null]", "[null,null,null]"], frozenset({"a"}))
    assert found["taken"].tolist() == [0.0, 0.0]
