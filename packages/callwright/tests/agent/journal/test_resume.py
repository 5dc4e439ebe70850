"""A run that ended in the middle goes on: nothing is done or asked twice, and what is in doubt is
named.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright import Limits, Orchestrator, tool
from callwright.agent.journal.resume import (
    BEGUN,
    build_identity,
    build_specification,
    choose_resumption,
    find_journal,
    prompts_digest,
)
from callwright.agent.journal.store import SEGMENTED, Journal, list_journals, read_journal
from callwright.agent.journal.usable_prompts import usable_prompts
from callwright.agent.options import Interaction, Persistence, Safety
from callwright.agent.strategies import Given
from callwright.nouns.errors import ConfigError, JournalError, ToolError
from callwright.nouns.protocols import CALL_KEY, NOT_DONE, ChatRequest
from callwright.nouns.trace import VERSION, Event, Trace
from callwright.nouns.types import READ_LOCAL, WRITE, Effects, Message, Tool, ToolCall, ToolOutput
from callwright.testing import FakeTool, FixedPlan, ScriptedModel, fake_source, offered_tools
from callwright.tools.evidence import EvidenceStore
from callwright.tools.python.functions import FunctionSource

TEXT = {"type": "string"}
QUERY = "Book a room at the airport of Oslo for Ann, note it, and say how many people live there."
KEYED = replace(WRITE, keyed=True)


class Killed(BaseException):
    """The end of the process, as far as this process can stage it."""


LAYERS = (["find_airport"], ["book", "note", "bill"], ["population"])


class World:
    """What the tools change, and what they were asked; it outlives the processes of a run."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.keys: dict[str, str] = {}
        self.reads = 0

    def effect(self, name: str) -> Any:
        async def act(**arguments: Any) -> Any:
            for _ in range(
                self.pauses.randrange(4)
            ):  # calls that run together end in another order every time
                await asyncio.sleep(0)
            self.done.append(name)
            return {f"{name}_id": f"{name[0].upper()}7"}

        return act

    async def bill(self, **arguments: Any) -> Any:
        if CALL_KEY.get() not in self.keys:  # a service with idempotency keys
            self.keys[CALL_KEY.get()] = f"I{len(self.keys) + 1}"
            self.done.append("bill")
        return {"invoice": self.keys[CALL_KEY.get()]}

    def read(self, value: Any) -> Any:
        def look(**arguments: Any) -> Any:
            self.reads += 1
            return value

        return look

    def tools(self, seed: int = 0) -> list[FakeTool]:
        self.pauses = random.Random(seed)
        return [
            FakeTool(
                "find_airport",
                {"city": TEXT},
                output=self.read({"iata": "OSL"}),
                effects=READ_LOCAL,
            ),
            FakeTool(
                "book", {"iata": TEXT, "guest": TEXT}, output=self.effect("book"), effects=WRITE
            ),
            FakeTool(
                "note",
                {"text": {"type": "string", "maxLength": 3}},
                output=self.effect("note"),
                effects=WRITE,
            ),
            FakeTool("bill", {"guest": TEXT}, output=self.bill, effects=KEYED),
            FakeTool(
                "population", {"iata": TEXT}, output=self.read({"people": 7}), effects=READ_LOCAL
            ),
        ]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments}


def answers(request: ChatRequest) -> Any:
    """A model that answers by what it is asked, whoever asked before."""
    if request.purpose == "select":
        return {"needed": ["find_airport", "book", "note", "bill", "population"]}
    if request.purpose == "repair":
        return {"text": "OSL"}
    if request.purpose.startswith("answer"):
        return {"statements": [{"text": "7 people live at OSL.", "results": ["r5"]}], "missing": []}
    offered = offered_tools(request)
    if "find_airport" in offered:
        return {"calls": [call("find_airport", city="Oslo")]}
    if "population" in offered:
        return {"calls": [call("population", iata="OSL")]}
    return {
        "calls": [
            call("book", iata="OSL", guest="Ann"),
            call("note", text="Oslo"),
            call("bill", guest="Ann"),
        ]
    }


