"""The only place that parses JSON: strict first, mended only where strict refuses, never completed
by guessing.
"""

from callwright.jsontext.broken import (
    MAX_CHARS,
    LenientResult,
    literal,
    opened,
    parse_lenient,
    uncut,
)
from callwright.jsontext.extent import is_deeper, most_values
from callwright.jsontext.strict import MAX_DEPTH, JsonError, parse, unwritable, write

__all__ = [
    "MAX_CHARS",
    "MAX_DEPTH",
    "JsonError",
    "LenientResult",
    "is_deeper",
    "literal",
    "most_values",
    "opened",
    "parse",
    "parse_lenient",
    "uncut",
    "unwritable",
    "write",
]
