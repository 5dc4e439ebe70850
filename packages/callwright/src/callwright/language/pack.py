"""Language packs over the vocabularies of this package: ``pack("de")``, ``pack_of(text)``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from itertools import chain
from typing import Any, Final

from callwright.language.detect import DETECTION, is_foreign, language_of
from callwright.language.number_words import read_number_words
from callwright.language.protocol import LanguagePack, Span, WrittenDate, WrittenNumber
from callwright.language.stemming import strip_ending, strip_last_letters
from callwright.language.tokens import UNPARTED, holds_unparted
from callwright.language.vocabulary import Vocabulary

PACKS: Final = ("ar", "de", "en", "es", "zh")
_DIGITS = (
    rf"(?:(?<![\w.,])|(?<={UNPARTED}))" + r"(?:\d{1,3}(?:GROUP\d{3})+|\d+)(?:DECIMAL\d+)?(?!\d)"
)


class Pack:
    """A language as its vocabulary describes it. Tables are made once, when first asked for."""

    def __init__(self, code: str) -> None:
        self._code = code
        self.vocabulary = Vocabulary(code)

    @property
    def code(self) -> str:
        return self._code

    @cached_property
    def stop_words(self) -> frozenset[str]:
        name = f"stop_words.{self._code}"
        return DETECTION.words(name) if DETECTION.has(name) else frozenset()

    @cached_property
    def question_words(self) -> frozenset[str]:
        return self._words("requests.questions")

    @cached_property
    def months(self) -> Mapping[str, int]:
        return self._table("calendar.months")

    @cached_property
    def weekdays(self) -> Mapping[str, int]:
        return self._table("calendar.weekdays")

    @cached_property
    def near_days(self) -> Mapping[str, int]:
        return self._table("calendar.near_days") or self._table("days.near_days")

    @cached_property
    def weekday_direct(self) -> frozenset[str]:
        return self._words("calendar.weekday_direct") or self._words("days.weekday_direct")

    @cached_property
    def weekday_apart(self) -> frozenset[str]:
        return self._words("calendar.weekday_apart") or self._words("days.weekday_apart")

    @cached_property
    def units(self) -> Mapping[str, str]:
        if self.vocabulary.has("units.names"):
            more = self._table("units_written.more_names")
            return {**self._table("units.names"), **more}
        kinds = self.vocabulary.file("units").values()
        return {
            written.rstrip("_").replace("_", " "): name
            for name, about in chain.from_iterable(units.items() for units in kinds)
            for written in about["names"]
        }

    @property
    def joiners(self) -> frozenset[str]:
        return self._words("number_words_more.joiners")

    @cached_property
    def one_words(self) -> frozenset[str]:
        return self._words("number_words_more.one_said")

    def verbs_of(self, effect: str) -> frozenset[str]:
        return self._words(f"effects.{effect}")

    def says(self, what: str, text: str) -> bool | None:
        if not self.vocabulary.has(what):
            return None
        return self.vocabulary.pattern(what).search(text) is not None

    def without(self, what: str, text: str) -> str:
        """The text with a blank for each match of an entry; as it is where there is no entry."""
        has = self.vocabulary.has(what)
        return self.vocabulary.pattern(what).sub(" ", text) if has else text

    def numbers(self, text: str) -> tuple[WrittenNumber, ...]:
        decimal, group = self._signs
        found = []
        for m in self._number.finditer(text):
            digits = m["digits"].replace(group, "").replace(decimal, ".")
            scale = self._scales.get((m["scale"] or "").lower(), 1.0)
            unit = self.units.get((m["unit"] or "").lower(), "")
            found.append(WrittenNumber(float(digits) * scale, m.span(), scale, unit))
        return tuple(found)

    def number_words(self, text: str) -> frozenset[float]:
        return read_number_words(text, [self._code])

    def no_amounts(self, text: str) -> tuple[Span, ...]:
        if not self.vocabulary.has("calendar.no_amount"):
            return ()
        return tuple(m.span() for m in self.vocabulary.pattern("calendar.no_amount").finditer(text))

    def dates(self, text: str) -> tuple[WrittenDate, ...]:
        if self.vocabulary.has("calendar.written_date"):
            return self._read_written_dates(text)
        found = []
        for m in self._date.finditer(text):
            day, year = m["day"] or m["day_after"], m["year"]
            month = self.months[m["month"].lower().rstrip(".")]
            made = WrittenDate(
                m.span(), month, int(day) if day else None, int(year) if year else None
            )
            if (day or year) and 1 <= (made.day or 1) <= 31:
                found.append(made)
        return tuple(found)

    def _read_written_dates(self, text: str) -> tuple[WrittenDate, ...]:
        found = []
        for m in self.vocabulary.pattern("calendar.written_date").finditer(text):
            year, month, day = (
                int(part) if part else None for part in m.group("year", "month", "day")
            )
            if month is not None and (day or year) and 1 <= (day or 1) <= 31:
                found.append(WrittenDate(m.span(), month, day, year))
        return tuple(found)

    def with_point(self, text: str) -> str:
        decimal, group = self._signs
        if decimal == ".":
            return text
        swapped = {decimal: ".", group: ","}
        return self._digits.sub(lambda m: "".join(swapped.get(c, c) for c in m.group()), text)

    def stem(self, word: str) -> str:
        stem = strip_ending(word, self._table("stemming.light"), doubled="s")
        last = self._table("stemming.last_letters")
        return strip_last_letters(stem, **last) if last else stem

    @cached_property
    def _signs(self) -> tuple[str, str]:
        signs = self.vocabulary.table("signs.numbers")
        return str(signs["decimal"]), str(signs["group"])

    @cached_property
    def _digits(self) -> re.Pattern[str]:
        decimal, group = map(re.escape, self._signs)
        return re.compile(_DIGITS.replace("DECIMAL", decimal).replace("GROUP", group))

    @cached_property
    def _number(self) -> re.Pattern[str]:
        scales = _build_behind(self._scales, "")
        units = _build_behind(filter(self._is_sure, self.units), "°²³/")
        return re.compile(
            rf"(?P<digits>{self._digits.pattern})(?:\s?(?P<scale>{scales}))?"
            rf"(?:\s?(?P<unit>{units}))?",
            re.IGNORECASE,
        )

    @cached_property
    def _scales(self) -> Mapping[str, float]:
        """The words behind a number that multiply it."""
        spoken = self._table("number_words.scales")
        return {**{w: float(n) for w, n in spoken.items()}, **self._table("numbers.scales")}

    def _is_sure(self, unit: str) -> bool:
        """Return True if a word behind a number can only be a unit: no single letter, no function
        word.
        """
        return not (unit.isalpha() and len(unit) == 1) and unit not in self.stop_words

    @cached_property
    def _date(self) -> re.Pattern[str]:
        names = _build_alternation(self.months)
        joints = self._words("calendar.date_joints")  # "20 de marzo de 2026"
        joint = rf"(?:(?:{'|'.join(sorted(joints))})\s+)?" if joints else ""
        return re.compile(
            rf"(?<![\w.])(?:(?P<day>\d{{1,2}})\.?\s+{joint})?(?P<month>{names})\b\.?"
            rf"(?:\s+(?P<day_after>\d{{1,2}})(?![\d:.,]\d|\d))?"
            rf"(?:,?\s+{joint}(?P<year>\d{{4}})\b)?",
            re.IGNORECASE,
        )

    def _words(self, name: str) -> frozenset[str]:
        return self.vocabulary.words(name) if self.vocabulary.has(name) else frozenset()

    def _table(self, name: str) -> Mapping[str, Any]:
        return self.vocabulary.table(name) if self.vocabulary.has(name) else {}


def _build_behind(spellings: Iterable[str], never: str) -> str:
    """An alternation of what may stand behind a number, not before ``never``: words, which end there,
    and signs of scripts that part no words.
    """
    every = dict.fromkeys(spellings)
    signs = dict.fromkeys(filter(holds_unparted, every))
    words = {word: None for word in every if word not in signs}
    ends = ((words, rf"(?![\w{never}])"), (signs, f"(?![{never}])" if never else ""))
    parts = (f"(?:{_build_alternation(kind)}){end}" for kind, end in ends if kind)
    return "|".join(parts) or "(?!)"


def _build_alternation(words: Mapping[str, object]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


@cache
def pack(code: str) -> LanguagePack | None:
    """The pack of a language; None where there is none."""
    return Pack(code) if code in PACKS else None


def pack_or_english(text: str) -> LanguagePack | None:
    """The pack of the language that a text is written in, English where it cannot be told; None
    where the text is surely in a language without a pack.
    """
    return pack(language_of(text) or ("" if is_foreign(text) else "en"))


def pack_of(text: str) -> LanguagePack | None:
    """The pack of the language that a text is written in; None where it cannot be told or there is
    no pack.
    """
    return pack(language_of(text))
