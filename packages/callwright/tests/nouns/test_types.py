"""The nouns keep what they promise."""

from __future__ import annotations

import pytest

from callwright.nouns.types import (
    DESTRUCTIVE,
    READ,
    UNKNOWN,
    WRITE,
    CheckedCall,
    Edit,
    Effects,
    Tool,
    Usage,
    iter_scalars,
    to_canonical_json,
    to_json,
)


def test_the_scalars_of_a_value_come_in_order() -> None:
    assert list(iter_scalars({"a": [1, {"b": None}], "c": "x", "d": [], "e": True})) == [
        1,
        None,
        "x",
        True,
    ]
    assert list(iter_scalars(5)) == [5]


def test_only_the_gate_can_make_a_checked_call() -> None:
    with pytest.raises(TypeError, match="gate"):
        CheckedCall("r1", Tool("t"), {})


def test_unknown_effects_count_as_the_worst() -> None:
    assert Effects() == DESTRUCTIVE
    assert Effects().may_write
    assert not Effects().may_repeat
    assert READ.may_repeat
    assert not READ.may_write


def test_the_digest_of_a_tool_changes_with_whatever_the_model_sees() -> None:
    tool = Tool("t", "does it", {"type": "object", "properties": {"a": {"type": "string"}}})
    same = Tool("t", "does it", {"properties": {"a": {"type": "string"}}, "type": "object"})
    assert tool.digest == same.digest
    assert tool.digest != Tool("t", "does it!", tool.input_schema).digest
    assert tool.digest != Tool("t", "does it", tool.input_schema, effects=READ).digest


def test_a_tool_with_a_broken_schema_has_no_properties_rather_than_an_exception() -> None:
    tool = Tool("t", input_schema={"properties": None, "required": ["a", 1, None]})
    assert tool.properties == {}
    assert tool.required == ("a",)


def test_values_become_json() -> None:
    assert to_json((Edit("/a", 1, (2,), "r"),)) == [
        {"path": "/a", "before": 1, "after": [2], "rule": "r"}
    ]
    assert to_canonical_json({"b": 1, "a": [None, True]}) == '{"a":[null,true],"b":1}'


def test_usage_adds_up() -> None:
    total = Usage(10, 2, 4) + Usage(1, 1)
    assert (total.prompt_tokens, total.completion_tokens, total.cached_tokens, total.total) == (
        11,
        3,
        4,
        14,
    )


def test_a_tool_declares_a_write_where_it_says_that_it_changes_something() -> None:
    assert WRITE.declares_write
    assert not READ.declares_write
    assert not UNKNOWN.declares_write
