"""The protocol of a language pack. A rule that rests on words takes them from a pack; what a pack
does not hold is empty, and the rule abstains.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number in a text: its value, what it counts by (1000.0 for "tausend"), and its unit by our
    name of it; "" where none is written.
    """

    value: float
    span: Span
    scale: float = 1.0
    unit: str = ""


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date in a text. What is None was not written."""

    span: Span
    month: int
    day: int | None = None
    year: int | None = None

    def to_date(self) -> dt.date | None:
        """The day, where all of it was written and there is such a day."""
        if self.year is None or self.day is None:
            return None
        try:
            return dt.date(self.year, self.month, self.day)
        except ValueError:
            return None


class LanguagePack(Protocol):
    """One language. Implementations are pure: no clock, no locale, nothing remembered of texts."""

    @property
    def code(self) -> str:
        """The code of the language in ISO 639-1."""
        ...

    @property
    def stop_words(self) -> frozenset[str]:
        """Function words, which say nothing of a subject."""
        ...

    @property
    def question_words(self) -> frozenset[str]:
        """Words that ask for what is not known."""
        ...

    @property
    def months(self) -> Mapping[str, int]:
        """Names and abbreviations, lower case -> 1 to 12."""
        ...

    @property
    def weekdays(self) -> Mapping[str, int]:
        """Names and abbreviations, lower case -> 0 (Monday) to 6."""
        ...

    @property
    def near_days(self) -> Mapping[str, int]:
        """Names of days near today -> how many days after it."""
        ...

    @property
    def weekday_direct(self) -> frozenset[str]:
        """Words before a weekday's name that mean that very day."""
        ...

    @property
    def weekday_apart(self) -> frozenset[str]:
        """Words by which a text may mean a day beside the weekday that it names."""
        ...

    @property
    def units(self) -> Mapping[str, str]:
        """The spellings of units and currencies, in lower case -> our name of them."""
        ...

    @property
    def joiners(self) -> frozenset[str]:
        """Words between the parts of one number: "and"."""
        ...

    @property
    def one_words(self) -> frozenset[str]:
        """Words with which one thing is spoken of, such as articles; none where a noun alone may mean
        one thing.
        """
        ...

    def verbs_of(self, effect: str) -> frozenset[str]:
        """Verbs that ask for an effect ("destroying"); none where the pack has no such list."""
        ...

    def says(self, what: str, text: str) -> bool | None:
        """Return True if a text says something ("calls.written_out"); None where the pack has no
        expression for it.
        """
        ...

    def numbers(self, text: str) -> tuple[WrittenNumber, ...]:
        """The numbers in a text, in order."""
        ...

    def number_words(self, text: str) -> frozenset[float]:
        """The numbers that a text says in words."""
        ...

    def dates(self, text: str) -> tuple[WrittenDate, ...]:
        """The dates in a text that name their month, in order."""
        ...

    def no_amounts(self, text: str) -> tuple[Span, ...]:
        """The numbers of a text that are no amounts, where the signs beside them say so: times and
        places in an order.
        """
        ...

    def with_point(self, text: str) -> str:
        """The text, of the same length, with the signs of its numbers as in English."""
        ...

    def stem(self, word: str) -> str:
        """A word without its ending."""
        ...
