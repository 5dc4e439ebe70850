"""Numbers that stand in no result but follow from them: sums, differences, averages, ratios,
counts, products.

Any number can be had by combining enough others, so a combination counts only where the sentence
announces it (total, longer than, on average, …) and over fields of one kind.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callwright.grounding.binding import key_concepts
from callwright.grounding.claims import Claims, Mention, content_words
from callwright.grounding.facts import Facts, Figure, Leaf
from callwright.grounding.lexicon import DIFFERENCE, EACH, LIMITATION, PRODUCT, RATIO, SUM
from callwright.grounding.matching import is_close, is_unit_possible
from callwright.grounding.parts import iter_parts
from callwright.grounding.quantity import Moment, Number, date_of
from callwright.grounding.totals import COLUMN, is_announced, iter_comparisons, iter_totals
from callwright.grounding.units import is_same_unit
from callwright.language import ENGLISH
from callwright.language.quantities import UNITS, convert_value
from callwright.language.tokens import split_tokens
from callwright.nouns.thresholds import threshold

_POOL = 48
_BESIDE = 14  # characters beside a number in which a word can count from today
_DAYS = {"day": 1, "week": 7}
_CLOSE = threshold("callwright.grounding", "derived_close")
_APART = threshold("callwright.grounding", "derived_apart")


@dataclass(frozen=True, slots=True)
class Derivation:
    text: str
    leaves: tuple[Leaf, ...]


def derive_value(claim: Number | Moment, claims: Claims, facts: Facts) -> Derivation | None:
    """Return the derivation of the stated value from the results, or None."""
    if isinstance(claim, Moment):
        return _derive_time(claim, claims, facts)
    for ways in (
        _iter_counts,
        _iter_totals,
        iter_parts,
        _iter_pairs,
        _iter_spans,
        _iter_products,
        iter_comparisons,
    ):
        for text, value, leaves in ways(claim, claims, facts):
            if is_close(claim, value, _CLOSE) and (
                claim.hedge or abs(value - claim.value) <= _APART * abs(value)
            ):
                return Derivation(f"{claims.text[slice(*claim.span)]} is {text}", tuple(leaves[:4]))
    return None


def _derive_time(claim: Moment, claims: Claims, facts: Facts) -> Derivation | None:
    """A time that is another one of the sentence and a duration of the results apart."""
    if claim.hour is None or claim.has_date:
        return None
    told = [m for m in claims.moments if m is not claim and m.hour is not None]
    lasting = [f for f in facts.figures[:COLUMN] if f.unit and UNITS[f.unit].dimension == "time"][
        :_POOL
    ]
    for start in told[:4]:
        gap = (
            (claim.hour - (start.hour or 0)) * 60 + (claim.minute or 0) - (start.minute or 0)
        ) % 1440
        for figure in lasting:
            if figure.number is not None and figure.number.value * UNITS[
                figure.unit
            ].factor / 60 in (
                gap,
                1440 - gap,
            ):
                text = (
                    f"{claims.text[slice(*claim.span)]} is {figure.leaf.where} away from the other"
                    " time"
                )
                return Derivation(text, (figure.leaf,))
    return None


_Way = tuple[str, float, list[Leaf]]


def _iter_counts(n: Number, claims: Claims, facts: Facts) -> Iterator[_Way]:
    if not 0 <= n.value < 1e9 or n.value != int(n.value) or n.unit:
        return
    for length, leaf in facts.lists[:2000]:
        if length == n.value:
            yield f"the number of entries of {leaf.where or leaf.result}", float(length), [leaf]
    said = " " + " ".join(split_tokens(claims.text)) + " "
    tally: dict[tuple[tuple[str, ...], str], list[Leaf]] = {}
    for key, switches in facts.switches.items():
        for leaf in switches if key_concepts(key) & claims.attributes else ():
            tally.setdefault((leaf.shape, str(leaf.value)), []).append(leaf)
    for leaf, words in facts.short_texts:
        if (words and f" {words} " in said) or f" {words.removesuffix('s')}s " in said:
            tally.setdefault((leaf.shape, words), []).append(leaf)
    for (shape, word), leaves in tally.items():
        if len(leaves) == n.value:
            yield f"the number of {shape[-1]} = {word}", float(len(leaves)), leaves
    groups: dict[tuple[str, ...], set[str]] = {}
    for leaf, words in facts.short_texts:
        groups.setdefault(leaf.shape, set()).add(words)
    carried, unknown = content_words(claims, facts)
    if carried and len(unknown) * 2 > len(carried):
        return  # counting what nothing known speaks of
    for shape, distinct in groups.items():
        if len(distinct) == n.value and len(shape) > 1:
            yield f"the number of different {shape[-1]}", float(len(distinct)), []
    made, done = len(facts.results), sum(result.ok for result in facts.results)
    # one call that lists things is not what is counted
    calls = {done} if done > 1 or not facts.lists else set()
    if claims.announces(LIMITATION):
        calls |= {made, made - done}
    yield from (("the number of calls that were made", float(count), []) for count in calls)
    yield from _iter_thresholds(n, claims, facts)


def _iter_thresholds(n: Number, claims: Claims, facts: Facts) -> Iterator[_Way]:
    """ "Three of them cost less than 100"."""
    limits = [m for m in claims.numbers if m is not n]
    for limit in limits[:3]:
        for shape, column in list(facts.columns.items())[:40]:
            values = [f.number.value for f in column[:COLUMN] if f.number is not None]
            if len(values) > 1:
                for test, count in (("above", sum(v > limit.value for v in values)),
                                    ("below", sum(v < limit.value for v in values))):  # fmt: skip
                    if count == n.value and count:
                        yield f"the number of {shape[-1]} {test} {limit.value:g}", float(count), []


def _iter_totals(n: Number, claims: Claims, facts: Facts) -> Iterator[_Way]:
    for total in iter_totals(n.unit, claims, facts):
        if is_announced(total, n, claims):
            yield total.name, total.value, list(total.leaves)


def _select_figures(n: Number, claims: Claims, facts: Facts) -> list[tuple[float, Figure]]:
    """The figures a calculation may rest on: those the sentence speaks of, of the claim's own kind
    first.
    """
    words = claims.attributes
    scored: list[tuple[int, int, Figure]] = []
    for figure in facts.figures[:COLUMN]:
        if figure.number is None:
            continue
        score = 2 * sum(bool(m.labels & figure.leaf.labels) for m in claims.mentions) + len(
            words & figure.leaf.attributes
        )
        stated = any(is_close(m, figure.number.value) for m in claims.numbers if m is not n)
        if score or stated:
            scored.append((-(score + 4 * stated), len(scored), figure))
    if not scored and len(facts.figures) <= _POOL:
        scored = [(0, i, f) for i, f in enumerate(facts.figures) if f.number is not None]
    scored.sort(key=lambda s: s[:2])
    return [(f.number.value, f) for _, _, f in scored[:_POOL] if f.number is not None]


def _iter_pairs(n: Number, claims: Claims, facts: Facts) -> Iterator[_Way]:
    gap, total = claims.announces(DIFFERENCE), claims.announces(SUM)
    share = claims.announces(RATIO) or claims.announces(EACH)
    listed = claims.announces(_AND)
    if not (gap or share or total or listed):
        return
    pool = _select_figures(n, claims, facts)
    for (_, f), (_, g) in itertools.combinations(pool, 2):
        alike = f.leaf.key == g.leaf.key or (f.unit and f.unit == g.unit)
        alike = alike or all(get_key_words(x.leaf) & claims.attributes for x in (f, g))
        if not alike or f is g or f.number == g.number or _is_unrelated_pair(f, g, claims, facts):
            continue
        for a, b in _convert_to_unit(f, g, n.unit):
            if gap:
                yield f"{f.leaf.where} minus {g.leaf.where}", abs(a - b), [f.leaf, g.leaf]
            if (total and (f.leaf.key == g.leaf.key or f.unit)) or (
                listed and _is_listed_pair(f, g, claims)
            ):
                yield f"{f.leaf.where} plus {g.leaf.where}", a + b, [f.leaf, g.leaf]
        each = n.unit != "%" and f.leaf.record == g.leaf.record and claims.announces(EACH)
        spoken = (
            f.leaf.key == g.leaf.key
            or each
            or all(get_key_words(x.leaf) & claims.attributes for x in (f, g))
        )
        if share and spoken:
            yield from _iter_shares(n, f, g)


def _is_listed_pair(f: Figure, g: Figure, claims: Claims) -> bool:
    """Two fields of one record that the sentence lists: "an adult and a child pay"."""
    one, two = get_key_words(f.leaf) & claims.attributes, get_key_words(g.leaf) & claims.attributes
    home = (f.leaf.result, f.leaf.record) == (g.leaf.result, g.leaf.record)
    return home and f.leaf.key != g.leaf.key and bool(one - two) and bool(two - one)


_AND = ENGLISH.pattern("statements.together")


def _is_unrelated_pair(f: Figure, g: Figure, claims: Claims, facts: Facts) -> bool:
    """Two different fields belong to one record, and to one that nothing else in the sentence
    stands against.

    "Rita won six races more than Ines" is no difference within Rita's record, nor one of her wins
    and Ines' races.
    """
    if f.leaf.shape == g.leaf.shape and claims.readable:
        column = facts.columns[f.leaf.shape][:300]
        named = [m for m in claims.mentions if any(m.labels & x.leaf.labels for x in column)]
        return len(named) == 2 and not all(
            m.labels & (f.leaf.labels | g.leaf.labels) for m in named
        )
    if f.leaf.key == g.leaf.key or f.leaf.shape[:-1] != g.leaf.shape[:-1]:
        return False
    if (f.leaf.result, f.leaf.record) != (g.leaf.result, g.leaf.record):
        return True
    home = (f.leaf.result, f.leaf.record)
    others = [
        h.leaf
        for h in facts.keys.get(f.leaf.key, ())[:300]
        if (h.leaf.result, h.leaf.record) != home
    ]
    against = [m for m in claims.mentions if not m.labels & f.leaf.labels]
    return any(m.labels & leaf.labels for m in against for leaf in others)


def get_key_words(leaf: Leaf) -> frozenset[str]:
    """Return the concepts in a leaf's own key."""
    return key_concepts(leaf.key)


