"""Days that are certainly nobody's: the user speaks of no day at all, or of none so far away.

A model that has to fill a date takes tomorrow, or a day of its training. A rule that holds such a
call must be sure. So each text of the user has to be in a language with a pack, today has to be
known, and whatever could mean a day speaks for the date: a unit of time, a holiday, "next", an
event that has its day, a number that leads to it, or a choice that is left to the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property
from itertools import chain, takewhile

from callwright.language import ENGLISH
from callwright.language.pack import PACKS, Pack, pack, pack_of
from callwright.language.phrases import find_phrases
from callwright.language.protocol import LanguagePack
from callwright.language.questions import remove_question_words
from callwright.language.tokens import fold_text
from callwright.repair.provenance.readable import find_pack_language
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.provenance.spans import counts_span, find_named_day, names_any
from callwright.schema.value_spellings import calendar_day

_A_YEAR = 366
_A_WEEK = 7
_LEAST_SAID = 3  # letters of a day's or a month's name
_LEAST_NAME = 4  # in texts that are not the user's: "may" and "sun" are words
# not behind the number of a day: "der 12. März"
_SENTENCE_END = re.compile(r"(?<=[.!?;])(?<!\s\d\.)(?<!\s\d\d\.)\s+|[\n。！？；]")
_DAY = ENGLISH.pattern("calendar.day")
_ISO_DAY = re.compile(r"(?<!\d)\d{4}-?\d\d-?\d\d")
_PAIR = re.compile(r"(?<![\d.,])(\d{1,2})[./-](\d{1,2})(?!\d)")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_ORDINAL = ENGLISH.pattern("days.ordinal")
_CLOCK = re.compile(r"\d:\d\d|\d\s?[ap]\.?m\b")
_LONGEST_MONTH = 31
_PACKS = {code: Pack(code) for code in PACKS}


class UnsaidDays:
    """The texts of a conversation, as far as they could speak of a day. ``said``: the user's;
    ``days``: all days that are known; ``spoken``: those that were said in full.
    """

    def __init__(
        self,
        sources: ProvenanceIndex,
        said: Sequence[str],
        days: Iterable[date],
        spoken: Iterable[date],
    ) -> None:
        self._sources = sources
        self._said = said
        self._days = frozenset(days)
        today = {sources.today} if sources.today is not None else set()
        self._spoken = frozenset(spoken) | today

    def is_unsaid(self, day: date, about: str, names: str = "") -> bool:
        """Return True if a day is certainly nobody's. ``about``: what the tool's documentation says,
        which may give one; ``names``: those of tool and parameter. Today is unsaid only where these
        tell that something to come is made: a run, a payment or an invoice has it without a word.
        """
        is_ahead = day not in self._todays or self._is_ahead(names, about)
        return is_ahead and self.is_nowhere(day, about)

    def is_nowhere(self, day: date, about: str) -> bool:
        """Return True if today is known, and nothing that was said or came back could mean any day.
        Of what came back only today's date, its weekday or a word for today mean today.
        """
        is_today = day in self._todays
        if not self._todays or (not is_today and self._days - self._todays):
            return False
        came_back = () if is_today else self._results
        return self._is_read and not (
            any(map(_may_mean_day, map(remove_question_words, self._said), self._languages))
            or any(_may_mean_day(text, "") for text in self._replies)
            or any(
                _names_day(text, _list_codes(find_pack_language(text)), _LEAST_NAME)
                for text in chain(self._instructions, came_back)
            )
            or (is_today and any(_gives_today(text, day) for text in self._results))
            or self._leads_to(day)
            or _gives_day(about)
        )

    def is_too_far(self, day: date) -> bool:
        """Return True if a day is more than a year from every day that is known, and its month or
        its year was not said. Nothing is too far where no day was said and today is not known.
        """
        if not self._spoken or self._is_within_a_year(day):
            return False
        texts = self._sources.texts
        return self._is_read and not (
            any(str(day.year) in text for text in texts)
            or float(day.year % 100) in self._sources.numbers_apart
            or any(_says_month(text, day) for text in texts)
            or any(_says_any("long_spans", text, PACKS) for text in self._sources.said_texts)
        )

    def is_time_unsaid(self, about: str) -> bool:
        """Return True if no clock, no word for a part of a day and no documentation of the tool gives
        a time of day. Numbers are not read here.
        """
        return self._is_read and not (
            any(_CLOCK.search(fold_text(text)) for text in self._sources.texts)
            or any(
                _says_any("day_hints", _without_near_day(text), PACKS)
                for text in self._sources.said_texts
            )
            or any(map(str.isdigit, about))
            or _gives_day(about)
        )

    def may_be_yearly(self, day: date) -> bool:
        """Return True if the user names a season or a holiday, and the day lies within a year of
        one that is known; or names the day's month, and it does so, or no day is known.
        """
        is_near = self._is_within_a_year(day)
        if not is_near and self._days | self._spoken:
            return False
        return any(
            _says_month(text, day)
            or (is_near and _says_any("yearly_days", text, _list_codes(code)))
            for text, code in zip(self._said, self._languages, strict=True)
        )

    def _is_within_a_year(self, day: date) -> bool:
        return any(abs((day - other).days) <= _A_YEAR for other in self._days | self._spoken)

    @cached_property
    def _languages(self) -> list[str]:
        return [find_pack_language(text) for text in self._said]

    @property
    def _is_read(self) -> bool:
        return bool(self._said) and all(self._languages)

    @cached_property
    def _others(self) -> tuple[list[str], list[str]]:
        """The texts of others than the user: before the user's first one, and after it."""
        users = {*self._said}
        texts = [text for text in self._sources.said_texts if text]
        if texts and texts[0] == self._sources.query and texts[0] in users:
            texts = texts[1:]  # the request itself stands before the conversation
        first = [*takewhile(lambda text: text not in users, texts)]
        return first, [text for text in texts[len(first) :] if text not in users]

    @cached_property
    def _instructions(self) -> list[str]:
        return [*map(_without_today, self._others[0])]

    @property
    def _replies(self) -> list[str]:
        return self._others[1]

    @cached_property
    def _results(self) -> list[str]:
        """All that came back, as one text."""
        spoken = {*self._sources.said_texts}
        return ["\n".join(text for text in self._sources.texts if text not in spoken)]

    @cached_property
    def _todays(self) -> frozenset[date]:
        """The days that the clock, or a sentence such as "Today is …", tells to be today."""
        found = find_todays(chain(*self._others))
        today = self._sources.today
        return found | {today} if today is not None else found

    def _is_ahead(self, names: str, about: str) -> bool:
        """Return True if names tell that something to come is made, nothing tells that it is stamped
        with its day, and the user tells nothing that was done or is so. A documentation mentions
        events and due dates of other things too, so it does not count for it.
        """
        every = f"{names} {about}"
        is_stamped = any(_says_any(entry, every, PACKS) for entry in ("stamped", "says_today"))
        return (
            _says_any("ahead", names, PACKS)
            and not is_stamped
            and not any(
                _says_any("done", text, _list_codes(code))
                for text, code in zip(self._said, self._languages, strict=True)
            )
        )

    def _leads_to(self, day: date) -> bool:
        """Return True if a number is that of the day, or counts days or weeks from today to it."""
        texts = (*self._said, *self._instructions, *self._replies, *self._results)
        numbers = ProvenanceIndex("", texts).numbers_apart
        if float(day.day) in numbers:
            return True
        apart = {float(abs((day - today).days)) for today in self._todays}
        return any(n in apart or n * _A_WEEK in apart for n in numbers)


