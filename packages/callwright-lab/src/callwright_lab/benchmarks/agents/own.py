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
from callwright.nouns.protocols import ChatModel, ChatRequest, Planner, ToolSource, Watcher
from callwright.nouns.types import (
    Json,
    JsonObject,
    Message,
    Reply,
    Tool,
    ToolCall,
    ToolOutput,
    Usage,
    to_canonical_json,
)
from callwright_lab.benchmarks.agents.frameworks import Ended
from callwright_lab.benchmarks.agents.scripted import Style, pick_fault, script_steps
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


class TaskExpert(Expert):
    """An expert that sees which of its calls were carried out, as a model sees their results: one
    that was not is made again.
    """

    def __init__(
        self,
        world: World,
        plan: Plan,
        calls: Sequence[ToolCall],
        answer: str,
        *,
        is_careless: bool = False,
    ) -> None:
        """``is_careless``: it says that all is done, whatever was."""
        super().__init__(plan, calls, answer)
        self._world, self._is_careless = world, is_careless

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
        self._take_log()
        return await super().complete(request, watch)

    def _answered(self, schema: JsonObject) -> Json:
        left = [call.tool for slot, call in self._calls.items() if slot not in self._made]
        if left and not self._is_careless and "missing" in schema.get("properties", {}):
            return {"statements": [], "missing": [f"{name} is still to be called" for name in left]}
        return super()._answered(schema)

    def _take_log(self) -> None:
        """Take the calls that reached the world for those that were made: each for an equal one, or
        for one of the same tool, where something was changed on its way.
        """
        left = [(called.tool, to_canonical_json(called.arguments)) for called in self._world.log]
        made: dict[str, int] = {}
        for is_equal in (True, False):
            for slot, call in self._calls.items():
                own = (call.tool, to_canonical_json(call.arguments))
                is_open = slot not in made and (is_equal or slot in self._made)
                found = [one for one in left if one == own or (not is_equal and one[0] == own[0])]
                if is_open and found:
                    left.remove(found[0])
                    made[slot] = self._made.get(slot, self._replies)
        self._made = made


def build_expert(task: Task, world: World, style: Style = "right") -> TaskExpert:
    """A model that makes the calls of a script in whatever form a strategy asks for them. ``world``:
    where they are carried out.
    """
    slots: list[Slot] = []
    before: frozenset[str] = frozenset()
    steps = script_steps(task, style)
    for step in steps:
        made = [Slot(f"{len(slots) + n}", call.tool, before) for n, call in enumerate(step, 1)]
        slots += made
        before = frozenset(slot.id for slot in made)
    gold = [call for step in steps for call in step]
    calls = [ToolCall(f"gold_{n}", c.tool, dict(c.arguments)) for n, c in enumerate(gold, 1)]
    is_careless = style == "careless"
    answer = "{}" if is_careless and pick_fault(task) == "empty" else task.answer
    return TaskExpert(world, Plan(tuple(slots)), calls, answer, is_careless=is_careless)


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
