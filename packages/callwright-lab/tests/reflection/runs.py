"""Runs in which calls go wrong and are put right, on disk as journals: what harvesting is for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callwright import Orchestrator, Run
from callwright.agent.options import Persistence
from callwright.nouns.errors import Failure
from callwright.nouns.types import READ_LOCAL
from callwright.testing import FakeTool, FixedPlan, ScriptedModel, fake_source
from callwright.testing.faults import Fault, FaultySource

TEXT = {"type": "string"}
QUERY = "Weather at the airport of Oslo (OSL, also ENGM) for ann.lee@fjord.no?"
NO = Fault(
    Failure("tool_error", "this code is not understood here: give the longer one", status=400)
)
BUSY = Fault(Failure("rate_limit", "too many requests", retryable=True, status=429))
GONE = Fault(Failure("tool_error", "weather has been renamed: call weather_v2", status=410))
SAID = {"statements": [{"text": "It rains.", "results": ["r1"]}], "missing": []}
ENGM = {"name": "weather", "arguments": {"station": "ENGM"}}
REFLECTED = {
    "analysis": "The code OSL is too short here.",
    "strategy": "I give ENGM.",
    "tool_calls": [ENGM],
}


def weather(name: str = "weather", **more: Any) -> FakeTool:
    return FakeTool(name, {"station": {**TEXT, **more}}, output={"sky": "rain"}, effects=READ_LOCAL,
                    description="The weather at a station.")  # fmt: skip


def bound(station: str, tool: str = "weather") -> dict[str, Any]:
    return {"calls": [{"tool": tool, "arguments": {"station": station}}]}


async def made(
    folder: Path,
    faults: Any,
    script: dict[str, Any],
    *tools: FakeTool,
    strategy: str = "layered",
    layer: Sequence[str] = ("weather",),
) -> Run:
    """A run with these faults, its journal in the folder."""
    model = ScriptedModel({"select": {"needed": ["weather"]}, "answer": SAID, **script})
    offered = tools or (weather(),)
    source = FaultySource(fake_source(*offered), faults)
    setup = Orchestrator(
        [source],
        model=model,
        planner=FixedPlan(layer),
        strategy=strategy,
        persistence=Persistence(journal=folder),
    )
    return await setup.run(QUERY)


NONE = {"useful": ["none"], "reason": "done"}