def speaks_of_days(text: str) -> bool:
    """Return True if a text speaks of days, longer times or ages, in any language with a pack."""
    return any(_says_any(entry, text, PACKS) for entry in ("day_nouns", "long_spans"))


def find_todays(texts: Iterable[str]) -> frozenset[date]:
    """The days that sentences such as "Today is …" tell to be today."""
    parts = (part for text in texts for part in _SENTENCE_END.split(text))
    return frozenset(day for part in parts if _tells_today(part) for day in _find_days(part))


def _find_days(text: str) -> Iterator[date]:
    matches = chain(_ISO_DAY.finditer(text), _DAY.finditer(text))
    written = (one.to_date() for language in _list_packs() for one in language.dates(text))
    found = chain((calendar_day(match[0]) for match in matches), written)
    return (day for day in found if day is not None)


def _tells_today(part: str) -> bool:
    return _says_any("says_today", part, PACKS) and any(True for _ in _find_days(part))


def _gives_today(text: str, day: date) -> bool:
    """Return True if a text holds a day's date or weekday, or speaks of today, in any language."""
    if day in {*_find_days(text)} or _says_any("says_today", text, PACKS):
        return True
    folded = fold_text(text)
    for language in _list_packs():
        names = [name for name, n in language.weekdays.items() if n == day.weekday()]
        if names_any(folded, names, language.code, least=_LEAST_SAID):
            return True
    return False


