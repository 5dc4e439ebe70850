"""What is tried when repair fails: the lookup again, a substitute, a new order of what is left. No
more than that.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright import Limits, Orchestrator, Run
from callwright.agent.journal.resume import find_journal
from callwright.agent.journal.store import Journal, read_journal
from callwright.agent.options import Persistence, Safety, ToolSelection
from callwright.agent.strategies import Layered
from callwright.agent.strategies.recovery import WAYS
from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import READ_LOCAL, WRITE, Effects, ToolOutput
from callwright.testing import (
    FakeTool,
    FixedPlan,
    ScriptedModel,
    fake_source,
    in_order,
    offered_tools,
)
from callwright.viewer import page

TEXT = {"type": "string"}
DEAD = Failure("auth", "401 Unauthorized", status=401)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments}


def said(text: str, *results: str) -> dict[str, Any]:
    return {"statements": [{"text": text, "results": list(results)}], "missing": []}


class Scene:
    """Tools, a plan and a model that answers by what it is shown; ``ways`` are the recoveries
    allowed.
    """

    query = ""
    layers: tuple[list[str], ...] = ()

    def tools(self) -> list[FakeTool]:
        raise NotImplementedError

    def calls(self, shown: str, results: str) -> list[dict[str, Any]]:
        raise NotImplementedError

    def answer(self, results: str) -> Any:
        raise NotImplementedError

    def model(self) -> ScriptedModel:
        def reply(request: ChatRequest) -> Any:
            text = request.messages[-1].content
            if request.purpose == "select":
                return {"needed": [name for layer in self.layers for name in layer]}
            if request.purpose.startswith("answer"):
                return self.answer(text)
            if request.purpose == "repair":
                return {"tool_calls": []}
            shown = "".join(f"- {name}(" for name in offered_tools(request))
            found = self.calls(shown, text.partition("Results so far:")[2])
            return {"calls": found} if found else {"useful": ["none"], "reason": "nothing to call"}

        return ScriptedModel(reply)

    def setup(self, ways: Any = WAYS, **options: Any) -> Orchestrator:
        self.used = self.tools()
        self.asked = options.pop("model", None) or self.model()
        return Orchestrator(
            [fake_source(*self.used)],
            model=self.asked,
            planner=FixedPlan(*self.layers),
            **{"strategy": Layered(recover=ways), **options},
        )

    async def run(self, ways: Any = WAYS, **options: Any) -> Run:
        return await self.setup(ways, **options).run(self.query)


class StaleLookup(Scene):
    """The lookup gives an order that is gone; asked again it gives another. Its depot is looked up
    again.
    """

    query = "What is the status of Ann's order, and where is its depot?"
    layers = (["find_order"], ["order_depot"], ["order_status"])

    def tools(self) -> list[FakeTool]:
        def status(order_id: str) -> Any:
            gone = ToolOutput(failure=Failure("tool_error", f"there is no order {order_id}"))
            return {"status": "shipped"} if order_id == "O15" else gone

        return [
            FakeTool(
                "find_order",
                {"customer": TEXT},
                output=in_order({"order_id": "O12"}, {"order_id": "O15"}),
            ),
            FakeTool(
                "order_depot",
                {"order_id": TEXT},
                output=lambda order_id: {"depot": f"hall {order_id[1:]}"},
            ),
            FakeTool("order_status", {"order_id": TEXT}, output=status),
        ]

    def calls(self, shown: str, results: str) -> list[dict[str, Any]]:
        id_ = "O15" if '"O15"' in results else "O12"
        if "find_order(" in shown:
            return [call("find_order", customer="Ann")]
        return [
            call(name, order_id=id_)
            for name in ("order_depot", "order_status")
            if f"- {name}(" in shown
        ]

    def answer(self, results: str) -> Any:
        return said(
            "It is shipped from hall 15." if "shipped" in results else "The order is in hall 12.",
            "r6",
            "r5",
        )


async def test_the_ablation_repairs_and_goes_round_nothing() -> None:
    whole, ablated = StaleLookup(), StaleLookup()
    assert (await whole.run()).results[-1].ok
    done = await ablated.run(strategy="layered-no-recovery")
    assert [len(tool.calls) for tool in ablated.used[:2]] == [1, 1], "nothing is looked up again"
    assert not [r for r in done.results if r.ok and r.tool == "order_status"]


class DeadTwin(Scene):
    """The first of two tools that give the same is dead."""

    query = "What is the exchange rate of EUR?"
    layers = (["bank_rate"],)
    output: Any = DEAD
    twin_effects = READ_LOCAL

    def tools(self) -> list[FakeTool]:
        rate = {"type": "object", "properties": {"rate": {"type": "number"}, "day": TEXT}}
        about = "The exchange rate of a currency."
        return [
            FakeTool(
                "bank_rate",
                {"currency": TEXT},
                output=self.output,
                description=about,
                output_schema=rate,
            ),
            FakeTool(
                "market_rate",
                {"currency": TEXT},
                output={"rate": 1.17, "day": "today"},
                description=about,
                output_schema=rate,
                effects=self.twin_effects,
            ),
            FakeTool(
                "weather",
                {"city": TEXT},
                output={"sky": "blue"},
                description="The weather of a city.",
            ),
        ]

    def calls(self, shown: str, results: str) -> list[dict[str, Any]]:
        return [call(n, currency="EUR") for n in ("bank_rate", "market_rate") if f"- {n}(" in shown]

    def answer(self, results: str) -> Any:
        return (
            said("The rate is 1.17.", "r2")
            if "1.17" in results
            else {"statements": [], "missing": ["the rate"]}
        )


class WrongOrder(Scene):
    """The plan puts the consumer first; nothing but the answer of its tool shows that a code was
    needed.
    """

    query = "What is the fee for the number of people near the airport of Oslo?"
    layers = (["population"], ["fee"])

    def tools(self) -> list[FakeTool]:
        def people(airport_code: str) -> Any:
            known = {"people": 7}
            wrong = ToolOutput(
                failure=Failure("tool_error", f"unknown airport_code {airport_code!r}")
            )
            return known if airport_code == "ENGM" else wrong

        return [
            FakeTool("population", {"airport_code": TEXT}, output=people),
            FakeTool(
                "find_airport",
                {"city": TEXT},
                output={"airport_code": "ENGM"},
                output_schema={"type": "object", "properties": {"airport_code": TEXT}},
            ),
            FakeTool("fee", {"people": {"type": "integer"}}, output={"fee": 70}),
            FakeTool("unused", {"z": TEXT}, output="never"),
        ]

    def calls(self, shown: str, results: str) -> list[dict[str, Any]]:
        code = "ENGM" if "ENGM" in results else "Oslo"
        made = [call("population", airport_code=code)] if "- population(" in shown else []
        made += [call("find_airport", city="Oslo")] if "- find_airport(" in shown else []
        return made + (
            [call("fee", people=7)] if "- fee(" in shown and '"people":7' in results else []
        )

    def answer(self, results: str) -> Any:
        return (
            said("The fee is 70.", "r4")
            if '"fee":70' in results
            else {"statements": [], "missing": ["the fee"]}
        )


class NothingAlike(Scene):
    """The only tool that was shown is dead; the catalogue has another that is not like it and
    serves the request.
    """

    query = "What is the exchange rate of EUR?"
    layers = (["bank_rate"],)

    def tools(self) -> list[FakeTool]:
        about = "The exchange rate of a currency: what is the rate?"
        quote = {"symbol": TEXT}
        return [
            FakeTool("bank_rate", {"currency": TEXT}, output=DEAD, description=about),
            FakeTool(
                "quote_of",
                quote,
                output={"usd": 1.17},
                description="Stock exchange quotes in dollars.",
            ),
            FakeTool(
                "weather",
                {"city": TEXT},
                output={"sky": "blue"},
                description="The weather of a city.",
            ),
        ]

    def calls(self, shown: str, results: str) -> list[dict[str, Any]]:
        if "quote_of(" in shown:
            return [call("quote_of", symbol="EUR")]
        return [call("bank_rate", currency="EUR")] if "bank_rate(" in shown else []

    def answer(self, results: str) -> Any:
        return (
            said("It is 1.17.", "r2")
            if "1.17" in results
            else {"statements": [], "missing": ["the rate"]}
        )

    def setup(self, ways: Any = WAYS, **options: Any) -> Orchestrator:
        return super().setup(ways, selection=ToolSelection(shortlist=1), **options)


class EmptySearch(Scene):
    """A search by name finds no one, for the name is spelled otherwise; a list of the same people
    has him.
    """

    query = "What is the email of Sigrun of the office in Oslo?"
    layers = (["find_office"], ["find_people"])
    listed: Any = {"people": [{"name": "Sigrún", "email": "s@example.com"}]}  # noqa: RUF012

    def tools(self) -> list[FakeTool]:
        row = {"type": "object", "properties": {"name": TEXT, "email": TEXT}}
        people = {"type": "object", "properties": {"people": {"type": "array", "items": row}}}
        about = {"output_schema": people, "effects": READ_LOCAL}
        found = {"type": "object", "properties": {"office_id": TEXT}}
        office = FakeTool(
            "find_office", {"city": TEXT}, output={"office_id": "OF-1"}, output_schema=found
        )
        return [
            office,
            FakeTool(
                "find_people",
                {"name": TEXT},
                output={"people": []},
                description="People by name.",
                **about,
            ),
            FakeTool(
                "list_people",
                {"office_id": TEXT},
                output=self.listed,
                description="People of an office.",
                **about,
            ),
        ]

    def calls(self, shown: str, results: str) -> list[dict[str, Any]]:
        made = [call("find_office", city="Oslo")] if "- find_office(" in shown else []
        made += (
            [{"tool": "find_people", "arguments": {"name": "Sigrun"}}]
            if "- find_people(" in shown
            else []
        )
        return made + ([call("list_people", office_id="OF-1")] if "- list_people(" in shown else [])

    def answer(self, results: str) -> Any:
        there = "s@example.com" in results
        return (
            said("It is s@example.com.", "r3")
            if there
            else {"statements": [], "missing": ["no such person"]}
        )


SCENES = {
    "retry": StaleLookup,
    "substitute": DeadTwin,
    "retrieve": NothingAlike,
    "replan": WrongOrder,
}


def steps(run: Run) -> list[str]:
    return [e.data["step"] for e in run.events if e.kind == "recovery"]


@pytest.mark.parametrize("way", WAYS)
async def test_each_way_is_recorded_shown_and_paid_from_the_one_budget(way: str) -> None:
    scene = SCENES[way]()
    done = await scene.run()
    assert steps(done) == [way]
    assert done.cost.repairs["recovery"] >= 1
    stale = [e.data for e in done.events if e.kind == "stale"]
    assert stale
    assert set(done.stale) == {id_ for data in stale for id_ in data["results"]}
    assert f"recovery: {way}" in page(done.events)


async def test_a_lookup_that_gave_a_wrong_value_is_made_again_once_and_what_rested_on_it_is_stale() -> (
    None
):
    scene = StaleLookup()
    done = await scene.run()
    find, depot, status = scene.used
    assert [c["customer"] for c in find.calls] == ["Ann", "Ann"]
    assert [c["order_id"] for c in depot.calls] == ["O12", "O15"]
    assert [c["order_id"] for c in status.calls] == ["O12", "O15"]
    assert done.stale == (
        "r1",
        "r2",
        "r3",
    ), "the lookup, the depot of its order, and the call that failed"
    last = scene.asked.requests[-1].messages[-1].content
    assert "O12" not in last
    assert "hall 12" not in last
    assert [r.purpose for r in scene.asked.requests] == [
        "bind",
        "bind",
        "bind",
        "answer",
    ], "no question was needed"


async def test_a_lookup_that_says_the_same_again_changes_nothing() -> None:
    class Steady(StaleLookup):
        def tools(self) -> list[FakeTool]:
            found = super().tools()
            found[0] = FakeTool("find_order", {"customer": TEXT}, output={"order_id": "O12"})
            return found

    scene = Steady()
    done = await scene.run(ways=["retry"])
    assert len(scene.used[0].calls) == 2, "asked again once, for all that fails"
    assert len(scene.used[2].calls) == 1
    assert done.stale == ("r4",)


async def test_a_write_is_never_made_again_to_renew_a_value() -> None:
    class Writes(StaleLookup):
        def tools(self) -> list[FakeTool]:
            found = super().tools()
            found[0].tool = replace(found[0].tool, effects=WRITE)
            return found

    scene = Writes()
    done = await scene.run(safety=Safety(allow=["*"]))
    assert len(scene.used[0].calls) == 1
    assert "retry" not in steps(done)


async def test_a_write_that_rested_on_a_stale_value_stays_and_is_told() -> None:
    class Wrote(StaleLookup):
        def tools(self) -> list[FakeTool]:
            found = super().tools()
            found[1].tool = replace(found[1].tool, effects=WRITE)
            return found

    scene = Wrote()
    done = await scene.run(safety=Safety(allow=["*"]))
    assert [c["order_id"] for c in scene.used[1].calls] == ["O12"], (
        "what was written is not written again"
    )
    assert "r2" not in done.stale
    assert next(e.data["written"] for e in done.events if e.kind == "stale") == ["r2"]
    assert "not taken back" in " ".join(done.answer.missing)


async def test_a_write_that_several_stale_results_name_is_told_once() -> None:
    class Wrote(StaleLookup):
        layers = (["find_order"], ["order_depot", "send_note"], ["order_status"])

        def tools(self) -> list[FakeTool]:
            return [
                *super().tools(),
                FakeTool("send_note", {"order_id": TEXT}, output={"sent": True}, effects=WRITE),
            ]

        def calls(self, shown: str, results: str) -> list[dict[str, Any]]:
            note = [call("send_note", order_id="O12")] if "- send_note(" in shown else []
            return [*super().calls(shown, results), *note]

    done = await Wrote().run(safety=Safety(allow=["*"]))
    assert [e.data["written"] for e in done.events if e.kind == "stale"][:2] == [["r3"], ["r3"]]
    assert [m.partition(" was done")[0] for m in done.answer.missing] == ["send_note: r3"]
    assert done.answer.text.count("not taken back") == 1


async def test_a_dead_tool_is_replaced_by_one_that_gives_the_same_without_a_question() -> None:
    scene = DeadTwin()
    done = await scene.run()
    assert "1.17" in done.answer.text
    assert done.status == "answered"
    assert [r.purpose for r in scene.asked.requests] == ["bind", "answer"]
    assert scene.used[2].calls == []
    assert done.plan.revision == 1
    assert {s.tool: s.reason for s in done.plan.slots}["market_rate"] == "stands in for bank_rate"


async def test_where_a_search_found_nothing_what_gives_the_same_is_offered_once() -> None:
    scene = EmptySearch()
    done = await scene.run()
    assert "s@example.com" in done.answer.text
    assert steps(done) == ["substitute"]
    assert done.stale == (), "that there was nothing is a result of its own"
    without = EmptySearch()
    alone = await without.run(strategy="layered-no-recovery")
    assert "s@example.com" not in alone.answer.text


async def test_where_the_other_has_nothing_either_nothing_more_is_tried() -> None:
    class Nobody(EmptySearch):
        listed: Any = {"people": []}  # noqa: RUF012

    done = await Nobody().run()
    assert steps(done) == ["substitute"]
    assert done.answer.missing


@pytest.mark.parametrize("effects", [WRITE, Effects(), replace(WRITE, idempotent=True)])
async def test_a_reading_tool_is_never_replaced_by_one_that_may_write(effects: Effects) -> None:
    class Writing(DeadTwin):
        twin_effects = effects

    scene = Writing()
    done = await scene.run(safety=Safety(allow=["*"]))
    assert scene.used[1].calls == []
    assert steps(done) == ["plan"], "what reads may be planned in its place, and is not taken"
    later = [r for r in scene.asked.requests if r.purpose == "bind"][1:]
    assert not any("market_rate" in offered_tools(request) for request in later)


async def test_a_write_that_may_have_happened_has_no_substitute() -> None:
    class Lost(DeadTwin):
        output = Failure("timeout", "no answer", outcome_unknown=True)

        def tools(self) -> list[FakeTool]:
            found = super().tools()
            found[0].tool = replace(found[0].tool, effects=WRITE)
            return found

    done = await Lost().run(safety=Safety(allow=["*"]))
    assert steps(done) == []


async def test_a_tool_that_came_too_early_is_offered_again_after_what_feeds_it() -> None:
    scene = WrongOrder()
    done = await scene.run()
    assert "70" in done.answer.text
    layers = [[s.tool for s in layer] for layer in done.plan.layers]
    assert done.plan.revision == 1
    assert layers[0] == ["population"], "what is finished stays"
    flat = [name for layer in layers[1:] for name in layer]
    assert flat.index("find_airport") < flat.index("population")
    assert sorted(flat) == [
        "fee",
        "find_airport",
        "population",
    ], "only what is left, and what was left out wrongly"
    assert len(scene.used[2].calls) == 1, (
        "nothing that was called is called again for the new order"
    )


@pytest.mark.parametrize("way", [way for way in WAYS if way != "retry"])
async def test_a_frozen_plan_is_not_planned_again_and_no_other_tool_is_offered(way: str) -> None:
    """It was layered again, with a tool beside the plan whose call was refused then."""
    scene = SCENES[way]()
    done = await scene.run(safety=Safety(freeze="plan"))
    assert (steps(done), done.plan.revision) == ([], 0)
    planned = {name for layer in scene.layers for name in layer}
    assert {r.tool for r in done.results} <= planned
    assert not any("the plan is frozen" in skip.reason for skip in done.skips)


@pytest.mark.parametrize("way", WAYS)
async def test_each_way_can_be_switched_off_and_its_scene_then_fails(way: str) -> None:
    with_it = await SCENES[way]().run(ways=[way])
    without = await SCENES[way]().run(ways=[w for w in WAYS if w != way])
    assert way not in steps(without)
    assert with_it.status == "answered"
    assert without.status != "answered"


async def test_an_unknown_way_is_named() -> None:
    with pytest.raises(ConfigError, match="no recovery by luck"):
        Layered(recover=["luck"])


@pytest.mark.parametrize("way", WAYS)
async def test_without_budget_nothing_is_tried_and_the_limit_is_told(way: str) -> None:
    done = await SCENES[way]().run(limits=Limits(repairs=0))
    assert steps(done) == []
    assert done.stale == ()
    assert "repairs" in {e.data["limit"] for e in done.events if e.kind == "limit"}


async def test_a_run_in_which_nothing_fails_is_the_same_to_the_last_question() -> None:
    class Fine(WrongOrder):
        layers = (["find_airport"], ["population"], ["fee"])

    with_it, without = Fine(), Fine()
    first, second = await with_it.run(), await without.run(ways=())
    assert [r.messages for r in with_it.asked.requests] == [
        r.messages for r in without.asked.requests
    ]
    assert [
        (e.kind, e.data)
        for e in first.events
        if e.kind in ("plan", "call.raw", "layer", "skip", "answer")
    ] == [
        (e.kind, e.data)
        for e in second.events
        if e.kind in ("plan", "call.raw", "layer", "skip", "answer")
    ]
    assert {e.kind for e in first.events}.isdisjoint({"recovery", "stale"})
    assert first.cost.repairs == {"tier1": 0, "tier2": 0, "repeat": 0, "recovery": 0}


@settings(max_examples=20, deadline=None)
@given(way=st.sampled_from(WAYS), data=st.data())
def test_wherever_a_recovering_run_ended_it_goes_on_to_the_same_end(
    way: str, data: st.DataObject, tmp_path_factory: Any
) -> None:
    folder: Path = tmp_path_factory.mktemp("runs")
    scene = SCENES[way]()
    whole = scene.setup(persistence=Persistence(journal=folder)).run_sync(scene.query)
    path = find_journal(whole.id, folder)
    _, events = read_journal(path)
    kept = data.draw(st.integers(1, len(events)))
    with Journal.create(folder / "cut") as copy:
        for event in events[:kept]:
            copy(event)
    part = copy.path.rename(folder / "cut" / path.name)
    told = sum(e.kind == "result" for e in events[:kept])
    again = SCENES[way]()
    setup = again.setup(persistence=Persistence(journal=folder / "cut"))
    for tool in again.used:  # the world goes on where it was
        for _ in range(
            sum(e.kind == "result" and e.data["tool"] == tool.name for e in events[:kept])
        ):
            if isinstance(tool._output, in_order):
                tool._output.next()
    done = setup.resume_sync(part)
    assert (done.answer, done.plan, done.stale) == (whole.answer, whole.plan, whole.stale)
    assert [replace(r, seconds=0) for r in done.results] == [
        replace(r, seconds=0) for r in whole.results
    ]
    assert sum(len(t.calls) for t in again.used) == sum(e.kind == "result" for e in events) - told
    assert replace(done.cost, seconds=0) == replace(whole.cost, seconds=0)


async def test_a_finished_recovery_replays_without_asking_anybody(tmp_path: Path) -> None:
    for scene in (StaleLookup(), DeadTwin(), NothingAlike(), WrongOrder()):
        whole = await scene.run(persistence=Persistence(journal=tmp_path))
        again = scene.setup(persistence=Persistence(journal=tmp_path), model=ScriptedModel([]))
        done = await again.resume(whole.id)
        assert (done.answer, done.plan, done.stale) == (whole.answer, whole.plan, whole.stale)
        assert [t.calls for t in scene.used] == [[] for _ in scene.used]
