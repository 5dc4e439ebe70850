"""The model rung with a scripted model: what is asked, and what becomes of the answer."""

from __future__ import annotations

import asyncio

from callwright.protocols import ChatModel
from callwright.refine.model import Asking, ask, changes
from callwright.refine.result import Refinement
from callwright.testing import ScriptedModel
from callwright.types import READ, Reply, Tool, ToolCall

WEATHER = Tool(
    "get_weather",
    "Weather of a city.",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["c", "f"]}},
        "required": ["city"],
    },
    effects=READ,
)
TIME = Tool(
    "get_time", "", {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}, effects=READ
)
SEND = Tool("send_mail", "", {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]})
TOOLS = [WEATHER, TIME, SEND]
QUERY = "How is the weather in Oslo for 3 days, and what time is it there? Mail it to ann@example.org."
WRONG = ToolCall("call_1", "weather", {"town": "Oslo"})
RIGHT = ToolCall("call_2", "get_time", {"city": "Oslo"})


def answered(asking: Asking, model: ChatModel) -> Refinement:
    """Drive the question as an executor does."""

    async def drive() -> Refinement:
        try:
            request = next(asking)
            while True:
                request = asking.send(await model.complete(request))
        except StopIteration as done:
            value: Refinement = done.value
            return value

    return asyncio.run(drive())


def refined(reply: object, calls: list[ToolCall], text: str = "") -> Refinement:
    model = ScriptedModel([reply])  # type: ignore[list-item]
    return answered(ask(text, calls, TOOLS, QUERY, "They want the weather.", system="Be brief."), model)


def xlam(*calls: str) -> str:
    return f"<func_call>[{', '.join(calls)}]</func_call>"


OSLO = '{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3, "unit": "c"}}'
CLOCK = '{"name": "get_time", "arguments": {"city": "Oslo"}}'
MAIL = '{"name": "send_mail", "arguments": {"to": "ann@example.org"}}'


def test_the_question_holds_system_prompt_tools_query_and_the_upstreams_thoughts() -> None:
    model = ScriptedModel([xlam(OSLO, CLOCK)])
    answered(ask("raw reply", [WRONG], TOOLS, QUERY, "They want the weather.", system="Be brief."), model)
    (request,) = model.requests
    said = request.messages[1].content
    assert request.purpose == "refine"
    assert request.messages[0].content.startswith(
        "Your role is a highly professional tool-calling instruction corrector"
    )
    assert all(part in said for part in ("Be brief.", '"get_weather"', QUERY, "They want the weather.", "raw reply"))


def test_a_better_answer_is_taken_and_every_change_is_listed() -> None:
    done = refined(xlam(OSLO, CLOCK), [WRONG, RIGHT])
    assert [(c.id, c.tool) for c in done.calls] == [("call_1", "get_weather"), ("call_2", "get_time")]
    assert done.calls[1] is RIGHT
    assert {e.rule for e in done.edits} == {"model"}
    assert done.confidence < 0.9


def test_an_answer_that_changes_nothing_leaves_the_same_calls() -> None:
    calls = [RIGHT]
    done = refined(xlam(CLOCK), calls)
    assert (done.calls, done.edits) == ((RIGHT,), ())


def kept(done: Refinement, *calls: ToolCall) -> str:
    assert done.calls == calls
    assert done.edits == ()
    return " ".join(a.reason for a in done.abstained)


def test_a_call_that_was_right_may_neither_go_nor_change() -> None:
    assert "was right" in kept(refined(xlam(OSLO), [WRONG, RIGHT]), WRONG, RIGHT)
    other = '{"name": "get_time", "arguments": {"city": "there"}}'
    assert "was right" in kept(refined(xlam(OSLO, other), [WRONG, RIGHT]), WRONG, RIGHT)


def test_an_invented_value_is_not_taken() -> None:
    invented = '{"name": "get_weather", "arguments": {"city": "Bergen"}}'
    assert "comes from nowhere" in kept(refined(xlam(invented), [WRONG]), WRONG)


def test_a_writing_call_the_upstream_did_not_make_is_not_taken() -> None:
    assert "may change something" in kept(refined(xlam(OSLO, MAIL), [WRONG]), WRONG)


def test_a_garbled_writing_call_may_be_made_right_but_not_finished() -> None:
    garbled = "send_mail(to: ann@example.org)"
    assert [c.tool for c in refined(xlam(MAIL), [], garbled).calls] == ["send_mail"]
    cut = '{"name": "send_mail", "arguments": {"to": "ann@exam'
    assert "may change something" in kept(refined(xlam(MAIL), [], cut))
    part = ToolCall("call_1", "send_mail", '{"to": "ann@exam')
    assert "stops in the middle" in kept(refined(xlam(MAIL), [part]), part)


def test_an_answer_the_gate_refuses_is_not_taken() -> None:
    assert kept(refined(xlam('{"name": "get_weather", "arguments": {"days": 3}}'), [WRONG]), WRONG)
    assert kept(refined(xlam('{"name": "no_such_tool", "arguments": {}}'), [WRONG]), WRONG)


def test_an_answer_without_calls_or_cut_off_leaves_the_calls() -> None:
    assert "no calls" in kept(refined("All is well.", [WRONG]), WRONG)
    assert "no calls" in kept(refined("<func_call>[]</func_call>", [WRONG]), WRONG)
    long = Reply(xlam(OSLO), finish_reason="length")
    assert "stops in the middle" in kept(refined(long, [WRONG]), WRONG)


def test_a_native_call_of_the_model_counts() -> None:
    done = refined(ToolCall("x", "get_weather", {"city": "Oslo"}), [WRONG])
    assert [(c.id, c.tool) for c in done.calls] == [("call_1", "get_weather")]


def test_chained_calls_are_asked_for_with_labels_and_sorted() -> None:
    city = Tool(
        "find_city",
        "",
        {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        {"type": "object", "properties": {"city": {"type": "string"}}},
        READ,
    )
    calls = [ToolCall("var2", "get_time", {"city": "$var1.town$"}), ToolCall("var1", "find_city", {"title": "Oslo"})]
    good = (
        '{"name": "get_time", "arguments": {"city": "$var1.city$"}, "label": "var2"}',
        '{"name": "find_city", "arguments": {"name": "Oslo"}, "label": "var1"}',
    )
    model = ScriptedModel([xlam(*good)])
    done = answered(ask("", calls, [*TOOLS, city], QUERY), model)
    assert '"label"' in model.requests[0].messages[1].content
    assert [(c.id, c.tool) for c in done.calls] == [("var1", "find_city"), ("var2", "get_time")]


def test_changes_lead_from_one_list_to_the_other() -> None:
    before = [ToolCall("1", "a", {"x": 1}), ToolCall("2", "b", {})]
    after = [ToolCall("1", "b", {}), ToolCall("2", "a", {"x": 2, "y~/": 0}), ToolCall("3", "c", {})]
    found = [(e.path, e.before, e.after) for e in changes(before, after)]
    assert found[:2] == [("/0/arguments/x", 1, 2), ("/0/arguments/y~0~1", None, 0)]
    assert found[2][:2] == ("/2", None)
    assert found[3] == ("", [0, 1], [1, 0])
    assert changes(before, before) == ()