def orchestrator(
    tmp_path: Path, world: World, seed: int = 0, model: Any = None, **options: Any
) -> Orchestrator:
    model = model or ScriptedModel(answers)
    return Orchestrator(
        [fake_source(*world.tools(seed))],
        model=model,
        planner=FixedPlan(*LAYERS),
        **{"persistence": Persistence(journal=tmp_path), **options},
    )


def cut(path: Path, folder: Path, kept: int) -> Path:
    """The journal of the same run as it stood after so many events."""
    _, events = read_journal(path, every=True)
    with Journal.create(folder) as copy:
        for event in events[:kept]:
            copy(event)
    return copy.path.rename(folder / path.name)


def effects_before(events: Sequence[Event], world: World) -> None:
    """Put the world into the state in which these events leave it: every intended call has
    happened.
    """
    for event in events:
        if event.kind == "intent" and event.data["tool"] == "bill":
            world.keys[event.data["key"]] = "I1"
        if event.kind == "intent":
            world.done.append(event.data["tool"])


async def test_a_write_leaves_when_its_intent_and_all_results_before_it_are_on_the_disk(
    tmp_path: Path,
) -> None:
    on_disk: dict[str, list[Event]] = {}

    class Watched(World):
        def effect(self, name: str) -> Any:
            act = super().effect(name)

            async def watched(**arguments: Any) -> Any:
                [path] = list_journals(tmp_path)
                on_disk[name] = read_journal(path)[1]  # by another connection: what is committed
                return await act(**arguments)

            return watched

    await orchestrator(tmp_path, Watched()).run(QUERY)
    assert {*on_disk} == {"book", "note"}
    for name, events in on_disk.items():
        [intent] = [e.data for e in events if e.kind == "intent" and e.data["tool"] == name]
        assert intent["key"]
        assert intent["arguments"]
        assert intent["effects"]["read_only"] is False
        assert next(e.data["tool"] for e in events if e.kind == "result") == "find_airport"


async def test_a_finished_run_replays_without_asking_anybody(tmp_path: Path) -> None:
    world = World()
    first = await orchestrator(tmp_path, world).run(QUERY)
    assert sorted(world.done) == ["bill", "book", "note"]
    reads = world.reads
    again = await orchestrator(tmp_path, world, model=ScriptedModel([])).resume(first.id)
    assert (again.answer, again.results, again.skips) == (first.answer, first.results, first.skips)
    assert replace(again.cost, seconds=0) == replace(first.cost, seconds=0)
    assert (len(world.done), world.reads) == (3, reads)


async def test_a_resumed_run_stays_in_the_day_in_which_it_began(tmp_path: Path) -> None:
    """A clock that says another day changes neither the question nor what of its answer is
    assumed.
    """
    day = {"type": "string", "format": "date"}

    def opened(today: date, model: ScriptedModel) -> Orchestrator:
        rate = FakeTool(
            "rate", {"date": day, "until": day}, output={"rate": 10.1}, effects=READ_LOCAL
        )
        return Orchestrator(
            [fake_source(rate)],
            model=model,
            persistence=Persistence(journal=tmp_path),
            interaction=Interaction(today=lambda: today),
        )

    asked = {"calls": [call("rate", date="2026-11-23", until="2024-01-01")]}
    said = {"statements": [{"text": "The rate is 10.1.", "results": ["r1"]}], "missing": []}
    first = await opened(date(2026, 11, 23), ScriptedModel({"bind": asked, "answer": said})).run(
        "The rate?"
    )
    assert [one.parameter for one in first.assumed] == ["until"]
    [path] = list_journals(tmp_path)
    _, events = read_journal(path, every=True)
    assert next(e.data["today"] for e in events if e.kind == "run.start") == "2026-11-23"
    kept = next(n for n, e in enumerate(events) if e.kind == "model") + 1
    cut_short = cut(path, tmp_path, kept)
    again = await opened(date(2027, 3, 1), ScriptedModel({"answer": said})).resume(cut_short)
    assert (again.answer, again.assumed, again.status) == (first.answer, first.assumed, "partial")


