"""The only place that parses JSON: strict first, repaired only where strict refuses, never
completed by guessing.
"""

from callwright.jsontext.broken import (
    MAX_CHARS,
    LenientResult,
    parse_complete,
    parse_lenient,
    parse_literal,
    parse_tool_text,
)
from callwright.jsontext.extent import is_deeper, most_values
from callwright.jsontext.strict import (
    MAX_DEPTH,
    JsonError,
    explain_unwritable,
    parse,
    parse_object,
    write,
    write_as_it_stands,
)

__all__ = [
    "MAX_CHARS",
    "MAX_DEPTH",
    "JsonError",
    "LenientResult",
    "explain_unwritable",
    "is_deeper",
    "most_values",
    "parse",
    "parse_complete",
    "parse_lenient",
    "parse_literal",
    "parse_object",
    "parse_tool_text",
    "write",
    "write_as_it_stands",
]
