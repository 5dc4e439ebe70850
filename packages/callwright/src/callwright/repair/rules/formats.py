"""One value in the form that its parameter asks for: an option by another word, a unit, a
documented date format.

Only where one reading is possible. What a description documents is a wish, not a law: it is
followed only for days and times, and only where the value is written in another known form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from rapidfuzz.distance import OSA

from callwright.dataflow.flow import split_words
from callwright.language import ENGLISH
from callwright.language.pack import pack_of
from callwright.nouns.memo import cache_by_text
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Json
from callwright.nouns.wire_names import EditRules
from callwright.repair.rules.sure_repairs import reads_two_ways
from callwright.schema.value_spellings import NONE, calendar_day, fold_word

OPTION, UNIT, FORMAT, SAID = (
    EditRules.OPTION_MEANING,
    EditRules.UNIT_LEFT_OUT,
    EditRules.DOCUMENTED_FORMAT,
    EditRules.NUMBER_AS_STATED,
)
COMMA = EditRules.DECIMAL_COMMA
CONFIDENCE = {
    rule: threshold("callwright.repair", f"formats.{rule}")
    for rule in (OPTION, UNIT, FORMAT, SAID, COMMA)
}
_NEUTRAL = ENGLISH.words("keys.neutral")
_SYNONYMS = tuple(frozenset(row.split()) for row in ENGLISH.listed("options.alike"))
_MEASURED = re.compile(
    r"[$€£¥]?\s*([-−+]?\d+(?:,\d{3})*(?:\.\d+)?)\s*([°%]?[A-Za-z/²³^0-9]{0,16}(?: [a-z]{1,12})?)\Z"
)
_DIRECTIVES = re.compile(r"%Y-%m-%d(?:[ T]%H:%M(?::%S)?)?|%[dm][-/.]%[dm][-/.]%Y|%H:%M(?::%S)?")
_LETTERS = re.compile(
    r"\b(?:[Yy]{4}[-/.][Mm]{2}[-/.][Dd]{2}|[Mm]{2}[-/.][Dd]{2}[-/.][Yy]{4}|[Dd]{2}[-/.][Mm]{2}[-/.][Yy]{4})"
    r"(?:[ T]HH:[Mm]{2}(?::[Ss]{2})?)?"
)
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:[.,]\d{3})*(?:[.,]\d+)?\Z")
_SEPARATED = re.compile(r"[-+]?(?:[1-9]\d{0,2}(?:[.,]\d{3})*|0)[.,]\d+\Z")
_POINTED = re.compile(r"[-+]?\d{1,3}(?:,\d{3})*(?:\.\d+)?\Z")  # a number as English writes it
# what is surely a decimal with a point; "3.12." is a day, and "19.30" may be a time
_DECIMAL_POINT = re.compile(r"(?<![\d.])(?:0\.\d|\d+\.\d(?![\d.])|\d+\.\d{4,})")
COORDINATES = ENGLISH.words("parameters.coordinate_keys")
_LONGEST = 2_000  # characters of a text that may mean an option
_LONGEST_NUMBER = 60
_TIMES = ("%H:%M:%S", "%H:%M", "%I:%M %p", "%I:%M%p", "%I %p", "%I%p")


def _trim_number_text(value: Json) -> str:
    """A text without outer spaces, if it is short enough to be a number; else ""."""
    text = value.strip() if isinstance(value, str) else ""
    return text if len(text) <= _LONGEST_NUMBER else ""


def list_synonyms(text: str) -> frozenset[str]:
    """Return the synonyms of a word, in lower case: "meters", "metre" … for "m"."""
    said = fold_word(text)
    return frozenset().union(*(row for row in _SYNONYMS if said in row)) - {said}


def match_option(
    value: Json, options: list[Json], *, slips: bool = True, about: str | None = None
) -> Json:
    """The one option that a text means by another word, with more words, or with a slip; NONE for
    none or several.

    ``slips=False``: the text was said in these words, so it is no typing slip. ``about``: the text
    whose words may be the only ones beside the option's, with those that say nothing.
    """
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST:
        return NONE
    texts = [o for o in options if isinstance(o, str) and o.strip()]
    for alike in (_same_meaning, _more_words, *((_is_typing_slip,) if slips else ())):
        hits = [o for o in texts if alike(value, o)]
        if len(hits) == 1 and (alike is not _more_words or _adds_nothing(value, hits[0], about)):
            return hits[0]
        if hits:
            return NONE
    return NONE


def strip_unit(
    value: Json, types: frozenset[str], key: str, about: str, *, sure: bool = False
) -> Json:
    """The number of a text like "5 km" where a number is wanted and the unit is the parameter's
    own; else NONE. ``sure``: only where all languages read the number alike.

    A unit that neither the key nor the description names could need converting: nothing is done.
    "%" never is.
    """
    found = _MEASURED.match(_trim_number_text(value))
    if not found or not types & {"integer", "number"} or "string" in types:
        return NONE
    if sure and reads_two_ways(found[1], is_whole="number" not in types):
        return NONE
    unit = found[2].strip().lower()
    if unit.startswith("%"):
        return NONE
    said = {w.lower() for w in re.findall(r"[A-Za-z°²³]+", f"{key} {about}")} | set(
        split_words(f"{key} {about}")
    )
    stem = unit[:-1] if unit.endswith("s") and len(unit) > 2 else unit
    alike = next((row for row in _SYNONYMS if unit in row), frozenset({unit, stem, stem + "s"}))
    if unit and not alike & said:
        return NONE
    text = found[1].replace(",", "").replace("−", "-")
    number = float(text)
    if "number" in types:
        return number if "." in text else int(text)
    return int(number) if number.is_integer() else NONE


def convert_to_documented(value: Json, part: Any) -> Json:
    """A day or moment in the format that the parameter's description documents; NONE where it is
    already, where the description names none or several, or where the value does not say one day
    (and time) only.
    """
    about = part.get("description") if isinstance(part, dict) else None
    if not isinstance(value, str) or not isinstance(about, str) or len(value) > 40:
        return NONE
    wanted = _find_date_pattern(about)
    if not wanted or _is_in_format(value, wanted) or _is_in_format(value.removesuffix("Z"), wanted):
        return NONE
    if "%S" not in wanted and re.search(r"\d:\d\d:\d\d", value):
        return NONE  # the seconds would be lost
    moment = _parse_moment(value, wanted)
    return moment.strftime(wanted) if moment else NONE


@cache_by_text(most=4_096, longest=1_024)
def _find_date_pattern(about: str) -> str:
    """The one strftime pattern that a description names, in either notation; "" for none or
    several.
    """
    found = set(_DIRECTIVES.findall(about))
    for text in _LETTERS.findall(about):
        date, _, clock = text.replace("T", " ").partition(" ")
        date = re.sub("[Yy]{4}", "%Y", date)
        date = re.sub("[Mm]{2}", "%m", date)
        date = re.sub("[Dd]{2}", "%d", date)
        clock = re.sub("HH", "%H", clock)
        clock = re.sub("[Mm]{2}", "%M", clock)
        clock = re.sub("[Ss]{2}", "%S", clock)
        joint = "T" if "T" in text else " "
        found.add(date + (joint + clock if clock else ""))
    return found.pop() if len(found) == 1 else ""


def _is_in_format(value: str, pattern: str) -> bool:
    try:
        datetime.strptime(value, pattern)
    except ValueError:
        return False
    return True


def _parse_moment(value: str, wanted: str) -> datetime | None:
    """Return the moment in a text, if the text states all parts of the pattern. A time is never
    invented, but midnight is the beginning of a day that is given alone.
    """
    text = (
        " ".join(value.replace("T", " ", 1).split())
        if re.match(r"\d{4}-\d\d?-\d\d?T", value)
        else value.strip()
    )
    if "%Y" not in wanted:
        return _parse_clock(text)
    day = calendar_day(text)
    if day is not None:
        return datetime(day.year, day.month, day.day)
    head, _, clock = text.partition(" ") if re.match(r"\d{4}[-/.]", text) else ("", "", "")
    day = calendar_day(head) if head else None
    time = _parse_clock(clock.removesuffix("Z")) if day else None
    if day is None or time is None or "%H" not in wanted:
        return None
    return datetime(day.year, day.month, day.day, time.hour, time.minute, time.second)


def _parse_clock(text: str) -> datetime | None:
    for pattern in _TIMES:
        if _is_in_format(text.strip().upper(), pattern):
            return datetime.strptime(text.strip().upper(), pattern)
    return None


def _same_meaning(value: str, offered: str) -> bool:
    a, b = value.strip().lower(), offered.strip().lower()
    a, b = re.sub(r"[\s-]+", "_", a), re.sub(r"[\s-]+", "_", b)
    return any(a in row and b in row for row in _SYNONYMS)


def _more_words(value: str, offered: str) -> bool:
    """The option with words around it that are no other option's: "in celsius", "Economy class" for
    Economy.
    """
    given, wanted = split_words(value), split_words(offered)
    return (
        bool(wanted)
        and len(given) > len(wanted)
        and len("".join(wanted)) > 2
        and _is_subsequence(wanted, given)
    )


def _adds_nothing(value: str, offered: str, about: str | None) -> bool:
    more = {*split_words(value)} - {*split_words(offered)}
    return about is None or more <= _NEUTRAL | {*split_words(about)}


def _is_subsequence(inner: tuple[str, ...], outer: tuple[str, ...]) -> bool:
    if "not" in outer or "no" in outer or "non" in outer:
        return False
    return any(outer[i : i + len(inner)] == inner for i in range(len(outer) - len(inner) + 1))


def _is_typing_slip(value: str, offered: str) -> bool:
    a, b = fold_word(value), fold_word(offered)
    shorter = min(len(a), len(b))
    if re.findall(r"\d+", a) != re.findall(r"\d+", b):
        return False
    return shorter >= 5 and OSA.distance(a, b) <= (1 if shorter < 9 else 2)


def decimal_comma(value: Json, types: frozenset[str]) -> Json:
    """The number of a text whose one comma cannot part thousands ("0,05", "80,2707"); NONE
    otherwise.
    """
    if "number" not in types or "string" in types:
        return NONE
    found = re.fullmatch(r"([-+]?)(\d+),(\d+)", _trim_number_text(value))
    if (
        not found
        or (len(found[3]) == 3 and found[2].lstrip("0"))
        or (len(found[2]) > 1 and found[2][0] == "0")
    ):
        return NONE
    return float(f"{found[1]}{found[2]}.{found[3]}")


def parse_written_number(
    value: Json, types: frozenset[str], said: Sequence[str], *, sure: bool = False
) -> Json:
    """The number of a text with separators that stands in what was said, as the language of that
    writes numbers: "1.250" in German is no one and a quarter. NONE where it stands nowhere, where
    the language is not known, where decimals are written with a point beside it, and, unless it
    must be ``sure``, where the text says the same as it is.
    """
    text = _trim_number_text(value)
    if not types & {"integer", "number"} or "string" in types or not _SEPARATED.match(text):
        return NONE
    whole = re.compile(rf"(?<![\d.,]){re.escape(text)}(?!\d|[.,]\d)")
    told = [one for one in said if whole.search(one)]
    packs = {pack_of(one) for one in told}
    written = packs.pop() if len(packs) == 1 else None
    if written is None or any(map(_DECIMAL_POINT.search, told)):
        return NONE
    pointed = written.with_point(text)
    is_same = pointed == text.replace(",", "")
    if (is_same and not sure) or not _POINTED.match(pointed):
        return NONE
    pointed = pointed.replace(",", "")
    return float(pointed) if "." in pointed else int(pointed)


def parse_stated_number(value: Json, types: frozenset[str], holds: Callable[[Json], bool]) -> Json:
    """The number of a text with separators ("1,234", "3,5") in the one reading that was said; NONE
    otherwise.
    """
    text = _trim_number_text(value)
    if not types & {"integer", "number"} or not _GROUPED.match(text):
        return NONE
    readings = {
        text.replace(",", ""),
        text.replace(",", "."),
        text.replace(".", "").replace(",", "."),
    }
    found = {float(r) for r in readings if r.count(".") <= 1}
    found = {f for f in found if "number" in types or f.is_integer()}
    said = [f for f in found if holds(int(f) if f.is_integer() else f)]
    if len(said) != 1:
        return NONE
    return (
        int(said[0]) if said[0].is_integer() and ("." not in text or "," not in text) else said[0]
    )
