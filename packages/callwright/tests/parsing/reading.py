"""What the tests of single families say in one line: a text and its calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from callwright.nouns.types import Tool
from callwright.parsing import CallPiece, Parser, TextPiece

WEATHER = Tool(
    "get_weather",
    input_schema={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "tags": {"type": "array"},
        },
    },
)
TOOLS = (WEATHER, Tool("f"), Tool("g"))


def pieces(text: str, **options: Any) -> list[TextPiece | CallPiece]:
    parser = Parser(TOOLS, **options)
    return [*parser.feed(text), *parser.close()]


def merged(found: Iterable[TextPiece | CallPiece]) -> list[TextPiece | CallPiece]:
    """The pieces with neighbouring texts put together: what must not depend on where a reply was
    cut.
    """
    made: list[TextPiece | CallPiece] = []
    for piece in found:
        last = made[-1] if made else None
        if (
            isinstance(piece, TextPiece)
            and isinstance(last, TextPiece)
            and last.reasoning == piece.reasoning
        ):
            made[-1] = TextPiece(last.text + piece.text, last.reasoning)
        else:
            made.append(piece)
    return made


def found(text: str, **options: Any) -> list[CallPiece]:
    return [p for p in pieces(text, **options) if isinstance(p, CallPiece)]


def calls(text: str, **options: Any) -> list[tuple[str, Any]]:
    return [(p.call.tool, p.call.arguments) for p in found(text, **options)]


def one(text: str, **options: Any) -> CallPiece:
    (piece,) = found(text, **options)
    return piece


def rest(text: str, **options: Any) -> str:
    return "".join(p.text for p in pieces(text, **options) if isinstance(p, TextPiece))