async def test_a_resumed_run_keeps_the_instructions_that_it_began_with(tmp_path: Path) -> None:
    first = await orchestrator(tmp_path, World(), instructions="Be brief.").run(QUERY)
    [path] = list_journals(tmp_path)
    _, events = read_journal(path, every=True)
    cut_short = cut(path, tmp_path, next(n for n, e in enumerate(events) if e.kind == "model") + 1)
    with pytest.raises(JournalError, match=r"instructions was Be brief., is Be long."):
        await orchestrator(tmp_path, World(), instructions="Be long.").resume(cut_short)
    model = ScriptedModel(answers)
    again = await orchestrator(tmp_path, World(), model=model).resume(cut_short)
    assert again.answer == first.answer
    assert model.requests
    assert all(r.messages[0].content.endswith("\n\nBe brief.") for r in model.requests)


@settings(max_examples=25)
@given(data=st.data())
def test_wherever_a_run_ended_it_goes_on_and_no_write_is_repeated(
    data: st.DataObject, tmp_path_factory: Any
) -> None:
    """Cut at any event; calls in another order; what is in doubt is said to have happened, as it
    has.
    """
    folder = tmp_path_factory.mktemp("runs")
    whole = asyncio.run(orchestrator(folder, World(), data.draw(st.integers(0, 50))).run(QUERY))
    path = find_journal(whole.id, folder)
    _, events = read_journal(path)
    kept = data.draw(st.integers(1, len(events)))
    world = World()
    effects_before(events[:kept], world)
    part = cut(path, folder / "cut", kept)
    doubts = {
        e.data["id"]: e.data["tool"]
        for e in events[:kept]
        if e.kind == "intent" and e.data["tool"] != "bill"
    }
    for e in events[:kept]:
        if e.kind == "result":
            doubts.pop(e.data["id"], None)
    setup = orchestrator(folder / "cut", world, data.draw(st.integers(0, 50)))
    if doubts:
        with pytest.raises(JournalError, match="in doubt") as refused:
            asyncio.run(setup.resume(part))
        assert all(f"{id_} ({name}" in str(refused.value) for id_, name in doubts.items())
        with Journal.reopen(part) as journal:
            for number, (id_, name) in enumerate(doubts.items()):
                said = {"id": id_, "attempt": 1, "by": "user", "outcome": "done"}
                journal(
                    Event(
                        "resolution",
                        number,
                        0.0,
                        {**said, "content": {f"{name}_id": f"{name[0].upper()}7"}},
                    )
                )
    done = asyncio.run(setup.resume(part))
    assert done.answer == whole.answer
    assert [(r.tool, r.content) for r in done.results] == [
        (r.tool, r.content) for r in whole.results
    ]
    assert sorted(world.done) == ["bill", "book", "note"]


async def test_a_call_in_doubt_stops_the_resume_before_anything_runs(tmp_path: Path) -> None:
    whole = await orchestrator(tmp_path, World()).run(QUERY)
    path = find_journal(whole.id, tmp_path)
    intent = [e.kind for e in read_journal(path)[1]].index("intent")
    part, world = cut(path, tmp_path / "cut", intent + 1), World()
    model = ScriptedModel([])
    with pytest.raises(JournalError, match=r"in doubt: r2 \(book .*Ann") as refused:
        await orchestrator(tmp_path / "cut", world, model=model).resume(part)
    assert f"callwright resolve {part.stem}" in str(refused.value)
    assert (world.done, world.reads, model.requests) == ([], 0, [])


