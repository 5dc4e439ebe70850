"""Quantities in a text: numbers with their units, in figures or in words ("2.5 km", "an hour and a
half", "tres cuartos de hora", "一个半小时").

Read with the units and number words of one language, and with the units of English, which stand in
texts of every language. A text may be read too generously, never too narrowly: where two readings
are possible, both count. Amounts of money are none, except cents.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import product
from typing import Any, NamedTuple

from callwright.language import ENGLISH
from callwright.language.number_words import read_number_words
from callwright.language.pack import PACKS, pack
from callwright.language.phrases import WITHOUT_SPACES
from callwright.language.protocol import LanguagePack
from callwright.language.tokens import (
    fold_text,
    holds_unparted,
    split_identifier,
    with_ascii_digits,
)
from callwright.language.vocabulary import Vocabulary

CENT = "cent"
PERCENT = "%"
_LONGEST = 4_000  # characters of a text in which quantities are read
_LEAST = 3  # letters of a unit before which a number may be left out
_MOST_BEFORE = 4  # words before a unit in which its number stands
_SIGNS = 5  # before a unit, of a language without spaces
_FIGURE = re.compile(r"(\d+(?:[.,:]\d+)*)[\s-]?\Z")
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_DECIMAL = re.compile(r"\d+(?:[.,]\d+)?")
_ENDS = re.compile(r"[.;!?。；！？؟]")
_VULGAR = re.compile(r"(\d*)\s?([\u00bc-\u00be\u2150-\u215e])")
_NEAR = 40  # characters beside a unit
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = re.compile(r"[^\W\d_]+\Z")
_MOST_BETWEEN = 3  # words between two parts of one quantity
_SMALL = 10  # the largest number in a fraction that is told in words
_SIXTY = 60
_AMBIGUOUS: Mapping[str, list[str]] = ENGLISH.table("units_written.ambiguous")
_LAST_IN_KEYS: Mapping[str, str] = ENGLISH.table("units_written.last_in_keys")


class Unit(NamedTuple):
    """``value * factor + offset`` gives the dimension's reference unit."""

    dimension: str
    factor: float
    offset: float


UNITS = {
    name: Unit(dimension, about["factor"], about.get("offset", 0.0))
    for dimension, units in ENGLISH.file("units").items()
    for name, about in units.items()
}


_BINARY = {"KB": 1024.0, "MB": 1024.0**2, "GB": 1024.0**3, "TB": 1024.0**4}


def convert_value(value: float, source: str, target: str) -> tuple[float, ...]:
    """``value`` in ``source`` expressed in ``target``; empty where no conversion exists (money
    included). A kilobyte has 1,000 or 1,024 bytes.
    """
    a, b = UNITS.get(source), UNITS.get(target)
    if a is None or b is None or a.dimension != b.dimension or a.dimension in ("money", "share"):
        return ()
    found = [(value * a.factor + a.offset - b.offset) / b.factor]
    if "hp" in (source, target):  # metric and mechanical horsepower go by one name
        found.append(
            found[0] * (735.49875 / 745.699872 if target == "hp" else 745.699872 / 735.49875)
        )
    if a.dimension == "data":
        low, high = _BINARY.get(source, a.factor), _BINARY.get(target, b.factor)
        found.append(value * low / high)
    return tuple(found)


class Quantity(NamedTuple):
    """``counts``: the numbers that may be meant; ``unit``: our name of their unit."""

    counts: frozenset[float]
    unit: str

    def convert(self, unit: str) -> Iterator[float]:
        """Yield the numbers in another unit of the same dimension; none where there is none."""
        for count in self.counts:
            yield from convert_value(count, self.unit, unit)


@lru_cache(maxsize=1_024)
def find_units(key: str, about: str) -> frozenset[str]:
    """The units that the words of a key and of a description name, in any language with a pack."""
    words = split_identifier(key)
    found = {unit for word in words for unit in _read_key_word(word)}
    found.update(_LAST_IN_KEYS[word] for word in words[-1:] if word in _LAST_IN_KEYS)
    found |= (
        {CENT}
        if any(language.says("quantities.minor", about) for language in _list_packs(PACKS))
        else set()
    )
    stops = frozenset().union(*(language.stop_words for language in _list_packs(PACKS)))
    for language in _list_packs(PACKS):
        written = _Units(language)
        for _, word in written.find(fold_text(about[:_LONGEST])):
            if len(word) > 1 and word not in stops:
                found.update(written.read(word))
    return frozenset(found)


