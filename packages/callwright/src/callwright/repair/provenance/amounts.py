"""Numbers that stand in a conversation, and numbers that follow from those that do.

What follows is bounded: one step of arithmetic; the numbers of one message in the order in which
they stand ("3 at 12.50 and a fee of 2"); a share of a number and what it leaves; the count, the sum
and the average of a list; a quantity in another unit. A unit is converted only where the text names
it and the schema, if it names any of its kind, names the other. The parts of a date and of a time
of day are no amounts, unless the schema speaks of days or of hours. A number within a code is
stated, but nothing is computed from it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, combinations, islice, permutations, product
from math import ceil, floor, isclose, isfinite
from operator import mul

from callwright.language import ENGLISH
from callwright.language.detect import language_of
from callwright.language.listings import count_listed
from callwright.language.number_words import number_languages
from callwright.language.pack import PACKS, pack, pack_of
from callwright.language.phrases import WITHOUT_SPACES
from callwright.language.protocol import WrittenNumber
from callwright.language.quantities import (
    CENT,
    PERCENT,
    UNITS,
    Quantity,
    find_units,
    read_quantities,
)
from callwright.language.tokens import fold_text, split_identifier, with_ascii_digits
from callwright.nouns.types import Json, JsonObject, Tool, is_number
from callwright.repair.provenance.grounding import examples_in
from callwright.repair.provenance.readable import list_languages
from callwright.repair.provenance.sources import ProvenanceIndex, find_told_clocks
from callwright.repair.provenance.unsaid_days import speaks_of_days
from callwright.schema.compiled import Node

CLOCK = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?")
DAY = ENGLISH.pattern("calendar.day")
_SPANS: dict[str, tuple[int, ...]] = {
    word: tuple(many) for word, many in ENGLISH.table("calendar.spans").items()
} | {
    month.lower(): (place,)
    for place, month in enumerate(ENGLISH.listed("calendar.month_names"), start=1)
}
_TIME_UNITS = {"min": "minute", "h": "hour", "day": "day", "month": "month", "year": "year"}
_HOURS = frozenset({"h", "min", "s"})
_IN_A_YEAR = {"month": 12.0, "week": 52.0, "day": 365.0}
_IN_A_MONTH = {"day": 30.0}
_YEAR = re.compile(r"\d{4}")
_YEARS = range(1900, 2101)
_LONGEST_MONTH = 31
_HALF_DAY, _HOUR = 720, 60  # minutes
_NOON, _MIDNIGHT = 12, 24
_HUNDRED = 100
_MOST_NUMBERS = 2_000  # beyond, nearly every number could be computed from them
_MOST_ROUNDED = 60  # numbers of which every quotient is formed
_MOST_LEAVES = 300
_LONGEST_LEAF = 200
_LAST_SAID = 3  # messages of the user whose numbers are read in their order
_LONGEST_RUN = 8
_CENTS = 2  # decimals to which an amount is rounded
_FEW = 12
_LIMIT = re.compile(r"(?<![\w.,-])\d+(?:\.\d+)?(?![\w,]|\.\d)")
_FIGURE = re.compile(r"(?<![A-Za-z0-9_.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![A-Za-z0-9_]|[.,]\d)")
_AFTERNOON = re.compile(r"\d\s?p\.?m\b")
_WORD = re.compile(r"[^\W\d_]+")


class Amounts:
    """The numbers of a conversation, for the values of one call. ``said``: the user's words."""

    def __init__(
        self,
        sources: ProvenanceIndex,
        said: Sequence[str],
        tool: Tool | None = None,
        call: JsonObject | None = None,
    ) -> None:
        self._sources, self._said = sources, said
        self._tool, self._call = tool, call or {}
        self._said_texts = {*sources.said_texts}
        self._plain: dict[tuple[bool, bool], ProvenanceIndex] = {}
        self._numbers: dict[tuple[bool, bool], set[float]] = {}

    def holds(self, value: float, key: str, node: Node) -> bool:
        """Return True if a number without its sign stands in the conversation or follows from it,
        or from other values of the call that do.
        """
        about = str(_get_keyword(node, "description") or "")
        limit = _get_keyword(node, "maximum")
        limits = {abs(float(limit))} if is_number(limit) else set()
        if self._is_known(value, key, about, limits):
            return True
        return any(_is_near(value, total) for total in self._own_totals)

    def _is_known(self, value: float, key: str, about: str, limits: set[float]) -> bool:
        if value in (0, 1):
            return True
        units = find_units(key, about)
        dates = speaks_of_days(" ".join((*split_identifier(key), about)))
        clocks = not units.isdisjoint(_HOURS)
        may_be_dated = value.is_integer() and (value <= _LONGEST_MONTH or value in _YEARS)
        stated = self.drop_dates(dates=dates, clocks=True) if may_be_dated else self._sources
        if stated.holds(int(value) if value.is_integer() else value):
            return True
        numbers = self._list_numbers(dates=dates, clocks=clocks)
        if value in numbers or any(
            value in (floor(n), ceil(n)) for n in numbers if not n.is_integer()
        ):
            return True
        if len(numbers) > _MOST_NUMBERS:
            return True
        is_hour = "h" in units or any(map(_AFTERNOON.search, map(fold_text, self._said)))
        if is_hour and _NOON < value < _MIDNIGHT and value - _NOON in numbers:  # 11 PM
            return True
        if value in self._list_spans(dates=dates) or self._is_within_limits(value, numbers):
            return True
        if _is_computed(value, numbers, self._repeated) or _is_rounded(value, numbers):
            return True
        tool = self._tool
        targets = units | (find_units(tool.name, tool.description) if tool is not None else units)
        converted = chain(self._iter_converted(numbers, targets), self._iter_times(targets))
        if any(_is_near(value, made, places=0) for made in converted):
            return True
        followed = chain(
            self._iter_shares(numbers, limits),
            self._iter_rated(numbers, targets),
            self._iter_with_cents(numbers),
            self._iter_totals(),
            self._iter_runs(),
            self._iter_listed(),
        )
        is_followed = any(_is_near(value, made) for made in followed)
        return is_followed or value in self._sources.spelled_in_results

    def may_tell_time(self) -> bool:
        """Return True if a number could be an hour, or hours or minutes are counted."""
        is_hour = any(n <= _MIDNIGHT for n in self._list_numbers(clocks=True))
        return is_hour or any(one.unit in _HOURS for one in self._quantities)

    def drop_dates(self, *, dates: bool = False, clocks: bool = False) -> ProvenanceIndex:
        """The sources without full dates and times of day, where these are not kept."""
        kept = dates, clocks
        if all(kept) and not any(map(find_told_clocks, self._said_texts)):
            return self._sources
        if kept not in self._plain:
            self._plain[kept] = self._sources.reword(lambda text: self._blank(text, *kept))
        return self._plain[kept]

    def _blank(self, text: str, dates: bool, clocks: bool) -> str:
        """The text without its full dates and times of day. Of others than the user a date without
        its year goes too: they do not order on "May 5". Times of day in words stand beside it in
        figures.
        """
        for start, end in (told.span for told in find_told_clocks(text)):
            text = text[:start] + " " * (end - start) + text[end:]
        if not dates and _YEAR.search(text):
            text = DAY.sub(" ", text)
        if not dates and text in self._said_texts:
            is_users = text in self._said
            for language in filter(None, map(pack, PACKS)):
                for one in reversed(language.dates(text)):
                    if one.day is not None and (one.year is not None or not is_users):
                        text = text[: one.span[0]] + " " + text[one.span[1] :]
        return text if clocks else CLOCK.sub(" ", text)

    def _list_numbers(self, *, dates: bool = False, clocks: bool = False) -> set[float]:
        """The numbers from which others follow."""
        if (dates, clocks) not in self._numbers:
            apart = self.drop_dates(dates=dates, clocks=clocks).numbers_apart
            found = {abs(float(n)) for n in apart if isfinite(n)}
            self._numbers[dates, clocks] = found | self._scaled
        return self._numbers[dates, clocks]

    @cached_property
    def _scaled(self) -> set[float]:
        """The numbers in figures that a word or letter behind them multiplies: "1.2k", "3 Mio"."""
        found: list[WrittenNumber] = []
        for text in self._sources.said_texts:
            for language in filter(None, map(pack, {*self._codes(text), "en"})):
                found += language.numbers(text)
        return {n.value for n in found if n.scale != 1 and isfinite(n.value)}

    def _codes(self, text: str) -> Iterable[str]:
        return number_languages(text, self._language) or ("en",)

    @cached_property
    def _language(self) -> str:
        return language_of(" ".join(self._said))

    @cached_property
    def _quantities(self) -> list[Quantity]:
        """The quantities of the texts that were said, and of the results by their keys."""
        texts = (self._blank(text, dates=False, clocks=True) for text in self._sources.said_texts)
        read = (read_quantities(text, code) for text in texts for code in self._codes(text))
        found = [*chain.from_iterable(read)]
        for leaf in self._sources.leaves[:_MOST_LEAVES]:
            if is_number(leaf.value):
                units = find_units(leaf.path[-1], "") if leaf.path else ()
                found += (Quantity(frozenset({abs(float(leaf.value))}), unit) for unit in units)
            elif (
                isinstance(leaf.value, str)
                and re.search(r"\d", leaf.value)
                and len(leaf.value) <= _LONGEST_LEAF
            ):
                found += read_quantities(leaf.value, "en")
        return found

    def _iter_converted(self, numbers: set[float], targets: frozenset[str]) -> Iterator[float]:
        """Yield the quantities in the units of their kind that the schema names, in all where it
        names none.
        """
        for one in self._quantities:
            dimension = UNITS[one.unit].dimension
            alike = [unit for unit, about in UNITS.items() if about.dimension == dimension]
            for unit in targets.intersection(alike) or alike:
                yield from one.convert(unit)
            many = _SPANS.get(_TIME_UNITS.get(one.unit, ""), ())
            yield from (count * n for count in one.counts for n in many)
            yield from (count / _HUNDRED for count in one.counts if one.unit == CENT)
        if CENT in targets:
            yield from (n * _HUNDRED for n in numbers)
        if PERCENT in targets:
            yield from (n * _HUNDRED for n in numbers if n <= _FEW)

    def _iter_with_cents(self, numbers: set[float]) -> Iterator[float]:
        """Yield the numbers with the cents that are told: 12.5 for "12 dollars and 50 cents"."""
        cents = {n for one in self._quantities if one.unit == CENT for n in one.counts}
        yield from (n + part / _HUNDRED for n, part in product(numbers, cents) if part < _HUNDRED)

    def _iter_times(self, targets: frozenset[str]) -> Iterator[float]:
        """Yield how long it is from one time of day to another."""
        texts = self.drop_dates(clocks=True).texts
        times = {read_minutes(clock) for text in texts for clock in CLOCK.findall(text)}
        if named := targets & _HOURS:
            hours = {n for run in self._runs for n in run if n <= _MIDNIGHT and n.is_integer()}
            times |= {int(n) * _HOUR for n in hours}
        gaps = {abs(a - b) for a, b in combinations([*times][:_MOST_ROUNDED], 2)}
        gaps |= {_HALF_DAY - gap % _HALF_DAY for gap in gaps}
        one = Quantity(frozenset(map(float, gaps)), "min")
        for unit in named or _HOURS:
            yield from one.convert(unit)

    def _iter_rated(self, numbers: set[float], targets: frozenset[str]) -> Iterator[float]:
        """Yield what numbers told for one unit of time are for another, where both are named."""
        named = targets | {one.unit for one in self._quantities}
        for a, b in permutations(named, 2):
            rate = {"year": _IN_A_YEAR, "month": _IN_A_MONTH}.get(a, {}).get(b, 0.0)
            if UNITS[a].dimension == UNITS[b].dimension == "time":
                rate = UNITS[a].factor / UNITS[b].factor
            if rate > 1:
                yield from chain.from_iterable((n * rate, n / rate) for n in numbers)

    def _iter_shares(self, numbers: set[float], limits: set[float]) -> Iterator[float]:
        """Yield the shares of numbers in per cent, and the numbers with and without them."""
        percents = {n for one in self._quantities if one.unit == PERCENT for n in one.counts}
        shares = {n / _HUNDRED for n in percents} | {n for n in numbers if 0 < n < 1}
        yield from chain(shares, (n * share for n, share in product(limits, shares)))
        if len(shares) * len(numbers) <= _MOST_NUMBERS:
            for n, share in product(numbers, shares):
                yield from (n * share, n * (1 + share), n * (1 - share), n / (1 + share))

    def _list_spans(self, *, dates: bool) -> set[int]:
        """The numbers that the units of time and the months named stand for."""
        plain = self.drop_dates(dates=dates, clocks=True)
        spans = {n for word, many in _SPANS.items() if plain.mentions(word) for n in many}
        for code in list_languages(self._said) - {"en"}:
            spans.update(_find_spans(code, plain.texts))
        return spans

    def _is_within_limits(self, value: float, numbers: set[float]) -> bool:
        """Return True if the tool's own description says the number, or it is what is left between
        one that it says and one that was stated: 40 of a tank of 50 that holds 10.
        """
        about = self._tool.description if self._tool is not None else ""
        limits = {float(n) for n in _LIMIT.findall(about) if n not in examples_in(about)}
        return value in limits or any(n + value in limits for n in numbers)

    @cached_property
    def _repeated(self) -> set[float]:
        """The numbers that stand in several places of the results."""
        found = Counter(
            abs(float(leaf.value)) for leaf in self._sources.leaves if is_number(leaf.value)
        )
        return {n for n, times in found.items() if times > 1}

    def _iter_totals(self) -> Iterator[float]:
        """Yield count, sum and average of the values under each name in the results, and the sum
        without one of them.
        """
        under: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
        for leaf in self._sources.leaves:
            under[leaf.path].append(float(leaf.value) if is_number(leaf.value) else 0.0)
        for many in under.values():
            total = sum(many)
            yield from (float(len(many)), total, total / len(many))
            yield from (total - n for n in many[:_MOST_ROUNDED])

    @cached_property
    def _runs(self) -> list[list[float]]:
        """The numbers in figures of the user's last messages, in order."""
        texts = (self._blank(text, dates=False, clocks=False) for text in self._said[-_LAST_SAID:])
        return [[*islice(_read_figures(text), _LONGEST_RUN)] for text in texts]

    def _iter_runs(self) -> Iterator[float]:
        """Yield sums of numbers that follow each other, and of the products of pairs of them."""
        for run in self._runs:
            ways = combinations(range(len(run) + 1), 2)
            for part in (run[a:b] for a, b in ways if b - a > 1):
                yield sum(part)
                yield from _multiply_pairs(part)

    def _iter_listed(self) -> Iterator[float]:
        """Yield how many things the last message lists: "Ann, Bob and Carl", "me and two"."""
        last = self._said[-1] if self._said else ""
        for code in self._codes(last):
            yield from count_listed(last, code)

    @cached_property
    def _own_totals(self) -> tuple[float, ...]:
        return (*self._iter_own_totals(),)

    def _iter_own_totals(self) -> Iterator[float]:
        """Yield the sums of the call's own lists, and of the products of their columns, as far as
        their numbers are known.
        """
        for rows in _find_tables(self._call):
            columns: defaultdict[str, list[float]] = defaultdict(list)
            for row in rows:
                for key, value in row.items():
                    if is_number(value) and self._is_known(abs(float(value)), key, "", set()):
                        columns[key].append(float(value))
            full = [column for column in columns.values() if len(column) == len(rows)]
            sums = [*map(sum, full), *(sum(map(mul, *pair)) for pair in combinations(full, 2))]
            yield from sums
            yield from self._iter_shares({*sums}, set())