@pytest.mark.parametrize(("happened", "calls"), [(True, 1), (False, 2)])
async def test_a_source_that_can_be_asked_is_asked(
    tmp_path: Path, happened: bool, calls: int
) -> None:
    done: list[str] = []
    asked: list[str] = []

    def outcome(key: str, guest: str) -> Any:
        asked.append(key)
        return {"booking": f"B-{guest}"} if happened else NOT_DONE

    @tool(effects=WRITE, outcome=outcome)
    async def book(guest: str) -> dict[str, str]:
        """Book a room."""
        done.append(CALL_KEY.get())
        return {"booking": f"B-{guest}"}

    class Dying(FunctionSource):
        async def call(self, tool: Tool, arguments: dict[str, Any]) -> ToolOutput:
            await super().call(tool, arguments)
            raise Killed

    def model() -> ScriptedModel:
        said = {"statements": [{"text": "The booking is B-Ann.", "results": ["r1"]}], "missing": []}
        return ScriptedModel({"bind": [{"calls": [call("book", guest="Ann")]}], "answer": [said]})

    with pytest.raises(BaseExceptionGroup):
        await Orchestrator(
            [Dying([book])], model=model(), persistence=Persistence(journal=tmp_path)
        ).run("Book a room for Ann.")
    [path] = list_journals(tmp_path)
    run = await Orchestrator(
        [FunctionSource([book])], model=model(), persistence=Persistence(journal=tmp_path)
    ).resume(path)
    assert [r.content for r in run.results] == [{"booking": "B-Ann"}]
    assert len(done) == calls
    assert asked == done[:1], "asked with the key under which the call was made"
    assert len(set(done)) == 1, "the same key before and after"


async def test_what_a_run_depends_on_may_not_change_unnoticed(tmp_path: Path) -> None:
    first = await orchestrator(tmp_path, World()).run(QUERY)
    other = World().tools()
    other[0].tool = replace(other[0].tool, description="Another description.")
    setup = Orchestrator(
        [fake_source(*other)],
        model=ScriptedModel([]),
        planner=FixedPlan(*LAYERS),
        persistence=Persistence(journal=tmp_path),
    )
    with pytest.raises(JournalError, match="tools other: find_airport") as refused:
        await setup.resume(first.id)
    assert "--changed" in str(refused.value)
    with pytest.raises(JournalError, match="is not the one that was asked"):
        await setup.resume(first.id, changed=True)
    with pytest.raises(JournalError, match="strategy was layered, is react"):
        await orchestrator(tmp_path, World(), strategy="react").resume(first.id)


async def test_limits_conversation_and_time_go_on_where_they_were(tmp_path: Path) -> None:
    conversation = (
        Message("user", "Hello"),
        Message("assistant", "", (ToolCall("a", "book", {"iata": "OSL"}),)),
        Message("tool", "B7", tool_call_id="a"),
    )
    limits = Limits(repairs=1, seconds=100)
    first = await orchestrator(tmp_path, World(), limits=limits).run(QUERY, conversation)
    again = await orchestrator(tmp_path, World(), model=ScriptedModel([])).resume(first.id)
    start = again.events[0].data
    assert start["limits"]["repairs"] == 1
    assert abs(first.events[0].data["began"] - time.time()) < 600
    assert start["began"] is None, "the pause moved every later time away from the date"
    assert start["conversation"][1]["tool_calls"][0]["arguments"] == {"iata": "OSL"}
    told = [
        e.at for e in first.events if "turn" in e.data
    ]  # what comes after the last answer is done again
    assert again.events[-1].at >= told[-1]


async def test_a_refusal_by_the_budget_is_replayed_as_it_was(tmp_path: Path) -> None:
    first = await orchestrator(tmp_path, World(), limits=Limits(tool_calls=2)).run(QUERY)
    refused = [s.tool for s in first.skips if "limit of tool calls" in s.reason]
    assert refused
    again = await orchestrator(tmp_path, World(), seed=9, model=ScriptedModel([])).resume(first.id)
    assert [s.tool for s in again.skips if "limit of tool calls" in s.reason] == refused


def test_a_run_is_found_by_path_id_or_end_of_id(tmp_path: Path) -> None:
    with Journal.create(tmp_path) as journal:
        Trace((journal,)).add("note", text="begun")
    for name in (journal.path, journal.run, journal.run[-4:]):
        assert find_journal(name, tmp_path) == journal.path
    with pytest.raises(JournalError, match="there is no run 'zzz'"):
        find_journal("zzz", tmp_path)
    with Journal.create(tmp_path), pytest.raises(JournalError, match="2 runs are meant"):
        find_journal("20", tmp_path)


