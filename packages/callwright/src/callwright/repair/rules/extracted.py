"""Values that the conversation states for a parameter: said beside its name, or the only one of
their format.

Nothing is derived, translated or guessed at: a candidate is a piece of what was said. Two different
candidates of the surest kind that has any are none, unless all but one stand in the same place of
the reply's other calls of that tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from callwright.dataflow.flow import split_words
from callwright.language import ENGLISH
from callwright.language.tokens import split_identifier
from callwright.nouns.thresholds import threshold_pairs
from callwright.nouns.types import Json, JsonObject, to_canonical_json
from callwright.repair.provenance.conversation_text import (
    DATE,
    EMAIL,
    MORE_QUOTED,
    NOT_NAMES,
    NUMBER,
    QUOTED,
    URL,
    UUID,
    ConversationText,
    as_number,
    build_words_pattern,
    get_quoted_text,
    keep_distinct,
    normalize_value,
)
from callwright.repair.rules import (
    extracted_siblings as stated_siblings,
)
from callwright.repair.rules import (
    extracted_texts as stated_texts,
)
from callwright.schema.value_spellings import NONE, calendar_day

CONFIDENCE = threshold_pairs("callwright.repair", "extracted")
_DATED = ENGLISH.words("extraction.dated")
_RATES = ENGLISH.words("extraction.rates")
_DENIED = ENGLISH.pattern("extraction.denied")
_LINK_OF_NUMBERS = ENGLISH.expression("extraction.link_of_numbers")
_ENDS = ENGLISH.pattern("extraction.ends")
_MAIL_WORDS = ENGLISH.words("extraction.mail")
_LINK_WORDS = ENGLISH.words("extraction.links")
_COUNTING = ENGLISH.listed("extraction.counting")
_PLURAL_COUNTED = ENGLISH.expression("extraction.plural_counted")
_LINK = ENGLISH.expression("extraction.link")
_ID_SAID = ENGLISH.pattern("extraction.identifier_said")
_IP = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_HOST = re.compile(r"(?<![\w@./-])(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}(?![\w@/-]|\.\w)")
_PATH = re.compile(r"(?<![\w.:/~-])~?(?:/[\w.-]*\w)+/?(?![\w/])")
_BEFORE_NUMBER = re.compile(r"[\"'`$€£]?")
_NAMED = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)+(?=[,.;!?)\n]|$)")
_TOKEN = re.compile(r"[\w@#$%&*+/.:-]*[\w*#$%&](?=[\s,;.!?)\"'`]|$)")
_UNIT = ENGLISH.pattern("extraction.unit")
_YEAR = re.compile(r"(?:1[89]|20)\d\d|20\d{6}")
_SHORT_UNITS: Mapping[str, str] = ENGLISH.table("extraction.short_units")
_MONEY_WORDS = ENGLISH.words("extraction.money")
_CURRENCY = ENGLISH.pattern("extraction.currency")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that was said, and how it came to be one for the parameter."""

    value: Json
    kind: str

    def confidence(self, *, alone: bool) -> float:
        """Return how often such a value is the right one; ``alone``: the reply has no other
        call.
        """
        return CONFIDENCE[self.kind][0 if alone else 1]

    @property
    def is_named(self) -> bool:
        """True if the parameter's name stands beside the value, or the value is one of its options:
        any other is only the one of its format, and may be another thing's.
        """
        return "label" in self.kind or self.kind in ("option", "counted", "by_name")

    @property
    def is_leftover(self) -> bool:
        """True if the value is only what nothing else takes: said, but for no parameter."""
        return self.kind.startswith("only_") or self.kind in ("named", "money")


def extract_value(
    key: str,
    part: JsonObject,
    talk: ConversationText,
    used: Iterable[Json] = (),
    siblings: Sequence[Json] = (),
    partners: Sequence[Json] = (),
) -> Candidate | None:
    """The one value that the conversation states for a parameter; None where there is none or more
    than one.

    ``part`` is the parameter's schema. ``used`` are values of the reply's other arguments: what is
    only the last of its format may already be spoken for. ``siblings`` are the parameter's values
    in other calls of the same tool, ``partners`` values of this call's parameters of a like name
    (start and end, city1 and city2).
    """
    taken = {normalize_value(v) for v in used}
    beside = {to_canonical_json(v) for v in siblings}
    for kind, found in _iter_by_kind(key, part, talk, taken, siblings, partners):
        values = {to_canonical_json(v): v for v in found if v is not NONE}
        if len(values) > 1:
            values = {text: v for text, v in values.items() if text not in beside}
        if len(values) == 1:
            (value,) = values.values()
            if len(beside) > 1 and to_canonical_json(value) in beside:
                return None  # each of the calls has its own
            return Candidate(value, kind)
        if values:
            return None
    return None


