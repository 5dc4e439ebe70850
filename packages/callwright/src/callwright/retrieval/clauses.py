"""A request -> what it asks for, part by part, so that each wish can be searched for alone."""

from __future__ import annotations

from callwright.language import FEATURES_V1

MOST = 12  # of one request: each costs a search and, with an encoder, an encoding
_LEAST = 12  # characters: less is a greeting or a remnant

_BETWEEN = FEATURES_V1.pattern("terms.between")
_JOINED = FEATURES_V1.pattern("terms.joined")


def split_clauses(request: str) -> tuple[str, ...]:
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
