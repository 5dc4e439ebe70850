from __future__ import annotations

import pytest

from callwright.parsing.formats.hermes import iter_blocks


@pytest.mark.parametrize(
    ("text", "bodies", "closed"),
    [
        ('<tool_call>{"a": 1}</tool_call>', ['{"a": 1}'], [True]),
        (
            'x <tool_call>\n{"a": 1}\n</tool_call>\n<tool_call>{"b": 2}</tool_call> y',
            ['{"a": 1}', '{"b": 2}'],
            [True, True],
        ),
        ('<tool_call>{"a": "</tool_call>"}</tool_call>', ['{"a": "</tool_call>"}'], [True]),
        ('<tool_call>{"a": 1}', ['{"a": 1}'], [True]),
        ('<tool_call>{"a": 1', ['{"a": 1'], [False]),
        (
            '<tool_call>{"a": 1}<tool_call>{"b": 2}</tool_call>',
            ['{"a": 1}', '{"b": 2}'],
            [True, True],
        ),
        ("<tool_call>words</tool_call>", ["words"], [True]),
        ("<tool_call>words", ["words"], [False]),
        ("none", [], []),
    ],
)
def test_blocks_are_told_apart(text: str, bodies: list[str], closed: list[bool]) -> None:
    found = list(iter_blocks(text))
    assert [b.body for b in found] == bodies
    assert [b.closed for b in found] == closed
    assert all(text[b.start :].startswith("<tool_call>") for b in found)
