from __future__ import annotations

from typing import Any

import pytest

from tests.parsing.reading import calls, one, rest


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('{"name": "f", "arguments": {"a": 1}}', [("f", {"a": 1})]),
        ('```json\n{"name": "f", "arguments": {"a": 1}}\n```', [("f", {"a": 1})]),
        (
            '[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]',
            [("f", {}), ("g", {})],
        ),
        ('{"name": "f", "arguments": {}}\n{"name": "g", "arguments": {}}', [("f", {}), ("g", {})]),
        ('{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}', [("f", {}), ("g", {})]),
        ("f(a='x', b=[1])", [("f", {"a": "x", "b": [1]})]),
        ("[f(a='x'), g()]", [("f", {"a": "x"}), ("g", {})]),
        ("<function=f><parameter=a>x</parameter></function>", [("f", {"a": "x"})]),
        ('<invoke name="f"><parameter name="a">x</parameter></invoke>', [("f", {"a": "x"})]),
        ('<function=f>{"a": 1}</function>', [("f", {"a": 1})]),
        ("f<arg_key>a</arg_key><arg_value>x</arg_value>", [("f", {"a": "x"})]),
        ('f\n{"a": 1}', [("f", {"a": 1})]),
        ('to=functions.f json{"a": 1}', [("f", {"a": 1})]),
        ('call:f{a:<|"|>x<|"|>}', [("f", {"a": "x"})]),
        ("f", [("f", {})]),
    ],
)
def test_any_familys_body_is_read_between_any_tags(
    body: str, expected: list[tuple[str, Any]]
) -> None:
    text = f"<tool_call>\n{body}\n</tool_call>"
    assert calls(text) == expected
    assert rest(text) == ""


@pytest.mark.parametrize(
    "body", ["", "words of prose", "[]", "[1, 2]", "<b>x</b>", '"text"', "{", "to=nobody"]
)
def test_what_is_no_call_stays_text(body: str) -> None:
    text = f"<tool_call>{body}</tool_call>"
    assert calls(text) == []
    assert rest(text) == text


def test_a_fence_taken_away_is_listed() -> None:
    assert one('<tool_call>```\n{"name": "f", "arguments": {}}\n```</tool_call>').problems == (
        "code fence removed",
    )
