"""Our own agent on the same jobs: ``Orchestrator`` with a strategy, every write allowed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from callwright.agent.options import Interaction, Safety
from callwright.agent.orchestrator import Orchestrator
from callwright.nouns.errors import CallwrightError, Failure
from callwright.nouns.limits import Limits
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.protocols import ChatModel, Planner, ToolSource
from callwright.nouns.types import (
    JsonObject,
    Message,
    Tool,
    ToolCall,
    ToolOutput,
    Usage,
)
from callwright_lab.benchmarks.agents.frameworks import Ended
from callwright_lab.benchmarks.agents.tasks import Task
from callwright_lab.benchmarks.agents.worlds.world import World
from callwright_lab.benchmarks.makespan.expert import Expert

STRATEGIES = ("react", "layered", "guided")
PLANNED = ("layered",)  # of these, those that make a plan
TODAY = date(2026, 3, 12)  # as the loops are told


class WorldSource(ToolSource):
    """A world's tools for our own agent."""

    name = "agents"

    def __init__(self, world: World) -> None:
        self._world = world

    async def open(self) -> Sequence[Tool]:
        return tuple(self._world.tools.values())

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        called = self._world.call(tool.name, arguments)
        failure = None if called.is_ok else Failure("tool_error", called.text)
        return ToolOutput(called.content, failure=failure)

    async def aclose(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True)
class OwnRun:
    """The end of a run of our own agent, and its cost."""

    ended: Ended
    steps: int
    usage: Usage


def build_expert(task: Task) -> Expert:
    """A model that makes gold's calls in whatever form a strategy asks for them."""
    slots: list[Slot] = []
    before: frozenset[str] = frozenset()
    for step in task.steps:
        made = [Slot(f"{len(slots) + n}", call.tool, before) for n, call in enumerate(step, 1)]
        slots += made
        before = frozenset(slot.id for slot in made)
    calls = [ToolCall(f"gold_{n}", c.tool, dict(c.arguments)) for n, c in enumerate(task.gold, 1)]
    return Expert(Plan(tuple(slots)), calls, task.answer)


def run_own_agent(
    task: Task,
    world: World,
    messages: Sequence[JsonObject],
    model: ChatModel,
    strategy: str,
    limit_seconds: float,
    planner: Planner | None = None,
) -> OwnRun:
    """Run one task. What our agent raises is the run's error. ``planner``: None is the default
    one.
    """
    began = time.monotonic()
    orchestrator = Orchestrator(
        [WorldSource(world)],
        model=model,
        strategy=strategy,
        planner=planner,
        safety=Safety(allow=("*",)),
        interaction=Interaction(today=lambda: TODAY),
        limits=Limits(seconds=limit_seconds),
    )
    talk = [_build_message(message) for message in messages[1:-1]]
    try:
        run = asyncio.run(orchestrator.run(task.request, talk))
    except CallwrightError as error:
        said = f"{type(error).__name__}: {error}"
        return OwnRun(Ended("", said, time.monotonic() - began), 0, Usage())
    ended = Ended(run.answer.text, run.limit, time.monotonic() - began)
    return OwnRun(ended, run.cost.steps, run.cost.usage)


def _build_message(message: JsonObject) -> Message:
    if "calls" in message:
        calls = tuple(ToolCall(c["id"], c["name"], c["arguments"]) for c in message["calls"])
        return Message("assistant", "", calls)
    if message["role"] == "tool":
        return Message("tool", message["content"], tool_call_id=message["id"])
    return Message(message["role"], message["content"])
