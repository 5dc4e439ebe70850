"""Carrying out raw calls, wrong ones too, as the tools' own servers would answer them: live or
simulated.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from callwright.nouns.errors import Failure
from callwright.nouns.protocols import ChatModel
from callwright.nouns.trajectory import Step
from callwright.nouns.types import JsonObject, Tool, ToolCall, ToolOutput, ToolResult
from callwright.repair.diagnose import diagnose
from callwright.simulation.recording import Recorded, Recording
from callwright.simulation.simulator import SimulatedSource, Simulator

Call = Callable[[Tool, JsonObject], Awaitable[ToolOutput]]


@dataclass(frozen=True)
class World:
    """Tools that answer. ``live``: they are the tools themselves, but for those that are
    ``simulated``.
    """

    tools: tuple[Tool, ...]
    call: Call
    live: bool = False
    simulated: frozenset[str] = frozenset()

    async def carry_out(self, call: ToolCall) -> ToolResult:
        """Return the tool's result for exactly this call, without repair. An error inside a success
        is read as one.
        """
        tool = next((tool for tool in self.tools if tool.name == call.tool), None)
        given = call.arguments if isinstance(call.arguments, dict) else {}
        if tool is None:
            return _build_failure(call, given, f"there is no tool called '{call.tool}'")
        if not isinstance(call.arguments, dict):
            return _build_failure(call, given, "the arguments are no JSON object")
        output = await self.call(tool, given)
        result = ToolResult(
            call.id, tool.name, given, output.content, output.failure, simulated=output.simulated
        )
        failure = diagnose(result, tool).failure
        return result if failure is None else replace(result, failure=failure)


def build_simulated_world(
    tools: Sequence[Tool], steps: Iterable[Step] = (), model: ChatModel | None = None
) -> World:
    """Tools that are not there: what is on record of their calls, else the model that imitates
    them.
    """
    return World(tuple(tools), build_simulated_source(tools, steps, model).call)


def build_simulated_source(
    tools: Sequence[Tool], steps: Iterable[Step], model: ChatModel | None = None
) -> SimulatedSource:
    """A tool source that answers as these rounds did; what else is called the model makes up, or
    fails.
    """
    recorded = [
        Recorded(result.tool, result.arguments, ToolOutput(result.content, result.failure))
        for step in steps
        for result in step.results
    ]
    return SimulatedSource(
        tools, Simulator(Recording(recorded, tools), model), name="refinetoolbench"
    )


def _build_failure(call: ToolCall, given: JsonObject, message: str) -> ToolResult:
    return ToolResult(call.id, call.tool, given, None, Failure("tool_error", message))
