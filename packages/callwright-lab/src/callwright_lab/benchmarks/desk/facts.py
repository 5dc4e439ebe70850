"""Checks whether a text states a fact: numbers with units, times, dates, names. Pure, tolerant of
wording, strict on values.

A fact is a JSON object with a ``kind``:

========  =============================================================================================
number    ``value``, ``tolerance`` (absolute), ``unit`` (a key of UNITS; "" for a bare number)
time      ``value`` "HH:MM", ``minutes`` of tolerance
date      ``value`` "YYYY-MM-DD"; the year may be left out in the text, but must not be another
text      ``any``: one of these names, as whole words, case and accents aside
pattern   ``pattern``: a regular expression over the folded text
any       ``of``: at least one of these facts
choice    ``winner`` aliases, ``losers`` lists of aliases, ``more`` and ``less`` comparatives
paired    ``labels`` lists of aliases and ``facts``, one each: every value must stand with its own label
========  =============================================================================================
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import product
from typing import Any

Fact = Mapping[str, Any]
Span = tuple[int, int]

UNITS: dict[str, tuple[str, ...]] = {
    "kilometre": ("km", "kms", "kilometer", "kilometers", "kilometre", "kilometres"),
    "nautical mile": (
        "nautical mile",
        "nautical miles",
        "nautical_mile",
        "nautical_miles",
        "nmi",
        "nm",
        "naut. mi",
    ),
    "mile": ("mile", "miles", "mi", "statute miles"),
    "metre": ("m", "meter", "meters", "metre", "metres"),
    "foot": ("ft", "foot", "feet"),
    "kilogram": ("kg", "kgs", "kilo", "kilos", "kilogram", "kilograms"),
    "pound": ("lb", "lbs", "pound", "pounds"),
    "hectare": ("ha", "hectare", "hectares"),
    "acre": ("acre", "acres"),
    "celsius": ("°c", "degc", "celsius", "degrees celsius", "degree celsius", "c"),
    "fahrenheit": ("°f", "degf", "fahrenheit", "degrees fahrenheit", "f"),
    "EUR": ("eur", "euro", "euros", "€"),
    "NOK": ("nok", "norwegian kroner", "norwegian krone", "kroner", "kr"),
    "JPY": ("jpy", "yen", "japanese yen", "¥"),
    "USD": ("usd", "us dollars", "us dollar", "u.s. dollars", "dollars", "$", "us$"),
    "CAD": ("cad", "canadian dollars", "canadian dollar", "c$", "ca$"),
    "ISK": ("isk", "icelandic krona", "icelandic kronur", "kronur"),
    "GBP": ("gbp", "pounds sterling", "british pounds", "£"),
    "day": ("day", "days", "working days", "business days", "workdays"),
    "minute": ("minute", "minutes", "min", "mins"),
    "people": ("people", "persons", "seats", "employees"),
}
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = "|".join(f"{m}|{m[:3]}" for m in _MONTHS) + "|sept"
_NUMBER = re.compile(
    r"(?<![\w.,:/])(?<!\d-)(?P<sign>-)?(?:(?P<grouped>\d{1,3}(?:[,"
    r" ]\d{3})+(?:\.\d+)?)|(?P<comma>\d+,\d{1,2})(?!\d)"
    r"|(?P<plain>\d+(?:\.\d+)?))(?![:/]\d|-\d\d|[.,]?\d)"
)
_TIME = re.compile(r"(?<![\d:])(\d{1,2}):(\d{2})(?::\d{2})?(?![\d:])\s*(a\.?m\b\.?|p\.?m\b\.?)?")
_DATES = (
    re.compile(r"(?<!\d)(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?!\d)"),
    re.compile(
        rf"(?<!\d)(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\.?(?: of)? (?P<name>{_MONTH})\b\.?(?:,?"
        r" (?P<y>\d{4}))?"
    ),
    re.compile(
        rf"\b(?P<name>{_MONTH})\b\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<y>\d{{4}}))?"
    ),
    re.compile(r"(?<!\d)(?P<d>\d{1,2})[./](?P<m>\d{1,2})[./](?P<y>\d{4})(?!\d)"),
    re.compile(r"(?<!\d)(?P<m>\d{1,2})[./](?P<d>\d{1,2})[./](?P<y>\d{4})(?!\d)"),
)


def normalise_text(text: str) -> str:
    """Lower case, no accents, no emphasis marks, plain minus signs and spaces."""
    plain = unicodedata.normalize(
        "NFKD", text.replace("−", "-").replace("–", "-").replace("’", "'")
    )
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return re.sub(r"[^\S\n]+", " ", re.sub(r"[*`\\]", "", plain)).casefold()


def has_fact(text: str, fact: Fact) -> bool:
    """Return True if ``text`` states ``fact``."""
    folded = normalise_text(text)
    match fact["kind"]:
        case "choice":
            return _has_choice(folded, fact)
        case "paired":
            return _has_pairs(folded, fact)
        case "any":
            return any(has_fact(text, each) for each in fact["of"])
        case _:
            return any(True for _ in iter_spans(folded, fact))


def iter_spans(folded: str, fact: Fact) -> Iterator[Span]:
    """Yield the spans in which a normalised text states a fact that is neither a choice nor a
    pairing.
    """
    match fact["kind"]:
        case "number":
            yield from _iter_number_spans(folded, fact)
        case "time":
            yield from _iter_time_spans(folded, fact)
        case "date":
            yield from _iter_date_spans(folded, date.fromisoformat(fact["value"]))
        case "text":
            for alias in fact["any"]:
                yield from (m.span() for m in _compile_word(alias).finditer(folded))
        case "pattern":
            yield from (m.span() for m in re.finditer(fact["pattern"], folded))
        case other:
            raise ValueError(f"unknown kind of fact {other!r}")


def _iter_number_spans(folded: str, fact: Fact) -> Iterator[Span]:
    for found in _NUMBER.finditer(folded):
        digits = found["grouped"] or found["plain"] or found["comma"].replace(",", ".")
        value = float(re.sub("[, ]", "", digits)) * (-1 if found["sign"] else 1)
        if _is_near(value, digits, fact) and _has_matching_unit(folded, found.span(), fact):
            yield found.span()


def _is_near(value: float, digits: str, fact: Fact) -> bool:
    """Within the tolerance, or, where there is one, rightly rounded to three or more digits."""
    tolerance, apart = float(fact.get("tolerance", 0)), abs(value - float(fact["value"]))
    if apart <= tolerance + 1e-9:
        return True
    shown = re.sub("[^0-9.]", "", digits)
    step = float(f"1e-{len(shown.partition('.')[2])}")
    return (
        tolerance > 0
        and len(shown.replace(".", "").lstrip("0")) >= 3
        and bool(apart <= step / 2 + 1e-9)
    )


def _has_matching_unit(folded: str, span: Span, fact: Fact) -> bool:
    """The unit right after (or a symbol right before) the number decides, else the unit named in
    its sentence.
    """
    wanted: str = fact.get("unit", "")
    if not wanted:
        return True
    after, before = (
        folded[span[1] : span[1] + 24].lstrip(" -("),
        folded[max(0, span[0] - 5) : span[0]].rstrip(),
    )
    beside = _unit_at_start(after) or _unit_at_end(before.rstrip(" $")) or _unit_at_end(before)
    if beside:
        return beside == wanted
    start = max(folded.rfind(mark, 0, span[0]) for mark in (". ", "\n", "; ", "! ", "? "))
    ends = [at for mark in (". ", "\n", "; ") if (at := folded.find(mark, span[1])) >= 0]
    sentence = folded[max(0, start) : min(ends, default=len(folded))]
    return any(_compile_word(alias).search(sentence) for alias in UNITS[wanted] if len(alias) > 1)


def _unit_at_start(after: str) -> str:
    fits = [
        (len(a), unit)
        for unit, all_ in UNITS.items()
        for a in all_
        if re.match(_compile_word(a).pattern, after)
    ]
    return max(fits, default=(0, ""))[1]


def _unit_at_end(before: str) -> str:
    fits = [
        (len(a), unit)
        for unit, all_ in UNITS.items()
        for a in all_
        if (len(a) == 3 or not a.isalpha()) and re.search(_compile_word(a).pattern + "$", before)
    ]
    return max(fits, default=(0, ""))[1]


def _iter_time_spans(folded: str, fact: Fact) -> Iterator[Span]:
    hour, minute = map(int, fact["value"].split(":"))
    for found in _TIME.finditer(
        folded.replace("t", " ") if re.search(r"\dt\d", folded) else folded
    ):
        h, m = int(found[1]), int(found[2])
        if found[3]:
            h = h % 12 + (12 if found[3].startswith("p") else 0)
        apart = abs((h * 60 + m) - (hour * 60 + minute))
        if min(apart, 1440 - apart) <= fact.get("minutes", 0):
            yield found.span()


def _iter_date_spans(folded: str, wanted: date) -> Iterator[Span]:
    for pattern in _DATES:
        for found in pattern.finditer(folded):
            parts = found.groupdict()
            month = int(parts["m"]) if parts.get("m") else _parse_month(parts["name"])
            year = int(parts["y"]) if parts.get("y") else wanted.year
            if (year, month, int(parts["d"])) == (wanted.year, wanted.month, wanted.day):
                yield found.span()


def _parse_month(name: str) -> int:
    return next(n for n, month in enumerate(_MONTHS, 1) if month.startswith(name[:3]))


def _compile_word(alias: str) -> re.Pattern[str]:
    """A whole word or phrase; symbols such as € need no boundary."""
    plain = normalise_text(alias)
    left = r"(?<!\w)" if plain[0].isalnum() else ""
    right = r"(?!\w)" if plain[-1].isalnum() else ""
    return re.compile(left + re.escape(plain) + right)


def _find_mentions(folded: str, aliases: Sequence[str]) -> list[int]:
    return sorted(m.start() for alias in aliases for m in _compile_word(alias).finditer(folded))


def _has_choice(folded: str, fact: Fact) -> bool:
    """Whoever is said to be more is the winner; without a comparative, the only one named must
    be.
    """
    groups = [fact["winner"], *fact["losers"]]
    claims = [
        _find_claimed_group(folded, groups, m)
        for word in fact["more"]
        for m in _compile_word(word).finditer(folded)
    ]
    denied = [
        _find_claimed_group(folded, groups, m)
        for word in fact.get("less", ())
        for m in _compile_word(word).finditer(folded)
    ]
    if claims or denied:
        return all(c == 0 for c in claims) and all(d != 0 for d in denied)
    return bool(_find_mentions(folded, groups[0])) and not any(
        _find_mentions(folded, g) for g in groups[1:]
    )


def _find_claimed_group(
    folded: str, groups: Sequence[Sequence[str]], comparative: re.Match[str]
) -> int:
    """Index of the group that a comparative speaks of: the last named before it in its sentence,
    else the next.
    """
    start = max(
        folded.rfind(mark, 0, comparative.start()) for mark in (". ", "\n", "; ", ": ", "? ")
    )
    named = [(at, g) for g, aliases in enumerate(groups) for at in _find_mentions(folded, aliases)]
    before = [pair for pair in named if start < pair[0] < comparative.start()]
    after = [pair for pair in named if pair[0] > comparative.start()]
    return max(before)[1] if before else min(after, default=(0, -1))[1]


def _has_pairs(folded: str, fact: Fact) -> bool:
    """Read in order, each value's label stands between the value before it and the value after
    it.
    """
    places = [list(iter_spans(folded, each)) for each in fact["facts"]]
    labels = [_find_mentions(folded, aliases) for aliases in fact["labels"]]
    return any(_has_labels_in_order(chosen, labels, len(folded)) for chosen in product(*places))


def _has_labels_in_order(chosen: Sequence[Span], labels: Sequence[Sequence[int]], end: int) -> bool:
    order = sorted(range(len(chosen)), key=lambda i: chosen[i])
    if len({chosen[i] for i in order}) < len(order):
        return False
    for rank, i in enumerate(order):
        low = chosen[order[rank - 1]][1] if rank else 0
        high = chosen[order[rank + 1]][0] if rank + 1 < len(order) else end
        if not any(low <= at < high for at in labels[i]):
            return False
    return True
