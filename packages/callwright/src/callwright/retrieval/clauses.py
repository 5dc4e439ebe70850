"""A request -> what it asks for, part by part, so that each wish can be searched for alone."""

from __future__ import annotations

import re

MOST = 12  # of one request: each costs a search and, with an encoder, an encoding
_LEAST = 12  # characters: less is a greeting or a remnant

_BETWEEN = re.compile(r"(?<=[.!?;:])\s+|\n+|[。！？；]")
_JOINED = re.compile(
    r",?\s+(?:and|then|plus|as well as)\s+(?:(?:then|also|finally)\s+)?"
    r"(?=(?:i|can|could|would|please|give|provide|find|get|show|list|check|tell|suggest|recommend|fetch|retrieve"
    r"|search|look|book|send|create|make|add|delete|remove|update|convert|calculate|compute|compare|translate|what"
    r"|which|where|when|who|how)\b)",
    re.IGNORECASE,
)


def clauses(request: str) -> tuple[str, ...]:
    """The parts of a request that may ask for different things, in order; a request of one part is
    that part.

    Parts are sentences, and what "and" joins where a new wish follows it. At most :data:`MOST`:
    what comes later is searched for with the whole request only.
    """
    parts = [part for sentence in _BETWEEN.split(request) for part in _JOINED.split(sentence)]
    kept = tuple(dict.fromkeys(text for part in parts if len(text := part.strip()) >= _LEAST))[
        :MOST
    ]
    return kept or ((request.strip(),) if request.strip() else ())
