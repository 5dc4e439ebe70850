from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import Tool, ToolCall
from callwright.parsing import Finish, parse_calls, write_calls
from tests.places import SUITE

DIALECTS_SUITE = SUITE / "dialects"
CASES = [
    case
    for file in sorted(DIALECTS_SUITE.glob("*.json"))
    for case in json.loads(file.read_text(encoding="utf-8"))
]
TOOLS = (Tool("f"), Tool("get_weather"))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_the_language_neutral_cases_are_read_as_they_say(case: dict[str, Any]) -> None:
    found = parse_calls(case["text"], [Tool(name) for name in case["tools"]])
    assert [[c.tool, c.arguments] for c in found.calls] == case["calls"]
    assert found.dialect == case["dialect"]
    assert found.text == case["rest"]
    assert (found.finish.answer if found.finish else None) == case.get("finish")
    assert found.reason == case.get("reason", "")
    assert found.truncated is case.get("truncated", False)


def test_what_a_model_considered_is_not_what_it_calls() -> None:
    one, two = (write_calls([ToolCall("", tool.name, {})], "hermes") for tool in TOOLS)
    found = parse_calls(f"<think>{one} or {two}?</think>{two}", TOOLS)
    assert [c.tool for c in found.calls] == ["get_weather"]
    assert not parse_calls(f"<think>{one}? No.</think>I did nothing.", TOOLS).calls
    assert [c.tool for c in parse_calls(f"<think>{one}</think>", TOOLS).calls] == ["f"]


def test_ids_are_numbered_in_order() -> None:
    found = parse_calls(
        '[{"name": "f", "arguments": {}}, {"name": "f", "arguments": {"a": 1}}]', TOOLS
    )
    assert [c.id for c in found.calls] == ["call_1", "call_2"]


def test_finish_is_never_a_call() -> None:
    found = parse_calls('Action: Finish\nAction Input: {"return_type": "give_up_and_restart"}')
    assert found.calls == ()
    assert found.finish == Finish("", "give_up_and_restart")


def test_names_that_nobody_knows_are_kept_for_the_gate() -> None:
    assert parse_calls('{"name": "g", "arguments": {}}', TOOLS).calls[0].tool == "g"


def test_python_in_a_fence_that_calls_no_offered_tool_is_code() -> None:
    text = '```python\nprint("hello")\n```'
    found = parse_calls(text, TOOLS)
    assert (found.calls, found.text, found.dialect) == ((), text, "")


@given(st.text(alphabet="{}[]\"':,\\\nActionInput: <tool_call>/`name12", max_size=120))
def test_no_text_makes_it_crash(text: str) -> None:
    parse_calls(text, TOOLS)


arguments = st.dictionaries(
    st.text(), st.text() | st.integers() | st.lists(st.text(), max_size=2), max_size=3
)


@given(arguments)
def test_any_arguments_survive_every_format(value: dict[str, Any]) -> None:
    body = json.dumps(value)
    call = json.dumps({"name": "f", "arguments": value})
    for text in (
        f"Action: f\nAction Input: {body}",
        call,
        f"```json\n{call}\n```",
        f"<tool_call>\n{call}\n</tool_call>",
    ):
        (found,) = parse_calls(text, TOOLS).calls
        assert (found.tool, found.arguments) == ("f", value)


@given(arguments.filter(bool), st.data())
def test_a_cut_call_never_comes_back_as_an_object(
    value: dict[str, Any], data: st.DataObject
) -> None:
    call = json.dumps({"name": "f", "arguments": value})
    end = data.draw(st.integers(len('{"name": "f", "arguments": {'), len(call) - 2))
    for found in parse_calls(call[:end], TOOLS).calls:
        assert isinstance(found.arguments, str)


def test_long_texts_take_linear_time() -> None:
    started = time.process_time()
    parse_calls("Thought: so\n" * 50_000, TOOLS)
    parse_calls("{" * 50_000, TOOLS)
    parse_calls('{"a": 1} ' * 5_000, TOOLS)
    parse_calls("<tool_call>" * 2_000, TOOLS)
    assert time.process_time() - started < 5
