"""The agent carries actions out; what goes wrong is raised where it was asked for."""

from __future__ import annotations

import asyncio

import pytest

from callwright.agent.orchestrator import Orchestrator
from callwright.agent.questions import LimitReached
from callwright.agent.step import (
    Dispatch,
    Recall,
    RunBeside,
    StepContext,
    Steps,
    Write,
    execute,
)
from callwright.agent.strategies.strategy import Stepwise
from callwright.nouns.limits import Limits
from callwright.nouns.plan import Slot
from callwright.nouns.protocols import ChatRequest, Watcher
from callwright.nouns.types import READ, Message, Reply, ToolCall
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


class Writes(ScriptedModel):
    """Goes on writing only when what it wrote first has been called."""

    def __init__(self, first: FakeTool) -> None:
        super().__init__({"answer": [SAID]})
        self._first = first

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
        if request.purpose != "plan" or watch is None:
            return await super().complete(request, watch)
        watch("a;")
        await self._first.begun()
        watch("b;")
        return Reply("a;b;")


class Beside(Stepwise):
    """Has ``look`` called for each word as soon as it is written."""

    name = "beside"

    def __init__(self) -> None:
        self.sent: list[str] = []

    def steps(self, context: StepContext) -> Steps[None]:
        event = yield RunBeside(self._write(context))
        assert event.value == "a;b;"
        assert [step.slot.id for step in event.stream.steps.values()] == ["look#a", "look#b"]

    def _write(self, context: StepContext) -> Steps[str]:
        event = yield Recall("plan")
        assert (event.noted, event.is_last) == (None, True)
        request = ChatRequest((Message("user", "Write"),), purpose="plan")
        event = yield Write(request, self._read, (";",))
        yield from self._read(event.reply.text)  # what came with its end
        return str(event.reply.text)

    def _read(self, text: str) -> Steps[None]:
        for word in text.split(";")[len(self.sent) : -1]:
            slot = Slot(f"look#{word}", "look", arguments={"q": word})
            event = yield Dispatch("plan", {"steps": [slot]})
            assert event.noted["actor"] == "plan"
            self.sent.append(word)


async def test_what_a_reply_lets_go_is_called_while_it_is_written() -> None:
    tool, policy = look(), Beside()
    async with asyncio.timeout(10):
        run = await Orchestrator([fake_source(tool)], model=Writes(tool), strategy=policy).run(
            "Find a, b"
        )
    assert policy.sent == ["a", "b"]
    assert tool.calls == [{"q": "a"}, {"q": "b"}]
    noted = [event.data["slots"] for event in run.events if event.kind == "dispatch"]
    assert noted == [["look#a"], ["look#b"]], "each is on record"


async def test_nothing_is_let_go_where_nothing_runs_beside() -> None:
    class Alone(Stepwise):
        name = "alone"

        def steps(self, context: StepContext) -> Steps[None]:
            yield Recall("plan")

    setup = Orchestrator([fake_source(look())], model=ScriptedModel({}), strategy=Alone())
    with pytest.raises(TypeError, match="Recall needs slots to be run beside it"):
        await setup.run("?")
