"""A run with the instructions of its author: in every question, and as a source of values."""

from __future__ import annotations

from typing import Any

import pytest

from callwright import Orchestrator
from callwright.agent.options import Interaction
from callwright.nouns.types import READ_LOCAL
from callwright.testing import FakeTool, ScriptedModel, fake_source
from tests.agent.running.flow import QUERY, TEXT, airport, call, calls, said, weather

RULES = "Speak as the desk of depot W-77."


@pytest.mark.parametrize(
    "strategy",
    ["layered", "guided", "dag", "edges", "compiler", "react", "dfsdt", "code", "toolmvr"],
)
@pytest.mark.parametrize("mode", ["schema", "text"])
async def test_instructions_stand_in_every_question_of_every_strategy(
    strategy: str, mode: Any
) -> None:
    asked = []
    for instructions in ("", RULES):
        model = ScriptedModel({"*": "Nothing of use."})
        await Orchestrator(
            [fake_source(airport(), weather())],
            model=model,
            strategy=strategy,
            instructions=instructions,
            interaction=Interaction(mode),
        ).run(QUERY)
        asked.append([request.messages for request in model.requests])
    without, with_ = asked
    assert with_
    for messages in with_:
        assert messages[0].role == "system"
        assert messages[0].content.endswith(f"\n\n{RULES}")
    bare = [m[0].content.removesuffix(f"\n\n{RULES}") for m in with_]
    assert bare == [messages[0].content for messages in without]
    assert [m[1:] for m in with_] == [m[1:] for m in without]


async def test_all_questions_of_a_run_with_instructions_begin_alike() -> None:
    model = ScriptedModel(
        {"bind": calls(call("find_airport", city="Oslo")), "answer": said("It is OSL.", "r1")}
    )
    tools = [fake_source(airport())]
    done = await Orchestrator(tools, model=model, instructions=RULES).run(QUERY)
    assert done.status == "answered"
    first, last = model.requests[0].messages, model.requests[-1].messages
    assert first[0] == last[0]


async def test_a_value_of_the_instructions_may_be_used_in_a_call() -> None:
    staff = FakeTool("staff", {"opened": {**TEXT, "format": "date"}}, output=7, effects=READ_LOCAL)
    script = {
        "bind": calls(call("staff", opened="2019-05-04")),
        "answer": said("7 people work there.", "r1"),
    }
    for instructions, assumed in (("The depot opened on 2019-05-04.", []), ("", ["opened"])):
        done = await Orchestrator(
            [fake_source(staff)], model=ScriptedModel(script), instructions=instructions
        ).run("How many people work in the depot?")
        assert [one.parameter for one in done.assumed] == assumed