def test_only_what_can_be_written_down_is(tmp_path: Path) -> None:
    told = build_specification(
        tools=["a", tmp_path], model=ScriptedModel([]), planner="edges", only=None
    )
    assert told == {"tools": ["a", str(tmp_path)], "model": None, "planner": "edges", "only": None}


def test_prompts_have_a_digest() -> None:
    assert len(prompts_digest()) == 16


def aged(path: Path, folder: Path, kept: int | None = None) -> Path:
    """The journal as another version with other prompts would have kept it."""
    _, events = read_journal(path, every=True)
    with Journal.create(folder) as copy:
        for event in events[:kept]:
            other = {"version": "0.0.1"} if event.kind == "run.start" else {}
            copy(replace(event, data={**event.data, **other}))
    return copy.path.rename(folder / path.name)


def test_what_changed_says_how_a_run_goes_on() -> None:
    now = build_identity("1", (), "m", "react")
    same = choose_resumption(now, now, "x")
    assert (same.mode, same.message[:7]) == ("replay", "Replay:")
    assert BEGUN.message == ""
    other = choose_resumption({**now, "version": "0"}, now, "x")
    assert other.mode == "continue"
    assert other.message.startswith("Continue: version was 0, is 1, so the run goes on from its")
    forced = choose_resumption({**now, "version": "0"}, now, "x", is_changed=True)
    assert (forced.mode, forced.message[:27]) == ("replay", "Replay: version was 0, is 1")
    with pytest.raises(JournalError, match="model was n, is m"):
        choose_resumption({**now, "version": "0", "model": "n"}, now, "x")


def test_a_run_whose_strategy_is_no_more_goes_on_with_the_one_that_took_its_place() -> None:
    start = {
        "version": "1",
        "prompts": "p",
        "strategy": "layered-second-pass+reflect",
        "model": "m",
    }
    now = {**start, "strategy": "layered+reflect"}
    for is_changed in (False, True):
        how = choose_resumption(start, now, "x", is_changed=is_changed)
        assert how.mode == "continue", "its questions are not those of today"
        assert "strategy was layered-second-pass+reflect" in how.message
    with pytest.raises(JournalError, match="model was m"):
        choose_resumption(start, {**now, "model": "other"}, "x")
    with pytest.raises(JournalError, match="strategy was"):
        choose_resumption(start, {**now, "strategy": "dag"}, "x")


def test_only_the_prompts_that_a_run_can_use_are_compared() -> None:
    now = build_identity("1", (), "m", "react")
    assert {*now["prompts"]} == {*usable_prompts("react")}
    assert choose_resumption({**now, "prompts": prompts_digest()}, now, "x").mode == "replay"
    earlier = choose_resumption({**now, "prompts": "0" * 16}, now, "x")
    assert earlier.changed == (f"prompts was {'0' * 16}, is {prompts_digest()}",)
    before = {**now["prompts"], "react": "other", "gone_prompt": "there"}
    found = choose_resumption({**now, "prompts": before}, now, "x")
    assert found.changed == ("prompts gone: gone_prompt, other: react",)


async def test_a_run_that_continues_keeps_its_settings_and_asks_anew(tmp_path: Path) -> None:
    conversation, limits = (Message("user", "Hello"),), Limits(repairs=1, seconds=100)
    first = await orchestrator(tmp_path, World(), limits=limits).run(QUERY, conversation)
    path = find_journal(first.id, tmp_path)
    kept = [e.kind for e in read_journal(path)[1]].index("answer")
    part, world, model = aged(path, tmp_path / "old", kept), World(), ScriptedModel(answers)
    with EvidenceStore(tmp_path / "e.db") as store:
        persistence = Persistence(journal=tmp_path / "old", evidence=store)
        setup = orchestrator(tmp_path / "old", world, model=model, persistence=persistence)
        done = await setup.resume(part)
        shown = [store.health(fake.tool.digest).counts for fake in world.tools()]
    assert not any(shown), "what is taken from the record shows nothing new of a tool"
    start = next(e.data for e in done.events if e.kind == "run.start")
    assert (start["segment"], start["limits"]["repairs"]) == (2, 1)
    assert start["conversation"][0]["content"] == "Hello"
    assert (world.done, world.reads) == ([], 0), "nothing is sent or read again"
    assert model.requests, "the model is asked anew"
    assert [(r.tool, r.content) for r in done.results] == [
        (r.tool, r.content) for r in first.results
    ]
    assert done.status == first.status
    again = await orchestrator(tmp_path / "old", world, model=ScriptedModel([])).resume(part)
    assert (again.answer, again.results) == (done.answer, done.results), "and it is replayed"
    assert world.done == []


