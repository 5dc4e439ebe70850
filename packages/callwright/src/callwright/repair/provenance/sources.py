"""Everything a run has seen, indexed so that one can ask where a value comes from."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from datetime import date
from typing import NamedTuple

from callwright.jsontext import parse_tool_text
from callwright.language import ENGLISH
from callwright.language.clocks import Clock, find_clocks
from callwright.language.detect import language_of
from callwright.language.number_words import (
    number_languages,
    read_number_signs,
    read_number_words,
)
from callwright.language.quantities import read_split_amounts
from callwright.language.tokens import (
    blank_unparted,
    fold_text,
    holds_unparted,
    split_identifier,
    squash_text,
    with_ascii_digits,
)
from callwright.nouns.memo import cache_by_digest
from callwright.nouns.types import Json, Message, ToolResult, to_canonical_json
from callwright.repair.provenance.echoes import (
    fold_arguments,
    fold_case,
    spell_pattern,
    strip_echoes,
    tell_failure,
)
from callwright.schema.value_spellings import calendar_day

_NOT_ALNUM = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W_]+")
_NUMBER = ENGLISH.pattern("numbers.in_results")
_COUNT_WORDS: Mapping[str, float] = ENGLISH.table("numbers.count_words")
_COUNTS = frozenset(_COUNT_WORDS)
# "1 250", "1'250", "1 250,50" and the Arabic "١٬٢٥٠"
_GROUPED = re.compile(
    r"(?<![\w.,])(\d{1,3}(?:[ \u00a0\u2009\u202f'\u2019\u066c]\d{3})+)"
    r"(?:[.,\u066b](\d+))?(?!\w|[.,\u066b]\d)"
)
# "2٫5" and "２．５": a number whose decimals stand behind a sign that only other scripts have
_OTHER_POINT = re.compile(
    r"(?<![\w.,\u066b\u066c])(\d+)[\u066b\uff0e](\d+)(?!\w|[.,\u066b\uff0e]\d)"
)
# "1e3" and "2.5E-6", no part of a code
_SCIENTIFIC = re.compile(
    r"(?<![\w.,])(?<!\w[-_/])(\d+)(?:[.,](\d+))?[eE]([+-]?\d{1,2})(?![\w.,/-]*\w)"
)
_POINT_GROUPS = re.compile(r"-?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?")  # "1.250,50"
_ENUMERATORS = ENGLISH.words("numbers.enumerators")
_ENUMERATES = ENGLISH.pattern("numbers.enumerates")
_CARDINALS = ENGLISH.table("number_words.numbers").keys()
_ONE_WORDS = frozenset(word for word, value in _COUNT_WORDS.items() if value == 1)
_CONNECTORS = "-_/"  # between the parts of a code
_ENDINGS = ENGLISH.listed("stemming.forms")
_MAX_LEAVES = 20_000
_LONGEST_SPELLED = 4_000  # characters of a text in which number words are read
_MAX_DEPTH = 60


class Leaf(NamedTuple):
    """One scalar of a result. ``path`` are the keys that lead to it, list positions left out."""

    result: str
    path: tuple[str, ...]
    value: Json


class ProvenanceIndex:
    """Query, conversation, results and defaults of one run. Grows as results arrive; see
    :meth:`without`.

    Text is compared without case, accents, spaces and punctuation; numbers by value; days by date.
    """

    def __init__(
        self,
        query: str = "",
        conversation: Iterable[Message | str] = (),
        results: Iterable[ToolResult] = (),
        defaults: Mapping[str, Json] | None = None,
        days: Collection[date] = (),
        today: date | None = None,
    ) -> None:
        self.query = query
        self.today = today
        self.days_known = frozenset(
            days
        )  # such as today, and the days that were said relative to it
        self.results: list[ToolResult] = []
        self._failed: list[ToolResult] = []
        self.leaves: list[Leaf] = []
        self._said: list[str] = []
        self._defaults = dict(defaults or {})
        self._texts: list[str] = []  # said, and of results
        self._known: set[str] = set()  # the same texts: rows of a table repeat their keys
        self._fold: list[
            str
        ] = []  # of the texts so far; each index is made when it is first asked for
        self._squash: list[str] = []
        self._word_set: set[str] = set()
        self._number_set: set[float] = set()
        self._asked_set: set[Json] = set()  # the arguments of the first _asked results
        self._asked = 0
        self._bare: tuple[tuple[int, int], ProvenanceIndex] | None = None
        self._worded = self._numbered = 0  # how many texts those two hold
        self.add_text(query)
        for message in conversation:
            self.add_text(message if isinstance(message, str) else message.content)
        for value in self._defaults.values():
            self._add_value(value, "", ())
        for result in results:
            self.add_result(result)

    def copy(self) -> ProvenanceIndex:
        """The same sources, which from here on grow by themselves: another way on from this point
        of the run.
        """
        twin = ProvenanceIndex(self.query, defaults=self._defaults, days=self.days_known)
        twin.today = self.today
        twin._said = [*self._said]
        twin.results, twin.leaves, twin._texts = [*self.results], [*self.leaves], [*self._texts]
        twin._failed = [*self._failed]
        twin._known = {*self._known}
        return twin

    def add_text(self, text: str) -> None:
        """Add something that was said, and in figures the times of day in its words."""
        self._said.append(text)
        self._keep(text)
        for clock in find_told_clocks(text):
            self._keep(f"{clock.hour}:{clock.minute:02}")

    def without(self, results: Container[str]) -> ProvenanceIndex:
        """The same sources as if the results of these ids had never come."""
        kept = [one for one in (*self.results, *self._failed) if one.id not in results]
        made = ProvenanceIndex("", self._said, kept, self._defaults, self.days_known, self.today)
        made.query = self.query
        return made

    def without_echoes(self) -> ProvenanceIndex:
        """The same sources as if no result had repeated what its own call made up
        (:mod:`callwright.repair.provenance.echoes`). The same object if none did.
        """
        counted = len(self.results) + len(self._failed), len(self._said)
        if self._bare is None or self._bare[0] != counted:
            said = ProvenanceIndex("", self._said)
            kept = [strip_echoes(one, said.holds_whole) for one in self.results]
            made = self
            if any(one is not other for one, other in zip(kept, self.results, strict=True)):
                every = (*kept, *self._failed)
                made = ProvenanceIndex(
                    "", self._said, every, self._defaults, self.days_known, self.today
                )
                made.query = self.query
            self._bare = counted, made
        return self._bare[1]

    def reword(self, change: Callable[[str], str]) -> ProvenanceIndex:
        """The same texts after a change, without the places of results."""
        made = ProvenanceIndex()
        made._said = [*map(change, self._said)]
        for text in self._texts:
            made._keep(change(text))
        return made

    def was_asked_with(self, value: Json) -> bool:
        """Return True if a call that has a result was made with this scalar."""
        for result in self.results[self._asked :]:
            self._asked_set |= fold_arguments(result.arguments)
        self._asked = len(self.results)
        return fold_case(value) in self._asked_set

    def _keep(self, text: str) -> None:
        if text and text not in self._known:
            self._known.add(text)
            self._texts.append(text)

    @property
    def _folded(self) -> list[str]:
        self._fold += map(_fold, self._texts[len(self._fold) :])
        return self._fold

    @property
    def _squashed(self) -> list[str]:
        self._squash += (_NOT_ALNUM.sub("", text) for text in self._folded[len(self._squash) :])
        return self._squash

    @property
    def _words(self) -> set[str]:
        if self._worded < len(self._texts):
            self._word_set.update(_WORD.findall("\n".join(self._folded[self._worded :])))
            self._worded = len(self._texts)
        return self._word_set

    @property
    def _numbers(self) -> set[float]:
        if self._numbered < len(self._texts):
            whole = "\n\n".join(self._texts[self._numbered :])
            for figure, percent in _NUMBER.findall(whole):
                self._number_set.update(_read_figures(figure, is_percent=bool(percent)))
            self._number_set.update(_read_grouped(whole))
            self._number_set.update(_COUNT_WORDS[w] for w in self._counts())
            self._number_set.update(self._read_spelled(self._said))
            self._numbered = len(self._texts)
        return self._number_set

    def _read_spelled(self, texts: Iterable[str]) -> Iterator[float]:
        """The numbers that texts say in words, and amounts of money in two units, each in its
        language or in the conversation's.
        """
        otherwise = language_of(" ".join(self._said)[-_LONGEST_SPELLED:])
        for text in texts:
            text = text[:_LONGEST_SPELLED]
            codes = number_languages(text, otherwise)
            yield from read_number_words(text, codes)
            for code in {*codes, "en"}:
                yield from read_split_amounts(text, code)
            yield from read_number_signs(text)

    @property
    def numbers(self) -> set[float]:
        """Every number that was seen, those in words and those without their sign among them."""
        return self._numbers

    @property
    def spelled_in_results(self) -> set[float]:
        """The numbers that results say in words. Read anew each time: ask this last."""
        said = set(self._said)
        return set(self._read_spelled(text for text in self._texts if text not in said))

    @property
    def numbers_apart(self) -> set[float]:
        """The numbers that stand alone: none that is a part of a code ("A-100"), and no "one", which
        is often an article. Read anew each time.
        """
        found = set(self._read_spelled(self._said))
        for text in self._texts:
            for figure in _NUMBER.finditer(text):
                if not _is_in_code(text, *figure.span(1)):
                    found.update(_read_figures(figure[1], is_percent=bool(figure[2])))
            found.update(_read_grouped(text))
        more = self._counts() - _CARDINALS - (_ONE_WORDS - _ENUMERATORS)
        found.update(float(_COUNT_WORDS[word]) for word in more)
        return found

    @property
    def texts(self) -> list[str]:
        """Every text that was seen, each once."""
        return self._texts

    @property
    def said_texts(self) -> list[str]:
        """The texts that were said, no result among them."""
        return self._said

    def _counts(self) -> set[str]:
        """The words said that are numbers; the "first" of "First, find …" only says where a list
        begins.
        """
        counts = self._words & _COUNTS
        if counts & _ENUMERATORS:
            apart = {w for text in self._folded for w in _WORD.findall(_ENUMERATES.sub("", text))}
            counts -= _ENUMERATORS - apart
        return counts

    def add_result(self, result: ToolResult) -> None:
        """Add what a tool returned. A result that failed counts by the words of the failure, less
        what only repeats its call.
        """
        if result.failure is not None:
            self._failed.append(result)
            self._keep(tell_failure(result))
            return
        self.results.append(result)
        content = result.content
        if isinstance(content, str) and content.lstrip()[:1] in ("{", "["):
            self._keep(content)
            content = parse_tool_text(content)
        self._add_value(content, result.id, ())

    def holds(self, value: Json) -> bool:
        """Return True if the value was seen: a text as a whole or by all its words, a number, a
        day, every member.
        """
        if isinstance(value, bool) or value is None:
            return True
        if isinstance(value, int | float):
            return self._holds_number(value) or to_canonical_json(value) in self._words
        if isinstance(value, str):
            return self._holds_text(value) or self.holds_day(value)
        if isinstance(value, list):
            return all(self.holds(v) for v in value)
        return all(self.holds(v) for v in value.values()) if isinstance(value, dict) else False

    def holds_whole(self, text: str) -> bool:
        """Return True if a text was stated in one piece, ignoring case, accents, spaces and
        punctuation.
        """
        wanted = _squash(text)
        return _in_any(text, self._texts) or _in_any(wanted, self._squashed)

    def holds_apart(self, text: str) -> bool:
        """Return True if a text was stated in one piece and not as a part of a longer number:
        "ORD-471" is not in "ORD-4711". A text of fewer than four signs must be a word.
        """
        wanted = _squash(text)
        if len(wanted) < 4:
            return not wanted or wanted in self._words or self._stands_alone(_fold(text.strip()))
        if not _in_any(wanted, self._squashed):
            return _in_any(text, self._texts)
        pattern = spell_pattern(wanted)
        pairs = zip(self._squashed, self._folded, strict=True)
        return any(wanted in squashed and pattern.search(folded) for squashed, folded in pairs)

    def has_match(self, pattern: re.Pattern[str]) -> bool:
        """Return True if an expression for folded text finds something."""
        return any(map(pattern.search, self._folded))

    def holds_words(self, text: str) -> bool:
        """Return True if a text was stated in whole words, not only as a part of others: "Franc" is
        not in "France".
        """
        if any(_is_whole_word_in(text, seen) for seen in self._texts):
            return True
        wanted = _WORD.findall(_fold(text))
        return all(
            w in self._words or any(w + end in self._words for end in _ENDINGS) for w in wanted
        )

    def under(self, key: str) -> list[Json]:
        """The values that results hold under a name which ends like this argument's, each once, in
        order.
        """
        return list(
            {to_canonical_json(leaf.value): leaf.value for leaf in self.leaves_under(key)}.values()
        )

    def leaves_under(self, key: str) -> Iterator[Leaf]:
        """Yield the leaves of results under a name that ends like this argument's, in order."""
        last = split_identifier(key)[-1:]
        return (
            leaf
            for leaf in self.leaves
            if leaf.path and split_identifier(leaf.path[-1])[-1:] == last
        )

    def days(self) -> list[str]:
        """The ISO 8601 days that results hold, each once, in order."""
        found = (
            calendar_day(leaf.value[:10]) for leaf in self.leaves if isinstance(leaf.value, str)
        )
        return list(dict.fromkeys(day.isoformat() for day in found if day is not None))

    def mentions(self, word: str) -> bool:
        """Return True if a word was used, ignoring endings: "sorted" for "sort". One of a script
        that parts no words may stand anywhere.
        """
        if holds_unparted(word):
            return len(word) > 1 and self.holds_whole(word)
        word = fold_text(word)
        stem = word[:4] if len(word) < 6 else word[:5]
        return word in self._words or (
            len(word) >= 4 and any(w.startswith(stem) for w in self._words)
        )

    def brief(self, chars: int) -> str:
        """The query and the latest results, at most ``chars`` characters: for a repair prompt."""
        lines = [f"User request: {self.query}"] if self.query else []
        room = chars - sum(map(len, lines))
        shown: list[str] = []
        for result in reversed(self.results):
            line = f"{result.id} {result.tool}: {to_canonical_json(result.content)}"
            line = line if len(line) <= 400 else line[:399] + "…"
            if len(line) > room:
                break
            shown.append(line)
            room -= len(line)
        return "\n".join([*lines, *reversed(shown)])[:chars] or "(nothing beyond the arguments)"

    def _add_value(self, value: Json, result: str, path: tuple[str, ...]) -> None:
        for keys, leaf in _list_leaves(value, path):
            if len(self.leaves) < _MAX_LEAVES and result:
                self.leaves.append(Leaf(result, keys, leaf))
            self._keep(leaf if isinstance(leaf, str) else to_canonical_json(leaf))
        if isinstance(value, dict):
            self._keep(" ".join(value))  # ids are sometimes keys

    def _holds_number(self, value: int | float) -> bool:
        """A number that was seen, or what is left of one that was seen when it is rounded."""
        number = _as_float(value)
        if number in self._numbers:
            return True
        places = len(repr(number).partition(".")[2])
        if isinstance(value, int) or "e" in repr(number):
            return False
        return any(round(seen, places) == number for seen in self._numbers)

    def _holds_text(self, text: str) -> bool:
        wanted = _squash(text)
        if not wanted:
            return True
        if len(wanted) < 4:
            return wanted in self._words or self._stands_alone(_fold(text.strip()))
        if _in_any(text, self._texts) or _in_any(wanted, self._squashed):
            return True
        words = set(_WORD.findall(_fold(text)))
        return len(words) > 1 and words <= self._words

    def _stands_alone(self, text: str) -> bool:
        """A short text, with its punctuation, between things that are not letters or digits: "5.5",
        "C++".
        """
        if len(text) < 2 or not _in_any(text, self._folded):
            return False
        pattern = re.compile(rf"(?<![^\W_]){re.escape(text)}(?![^\W_])")
        return any(pattern.search(seen) for seen in self._folded)

    def holds_day(self, text: str) -> bool:
        """A day whose parts were all named, in whatever order."""
        day = calendar_day(text[:10])
        if day is None or day in self.days_known:
            return day is not None
        month = day.strftime("%B").lower()
        named = (
            month in self._words or month[:3] in self._words or float(day.month) in self._numbers
        )
        days = {str(day.day), f"{day.day}st", f"{day.day}nd", f"{day.day}rd", f"{day.day}th"}
        return named and (float(day.day) in self._numbers or not days.isdisjoint(self._words))


