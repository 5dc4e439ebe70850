"""Questions to a model: within the budget, never needed."""

from __future__ import annotations

from datetime import date

from callwright.agent.probing import TrialPolicy
from callwright.agent.probing.arguments import Draft
from callwright.agent.probing.candidate import Candidate
from callwright.agent.probing.model_questions import Asking
from callwright.agent.probing.values import Request
from callwright.testing import FakeTool, ScriptedModel

TOOL = FakeTool("weather", {"city": {"type": "string"}}).tool
REQUEST = Request("Weather in Oslo?", date(2026, 11, 22))


async def test_by_default_nothing_is_asked() -> None:
    model = ScriptedModel([])
    asking = Asking(model, TrialPolicy(), "trials:model", [])
    assert await asking.plan(TOOL, REQUEST, []) is None
    assert await asking.order("q", [Candidate(TOOL, 1, 1.0)]) == ((), None)
    assert model.requests == []


async def test_no_more_is_asked_than_the_policy_allows() -> None:
    model, problems = ScriptedModel(['{"city": "Oslo"}']), list[str]()
    asking = Asking(
        model, TrialPolicy(planning="model", evaluation="model", model_calls=1), "a", problems
    )
    assert await asking.plan(TOOL, REQUEST, []) == Draft({"city": "Oslo"})
    assert await asking.order("q", [Candidate(TOOL, 1, 1.0)]) == ((), None)
    assert problems == ["the evaluator was not asked: the limit of 1 questions is reached"]


async def test_without_a_model_it_is_said_that_none_was_asked() -> None:
    problems: list[str] = []
    asking = Asking(None, TrialPolicy(evaluation="model"), "a", problems)
    assert await asking.order("q", [Candidate(TOOL, 1, 1.0)]) == ((), None)
    assert "there is no model" in problems[0]


async def test_a_tool_without_parameters_needs_no_plan() -> None:
    model = ScriptedModel([])
    asking = Asking(model, TrialPolicy(planning="model"), "a", [])
    assert await asking.plan(FakeTool("now").tool, REQUEST, []) is None
