"""What the tests of single families say in one line: a text and its calls."""

from __future__ import annotations

from typing import Any

from callwright.dialects import CallPiece, Parser, TextPiece
from callwright.types import Tool

WEATHER = Tool(
    "get_weather",
    input_schema={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "tags": {"type": "array"}},
    },
)
TOOLS = (WEATHER, Tool("f"), Tool("g"))


def pieces(text: str, **options: Any) -> list[TextPiece | CallPiece]:
    parser = Parser(TOOLS, **options)
    return [*parser.feed(text), *parser.close()]


def found(text: str, **options: Any) -> list[CallPiece]:
    return [p for p in pieces(text, **options) if isinstance(p, CallPiece)]


def calls(text: str, **options: Any) -> list[tuple[str, Any]]:
    return [(p.call.tool, p.call.arguments) for p in found(text, **options)]


def one(text: str, **options: Any) -> CallPiece:
    (piece,) = found(text, **options)
    return piece


def rest(text: str, **options: Any) -> str:
    return "".join(p.text for p in pieces(text, **options) if isinstance(p, TextPiece))