def _without_today(text: str) -> str:
    """A text without the sentences that tell which day it is."""
    return "\n".join(part for part in _SENTENCE_END.split(text) if not _tells_today(part))


def _without_near_day(text: str) -> str:
    """A folded text without the word that surely names a day: in "morgen früh" it is no morning."""
    folded, language = fold_text(text), pack_of(text)
    if language is not None and find_named_day(text) is not None:
        for phrase in find_phrases(folded, map(fold_text, language.near_days), language.code):
            folded = folded.replace(phrase, " ")
    return folded


def _says_any(entry: str, text: str, codes: Iterable[str]) -> bool:
    folded = fold_text(text)
    packs = (found for code in codes if (found := pack(code)) is not None)
    return any(language.says(f"days.{entry}", folded) for language in packs)


def _may_mean_day(text: str, code: str) -> bool:
    """Return True if anything in a text could mean a day, whoever reads it. ``code``: its language;
    without one it is read in every language.
    """
    codes = _list_codes(code)
    text = _remove_open_days(text, codes)
    if (
        _names_day(text, codes, _LEAST_SAID)
        or _CLOCK.search(fold_text(text))
        or _says_any("day_hints", text, codes)
    ):
        return True
    return any(_is_day_of_month(m[1], m[2]) for m in _PAIR.finditer(text))


def _remove_open_days(text: str, codes: Iterable[str]) -> str:
    """The folded text without the words that name no day: "to another day"."""
    folded = fold_text(text)
    for code in codes:
        folded = _PACKS[code].without("days.open_days", folded) if code in _PACKS else folded
    return folded


def _names_day(text: str, codes: Iterable[str], least: int) -> bool:
    """Return True if a text names a day or a month, or counts or mentions days or longer times in
    one of these languages. ``least``: letters of a name that counts.
    """
    folded = fold_text(text)
    if any(one.search(folded) for one in (_YEAR, _ORDINAL, _ISO_DAY)):
        return True
    if _says_any("day_nouns", text, codes):
        return True
    return any(_names_near_day(folded, language, least) for language in _list_packs())


def _names_near_day(folded: str, language: LanguagePack, least: int) -> bool:
    near = [word for word, n in language.near_days.items() if n]
    names = (*language.months, *language.weekdays, *near)
    has_phrase = any(" " in word and fold_text(word) in folded for word in near)
    return has_phrase or names_any(folded, names, language.code, least=least)


def _is_day_of_month(first: str, second: str) -> bool:
    return 0 < min(int(first), int(second)) <= 12 and max(int(first), int(second)) <= _LONGEST_MONTH


def _says_month(text: str, day: date) -> bool:
    """Return True if a text says a day's month: by its name, or in figures beside the day's
    number.
    """
    folded, wanted = fold_text(text), {day.day, day.month}
    for language in _list_packs():
        names = [name for name, month in language.months.items() if month == day.month]
        if names_any(folded, names, language.code):
            return True
    return any({int(m[1]), int(m[2])} == wanted for m in _PAIR.finditer(text))


def _gives_day(about: str) -> bool:
    """Return True if a documentation may give a day where none was said: "by default tomorrow"."""
    folded = fold_text(about)
    if _says_any("default_day", about, PACKS):
        return True
    languages = _list_packs()
    near = (word for language in languages for word, n in language.near_days.items() if n)
    return any(fold_text(word) in folded for word in near) or any(
        counts_span(folded, language) for language in languages
    )


def _list_codes(code: str) -> Iterable[str]:
    """The languages in which a text is read: its own and English, or all where its own is not
    known.
    """
    return {code, "en"} if code else PACKS


def _list_packs() -> list[LanguagePack]:
    return [found for code in PACKS if (found := pack(code)) is not None]