def _convert_to_unit(f: Figure, g: Figure, unit: str) -> list[tuple[float, float]]:
    if f.number is None or g.number is None:
        return []
    if is_same_unit(unit, f.unit) and is_same_unit(unit, g.unit):
        return [(f.number.value, g.number.value)]
    if unit in ("C", "F", "K"):
        return []
    one, two = (
        convert_value(f.number.value, f.unit, unit),
        convert_value(g.number.value, g.unit, unit),
    )
    return [(one[0], two[0])] if one and two else []


def _iter_shares(n: Number, f: Figure, g: Figure) -> Iterator[_Way]:
    a, b = (f.number.value, g.number.value) if f.number and g.number else (0.0, 0.0)
    for x, y, p, q in ((a, b, f, g), (b, a, g, f)):
        if not y:
            continue
        leaves = [p.leaf, q.leaf]
        name = f"{p.leaf.where} over {q.leaf.where}"
        if n.unit == "%":
            yield name, 100 * x / y, leaves
            yield name, 100 * abs(x - y) / abs(y), leaves
        elif abs(x / y) < 1e9:
            yield name, x / y, leaves
            if p.unit and n.unit and p.unit == n.unit:
                yield name, x / y, leaves


def _iter_spans(n: Number, claims: Claims, facts: Facts) -> Iterator[_Way]:
    """The time between two moments of the same record, or of two that the sentence speaks of."""
    unit = n.unit or ("day" if _says_beside(n, claims, "days.nights") else "")
    if not unit or UNITS[unit].dimension not in ("time", "years"):
        return
    near = [m for m in claims.mentions if not all(label.startswith("@") for label in m.labels)]
    timed = [
        f for f in facts.moment_figures if not near or any(m.labels & f.leaf.labels for m in near)
    ][:40]
    named = [m for m in near if any(m.labels & f.leaf.labels for f in timed)]
    if facts.todays and _counts_from_today(n, claims):
        yield from _iter_distances(n, timed, named, facts)
        return
    for f, g in (*itertools.combinations(timed, 2), *_iter_contrasts(timed, near, claims, facts)):
        if not all(m.labels & (f.leaf.labels | g.leaf.labels) for m in named):
            continue  # "A is two hours ahead of B" is no span within A
        if f.moment is None or g.moment is None:
            continue
        seconds = _measure_gap(f.moment, g.moment)
        if seconds is None:
            continue
        where, leaves = f"{f.leaf.where} to {g.leaf.where}", [f.leaf, g.leaf]
        one, two = date_of(f.moment), date_of(g.moment)
        if unit == "day" and one and two:
            nights = abs((one - two).days)
            yield where, float(nights), leaves
            is_one = (f.leaf.result, f.leaf.record) == (g.leaf.result, g.leaf.record)
            if n.unit and (is_one or not DIFFERENCE.search(claims.text)):  # no "two days later"
                yield f"{where}, both counted", nights + 1.0, leaves
        for value in {abs(seconds), 86400 - abs(seconds) if abs(seconds) < 86400 else abs(seconds)}:
            if UNITS[unit].dimension == "years":
                yield "the time between two dates", float(int(value / 31556952)), leaves
            else:
                yield where, value / UNITS[unit].factor, leaves


