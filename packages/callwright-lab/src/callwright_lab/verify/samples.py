"""Guesses obvious sample values for a parameter without examples, from its name and description.

The samples serve only probing calls, which read and are judged as guesses. Identifiers and
credentials are not guessed at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta

from callwright.agent.probing.values import is_credential
from callwright.dataflow.flow import split_words
from callwright.nouns.types import Json, JsonObject

_TEXTS: Mapping[str, Sequence[str]] = {
    "iata": ("LHR", "JFK", "OSL", "NRT", "SYD"),
    "icao": ("EGLL", "KJFK", "ENGM", "RJTT", "YSSY"),
    "timezone": ("Europe/London", "America/New_York", "Asia/Tokyo", "UTC"),
    "zone": ("Europe/London", "America/New_York", "Asia/Tokyo", "UTC"),
    "currency": ("EUR", "USD", "GBP", "JPY"),
    "country": ("US", "NO", "DE", "JP"),
    "language": ("en", "de", "fr", "es"),
    "locale": ("en-US", "de-DE", "fr-FR"),
    "city": ("London", "New York", "Tokyo", "Oslo"),
    "location": ("London", "New York", "Tokyo", "Oslo"),
    "place": ("London", "New York", "Tokyo", "Oslo"),
    "airport": ("LHR", "JFK", "OSL", "NRT", "SYD"),
    "symbol": ("AAPL", "MSFT", "GOOGL"),
    "ticker": ("AAPL", "MSFT", "GOOGL"),
    "time": ("09:00", "10:30", "17:00"),
    "unit": ("km", "mi", "m"),
    "email": ("someone@example.com", "info@example.org"),
    "url": ("https://example.com", "https://example.org"),
    "uri": ("https://example.com", "https://example.org"),
    "domain": ("example.com", "example.org"),
    "ip": ("8.8.8.8", "1.1.1.1"),
    "color": ("red", "blue"),
    "query": ("weather", "music", "news"),
    "search": ("weather", "music", "news"),
    "keyword": ("weather", "music", "news"),
    "term": ("weather", "music", "news"),
    "text": ("hello", "Good morning", "The weather is fine today."),
    "q": ("weather", "music", "news"),
    "word": ("music", "house", "time"),
    "sort": ("asc", "desc"),
    "order": ("asc", "desc"),
}
_PLAIN_TEXTS = ("example", "test", "sample")  # for what may be any text
_FORMATS: Mapping[str, Sequence[str]] = {
    "email": ("someone@example.com", "info@example.org"),
    "uri": ("https://example.com", "https://example.org"),
    "url": ("https://example.com", "https://example.org"),
    "hostname": ("example.com", "example.org"),
    "ipv4": ("8.8.8.8", "1.1.1.1"),
    "ipv6": ("2001:4860:4860::8888", "2606:4700:4700::1111"),
    "time": ("12:00:00Z", "09:30:00Z"),
    "duration": ("P1D", "PT1H"),
    "byte": ("aGVsbG8=",),
}
_LONGEST = 1_000
_NUMBERS: Mapping[str, Sequence[float]] = {
    "latitude": (51.5, 40.7, 35.7),
    "longitude": (-0.1, -74.0, 139.7),
    "page": (1, 2),
    "offset": (0, 10),
    "skip": (0, 10),
    "limit": (10, 1, 5),
    "size": (10, 1, 5),
    "count": (10, 1, 5),
    "month": (1, 6, 12),
    "day": (1, 7, 15),
    "radius": (10, 1),
}
_PLAIN_NUMBERS = (2, 10, 1, 5, 50)
_ID = frozenset(
    "id uuid guid identifier slug hash isbn asin sku vin serial handle path file repo branch".split()
)
_MENTIONED = re.compile(
    r"(?:\be\.g\.,?|\bsuch as|\bfor example,?|\bfor instance,?|\bexample:|\bex:)\s*(.{1,120})", re.I
)
_IN_QUOTES = re.compile(r"['\"`‘“]([^'\"`’”]{1,60})['\"`’”]")
_ONE = re.compile(r"[\w./:+@#-]{1,60}")
_WEEKS = 6


def sample_values(key: str, part: JsonObject, today: date, *, plain: bool = True) -> list[Json]:
    """Values that may well be taken, best first; none for what only its owner or another tool can
    know. ``plain``: a text of which nothing is known has some too.
    """
    if is_credential(key):
        return []
    kind = part.get("type")
    if isinstance(kind, str):
        kinds = {kind}
    elif isinstance(kind, list):
        kinds = {str(k) for k in kind}
    else:
        kinds = {"string"}
    if kinds & {"integer", "number"}:
        return list(_iter_sample_numbers(key, part, today, whole="number" not in kinds))
    if "boolean" in kinds:
        return [False, True]
    return list(_iter_sample_texts(key, part, today, plain)) if "string" in kinds else []


def is_placeholder(value: Json) -> bool:
    """Return True if a value is a generic sample text. Its acceptance says nothing about the
    parameter.
    """
    return isinstance(value, str) and value.rstrip("e") in {
        text.rstrip("e") for text in _PLAIN_TEXTS
    }


def extract_examples(text: str) -> list[str]:
    """Return the examples that a description names: 'Europe/Paris' of "IANA time zone, such as
    Europe/Paris".
    """
    found: list[str] = []
    for match in _MENTIONED.finditer(text):
        rest = re.split(r"[)\n;]|\.\s", match[1])[0]
        parts = [part.split(" or ")[0].strip(" .") for part in rest.split(",")]
        found += _IN_QUOTES.findall(rest) or [part for part in parts if _ONE.fullmatch(part)]
    return list(dict.fromkeys(found))


def _iter_sample_texts(key: str, part: JsonObject, today: date, plain: bool) -> Iterator[str]:
    if part.get("format") in ("date", "date-time") or _is_day(key, part):
        stamp = "T12:00:00Z" if part.get("format") == "date-time" else ""
        yield from (
            (today - timedelta(weeks=_WEEKS) + timedelta(weeks=i)).isoformat() + stamp
            for i in range(_WEEKS)
        )
        return
    said = str(part.get("description") or "")
    named, about = split_words(key), split_words(said)
    if set(named) & _ID:
        return
    for word in (*(["time"] if "HH:MM" in said.upper() else []), *reversed(named), *about):
        if word in _TEXTS:
            yield from _TEXTS[word]
            return
    form = part.get("format")
    if not plain and not isinstance(form, str):
        return
    least, most = part.get("minLength"), part.get("maxLength")
    for value in _FORMATS.get(form, ()) if isinstance(form, str) else _PLAIN_TEXTS:
        value = value.ljust(least, "e") if isinstance(least, int) and least <= _LONGEST else value
        yield value[:most] if isinstance(most, int) and most >= 0 else value


def _is_day(key: str, part: JsonObject) -> bool:
    return "date" in split_words(key) or "YYYY-MM-DD" in str(part.get("description") or "").upper()


def _iter_sample_numbers(key: str, part: JsonObject, today: date, whole: bool) -> Iterator[float]:
    named = split_words(key)
    if set(named) & _ID:
        return
    if "year" in named:
        found: Sequence[float] = (today.year, today.year - 1)
    else:
        found = next(
            (_NUMBERS[word] for word in reversed(named) if word in _NUMBERS), _PLAIN_NUMBERS
        )
    least, most = part.get("minimum"), part.get("maximum")
    for value in found:
        value = max(value, least) if isinstance(least, int | float) else value
        value = min(value, most) if isinstance(most, int | float) else value
        yield round(value) if whole else value