def list_candidates(
    key: str, part: JsonObject, talk: ConversationText, used: Iterable[Json] = ()
) -> list[Candidate]:
    """Every value that the conversation may mean for a parameter, surest kind first: for those who
    can try them.
    """
    made: dict[str, Candidate] = {}
    for kind, values in _iter_by_kind(key, part, talk, {normalize_value(v) for v in used}, (), ()):
        for value in values:
            if value is not NONE:
                made.setdefault(to_canonical_json(value), Candidate(value, kind))
    return list(made.values())


def _iter_by_kind(
    key: str,
    part: JsonObject,
    talk: ConversationText,
    taken: set[str],
    siblings: Sequence[Json],
    partners: Sequence[Json],
) -> Iterator[tuple[str, Iterable[Json]]]:
    types = _read_types(part)
    if isinstance(part.get("enum"), list):
        yield "option", _find_stated_options(part["enum"], talk.text)
        return
    yield "labelled", _find_labelled(key, types, part, talk)
    yield "identified", _find_identifiers(key, types, talk)
    yield "address", [v for v in _find_addresses(key, part, talk) if "string" in types]
    if siblings or partners:
        yield (
            "listed",
            stated_siblings.find_list_members([*siblings, *partners], types, talk, taken),
        )
    if types & {"integer", "number"}:
        yield from _iter_numbers(key, types, part, talk, taken)
    elif "string" in types and not part.get("pattern"):
        yield from stated_texts.by_kind(key, part, talk, taken)
    elif types == {"array"}:
        yield "only_array", [v for v in talk.arrays if normalize_value(v) not in taken]
    if siblings:
        yield "shared", stated_siblings.find_shared_value(siblings)


def _iter_numbers(
    key: str, types: frozenset[str], part: JsonObject, talk: ConversationText, taken: set[str]
) -> Iterator[tuple[str, Iterable[Json]]]:
    free = [m for m in talk.numbers if normalize_value(as_number(m[1], types, m[2])) not in taken]
    if split_words(key)[-1:] == ("id",):
        return
    if not set(split_words(key)) & _DATED:
        free = [m for m in free if not _YEAR.fullmatch(m[1])]
    yield "counted", _find_counts(key, types, talk, free)
    yield "in_unit", _in_unit(types, part, free)
    if set(split_words(key)) & _MONEY_WORDS:
        money = [m for m in free if _is_money(m)]
        yield "money", [as_number(m[1], types, m[2]) for m in money]
        return
    if set(split_words(key)) & _RATES:
        free = [m for m in free if "." in m[1]]
    yield "only_number", [as_number(m[1], types, m[2]) for m in free]


def _is_money(m: re.Match[str]) -> bool:
    """Return True if the sign of a currency stands before a number, or its name behind it."""
    before = m.string[: m.start()].rstrip()[-1:]
    return before in ("$", "€", "£") or _CURRENCY.match(m.string, m.end()) is not None


def _read_types(part: JsonObject) -> frozenset[str]:
    named = part.get("type", "string")
    return frozenset(named if isinstance(named, list) else [named])


def _find_stated_options(options: list[Json], text: str) -> list[Json]:
    """Options that were said in so many words."""
    low = text.lower()
    said = [o for o in options if isinstance(o, str) and o and _is_stated_option(o.lower(), low)]
    return [o for o in said if not any(o != p and o.lower() in p.lower() for p in said)]


def _is_stated_option(option: str, low: str) -> bool:
    """Return True if an option was stated, and not only negated."""
    if option not in low:
        return False
    said = re.finditer(rf"(?<!\w){re.escape(option)}(?!\w)", low)
    return any(not _DENIED.search(low[: m.start()][-20:]) for m in said)


def _find_labelled(
    key: str, types: frozenset[str], part: JsonObject, talk: ConversationText
) -> list[Json]:
    """Return the values right after the key's words and a link: "city: Oslo", "user id is 7"."""
    label = build_words_pattern(split_identifier(key), talk.low)
    if not label:
        return []
    link = f"(?:{_LINK}|{_LINK_OF_NUMBERS})" if types & {"integer", "number"} else _LINK
    labels = re.finditer(rf"(?<![\w]){label}s?\b[\"'`]?{link}", talk.text, re.I)
    values = [_parse_value_at(talk.text, m.end(), types, part) for m in labels]
    values += _find_beside_label(label, types, part, talk) if len(split_identifier(key)) > 1 else []
    return [v for v in values if v is not NONE]


