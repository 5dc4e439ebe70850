"""Results that say of themselves that they are not final: the same call may be made again later."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from callwright.nouns.types import Json, JsonObject, Tool, ToolCall, ToolResult

_SPACES = re.compile(r"[-\s]+")


def is_pending(content: Json) -> bool:
    """Return True if a result is a job that still goes on, by the states that protocols and APIs of
    long-running jobs define (``data/job_states.toml``). A text says nothing here: it is not read.
    """
    if not isinstance(content, dict):
        return False
    states, done = _load_states()
    for key in states:
        value = content.get(key)
        if isinstance(value, str) and _SPACES.sub("_", value.strip().lower()) in states[key]:
            return True
    return any(content.get(key) is False for key in done)


def find_follow_up(result: ToolResult, tools: Sequence[Tool]) -> ToolCall | None:
    """The read that tells how far a job is which goes on: the same read again, or the only one that
    requires nothing but what the result names by the same keys. None where no tool is declared so.
    """
    reads = [tool for tool in tools if tool.effects.declared and tool.effects.read_only]
    if any(tool.name == result.tool for tool in reads):
        return ToolCall("", result.tool, dict(result.arguments))
    told = result.content if isinstance(result.content, dict) else {}
    fitting = [tool for tool in reads if tool.required and told.keys() >= {*tool.required}]
    if len(fitting) != 1:
        return None
    return ToolCall("", fitting[0].name, {key: told[key] for key in fitting[0].required})


def begins_new_jobs(results: Sequence[ToolResult], tools: Sequence[Tool]) -> bool:
    """Return True if one more call like these would surely begin one more job, not ask how far the
    first one is. ``results``: of equal calls of one tool, all pending, oldest first. Either a
    declared read tells how far the last job is (:func:`find_follow_up`), or the results name
    different jobs: by a key that another tool requires and this one does not take. An equal call
    that asks for a state names the same job each time.
    """
    if not results:
        return False
    follow_up = find_follow_up(results[-1], tools)
    if follow_up is not None and follow_up.tool != results[-1].tool:
        return True
    taken = {key for tool in tools if tool.name == results[-1].tool for key in tool.properties}
    keys = {key for tool in tools if tool.name != results[-1].tool for key in tool.required}
    told = [result.content for result in results if isinstance(result.content, dict)]
    return any(len(_list_names(told, key)) > 1 for key in keys - taken)


def _list_names(told: Sequence[JsonObject], key: str) -> set[str | int]:
    values = (one.get(key) for one in told)
    return {v for v in values if isinstance(v, str | int) and not isinstance(v, bool)}


@cache
def _load_states() -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    data = tomllib.loads(
        (files("callwright.repair") / "data" / "job_states.toml").read_text("utf-8")
    )
    states = frozenset(one for group in data["states"] for one in group["values"])
    return dict.fromkeys(data["keys"], states), frozenset(data["done_flags"])
