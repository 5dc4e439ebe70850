"""The agent carries actions out; what goes wrong is raised where it was asked for."""

from __future__ import annotations

from callwright.agent.orchestrator import Orchestrator
from callwright.agent.questions import LimitReached
from callwright.agent.step import StepContext, Steps, execute
from callwright.agent.strategies.job import Stepwise
from callwright.nouns.limits import Limits
from callwright.nouns.types import READ, ToolCall
from callwright.testing import FakeTool, ScriptedModel, fake_source

SAID = {"statements": [{"text": "It is found.", "results": ["r1"]}], "missing": []}


def look() -> FakeTool:
    return FakeTool("look", {"q": {"type": "string"}}, output={"found": "it"}, effects=READ)


async def test_calls_of_a_policy_are_made_and_their_results_sent_back() -> None:
    class Twice(Stepwise):
        name = "twice"

        def steps(self, context: StepContext) -> Steps[None]:
            for q in ("a", "b"):
                results = yield from execute([ToolCall("", "look", {"q": q})], {"look"})
                assert [r.arguments for r in results] == [{"q": q}]

    tool = look()
    run = await Orchestrator(
        [fake_source(tool)], model=ScriptedModel({"answer": [SAID]}), strategy=Twice()
    ).run("Find a and b")
    assert tool.calls == [{"q": "a"}, {"q": "b"}]
    assert [r.id for r in run.results] == ["r1", "r2"]


async def test_a_limit_is_raised_where_the_question_was_asked() -> None:
    caught = []

    class Asking(Stepwise):
        name = "asking"

        def steps(self, context: StepContext) -> Steps[None]:
            from callwright.agent.step import BindStep

            try:
                yield from context.bind(context.tools, BindStep("layer"))
            except LimitReached as limit:
                caught.append(limit.limit)
                raise

    run = await Orchestrator(
        [fake_source(look())],
        model=ScriptedModel({}),
        strategy=Asking(),
        limits=Limits(model_calls=1),
    ).run("Find a")
    assert caught == ["model_calls"]
    assert run.limit == "model_calls"
