"""Calls that a model only considers in its thoughts: not sent, and no end of its reply."""

from __future__ import annotations

import json

import pytest

from callwright import Interaction, Orchestrator, Safety, refine
from callwright.nouns.types import READ, WRITE, Reply, Tool
from callwright.repair.considered_calls import (
    cut_reply,
    parse_decided_calls,
    set_thoughts_apart,
    watch_reply,
)
from callwright.testing import FakeTool, ScriptedModel, fake_source

TO = {"properties": {"to": {"type": "string"}}, "required": ["to"]}
TOOLS = [Tool("send", "", TO, effects=WRITE), Tool("look", "", TO, effects=READ)]


def write(tool: str) -> str:
    call = json.dumps({"name": tool, "arguments": {"to": "ann"}})
    return f"<tool_call>{call}</tool_call>"


GUIDED = '{"calls": [{"name": "send", "arguments": {"to": "ann"}}]} but nobody asked for that.'
DRAFT = f"I could call {write('send')} but nobody asked for that."


@pytest.mark.parametrize("calls", [1, None])
@pytest.mark.parametrize(
    ("text", "made"),
    [
        (f"<think>{DRAFT}</think>No call: nothing to do", []),
        (f"[THINK]{DRAFT}[/THINK]{write('look')}", ["look"]),
        (f"{DRAFT}</think>{write('look')}", ["look"]),  # the template began the thoughts
        (f"<think>{DRAFT}</think>{write('send')}", ["send"]),
        (f"<think>{DRAFT}", []),
        (f"<think>So I call {write('send')}\n</think>", ["send"]),
        (f"<think>I begin with {write('look')} and then I see.", ["look"]),
        ("<think>User: writes this.</think>" + write("look"), ["look"]),
    ],
)
def test_only_what_is_decided_is_called(text: str, calls: int | None, made: list[str]) -> None:
    kept = cut_reply(text, calls)
    assert [call.tool for call in parse_decided_calls(kept.text, TOOLS).calls] == made
    assert kept.text + kept.discarded == text


def test_thoughts_behind_a_complete_answer_are_no_part_of_it() -> None:
    kept = cut_reply(f"{write('send')} <think>{DRAFT}</think>{write('look')}", 1)
    assert kept.text == write("send")


def read_in_pieces(text: str, calls: int | None = 1) -> str:
    """What of a reply has come when its watcher ends it."""
    watch = watch_reply(calls)
    for end in range(1, len(text) + 1):
        if watch(text[end - 1]):
            return text[:end]
    return text


def test_a_reply_that_is_watched_ends_behind_its_thoughts() -> None:
    thoughts = f"<think>{DRAFT}</think>\n"
    whole = thoughts + write("look") + "\nIt is done."
    assert read_in_pieces(whole) == thoughts + write("look")
    assert read_in_pieces(f"<think>{DRAFT}") == f"<think>{DRAFT}"
    assert read_in_pieces(write("look") + " and so on") == write("look")
    assert len(read_in_pieces(f"<think>{DRAFT}\n" + "I think again.\n" * 50)) < 300


def test_thoughts_are_set_apart_where_a_reply_says_more() -> None:
    reply = Reply(f"<thinking>{DRAFT}</thinking>\nIt is done.", reasoning="First.")
    said = set_thoughts_apart(reply)
    assert (said.text, said.reasoning) == ("It is done.", f"First.\n<thinking>{DRAFT}</thinking>")
    for text in ("It is done.", f"<thinking>{DRAFT}"):
        assert set_thoughts_apart(Reply(text)) == Reply(text)


@pytest.mark.parametrize("strategy", ["layered", "react", "guided", "dfsdt", "dag"])
@pytest.mark.parametrize("draft", [DRAFT, GUIDED])
async def test_a_write_that_was_only_considered_is_not_sent(draft: str, strategy: str) -> None:
    send = FakeTool("send", {"to": {"type": "string"}}, output="sent", effects=WRITE)
    script = {"*": f"<thinking>{draft}</thinking>\nNo call: nothing to do."}
    done = await Orchestrator(
        [fake_source(send)],
        model=ScriptedModel(script),
        strategy=strategy,
        safety=Safety(allow=["*"]),
        interaction=Interaction(mode="text"),
    ).run("Tell ann nothing.")
    assert (send.calls, done.results) == ([], ())


@pytest.mark.parametrize(
    ("text", "made"), [(f"<think>{DRAFT}", []), (f"<think>So: {write('send')}", ["send"])]
)
def test_a_call_that_was_only_considered_is_none_of_a_refined_reply(
    text: str, made: list[str]
) -> None:
    assert [call.tool for call in refine(text, TOOLS).calls] == made


async def test_arguments_that_a_repair_only_considers_are_not_taken() -> None:
    tally = FakeTool("tally", {"count": {"type": "integer"}}, output=5, effects=WRITE)
    script = {
        "bind": {"calls": [{"tool": "tally", "arguments": {"count": {"bad": 1}}}]},
        "repair": '<thinking>Maybe {"count": 4}, but he said so.</thinking>\n{"count": 5}',
        "*": "It is done.",
    }
    await Orchestrator([fake_source(tally)], model=ScriptedModel(script)).run("Tally 5, not 4.")
    assert tally.calls == [{"count": 5}]
