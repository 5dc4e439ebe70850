"""Short trajectories for the tests of judges and of what reads them."""

from __future__ import annotations

from typing import Any

from callwright.nouns.errors import Failure
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Tool, ToolCall, ToolResult

WEATHER = Tool(
    "weather",
    "Weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def step(
    id: str, arguments: dict[str, Any], content: Any = None, error: str = "", thought: str = ""
) -> Step:
    """One call of ``weather`` and what came of it."""
    failure = Failure("tool_error", error) if error else None
    result = ToolResult(id, "weather", arguments, content, failure)
    return Step(thought, (ToolCall(id, "weather", arguments),), (result,))


def run(
    answer: str | None = "It rains in Oslo.", *steps: Step, given_up: bool = False, id: str = "1"
) -> Trajectory:
    """What an agent did for one request."""
    done = steps or (step("r1", {"city": "Oslo"}, {"sky": "rain"}),)
    return Trajectory(id, "What is the weather in Oslo?", (WEATHER,), done, answer, given_up)