@cache_by_digest(most=4_096, longest=1_024)
def find_told_clocks(text: str) -> tuple[Clock, ...]:
    """The times of day with minutes that a text tells in words, in order: "half past six". A whole
    hour is no more than its number.
    """
    codes = number_languages(text)
    found = [clock for code in codes for clock in find_clocks(text[:_LONGEST_SPELLED], code)]
    told = (clock for clock in found if clock.minute and ":" not in text[slice(*clock.span)])
    return tuple(sorted(told))


def _fold(text: str) -> str:
    return fold_text(with_ascii_digits(text))


def _squash(text: str) -> str:
    return squash_text(with_ascii_digits(text))


def _read_figures(text: str, *, is_percent: bool) -> Iterator[float]:
    """The values of a number in digits, also without its sign: "-5" may be a list mark before 5.
    Points and commas are read as either may be meant.
    """
    text = text.replace("−", "-")
    readings = {text, text.replace(",", ""), text.replace(",", ".")} if "," in text else {text}
    if _POINT_GROUPS.fullmatch(text):
        readings.add(text.replace(".", "").replace(",", "."))
    for reading in readings:
        try:
            number = float(reading)
        except ValueError:
            continue
        yield from (number, abs(number))
        if is_percent:
            yield number / 100


def _read_grouped(text: str) -> Iterator[float]:
    """The numbers whose thousands are parted by a space, an apostrophe or the Arabic sign, those with
    a decimal point of another script, and those that are written with an exponent.
    """
    for whole, decimals, exponent in _SCIENTIFIC.findall(text):
        yield float(f"{whole}.{decimals or 0}e{exponent}")
    pointed = _OTHER_POINT.findall(blank_unparted(text))
    for whole, decimals in (*_GROUPED.findall(text), *pointed):
        digits = "".join(sign for sign in whole if sign.isdecimal())
        yield float(f"{digits}.{decimals or 0}")


