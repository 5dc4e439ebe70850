"""A plan as a stream: what a step sees, what is done for one that fails, and what of all that a run
keeps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.bind import Bound
from callwright.agent.execution.executor import Executor
from callwright.agent.execution.stream import Late, Stream
from callwright.agent.questions import LimitReached, Questions
from callwright.agent.state import Asked
from callwright.nouns.errors import ModelError
from callwright.nouns.limits import Budget, Limits
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.trace import Trace
from callwright.nouns.types import READ, WRITE, Skip, ToolCall, ToolResult
from callwright.repair.gate import Gate
from callwright.testing import FakeTool, ScriptedModel, fake_source, in_order

TEXT = {"type": "string"}


def executor(
    *tools: FakeTool, query: str = "", limits: Limits | None = None, model: Any = None
) -> Executor:
    source = fake_source(*tools)
    budget, trace = Budget(limits or Limits()), Trace()

    async def caller(name: str, arguments: Any) -> Any:
        return await source.call(source[name].tool, arguments)

    questions = Questions(model or ScriptedModel({"repair": "{}"}), "schema", budget, trace)
    gate = Gate([tool.tool for tool in tools])
    return Executor(
        caller=caller,
        gate=gate,
        asked=Asked(query),
        questions=questions,
        budget=budget,
        trace=trace,
    )


async def streamed(made: Executor, *slots: Slot, late: Late | None = None) -> Stream:
    async with made.stream(late=late) as stream:
        stream.add(*slots)
    return stream


def slot(id_: str, *after: str, tool: str = "", **arguments: Any) -> Slot:
    return Slot(id_, tool or id_, frozenset(after), arguments=arguments)


def looks(name: str, output: Any = None, **more: Any) -> FakeTool:
    return FakeTool(
        name,
        {"x": TEXT},
        output={"v": f"of {name}"} if output is None else output,
        **{"effects": READ, **more},
    )


async def test_a_step_takes_what_its_references_name_the_moment_it_is_there() -> None:
    hold = asyncio.Event()
    slow, first, second = looks("slow", hold=hold), looks("first"), looks("second")
    made = executor(slow, first, second, query="a")

    async def watch() -> None:
        await second.begun()
        hold.set()  # the slow one ends only when the chain beside it has got to its end

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(watch())
        await streamed(
            made, slot("slow", x="a"), slot("first", x="a"), slot("second", "first", x="${first.v}")
        )
    assert second.calls == [{"x": "of first"}]
    assert [(r.id, r.slot) for r in made.results] == [
        ("r1", "slow"),
        ("r2", "first"),
        ("r3", "second"),
    ]


async def test_a_failure_stops_what_is_downstream_and_nothing_else() -> None:
    bad, behind, beside = looks("bad", output=in_order()), looks("behind"), looks("beside")
    made = executor(bad, behind, beside, query="a", limits=Limits(repairs=0))
    stream = await streamed(
        made, slot("bad", x="a"), slot("behind", "bad", x="${bad.v}"), slot("beside", x="a")
    )
    assert (stream.schedule.failed, stream.blocked) == ({"bad"}, {"behind": "bad"})
    assert behind.calls == []
    assert beside.calls == [{"x": "a"}]
    assert [(s.tool, s.refused) for s in made.missing] == [("behind", True)]


async def test_a_tool_that_gives_the_same_stands_in_and_what_is_downstream_goes_on() -> None:
    about = "Temperature in a city now."
    old = FakeTool(
        "get_weather", {"city": TEXT}, description=about, output=in_order(), effects=READ
    )
    new = FakeTool(
        "weather_get", {"city": TEXT}, description=about, output={"celsius": 4}, effects=READ
    )
    note = looks("note")
    made = executor(old, new, note, query="Oslo")
    stream = await streamed(
        made,
        slot("get_weather", city="Oslo"),
        slot("note", "get_weather", x="It is ${get_weather.celsius}"),
    )
    assert stream.schedule.done == {"get_weather", "note"}
    assert note.calls == [{"x": "It is 4"}]
    assert [r.tool for r in made.results] == ["weather_get", "note"], "the failed call is made good"
    assert made.repairs["recovery"] == 1


async def test_arguments_that_the_plan_leaves_open_are_asked_for_with_what_is_upstream_in_view() -> (
    None
):
    asked: list[tuple[str, list[str], str, str]] = []

    async def late(slot: Slot, results: Sequence[ToolResult], actor: str, why: str) -> Bound:
        asked.append((slot.id, [r.slot for r in results], actor, why))
        return Bound((ToolCall("", slot.tool, {"x": str(results[-1].content["v"])}),))

    first, beside, last = looks("first"), looks("beside"), looks("last")
    made = executor(first, beside, last, query="a")
    opened = Slot("last", "last", frozenset({"first"}))
    await streamed(made, slot("first", x="a"), slot("beside", x="a"), opened, late=late)
    assert [(slot, seen, actor) for slot, seen, actor, _ in asked] == [("last", ["first"], "r3")]
    assert last.calls == [{"x": "of first"}]


async def test_a_reference_to_nothing_is_asked_for_and_without_anybody_to_ask_is_said() -> None:
    async def late(slot: Slot, results: Sequence[ToolResult], actor: str, why: str) -> Bound:
        assert "${first.w}" in why
        return Bound((ToolCall("", "last", {"x": "of first"}),))

    first, last = looks("first", output={"v": "of first", "u": "b"}), looks("last")
    steps = [slot("first", x="a"), slot("last", "first", x="${first.w}")]
    await streamed(executor(first, last, query="a"), *steps, late=late)
    assert last.calls == [{"x": "of first"}]
    made = executor(first, looks("last"), query="a")
    stream = await streamed(made, *steps)
    assert stream.schedule.failed == {"last"}
    assert "${first.w}" in made.skips[-1].reason


async def test_a_tool_that_the_model_sees_no_use_for_is_no_failure() -> None:
    async def late(slot: Slot, results: Sequence[ToolResult], actor: str, why: str) -> Bound:
        return Bound(skips=(Skip(slot.tool, "not needed"),))

    made = executor(looks("first"), looks("last"), query="a")
    stream = await streamed(made, Slot("first", "first"), slot("last", "first", x="a"), late=late)
    assert stream.schedule.done == {"first", "last"}
    assert made.skips == (Skip("first", "not needed", "first"),)


async def test_the_same_call_in_two_steps_is_made_once_and_serves_both() -> None:
    hold = asyncio.Event()
    look, note = looks("look", hold=hold), looks("note")
    made = executor(look, note, query="a")

    async def let_go() -> None:
        await look.begun()
        hold.set()

    steps = [slot("one", tool="look", x="a"), slot("two", tool="look", x="a")]
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(let_go())
        await streamed(made, *steps, slot("note", "two", x="${two.v}"))
    assert look.calls == [{"x": "a"}]
    assert note.calls == [{"x": "of look"}]


async def test_a_number_from_nowhere_is_asked_for_again_and_never_written() -> None:
    async def late(slot: Slot, results: Sequence[ToolResult], actor: str, why: str) -> Bound:
        return Bound((ToolCall("", "book", {"room": 4711}),))

    book = FakeTool("book", {"room": {"type": "integer"}}, effects=WRITE, output={"ok": True})
    made = executor(book, query="Book a room.")
    stream = await streamed(made, slot("book", room=4242), late=late)
    assert book.calls == []
    assert stream.schedule.failed == {"book"}


async def test_a_limit_is_told_when_all_has_come() -> None:
    async def late(slot: Slot, results: Sequence[ToolResult], actor: str, why: str) -> Bound:
        raise LimitReached("model_calls")

    made = executor(looks("first"), looks("last"), query="a")
    stream = await streamed(made, Slot("first", "first"), slot("last", x="a"), late=late)
    assert stream.limit == "model_calls"
    assert stream.schedule.done == {"last"}


async def test_one_dead_model_is_one_error_however_deep_it_is_asked() -> None:
    async def late(slot: Slot, results: Sequence[ToolResult], actor: str, why: str) -> Bound:
        wrong = {"x": 1.5}
        return Bound((ToolCall("", slot.tool, wrong), ToolCall("", slot.tool, {"x": []})))

    made = executor(looks("first"), model=ScriptedModel({"repair": [ModelError("dead")] * 2}))
    with pytest.raises(ModelError, match="dead"):
        await streamed(made, Slot("first", "first"), late=late)


@st.composite
def dags(draw: st.DrawFn) -> Plan:
    slots: list[Slot] = []
    for number in range(draw(st.integers(1, 7))):
        names = [s.id for s in slots]
        after = draw(st.lists(st.sampled_from(names), unique=True, max_size=3)) if names else []
        said = "a " + " ".join("${" + name + ".v}" for name in after)
        slots.append(Slot(f"t{number}", f"t{number}", frozenset(after), arguments={"x": said}))
    return Plan(tuple(slots))


@given(dags(), st.integers(0, 10**6))
def test_what_a_run_keeps_does_not_depend_on_which_call_was_faster(plan: Plan, seed: int) -> None:
    def run(order: int) -> tuple[Any, ...]:
        pauses = Random(order)

        async def answer(name: str, x: str) -> Any:
            for _ in range(pauses.randrange(5)):
                await asyncio.sleep(0)
            if Random(name + str(seed)).random() < 0.2:
                raise ValueError("no")
            return {"v": f"{name}({x})"}

        tools = [looks(s.tool, output=lambda x, n=s.tool: answer(n, x)) for s in plan.slots]
        made = executor(*tools, query="a", limits=Limits(repairs=0))
        asyncio.run(streamed(made, *plan.slots))
        return (
            [(r.id, r.slot, r.arguments, r.content) for r in made.all_results],
            made.skips,
            made.lacking,
        )

    assert run(1) == run(2)


async def test_two_steps_that_each_made_a_call_of_the_other_do_not_wait_for_each_other() -> None:
    """Each waited for the other's end, and the run had none."""
    hold = asyncio.Event()

    async def repair(_: Any) -> Any:
        await hold.wait()
        return {"x": "2"}

    look = FakeTool("look", {"x": {**TEXT, "maxLength": 1}}, output={"v": 1}, effects=READ)
    made = executor(look, query="1 2 two", model=ScriptedModel(repair))

    async def late(slot: Slot, *_: Any) -> Bound:
        if slot.id == "a":  # its second call is repaired while the other step makes the same
            return Bound(tuple(ToolCall("", "look", {"x": x}) for x in ("1", "two")))
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(0.01, hold.set)
        return Bound(tuple(ToolCall("", "look", {"x": x}) for x in ("2", "1")))

    async with asyncio.timeout(5):
        stream = await streamed(made, Slot("a", "look"), Slot("b", "look"), late=late)
    assert sorted(c["x"] for c in look.calls) == ["1", "2"]
    assert [len(step.good) for step in stream.steps.values()] == [2, 2]


async def test_a_reference_to_a_step_that_returned_nothing_is_not_sent_as_it_is_written() -> None:
    note = looks("note")
    made = executor(note, query="a")
    async with made.stream(done=["gone"]) as stream:
        stream.add(slot("note", "gone", x="Dear ${gone.name}"))
    assert note.calls == []
    assert "gone returned nothing" in made.skips[-1].reason
