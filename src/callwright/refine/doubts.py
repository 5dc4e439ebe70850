"""Values that nothing said so far contains: never changed for that, but named, so that nobody takes them for known.

A value may rightly be derived ("tomorrow" as a date), so a doubt is no violation. What cannot be seen at all: a wrong
value that was said elsewhere in the conversation, and a truth value about something that was spoken of.
"""

from __future__ import annotations

import re

from callwright.gate import Sources
from callwright.gate.coerce import pointer_join
from callwright.gate.grounding import judge, leaves
from callwright.refine.result import Abstention
from callwright.refine.situation import Situation
from callwright.types import Json, JsonObject, Tool, canonical

_GOES_ON = re.compile(r"(?: (?:of|de|the) (?:the )?| )[A-Z][a-z]")
_GOES_BEFORE = re.compile(r"[A-Z][a-z]+ (?:of |de |the )?\Z")


def doubts(arguments: JsonObject, tool: Tool, situation: Situation, aside: frozenset[str]) -> list[Abstention]:
    """One for each argument that holds something unsaid, or only a part of a name that was said. ``aside``:
    arguments that are references or were reported already."""
    if not situation.informed:
        return []
    found = []
    for key, value in arguments.items():
        if key not in aside:
            said = "" if key in tool.properties else f"'{key}' is no parameter that '{tool.name}' declares."
            said = said or _doubt(key, value, tool.properties.get(key), situation)
            if said:
                found.append(Abstention(pointer_join("", key), said))
    return found


def _doubt(key: str, value: Json, part: Json, situation: Situation) -> str:
    for _, name, leaf, schema in leaves(key, value, part):
        if leaf is None or leaf == "":
            continue
        shown = f"'{key}' is {canonical(leaf)[:80]}"
        if isinstance(leaf, str):
            found = _about_text(leaf, schema, situation)
            if found:
                return shown + found
        if not isinstance(leaf, bool) and situation.sources.holds(leaf):
            continue
        if judge(name, leaf, schema, situation.sources) != "held":
            return f"{shown}, which nothing said so far contains."
    return ""


def _about_text(leaf: str, schema: Json, situation: Situation) -> str:
    """What is odd about a text: it ends like one that was cut, another option was said, or only a part of a word or
    name was taken."""
    sources = situation.sources
    if leaf.rstrip()[-1:] in (",", ";") and leaf.rstrip() not in "".join(situation.said):
        return ", which ends like a text that was cut off."
    options = schema.get("enum") if isinstance(schema, dict) else None
    if isinstance(options, list):
        said = [] if sources.holds_words(leaf) else [o for o in options if _said_option(o, leaf, sources)]
        return f", but '{said[0]}' was said." if said else ""
    if not sources.holds(leaf):
        return ""
    if leaf.isalpha() and not sources.holds_words(leaf):
        return ", which is only a part of a word that was said."
    whole = _longer(leaf, situation.said)
    return f", of which only '{whole[:80]}' was said." if whole else ""


def _said_option(option: Json, taken: str, sources: Sources) -> bool:
    return isinstance(option, str) and option != taken and len(option) > 2 and sources.holds_words(option)


def _longer(value: str, said: list[str]) -> str:
    """The longer name that a capitalised text is only a part of wherever it was said; "" where it stands alone."""
    if not value[:1].isupper() or len(value) < 3 or not value.replace(" ", "").isalnum():
        return ""
    longer = ""
    for text in said:
        at = text.find(value)
        while at >= 0:
            end = at + len(value)
            after, before = _GOES_ON.match(text, end), _GOES_BEFORE.search(text[max(0, at - 24) : at])
            if not after and not before:
                return ""
            words = re.compile(r"[\w'’]*").match(text, after.end() - 2) if after else None
            longer = longer or (before[0] if before else "") + text[at : words.end() if words else end]
            at = text.find(value, end)
    return longer
