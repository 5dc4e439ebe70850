"""A call that leaves: its intent is on record first, and its result after."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from callwright import Orchestrator
from callwright.agent.journal.store import list_journals
from callwright.agent.options import Persistence
from callwright.nouns.errors import ModelError
from callwright.nouns.trace import MemorySink
from callwright.nouns.types import READ_LOCAL, WRITE
from callwright.testing import FakeTool, ScriptedModel, fake_source
from tests.agent.execution.test_call_runner import SHORT, TEXT, OneLayer, call, run


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


@pytest.mark.parametrize("returned", [None, "", []])
async def test_a_write_that_returns_nothing_is_told_as_done(returned: Any) -> None:
    tool = FakeTool("notify", {"to": TEXT}, output=returned, effects=WRITE)
    done = await run([tool], [call("notify", to="beta")])
    assert (done.status, done.answer.text) == ("answered", "Done.")
    assert [one.content for one in done.results] == [{"done": True}]


@pytest.mark.parametrize("error", [ModelError("dead"), ZeroDivisionError("dead")])
async def test_a_write_comes_back_before_the_model_that_died_beside_it_ends_the_run(
    error: Exception, tmp_path: Path
) -> None:
    """The question about one call ended the other in the middle, which was in doubt then."""
    said = {"statements": [{"text": "Done.", "results": ["r1"]}], "missing": []}
    calls = {"calls": [call("book", x="alpha"), call("look", x="Oslo")]}

    async def slow(**_: Any) -> str:
        await asyncio.sleep(0.05)
        return "B7"

    def build(repair: Any) -> tuple[Orchestrator, FakeTool]:
        book = FakeTool("book", {"x": TEXT}, output=slow, effects=WRITE)
        look = FakeTool("look", {"x": SHORT}, output="ok", effects=READ_LOCAL)
        model = ScriptedModel({"bind": calls, "repair": repair, "*": said})
        kept = Persistence(journal=tmp_path)
        source, planner = fake_source(book, look), OneLayer()
        return Orchestrator([source], model=model, planner=planner, persistence=kept), book

    with pytest.raises(type(error), match="dead"):
        await build(error)[0].run("Book alpha and look at Oslo.")
    again, book = build({"x": "Os"})
    done = await again.resume(list_journals(tmp_path)[0])
    assert (done.in_doubt, book.calls) == ((), [])
    assert [r.content for r in done.results if r.tool == "book"] == ["B7"]
