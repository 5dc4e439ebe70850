"""The day of a run: told to the model where a tool takes a date and no tool tells one.

A model without a calendar writes a date of its training. Where the run's own tools tell the day,
the model asks them, because theirs may be another one: that of a simulated world, or of a place on
the other side of the date line.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

from callwright.agent.words import extract_stems
from callwright.language import ENGLISH
from callwright.language.tokens import split_name
from callwright.nouns.types import Tool

_FORMATS = frozenset({"date", "date-time"})
_DAY, _NOW, _WHEN = (
    extract_stems(" ".join(ENGLISH.listed(f"parameters.{name}"))) for name in ("day", "now", "when")
)
_WEEKDAYS = ENGLISH.listed("calendar.weekday_names")
_DEPTH = 12


def choose_prompt_day(tools: Iterable[Tool], today: date | None) -> date | None:
    """The day that the model is told of: ``today``, where a tool takes a date and none of them
    tells it.
    """
    tools = tuple(tools)
    if (
        today is None
        or not any(is_day_parameter(tool) for tool in tools)
        or any(is_day_tool(tool) for tool in tools)
    ):
        return None
    return today


def is_day_parameter(tool: Tool) -> bool:
    """Return True if a parameter is a date, by its format, its name or its description."""
    return _has_day(tool.input_schema, 0)


def is_day_tool(tool: Tool) -> bool:
    """Return True if a tool returns the current day. It has at most one required input, and its
    documentation speaks of now and of a time.
    """
    if len(tool.required) > 1 or not (tool.effects.read_only or not tool.effects.declared):
        return False
    about = extract_stems(f"{' '.join(split_name(tool.name))} {tool.description}")
    return bool(about & _NOW and about & _WHEN) and not is_day_parameter(tool)


def render_today(today: date) -> str:
    """The sentence in a prompt."""
    weekday = _WEEKDAYS[today.weekday()].capitalize()
    return f"Today is {weekday}, {today.isoformat()}."


def _has_day(schema: Any, depth: int) -> bool:
    if not isinstance(schema, dict) or depth > _DEPTH:
        return False
    if schema.get("format") in _FORMATS:
        return True
    properties = schema.get("properties")
    for name, part in properties.items() if isinstance(properties, dict) else ():
        about = str(part.get("description") or "") if isinstance(part, dict) else ""
        texts = isinstance(part, dict) and part.get("type", "string") == "string"
        if texts and (
            _DAY & extract_stems(f"{' '.join(split_name(name))} {about}") or "YYYY" in about
        ):
            return True
        if _has_day(part, depth + 1):
            return True
    either, named = schema.get("anyOf"), schema.get("$defs")
    inner = [
        schema.get("items"),
        *(either if isinstance(either, list) else ()),
        *(named.values() if isinstance(named, dict) else ()),
    ]
    return any(_has_day(part, depth + 1) for part in inner)