def _iter_distances(
    n: Number, timed: Sequence[Figure], named: Sequence[Mention], facts: Facts
) -> Iterator[_Way]:
    """The distances of days from today: "in two days"."""
    for figure in timed:
        day = date_of(figure.moment)
        if day is None or not all(m.labels & figure.leaf.labels for m in named):
            continue
        for today in facts.todays:
            days = abs((day - today).days)
            name = f"{figure.leaf.where} from {today}"
            if n.unit in _DAYS:
                yield name, days / _DAYS[n.unit], [figure.leaf]
            elif UNITS[n.unit].dimension == "years":
                yield name, float(int(days / 365.2425)), [figure.leaf]


def _counts_from_today(n: Number, claims: Claims) -> bool:
    """Return True if the words beside a number of days count from today: "in #", "# ago"."""
    is_long = n.unit in _DAYS or (n.unit and UNITS[n.unit].dimension == "years")
    return bool(is_long) and _says_beside(n, claims, "days.from_today")


def _says_beside(n: Number, claims: Claims, what: str) -> bool:
    """Return True if the words beside a number, which stands as "#", say something."""
    (start, end), text = n.span, claims.text
    return claims.speaks_of(
        what, f"{text[max(0, start - _BESIDE) : start]}#{text[end : end + _BESIDE]}"
    )


