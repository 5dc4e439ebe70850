"""What the answer itself names as missing is fetched once, by the model's own decision."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright import Limits, Orchestrator, Run
from callwright.agent.journal.resume import find_journal
from callwright.agent.journal.store import read_journal
from callwright.agent.options import Persistence, Safety
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import DESTRUCTIVE, READ, UNKNOWN, WRITE
from callwright.testing import FakeTool, FixedPlan, ScriptedModel, fake_source, offered_tools

TEXT = {"type": "string"}
STOCK = {"A-100": 5, "B-007": 9}
QUERY = "How many pieces of A-100 and B-007 are in stock?"


class Killed(BaseException):
    """The end of the process."""


class Shop:
    """A model that asks for one part, and names the other as missing in its answer."""

    def __init__(self, missing: str = "B-007", **options: Any) -> None:
        self.missing = missing
        self.stock = FakeTool(
            "find_stock",
            {"part": TEXT},
            output=lambda part: {"part": part, "pieces": STOCK[part]},
            effects=options.pop("effects", READ),
        )
        self.order = FakeTool("place_order", {"part": TEXT}, output={"order": "O1"}, effects=WRITE)
        self.model = ScriptedModel(self.reply)
        self.then = options.pop("then", [{"tool": "find_stock", "arguments": {"part": "B-007"}}])
        self.query = options.pop("query", QUERY)
        self.setup = Orchestrator(
            [fake_source(self.stock, self.order)],
            model=self.model,
            planner=options.pop("planner", FixedPlan(["find_stock"])),
            **options,
        )

    def reply(self, request: ChatRequest) -> Any:
        text = request.messages[-1].content
        if request.purpose.startswith("answer"):
            known = [part for part, pieces in STOCK.items() if f'"pieces":{pieces}' in text]
            told = [f"There are {STOCK[part]} pieces of {part}." for part in known]
            left = [] if len(known) == 2 else [self.missing]
            said = [{"text": one, "results": []} for one in told] or [{"text": "-", "results": []}]
            return {"statements": said, "missing": left}
        first = {"tool": "find_stock", "arguments": {"part": "A-100"}}
        if request.purpose == "plan":
            return {"steps": [{"id": "1", "after": [], **first}]}
        if f"Still open:\n- {self.missing}" in text:
            return {"calls": self.then} if self.then else {"useful": ["none"], "reason": "nothing"}
        if "thought" in str(request.schema):
            done = {"tool": "finish", "reason": "done"}
            return {"thought": "", "action": done if "A-100" in str(self.stock.calls) else first}
        return {"calls": [first]}

    async def run(self) -> Run:
        return await self.setup.run(self.query)

    @property
    def asked(self) -> list[str]:
        return [request.purpose for request in self.model.requests]


@pytest.mark.parametrize("strategy", ["layered", "layered-no-sketch", "dag", "react"])
async def test_what_the_answer_names_is_fetched_and_the_answer_asked_for_again(
    strategy: str,
) -> None:
    shop = Shop(strategy=strategy)
    done = await shop.run()
    assert [c["part"] for c in shop.stock.calls] == ["A-100", "B-007"]
    assert "9 pieces of B-007" in done.answer.text
    assert (done.status, done.answer.missing) == ("answered", ())
    assert shop.asked[-3:] == ["answer", "bind", "answer"]
    assert done.cost.steps == len(shop.asked), "each question counts"


@pytest.mark.parametrize(
    "missing",
    ["die Stückzahl von B-007", "las existencias de B-007", "B-007 的库存", "مخزون B-007"],
)
async def test_the_list_of_the_model_is_passed_on_as_it_is(missing: str) -> None:
    shop = Shop(missing)
    assert (await shop.run()).status == "answered"
    (told,) = [r for r in shop.model.requests if "Still open" in r.messages[-1].content]
    assert f"Still open:\n- {missing}" in told.messages[-1].content
    assert "place_order" not in offered_tools(told), "nobody asked for an order"


async def test_it_is_asked_once_and_the_first_answer_stays_where_nothing_comes() -> None:
    for then in ([], [{"tool": "find_stock", "arguments": {"part": "A-100"}}]):
        shop = Shop(then=then)
        done = await shop.run()
        assert shop.asked == ["bind", "answer", "bind"]
        assert len(shop.stock.calls) == 1, "the same call is not made again"
        assert (done.status, done.answer.missing) == ("partial", ("B-007",))


async def test_without_budget_or_with_frozen_arguments_nothing_is_asked() -> None:
    few = Shop(limits=Limits(model_calls=3))
    assert (await few.run()).status == "partial"
    assert few.asked == ["bind", "answer"], "the answer's second question could not be paid"
    frozen = Shop(strategy="dag", safety=Safety(freeze="arguments"))
    await frozen.run()
    assert frozen.asked == ["plan", "answer"]


async def test_a_frozen_plan_keeps_what_is_fetched_inside_it() -> None:
    wanted = [{"tool": "place_order", "arguments": {"part": "B-007"}}]
    shop = Shop(
        then=wanted, safety=Safety(allow=["*"], freeze="plan"), query=f"Order or say: {QUERY}"
    )
    await shop.run()
    assert shop.order.calls == []
    assert offered_tools(shop.model.requests[-1]) == ("find_stock",)


async def test_a_write_is_offered_where_the_request_asks_for_it_and_never_after_it_was_made() -> (
    None
):
    order = [{"tool": "place_order", "arguments": {"part": "B-007"}}]
    shop = Shop("the order", then=order, query=QUERY + " Place the order of B-007.")
    shop.setup = Orchestrator(
        [fake_source(shop.stock, shop.order)],
        model=shop.model,
        planner=FixedPlan(["find_stock"]),
        safety=Safety(allow=["*"]),
    )
    await shop.run()
    assert [c["part"] for c in shop.order.calls] == ["B-007"]
    again = [request for request in shop.model.requests if request.purpose == "bind"][1:]
    assert len(again) == 1, "at most once a run"


async def test_nobody_who_must_approve_is_gone_round() -> None:
    order = [{"tool": "place_order", "arguments": {"part": "B-007"}}]
    asked: list[Any] = []

    def refuse(proposal: Any) -> bool:
        asked.append(proposal.call.tool.name)
        return False

    shop = Shop("the order", then=order, query=QUERY + " Place the order of B-007.")
    order_tool = FakeTool("place_order", {"part": TEXT}, output={}, effects=DESTRUCTIVE)
    shop.setup = Orchestrator(
        [fake_source(shop.stock, order_tool)],
        model=shop.model,
        planner=FixedPlan(["find_stock"]),
        safety=Safety(approve=refuse),
    )
    done = await shop.run()
    assert (asked, order_tool.calls) == (["place_order"], [])
    assert done.status == "partial"


async def test_tools_of_unknown_effects_that_the_plan_holds_are_asked_again() -> None:
    shop = Shop(effects=UNKNOWN, safety=Safety(allow=["*"]))
    assert (await shop.run()).status == "answered"
    assert [c["part"] for c in shop.stock.calls] == ["A-100", "B-007"]


@pytest.mark.parametrize("strategy", ["layered-no-recovery", "react-no-repair"])
async def test_the_papers_own_runs_fetch_nothing(strategy: str) -> None:
    shop = Shop(strategy=strategy)
    await shop.run()
    assert shop.asked[-1] == "answer"
    assert len(shop.stock.calls) == 1


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 40))
def test_wherever_a_fetching_run_ended_it_goes_on_to_the_same_end(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    seen = 0

    def kill(event: Any) -> None:
        nonlocal seen
        seen += 1
        if seen == cut:
            raise Killed

    shop = Shop(persistence=Persistence(folder, sinks=[kill]))
    try:
        whole = shop.setup.run_sync(QUERY)
    except (Killed, BaseExceptionGroup):
        pass
    else:
        assert whole.status == "answered"
        return
    (path,) = folder.glob("*.run")
    made = len(shop.stock.calls)
    setup = Orchestrator(
        [fake_source(shop.stock, shop.order)], model=shop.model, planner=FixedPlan(["find_stock"])
    )
    if not any(event.kind == "run.start" for event in read_journal(path)[1]):
        return
    done = setup.resume_sync(find_journal(path))
    assert done.status == "answered"
    assert "9 pieces of B-007" in done.answer.text
    assert len(shop.stock.calls) <= max(made + 1, 3), "a read is at most made once more"


async def test_what_is_missing_then_is_fetched_too_where_it_is_something_else() -> None:
    """A part's code leads to its stock: two lookups, the second named by the second answer."""
    find = FakeTool("find_part", {"name": TEXT}, output={"code": "B-007"}, effects=READ)
    stock = FakeTool("find_stock", {"part": TEXT}, output={"pieces": 9}, effects=READ)

    def reply(request: ChatRequest) -> Any:
        text = request.messages[-1].content
        if request.purpose.startswith("answer"):
            if stock.calls:
                return {
                    "statements": [{"text": "There are 9 pieces.", "results": []}],
                    "missing": [],
                }
            return {"statements": [], "missing": ["the stock" if find.calls else "the code"]}
        if "Still open:\n- the code" in text:
            return {"calls": [{"tool": "find_part", "arguments": {"name": "bolts"}}]}
        if "Still open:\n- the stock" in text:
            return {"calls": [{"tool": "find_stock", "arguments": {"part": "B-007"}}]}
        return {"calls": [{"tool": "look", "arguments": {}}]}

    look = FakeTool("look", {}, output={"shelf": 4}, effects=READ)
    model = ScriptedModel(reply)
    setup = Orchestrator([fake_source(find, stock, look)], model=model, planner=FixedPlan(["look"]))
    done = await setup.run("How many bolts are there?")
    assert (done.status, done.answer.missing) == ("answered", ())
    assert [result.tool for result in done.results] == ["look", "find_part", "find_stock"]
