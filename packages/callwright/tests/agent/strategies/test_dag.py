"""Plan-then-execute: two questions where all goes well; and what is done where it does not, also
across a crash.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright import Limits, Orchestrator, Run
from callwright.agent.journal.resume import find_journal
from callwright.agent.journal.store import Journal, read_journal
from callwright.agent.options import Persistence, Safety
from callwright.agent.strategies import Given
from callwright.agent.strategies.dag import order_plan
from callwright.nouns.errors import ConfigError, JournalError, PlanError
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.protocols import Capabilities, ChatRequest
from callwright.nouns.trace import Event
from callwright.nouns.types import READ, WRITE
from callwright.testing import (
    FakeTool,
    FixedPlan,
    ScriptedModel,
    fake_source,
    in_order,
    offered_tools,
)

TEXT, NUMBER = {"type": "string"}, {"type": "number"}
QUERY = "When does the sun set in Oslo and in Rome? Note it."
SAID = {"statements": [{"text": "It sets at 21:00.", "results": ["r3"]}], "missing": []}


def step(number: int, tool: str, *after: int, **arguments: Any) -> dict[str, Any]:
    return {"step": number, "tool": tool, "after": [*after], "arguments": arguments}


SUNSETS = [
    step(1, "find_place", city="Oslo"),
    step(2, "find_place", city="Rome"),
    step(3, "sun_times", 1, latitude="${1.latitude}"),
    step(4, "sun_times", 2, latitude="${2.latitude}"),
    step(5, "note", 3, 4, text="${3.sunset} and ${4.sunset}"),
]


def tools(**outputs: Any) -> list[FakeTool]:
    places = {"Oslo": {"latitude": 59.9}, "Rome": {"latitude": 41.9}}
    usual: dict[str, Any] = {
        "find_place": lambda city: places[city],
        "sun_times": lambda latitude: {"sunset": "22:40" if latitude > 50 else "20:49"},
        "note": {"noted": True},
    }
    usual |= outputs
    return [
        FakeTool("find_place", {"city": TEXT}, output=usual["find_place"], effects=READ),
        FakeTool("sun_times", {"latitude": NUMBER}, output=usual["sun_times"], effects=READ),
        FakeTool("note", {"text": TEXT}, output=usual["note"], effects=WRITE),
    ]


def planned(*plans: Any, **more: Any) -> ScriptedModel:
    made = [plan if isinstance(plan, str) else {"steps": plan} for plan in plans]
    return ScriptedModel({"plan": made, "repair": "{}", "*": SAID, **more})


async def run(
    model: ScriptedModel, offered: Sequence[FakeTool], strategy: Any = "dag", **options: Any
) -> Run:
    return await Orchestrator(
        [fake_source(*offered)], model=model, strategy=strategy, **options
    ).run(QUERY)


async def test_a_whole_plan_is_two_questions_and_each_call_gets_what_it_refers_to() -> None:
    model, (place, sun, note) = planned(SUNSETS), (offered := tools())
    done = await run(model, offered)
    assert [r.purpose for r in model.requests][:2] == ["plan", "answer"]
    assert place.calls == [{"city": "Oslo"}, {"city": "Rome"}]
    assert sun.calls == [{"latitude": 59.9}, {"latitude": 41.9}]
    assert note.calls == [{"text": "22:40 and 20:49"}]
    assert [slot.id for slot in done.plan.slots] == [
        "find_place",
        "find_place#2",
        "sun_times",
        "sun_times#2",
        "note",
    ]
    assert [r.slot for r in done.results] == [slot.id for slot in done.plan.slots]


@pytest.mark.parametrize(
    "mode", [Capabilities(native_tools=True), Capabilities()], ids=["native", "text"]
)
async def test_in_text_the_plan_is_numbered_lines(mode: Capabilities) -> None:
    text = '1. find_place(city="Oslo")\n2. sun_times(latitude="${1.latitude}")\n3. join()'
    model = ScriptedModel(
        {"plan": [text], "*": 'Action: Finish\nAction Input: {"final_answer": "22:40"}'},
        capabilities=mode,
    )
    _, sun, _ = offered = tools()
    await run(model, offered)
    assert sun.calls == [{"latitude": 59.9}]
    assert not model.requests[0].tools


async def test_a_plan_of_tools_alone_is_filled_step_by_step() -> None:
    def fill(request: ChatRequest) -> Any:
        text = request.messages[-1].content
        if "sun_times" in offered_tools(request):
            assert '"latitude":59.9' in text, "the step before has come"
            return {
                "useful": ["sun_times"],
                "calls": [{"tool": "sun_times", "arguments": {"latitude": 59.9}}],
            }
        return {
            "useful": ["find_place"],
            "calls": [{"tool": "find_place", "arguments": {"city": "Oslo"}}],
        }

    model = ScriptedModel(
        lambda r: (
            fill(r) if r.purpose == "bind" else '{"DAG": "1->2"}' if r.purpose == "plan" else SAID
        )
    )
    done = await run(model, tools())
    assert [r.tool for r in done.results] == ["find_place", "sun_times"]


async def test_what_failed_is_planned_anew_with_what_came_and_what_came_is_kept() -> None:
    offered = [
        *tools(sun_times=in_order()),
        FakeTool("almanac", {"city": TEXT}, output={"set": "22:40"}, effects=READ),
    ]
    model = planned(
        SUNSETS, [step(1, "almanac", city="Oslo"), step(2, "note", 1, text="At ${1.set}")]
    )
    done = await run(model, offered)
    again = [r for r in model.requests if r.purpose == "plan"][1].messages[-1].content
    assert '"latitude":59.9' in again
    assert "sun_times failed" in again
    assert offered[2].calls == [{"text": "At 22:40"}]
    assert offered[0].calls == [{"city": "Oslo"}, {"city": "Rome"}], "what came is not called again"
    assert done.plan.revision == 1
    kept = ["find_place", "find_place#2", "sun_times", "sun_times#2"]
    assert [slot.id for slot in done.plan.slots] == [*kept, "almanac", "note"]
    assert done.cost.repairs["recovery"] == 1
    (told,) = [e.data for e in done.events if e.kind == "recovery"]
    assert (told["step"], told["blocked"]) == ("plan", ["note"])


async def test_without_a_budget_nothing_is_planned_anew() -> None:
    model = planned(SUNSETS)
    done = await run(model, tools(sun_times=in_order()), limits=Limits(repairs=0))
    assert [r.purpose for r in model.requests].count("plan") == 1
    assert done.status == "partial"


async def test_nothing_found_is_an_answer_and_no_reason_for_another_plan() -> None:
    model = planned([step(1, "find_place", city="Oslo")])
    await run(model, tools(find_place=None))
    assert [r.purpose for r in model.requests].count("plan") == 1


async def test_replies_without_a_plan_leave_the_planners_order() -> None:
    fill = {"useful": ["none"], "reason": "no"}
    model = planned("no", "no", "no", bind=fill)
    done = await run(model, tools(), planner=FixedPlan(["find_place"], ["sun_times"]))
    assert [slot.tool for slot in done.plan.slots] == ["find_place", "sun_times"]


async def test_edges_take_their_order_from_the_planner_and_the_model_writes_the_arguments() -> None:
    model = planned([SUNSETS[0], step(2, "sun_times", latitude="${1.latitude}")])
    done = await run(model, tools(), "edges", planner=FixedPlan(["find_place"], ["sun_times"]))
    asked = model.requests[0].messages[-1].content
    assert "2. sun_times, after find_place" in asked
    assert "note(" not in asked, "only the planner's tools are offered"
    assert [slot.after for slot in done.plan.slots] == [frozenset(), {"find_place"}]
    assert [r.purpose for r in model.requests][:2] == ["plan", "answer"]


@pytest.mark.parametrize("freeze", ["", "plan", "arguments"])
async def test_edges_offer_what_alone_provides_what_the_planners_tools_require(freeze: Any) -> None:
    find = FakeTool("find_trip", {"name": TEXT}, output={"trip_id": "T7"}, output_schema={
        "type": "object", "properties": {"trip_id": TEXT}}, effects=READ)  # fmt: skip
    cost = FakeTool("trip_cost", {"trip_id": TEXT}, output={"euros": 12}, effects=READ)
    model = planned(
        [step(1, "find_trip", name="Oslo"), step(2, "trip_cost", 1, trip_id="${1.trip_id}")]
    )
    await run(
        model, [find, cost], "edges", planner=FixedPlan(["trip_cost"]), safety=Safety(freeze=freeze)
    )
    assert cost.calls == [{"trip_id": "T7"}], (
        "the model's plan is the one that is frozen, not the order"
    )


async def test_what_an_order_holds_and_the_plan_does_not_cannot_be_called_in_a_frozen_run() -> None:
    about = "When the sun sets in a city."
    called = []
    for freeze in ("", "plan"):
        dead = FakeTool(
            "get_sunset", {"city": TEXT}, description=about, output=in_order(), effects=READ
        )
        live = FakeTool(
            "sunset_get",
            {"city": TEXT},
            description=about,
            output={"sunset": "22:40"},
            effects=READ,
        )
        order = FixedPlan(["get_sunset"], ["sunset_get"])
        model = planned([step(1, "get_sunset", city="Oslo")], [])
        await run(model, [dead, live], "edges", planner=order, safety=Safety(freeze=freeze))
        called.append((len(dead.calls) > 0, len(live.calls)))
    assert called == [
        (True, 1),
        (True, 0),
    ], "the tool that gives the same stands in, unless the plan is frozen"


async def test_edges_leave_out_no_tool_before_the_model_has_had_its_say() -> None:
    model = planned([])
    await Orchestrator([fake_source(*tools())], model=model, strategy="edges").run(
        "Do what has to be done."
    )
    asked = next(r for r in model.requests if r.purpose == "plan").messages[-1].content
    assert all(f"{tool.tool.name}(" in asked for tool in tools())


async def test_of_many_tools_the_model_chooses_before_the_planner_is_asked() -> None:
    class Shown(FixedPlan):
        def plan(self, query: str, tools: Any) -> Plan:
            self.tools = [tool.name for tool in tools]
            return super().plan(query, tools)

    planner = Shown(["find_place"], ["sun_times"])
    many = [*tools(), *(FakeTool(f"other_{i}", {"x": TEXT}, effects=READ) for i in range(12))]
    model = planned(SUNSETS[:4], select={"needed": ["find_place", "sun_times"]})
    done = await run(model, many, "edges", planner=planner)
    assert planner.tools == [
        "find_place",
        "sun_times",
        "note",
    ], "chosen, or spoken of in the request"
    assert [r.purpose for r in model.requests][:2] == ["select", "plan"]
    assert [r.tool for r in done.results] == ["find_place", "find_place", "sun_times", "sun_times"]


def test_an_order_holds_where_a_step_says_nothing_itself() -> None:
    order = Plan.from_edges(["a", "b", "c"], [("a", "b"), ("b", "c")])
    plan = Plan(
        (Slot("a", "a"), Slot("a#2", "a"), Slot("b", "b"), Slot("c", "c", frozenset({"a"})))
    )
    assert {s.id: {*s.after} for s in order_plan(plan, order).slots} == {
        "a": set(), "a#2": set(), "b": {"a", "a#2"}, "c": {"a"},
    }  # fmt: skip


@given(st.data())
def test_an_order_makes_no_circle(data: st.DataObject) -> None:
    names = "abcde"
    order = Plan.from_edges(
        names, [(x, y) for x in names for y in names if x < y and data.draw(st.booleans())]
    )
    line = data.draw(st.permutations(names))
    slots = []
    for place, name in enumerate(line):  # a step may wait for one that is written behind it
        after = {other for other in line[place + 1 :] if data.draw(st.integers(0, 3)) == 0}
        slots.append(Slot(name, name, frozenset(after)))
    assert not order_plan(Plan(tuple(slots)), order).problems()


async def test_a_plan_that_somebody_edited_is_carried_out_without_a_question() -> None:
    text = json.dumps(
        {"steps": [{"id": "x", "tool": "find_place", "after": [], "arguments": {"city": "Rome"}}]}
    )
    model, offered = planned(), tools()
    done = await run(model, offered, Given(text))
    assert offered[0].calls == [{"city": "Rome"}]
    assert model.requests[0].purpose == "answer"
    assert [slot.id for slot in done.plan.slots] == ["x"]


async def test_a_given_plan_that_cannot_run_is_refused_before_anything_is_called() -> None:
    offered = tools()
    for text, said in [
        ("1->2, 2->1", "wait for each other"),
        ("find_place->nowhere", "nowhere"),
        ("no", "no plan"),
    ]:
        with pytest.raises(PlanError, match=said):
            await run(planned(), offered, Given(text))
    with pytest.raises(ConfigError, match="no plan"):
        await run(planned(), offered, "given")
    assert [tool.calls for tool in offered] == [[], [], []]


async def test_a_frozen_run_of_a_given_plan_is_replayed_without_the_plan_and_stays_frozen(
    tmp_path: Path,
) -> None:
    plan = Plan(
        (
            Slot("place", "find_place", arguments={"city": "Oslo"}),
            Slot("note", "note", frozenset({"place"})),
        )
    )
    fill = {"useful": ["note"], "calls": [{"tool": "note", "arguments": {"text": "x"}}]}
    first = await run(
        planned(bind=fill),
        tools(),
        Given(plan),
        persistence=Persistence(journal=tmp_path),
        safety=Safety(freeze="arguments"),
    )
    offered = tools()
    setup = Orchestrator(
        [fake_source(*offered)],
        model=planned(bind=fill),
        strategy="given",
        persistence=Persistence(journal=tmp_path),
    )
    again = await setup.resume(first.id)
    assert (again.results, again.plan, again.skips) == (first.results, plan, first.skips)
    assert [tool.calls for tool in offered] == [
        [],
        [],
        [],
    ], "what the plan leaves open is not filled on resume either"


class World:
    """What the tools change; it outlives the processes of a run."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def tools(self, seed: int) -> list[FakeTool]:
        pauses = random.Random(seed)

        async def waited(value: Any) -> Any:
            for _ in range(pauses.randrange(4)):  # steps end in another order every time
                await asyncio.sleep(0)
            return value

        async def noted(text: str) -> Any:
            self.done.append(text)
            return await waited({"noted": text})

        places = {"Oslo": {"latitude": 59.9}, "Rome": {"latitude": 41.9}}
        made = tools(
            find_place=lambda city: waited(places[city]),
            sun_times=lambda latitude: waited({"sunset": "22:40" if latitude > 50 else "20:49"}),
            note=noted,
        )
        dead = FakeTool("weather", {"city": TEXT}, output=in_order(), effects=READ)
        return [*made, dead]