def read_minutes(clock: str) -> int:
    """The minute of a day that a time of day names: 570 for "9:30"."""
    hour, minute = [*map(int, re.findall(r"\d+", clock)), 0][:2]
    return _HOUR * hour + minute


def _read_figures(text: str) -> Iterator[float]:
    """Yield the numbers in figures of a text, in order, none that is a part of a code."""
    language = pack_of(text)
    plain = with_ascii_digits(language.with_point(text) if language is not None else text)
    return (float(figure.replace(",", "")) for figure in _FIGURE.findall(plain))


def _multiply_pairs(run: Sequence[float]) -> Iterator[float]:
    """Yield the sum of the products of pairs, with a number beside them added or taken away."""
    if len(run) % 2:
        pairs = sum(map(mul, run[:-1:2], run[1::2]))
        yield from (pairs + run[-1], pairs - run[-1], run[0] + sum(map(mul, run[1::2], run[2::2])))
    else:
        yield sum(map(mul, run[::2], run[1::2]))


def _is_near(value: float, made: float, places: int = _CENTS) -> bool:
    """Return True if a number is another one, perhaps rounded to its decimals, where it has as many
    as ``places``; to a whole one only from ten on.
    """
    decimals = 0 if value.is_integer() else len(repr(value).partition(".")[2])
    is_round = decimals >= places and (decimals > 0 or value >= 10)
    return isclose(value, made) or (is_round and abs(value - made) <= 0.5000001 * 10**-decimals)


