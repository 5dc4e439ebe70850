from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.types import Tool
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.parsing.values import read_arguments, read_value, run_reader, take_members

OFFER = ToolVocabulary([Tool("f")])


def read(
    text: str, closed: bool = True, at_end: bool = False
) -> list[tuple[str, Any, bool]] | None:
    found = read_value(text, closed, OFFER, at_end=at_end)
    return None if found is None else [(c.tool, c.arguments, c.truncated) for c in found.calls]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('{"name": "f", "arguments": {"a": 1}}', [("f", {"a": 1}, False)]),
        ("{'name': 'f', 'arguments': {'a': True,}}", [("f", {"a": True}, False)]),
        ('[{"name": "f", "arguments": {}}]', [("f", {}, False)]),
        ('{"a": 1}', None),
    ],
)
def test_a_whole_value_is_read(text: str, calls: Any) -> None:
    assert read(text) == calls


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('{"name": "f", "arguments": {"a": 1}', [("f", {"a": 1}, False)]),
        ('{"name": "f", "arguments": {"a": 1', [("f", '{"a": 1', True)]),
        (
            '{"name": "f", "arguments": {"name": "x", "a": {}',
            [("f", '{"name": "x", "a": {}', True)],
        ),
        ('{"name": "f", "arguments": "{\\"a\\": 1}"', [("f", {"a": 1}, False)]),
        ('{"name": "f"', [("f", "", True)]),
        ('{"name": "g"', None),
        ('{"na', None),
        ('{"arguments": {"a": 1}, "name": "f', None),
        (
            '[{"name": "f", "arguments": {}}, {"name": "f", "arguments": {"a',
            [("f", {}, False), ("f", '{"a', True)],
        ),
        ('{"tool_calls": [{"name": "f", "arguments": {"a": "', [("f", '{"a": "', True)]),
        ('{"function": {"name": "f", "arguments": {"a', [("f", '{"a', True)]),
    ],
)
def test_of_a_value_that_stops_only_what_is_complete_is_an_object(text: str, calls: Any) -> None:
    assert read(text, closed=False, at_end=True) == calls


def test_brackets_missing_before_a_closing_tag_are_reported_not_supplied() -> None:
    found = read_value('{"name": "f", "arguments": {"a": "x"', False, OFFER, at_end=False)
    assert found is not None
    (call,) = found.calls
    assert (call.arguments, call.truncated, call.problems) == (
        '{"a": "x"',
        False,
        ["the arguments cannot be read"],
    )


def test_arguments_apart_from_their_name() -> None:
    assert read_arguments("f", '{"a": 1}', True, OFFER, at_end=False).arguments == {"a": 1}
    cut = read_arguments("f", '{"a": 1', False, OFFER, at_end=True)
    assert (cut.arguments, cut.truncated) == ('{"a": 1', True)
    odd = read_arguments("f", "[1]", True, OFFER, at_end=False)
    assert (odd.arguments, odd.problems) == ("[1]", ["arguments are not an object"])
    broken = read_arguments("f", "{]", True, OFFER, at_end=False)
    assert broken.problems


def test_members_are_told_apart_as_far_as_they_go() -> None:
    found = run_reader(
        take_members(Scanner('{"a": "x, }", \'b\': [1, {}], c: 12, "d": "y', ended=True))
    )
    assert [(m.key, m.value, m.closed) for m in found] == [
        ("a", '"x, }"', True),
        ("b", "[1, {}]", True),
        ("c", "12", True),
        ("d", '"y', False),
    ]