LONG = [
    *SUNSETS[:4],
    step(5, "note", 3, text="Oslo ${3.sunset}"),
    step(6, "note", 4, text="Rome ${4.sunset}"),
    step(7, "weather", city="Oslo"),
    {"step": 8, "tool": "find_place", "after": [7]},
    {"step": 9, "tool": "sun_times", "after": [1]},
    step(10, "note", 7, text="Sky ${7.sky}"),  # is left, so another plan may hold a note
]


def answers(request: ChatRequest) -> Any:
    """A model that answers by what it is asked, whoever asked before."""
    text = request.messages[-1].content
    if request.purpose == "plan":
        return (
            {"steps": LONG}
            if "carried out already" not in text
            else {"steps": [step(1, "note", text="Done")]}
        )
    if request.purpose == "bind":
        return {
            "useful": ["sun_times"],
            "calls": [{"tool": "sun_times", "arguments": {"latitude": 59.9}}],
        }
    return SAID if request.purpose.startswith("answer") else "{}"


def long_run(folder: Path, world: World, seed: int) -> Orchestrator:
    model = ScriptedModel(answers)
    return Orchestrator(
        [fake_source(*world.tools(seed))],
        model=model,
        strategy="dag",
        persistence=Persistence(journal=folder),
    )


def cut(path: Path, folder: Path, kept: int) -> Path:
    """The journal of the same run as it stood after so many events."""
    with Journal.create(folder) as copy:
        for event in read_journal(path, every=True)[1][:kept]:
            copy(event)
    return copy.path.rename(folder / path.name)


