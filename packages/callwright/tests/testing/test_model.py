from __future__ import annotations

import pytest

from callwright.agent.bind import View, build_bind_request
from callwright.nouns.errors import ModelError
from callwright.nouns.protocols import Capabilities, ChatModel, ChatRequest
from callwright.nouns.types import Message, Reply, Tool, ToolCall, Usage
from callwright.testing import ScriptedModel, offered_tools


def ask(purpose: str = "", text: str = "hello there", **more: object) -> ChatRequest:
    return ChatRequest((Message("user", text),), purpose, **more)  # type: ignore[arg-type]


async def test_listed_answers_come_in_order_and_requests_are_recorded() -> None:
    model: ChatModel = ScriptedModel(["one", {"n": 2}])
    assert [(await model.complete(ask(p))).text for p in ("a", "b")] == ["one", '{"n": 2}']
    assert isinstance(model, ScriptedModel)
    assert [r.purpose for r in model.requests] == ["a", "b"]
    assert model.exhausted


async def test_a_question_past_the_end_of_the_script_is_an_error_that_names_the_purpose() -> None:
    model = ScriptedModel(["only"])
    await model.complete(ask())
    with pytest.raises(ModelError, match=r"question 2.*'repair'"):
        await model.complete(ask("repair"))


async def test_answers_by_purpose_repeat_unless_listed() -> None:
    model = ScriptedModel({"answer": "same", "bind": ["first", "second"], "*": "rest"})
    asked = ["bind", "answer", "bind", "answer", "other"]
    assert [(await model.complete(ask(p))).text for p in asked] == [
        "first",
        "same",
        "second",
        "same",
        "rest",
    ]
    with pytest.raises(ModelError):
        await model.complete(ask("bind"))


async def test_a_function_answers_from_the_request_plain_or_async() -> None:
    async def later(request: ChatRequest) -> str:
        return request.messages[-1].content.upper()

    assert (await ScriptedModel(lambda r: r.purpose).complete(ask("x"))).text == "x"
    assert (await ScriptedModel(later).complete(ask())).text == "HELLO THERE"


async def test_a_scripted_exception_is_raised() -> None:
    with pytest.raises(ModelError, match="down"):
        await ScriptedModel([ModelError("down")]).complete(ask())


async def test_watch_sees_the_text_in_pieces_and_ends_it() -> None:
    seen: list[str] = []

    def watch(piece: str) -> bool:
        seen.append(piece)
        return "".join(seen).endswith("}")

    reply = await ScriptedModel(['{"a":1}Human: more'], piece=1).complete(ask(), watch)
    assert (reply.text, reply.finish_reason) == ('{"a":1}', "cut")
    assert len(seen) == 7


async def test_stop_sequences_end_the_reply_before_them() -> None:
    reply = await ScriptedModel(["yes\nHuman: no"]).complete(ask(stop=("Bot:", "\nHuman:")))
    assert (reply.text, reply.finish_reason) == ("yes", "stop")


async def test_native_calls_and_own_usage_pass_through() -> None:
    call = ToolCall("1", "t", {"a": 1})
    model = ScriptedModel(
        [call, Reply("x", usage=Usage(5, 7))], capabilities=Capabilities(native_tools=True)
    )
    assert (await model.capabilities()).mode == "native"
    assert (await model.complete(ask())).tool_calls == (call,)
    assert (await model.complete(ask())).usage == Usage(5, 7)


def test_the_tools_that_a_question_allows_are_read_from_its_schema_or_its_list() -> None:
    named = {"type": "object", "properties": {"tool": {"type": "string"}}, "required": ["tool"]}
    view = View("q", (Tool("find", "Finds.", named), Tool("drop", "Drops.")))
    for mode in ("schema", "native"):
        assert offered_tools(build_bind_request(view, mode, "layer")) == ("find", "drop")
    first = build_bind_request(view, "schema", "first", callable=("drop",))
    assert offered_tools(first) == ("drop",)
    assert offered_tools(build_bind_request(view, "text", "layer")) == ()
    assert offered_tools(ask()) == ()