def _iter_contrasts(
    timed: Sequence[Figure], near: Sequence[Mention], claims: Claims, facts: Facts
) -> Iterator[tuple[Figure, Figure]]:
    """ "B opens an hour later": the one that is named against the same field of the one that is
    not.
    """
    if len(near) != 1 or not claims.announces(DIFFERENCE):
        return
    spoken = [f for f in timed if key_concepts(f.leaf.key) & claims.attributes]
    for figure in spoken[:4]:
        rows = [f for f in facts.keys.get(figure.leaf.key, ())[:8] if f.moment is not None]
        yield from ((figure, other) for other in rows if other.leaf is not figure.leaf)


def _measure_gap(a: Moment, b: Moment) -> float | None:
    try:
        if a.has_time and b.has_time and (a.day is None or b.day is None):
            return (
                (b.hour or 0) * 60 + (b.minute or 0) - (a.hour or 0) * 60 - (a.minute or 0)
            ) * 60.0
        if None in (a.year, a.month, a.day, b.year, b.month, b.day):
            return None
        one = dt.datetime(a.year or 1, a.month or 1, a.day or 1, (a.hour or 0) % 24, a.minute or 0)
        two = dt.datetime(b.year or 1, b.month or 1, b.day or 1, (b.hour or 0) % 24, b.minute or 0)
    except ValueError:
        return None
    shift = (
        (a.offset or 0) - (b.offset or 0) if a.offset is not None and b.offset is not None else 0
    )
    return (two - one).total_seconds() + shift * 60


def _iter_products(n: Number, claims: Claims, facts: Facts) -> Iterator[_Way]:
    """An amount of the question or the sentence times a figure: exchange, nights at a price,
    several of a kind.
    """
    if (
        not claims.announces(PRODUCT)
        and not claims.announces(EACH)
        and not (n.unit and UNITS[n.unit].dimension == "money")
    ):
        return
    sizes = {size for size, _ in facts.lists}  # three prices are no three times one of them
    amounts = {m.value for m in claims.numbers if m is not n and m.value and m.value not in sizes}
    amounts.update(v for v in facts.argument_numbers if v)
    amounts.update(q.value for q in facts.query_numbers if q.value)
    if claims.counts_twice():
        amounts.add(2.0)
    for amount in sorted(amounts)[:12]:
        for value, figure in _select_figures(n, claims, facts):
            if not value or value == 1 or amount == 1 or not is_unit_possible(n, figure):
                continue
            where = figure.leaf.where
            yield f"{amount:g} times {where}", amount * value, [figure.leaf]
            if claims.announces(EACH):
                yield f"{where} divided by {amount:g}", value / amount, [figure.leaf]
            if n.unit and UNITS[n.unit].dimension == "money":
                yield f"{amount:g} divided by {where}", amount / value, [figure.leaf]
