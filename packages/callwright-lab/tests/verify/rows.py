"""Rows of data sets, made for the tests of their verification."""

from __future__ import annotations

from typing import Any

from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import READ, Json, Tool, ToolCall, ToolResult
from callwright_lab.transcripts import Transcript

FLIGHT = Tool(
    "find_flight",
    "Finds flights.",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "day": {"type": "string"},
            "seats": {"type": "integer"},
        },
        "required": ["city", "day"],
    },
    effects=READ,
)
BOOK = Tool(
    "book",
    "Books a flight.",
    {"type": "object", "properties": {"flight_id": {"type": "string"}}, "required": ["flight_id"]},
)
ASKED = "Is there a flight to Bari on 2026-05-04?"
GOOD: dict[str, Json] = {"city": "Bari", "day": "2026-05-04"}
FOUND: Json = {"flights": [{"flight_id": "BA-7731", "price": 81}]}


def step(tool: str, arguments: Any, content: Json = None, id: str = "c1") -> Step:
    """A round with one call; without ``content`` nothing came back."""
    results = () if content is None else (ToolResult(id, tool, arguments, content),)
    return Step("", (ToolCall(id, tool, arguments),), results)


def row(
    *steps: Step, query: str = ASKED, answer: str | None = "Yes, BA-7731 for 81.", **more: Any
) -> Transcript:
    given_up = more.pop("given_up", False)
    return Transcript(Trajectory("r", query, (FLIGHT, BOOK), steps, answer, given_up), **more)
