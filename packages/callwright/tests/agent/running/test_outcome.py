"""The answer of a run: what it rests on, what it lacks, and what was kept back."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from callwright import Limits, Orchestrator
from callwright.agent.options import Interaction
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import WRITE
from callwright.testing import FakeTool, ScriptedModel, fake_source
from callwright.viewer import page
from tests.agent.running.flow import (
    DAY,
    LAYERS,
    MONEY,
    TEXT,
    airport,
    call,
    calls,
    converting,
    order_step,
    run,
    said,
    weather,
)


@pytest.mark.parametrize(
    "asked",
    [
        "Wie viel sind 250 USD in norwegischen Kronen?",
        "¿Cuánto son 250 USD en coronas noruegas para el despacho?",
        "250美元是多少挪威克朗？",
        "كم تساوي 250 دولارا بالكرونة النرويجية؟",
    ],
)
async def test_a_made_up_date_is_never_answered_in_any_language(asked: str) -> None:
    money, model = converting()
    interaction = Interaction(today=lambda: date(2026, 11, 23))
    done = await Orchestrator([fake_source(money)], model=model, interaction=interaction).run(asked)
    assert done.status == "partial"
    assert [one.value for one in done.assumed] == ["2024-01-01"]


@pytest.mark.parametrize("strategy", ["layered", "react", "layered-no-repair"])
async def test_an_answer_that_rests_on_a_made_up_date_says_so(strategy: str) -> None:
    money, model = converting(strategy=strategy)
    setup = Orchestrator(
        [fake_source(money)],
        model=model,
        strategy=strategy,
        interaction=Interaction(today=lambda: date(2026, 11, 23)),
    )
    done = await setup.run(MONEY)
    (one,) = done.assumed
    assert (one.tool, one.parameter, one.value, one.result) == (
        "convert",
        "date",
        "2024-01-01",
        "r1",
    )
    assert done.status == "partial"
    assert done.answer.assumed == (
        "convert: assumed date 2024-01-01: not in the request or in a result",
    )
    assert "assumed date 2024-01-01: not in the request or in a result" in done.answer.text
    assert done.to_dict()["assumed"][0]["value"] == "2024-01-01"
    assert "assumed date 2024-01-01" in page(done.events)


async def test_a_default_is_no_assumption_and_a_number_from_nowhere_is_one() -> None:
    money, model = converting(day={**DAY, "default": "2024-01-01"})
    assert (await Orchestrator([fake_source(money)], model=model).run(MONEY)).status == "answered"
    money, model = converting("2025-06-20")
    done = await Orchestrator([fake_source(money)], model=model).run(
        "What is it in kroner on 2025-06-20?"
    )
    assert [(one.parameter, one.value) for one in done.assumed] == [("amount", 250)]


async def test_one_model_call_is_kept_for_the_answer() -> None:
    script = {
        "bind": [calls(call("find_airport", city="Oslo")), calls(call("population", iata="OSL"))],
        "answer": [said("The airport is OSL.", "r1")],
    }
    done = await run([airport(), weather()], script, *LAYERS, limits=Limits(model_calls=2))
    assert done.limit == "model_calls"
    assert done.cost.model_calls == 2
    assert done.status == "partial"
    assert "OSL" in done.answer.text


@pytest.mark.parametrize(
    ("strategy", "reply"),
    [
        ("react", {"thought": "", "action": {"tool": "finish", "reason": "%s"}}),
        ("layered", {"later": ["none"], "useful": ["none"], "reason": "%s"}),
        ("guided", {"no_call": "%s"}),
    ],
)
@pytest.mark.parametrize("reason", ["How many?", "I ordered it. What else?"])
async def test_a_model_that_calls_nothing_and_asks_has_its_question_put_to_the_user(
    strategy: str, reply: Any, reason: str
) -> None:
    order, cancel = (
        FakeTool(name, {"part": TEXT}, output={}, effects=WRITE) for name in ("order", "cancel")
    )
    model = ScriptedModel({"bind": json.loads(json.dumps(reply).replace("%s", reason))})
    setup = Orchestrator([fake_source(order, cancel)], model=model, strategy=strategy)
    done = await setup.run("Order some lamps.")
    is_question = reason == "How many?"
    assert (done.answer.text == reason) is is_question, "what tells of a deed is no question"
    assert done.status == "abstained"


@pytest.mark.parametrize(
    ("strategy", "is_good"),
    [("react", False), ("react", True), ("layered", False), ("guided", False), ("guided", True)],
)
async def test_a_write_that_was_kept_back_is_told_beside_another_of_its_tool(
    strategy: str, is_good: bool
) -> None:
    """Two orders: the second one's number stands nowhere. It is made good only by a call for the
    same part.
    """
    tool = FakeTool("order", {"part": TEXT, "quantity": {"type": "integer"}}, effects=WRITE)
    first, made_up = (
        call("order", part="A-100", quantity=5),
        call("order", part="C-330", quantity=7),
    )
    again = call("order", part="C-330" if is_good else "A-100", quantity=5)
    left = [[first], [made_up], [again]] if strategy == "react" else [[first, made_up], [again]]

    def reply(request: ChatRequest) -> Any:
        if request.purpose == "question":
            return {"question": "How many pieces of C-330?"}
        if request.purpose == "bind":
            return order_step(strategy, left.pop(0) if left else [])
        return said("It is done.") if "statements" in str(request.schema) else "It is done."

    setup = Orchestrator([fake_source(tool)], model=ScriptedModel(reply), strategy=strategy)
    done = await setup.run("Order 5 pieces of A-100 and some pieces of C-330.")
    assert first["arguments"] in tool.calls
    assert made_up["arguments"] not in tool.calls
    assert ("How many pieces of C-330?" in done.answer.text) is not is_good
