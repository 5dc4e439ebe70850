"""Thoughts written by rule, for trajectories and reflections that come without a model's own.

What they say is what the row shows: what the tool is for, and where each value comes from (the
task, an earlier result, the feedback). They are plain on purpose: a model learns from them to look,
not to invent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall
from callwright.repair.provenance.sources import ProvenanceIndex

_MOST = 100  # characters of a purpose


def describe_purpose(tool: Tool | None) -> str:
    """Return a tool's purpose: the first sentence of its description, or "" without one."""
    text = " ".join((tool.description if tool else "").split())
    first = re.split(r"(?<=[.!?]) ", text, maxsplit=1)[0].rstrip(".!")
    return first if len(first) <= _MOST else f"{first[:_MOST].rsplit(' ', 1)[0]} …"


def write_call_thought(trajectory: Trajectory, step: int) -> str:
    """The thought of a round that calls: why these tools, and where their values come from."""
    calls = trajectory.steps[step].calls
    begins = "First" if step == 0 else "Next"
    wanted = "; ".join(f"`{c.tool}`{_render_purpose(trajectory.tool(c.tool))}" for c in calls)
    told = [line for c in calls if (line := describe_origins(trajectory, step, c))]
    return " ".join([f"{begins} I call {wanted}.", *dict.fromkeys(told)])


def describe_origins(
    trajectory: Trajectory, step: int, call: ToolCall, keys: Mapping[str, Json] | None = None
) -> str:
    """Return a sentence on the origin of a call's values: the task, or the result of an earlier
    round.
    """
    given: Mapping[str, Json] = keys if keys is not None else _get_arguments(call)
    asked = ProvenanceIndex(trajectory.query)
    said = [key for key, value in given.items() if _is_grounded(asked, value)]
    came: dict[str, list[str]] = {}
    for key, value in given.items():
        if key not in said and (tool := _find_source_tool(trajectory, step, value)):
            came.setdefault(tool, []).append(key)
    verb = "is" if len(said) == 1 else "are"
    parts = [f"{_join_keys(said)} {verb} in the task"] if said else []
    parts += [f"{_join_keys(keys)} came back from `{tool}`" for tool, keys in came.items()]
    return f"{'; '.join(parts)}." if parts else ""


def _find_source_tool(trajectory: Trajectory, step: int, value: Json) -> str:
    """The tool whose result, nearest before the round, holds a value."""
    for earlier in reversed(trajectory.steps[:step]):
        for call, result in earlier.pairs:
            if result is not None and _is_grounded(ProvenanceIndex("", results=[result]), value):
                return call.tool
    return ""


def _is_grounded(sources: ProvenanceIndex, value: Json) -> bool:
    if isinstance(value, list | dict):
        inner = list(value.values()) if isinstance(value, dict) else value
        return bool(inner) and all(_is_grounded(sources, v) for v in inner)
    return value is not None and not isinstance(value, bool) and sources.holds(value)


def _get_arguments(call: ToolCall) -> JsonObject:
    return call.arguments if isinstance(call.arguments, dict) else {}


def _render_purpose(tool: Tool | None) -> str:
    said = describe_purpose(tool)
    return f" ({said})" if said else ""


def _join_keys(keys: list[str]) -> str:
    named = [f"`{k}`" for k in keys]
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