async def test_code_that_knows_no_segments_refuses_a_continued_journal(tmp_path: Path) -> None:
    first = await orchestrator(tmp_path, World()).run(QUERY)
    path = find_journal(first.id, tmp_path)
    assert read_journal(path)[0]["format"] == VERSION
    part = aged(path, tmp_path / "old", 3)
    await orchestrator(tmp_path / "old", World()).resume(part)
    assert read_journal(part)[0]["format"] == SEGMENTED > VERSION


async def test_a_tool_with_a_write_in_doubt_is_not_called_with_other_arguments_either(
    tmp_path: Path,
) -> None:
    """The model of the continued run writes the call in other words."""
    done: list[str] = []

    @tool(effects=WRITE)
    async def book(guest: str) -> dict[str, str]:
        """Book a room."""
        done.append(guest)
        raise TimeoutError("timed out")

    def setup(guest: str, folder: Path) -> Orchestrator:
        said = {"statements": [], "missing": ["the booking"]}
        made = {"calls": [call("book", guest=guest)]}
        model = ScriptedModel({"bind": [made, {"calls": []}], "*": said})
        return Orchestrator(
            [FunctionSource([book])], model=model, persistence=Persistence(journal=folder)
        )

    first = await setup("Ann", tmp_path).run("Book a room for Ann.")
    assert (done, first.in_doubt) == (["Ann"], ("r1",))
    path = find_journal(first.id, tmp_path)
    kept = [e.kind for e in read_journal(path)[1]].index("result") + 1
    again = await setup("Anna", tmp_path / "old").resume(aged(path, tmp_path / "old", kept))
    assert (done, again.in_doubt) == (["Ann"], ("r1",))
    assert any("whether r1 was done is not known" in skip.reason for skip in again.skips)
    assert any("r1 failed, and may have been done" in part for part in again.answer.missing)


async def test_a_call_that_repair_makes_the_same_as_a_recorded_one_is_not_sent(
    tmp_path: Path,
) -> None:
    sent: list[str] = []

    @tool(effects=WRITE)
    async def book(guest: str) -> dict[str, str]:
        """Book a room."""
        if guest == "Amn":
            raise ToolError("guest: 'Amn' is not known here; did you mean 'Ann'?")
        sent.append(guest)
        return {"booking": "B7"}

    def setup(guest: str, folder: Path) -> Orchestrator:
        said = {"statements": [{"text": "The booking is B7.", "results": ["r1"]}], "missing": []}
        made = {"calls": [call("book", guest=guest)]}
        model = ScriptedModel({"bind": made, "repair": {"guest": "Ann"}, "answer": said})
        return Orchestrator(
            [FunctionSource([book])], model=model, persistence=Persistence(journal=folder)
        )

    first = await setup("Ann", tmp_path).run("Book a room for Ann, or Amn.")
    path = find_journal(first.id, tmp_path)
    kept = [e.kind for e in read_journal(path)[1]].index("result") + 1
    again = await setup("Amn", tmp_path / "old").resume(aged(path, tmp_path / "old", kept))
    assert (sent, [r.content for r in again.results]) == (["Ann"], [{"booking": "B7"}])