@settings(max_examples=20)
@given(seed=st.integers(0, 50), again=st.integers(0, 50), part=st.floats(0, 1))
def test_wherever_a_run_of_a_plan_ended_it_goes_on_and_no_write_is_repeated(
    seed: int, again: int, part: float, tmp_path_factory: Any
) -> None:
    """Steps that run together, arguments filled late, a failure, another plan for the rest: cut at
    any event.
    """
    folder = tmp_path_factory.mktemp("runs")
    whole = asyncio.run(long_run(folder, World(), seed).run(QUERY))
    assert [e.data["step"] for e in whole.events if e.kind == "recovery"] == ["plan"]
    events = read_journal(find_journal(whole.id, folder))[1]
    kept = max(1, int(part * len(events)))
    world = World()
    world.done = [e.data["arguments"]["text"] for e in events[:kept] if e.kind == "intent"]
    known = {e.data["id"] for e in events[:kept] if e.kind == "result"}
    doubts = {e.data["id"]: e.data["arguments"] for e in events[:kept] if e.kind == "intent"}
    path, setup = (
        cut(find_journal(whole.id, folder), folder / "cut", kept),
        long_run(folder / "cut", world, again),
    )
    if doubts := {id_: given for id_, given in doubts.items() if id_ not in known}:
        with pytest.raises(JournalError, match="in doubt"):
            asyncio.run(setup.resume(path))
        with Journal.reopen(path) as journal:
            for number, (id_, given) in enumerate(doubts.items()):
                said = {
                    "id": id_,
                    "attempt": 1,
                    "by": "user",
                    "outcome": "done",
                    "content": {"noted": given["text"]},
                }
                journal(Event("resolution", number, 0.0, said))
    done = asyncio.run(setup.resume(path))
    assert done.answer == whole.answer
    assert done.plan == whole.plan
    assert [(r.id, r.tool, r.content) for r in done.results] == [
        (r.id, r.tool, r.content) for r in whole.results
    ]
    assert sorted(world.done) == ["Done", "Oslo 22:40", "Rome 20:49"]


@pytest.mark.parametrize(
    ("replies", "made"),
    [
        ([["A", "B"], ["A", "B"]], ["A", "B"]),  # each question is answered for both steps
        ([["A"], ["B"]], ["A", "B"]),
        ([["A"], ["A"]], ["A", "A"]),  # two equal steps are both meant
        ([["A", "A"], ["A", "A"]], ["A", "A"]),
        ([["A", "B"], ["B"]], ["A", "B"]),
    ],
)
async def test_a_reply_that_holds_the_calls_of_several_steps_writes_nothing_twice(
    replies: list[list[str]], made: list[str]
) -> None:
    order = FakeTool("order", {"part": TEXT}, output={"ok": True}, effects=WRITE)
    bound = [
        {"useful": ["order"], "calls": [{"tool": "order", "arguments": {"part": p}} for p in parts]}
        for parts in replies
    ]
    open_steps = [{**step(number, "order"), "arguments": None} for number in (1, 2)]
    await run(planned(open_steps, bind=bound), [order])
    assert sorted(call["part"] for call in order.calls) == made
