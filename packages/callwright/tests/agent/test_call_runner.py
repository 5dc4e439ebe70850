"""One call on its way: what it changes for the run does not depend on how fast others are."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from callwright import Limits, Orchestrator, Run
from callwright.agent.call_runner import _find_legacy_repeat
from callwright.agent.options import Persistence
from callwright.nouns.plan import Plan
from callwright.nouns.trace import MemorySink
from callwright.nouns.types import READ_LOCAL, WRITE
from callwright.testing import FakeTool, ScriptedModel, fake_source

TEXT = {"type": "string"}
SHORT = {"type": "string", "maxLength": 2}


class OneLayer:
    name = "fixed"

    def plan(self, query: str, tools: Any) -> Plan:
        return Plan.from_layers([[t.name for t in tools]])


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments}


async def run(tools: list[FakeTool], calls: list[dict[str, Any]], **options: Any) -> Run:
    said = {"statements": [{"text": "Done.", "results": []}], "missing": []}
    model = ScriptedModel({"bind": [{"calls": calls}], "repair": {"x": "not mended"}, "*": said})
    setup = Orchestrator([fake_source(*tools)], model=model, planner=OneLayer(), **options)
    return await setup.run("Write alpha and beta and gamma.")


async def test_what_is_left_out_is_listed_in_call_order_whoever_is_refused_first() -> None:
    slow = asyncio.Event()

    async def wait(**arguments: Any) -> str:
        await slow.wait()
        return "late"

    def fast(**arguments: Any) -> str:
        slow.set()
        return "early"

    tools = [
        FakeTool("first", {"x": TEXT}, output=wait, effects=READ_LOCAL),
        FakeTool("second", {"x": TEXT}, output=fast, effects=READ_LOCAL),
    ]
    done = await run(tools, [call("first", x="alpha"), call("second", x="beta")])
    assert [r.content for r in done.results] == ["late", "early"]


async def test_a_write_is_intended_before_it_leaves_and_a_read_is_not() -> None:
    sink = MemorySink()
    seen: list[list[str]] = []

    def note(**arguments: Any) -> str:
        seen.append([e.kind for e in sink.events])
        return "ok"

    tools = [
        FakeTool("write", {"x": TEXT}, output=note, effects=WRITE),
        FakeTool("look", {"x": TEXT}, output="ok"),
    ]
    await run(
        tools,
        [call("write", x="alpha"), call("look", x="beta")],
        persistence=Persistence(sinks=[sink]),
    )
    assert "intent" in seen[0]
    [intent] = [e.data for e in sink.events if e.kind == "intent"]
    assert (intent["tool"], intent["arguments"], intent["attempt"]) == ("write", {"x": "alpha"}, 1)


async def test_a_call_that_cannot_be_mended_is_left_out() -> None:
    tools = [FakeTool("tag", {"x": SHORT}, output="ok", effects=READ_LOCAL)]
    done = await run(tools, [call("tag", x="alpha")], limits=Limits(repairs=5))
    assert [s.tool for s in done.skips if s.refused] == ["tag"]


@pytest.mark.parametrize(
    ("told", "same"),
    [
        ({"reason": "the same call was already made as r1"}, "r1"),
        ({"reason": "the same call was already made as r1", "same": "r1"}, ""),
        ({"reason": "not needed for r1"}, ""),
    ],
)
def test_a_journal_that_says_a_repeat_in_words_only_still_says_it(
    told: dict[str, Any], same: str
) -> None:
    assert _find_legacy_repeat(told) == same