async def test_a_plan_that_somebody_wrote_is_carried_out_as_it_is_recorded(tmp_path: Path) -> None:
    world = World()
    plan = '1. find_airport(city="Oslo")\n2. book(iata=$1.iata, guest="Ann")'
    said = {"*": {"statements": [], "missing": []}}
    given = orchestrator(tmp_path, world, strategy=Given(plan), model=ScriptedModel(said))
    first = await given.run(QUERY)
    path = find_journal(first.id, tmp_path)
    kept = [e.kind for e in read_journal(path)[1]].index("plan") + 1
    part = aged(path, tmp_path / "old", kept)
    by_name = orchestrator(tmp_path / "old", world, strategy="given", model=ScriptedModel(said))
    done = await by_name.resume(part)
    assert [(r.tool, r.arguments) for r in done.results] == [
        (r.tool, r.arguments) for r in first.results
    ]


@pytest.mark.parametrize("strategy", ["dag", "edges", "compiler"])
async def test_a_planner_is_told_what_was_carried_out_before(tmp_path: Path, strategy: str) -> None:
    asked: list[str] = []

    def model(request: ChatRequest) -> Any:
        asked.append(f"{request.purpose}\n{request.messages[-1].content}")
        if request.purpose == "plan":
            steps = [
                {"step": 1, "tool": "find_airport", "after": [], "arguments": {"city": "Oslo"}}
            ]
            return {"steps": steps}
        if request.purpose == "join":
            return {"thought": "", "judgement": "finish"}
        return {"statements": [], "missing": []}

    first = await orchestrator(
        tmp_path, World(), strategy=strategy, model=ScriptedModel(model)
    ).run(QUERY)
    path = find_journal(first.id, tmp_path)
    kept = [e.kind for e in read_journal(path)[1]].index("result") + 1
    part = aged(path, tmp_path / "old", kept)
    before = len(asked)
    world = World()
    await orchestrator(
        tmp_path / "old", world, strategy=strategy, model=ScriptedModel(model)
    ).resume(part)
    plans = ["Steps were carried out" in a or "Some steps were" in a for a in asked[before:]]
    assert any(plans)
    assert not any("were carried out" in a for a in asked[:before])
    assert world.reads == 0


def test_a_run_of_an_untold_outcome_stays_in_doubt() -> None:
    source = FunctionSource([tool(effects=Effects(), outcome=lambda key: 1 / 0)(_deed)])

    async def ask() -> Any:
        [made] = await source.open()
        return await source.outcome(made, {}, "k")

    assert asyncio.run(ask()) is None


def _deed() -> ToolOutput:
    """A deed."""
    return ToolOutput("done")


async def test_a_run_is_resumed_by_its_whole_id_alone(tmp_path: Path) -> None:
    whole = await orchestrator(tmp_path, World()).run(QUERY)
    setup = orchestrator(tmp_path, World())
    assert (await setup.resume(whole.id)).answer == whole.answer
    for part in ("", whole.id[:4], whole.id[-4:]):
        with pytest.raises(JournalError, match=f"there is no run '{part}'"):
            await setup.resume(part)
    for part in (whole.id[:4], whole.id[-4:]):  # as the command line does
        assert find_journal(part, tmp_path).stem == whole.id
    with pytest.raises(JournalError, match="there is no run ''"):
        find_journal("", tmp_path)


async def test_a_run_whose_request_held_a_secret_does_not_go_on_with_its_mark(
    tmp_path: Path,
) -> None:
    secret = "s3cr3t-4711"

    def opened(model: ScriptedModel) -> Orchestrator:
        kept = Persistence(journal=tmp_path, secrets=[secret])
        return orchestrator(tmp_path, World(), model=model, persistence=kept)

    whole = await opened(ScriptedModel(answers)).run(f"{QUERY} My key is {secret}.")
    [path] = list_journals(tmp_path)
    assert secret not in path.read_text(errors="replace")
    replayed = await opened(ScriptedModel([])).resume(path)
    assert replayed.answer == whole.answer, "what has ended is only read"
    _, events = read_journal(path, every=True)
    cut_short = cut(path, tmp_path, next(n for n, e in enumerate(events) if e.kind == "model"))
    with pytest.raises(JournalError, match="its request held a secret"):
        await opened(ScriptedModel(answers)).resume(cut_short)


