from __future__ import annotations

from tests.proxy.playbook import body

from callwright.proxy.context import Toolsets, read
from callwright.proxy.refining import refined
from callwright.proxy.settings import Settings
from callwright.types import ToolCall

CONTEXT = read(body(), b"x", Toolsets(), Settings())
assert CONTEXT is not None


def test_each_call_is_traced_to_the_one_it_came_from() -> None:
    assert CONTEXT is not None
    right = ToolCall("x", "get_weather", {"city": "Paris"})
    made = refined([right, right, ToolCall("y", "Get_Weather", {"city": "Paris", "days": 2})], CONTEXT)
    assert [(c.tool, o) for c, o in zip(made.calls, made.origin, strict=True)] == [
        ("get_weather", 0),
        ("get_weather", 2),
    ]
    assert len(made.edits) >= 2


def test_no_calls_stay_no_calls() -> None:
    assert CONTEXT is not None
    assert refined([], CONTEXT).calls == ()
