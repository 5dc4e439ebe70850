"""Keys that the schema does not know: renamed where only one missing key can be meant, otherwise
dropped.

Renames come first, because a dropped key loses what the model said. A rename is made for the same
name in other clothes (case, separators, plural), for a typing slip, or for a name with a neutral
word more or less; and only if the value fits the key it is given to. Never between names whose
difference carries meaning (min/max, start/end, 1/2).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from callwright.language import ENGLISH
from callwright.language.tokens import split_identifier
from callwright.nouns.types import Json, JsonObject, required_keys
from callwright.nouns.wire_names import EditRules
from callwright.schema.compiled import Node
from callwright.schema.value_edits import Pointer, ValueEdit

_NEUTRAL = ENGLISH.words("keys.neutral")
_OPPOSITES = ENGLISH.words("keys.negating")
_GENERIC = ENGLISH.words("keys.generic")
_PLACES = ("properties", "patternProperties", "additionalProperties", "unevaluatedProperties")
_BESIDE = (
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "dependentSchemas",
    "propertyNames",
)
_DIGITS = re.compile(r"\d+")
_MAX_DEPTH = 32


def declared_keys(schema: Json) -> frozenset[str] | None:
    """The only keys a call may have; None where the schema provides for others (or where it cannot
    be told).

    With ``additionalProperties`` absent the declared properties count as all there are (RETO 3.4:
    unknown top-level keys are dropped), as long as any are declared and nothing beside them could
    declare more.
    """
    if not isinstance(schema, dict) or any(keyword in schema for keyword in _BESIDE):
        return None
    properties = schema.get("properties")
    if schema.get("patternProperties") or schema.get("unevaluatedProperties") not in (None, False):
        return None
    if schema.get("additionalProperties", False) is not False:
        return None
    if isinstance(properties, dict) and (properties or "additionalProperties" in schema):
        return frozenset(properties).union(
            required_keys(schema)
        )  # in the wild some are not among the properties
    return None


def rename_keys(
    value: Json, node: Node, path: Pointer = (), depth: int = 0
) -> tuple[Json, tuple[ValueEdit, ...]]:
    """Unknown keys renamed to missing ones, at every level where it is certain which is meant."""
    edits: list[ValueEdit] = []
    return _change_keys(value, node.resolved(), path, edits, _pair_keys, depth), tuple(edits)


def drop_keys(value: Json, node: Node, path: Pointer = ()) -> tuple[Json, tuple[ValueEdit, ...]]:
    """Keys that the schema forbids (or, at the top, does not declare) left out, at every level."""
    edits: list[ValueEdit] = []
    return _change_keys(value, node.resolved(), path, edits, _find_unknown_keys), tuple(edits)


NewNames: TypeAlias = Mapping[str, str | None]
"""The keys of an object that get another name; None drops the key."""


def _change_keys(
    value: Json,
    node: Node,
    path: Pointer,
    edits: list[ValueEdit],
    find_names: Callable[[JsonObject, Node, Pointer], NewNames],
    depth: int = 0,
) -> Json:
    """The value with the keys of every object renamed or dropped as ``find_names`` says of it."""
    if depth > _MAX_DEPTH:
        return value
    if isinstance(value, list):
        child = node.child("items").resolved() if isinstance(node.get("items"), dict) else None
        if child is None:
            return value
        listed = enumerate(value)
        return [_change_keys(v, child, (*path, i), edits, find_names, depth + 1) for i, v in listed]
    if not isinstance(value, dict) or not isinstance(node.schema, dict):
        return value
    names = find_names(value, node, path)
    made: JsonObject = {}
    for key, member in value.items():
        name = names.get(key, key)
        if name is None:
            edits.append(ValueEdit((*path, key), member, None, EditRules.DROP_UNKNOWN))
            continue
        if name != key:
            edits.append(ValueEdit((*path, key), key, name, EditRules.RENAME_KEY))
        if isinstance(member, dict | list) and (child := node.property(name)) is not None:
            below = (*path, name)
            member = _change_keys(member, child.resolved(), below, edits, find_names, depth + 1)
        made[name] = member
    return made


def _find_unknown_keys(value: JsonObject, node: Node, path: Pointer) -> NewNames:
    """The keys that the schema does not allow: at the top those that it does not declare."""
    if path and node.get("additionalProperties") is not False:
        return {}
    declared = declared_keys(node.schema)
    return {key: None for key in value if declared is not None and key not in declared}


def _pair_keys(value: JsonObject, node: Node, _: Pointer) -> NewNames:
    """unknown key -> missing key, only where each has no other partner."""
    properties = node.get("properties")
    if not isinstance(properties, dict) or node.get("patternProperties"):
        return {}
    if value.keys() <= properties.keys():
        return {}
    required = required_keys(node.schema)
    unknown = [k for k in value if k not in properties and k not in required]
    missing = [k for k in properties if k not in value]
    if not unknown or not missing:
        return {}
    found: dict[str, str] = {}
    for likeness in (_same_name, _is_typing_slip, _neutral_words, _is_generic_name):
        left = [k for k in unknown if k not in found]
        free = [k for k in missing if k not in found.values()]
        if likeness in (_neutral_words, _is_generic_name):
            free = [k for k in free if k in required]
        if not left or not free:
            break
        hits = {
            k: [m for m in free if likeness(k, m) and _may_hold(value[k], node, m)] for k in left
        }
        for key, targets in hits.items():
            if len(targets) == 1 and sum(targets[0] in other for other in hits.values()) == 1:
                found[key] = targets[0]
    return found


def _may_hold(member: Json, node: Node, name: str) -> bool:
    """Return True if the key accepts the value, directly or after a lossless conversion."""
    from callwright.schema.coerce import (
        coerce_at,
    )  # coerce does not know keys; keys ask it one question

    child = node.property(name)
    if child is None:
        return False
    return child.accepts(member) or child.accepts(coerce_at(member, child))


def _same_name(one: str, other: str) -> bool:
    a, b = "".join(split_identifier(one)), "".join(split_identifier(other))
    return bool(a) and (a == b or (len(a) > 2 and a + "s" == b) or (len(b) > 2 and b + "s" == a))


def _is_typing_slip(one: str, other: str) -> bool:
    """A typing slip: one edit in four letters or more, two in nine or more, never in digits or the
    first letter.
    """
    a, b = "_".join(split_identifier(one)), "_".join(split_identifier(other))
    shorter = min(len(a), len(b))
    if shorter >= 9:
        allowed = 2
    elif shorter >= 4:
        allowed = 1
    else:
        allowed = 0
    if not allowed or a[:1] != b[:1] or abs(len(a) - len(b)) > allowed:
        return False
    if _DIGITS.findall(a) != _DIGITS.findall(b):
        return False
    from rapidfuzz.distance import OSA  # megabytes that a process without such a key need not load

    if OSA.distance(a, b, score_cutoff=allowed) > allowed:
        return False
    changed = [(x, y) for x, y in zip(a.split("_"), b.split("_"), strict=False) if x != y]
    return a.count("_") == b.count("_") and all(_slipped_word(x, y) for x, y in changed)


def _slipped_word(one: str, other: str) -> bool:
    """Short words differ by meaning rather than by slip (min/max, from/form), and so do
    opposites.
    """
    from rapidfuzz.distance import OSA

    shorter, longer = sorted((one, other), key=len)
    opposite = longer.removesuffix(shorter) in _OPPOSITES and longer != shorter
    return len(shorter) >= 5 and not opposite and OSA.distance(one, other) <= 2


def _neutral_words(one: str, other: str) -> bool:
    """The same name but for words that say nothing: city_name and city, query and the_query."""
    a = [w for w in split_identifier(one) if w not in _NEUTRAL]
    b = [w for w in split_identifier(other) if w not in _NEUTRAL]
    return bool(a) and a == b


def _is_generic_name(one: str, other: str) -> bool:
    """A bare "id" for "user_id", or the other way round."""
    a, b = split_identifier(one), split_identifier(other)
    shorter, longer = (a, b) if len(a) < len(b) else (b, a)
    return (
        len(shorter) == 1
        and shorter[0] in _GENERIC
        and len(longer) == 2
        and longer[-1] == shorter[0]
    )