def _read_key_word(word: str) -> Iterator[str]:
    for language in _list_packs(PACKS if len(word) > 1 else ()):
        yield from _Units(language).read(fold_text(word))


def _list_packs(codes: Iterable[str]) -> list[LanguagePack]:
    return [found for code in codes if (found := pack(code)) is not None]


def read_quantities(text: str, code: str) -> Iterator[Quantity]:
    """Yield the quantities of a text in a language, and the sums of those that stand together, as
    in "1 hour 30 minutes".
    """
    language = pack(code)
    if language is None:
        return
    text = _VULGAR.sub(_write_fraction, with_ascii_digits(text[:_LONGEST]))
    folded, written = fold_text(text), _Units(language)
    end = 0
    last: list[Quantity] = []
    for start, word in written.find(folded):
        between = folded[end:start]
        counts = _read_counts(between, word, code)
        if not counts:
            continue
        behind = start + len(word)
        more = _read_part_after(folded[behind : behind + _NEAR], language)
        counts = frozenset(count + more for count in counts)
        found = [Quantity(counts, unit) for unit in written.read(word)]
        if end and len(between.split()) <= _MOST_BETWEEN and not _ENDS.search(between):
            found += [made for a, b in product(last, found) for made in _add(a, b)]
        yield from found
        end, last = behind, found


def read_split_amounts(text: str, code: str) -> Iterator[float]:
    """Yield the amounts of money that a text writes in two units or in tenths, in the larger unit:
    "12€50", 三块五, 五角.
    """
    vocabulary, entry = Vocabulary(code), "quantities.split_amount"
    if code not in PACKS or not vocabulary.has(entry):
        return
    for match in vocabulary.pattern(entry).finditer(with_ascii_digits(text[:_LONGEST])):
        told = {name: _read_sign(part, code) for name, part in match.groupdict().items() if part}
        if "tenths" in told or len(told) > 1:
            wholes, *parts = (told.get(name, {0.0}) for name in ("whole", "tenths", "hundredths"))
            yield from (w + t / 10 + h / 100 for w, t, h in product(wholes, *parts))


def _read_sign(told: str, code: str) -> Collection[float]:
    """The numbers that figures or numerals may stand for; a "one" is no article here."""
    return {*_read_figure(told)} or read_number_words(told, [code]) or {1.0}


def _add(one: Quantity, other: Quantity) -> Iterator[Quantity]:
    """The sum of a quantity and one in a smaller unit, in that of the first."""
    a, b = UNITS[one.unit], UNITS[other.unit]
    if a.dimension == b.dimension and a.factor > b.factor:
        pairs = product(one.counts, other.convert(one.unit))
        yield Quantity(frozenset(map(sum, pairs)), one.unit)


def _read_counts(before: str, word: str, code: str) -> frozenset[float]:
    """The numbers that stand before a unit; one where a word names it without any."""
    figure = _FIGURE.search(before)
    if figure is not None:
        return frozenset(_read_figure(figure[1]))
    if len(word) < _LEAST and not holds_unparted(word):
        return frozenset()
    is_unparted = code in WITHOUT_SPACES
    told = before[-_SIGNS:] if is_unparted else " ".join(before.split()[-_MOST_BEFORE:])
    numbers = _read_words(told, code) | read_number_words(word, [code])
    parts = {n for n in numbers if n < 1}
    wholes = {n for n in numbers if n >= 1}
    numerals = bool(wholes) or any(unicodedata.numeric(sign, 0) >= 1 for sign in told)
    if is_unparted and parts and numerals:
        return frozenset(w + p for w in wholes or {1.0} for p in parts)
    fractions = {w * p for w in wholes for p in parts}
    fractions |= {a / b for a in wholes for b in wholes if a < b <= _SMALL}
    return frozenset(numbers | fractions) or frozenset({1.0} if not is_unparted or numerals else ())


