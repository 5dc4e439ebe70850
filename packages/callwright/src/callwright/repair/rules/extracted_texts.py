"""Texts that were said for a parameter: beside its name, in a place only it can stand in, or the
only ones left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from callwright.dataflow.flow import split_words
from callwright.language import ENGLISH
from callwright.language.tokens import split_identifier
from callwright.nouns.types import Json, JsonObject
from callwright.repair.provenance.conversation_text import (
    MORE_QUOTED,
    NAME,
    QUOTED,
    ConversationText,
    build_words_pattern,
    extract_name,
    get_quoted_text,
    keep_distinct,
    normalize_value,
    trim_name,
)
from callwright.schema.value_spellings import calendar_day

_DATE_WORDS = ENGLISH.words("extraction.dates")
_NOT_DATES = ENGLISH.words("extraction.not_dates")
_NO_TEXTS = ENGLISH.words("extraction.no_texts")
_PLACE_WORDS = ENGLISH.words("extraction.places")
_PLACE = re.compile(r"(?<![\w.'-])[A-Z][\w.'-]{1,80}+(?: [A-Z][\w.'-]{1,80}+){0,7},\s?[A-Z]{2}\b")
_CLOCK = ENGLISH.pattern("extraction.clock")
_MORE_THAN_A_NAME = ENGLISH.pattern("extraction.more_than_a_name")
_GOES_ON = ENGLISH.pattern("extraction.goes_on")
_WEAK = ENGLISH.words("extraction.weak")
_ID_WORD = ENGLISH.pattern("extraction.identifier_word")
_MORE = ENGLISH.expression("extraction.more")
_CODE = re.compile(r"#?(?=[\w.-]*\d)[\w-]+(?:\.[\w-]+)*|[A-Z]{2,}[\w-]*")
_NOT_CODES = ENGLISH.words("extraction.not_codes")
_MAKERS = ENGLISH.words("extraction.makers")
_CAST = ENGLISH.words("extraction.cast")
_MADE_BY = ENGLISH.expression("extraction.made_by")
_WITH = ENGLISH.expression("extraction.with")
_AT = ENGLISH.expression("extraction.at")
_ADDRESS = re.compile(r"\d\w*[^,.;\n]*, \Z")
_CITIES = ENGLISH.words("extraction.cities")
_TOWARDS = ENGLISH.expression("extraction.towards")
_CITY_AND_STATE = ENGLISH.pattern("extraction.city_and_state")
_SHORT_STATE = ENGLISH.pattern("extraction.short_state")
_LIST_GOES_ON = ENGLISH.pattern("extraction.list_goes_on")
_FROM = ENGLISH.expression("extraction.from")
_TO = ENGLISH.expression("extraction.to")
_OR_A_NAME = ENGLISH.pattern("extraction.or_a_name")
_NAMES = ENGLISH.pattern("extraction.names")
_NO_NAMES = ENGLISH.expression("extraction.no_names")
_NOT_BETWEEN = ENGLISH.words("extraction.not_between")
_FIRST_ENDS = ENGLISH.words("extraction.first_ends")
_SECOND_ENDS = ENGLISH.words("extraction.second_ends")


def by_kind(
    key: str, part: JsonObject, talk: ConversationText, taken: set[str]
) -> Iterator[tuple[str, Iterable[Json]]]:
    """(kind, values said) for a text parameter, surest kind first. ``taken`` are other arguments'
    values.
    """
    about = set(split_words(key))
    if (about & _DATE_WORDS and not about & _NOT_DATES) or part.get("format") == "date":
        days = {d.isoformat() for t in taken if (d := calendar_day(t[:10]))}
        yield "only_date", select_free_values(talk.dates, taken | days)
        return
    if "time" in about:
        yield (
            "only_time",
            select_free_values(keep_distinct(m[0] for m in _CLOCK.finditer(talk.text)), taken),
        )
    label = _build_label_pattern(key, talk.low)
    if label:
        yield "in_name", _in_name(label, talk)
        yield "after_label", _after_label(label, talk)
    if about & _NO_TEXTS or part.get("format"):
        return
    if label:
        yield "before_label", _before_label(label, talk)
    yield "by_name", _by_name(about, talk)
    if about & _PLACE_WORDS:
        yield "place", select_free_values(_list_places(about, part, talk), taken)
        yield "place", _find_places(part, talk, taken)
    if about & _PLACE_WORDS or _CITY_AND_STATE.search(str(part.get("description") or "")):
        yield "place_and_state", _find_places_and_states(part, talk, taken)
    yield "between", _find_range_ends(about, part, talk)
    yield "only_quoted", select_free_values(talk.quoted, taken)
    yield "named", _find_names(key, part, talk, taken)
    yield "only_name", select_free_values(talk.names, taken)


def select_free_values(values: Iterable[str], taken: set[str]) -> list[Json]:
    """Values that no other argument holds or is held by."""
    said = ((value, normalize_value(value)) for value in values)
    return [
        v for v, low in said if not any(low in t or (len(t) > 1 and t in low) for t in taken if t)
    ]


def _build_label_pattern(key: str, low: str) -> str:
    """A pattern for the words of a key that name a thing; "" where there are none or they were not
    said.
    """
    plain = [word for word in split_identifier(key) if not word.isdigit()]
    while plain and plain[-1] in _WEAK:
        plain.pop()
    while plain and plain[0] in _WEAK:
        plain.pop(0)
    return build_words_pattern(plain, low) if sum(map(len, plain)) >= 3 else ""


def _in_name(label: str, talk: ConversationText) -> list[Json]:
    """Names that hold the thing the key names: "Battle of Waterloo", "Premier League", "Hotel
    Paradise".
    """
    runs = [(m, extract_name(m)) for m in NAME.finditer(talk.text)]
    own = re.compile(rf"(?<!\w){label}(?!\w)", re.I)
    return [
        name for m, name in runs if own.search(name) and not own.fullmatch(name) and " " in name
    ]


def _after_label(label: str, talk: ConversationText) -> list[Json]:
    """Return the values right after the thing that the key names: "company Google", "case number
    CA123".
    """
    found: list[Json] = []
    for m in re.finditer(rf"(?<!\w)(?:{label})s?\b,?\s+(?i:{_MORE})", talk.text, re.I):
        quoted = QUOTED.match(talk.text, m.end())
        name = NAME.match(talk.text, m.end())
        code = _CODE.match(talk.text, m.end())
        if quoted and MORE_QUOTED.match(talk.text, quoted.end()):
            continue
        if quoted:
            found.append(get_quoted_text(quoted))
        elif (
            name
            and name[0].upper() not in _NOT_CODES
            and trim_name(name[0]) == name[0].rstrip(".'’")
        ):
            found.append(extract_name(name))
        elif code and not code[0].isdigit() and code[0] not in _NOT_CODES:
            found.append(code[0].lstrip("#"))
    return found


def _before_label(label: str, talk: ConversationText) -> list[Json]:
    """Capitalised words right before the thing the key names: "Sea Green color", "Fender
    guitar".
    """
    found = re.finditer(rf"({NAME.pattern}) {label}\b(?!(?: \w+)? [\"'`“])", talk.text)
    said = [m[1] for m in found if not m[1].endswith(("'s", "’s"))]
    return [n for name in said if (n := trim_name(name)) and n not in _NOT_CODES]


def _by_name(about: set[str], talk: ConversationText) -> list[Json]:
    """Return the names of a work's maker ("by X") or of its cast ("starring X", "with X in it")."""
    if about & _MAKERS:
        found = re.finditer(rf"{_MADE_BY}({NAME.pattern[2:]})", talk.text)
    elif about & _CAST:
        found = re.finditer(
            rf"{_WITH}({NAME.pattern[2:]})",
            talk.text,
        )
    else:
        return []
    return [n for m in found if (n := trim_name(m[1]))]


