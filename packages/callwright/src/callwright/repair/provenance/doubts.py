"""Values that nothing said so far contains: never changed for that, but named, so that nobody takes
them for known.

A value may rightly be derived ("tomorrow" as a date), so a doubt is no violation. What cannot be
seen at all: a wrong value that was said elsewhere in the conversation, and the first words of a
text that was said without capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from callwright.language import ENGLISH
from callwright.language.tokens import split_identifier
from callwright.nouns.types import Json, JsonObject, Tool, to_canonical_json
from callwright.repair.context import RepairContext
from callwright.repair.provenance.grounding import classify_value, iter_leaves
from callwright.repair.provenance.sources import ProvenanceIndex

_GOES_ON = ENGLISH.pattern("conversation.name_goes_on")
_GOES_BEFORE = ENGLISH.pattern("conversation.name_goes_before")
_DENIED = ENGLISH.pattern("conversation.denied")
_NAME_WORD = re.compile(r"[\w'’]*")
_ASKING = ENGLISH.words("conversation.switch_words")
_FUNCTION_WORDS = ENGLISH.words("conversation.last_words")


class Doubt(NamedTuple):
    """An argument, and what is odd about its value."""

    key: str
    reason: str


def find_doubts(
    arguments: JsonObject, tool: Tool, situation: RepairContext, aside: frozenset[str]
) -> list[Doubt]:
    """One for each argument that holds something unsaid, or only a part of a name that was said.
    ``aside``: arguments that are references or were reported already.
    """
    if not situation.informed:
        return []
    found = []
    for key, value in arguments.items():
        if key not in aside:
            said = (
                ""
                if key in tool.properties
                else f"'{key}' is no parameter that '{tool.name}' declares."
            )
            said = said or _describe_doubt(key, value, tool.properties.get(key), situation)
            if said:
                found.append(Doubt(key, said))
    return found


def _describe_doubt(key: str, value: Json, part: Json, situation: RepairContext) -> str:
    for _, name, leaf, schema in iter_leaves(key, value, part):
        if leaf is None or leaf == "":
            continue
        shown = f"'{key}' is {to_canonical_json(leaf)[:80]}"
        if isinstance(leaf, str):
            found = _describe_odd_text(leaf, schema, situation)
            if found:
                return shown + found
        asked = (
            _find_subject(name, situation) if leaf is False or leaf in ("False", "false") else ""
        )
        if asked:
            return f"{shown}, though '{asked}' was spoken of and nothing was denied."
        if not isinstance(leaf, bool) and situation.sources.holds(leaf):
            continue
        if classify_value(name, leaf, schema, situation.sources) != "held":
            return f"{shown}, which nothing said so far contains."
    return ""


def _describe_odd_text(leaf: str, schema: Json, situation: RepairContext) -> str:
    """Return what is odd about a text: it ends like one that was cut, another option was said, or
    only a part of a word or name was taken. What rests on function words and capital letters is
    left out where the conversation is not English.
    """
    sources = situation.sources
    if leaf.rstrip()[-1:] == "," or (
        leaf.rstrip()[-1:] == ";" and leaf.rstrip() not in "".join(situation.said)
    ):
        return ", which ends like a text that was cut off."
    options = schema.get("enum") if isinstance(schema, dict) else None
    if isinstance(options, list):
        said = (
            []
            if sources.holds_words(leaf)
            else [o for o in options if _is_stated_option(o, leaf, sources)]
        )
        return f", but '{said[0]}' was said." if said else ""
    if not sources.holds(leaf):
        return ""
    if (leaf.isalpha() and not sources.holds_words(leaf)) or _is_within_code(leaf, situation.said):
        return ", which is only a part of a word that was said."
    if not situation.talk.readable:
        return ""
    if leaf.rpartition(" ")[2] in _FUNCTION_WORDS and leaf.count(" "):
        return ", which ends like a text that was cut off."
    whole = _find_longer_name(leaf, situation.said)
    return f", of which only '{whole[:80]}' was said." if whole else ""


def _find_subject(key: str, situation: RepairContext) -> str:
    """Return the subject of a yes-or-no, where the request speaks of it and denies nothing; else
    "". Whether anything is denied can be told of an English conversation only.
    """
    if not situation.talk.readable:
        return ""
    about = [word for word in split_identifier(key) if len(word) > 2 and word not in _ASKING]
    asked = bool(about) and all(situation.sources.mentions(word) for word in about)
    return about[0] if asked and not _DENIED.search(situation.low) else ""


def _is_within_code(leaf: str, said: list[str]) -> bool:
    """Return True if a code, an address or the like was stated only as part of a longer one. Each
    time a letter or digit joins it.
    """
    if " " in leaf or leaf.isalpha():
        return False
    places = [(text, at) for text in said for at in _iter_positions(leaf, text)]
    return bool(places) and all(
        _is_same_token(text[at - 1 : at], leaf[0])
        or _is_same_token(text[at + len(leaf) :][:1], leaf[-1])
        for text, at in places
    )


def _is_same_token(outside: str, inside: str) -> bool:
    return (outside.isdigit() and inside.isdigit()) or (outside.isalpha() and inside.isalpha())


def _is_stated_option(option: Json, taken: str, sources: ProvenanceIndex) -> bool:
    return (
        isinstance(option, str)
        and option != taken
        and len(option) > 2
        and sources.holds_words(option)
    )


def _find_longer_name(value: str, said: list[str]) -> str:
    """The longer name that a text which ends with a capitalised word is only a part of wherever it
    was said; "" where it stands alone.
    """
    if (
        len(value) < 3
        or not value.rpartition(" ")[2][:1].isupper()
        or not value.replace(" ", "").isalnum()
    ):
        return ""
    longer = ""
    for text in said:
        for at in _iter_positions(value, text):
            end = at + len(value)
            if text[end : end + 1].isalpha():
                continue
            after, before = (
                _GOES_ON.match(text, end),
                _GOES_BEFORE.search(text[max(0, at - 24) : at]),
            )
            if not after and not before:
                return ""
            rest = _NAME_WORD.match(text, after.end() - 2) if after else None
            longer = (
                longer or (before[0] if before else "") + text[at : rest.end() if rest else end]
            )
    return longer


def _iter_positions(part: str, text: str) -> Iterator[int]:
    """Yield the positions of a part in a text."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)