def _read_words(told: str, code: str) -> set[float]:
    """The numbers that a folded text says in words, parts of one among them."""
    parts = _list_words("parts", code)
    found = {float(parts[word]) for word in _WORD.findall(told) if word in parts}
    return found | read_number_words(told, [code])


@cache
def _list_words(entry: str, code: str) -> Mapping[str, Any]:
    """A table of a language's words for quantities, folded; empty where it has none."""
    vocabulary, name = Vocabulary(code), f"quantities.{entry}"
    table = vocabulary.table(name) if vocabulary.has(name) else {}
    return {fold_text(word): value for word, value in table.items()}


def _read_figure(text: str) -> Iterator[float]:
    """The values of a number in figures; "2:30" is two and a half of what it counts."""
    whole, _, rest = text.partition(":")
    if _GROUPED.fullmatch(whole):
        yield float(re.sub("[.,]", "", whole))
    if _DECIMAL.fullmatch(whole):
        yield float(whole.replace(",", ".")) + (int(rest) / _SIXTY if rest.isdecimal() else 0)


def _read_part_after(after: str, language: LanguagePack) -> float:
    """The part of one that a text adds behind a unit: 0.5 for "and a half"; 0 for none."""
    if language.code in WITHOUT_SPACES:
        told, is_joined = after[:1], True
    else:
        words, joiners = after.split()[:3], {*map(fold_text, language.joiners)}
        told = " ".join(words)
        first = words[0] if words else ""
        is_joined = first in joiners or first[:1] in joiners & {*_list_prefixes(language.code)}
    parts = (n for n in _read_words(told, language.code) if n < 1)
    return max(parts, default=0.0) if is_joined else 0.0


def _write_fraction(match: re.Match[str]) -> str:
    return str(float(match[1] or 0) + unicodedata.numeric(match[2]))


class _Units:
    """The units of a language and of English, as they are written in a folded text."""

    def __init__(self, language: LanguagePack) -> None:
        self._code = language.code
        self._pattern, self._names = _compile_units(language.code)

    def read(self, word: str) -> list[str]:
        """The units that a written one may stand for."""
        return _list_readings(self._names.get(word, ""))

    def find(self, folded: str) -> Iterator[tuple[int, str]]:
        """Yield place and spelling of each unit; at the end of a word only behind a number."""
        for match in self._pattern.finditer(folded):
            glued = _LETTERS.search(folded[: match.start("unit")][-_NEAR:])
            if glued is None or self._is_counted(glued[0], match["unit"]):
                yield match.start("unit"), match["unit"]

    def _is_counted(self, before: str, unit: str) -> bool:
        """Return True if the letters right before a unit are a number, or small words."""
        if holds_unparted(unit):
            return True
        prefixes = _list_prefixes(self._code)
        is_prefixed = bool(prefixes) and {*before} <= {*"".join(prefixes)}
        return is_prefixed or (len(unit) > _LEAST and bool(read_number_words(before, [self._code])))


def _list_readings(unit: str) -> list[str]:
    """The units that a written one may stand for; of money only cents."""
    found = (unit, *_AMBIGUOUS.get(unit, ()))
    return [n for n in found if n in UNITS and (UNITS[n].dimension != "money" or n == CENT)]


@cache
def _compile_units(code: str) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """An expression for the units of a language and English in a folded text, and their names."""
    spelled = {name.lower(): name for name in UNITS if len(name) > 1}
    for language in _list_packs(("en", code)):
        spelled |= {fold_text(word): unit for word, unit in language.units.items()}
        spelled |= _list_words("more_units", language.code)
    names = {word: unit for word, unit in spelled.items() if _list_readings(unit)}
    longest = sorted(names, key=len, reverse=True)
    words = "|".join(
        re.escape(word) + (r"(?!\w)" if word[-1:].isdigit() else r"(?![^\W\d_])")
        for word in longest
        if not holds_unparted(word)
    )
    signs = "|".join(re.escape(word) for word in longest if holds_unparted(word))
    return re.compile(f"(?P<unit>{words}{'|' if signs else ''}{signs})"), names


@cache
def _list_prefixes(code: str) -> tuple[str, ...]:
    vocabulary, entry = Vocabulary(code), "number_words_more.word_prefixes"
    return vocabulary.listed(entry) if vocabulary.has(entry) else ()
