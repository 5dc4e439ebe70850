"""The arguments of a call that was missing: only what the request or the other calls plainly hold.

A value is taken where exactly one fits: the option the request names, a value another call has
under the same name, an output that plainly answers the argument, or the only value of the right
kind in the request that no call uses yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from callwright.dataflow import flow
from callwright.language import ENGLISH
from callwright.language.tokens import squash_name
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Json, JsonObject, Tool, iter_scalars, to_canonical_json
from callwright.repair.ordering.call_flow import CallFlow, find_best_feeder
from callwright.repair.rules import extracted

SURE = (
    "labelled",
    "address",
)  # kinds of stated values that are the gold one in 92 % of replies with several calls
FIGURES = ENGLISH.words("values.figures")
FEED_FLOOR = threshold("callwright.repair", "sequence.argument_floor")
FEED_MARGIN = threshold("callwright.repair", "sequence.argument_margin")

_QUOTED = re.compile(
    r"'([^'\n]{1,120})'(?!\w)|\"([^\"\n]{1,120})\"|“([^”\n]{1,120})”|‘([^’\n]{1,120})’"
)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+")
_DATE = re.compile(r"(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])")
_NUMBER = re.compile(r"(?<![\w.,$-])-?\d+(?:\.\d+)?(?![\w-]|[.,]\d|\s?%)")
_NAME = ENGLISH.pattern("values.name")
_NAMING = ENGLISH.words("values.naming")
_JOINING = ENGLISH.words("values.joining")
MAX_NAMES = 2  # where more things are named, the one that is left over is not plainly meant
_NEAR = 4  # words between what an argument is called and its value
_UNTELLING = ENGLISH.words("values.untelling")
_POSSESSIVE = ENGLISH.pattern("values.possessive")
_OPENING = ENGLISH.words("values.opening")
_CALENDAR = ENGLISH.words("values.calendar")


class Unfilled(Exception):
    """A required argument that nothing plainly holds; its name is the only argument."""


def fill_required(call_flow: CallFlow, tool: Tool, before: int, referred: str) -> JsonObject:
    """The required arguments of a call to ``tool`` that must come before call ``before``. Raises
    :class:`Unfilled`.

    ``referred`` is the reference that asked for it, whose notation new references follow ("" for
    none).
    """
    found: JsonObject = {}
    for key in tool.required:
        part = tool.properties.get(key)
        value = _find_value(
            call_flow, tool, key, part if isinstance(part, dict) else {}, before, referred
        )
        if value is None or any(
            to_canonical_json(value) == to_canonical_json(v) and not isinstance(v, bool)
            for v in found.values()
        ):
            raise Unfilled(key)
        found[key] = value
    return found


def _find_value(
    call_flow: CallFlow, tool: Tool, key: str, part: JsonObject, before: int, referred: str
) -> Json:
    if "const" in part:
        return part["const"]
    options = part.get("enum")
    if isinstance(options, list) and options:
        named = [o for o in options if call_flow.sources.holds(o)]
        return named[0] if len(named) == 1 else None
    shared = _find_shared_value(call_flow, key, part)
    if shared is not None:
        return shared
    fed = _refer_to_output(call_flow, tool, key, before, referred)
    if fed is not None:
        return fed
    said = _find_only_value(call_flow, key, part)
    return _extract_stated_text(call_flow, key, part) if said is None else said


def _find_shared_value(call_flow: CallFlow, key: str, part: JsonObject) -> Json:
    """The one value that other calls have under this name, if the request holds it."""
    given = [call.arguments for call in call_flow.calls if isinstance(call.arguments, dict)]
    values = {
        to_canonical_json(v): v
        for k, v in chain.from_iterable(arguments.items() for arguments in given)
        if squash_name(k) == squash_name(key)
        and not isinstance(v, dict | list)
        and _is_of_type(v, part)
    }
    kept = [v for v in values.values() if call_flow.sources.holds(v) and not isinstance(v, bool)]
    return kept[0] if len(values) == 1 and kept else None


def _refer_to_output(call_flow: CallFlow, tool: Tool, key: str, before: int, referred: str) -> Json:
    """A reference to the one output that plainly answers the argument, written as its neighbour
    is.
    """
    if not referred:
        return None
    makers = [
        (i, t)
        for i in call_flow.independent(before)
        if (t := call_flow.tool(i)) is not None and t.name != tool.name
    ]
    found = find_best_feeder(makers, tool, key, FEED_FLOOR, FEED_MARGIN)
    return None if found is None else write_reference(call_flow, found[0], found[1], referred)


def write_reference(call_flow: CallFlow, call: int, output: str, like: str) -> str | None:
    """A reference to an output of a call in the notation of another reference; None where there is
    no such name.
    """
    own = call_flow.labels.given[call]
    if like.startswith("output_"):
        return output if output.startswith("output_") else None
    if like.startswith("API_call_"):
        tool = call_flow.tool(call)
        names = list((tool.output_schema or {}).get("properties", {})) if tool else []
        at = names.index(output) if output in names else 0
        return own[at] if at < len(own) and own[at].startswith("API_call_") else None
    if re.match(r"\$\{?\d", like):
        return f"${{{call + 1}}}" if "{" in like else f"${call + 1}"
    label = (own[0] if own else call_flow.calls[call].id).strip("$")
    steps = f".{output}" if output else ""
    return (
        f"${label}{steps}$" if like.startswith("$") and "{" not in like else f"{{{label}{steps}}}"
    )


def _extract_stated_text(call_flow: CallFlow, key: str, part: JsonObject) -> Json:
    """The text that the request says the argument is ("my username is ann"), if no call has it yet;
    figures only for an argument that is called a number or an id.
    """
    told = (
        extracted.extract_value(key, part, call_flow.talk)
        if part.get("type", "string") == "string"
        else None
    )
    if (
        told is None
        or told.kind not in SURE
        or (str(told.value).isdigit() and not FIGURES & set(flow.split_words(key)[-1:]))
    ):
        return None
    return (
        told.value if _select_unused([str(told.value)], _collect_used_values(call_flow)) else None
    )


def _collect_used_values(call_flow: CallFlow) -> set[str]:
    """The values of all calls that stay."""
    kept = (call for n, call in enumerate(call_flow.calls) if n not in call_flow.dropped)
    return {squash_name(str(v)) for call in kept for v in iter_scalars(call.arguments)}


def _find_only_value(call_flow: CallFlow, key: str, part: JsonObject) -> Json:
    """The only value of the argument's kind that the request holds and no call uses yet.

    A number must stand by the argument's name ("a term of 36 months"); so must a text, unless the
    argument is what names the thing (query, title, city …) and only one thing is named.
    """
    used = _collect_used_values(call_flow)
    kind = part.get("type")
    if kind in ("integer", "number"):
        near = (m for m in _NUMBER.finditer(call_flow.query) if _by_name(call_flow.query, m, key))
        figures = _select_unused((m[0] for m in near), used)
        if len(figures) != 1 or (kind == "integer" and "." in figures[0]):
            return None
        return int(figures[0]) if "." not in figures[0] else float(figures[0])
    if kind not in (None, "string"):
        return None
    for candidates in _iter_text_candidates(call_flow.query, key, part):
        fresh = _select_unused(candidates, used)
        if fresh:
            return fresh[0] if len(fresh) == 1 else None
    return None


def _iter_text_candidates(query: str, key: str, part: JsonObject) -> Iterator[list[str]]:
    """Values of a text argument that the request may hold, surest kind first."""
    named = flow.split_words(key)
    if "email" in named or part.get("format") == "email":
        yield _EMAIL.findall(query)
        return
    if "date" in named or part.get("format") == "date":
        yield _DATE.findall(query)
        return
    quoted = list(_QUOTED.finditer(query))
    yield [_get_matched_group(m) for m in quoted if _by_name(query, m, key)]
    if _NAMING & set(named[-1:]):
        yield [_get_matched_group(m) for m in quoted]
        called = [
            name
            for m in _NAME.finditer(query)
            if (name := _trim_opening_words(m[0], m.start(), query))
        ]
        yield called if len(set(called)) <= MAX_NAMES else []


def _get_matched_group(match: re.Match[str]) -> str:
    return str(next(filter(None, match.groups()), ""))


def _by_name(query: str, match: re.Match[str], key: str) -> bool:
    """Return True if a word of the argument's name stands just before the value."""
    telling = set(flow.split_words(key)) - _UNTELLING or set(flow.split_words(key))
    before = flow.split_words(query[: match.start()])[-_NEAR:]
    return bool(telling & set(before)) and not _CALENDAR & set(before[-1:])


