"""Do the checkers of trajectories leave alone what is right?

The tasks of ``examples/desk`` whose gold is two calls and more, solved by the Python-call agent
with a model that knows the right calls and the gold answer: right by construction. Each finding on
one of them is a false alarm.

    python benchmarks/reliability/right_trajectories.py
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

from callwright import Orchestrator
from callwright.agent.options import Safety, ToolSelection
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import Json
from callwright.tools.catalog import open_catalog
from callwright_lab.benchmarks.desk.tasks import load_desk
from callwright_lab.benchmarks.makespan.bench import LIMITS, build_gold_plan, select_playable_tasks
from callwright_lab.benchmarks.makespan.expert import Expert
from callwright_lab.verify.rounds import build_trajectory
from callwright_lab.verify.trajectories import find_faults


class Thinking(Expert):
    """The format wants a thought with every round."""

    def _round(self, schema: dict[str, Any]) -> Json:
        return {**super()._round(schema), "thought": "I go on."}


async def right() -> AsyncIterator[Trajectory]:
    """The trajectories, one after the other."""
    desk = load_desk()
    for task in select_playable_tasks(desk.tasks):
        plan, calls = await build_gold_plan(desk, task)
        with desk.stage(task) as stage:
            async with open_catalog(list(stage.sources), include=stage.only or ()) as catalog:
                tools = catalog.tools
            model = Thinking(plan, calls, task.gold_answer)
            names = [tool.name for tool in tools]
            setup = Orchestrator(
                list(stage.sources),
                model=model,
                strategy="code",
                selection=ToolSelection(only=names),
                safety=Safety(allow=["*"]),
                limits=LIMITS,
            )
            run = await setup.run(task.query)
        yield build_trajectory(run.events, tools, task.id)


async def main() -> int:
    made, dropped, kinds = 0, 0, Counter[str]()
    async for trajectory in right():
        found = find_faults(trajectory)
        made += 1
        dropped += any(fault.proved for fault in found)
        kinds.update({fault.kind for fault in found})
        for fault in found:
            print(
                f"{trajectory.id}: {fault.kind}{' (dropped)' if fault.proved else ''}:"
                f" {fault.reason}"
            )
    print(f"{made} trajectories, {dropped} dropped; by kind: {dict(kinds)}")
    return dropped


if __name__ == "__main__":
    raise SystemExit(bool(asyncio.run(main())))
