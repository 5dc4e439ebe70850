"""Results that say of themselves that they are not final: the same call may be made again later."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from callwright.nouns.types import Json, Tool, ToolCall, ToolResult

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


@cache
def _load_states() -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    data = tomllib.loads(
        (files("callwright.repair") / "data" / "job_states.toml").read_text("utf-8")
    )
    states = frozenset(one for group in data["states"] for one in group["values"])
    return dict.fromkeys(data["keys"], states), frozenset(data["done_flags"])
