"""Finds the subject of a result whose own arguments do not name it: their values may come from a
lookup that does.

``find_place(city: Oslo)`` gives a latitude, ``sun_times(latitude: …)`` a sunset. The sunset is
Oslo's, and stated of Lisbon it is false, although no argument of the second call says either name.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from callwright.nouns.types import JsonObject, ToolResult, to_canonical_json

_MOST = 60  # results; beyond them nothing is inherited
_SHORTEST, _LONGEST = 4, 200  # characters of a value that can tell where it comes from
_VALUES = 500  # of one result


def collect_inherited(results: Sequence[ToolResult]) -> dict[str, list[JsonObject]]:
    """Result id -> the arguments of the calls whose results its own call was made of, and of
    theirs.

    A value tells its origin only if one result alone holds it.
    """
    told: dict[str, list[JsonObject]] = {}
    if len(results) > _MOST:
        return told
    held = [_collect_telling_values(r.content) if r.ok else frozenset() for r in results]
    for place, result in enumerate(results):
        own = _collect_telling_values(result.arguments)
        made_of: list[JsonObject] = []
        for i, earlier in enumerate(results[:place]):
            if earlier.tool != result.tool and _find_unique_values(i, place, held) & own:
                made_of += (earlier.arguments, *told.get(earlier.id, ()))
        told[result.id] = made_of
    return told


def _find_unique_values(one: int, before: int, held: Sequence[frozenset[str]]) -> frozenset[str]:
    """The values that ``one`` alone holds among the results before a place."""
    others = (held[i] for i in range(before) if i != one)
    return held[one].difference(*others)


def _collect_telling_values(value: Any) -> frozenset[str]:
    """The scalars of a JSON value that are long enough to tell where they come from; of a huge one,
    the first.
    """
    found: set[str] = set()
    stack, seen = [value], 0
    while stack and seen < _VALUES:
        seen += 1
        value = stack.pop()
        if isinstance(value, dict):
            stack.extend(islice(value.values(), _VALUES))
        elif isinstance(value, list):
            stack.extend(value[:_VALUES])
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            text = value if isinstance(value, str) else to_canonical_json(value)
            if _SHORTEST <= len(text) <= _LONGEST:
                found.add(text)
    return frozenset(found)
