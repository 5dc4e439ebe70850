"""Numbers that a text says in words, by the number words of one language.

The parts of a number are read one after the other: a word of number is added where the part before
it leaves room for it (``treinta y seis``, ``zweihundert|fünfzig``), a scale multiplies the smaller
parts before it (``dos mil``, ``三十``), and a group multiplies all of them (four dozen; of pairs
their count is said too). Figures may stand before a scale (``3万``). A text may be read too
generously, never too narrowly: where two readings are possible, both count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final, NamedTuple

from callwright.language.detect import LONGEST, language_of, script_of
from callwright.language.tokens import fold_text
from callwright.language.vocabulary import Vocabulary
from callwright.nouns.memo import cache_by_digest

NUMBER_PACKS: Final = ("ar", "de", "en", "es", "zh")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_SEPARATES = re.compile(r"[.,;:!?()\n،؛。，、；：！？]")
_MOST_PARTS = 40
_MOST_FIGURES = 4  # words on a side of a point
_NEAR = 40  # characters on a side of a point
_NUMERALS = ("Nl", "No")  # numbers that are letters, and fractions and the like
_TENS = (20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0)
_TEN, _HUNDRED = 10.0, 100.0


class Part(NamedTuple):
    """One part of a number. ``kind``: ``number``, ``ordinal``, ``scale``, ``group``, ``figure`` or
    ``joiner``.
    """

    kind: str
    value: float


_JOINER: Final = Part("joiner", 0.0)
_ONE: Final = Part("number", 1.0)
_PAIR: Final = Part("group", 2.0)
_ADDED: Final = ("number", "ordinal")


class NumberWords:
    """The number words of one language. Pure; tables are made once."""

    def __init__(self, code: str) -> None:
        self._vocabulary = Vocabulary(code)
        self._parts: dict[str, tuple[Part, ...]] = {}
        for entry in ("number_words.numbers", "number_words_more.more"):
            self._add(entry, "number")
        self._add("number_words.ordinals", "ordinal")
        for entry in ("number_words.scales", "number_words_more.scales"):
            self._add(entry, "scale")
        self._add("number_words_more.groups", "group")
        for word in self._listed("number_words_more.joiners"):
            self._parts.setdefault(word, (_JOINER,))
        self._longest = max(map(len, self._parts))
        has = self._vocabulary.has
        self._prefixes = self._listed("number_words_more.word_prefixes")
        self._dual = (
            self._vocabulary.pattern("number_words_more.dual")
            if has("number_words_more.dual")
            else None
        )
        self._glue = self._listed("number_words_more.glued")
        beginnings = "number_words_more.word_beginnings"
        self._least = self._vocabulary.table(beginnings)["least"] if has(beginnings) else 0
        self._signs = self._build_signs() if has("number_words_more.signs") else None
        point = "number_words_more.point"
        self._point = self._vocabulary.pattern(point) if has(point) else None
        multiples = "number_words_more.multiples"  # of a language without spaces: not one sign
        self._multiples = self._vocabulary.table(multiples) if has(multiples) else {}

    def read(self, text: str) -> frozenset[float]:
        """Every number that a text says in words. A "one" by itself is left out: it is the article of
        many languages.
        """
        folded = fold_text(text)
        runs = self._iter_signs(folded) if self._signs else self._iter_words(folded)
        found = {value for run in runs for value in _read_run(run)}
        found |= {float(value) for said, value in self._multiples.items() if said in folded}
        found |= set(self._read_decimals(folded))
        return frozenset(found | {2.0}) if self._says_two(folded) else frozenset(found)

    def read_groups(self, text: str) -> frozenset[float]:
        """The sizes of the groups by which a text counts."""
        folded = fold_text(text)
        words = folded if self._signs else _TOKEN.findall(folded)
        found = (part for word in words for part in self._parts.get(word, ()))
        return frozenset(part.value for part in found if part.kind == "group")

    def says_one(self, word: str) -> bool:
        """Return True if a word by itself is one, which :meth:`read` leaves out."""
        return [part.value for part in self._read_word(fold_text(word))] == [1.0]

    def _says_two(self, folded: str) -> bool:
        """Return True if a word that is no number has the ending of two."""
        ending = self._dual
        if ending is None:
            return False
        words = (word for word in _TOKEN.findall(folded) if ending.search(word))
        return any(not self._read_word(word) for word in words)

    def _listed(self, name: str) -> tuple[str, ...]:
        listed = self._vocabulary.listed(name) if self._vocabulary.has(name) else ()
        return tuple(fold_text(word) for word in listed)

    def _add(self, name: str, kind: str) -> None:
        table = self._vocabulary.table(name) if self._vocabulary.has(name) else {}
        for word, value in table.items():
            self._parts.setdefault(fold_text(word), (Part(kind, float(value)),))

    def _read_decimals(self, folded: str) -> Iterator[float]:
        """The numbers with a point in words: "twenty point five", 二十点五."""
        for found in self._point.finditer(folded) if self._point else ():
            start, end = found.span()
            near = folded[max(0, start - _NEAR) : start], folded[end : end + _NEAR]
            before, after = (list(one) if self._signs else _TOKEN.findall(one) for one in near)
            figures = self._read_figures(after[:_MOST_FIGURES])
            if not figures:
                continue
            told = ("" if self._signs else " ").join(before[-_MOST_FIGURES:])
            runs = (self._iter_signs if self._signs else self._iter_words)(told)
            wholes = {value for run in runs for value in _read_run(run)}
            wholes |= {1.0} if before and self.says_one(before[-1]) else set()
            yield from (float(f"{int(n)}.{figures}") for n in wholes)

    def _read_figures(self, words: Iterable[str]) -> str:
        """The figures that words behind a point say, one by one or as a number below a hundred."""
        figures = ""
        for word in words:
            parts = self._read_word(word)
            kind, value = parts[0] if len(parts) == 1 else _JOINER
            if kind != "number" or value >= (_TEN if figures else _HUNDRED) or value % 1:
                break
            figures += str(int(value))
        return figures

    def _build_signs(self) -> re.Pattern[str]:
        by_kind: dict[str, str] = {"number": "", "scale": "", "group": ""}
        for sign, (part,) in self._parts.items():
            by_kind[part.kind] += re.escape(sign)
        signs, behind = by_kind["number"] + by_kind["scale"], by_kind["scale"] + by_kind["group"]
        return re.compile(
            rf"(?:\d+(?:[.,]\d+)*(?=[{behind}])|[{signs}])[{signs}]*[{by_kind['group']}]?"
        )

    def _iter_signs(self, text: str) -> Iterator[list[Part]]:
        """The parts of each row of numerals."""
        for found in self._signs.finditer(text) if self._signs else ():
            figure = re.match(r"[\d.,]+", found[0])
            signs = found[0][figure.end() :] if figure else found[0]
            parts = [_read_figure(figure[0])] if figure else []
            yield [*parts, *(part for sign in signs for part in self._parts[sign])]

    def _iter_words(self, text: str) -> Iterator[list[Part]]:
        """The parts of words that stand next to each other, joiners among them. Of a text without
        a word of number there are none: its figures are not read here.
        """
        read = ((word, self._read_word(word)) for word in {*_LETTERS.findall(text)})
        known = {word: parts for word, parts in read if parts}
        if all(part == _JOINER for parts in known.values() for part in parts):
            return
        run: list[Part] = []
        end = 0
        for found in _TOKEN.finditer(text):
            word = found[0]
            parts = self._read_word(word) if word[0].isdigit() else known.get(word, ())
            if run and (not parts or _SEPARATES.search(text, end, found.start())):
                yield run
                run = []
            if parts:
                run += parts
                end = found.end()
        if run:
            yield run

    def _read_word(self, word: str) -> tuple[Part, ...]:
        if word[0].isdigit():
            return (_read_figure(word),)
        known = self._parts.get(word)
        if known is not None:
            return known
        return self._read_prefixed(word) or self._read_glued(word)

    def _read_prefixed(self, word: str) -> tuple[Part, ...]:
        """A number with small words written to its beginning; "and" among them joins."""
        joins: tuple[Part, ...] = ()
        rest = word
        for prefix in self._prefixes:
            if rest.startswith(prefix) and len(rest) > len(prefix) + 1:
                rest = rest[len(prefix) :]
                joins = (_JOINER,) if self._parts.get(prefix) == (_JOINER,) else joins
                if (known := self._parts.get(rest)) is not None:
                    return (*joins, *known)
        return ()

    def _read_glued(self, word: str) -> tuple[Part, ...]:
        """A number written as one word, or the one that a word begins with."""
        if not self._least or len(word) < self._least:
            return ()
        if not any(word[:end] in self._parts for end in range(1, len(word) + 1)):
            return ()
        # from the end: the longest way on from each place
        ways: dict[int, tuple[int, tuple[Part, ...]]] = {}
        for at in range(len(word), -1, -1):
            ways[at] = max(self._list_ways(word, at, ways), key=lambda way: way[0])
        return ways[0][1]

    def _list_ways(
        self, word: str, at: int, ways: dict[int, tuple[int, tuple[Part, ...]]]
    ) -> Iterator[tuple[int, tuple[Part, ...]]]:
        """(end, parts) of the ways on from a place of a word: none, or a part and what follows it,
        perhaps with a joint between.
        """
        yield at, ()
        for end in range(min(len(word), at + self._longest), at, -1):
            parts = self._parts.get(word[at:end])
            if parts is None or parts == (_JOINER,):
                continue
            yield ways[end][0], parts + ways[end][1]
            for glue in self._glue:
                behind = end + len(glue)
                if word.startswith(glue, end) and ways[behind][0] > behind:
                    yield ways[behind][0], parts + ways[behind][1]


def _read_figure(text: str) -> Part:
    grouped = re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", text)
    plain = re.sub(r"[.,]", "", text) if grouped else text.replace(",", ".")
    try:
        return Part("figure", float(plain))
    except ValueError:  # a version, a date
        return _JOINER


def _read_run(run: list[Part]) -> Iterator[float]:
    """The numbers in parts that stand next to each other."""
    yield from _read_places(run)
    stack: list[float] = []
    is_joined = in_words = False
    for part in run[:_MOST_PARTS]:
        if part.kind == "joiner":
            is_joined = bool(stack)
        elif part.value == 0 and stack and stack[-1] >= _TEN:
            pass  # 一百零五: the zero only keeps a place
        elif part.kind in ("scale", "group"):
            if is_joined and in_words:
                yield sum(stack)
            taken = _take_smaller(stack, part)
            yield from (taken,) if part == _PAIR and in_words else ()  # "zwei Paar Socken"
            stack.append(taken * part.value)
            in_words = True
        elif part.kind in _ADDED and _has_room(stack, part.value, is_joined=is_joined):
            yield from _read_otherwise(stack, part.value, is_joined=is_joined)
            stack.append(part.value)
            in_words = True
        else:
            yield from (sum(stack),) if in_words else ()
            stack, in_words = [part.value], part.kind in _ADDED and part != _ONE
        is_joined = is_joined and part.kind == "joiner"
    yield from (sum(stack),) if in_words else ()


def _read_otherwise(stack: list[float], value: float, *, is_joined: bool) -> Iterator[float]:
    """Other readings of a number behind the parts: two numbers that are listed, or a colloquial
    figure of the next place (两百五, 250).
    """
    last = stack[-1]
    if is_joined and (last >= _HUNDRED or value == _TEN):
        yield from (sum(stack), value)
    if not is_joined and last >= _HUNDRED and 0 < value < _TEN:
        yield sum(stack) + value * _find_lowest_place(last) / _TEN


def _take_smaller(stack: list[float], part: Part) -> float:
    """Take the parts that a scale or group multiplies off the end; their sum, 1 for none."""
    taken = 0.0
    while stack and (part.kind == "group" or stack[-1] < part.value):
        taken += stack.pop()
    return taken or 1.0


def _has_room(stack: list[float], value: float, *, is_joined: bool) -> bool:
    """Return True if a number may be added to the last part: 20 takes 5, and 5 takes 20 or 10 behind it
    where the language says units first.
    """
    if not stack:
        return False
    last = stack[-1]
    if 0 < value < 1:
        return is_joined
    if last >= _TEN and value < _find_lowest_place(last):
        return True
    return 0 < last < _TEN and (value == _TEN or (is_joined and value in _TENS))


def _find_lowest_place(value: float) -> float:
    """The place of the last figure that is not 0: 100 for 2300."""
    place = 1.0
    while value >= _TEN * place and value % (_TEN * place) == 0:
        place *= _TEN
    return place


def _read_places(run: list[Part]) -> Iterator[float]:
    """Figures said one by one: two-oh-two-six, 二〇二六; and each of them."""
    figures = [part.value for part in run if part.kind == "number" and part.value in range(10)]
    if len(figures) > 1 and len(figures) == len(run):
        yield float("".join(str(int(figure)) for figure in figures))
        yield from figures


@cache
def number_words(code: str) -> NumberWords | None:
    """The number words of a language; None where there are none."""
    return NumberWords(code) if code in NUMBER_PACKS else None


def read_number_words(text: str, codes: Iterable[str]) -> frozenset[float]:
    """Every number that a text says in the words of these languages."""
    readers = (reader for code in codes if (reader := _number_reader(code)) is not None)
    return frozenset().union(*(read(text) for read in readers))


def group_sizes(text: str, codes: Iterable[str]) -> frozenset[float]:
    """The numbers by which words of a text count, in these languages: 12 for "dozen"."""
    readers = (words for code in codes if (words := number_words(code)) is not None)
    return frozenset().union(*(words.read_groups(text) for words in readers))


@cache
def _number_reader(code: str) -> Callable[[str], frozenset[float]] | None:
    """The reader of a language's number words: a conversation is read again with every reply."""
    words = number_words(code)
    return cache_by_digest(most=4_096, longest=1_024)(words.read) if words is not None else None


def read_number_signs(text: str) -> frozenset[float]:
    """The values of numerals that are neither digits nor words: ``½``, ``Ⅳ``, ``三十``."""
    if text.isascii():
        return frozenset()
    signs = [c for c in text if unicodedata.category(c) in _NUMERALS]
    values = {unicodedata.numeric(c) for c in signs if unicodedata.numeric(c, None) is not None}
    return frozenset(values) | read_number_words(text, ["zh"])


def number_languages(text: str, otherwise: str = "") -> tuple[str, ...]:
    """The languages whose number words a text may hold: its own, or ``otherwise``, that of the
    conversation. Where neither can be told, every language of its script.
    """
    code = language_of(text) or otherwise
    if code:
        return (code,)
    return _BY_SCRIPT.get(script_of(text[:LONGEST]), ())


_BY_SCRIPT: Final = {"Latn": ("de", "en", "es"), "Arab": ("ar",)}
