"""JSON pointers: the tokens, what they name, and references that are followed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from referencing import Registry, Specification
from referencing.exceptions import Unresolvable

from callwright.jsontext.pointer import (
    follow_references,
    is_pointer,
    join_pointer,
    resolve_reference,
    split_pointer,
    split_reference,
)

steps = st.text(st.sampled_from("a1~/% é"), max_size=3)
documents = st.recursive(
    st.integers() | st.booleans() | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(steps, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(steps, min_size=1, max_size=4))
def test_tokens_come_back_from_the_text_that_they_make(given_steps: list[str]) -> None:
    assert split_pointer(join_pointer(given_steps)) == given_steps


def _refer(way: list[str]) -> str:
    return "#" + "".join("/" + join_pointer([step]).replace("%", "%25") for step in way)


@example([0, "0"], ["1", "0"])
@given(documents, st.lists(steps | st.sampled_from(["0", "1"]), max_size=3))
def test_a_pointer_names_what_another_implementation_says(document: Any, way: list[str]) -> None:
    reference = _refer(way)
    resource = Specification.OPAQUE.create_resource(document)
    try:
        wanted = Registry().with_resource("", resource).resolver("").lookup(reference).contents
    except (Unresolvable, ValueError, TypeError, KeyError, IndexError):
        wanted = None
    assert split_reference(reference) == way
    if any(isinstance(resolve_reference(_refer(way[:n]), document), str) for n in range(len(way))):
        wanted = None  # that one counts the characters of a text as places, RFC 6901 does not
    assert resolve_reference(reference, document) == wanted


@pytest.mark.parametrize("reference", ["#city", "other.json#/a", "other.json", 5, None])
def test_what_is_no_pointer_names_nothing(reference: Any) -> None:
    assert not is_pointer(reference)
    assert resolve_reference(reference, {"a": 1, "city": 2}) is None


@pytest.mark.parametrize("step", ["-1", "1", "x", ""])
def test_a_list_has_no_such_place(step: str) -> None:
    assert resolve_reference(f"#/{step}", ["a"]) is None


def test_a_reference_is_followed_with_what_stands_beside_it() -> None:
    root = {
        "$defs": {
            "city": {"type": "string", "description": "A city"},
            "place": {"$ref": "#/$defs/city", "default": "Oslo"},
        }
    }
    found = follow_references({"$ref": "#/$defs/place", "description": "Here"}, root)
    assert found == {"type": "string", "description": "Here", "default": "Oslo"}


def test_a_circle_leaves_the_schema_as_it_is() -> None:
    part = {"$ref": "#/$defs/a", "title": "Loop"}
    assert follow_references(part, {"$defs": {"a": {"$ref": "#/$defs/a"}}}) == part


@pytest.mark.parametrize("part", [{"$ref": "#/nowhere"}, {"$ref": "#anchor"}, {"type": "integer"}])
def test_what_leads_to_nothing_stays(part: dict[str, str]) -> None:
    assert follow_references(part, {"$defs": {}}) == part


@pytest.mark.parametrize("part", [True, None, [], "text"])
def test_what_is_no_object_says_nothing(part: Any) -> None:
    assert follow_references(part, {}) == {}
