"""Where local repair cannot help, what is left is planned once more: what was completed stays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright import Limits, Orchestrator, Run
from callwright.agent.journal.resume import find_journal
from callwright.agent.journal.store import read_journal
from callwright.agent.options import Persistence, Safety, ToolSelection
from callwright.agent.strategies import Layered
from callwright.nouns.errors import Failure
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import READ, WRITE, Effects, JsonObject
from callwright.testing import FakeTool, FixedPlan, ScriptedModel, fake_source, offered_tools

TEXT = {"type": "string"}
DEAD = Failure("auth", "401 Unauthorized", status=401)
QUERY = "Book the room for Ann and say what the weather in Bergen is."


class Killed(BaseException):
    """The end of the process."""


class Trip:
    """A write succeeds, the lookup beside it is dead, and another tool that is unlike it serves."""

    layers: tuple[list[str], ...] = (["book_room"], ["weather"])
    query = QUERY

    def __init__(self, strategy: Any = "layered", **options: Any) -> None:
        self.book = FakeTool("book_room", {"guest": TEXT}, output={"booking": "B7"}, effects=WRITE)
        self.dead = FakeTool("weather", {"city": TEXT}, output=DEAD, description="Sky of a place.")
        self.other = FakeTool(
            "observatory",
            {"station": TEXT},
            output={"measured": "rain"},
            description="What instruments measured.",
            effects=options.pop("effects", READ),
        )
        self.undo = FakeTool("cancel_room", {"booking": TEXT}, output={}, effects=Effects())
        self.undo.tool = replace(self.undo.tool, compensates="book_room")
        self.goes_round = options.pop("goes_round", True)
        self.model = ScriptedModel(self.reply)
        self.options = {"strategy": strategy, "planner": Planner(self.layers), **options}
        self.setup = self.open()

    def open(self, **more: Any) -> Orchestrator:
        used = [self.book, self.dead, self.other, self.undo]
        return Orchestrator([fake_source(*used)], model=self.model, **{**self.options, **more})

    def reply(self, request: ChatRequest) -> Any:
        text = request.messages[-1].content
        made = {
            "book_room": {"guest": "Ann"},
            "weather": {"city": "Bergen"},
            "observatory": {"station": "Bergen"},
        }
        if request.purpose == "select":
            return {"needed": ["observatory"] if self.goes_round else []}
        if request.purpose.startswith("answer"):
            rain = "rain" in text
            said = [{"text": "It rains." if rain else "Room B7 is booked.", "results": []}]
            return {"statements": said, "missing": [] if rain else ["the weather"]}
        if request.purpose == "plan":
            again = "Some steps were carried out already" in text
            names = ["observatory"] if again else ["book_room", "weather"]
            rows = enumerate(names if self.goes_round or not again else [], 1)
            return {
                "steps": [
                    {"step": n, "tool": name, "after": [], "arguments": made[name]}
                    for n, name in rows
                ]
            }
        if "thought" in str(request.schema):
            return {"thought": "", "action": self.next_action(text)}
        shown = offered_tools(request)
        calls = [{"tool": n, "arguments": a} for n, a in made.items() if n in shown]
        calls = [one for one in calls if self.goes_round or one["tool"] != "observatory"]
        return {"calls": calls} if calls else {"useful": ["none"], "reason": "nothing"}

    def next_action(self, text: str) -> JsonObject:
        shown, _, results = text.partition("Results so far:")
        if "B7" not in results:
            return {"tool": "book_room", "arguments": {"guest": "Ann"}}
        if "401" not in results:
            return {"tool": "weather", "arguments": {"city": "Bergen"}}
        if "- observatory(" in shown and "measured" not in results:
            return {"tool": "observatory", "arguments": {"station": "Bergen"}}
        return {"tool": "finish", "reason": "done"}

    async def run(self) -> Run:
        return await self.setup.run(self.query)


class Planner(FixedPlan):
    """The layers, of the tools that are offered; what they lack comes last."""

    def __init__(self, layers: tuple[list[str], ...]) -> None:
        super().__init__(*layers, ["observatory"])

    def plan(self, query: str, tools: Any) -> Any:
        if {t.name for t in tools} >= {"book_room", "weather"}:
            tools = [t for t in tools if t.name in {"book_room", "weather"}]
        return super().plan(query, tools)


def revised(run: Run) -> list[Any]:
    return [e.data for e in run.events if e.kind == "recovery" and e.data["step"] == "plan"]


@pytest.mark.parametrize("strategy", ["layered", "dag"])
async def test_a_dead_tool_is_gone_round_by_a_new_plan_and_what_was_done_stays(
    strategy: str,
) -> None:
    trip = Trip(strategy)
    done = await trip.run()
    assert "It rains." in done.answer.text
    assert [len(tool.calls) for tool in (trip.book, trip.dead, trip.other)] == [1, 1, 1]
    (told,) = revised(done)
    assert told["tool"] == "weather"
    assert done.cost.repairs["recovery"] == 1, "it is paid from the one budget"
    assert done.plan.revision >= 1
    assert {"book_room", "weather", "observatory"} <= {slot.tool for slot in done.plan.slots}


@pytest.mark.parametrize("strategy", ["dag", "edges"])
async def test_another_plan_makes_no_write_again_that_is_done(strategy: str) -> None:
    """Not with another value either: the plan is of what remains."""

    class Greedy(Trip):
        def reply(self, request: ChatRequest) -> Any:
            text = request.messages[-1].content
            if request.purpose != "plan" or "carried out already" not in text:
                return super().reply(request)
            made = {"book_room": {"guest": "Ben"}, "observatory": {"station": "Bergen"}}
            steps = enumerate(made.items(), 1)
            return {
                "steps": [
                    {"step": n, "tool": t, "after": [], "arguments": a} for n, (t, a) in steps
                ]
            }

    trip = Greedy(strategy, safety=Safety(allow=("*",)))
    await trip.run()
    assert trip.book.calls == [{"guest": "Ann"}]


async def test_the_model_is_told_what_failed_and_what_is_there() -> None:
    trip = Trip()
    await trip.run()
    request = [r for r in trip.model.requests if r.purpose == "bind"][-1]
    last = request.messages[-1].content
    assert 'Still open:\n- weather("city":"Bergen") failed: 401 Unauthorized' in last
    assert "B7" in last
    assert "book_room" not in offered_tools(request)


@pytest.mark.parametrize("strategy", ["layered", "dag"])
async def test_it_is_done_once_and_where_nothing_goes_round_the_answer_says_so(
    strategy: str,
) -> None:
    trip = Trip(strategy, goes_round=False)
    done = await trip.run()
    assert len(revised(done)) == 1
    assert done.status == "partial"
    assert trip.other.calls == []


@pytest.mark.parametrize(
    "options",
    [
        {"limits": Limits(repairs=0)},
        {"strategy": "layered-no-recovery"},
        {"strategy": Layered(recover=["retry", "substitute", "retrieve"])},
        {"safety": Safety(freeze="plan")},
        {"effects": WRITE},
    ],
    ids=["no budget", "no recovery", "no replan", "frozen", "only a write is left"],
)
async def test_where_it_may_not_be_nothing_is_planned_anew(options: Any) -> None:
    trip = Trip(**options)
    done = await trip.run()
    assert revised(done) == []
    if "effects" in options or options.get("strategy") == "layered-no-recovery":
        assert trip.other.calls == []


async def test_what_the_request_itself_identifies_and_is_not_there_is_an_answer() -> None:
    class Unknown(Trip):
        query = "Book the room for Ann and say what the weather at station B-17 is."

        def reply(self, request: ChatRequest) -> Any:
            made = super().reply(request)
            for one in made.get("calls", ()):
                if one["tool"] == "weather":
                    one["arguments"] = {"city": "B-17"}
            return made

    trip = Unknown()
    gone = Failure("tool_error", "there is no city B-17")
    trip.dead = FakeTool("weather", {"city": TEXT}, output=gone, description="Sky of a place.")
    trip.setup = trip.open()
    assert revised(await trip.run()) == []


@pytest.mark.parametrize("strategy", ["layered", "dag", "react"])
async def test_a_tool_that_the_shortlist_lacks_is_retrieved_from_the_catalogue(
    strategy: str,
) -> None:
    trip = Trip(strategy, selection=ToolSelection(shortlist=2, retrieval="lexical"))
    trip.other.tool = replace(trip.other.tool, description="Measurements of the sky.")
    trip.query = "book_room for Ann, and the weather in Bergen."
    done = await trip.run()
    shown = next(e.data["names"] for e in done.events if e.kind == "shortlist")
    assert "observatory" not in shown
    assert "It rains." in done.answer.text
    assert len(trip.book.calls) == 1


@pytest.mark.parametrize("strategy", ["layered", "dag"])
async def test_what_can_be_undone_is_named_and_not_undone(strategy: str) -> None:
    trip = Trip(strategy, goes_round=False)
    done = await trip.run()
    (note,) = [part for part in done.answer.missing if "cancel_room" in part]
    assert 'book_room was done and returned {"booking":"B7"}; cancel_room can undo it' in note
    assert note in done.answer.text
    assert trip.undo.calls == []
    if strategy == "layered":
        shown = [r for r in trip.model.requests if "cancel_room" in str(r)]
        assert {r.purpose for r in shown} <= {"select"}, "it is not offered for it"


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 60), st.sampled_from(["layered", "dag"]))
def test_wherever_a_revised_run_was_killed_it_goes_on_and_no_write_is_repeated(
    tmp_path_factory: pytest.TempPathFactory, cut: int, strategy: str
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    seen = 0

    def kill(event: Any) -> None:
        nonlocal seen
        seen += 1
        if seen == cut:
            raise Killed

    trip = Trip(strategy)
    try:
        done = trip.open(persistence=Persistence(folder, sinks=[kill])).run_sync(QUERY)
    except (Killed, BaseExceptionGroup):
        (path,) = folder.glob("*.run")
        events = read_journal(path)[1]
        intents = {e.data["id"] for e in events if e.kind == "intent"}
        settled = {e.data["id"] for e in events if e.kind == "result"}
        if not any(e.kind == "run.start" for e in events) or intents - settled:
            return  # not begun, or in doubt: somebody has to say what became of it
        done = trip.open().resume_sync(find_journal(path))
    assert "It rains." in done.answer.text
    assert len(trip.book.calls) == 1
    assert len(revised(done)) == 1


async def test_a_kill_inside_the_revision_asks_for_no_second_one(tmp_path: Any) -> None:
    def kill(event: Any) -> None:
        if event.kind == "recovery":
            raise Killed

    trip = Trip()
    with pytest.raises((Killed, BaseExceptionGroup)):
        await trip.open(persistence=Persistence(tmp_path, sinks=[kill])).run(QUERY)
    assert [len(tool.calls) for tool in (trip.book, trip.dead, trip.other)] == [1, 1, 0]
    (path,) = tmp_path.glob("*.run")
    done = await trip.open().resume(find_journal(path))
    assert "It rains." in done.answer.text
    assert [len(tool.calls) for tool in (trip.book, trip.dead, trip.other)] == [1, 1, 1]
    assert done.cost.repairs["recovery"] == 1
