"""Each format is read as strictly as it is asked for."""

from __future__ import annotations

import pytest

from callwright.nouns.types import ToolCall
from callwright_lab.benchmarks.refine.bamboogle_formats import (
    FORMATS,
    read_format,
    write_format,
)

RIGHT = {
    "tagged": '<tool_call> [{"name": "f", "arguments": {"a": "b"}}] </tool_call>',
    "pythonic": "[f(a='b')]",
    "tool_use": '[{"type": "tool_use", "name": "f", "input": {"a": "b"}}]',
}


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_a_text_in_its_format_is_read_and_in_another_is_not(form: str) -> None:
    for name, text in RIGHT.items():
        found = read_format(form, text)
        if name == form:
            assert found is not None
            assert [(c.tool, c.arguments) for c in found] == [("f", {"a": "b"})]
        else:
            assert found is None


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("tagged", RIGHT["tagged"][:-2]),
        ("tagged", '<tool_call>{"name": "f", "arguments": {}}</tool_call>'),
        ("tagged", '<tool_call>[{"name": "f", "arguments": "{}"}]</tool_call>'),
        ("tagged", "<tool_call>[{'name': 'f', 'arguments': {}}]</tool_call>"),
        ("tool_use", '[{"type": "call", "name": "f", "input": {}}]'),
        ("tool_use", '[{"name": "f", "input": {}}]'),
        ("tool_use", "[]"),
        ("pythonic", "f(a='b')"),
        ("pythonic", "[f('b')]"),
        ("pythonic", "[f(a=b)]"),
        ("pythonic", "[f(**{})]"),
        ("pythonic", "[m.f(a=1)]"),
        ("pythonic", "```\n[f(a='b')]\n```"),
        ("pythonic", "[]"),
        ("pythonic", "["),
    ],
)
def test_almost_is_not_in_the_format(form: str, text: str) -> None:
    assert read_format(form, text) is None


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_what_is_written_in_a_format_is_read_in_it(form: str) -> None:
    calls = (
        ToolCall("call_1", "f", {"a": 'it\'s "b"', "n": [1, 2.5, True]}),
        ToolCall("call_2", "g", {}),
    )
    assert read_format(form, write_format(form, calls)) == calls
