"""References of a plan resolved: ``${find_place.latitude}`` becomes what the slot's call returned.

A reference that is a whole text becomes the value as it is; inside a text the value is written out.
The path is taken as it stands where it can be; where it is only imprecise, and one reading is
possible, that one is taken: a leading ``result``, a list of one member, another spelling of a key,
and, where all of a record was given to a parameter that takes one value, the field of the
parameter's name. Two possible readings are none: such a step is left to be filled when its inputs
are seen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from callwright.jsontext import JsonError, parse
from callwright.language import ENGLISH
from callwright.language.tokens import split_identifier
from callwright.nouns.plan import OPEN, Ref, find_references
from callwright.nouns.types import Json, JsonObject, Tool, iter_scalars, to_canonical_json

_ABSENT: Any = object()
_WRAPPERS = ENGLISH.words("keys.result_wrappers")
_SCALARS = frozenset({"string", "integer", "number", "boolean"})


@dataclass(frozen=True, slots=True)
class Resolved:
    """Arguments without references; ``missing`` says of which nothing could be made, and why.
    ``taken`` are the single values that came into them whole, ``said`` the arguments of which
    nothing is missing.
    """

    arguments: JsonObject
    missing: tuple[str, ...] = ()
    taken: tuple[Json, ...] = ()
    said: JsonObject = field(default_factory=dict)


def resolve_references(
    arguments: JsonObject, returned: Mapping[str, Sequence[Json]], tool: Tool
) -> Resolved:
    """Put into arguments what they refer to. ``returned``: slot id -> what its calls returned, one
    each.

    Of a slot whose calls returned several things, a parameter that takes a list gets all of them.
    """
    work = _Resolution(returned, [], [])
    properties = tool.properties
    made: JsonObject = {}
    said: JsonObject = {}
    for key, value in arguments.items():
        lacking = len(work.missing)
        made[key] = work.filled(value, key, properties.get(key))
        if len(work.missing) == lacking:
            said[key] = made[key]
    return Resolved(made, tuple(work.missing), tuple(work.taken), said)


@dataclass(slots=True)
class _Resolution:
    given: Mapping[str, Sequence[Json]]
    missing: list[str]
    taken: list[Json]

    def filled(self, value: Json, key: str, part: Any) -> Json:
        """A value with its references resolved. ``key`` and ``part``: the name and schema of where
        it stands.
        """
        part = part if isinstance(part, dict) else {}
        if isinstance(value, str):
            return self._text(value, key, part) if "${" in value else value
        if not isinstance(value, dict | list):
            return value
        if isinstance(value, dict):
            inner = part.get("properties")
            inner = inner if isinstance(inner, dict) else {}
            return {name: self.filled(one, name, inner.get(name)) for name, one in value.items()}
        return [self.filled(one, key, part.get("items")) for one in value]

    def _text(self, text: str, key: str, part: Mapping[str, Any]) -> Json:
        if text.strip() == OPEN:
            self.missing.append(f"{key} is left open")
            return text
        found = find_references(text, self.given)
        if len(found) == 1 and found[0].whole:
            made = self._value(found[0], key, part)
            self.taken += [] if made is _ABSENT else iter_scalars(made)
            return text if made is _ABSENT else made
        made = {ref.text: self._value(ref, "", {}) for ref in found}
        said = {
            name: value if isinstance(value, str) else to_canonical_json(value)
            for name, value in made.items()
            if value is not _ABSENT
        }
        # all at once: what one reference stands for may hold the text of another
        names = "|".join(map(re.escape, said))
        return re.sub(names, lambda name: said[name[0]], text) if said else text

    def _value(self, ref: Ref, key: str, part: Mapping[str, Any]) -> Json:
        contents = self.given.get(ref.slot, ())
        if not contents:
            return self._absent(ref, f"{ref.slot} returned nothing")
        found = [
            _pick_fitting_value(_get_at_path(content, ref.path), key, part) for content in contents
        ]
        if any(one is _ABSENT for one in found):
            return self._absent(ref, f"what {ref.slot} returned does not say which value is meant")
        if len(found) == 1:
            return found[0]
        same = {to_canonical_json(one) for one in found}
        if len(same) == 1:
            return found[0]
        if part.get("type") == "array":
            return found
        return self._absent(ref, f"{ref.slot} returned {len(found)} values")

    def _absent(self, ref: Ref, why: str) -> Json:
        self.missing.append(f"{ref.text}: {why}")
        return _ABSENT


def _get_at_path(value: Json, path: Sequence[str | int]) -> Json:
    """Return the value at the end of a path, or _ABSENT."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(value, str):
        with suppress(JsonError):
            parsed = parse(value)  # JSON as a text, as many servers return it
            value = parsed if isinstance(parsed, dict | list) else value
    if step == "*":
        if not isinstance(value, list):
            return _get_at_path(value, rest)
        found = [_get_at_path(one, rest) for one in value]
        return _ABSENT if _ABSENT in found else found
    if isinstance(step, int):
        if isinstance(value, list):
            return _get_at_path(value[step], rest) if step < len(value) else _ABSENT
        return _get_at_path(value, rest) if step == 0 and isinstance(value, dict) else _ABSENT
    return _get_under_key(value, step, rest)


def _get_under_key(value: Json, key: str, rest: Sequence[str | int]) -> Json:
    if isinstance(value, list):
        return _get_under_key(value[0], key, rest) if len(value) == 1 else _ABSENT
    if not isinstance(value, dict):
        return (
            _get_at_path(value, rest) if key.lower() in _WRAPPERS and value is not None else _ABSENT
        )
    if key in value:
        return _get_at_path(value[key], rest)
    alike = [name for name in value if split_identifier(name) == split_identifier(key)]
    if len(alike) == 1:
        return _get_at_path(value[alike[0]], rest)
    if key.lower() in _WRAPPERS:
        return _get_at_path(value, rest)
    wrapped = [name for name in value if name.lower() in _WRAPPERS]
    return (
        _get_under_key(value[wrapped[0]], key, rest)
        if len(wrapped) == 1 and len(value) == 1
        else _ABSENT
    )


def _pick_fitting_value(value: Json, key: str, part: Mapping[str, Any]) -> Json:
    """The value itself, or the one value in it that a parameter of this name and type can mean."""
    if (
        value is _ABSENT
        or not isinstance(value, dict | list)
        or part.get("type") not in _SCALARS
        or not key
    ):
        return value
    wanted = split_identifier(key)
    named = {
        to_canonical_json(leaf): leaf
        for name, leaf in _list_leaves(value)
        if split_identifier(name)[-1:] == wanted[-1:]
    }
    exact = {
        to_canonical_json(leaf): leaf
        for name, leaf in _list_leaves(value)
        if split_identifier(name) == wanted
    }
    alone = {to_canonical_json(leaf): leaf for leaf in iter_scalars(value)}
    for found in (exact, named, alone):
        if len(found) == 1:
            return next(iter(found.values()))
    return _ABSENT


def _list_leaves(value: Json, name: str = "") -> list[tuple[str, Json]]:
    """The scalars in a value, each with the key that it stands under."""
    if isinstance(value, dict):
        return [pair for key, inner in value.items() for pair in _list_leaves(inner, key)]
    if isinstance(value, list):
        return [pair for inner in value for pair in _list_leaves(inner, name)]
    return [] if value is None else [(name, value)]