def _is_in_code(text: str, start: int, end: int) -> bool:
    """Return True if letters are joined to the front of a number, or stand between it and another
    one: "A-100", "Q3", "6d0c". Only scripts that have cases write codes so.
    """
    before = start - 1
    if before > 0 and text[before] in _CONNECTORS:
        before -= 1
    if before >= 0 and _has_case(text[before]):
        return True
    after = end
    while after < len(text) and _has_case(text[after]):
        after += 1
    return after > end and text[after : after + 1].isdecimal()


def _has_case(letter: str) -> bool:
    return letter.lower() != letter.upper()


def _in_any(text: str, seen: Iterable[str]) -> bool:
    for one in seen:  # noqa: SIM110 - any() over a generator takes twice as long, and this is asked of every value
        if text in one:
            return True
    return False


def _is_whole_word_in(text: str, whole: str) -> bool:
    """Return True if a text stands in another, character by character, with no letters or digits
    next to it.
    """
    at = whole.find(text) if text else -1
    while at >= 0:
        end = at + len(text)
        if not (at and whole[at - 1].isalnum()) and not whole[end : end + 1].isalnum():
            return True
        at = whole.find(text, at + 1)
    return False


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer of more than 308 digits
        return float("inf")


def _list_leaves(value: Json, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Json]]:
    found: list[tuple[tuple[str, ...], Json]] = []
    _gather_leaves(value, path, 0, found)
    return found


def _gather_leaves(
    value: Json, path: tuple[str, ...], depth: int, found: list[tuple[tuple[str, ...], Json]]
) -> None:
    """Not a function inside the other: one that calls itself there is garbage that only the
    collector frees.
    """
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, member in value.items():
            _gather_leaves(member, (*path, str(key)), depth + 1, found)
    elif isinstance(value, list):
        for member in value:
            _gather_leaves(member, path, depth + 1, found)
    elif value is not None and not isinstance(value, bool):
        found.append((path, value))