def _more_than_a_name(part: JsonObject) -> bool:
    """Return True if a description asks for a code or a place with its state, and not also for a
    mere name.
    """
    about = str(part.get("description") or "")
    return bool(_MORE_THAN_A_NAME.search(about)) and not _OR_A_NAME.search(about)


def _list_places(about: set[str], part: JsonObject, talk: ConversationText) -> list[str]:
    """Places said with the abbreviation of their state. A parameter for the name of a city has the
    name alone; the end of a street address is no place of its own.
    """
    places = [
        m for m in _PLACE.finditer(talk.text) if not _ADDRESS.search(talk.text[: m.start()][-80:])
    ]
    if about & _CITIES and not _more_than_a_name(part):
        return keep_distinct(trim_name(m[0].partition(",")[0]) for m in places)
    return keep_distinct(m[0] for m in places)


def _find_places(part: JsonObject, talk: ConversationText, taken: set[str]) -> list[Json]:
    """Names after "in", "at", "near", "for", unless the parameter asks for more than a name ("City,
    State").
    """
    if _more_than_a_name(part):
        return []
    said = re.finditer(rf"{_AT}({NAME.pattern[2:]})", talk.text)
    whole = [m[1] for m in said if not _GOES_ON.match(talk.text, m.end())]
    return select_free_values([n for s in whole if (n := trim_name(s)) == s], taken)


def _find_places_and_states(
    part: JsonObject, talk: ConversationText, taken: set[str]
) -> list[Json]:
    """Places said with where they lie ("Paris, France"), for a parameter whose description asks for
    both. Members of a list are none.
    """
    about = str(part.get("description") or "")
    if not talk.readable or not _CITY_AND_STATE.search(about):
        return []
    lies_in = "[A-Z]{2,3}\\b" if _SHORT_STATE.search(about) else NAME.pattern[2:]
    said = re.finditer(rf"{_TOWARDS}({NAME.pattern[2:]}, {lies_in})", talk.text)
    whole = [m[1] for m in said if not _LIST_GOES_ON.match(talk.text, m.end())]
    names = keep_distinct(n for s in whole if trim_name(s) == (n := s.rstrip(".")))
    return select_free_values(names, taken)


def _find_range_ends(named: set[str], part: JsonObject, talk: ConversationText) -> list[Json]:
    """X and Y of "from X to Y", by what the key says it is."""
    if _more_than_a_name(part):
        return []
    some, state = r"(?:[a-z]+ ){0,4}", r"(?:, [A-Z]{2}\b)?"
    ends = list(
        re.finditer(
            rf"{_FROM}{some}({NAME.pattern[2:]}){state}{_TO}{some}({NAME.pattern[2:]}){state}",
            talk.text,
        )
    )
    if named & _NOT_BETWEEN or len(ends) != 1 or _GOES_ON.match(talk.text, ends[0].end()):
        return []
    if named & _FIRST_ENDS:
        return [trim_name(ends[0][1])]
    return [trim_name(ends[0][2])] if named & _SECOND_ENDS else []


def _find_names(key: str, part: JsonObject, talk: ConversationText, taken: set[str]) -> list[Json]:
    """The only names left, for a parameter that is described as a name and nothing more."""
    about = str(part.get("description") or "")
    if not _NAMES.search(f"{about} {key.replace('_', ' ')}") or _MORE_THAN_A_NAME.search(about):
        return []
    return [
        n
        for n in select_free_values(talk.names, taken)
        if not re.search(rf"{re.escape(str(n))} {_NO_NAMES}", talk.text)
    ]
