from __future__ import annotations

import pytest

from tests.parsing.reading import calls, found, one, rest

CALL = '{"name": "f", "arguments": {"a": "`x`"}}'
F = [("f", {"a": "`x`"})]


@pytest.mark.parametrize("info", ["json", "", "tool_call", "JSON", "python"])
def test_a_call_in_a_fence_is_one(info: str) -> None:
    text = f"Sure:\n```{info}\n{CALL}\n```\nDone."
    assert calls(text) == F
    assert rest(text) == "Sure:\n\nDone."
    assert one(text).dialect == "fenced"


def test_several_calls_in_a_fence_or_in_several() -> None:
    assert calls(f"```json\n{CALL}\n{CALL}\n```") == F * 2
    assert calls(f"```json\n[{CALL}, {CALL}]\n```") == F * 2
    assert calls(f"```json\n{CALL},\n{CALL}\n```") == F * 2
    assert calls(f"```json\n{CALL}\n```\n```json\n{CALL}\n```") == F * 2


def test_python_calls_of_offered_tools_in_a_fence() -> None:
    assert calls("```python\nf(a='x')\ng()\n```") == [("f", {"a": "x"}), ("g", {})]
    assert calls("```tool_code\nf(a='x')\n```") == [("f", {"a": "x"})]


def test_python_that_calls_no_offered_tool_is_code_whatever_names_count() -> None:
    for code in ("print('x')", "h(a='x')", "h(a='x')\nprint(1)", "h(a='x"):
        text = f"```python\n{code}\n```"
        assert rest(text, unknown=True) == text
    assert calls("```python\nprint('x')\nf(a=1)\n```", unknown=True) == [
        ("print", "'x'"), ("f", {"a": 1}),
    ]  # fmt: skip
    assert calls('```json\n{"name": "h", "arguments": {}}\n```', unknown=True) == [("h", {})]


def test_tags_in_a_fence() -> None:
    text = f"```tool_call\n<tool_call>{CALL}</tool_call>\n```"
    assert (calls(text), rest(text)) == (F, "")


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(f(1))\n```",
        '```json\n{"a": 1}\n```',
        "```\n```",
        "```json",
        "``` and `x`",
        "```js\nconst f = {name: 'f'}\n```",
        '```json\n{"name": "nobody", "arguments": {}}\n```',
        "```json\n[1, 2]\n```",
    ],
)
def test_code_that_is_no_call_is_text(text: str) -> None:
    assert rest(text) == text


def test_a_fence_left_open_is_listed_and_one_that_stops_is_truncated() -> None:
    assert one(f"```json\n{CALL}").problems == ("the closing fence is missing",)
    assert one(f"```json\n{CALL[:-4]}").truncated


def test_a_comment_in_the_fence_costs_no_call() -> None:
    assert calls(f"```json\n// first\n{CALL}\n```") == F
    assert calls(f"```json\n{CALL} // call\n```\n```json\n{CALL}\n```") == F * 2


def test_prose_after_the_fence_is_no_call() -> None:
    text = f"```json\n{CALL}\n```\n\nThe result is `4`."
    assert rest(text) == "\n\nThe result is `4`."
    assert len(found(text)) == 1
