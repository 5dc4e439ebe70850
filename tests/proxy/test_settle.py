from __future__ import annotations

from typing import Any

from tests.proxy.playbook import body

from callwright.proxy.context import Context, Toolsets, read
from callwright.proxy.settings import Settings
from callwright.proxy.settle import Found, Settled, settle
from callwright.types import Reply, ToolCall

RIGHT = ToolCall("c1", "get_weather", {"city": "Paris"})


def context(reasks: int = 1, **more: Any) -> Context:
    found = read(body(**more), b"x", Toolsets(), Settings(reasks=reasks))
    assert found is not None
    return found


def settled(found: list[Found], given: Context, *replies: Reply) -> tuple[Settled, int]:
    work = settle(found, "", "stop", given)
    left = list(replies)
    asked = 0
    try:
        next(work)
        while True:
            asked += 1
            work.send(left.pop(0))
    except StopIteration as end:
        return end.value, asked


def test_a_right_native_call_is_untouched() -> None:
    made, asked = settled([Found(RIGHT, 0)], context())
    assert made.untouched
    assert not asked
    assert made.calls[0].same


def test_a_call_from_text_gets_an_id_of_ours() -> None:
    made, _ = settled([Found(RIGHT, dialect="hermes")], context())
    assert made.calls[0].call.id.startswith("cwp")
    assert not made.untouched
    assert made.dialect == "hermes"


def test_nothing_is_asked_beyond_the_budget() -> None:
    _, asked = settled([], context(0, tool_choice="required"))
    assert asked == 0
    _, asked = settled([], context(1, tool_choice="required"), Reply("no"))
    assert asked == 1


def test_a_second_answer_is_taken_only_if_the_gate_lets_it_through() -> None:
    bad = Reply("", (ToolCall("a", "send_mail", {"to": "x"}),))
    made, _ = settled([], context(tool_choice="required"), bad)
    assert made.calls == []
    good = Reply("", (RIGHT,))
    made, _ = settled([], context(tool_choice="required"), good)
    assert [c.call.tool for c in made.calls] == ["get_weather"]


def test_text_that_is_no_json_object_never_goes_out_as_a_call_from_text() -> None:
    made, _ = settled([Found(ToolCall("", "get_weather", '{"city": "Par'), dialect="hermes")], context(0))
    assert made.calls == []
    assert "refused" in made.text[0]
