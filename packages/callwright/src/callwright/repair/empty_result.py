"""Replies that hold nothing: a search that found no one is content, and has nothing to give."""

from __future__ import annotations

from callwright.language import ENGLISH
from callwright.nouns.types import Effects, Json, JsonObject, iter_scalars, to_canonical_json

_BOOKKEEPING = ENGLISH.words("fields.bookkeeping")
_EMPTIED = ENGLISH.words("errors.emptied")
_NOTHING_FOUND = ENGLISH.pattern("errors.nothing_found")
_DONE = {"done": True}


def is_blank(content: Json) -> bool:
    """Return True if a reply has no value at all: null, or an empty text, object or list."""
    if isinstance(content, str):
        return content.strip().lower() in ("", "null", "none", "{}", "[]")
    return content is None or content in ({}, [])


def tell_done(content: Json, effects: Effects) -> Json:
    """A reply that came without a failure; ``{"done": true}`` in the place of a blank one of a tool
    that is known to write, for it has done what it was called for. Of any other tool nobody knows
    what it means: it may be what a search found.
    """
    return {**_DONE} if effects.declares_write and is_blank(content) else content


def is_empty_result(content: Json, arguments: JsonObject) -> bool:
    """Return True if a reply is empty: empty lists, nulls, counts of zero, and repeated
    arguments.
    """
    if isinstance(content, str):
        return content.strip().lower() in _EMPTIED or _NOTHING_FOUND.match(content) is not None
    if content == {}:
        return True
    if isinstance(content, dict) and content.keys() == {"status"}:  # a reply without a body
        return isinstance(content["status"], int)
    if not isinstance(content, dict):
        return isinstance(content, list) and all(
            is_empty_result(one, arguments) for one in content if one is not None
        )
    given = {to_canonical_json(value) for value in iter_scalars(arguments)}
    void = False
    for key, value in content.items():
        if (
            value is None
            or value in ({}, [], "")
            or (isinstance(value, dict | list) and is_empty_result(value, arguments))
        ):
            void = True
        elif not (_says_nothing(key, value) or to_canonical_json(value) in given):
            return False
    return void


def _says_nothing(key: str, value: Json) -> bool:
    return key.lower() in _BOOKKEEPING and not isinstance(value, dict | list)