def clearing(tmp_path: Path, safety: Safety) -> tuple[Orchestrator, FakeTool]:
    """A run that clears a list, which needs approval."""
    clear = FakeTool("clear", {"title": TEXT}, effects=Effects(read_only=False, destructive=True))
    said = {"statements": [{"text": "It is cleared.", "results": ["r1"]}], "missing": []}
    model = ScriptedModel({"bind": {"calls": [call("clear", title="milk")]}, "answer": said})
    kept = Persistence(journal=tmp_path)
    return Orchestrator([fake_source(clear)], model=model, safety=safety, persistence=kept), clear


ALLOWED = Safety(allow=["clear"])


@pytest.mark.parametrize(
    ("before", "now", "count"),
    [
        (Safety(dry_run=True), Safety(lambda _: True), 0),
        (Safety(dry_run=True), ALLOWED, 0),
        (Safety(lambda _: False), ALLOWED, 0),
        (Safety(lambda _: True), ALLOWED, 1),
        (ALLOWED, Safety(), 1),
    ],
)
async def test_what_is_allowed_by_now_sends_no_call_that_is_on_record(
    tmp_path: Path, before: Safety, now: Safety, count: int
) -> None:
    """Dry runs did what they had only planned, and approved writes were made a second time."""
    setup, first = clearing(tmp_path, before)
    run = await setup.run("Clear the list milk.")
    again, second = clearing(tmp_path, now)
    resumed = await again.resume(run.id)
    assert (resumed.status, resumed.answer) == (run.status, run.answer)
    assert (len(first.calls), len(second.calls)) == (count, 0)


async def test_a_dry_run_stays_one_wherever_it_was_stopped(tmp_path: Path) -> None:
    run = await clearing(tmp_path, Safety(dry_run=True))[0].run("Clear the list milk.")
    place = next(n for n, event in enumerate(run.events) if event.kind == "approval")
    begun = cut(find_journal(run.id, tmp_path), tmp_path / "begun", place)
    again, clear = clearing(tmp_path / "begun", ALLOWED)
    resumed = await again.resume(begun)
    assert not clear.calls
    assert [e.data["by"] for e in resumed.events if e.kind == "approval"] == ["dry run"]


@pytest.mark.parametrize("spelled", [{"amount": 5.0}, {"amount": 5, "currency": "EUR"}])
async def test_a_write_on_record_is_not_sent_again_in_another_spelling(
    tmp_path: Path, spelled: dict[str, Any]
) -> None:
    """After an upgrade the same payment was made again, for 5.0 or with its default said."""
    about = {"amount": {"type": "number"}, "currency": {**TEXT, "default": "EUR"}}

    def build(arguments: dict[str, Any], folder: Path) -> tuple[Orchestrator, FakeTool]:
        pay = FakeTool("pay", about, required=["amount"], output={"paid": True}, effects=WRITE)
        said = {"statements": [{"text": "Paid.", "results": ["r1"]}], "missing": []}
        model = ScriptedModel({"bind": {"calls": [call("pay", **arguments)]}, "answer": said})
        kept = Persistence(journal=folder)
        return Orchestrator([fake_source(pay)], model=model, persistence=kept), pay

    setup, first = build({"amount": 5}, tmp_path)
    path = find_journal((await setup.run("Pay 5 EUR.")).id, tmp_path)
    kept = [event.kind for event in read_journal(path)[1]].index("answer")
    again, second = build(spelled, tmp_path / "old")
    done = await again.resume(aged(path, tmp_path / "old", kept))
    assert (len(first.calls), second.calls) == (1, [])
    assert [(r.tool, r.content) for r in done.results] == [("pay", {"paid": True})]


@pytest.mark.parametrize("run", [None, 5])
def test_what_names_no_run_is_refused(run: Any) -> None:
    with pytest.raises(ConfigError, match=r"the run is a .*must be its id or the path") as caught:
        Orchestrator([], model=ScriptedModel([])).resume_sync(run)
    assert "run.id" in caught.value.hint
