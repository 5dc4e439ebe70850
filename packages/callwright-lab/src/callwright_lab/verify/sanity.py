"""Finds faults in the text of a request: no question, an unfilled form, impossible dates. Dates can
also stand in the wrong order, or lie in the past for things that only the future has. Pure,
English, and silent in cases of doubt.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Iterator
from datetime import date
from itertools import pairwise

from callwright.language.detect import script_of
from callwright.repair.provenance.conversation_text import QUOTED

_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_WRITTEN = re.compile(
    rf"\b(?P<m1>{_MONTH})\.? (?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<y1>\d{{4}}))?\b"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m2>{_MONTH})\b\.?(?:,? (?P<y2>\d{{4}}))?"
    r"|(?<![\w-])(?P<y3>(?:19|20)\d\d)-(?P<m3>\d{1,2})-(?P<d3>\d{1,2})(?![\w-])",
    re.I,
)
_PLACEHOLDER = re.compile(
    r"\[(?!\d)[A-Za-z][\w '/-]{1,40}\](?!\()|<(?!https?:)[A-Za-z][\w '/-]{1,40}>|\{\{?[A-Za-z][\w"
    r" ]{1,40}\}?\}"
    r"|\b(?:lorem ipsum|your_\w+|insert (?:your|the) \w+ here|TODO|TBD|xxx+|example_\w+)\b"
)
_BOOKED = re.compile(  # as a verb: one also asks about a book, an order and a schedule of the past
    r"(?:\A\W*|[.!?;:]\s+|\b(?:please|you|me|us|to)\s+)"
    r"(?:book|reserve|schedule|order|buy|purchase|rent|plan)\s+(?:an?|me|us|my|our)\b"
    r"|\bplanning (?:a|my|our)\b",
    re.I,
)
_RANGE = re.compile(
    r"\b(?:from|between|check[- ]?in(?: date)?(?: is| on| of|:)?|starting|departing)\b", re.I
)
_JOINED = re.compile(
    r"\A[\s,]*(?:to|until|till|through|and|-|–|and check(?:ing)?[- ]?out(?: on| date(?:"
    r" is)?)?)\s*\Z",
    re.I,
)
_VAGUE = re.compile(
    r"\b(?:a|an|some|one) (?:specific|certain|particular|given|famous) [a-z]+", re.I
)
_NAMED = re.compile(r"[\"“‘]|(?<!\w)'|\d|https?:|@")  # what names a thing wherever it stands
_NAMED_HERE = re.compile(r"\b(?:called|named|titled|such as|like)\b|\b[A-Z][a-z]+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_CODE = re.compile(r"\w*\d{3,}\w*")  # a number or an identifier, which says as much as a word
_LATEST = 31  # day of a month
_FEWEST = 2  # words of a request
_REPEATED = 0.3  # of all words are the same three, again and again


def iter_nonsense_reasons(text: str) -> Iterator[str]:
    """Yield the reasons why a text asks nothing that could be answered (rule 1 of Tool-MVR's Table
    16).
    """
    words = _WORD.findall(text.lower())
    plain = _CODE.sub("0", text)
    read = script_of(text) in ("", "Latn")  # others part words otherwise, or write marks on letters
    if read and len(words) < _FEWEST and not (words and plain != text):
        yield "it has hardly a word"
        return
    unquoted = QUOTED.sub(" ", text)
    if found := _PLACEHOLDER.search(unquoted):
        yield f"it holds a form that nobody filled in: {found[0]!r}"
    most, times = (
        Counter(zip(words, words[1:], words[2:], strict=False)).most_common(1)[0]
        if words[2:]
        else ((), 0)
    )
    if times > 3 and 3 * times >= _REPEATED * len(words):
        yield f"it repeats itself: {' '.join(most)!r}"
    letters = sum(c.isalpha() or c.isspace() for c in plain)
    if read and letters < len(plain) / 2:
        yield "it is mostly signs"


def iter_date_contradictions(text: str, today: date | None = None) -> Iterator[str]:
    """Days that contradict each other or the calendar; with ``today`` also what is to be booked in
    the past.
    """
    days = []
    for match in _WRITTEN.finditer(text):
        found = _parse_day(match)
        if isinstance(found, str):
            yield found
        elif found is not None:
            days.append((match, found))
    for (one, first), (other, second) in pairwise(days):
        between = text[one.end() : other.start()]
        opens = _RANGE.search(text[max(0, one.start() - 24) : one.start()])
        if (
            opens
            and _JOINED.match(between)
            and _is_year_written(one)
            and _is_year_written(other)
            and second < first
        ):
            yield f"its days stand the wrong way round: from {one[0]} to {other[0]}"
    if today is not None and _BOOKED.search(text):
        past = next((m for m, day in days if _is_year_written(m) and day < today), None)
        if past is not None:
            yield f"it asks for something to come on {past[0]}, which has passed"


def find_vague_phrase(text: str) -> str:
    """Return the phrase that asks for something without naming it, such as "a specific user"; ""
    for none.
    """
    for match in _VAGUE.finditer(text):
        rest = text[match.end() :]
        if not _NAMED.search(rest) and not _NAMED_HERE.search(re.split(r"[.?!]", rest)[0]):
            return match[0]
    return ""


def _parse_day(match: re.Match[str]) -> date | str | None:
    """The day that is written, what is wrong with it, or None for no day at all."""
    group = next(n for n in ("1", "2", "3") if match[f"d{n}"])
    number, year = (
        int(match[f"d{group}"]),
        int(match[f"y{group}"] or 2024),
    )  # a leap year where none is said
    month = int(match["m3"]) if group == "3" else _parse_month(match[f"m{group}"])
    if not 1 <= month <= 12 or year < 1:
        return f"there is no month {month}: {match[0]}"
    if not 1 <= number <= _LATEST and not _is_year_written(match):
        return None  # "Jan 98" is a year, and "flight 90 may be late" no date
    if not 1 <= number <= monthrange(year, month)[1]:
        return f"there is no {match[0]}"
    return date(year, month, number)


def _parse_month(name: str) -> int:
    return next(i for i, full in enumerate(_MONTHS, 1) if full.startswith(name.lower()[:3]))


def _is_year_written(match: re.Match[str]) -> bool:
    """Return True if the match contains a year."""
    return any(match[f"y{n}"] for n in ("1", "2", "3"))
