from __future__ import annotations

from typing import Any

from callwright.proxy.apis.responses_tools import Names, build_names, flatten_tools, join_namespace

FUNCTION = {"type": "function", "name": "now", "description": "The time.", "strict": False}
PATCH = {
    "type": "custom",
    "name": "patch",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: X"},
}


def called(tools: Any) -> list[str]:
    return [t["function"]["name"] for t in flatten_tools(tools)]  # type: ignore[index,call-overload]


def test_a_namespace_is_taken_apart_and_put_together_again() -> None:
    tools: Any = [
        FUNCTION,
        {"type": "namespace", "name": "mcp__time", "description": "Time.", "tools": [FUNCTION]},
    ]
    assert called(tools) == ["now", "mcp__time__now"]
    assert build_names(tools).grouped == {"mcp__time__now": ("mcp__time", "now")}


def test_a_namespace_that_ends_in_underscores_gets_no_more_of_them() -> None:
    assert join_namespace("mcp__time__", "now") == "mcp__time__now"
    assert join_namespace("", "now") == join_namespace(None, "now") == "now"


def test_a_tool_of_plain_text_takes_one_text_and_says_its_grammar() -> None:
    (made,) = flatten_tools([PATCH])
    assert made["function"]["parameters"]["required"] == ["input"]  # type: ignore[index,call-overload]
    assert "start: X" in made["function"]["description"]  # type: ignore[index,call-overload]
    assert build_names([PATCH]) == Names(frozenset({"patch"}))


def test_tools_that_others_run_and_what_is_no_tool_are_left_out() -> None:
    tools: Any = [
        {"type": "web_search"},
        3,
        None,
        {"type": "namespace", "name": "x", "tools": [{"type": "mcp"}]},
    ]
    assert called(tools) == called(None) == called("x") == []


def test_what_a_tool_says_it_may_do_is_kept() -> None:
    (made,) = flatten_tools([{**FUNCTION, "annotations": {"readOnlyHint": True}}])
    assert made["function"]["annotations"] == {"readOnlyHint": True}  # type: ignore[index,call-overload]
