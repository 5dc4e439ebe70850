"""The request of StableToolBench's own virtual server, for ``callwright simulate``."""

from __future__ import annotations

from collections.abc import Mapping

from callwright.nouns.types import Json, JsonObject, Tool, ToolCall
from callwright.simulation.routes import Answer, Route
from callwright_lab.datasets.toolbench_tools import change_name, standardise


async def respond(asked: Json, tools: Mapping[str, Tool], answer: Answer) -> tuple[int, Json, str]:
    """Answers ``{category, tool_name, api_name, tool_input, strip, toolbench_key}`` with ``{error,
    response}``, status 200 whatever came of it; 422 for a body of another form.
    """
    if not isinstance(asked, dict) or not all(
        isinstance(asked.get(key), str) for key in ("tool_name", "api_name")
    ):
        return 422, {"error": {"message": "tool_name and api_name are texts"}}, ""
    tool = find_tool(asked, tools)
    if tool is None:
        return 200, _envelope("API doesn't exist", ""), ""
    given = asked.get("tool_input", "")
    arguments = given if isinstance(given, dict) else str(given)
    output = await answer(tool, ToolCall("", tool.name, arguments))
    if output.failure is not None:
        return 200, _envelope(output.failure.message, ""), output.simulated
    held = output.content
    is_envelope = isinstance(held, dict) and {"error", "response"} <= set(held)
    return 200, held if is_envelope else _envelope("", held), output.simulated


def find_tool(asked: JsonObject, tools: Mapping[str, Tool]) -> Tool | None:
    """The tool as ToolBench's inference names it: ``<api>_for_<tool>``, the tool without
    ``_for_<category>``. None if there is none.
    """
    category = standardise(str(asked.get("category") or ""))
    api, plain = standardise(asked["api_name"]), standardise(asked["tool_name"])
    for ending in (f"_for_{category}", ""):
        tool = plain.removesuffix(ending) if ending else plain
        own = change_name(api.removesuffix(f"_for_{tool}"))
        if found := tools.get(f"{own}_for_{tool}") or tools.get(own):
            return found
    return None


def _envelope(error: str, response: Json) -> JsonObject:
    return {"error": error, "response": response}


ROUTE = Route("/virtual", "StableToolBench", respond)
"""What ``callwright.simulation_routes`` registers."""
