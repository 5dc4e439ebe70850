"""Each value of an output is looked for in the results, as a statement of the answer is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding import facts_of
from callwright.grounding.output.support import Evidence, find_unsupported
from callwright.nouns.types import ToolResult
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema.compiled import compile_schema

QUERY = "How many people live in Oslo and Bergen, in 2026?"
RESULTS = (
    ToolResult("r1", "people", {"city": "Oslo"}, {"city": "Oslo", "people": 717710}),
    ToolResult("r2", "people", {"city": "Bergen"}, {"city": "Bergen", "people": 291940}),
    ToolResult("r3", "about", {}, {"founded": "1040-05-01", "note": "It rains on 230 days."}),
)
EVIDENCE = Evidence(facts_of(QUERY, RESULTS), ProvenanceIndex(QUERY, (), RESULTS))
ANY = compile_schema({}).root


def places(value: Any, schema: Any = None) -> list[str]:
    root = ANY if schema is None else compile_schema(schema).root
    found = find_unsupported(value, root, EVIDENCE)
    return ["/".join(map(str, one.pointer)) for one in found]


@pytest.mark.parametrize(
    "value",
    [
        {"city": "Oslo", "people": 717710},
        {"cities": [{"city": "Oslo", "people": 717710}, {"city": "Bergen", "people": 291940}]},
        {"oslo": 717710, "bergen": 291940},
        {"total": 1009650},
        {"difference": 425770},
        {"founded": "1040-05-01", "rainy_days": 230},
        {"year": 2026},
        {"note": "It rains on 230 days a year."},
        {"is_large": True, "nothing": None, "empty": []},
    ],
)
def test_what_results_or_the_request_say_is_supported(value: Any) -> None:
    assert places(value) == []


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"city": "Oslo", "people": 717711}, ["people"]),
        ({"city": "Oslo", "people": 291940}, ["people"]),
        ({"city": "Trondheim"}, ["city"]),
        ({"founded": "1040-05-02"}, ["founded"]),
        ({"code": "NO-4711"}, ["code"]),
        ({"note": "It snows on 23 days a year."}, ["note"]),
        ({"rows": [{"people": 717710}, {"people": 5}]}, ["rows/1/people"]),
        ([717710, 3141592], ["1"]),
    ],
)
def test_what_nothing_says_is_found_at_its_place(value: Any, where: list[str]) -> None:
    assert places(value) == where


def test_an_option_of_the_schema_is_a_judgement() -> None:
    size = {"enum": ["small", "large"]}
    schema = {"properties": {"size": size, "also": {"anyOf": [{"type": "null"}, size]}}}
    assert places({"size": "large", "also": "small"}, schema) == []
    assert places({"size": "large"}) == ["size"]


@given(st.integers(2_000_000, 10**9))
def test_no_number_of_its_own_gets_in(number: int) -> None:
    assert places({"city": "Oslo", "people": number}) == ["people"]
