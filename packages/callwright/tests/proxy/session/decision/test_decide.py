from __future__ import annotations

from typing import Any

from callwright.nouns.types import Reply, ToolCall
from callwright.proxy.session.context import Context, Toolsets, read_context
from callwright.proxy.session.decision.decide import decide_calls
from callwright.proxy.session.decision.decision import Decision, Found
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import body

RIGHT = ToolCall("c1", "get_weather", {"city": "Paris"})


def context(reasks: int = 1, **more: Any) -> Context:
    found = read_context(body(**more), b"x", Toolsets(), Settings(reasks=reasks))
    assert found is not None
    return found


def settled(found: list[Found], given: Context, *replies: Reply) -> tuple[Decision, int]:
    work = decide_calls(found, "", "tool_calls", given)
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


def test_text_that_is_no_json_object_never_goes_out_as_a_call_from_text() -> None:
    made, _ = settled(
        [Found(ToolCall("", "get_weather", '{"city": "Par'), dialect="hermes")], context(0)
    )
    assert made.calls == []
    assert "refused" in made.text[0]


WRITTEN = Found(RIGHT, dialect="fenced")


def weak(content: str, **more: Any) -> Context:
    """A request to an upstream that writes its calls into the text and follows a schema."""
    made = context(messages=[{"role": "user", "content": content}], **more)
    made.native, made.schema = False, True
    return made
