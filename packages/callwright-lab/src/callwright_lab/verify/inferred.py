"""A JSON Schema from values that were seen: what all of them have in common, and no more."""

from __future__ import annotations

from collections.abc import Sequence

from callwright.nouns.types import Json, JsonObject

_DEPTH = 6
_ITEMS = 50  # of one list that are looked at
_KEYED = 24  # members from which an object may be a table of its own keys
_SHARED = 0.5  # share of members that two objects of one shape have in common at least
_NAMES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def infer_schema(values: Sequence[Json], depth: int = 0) -> JsonObject:
    """The schema that all of the values have: types, members, items. Nothing is required, for what
    was always there may be missing yet; an object whose keys are data (a day, a code) is described
    by what stands under them.
    """
    kinds = sorted({_NAMES[type(v)] for v in values if type(v) in _NAMES})
    if kinds == ["integer", "number"]:
        kinds = ["number"]
    nullable = any(v is None for v in values)
    if not kinds:
        return {"type": "null"} if nullable else {}
    made: JsonObject = {
        "type": kinds[0] if len(kinds) == 1 and not nullable else [*kinds, *(["null"] * nullable)]
    }
    if depth >= _DEPTH:
        return made
    if objects := [v for v in values if isinstance(v, dict)]:
        made |= _infer_object(objects, depth)
    if lists := [v for v in values if isinstance(v, list)]:
        items = [one for v in lists for one in v[:_ITEMS]]
        made |= {"items": infer_schema(items, depth + 1)} if items else {}
    return made


def _infer_object(objects: Sequence[JsonObject], depth: int) -> JsonObject:
    keys = list(dict.fromkeys(key for one in objects for key in one))
    if _is_table(objects, len(keys)):
        return {
            "additionalProperties": infer_schema(
                [v for one in objects for v in one.values()], depth + 1
            )
        }
    return {
        "properties": {
            key: infer_schema([one[key] for one in objects if key in one], depth + 1)
            for key in keys
        }
    }


def _is_table(objects: Sequence[JsonObject], keys: int) -> bool:
    """Return True if the keys are data: values of one shape under many keys, or under different
    keys each time.
    """
    shapes = {canonical_shape(v) for one in objects for v in one.values()}
    if keys < 2 or len(shapes) > 1:
        return False
    filled = [one for one in objects if one]
    shared = len(set.intersection(*(set(one) for one in filled))) / keys if filled else 1.0
    return keys >= _KEYED or (len(filled) > 1 and shared < _SHARED and "object" in shapes)


def canonical_shape(value: Json) -> str:
    """The name of a value's JSON type; integers and other numbers are one."""
    named = _NAMES.get(type(value), "null")
    return "number" if named == "integer" else named