def _trim_opening_words(name: str, at: int, query: str) -> str:
    """A capitalised name without the word that merely opens the sentence."""
    opens = not query[:at].strip() or query[:at].rstrip()[-1:] in (".", "!", "?", ":", ";", "\n")
    words = _POSSESSIVE.sub("", name.rstrip(".")).split()
    while words and (
        words[0].lower() in _OPENING or (opens and len(words) > 0 and flow.find_verb_kind(words[0]))
    ):
        words = words[1:]
        opens = False
    if (opens and len(words) == 1) or any(w.lower() in _CALENDAR for w in words):
        return ""
    while words and words[-1] in _JOINING:
        words = words[:-1]
    return " ".join(words)


def _select_unused(values: Sequence[str] | Iterator[str], used: set[str]) -> list[str]:
    """Distinct values that no call uses as they are or in part ("New York City" where one has "New
    York").
    """
    found = [v for v in dict.fromkeys(values) if squash_name(v) and squash_name(v) not in used]
    return [
        v
        for v in found
        if not any(len(u) > 3 and (u in squash_name(v) or squash_name(v) in u) for u in used)
    ]


def _is_of_type(value: Json, part: JsonObject) -> bool:
    kind = part.get("type")
    if kind == "string":
        return isinstance(value, str)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return kind in (None, "boolean") or isinstance(kind, list)
