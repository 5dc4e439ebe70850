"""Of many tools the model chooses first; of few it sees all."""

from __future__ import annotations

from typing import Any

import pytest

from callwright import Orchestrator
from callwright.nouns.types import READ
from callwright.testing import FakeTool, FixedPlan, ScriptedModel, fake_source

FINISH = {"thought": "", "judgement": "finish"}
SAID = {"statements": [], "missing": []}


def tools(count: int) -> list[FakeTool]:
    return [
        FakeTool(f"tool_{n}", {"x": {"type": "string"}}, output={"v": n}, effects=READ)
        for n in range(count)
    ]


@pytest.mark.parametrize(
    ("strategy", "many"), [("layered", 13), ("dag", 13), ("edges", 13), ("compiler", 13)]
)
async def test_one_short_question_comes_before_the_plan_where_there_are_many_tools(
    strategy: str, many: int
) -> None:
    for count, first in ((many - 1, {"plan", "bind"}), (many, {"select"})):
        script: dict[str, Any] = {
            "select": {"needed": ["tool_2"]},
            "plan": {"steps": []},
            "bind": {"calls": []},
            "join": FINISH,
        }
        model = ScriptedModel({**script, "*": SAID})
        all_of_them = FixedPlan(
            [f"tool_{n}" for n in range(count)]
        )  # a planner that chooses none itself
        setup = Orchestrator(
            [fake_source(*tools(count))], model=model, strategy=strategy, planner=all_of_them
        )
        done = await setup.run("Do it.")
        assert model.requests[0].purpose in first
        left_out = {
            skip.tool for skip in done.skips if skip.reason == "not chosen for this request"
        }
        assert left_out == ({t.name for t in tools(count)} - {"tool_2"} if count == many else set())


async def test_where_none_is_chosen_all_are_planned() -> None:
    model = ScriptedModel({"select": {"needed": []}, "plan": {"steps": []}, "*": SAID})
    done = await Orchestrator([fake_source(*tools(13))], model=model, strategy="dag").run("Do it.")
    plan = next(r for r in model.requests if r.purpose == "plan").messages[-1].content
    assert all(f"tool_{n}(" in plan for n in range(13))
    assert any("all are planned" in e.data["text"] for e in done.events if e.kind == "note")