def _find_beside_label(
    label: str, types: frozenset[str], part: JsonObject, talk: ConversationText
) -> list[Json]:
    """Return the quotations, codes and numbers right behind the whole name of a parameter, with no
    link between: "user_id 'a-17'", "start year 2020".
    """
    labels = re.finditer(rf"(?<![\w]){label}[\"'`]?\s+(?=[\"'`“]|[\w-]*\d)", talk.text, re.I)
    return [_parse_value_at(talk.text, m.end(), types, part) for m in labels]


def _find_identifiers(key: str, types: frozenset[str], talk: ConversationText) -> list[Json]:
    """Return the values after "ID", for a parameter that is an id."""
    if split_words(key)[-1:] != ("id",):
        return []
    found = [m[1] or m[2] for m in _ID_SAID.finditer(talk.text)]
    if types & {"integer", "number"}:
        return [v for f in found if (v := as_number(f, types)) is not NONE]
    return list(found) if "string" in types else []


def _parse_value_at(text: str, at: int, types: frozenset[str], part: JsonObject) -> Json:
    """Return the value right after a label: a quoted text, a number, one token or a run of
    capitalised words.
    """
    if types & {"integer", "number"}:
        at += len(_BEFORE_NUMBER.match(text, at)[0])  # type: ignore[index]
        m = NUMBER.match(text, at)
        return as_number(m[1], types, m[2]) if m else NONE
    if "string" not in types:
        return NONE
    m = QUOTED.match(text, at)
    if m:
        return NONE if MORE_QUOTED.match(text, m.end()) else get_quoted_text(m)
    if part.get("format") == "date" or DATE.match(text, at):
        m = DATE.match(text, at)
        day = calendar_day(m[0]) if m else None
        return day.isoformat() if day else NONE
    for pattern in (EMAIL, URL, UUID, _NAMED):
        m = pattern.match(text, at)
        if m:
            return m[0]
    m = _TOKEN.match(text, at)
    token = m[0] if m else ""
    telling = (
        any(c.isdigit() or c in "@_/" for c in token)
        or token[1:] != token[1:].lower()
        or _is_clause_end(text, m)
    )
    return token if token and telling and token.lower() not in NOT_NAMES else NONE


def _is_clause_end(text: str, m: re.Match[str] | None) -> bool:
    """Return True if a value's sentence or clause ends with it."""
    return m is not None and _ENDS.match(text[m.end() :]) is not None


def _find_addresses(key: str, part: JsonObject, talk: ConversationText) -> list[Json]:
    """The only values that look like what the key's name or format says: an e-mail address, a URL,
    a UUID, an IP.
    """
    named = {*split_words(key), *re.findall(r"[a-z]+", key.lower()), str(part.get("format", ""))}
    for kinds, pattern in (
        (_MAIL_WORDS, EMAIL),
        (_LINK_WORDS, URL),
        ({"uuid", "guid"}, UUID),
        ({"ip", "ipv4"}, _IP),
        ({"domain", "hostname"}, _HOST),
        ({"path", "directory", "folder"}, _PATH),
    ):
        if named & kinds:
            return list(keep_distinct(m[0] for m in pattern.finditer(talk.text)))
    return []


def _find_counts(
    key: str, types: frozenset[str], talk: ConversationText, free: Sequence[re.Match[str]]
) -> list[Json]:
    """Numbers that stand right before what the key counts: "3 nights" for ``nights`` or
    ``num_nights``.
    """
    nouns = [w for w in split_words(key) if w not in _COUNTING]
    if not free or not nouns or nouns[-1] not in talk.low:
        return []
    *first, last = map(re.escape, nouns)
    between = rf"(?:(?:{'|'.join(first)})[\s-]+)*" if first else ""
    after = re.compile(rf"[\s-]+{between}{last}{_PLURAL_COUNTED}", re.I)
    said = [m for m in free if after.match(m.string, m.end())]
    return [v for m in said if (v := as_number(m[1], types, m[2])) is not NONE]


def _in_unit(types: frozenset[str], part: JsonObject, free: Sequence[re.Match[str]]) -> list[Json]:
    """Free numbers that stand before the unit which the description names: "5 years" for "the term
    in years".
    """
    units = {m[1].lower() for m in _UNIT.finditer(str(part.get("description") or ""))}
    if len(units) != 1 or not free:
        return []
    unit = units.pop()
    stem = unit.removesuffix("s") if len(unit) > 2 else unit
    ways = "|".join(map(re.escape, {unit, stem, _SHORT_UNITS.get(stem, unit)}))
    after = re.compile(rf"[\s-]*(?:{ways})s?\b(?![/^²])", re.I)
    said = [m for m in free if not m[2] and after.match(m.string, m.end())]
    return [v for m in said if (v := as_number(m[1], types)) is not NONE]
