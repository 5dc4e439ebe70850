"""Somebody who answers for the tools that verification found dead (Tool-MVR, 3.2.1): the Simulator, and so marked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from callwright.execution.simulate import Simulator
from callwright.overlay import Overlay, documented
from callwright.types import JsonObject, Tool, ToolCall, ToolOutput

Caller = Callable[[str, JsonObject], Awaitable[ToolOutput]]


def dead(tools: Sequence[Tool], overlay: Overlay) -> frozenset[str]:
    """The tools that an overlay calls dead, as they stand: one that has changed since may be alive again."""
    found = (tool for tool in tools if tool.name in overlay.tools)
    return frozenset(
        tool.name
        for tool in found
        if overlay.tools[tool.name].status.startswith("dead") and overlay.tools[tool.name].of == documented(tool)
    )


def with_stand_ins(tools: Sequence[Tool], caller: Caller, overlay: Overlay, simulator: Simulator) -> Caller:
    """A caller that asks the simulator in place of dead tools, and everybody else themselves.

    What the simulator answers says so (``ToolOutput.simulated``). Raises ModelError where its model cannot be asked.
    """
    by_name = {tool.name: tool for tool in tools}
    gone = dead(tools, overlay)

    async def call(name: str, arguments: JsonObject) -> ToolOutput:
        if name not in gone:
            return await caller(name, arguments)
        result = await simulator.simulate(ToolCall("", name, arguments), by_name[name])
        return ToolOutput(result.content, result.failure, result.simulated)

    return call
