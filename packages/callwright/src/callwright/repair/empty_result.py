"""Replies that hold nothing: a search that found no one is content, and has nothing to give."""

from __future__ import annotations

import re

from callwright.nouns.types import Json, JsonObject, canonical, scalars

_BOOKKEEPING = frozenset(
    "count total page pages status ok success code message limit offset size took time took_ms"
    " per_page next previous has_more total_results total_pages total_count num_results query error"
    " errors version".split()
)
_EMPTIED = frozenset(
    {"", "none", "null", "n/a", "no results", "no results found", "not found", "nothing found"}
)
_NOTHING_FOUND = re.compile(
    r"\s*(?:sorry,? )?(?:there (?:are|were) )?(?:no|0|zero)(?: [a-z]+){0,2} "
    r"(?:results?|matches|records?|data|items?|entries|rows|content|information)\b[^.\n]{0,60}\.?\s*\Z",
    re.I,
)


def is_empty_result(content: Json, arguments: JsonObject) -> bool:
    """Whether a reply holds nothing: empty lists, nulls, counts of zero, and what it was given
    itself.
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
    given = {canonical(value) for value in scalars(arguments)}
    void = False
    for key, value in content.items():
        if (
            value is None
            or value in ({}, [], "")
            or (isinstance(value, dict | list) and is_empty_result(value, arguments))
        ):
            void = True
        elif not (_says_nothing(key, value) or canonical(value) in given):
            return False
    return void


def _says_nothing(key: str, value: Json) -> bool:
    return key.lower() in _BOOKKEEPING and not isinstance(value, dict | list)
