"""Generates the replies of the working servers of the broken-tools benchmark. The same call always
gets the same reply.

Replies are generated and consistent. An id that one tool gives is the only kind of id that another
takes. A check digit verifies it, so that no id can be invented.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from callwright.nouns.types import Json, JsonObject, compute_digest

_WORDS = (
    "amber birch cedar delta ember fjord garnet harbour indigo juniper kestrel lagoon maple nimbus"
    " opal".split()
)
_CHECK = 97
_TITLES = ("name", "title", "original_name", "original_title")
_SEARCH_WORDS = 6  # a longer text finds nothing, as in real search fields
_PATTERNS = {
    "iata": r"[A-Z]{3}",
    "currency": r"[A-Z]{3}",
    "ticker": r"[A-Z]{1,5}",
    "flight": r"[A-Z]{2} ?\d{2,4}",
    "date": r"\d{4}-\d\d-\d\d",
    "days": r"\d{1,2}",
    "amount": r"-?\d+(\.\d+)?",
    "parcel": r"[A-Z]{2}\d{9,12}[A-Z]{2}",
    "domain": r"[a-z0-9-]+(\.[a-z0-9-]+)+",
    "word": r"\w+",
    "text": r"(?s).*\S.*",
    "whole": r"-?\d+",
    "switch": r"(?i)true|false",
}
SCHEMAS: Mapping[str, JsonObject] = {
    "iata": {"type": "string", "pattern": "^[A-Z]{3}$", "description": "IATA code of the airport"},
    "currency": {
        "type": "string",
        "pattern": "^[A-Z]{3}$",
        "description": "ISO 4217 currency code",
    },
    "date": {"type": "string", "format": "date"},
    "days": {"type": "integer", "minimum": 1, "maximum": 14},
    "amount": {"type": "number"},
    "whole": {"type": "integer"},
    "switch": {"type": "boolean"},
}


def make_id(kind: str, seed: Json) -> str:
    """An id of a kind, as its finder gives it."""
    number = int(compute_digest([kind, seed])[:7], 16)
    return f"{kind[:2].upper()}{number * _CHECK + _compute_remainder(kind)}"


def is_issued(kind: str, value: str) -> bool:
    """Return True if a text is an id that a finder has issued."""
    found = re.fullmatch(rf"{kind[:2].upper()}(\d+)", value)
    return found is not None and int(found[1]) % _CHECK == _compute_remainder(kind)


def _compute_remainder(kind: str) -> int:
    return int(compute_digest(kind)[:4], 16) % _CHECK


def schema_of(kind: str) -> JsonObject:
    """Return the schema of a parameter of a kind, as the documentation gives it."""
    if kind.startswith("id:"):
        return {"type": "string", "description": f"Id of the {kind[3:]}"}
    return SCHEMAS.get(kind, {"type": "string"})


def is_known_value(kind: str, value: str, known: Mapping[str, Sequence[str]]) -> bool:
    """Return True if the servers know a value of this kind; names must exist in the world."""
    if kind.startswith("id:"):
        return is_issued(kind[3:], value)
    if kind in _PATTERNS:
        return re.fullmatch(_PATTERNS[kind], value) is not None
    if kind == "phrase":
        return bool(value.strip())
    return value.casefold().strip() in {name.casefold() for name in known.get(kind, ())}


def make_facts(gives: Sequence[str], family: str, arguments: Mapping[str, str]) -> JsonObject:
    """The members that a family's tools give for these arguments (by their names in the family)."""
    made: JsonObject = {}
    for member in gives:
        name, _, kind = member.partition(":")
        seed = [family, name, dict(arguments)]
        drawn = int(compute_digest(seed)[:8], 16)
        if kind.startswith("id:"):
            made[name] = make_id(kind[3:], seed)
        else:
            made[name] = (
                round(drawn % 10_000 / 10, 1) if kind == "n" else _WORDS[drawn % len(_WORDS)]
            )
    return made


def shape_reply(tool: str, held: JsonObject, echo: Mapping[str, str]) -> Json:
    """A reply in its API's own dress: flat with what was asked, below ``data`` without it, or a
    list.
    """
    match int(compute_digest(tool)[:4], 16) % 3:
        case 0:
            return {**echo, **held}
        case 1:
            return {"data": held}
    return {"count": 1, "results": [{**echo, **held}]}


def dress_schema(tool: str, gives: Sequence[str], echo: Sequence[str]) -> JsonObject:
    """The schema of :func:`shape_reply`."""
    types = {
        name: "number" if kind == "n" else "string"
        for name, _, kind in (m.partition(":") for m in gives)
    }
    held = {"type": "object", "properties": {name: {"type": kind} for name, kind in types.items()}}
    full = {
        "type": "object",
        "properties": {**{e: {"type": "string"} for e in echo}, **held["properties"]},  # type: ignore[dict-item]
    }
    match int(compute_digest(tool)[:4], 16) % 3:
        case 0:
            return full
        case 1:
            return {"type": "object", "properties": {"data": held}}
    return {
        "type": "object",
        "properties": {"count": {"type": "integer"}, "results": {"type": "array", "items": full}},
    }


def make_not_found_reply(tool: str, value: str) -> tuple[int, Json]:
    """Return an API's reply to an unknown name: status 404, or an empty result."""
    if int(compute_digest(tool)[:4], 16) % 3 == 1:
        return 200, {"data": None}
    return 404, {"message": f"nothing found for {value!r}"}


def film_number(seed: Json) -> int:
    """A numeric id as the film database gives them."""
    return (int(compute_digest(["film", seed])[:5], 16) % 9_000 + 1_000) * _CHECK + 13


def is_film_number(value: str) -> bool:
    """Return True if a number is an id of the film database."""
    return value.isdecimal() and int(value) % _CHECK == 13


def film_reply(example: Json, arguments: Mapping[str, str]) -> tuple[int, Json]:
    """The film database's answer: its documented example, about what was asked, every id one of its
    own.
    """
    for key, value in arguments.items():
        if key.endswith("_id") and not is_film_number(value):
            return 404, {
                "status_code": 34,
                "status_message": "The resource you requested could not be found.",
            }
    body = _renumber_ids(deepcopy(example))
    asked = arguments.get("query")
    if asked is not None and isinstance(body, dict):
        if not asked.strip() or len(asked.split()) > _SEARCH_WORDS:
            return 200, {"page": 1, "results": [], "total_results": 0, "total_pages": 0}
        rows = body.get("results") or [{}]
        body["results"] = [_rename_row(rows[0], asked)]
        body |= {"total_results": 1, "total_pages": 1}
    whole = [value for key, value in arguments.items() if key.endswith("_id")]
    if whole and isinstance(body, dict) and "id" in body:
        body["id"] = int(whole[0])
    return 200, body


def _renumber_ids(value: Any) -> Any:
    """The same with every numeric ``id`` one that the database takes."""
    if isinstance(value, dict):
        return {
            key: film_number(inner) if key == "id" and type(inner) is int else _renumber_ids(inner)
            for key, inner in value.items()
        }
    return [_renumber_ids(inner) for inner in value[:3]] if isinstance(value, list) else value


def _rename_row(row: JsonObject, name: str) -> JsonObject:
    titles: JsonObject = {key: name for key in _TITLES if key in row}
    return {**row, **(titles or {"name": name}), "id": film_number(name.casefold())}
