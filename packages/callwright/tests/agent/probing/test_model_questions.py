"""Questions to a model: within the budget, never needed."""

from __future__ import annotations

from datetime import date

import pytest

from callwright.agent.probing import TrialPolicy
from callwright.agent.probing.arguments import Draft
from callwright.agent.probing.candidate import Candidate
from callwright.agent.probing.model_questions import Asking
from callwright.agent.probing.values import Request
from callwright.nouns.model_profile import SMALL, ModelProfile, find_profile
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
    policy = TrialPolicy(planning="model", evaluation="model", model_calls=1, evaluator_share=0.0)
    asking = Asking(model, policy, "a", problems)
    assert await asking.plan(TOOL, REQUEST, []) == Draft({"city": "Oslo"})
    assert await asking.order("q", [Candidate(TOOL, 1, 1.0)]) == ((), None)
    assert problems == ["the evaluator was not asked: the limit of 1 questions is reached"]


async def test_the_planner_leaves_the_evaluator_its_share() -> None:
    """Twenty-four tools to plan for would have spent all twenty-four questions."""
    tools = [FakeTool(f"t{i}", {"city": {"type": "string"}}).tool for i in range(24)]
    replies = {"trial.plan": {"arguments": {"city": "Oslo"}}, "trial.rank": str(list(range(1, 21)))}
    model, problems = ScriptedModel(replies), list[str]()
    policy = TrialPolicy(planning="model", evaluation="model")
    assert policy.model_calls == 24
    asking = Asking(model, policy, "a", problems)
    planned = [await asking.plan(tool, REQUEST, []) for tool in tools]
    assert sum(one is not None for one in planned) == 18
    order, _ = await asking.order("q", [Candidate(tool, i, 1.0) for i, tool in enumerate(tools)])
    assert order
    assert [request.purpose for request in model.requests].count("trial.rank") == 1
    assert problems == [
        "the planner was not asked: the limit of 24 questions is reached, of which 6 are kept for"
        " the evaluator"
    ]


async def test_of_too_small_a_share_the_evaluator_asks_what_it_can() -> None:
    model, problems = ScriptedModel({"trial.rank": "[1]"}), list[str]()
    policy = TrialPolicy(evaluation="model", shuffles=4, model_calls=2)
    asking = Asking(model, policy, "a", problems)
    order, agreement = await asking.order("q", [Candidate(TOOL, 1, 1.0)])
    assert (order, agreement, asking.calls) == ((TOOL.name,), 1.0, 2)
    assert problems == ["the evaluator was asked 2 of 5 times: the limit of 2 questions is reached"]


async def test_without_a_model_it_is_said_that_none_was_asked() -> None:
    problems: list[str] = []
    asking = Asking(None, TrialPolicy(evaluation="model"), "a", problems)
    assert await asking.order("q", [Candidate(TOOL, 1, 1.0)]) == ((), None)
    assert "there is no model" in problems[0]


async def test_a_tool_without_parameters_needs_no_plan() -> None:
    model = ScriptedModel([])
    asking = Asking(model, TrialPolicy(planning="model"), "a", [])
    assert await asking.plan(FakeTool("now").tool, REQUEST, []) is None


@pytest.mark.parametrize(
    ("profile", "evaluated", "shown"),
    [(SMALL, 20, 20), (find_profile("large"), 20, 60), (find_profile("large"), 5, 5)],
    ids=lambda value: value.name if isinstance(value, ModelProfile) else str(value),
)
async def test_a_larger_profile_shows_the_evaluator_more_unless_the_policy_says_how_many(
    profile: ModelProfile, evaluated: int, shown: int
) -> None:
    model = ScriptedModel({"trial.rank": "[1]", "trial.plan": {"arguments": {"city": "Oslo"}}})
    policy = TrialPolicy(planning="model", evaluation="model", evaluated=evaluated)
    asking = Asking(model, policy, "a", [], profile)
    tools = [FakeTool(f"t{i}", {"city": {"type": "string"}}).tool for i in range(70)]
    await asking.order("q", [Candidate(tool, i, 1.0) for i, tool in enumerate(tools)])
    await asking.plan(TOOL, REQUEST, [])
    rank, plan = model.requests
    assert rank.schema is not None
    assert rank.schema["maxItems"] == shown
    assert plan.max_tokens == profile.reply_tokens
