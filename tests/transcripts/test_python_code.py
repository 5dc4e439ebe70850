"""The calls of a program, unread beyond what is written in it."""

from __future__ import annotations

import pytest
from tests.transcripts.trajectories import TOOLS

from callwright.transcripts.python_code import calls_in, program
from callwright.types import ToolCall


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        ("print(f(x=1))", [("f", {"x": 1})]),
        ("r = f(x='a')\nprint(r)\nprint(g(n=[1, None]))", [("f", {"x": "a"}), ("g", {"n": [1, None]})]),
        ("print(f(x=g(y=2)))", [("g", {"y": 2}), ("f", {"x": "g(y=2)"})]),
        ("print(len(str(f())))", [("f", {})]),
        ("print(weather('Rome'))", [("weather", {"city": "Rome"})]),
        ("print(obj.method(1))", []),
        ("print(f(x=1)", []),
        ("", []),
    ],
)
def test_calls_of_tools_are_found_inner_ones_first(code: str, calls: list[object]) -> None:
    assert calls_in(code, TOOLS) == calls


def test_a_program_prints_every_call() -> None:
    text = program((ToolCall("a", "f", {"x": "it's"}), ToolCall("b", "g", {})))
    assert text == 'print(f(x="it\'s"))\nprint(g())'
    assert [name for name, _ in calls_in(text)] == ["f", "g"]
