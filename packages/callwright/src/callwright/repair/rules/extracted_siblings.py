"""Finds values by comparison with the reply's other calls of the same tool: the other members of a
list, or one value for all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from callwright.dataflow.flow import split_words
from callwright.language import ENGLISH
from callwright.nouns.types import Json, JsonObject, to_canonical_json
from callwright.repair.provenance.conversation_text import (
    ConversationText,
    as_number,
    normalize_value,
)
from callwright.schema.value_spellings import NONE

_PAIRS = tuple(frozenset(row.split("/")) for row in ENGLISH.listed("keys.ends"))


def find_list_members(
    siblings: Sequence[Json], types: frozenset[str], talk: ConversationText, taken: set[str]
) -> list[Json]:
    """Members of a list whose other members the siblings hold: "Oslo, Bergen and Rome" where two
    are called for.
    """
    held = {normalize_value(value) for value in siblings}
    found: list[Json] = []
    for row in talk.lists:
        members = [_parse_member(item, types) for item in row]
        if held & {normalize_value(v) for v in members}:
            found += [v for v in members if v is not NONE and normalize_value(v) not in taken]
    return found


def list_partner_values(key: str, arguments: JsonObject) -> list[Json]:
    """Values of parameters that name the other one of two: ``end_city`` for ``start_city``,
    ``place2`` for ``place1``, ``destination`` for ``origin``.
    """
    return [v for k, v in arguments.items() if k != key and _other_of_two(key, k)]


def _other_of_two(one: str, other: str) -> bool:
    a, b = ({w for w in split_words(k) if not w.isdigit()} for k in (one, other))
    return bool(a) and (
        a == b or any(len(pair & (a - b)) == 1 and len(pair & (b - a)) == 1 for pair in _PAIRS)
    )


def find_shared_value(siblings: Sequence[Json]) -> list[Json]:
    """The one value that all other calls of the tool have, where there are several."""
    values = list({to_canonical_json(v): v for v in siblings}.values())
    return values if len(siblings) > 1 else []


def _parse_member(item: str, types: frozenset[str]) -> Json:
    """A member of a list as a value of the parameter's type."""
    item = item.strip("\"'`“”")
    if types & {"integer", "number"}:
        return as_number(item.lstrip("$€£"), types) if item[-1:].isdigit() else NONE
    return item if "string" in types and re.search(r"[A-Za-z]{2}", item) else NONE
