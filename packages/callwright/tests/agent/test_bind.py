"""One question, three forms, one meaning; whatever comes back, only whole calls are read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.bind import View, build_bind_request, layer_schema, read_reply, step_schema
from callwright.nouns.model_profile import ModelProfile, load_profiles
from callwright.nouns.protocols import ReplyMode
from callwright.nouns.types import Message, Reply, Tool, ToolCall, ToolResult

FIND = Tool(
    "find",
    "Finds.",
    {"type": "object", "properties": {"lang": {}, "q": {"type": "string"}}, "required": ["q"]},
)
DROP = Tool("drop", "Drops.", {"type": "object", "properties": {}})
VIEW = View("Find x", (FIND, DROP), (ToolResult("r1", "find", {"q": "x"}, [1]),), index=2, total=3)
TURN = View("Find x", (FIND, DROP), may_finish=True)

ENTRIES = st.one_of(
    st.builds(lambda q: {"tool": "find", "arguments": {"q": q}}, st.text(max_size=8)),
    st.just({"tool": "drop", "arguments": {}}),
)


def _reply(entries: list[dict[str, Any]]) -> dict[str, Any]:
    if not entries:
        return {"useful": ["none"], "reason": "nothing to find"}
    return {"useful": ["find"], "calls": entries}


def test_the_question_holds_the_layer_its_tools_and_earlier_results_and_what_is_constant_comes_first() -> (
    None
):
    for mode in ("schema", "native", "text"):
        request = build_bind_request(VIEW, mode, "layer")
        assert [m.role for m in request.messages] == ["system", "user"]
        body = request.messages[-1].content
        assert "[Step 2/3] Tools allowed this step: find, drop" in body
        assert body.index("Find x") < body.index("r1: find(") < body.index("[Step 2/3]")
        assert (request.schema is not None) == (mode == "schema")
        assert bool(request.tools) == (mode == "native")


def test_the_conversation_before_the_request_is_shown() -> None:
    view = View(
        "And Lisbon?",
        (FIND,),
        conversation=(Message("user", "Where is Oslo?"), Message("assistant", "North.")),
    )
    assert [m.content for m in build_bind_request(view, "schema", "layer").messages[1:3]] == [
        "Where is Oslo?",
        "North.",
    ]


@given(st.lists(ENTRIES, max_size=4))
def test_the_decoding_schema_admits_every_choice_of_calls_and_refusals(
    entries: list[dict[str, Any]],
) -> None:
    assert jsonschema_rs.is_valid(layer_schema((FIND, DROP)), _reply(entries))


@pytest.mark.parametrize(
    "reply",
    [
        {"calls": [{"tool": "other", "arguments": {}}]},
        {"calls": [{"tool": "find", "arguments": {}}]},
        {"calls": [{"tool": "find", "arguments": {"q": "x", "made_up": 1}}]},
    ],
)
def test_the_decoding_schema_admits_no_other_tool_no_missing_and_no_invented_argument(
    reply: dict[str, Any],
) -> None:
    assert not jsonschema_rs.is_valid(layer_schema((FIND, DROP)), {"useful": ["find"], **reply})


def test_required_arguments_are_asked_for_first() -> None:
    entry = layer_schema((FIND,))["anyOf"][0]["properties"]["calls"]["items"]["anyOf"][0]
    assert list(entry["properties"]["arguments"]["properties"]) == ["q", "lang"]


def test_a_turn_is_one_call_or_the_finish() -> None:
    schema = step_schema((FIND,))
    assert jsonschema_rs.is_valid(
        schema, {"thought": "", "action": {"tool": "find", "arguments": {"q": "x"}}}
    )
    assert jsonschema_rs.is_valid(
        schema, {"thought": "", "action": {"tool": "finish", "reason": ""}}
    )
    assert not jsonschema_rs.is_valid(
        schema, {"thought": "", "action": {"tool": "drop", "arguments": {}}}
    )


@given(st.lists(ENTRIES, max_size=5))
def test_every_tool_in_view_is_called_or_skipped_with_a_reason(
    entries: list[dict[str, Any]],
) -> None:
    bound = read_reply(VIEW, "schema", Reply(json.dumps(_reply(entries))))
    assert {c.tool for c in bound.calls} | {s.tool for s in bound.skips} == {"find", "drop"}
    assert len(bound.calls) == len(entries)


@given(st.integers(0, 200))
def test_a_reply_cut_off_anywhere_never_yields_a_half_call(keep: int) -> None:
    whole = [
        {"tool": "find", "arguments": {"q": "first value"}},
        {"tool": "find", "arguments": {"q": "second value"}},
    ]
    text = json.dumps(_reply(whole))
    bound = read_reply(VIEW, "schema", Reply(text[:keep]))
    assert all({"tool": c.tool, "arguments": c.arguments} in whole for c in bound.calls)


@given(st.text(max_size=60))
def test_no_reply_is_an_exception(text: str) -> None:
    for mode in ("schema", "text", "native"):
        for view in (VIEW, TURN):
            read_reply(view, mode, Reply(text))


def test_text_and_native_replies_are_read_alike() -> None:
    text = 'Action: find\nAction Input: {"q": "x"}'
    assert read_reply(VIEW, "text", Reply(text)).calls[0].arguments == {"q": "x"}
    native = Reply("", (ToolCall("c", "find", {"q": "x"}),))
    assert read_reply(VIEW, "native", native).calls[0].arguments == {"q": "x"}


def test_in_text_too_the_tools_called_useful_and_never_called_are_wanted() -> None:
    text = 'Useful: find, drop\nAction: find\nAction Input: {"q": "x"}'
    bound = read_reply(VIEW, "text", Reply(text))
    assert [c.tool for c in bound.calls] == ["find"]
    assert bound.wanted == ("drop",)
    assert [s.tool for s in bound.skips] == ["drop"]
    assert read_reply(VIEW, "text", Reply("Useful: drop")).wanted == ("drop",)
    nothing = read_reply(VIEW, "text", Reply("Useful: none\nThe request asks for neither."))
    assert (nothing.calls, nothing.wanted) == ((), ())
    assert {s.tool for s in nothing.skips} == {"find", "drop"}
    assert read_reply(TURN, "text", Reply("Useful: find")).finished, "a turn asks for no such line"


def test_a_declined_layer_says_why() -> None:
    bound = read_reply(VIEW, "text", Reply("No call: nothing to find"))
    assert bound.calls == ()
    assert {s.tool for s in bound.skips} == {"find", "drop"}


def test_a_turn_without_a_call_ends_the_run() -> None:
    assert read_reply(
        TURN, "schema", Reply('{"thought": "", "action": {"tool": "finish", "reason": "done"}}')
    ).finished
    assert read_reply(TURN, "text", Reply("I am done.")).finished


@pytest.mark.parametrize(
    ("mode", "reply"),
    [
        (
            "schema",
            Reply('{"thought": "x is open", "action": {"tool": "find", "arguments": {"q": "x"}}}'),
        ),
        ("text", Reply('Thought: x is open\nAction: find\nAction Input: {"q": "x"}')),
        ("native", Reply("x is open", (ToolCall("c1", "find", {"q": "x"}),))),
    ],
)
def test_the_thought_before_a_call_is_read_in_every_form(mode: ReplyMode, reply: Reply) -> None:
    bound = read_reply(TURN, mode, reply)
    assert [call.tool for call in bound.calls] == ["find"]
    assert bound.thought == "x is open"


SEARCH = View(
    "Find x",
    (FIND, DROP),
    may_finish=True,
    may_give_up=True,
    tried=('find({"q":"y"}): failed: 404',),
)


@pytest.mark.parametrize("mode", ["schema", "native", "text"])
def test_whoever_may_go_back_is_told_how_and_what_was_tried_here(mode: ReplyMode) -> None:
    request = build_bind_request(SEARCH, mode, "dfsdt")
    assert [m.role for m in request.messages] == [
        "system",
        "user",
    ], "two turns of a user in a row are refused by some"
    body = request.messages[-1].content
    assert '- find({"q":"y"}): failed: 404' in body
    assert "give" in body.lower()
    assert (
        "must differ"
        not in build_bind_request(View("Find x", (FIND,), may_finish=True), mode, "dfsdt")
        .messages[-1]
        .content
    )


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        (
            "schema",
            '{"thought": "no", "action": {"tool": "give_up_and_restart", "reason": "dead end"}}',
        ),
        ("text", 'Action: Finish\nAction Input: {"return_type": "give_up_and_restart"}'),
        ("text", "I give up and restart."),
        ("native", "Give up: the service is down"),
    ],
)
def test_giving_up_is_read_where_it_may_be_said(mode: ReplyMode, text: str) -> None:
    assert read_reply(SEARCH, mode, Reply(text)).given_up
    assert not read_reply(SEARCH, mode, Reply(text)).finished
    if mode != "schema":
        assert read_reply(TURN, mode, Reply(text)).finished, "a loop that cannot go back ends"


def test_only_a_search_can_decode_giving_up() -> None:
    reply = {"thought": "", "action": {"tool": "give_up_and_restart", "reason": ""}}
    assert jsonschema_rs.validator_for(step_schema(SEARCH.tools, may_give_up=True)).is_valid(reply)
    assert not jsonschema_rs.validator_for(step_schema(TURN.tools)).is_valid(reply)


@pytest.mark.parametrize("prompt", ["first", "layer"])
@pytest.mark.parametrize("profile", load_profiles().values(), ids=lambda p: p.name)
def test_a_layer_may_make_as_many_calls_as_the_profile_says(
    profile: ModelProfile, prompt: str
) -> None:
    request = build_bind_request(replace(VIEW, profile=profile), "schema", prompt)
    assert request.schema is not None
    calls = request.schema["anyOf"][0]["properties"]["calls"]
    assert calls["maxItems"] == max(profile.layer_calls, 2 * len(VIEW.tools))
    assert request.max_tokens == profile.reply_tokens