def _is_computed(value: float, numbers: set[float], repeated: Container[float]) -> bool:
    """Return True if one step of arithmetic leads from two stated numbers to this one. A number may
    be both of them where results hold it several times.
    """
    rounded = {round(n, 6) for n in numbers} - {1.0, 0.0}
    return any(
        round(made, 6) in rounded and (n in repeated or not isclose(made, n))
        for n in numbers - {0.0}
        for made in (value - n, n - value, value / n, value * n, n / value)
    )


def _is_rounded(value: float, numbers: set[float]) -> bool:
    """Return True if a number is a quotient or a product of two stated ones, rounded to cents."""
    pairs = permutations(numbers - {0.0}, 2) if len(numbers) <= _MOST_ROUNDED else ()
    return not value.is_integer() and any(
        _is_near(value, a / b) or _is_near(value, a * b) for a, b in pairs
    )


def _find_spans(code: str, texts: Sequence[str]) -> Iterator[int]:
    """The numbers that names of units of time and of months stand for, in another language."""
    language = pack(code)
    if language is None:
        return
    whole = fold_text(" ".join(texts))
    words = set(_WORD.findall(whole))
    text_or_words = whole if code in WITHOUT_SPACES else words
    for written, unit in language.units.items():
        if fold_text(written) in text_or_words and unit in _TIME_UNITS:
            yield from _SPANS[_TIME_UNITS[unit]]
    yield from (n for name, n in language.months.items() if fold_text(name) in text_or_words)


def _find_tables(value: Json) -> Iterator[list[JsonObject]]:
    """Yield the lists of two objects or more in a JSON value."""
    if isinstance(value, list) and len(value) > 1 and all(isinstance(row, dict) for row in value):
        yield [row for row in value if isinstance(row, dict)]
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _find_tables(inner)


def _get_keyword(node: Node, key: str) -> Json:
    schema = node.resolved().schema
    return schema.get(key) if isinstance(schema, dict) else None
