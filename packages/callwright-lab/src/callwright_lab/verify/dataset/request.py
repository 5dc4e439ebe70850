"""Finds defects of a request: cut, blank or impossible, or without the names it needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date

from callwright.grounding.quantity import Moment, find_moments
from callwright.repair.provenance.grounding import classify_value, iter_leaves
from callwright_lab.verify.dataset.account import Account, Defect

_BLANK = re.compile(
    r"\[(?:insert|your|enter|specify|some|name|date|city|location|company|product|number|email|url|user|time)\b[^\]\n]{0,40}\]"
    r"|<(?:insert|your|enter|specify|name|date|city|location|company|product|number|email|url)[^>\n]{0,40}>"
    r"|\{\{?[A-Za-z_][\w .]{0,40}\}?\}|\bX{3,}\b|\b_{3,}\b",
    re.I,
)
_HANGING = re.compile(
    r"(?:\b(?:a|an|the|of|to|for|with|and|or|in|on|at|by|from|is|are|was|be|that|which|as|towards?|about|between|position"
    r"|URL)|[,(\[:=+])\s*\Z",
    re.I,
)
_SPOKEN = re.compile(r"</?(?:user|response|obs|tool_call)>")
_VAGUE = r"\b(?:an?|some|any|one|the|this|that|my)\s+(?:specific|certain|particular|given)\s+"
_AFTER = r"(?=\s*(?:[.,;:?!)\n]|\Z|(?:in|of|for|on|at|by|with|and|or|to|from|that|which|using|based|within|is|are)\b))"
_RANGE = re.compile(
    r"\b(?:from|between)\b(.{4,60}?)\b(?:to|until|till|and|through)\b(.{4,40})", re.I | re.S
)
_NEVER = re.compile(r"(?<![\d-])(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})(?![\d-])")


def find_broken_request(account: Account) -> Iterator[Defect]:
    """A request that was cut, holds an unclosed quotation, or a blank that nobody filled."""
    query = account.trajectory.query
    if _SPOKEN.search(query):  # a dialogue: its turns end where they please
        return
    text = query.strip()
    if not text:
        yield Defect("broken_request", "it is empty")
    elif blank := _BLANK.search(text):
        yield Defect("broken_request", f"{blank[0]!r} was never filled in")
    elif text.count('"') % 2 and not re.search(r'\d"', text):
        yield Defect(
            "broken_request", f"a quotation is never closed: {text[text.rfind(chr(34)) :][:60]!r}"
        )
    elif _HANGING.search(text) or text.count("[") > text.count("]"):
        yield Defect("broken_request", f"it breaks off: {text[-60:]!r}")


def find_impossible_dates(account: Account) -> Iterator[Defect]:
    """Days that no calendar has, and ranges that end before they begin."""
    query = account.trajectory.query
    for found in _NEVER.finditer(query):
        if not _is_valid_date(int(found["y"]), int(found["m"]), int(found["d"])):
            yield Defect("impossible_date", f"there is no {found[0]}")
            return
    for found in _RANGE.finditer(query):
        begin, end = _parse_single_day(found[1]), _parse_single_day(found[2])
        if begin is not None and end is not None and end < begin:
            yield Defect("impossible_date", f"{found[0].strip()[:80]!r} ends before it begins")
            return


def find_unnamed_values(account: Account) -> Iterator[Defect]:
    """Arguments that are only the word for a thing: "a specific country" became ``country``."""
    query = account.trajectory.query
    for step, call, arguments, tool, sources in account.said_before():
        for key, value in arguments.items():
            for path, name, leaf, part in iter_leaves(key, value, tool.properties.get(key)):
                where = path.removeprefix("/")
                if isinstance(leaf, str) and _is_generic_word(leaf, query, part):
                    yield Defect(
                        "unnamed_value",
                        f"{where} is {leaf!r}, which the request does not name",
                        step,
                        call.id,
                    )
                elif classify_value(name, leaf, part, sources) == "placeholder":
                    yield Defect(
                        "placeholder",
                        f"{where} is {leaf!r}, which stands for no value",
                        step,
                        call.id,
                    )


def _is_generic_word(value: str, query: str, part: object) -> bool:
    if not re.fullmatch(r"[a-z]{3,}(?: [a-z]{3,})?", value) or (
        isinstance(part, dict) and part.get("enum")
    ):
        return False
    vague = re.compile(_VAGUE + re.escape(value) + r"\b" + _AFTER, re.I)
    everywhere = len(re.findall(rf"\b{re.escape(value)}\b", query, re.I))
    return 0 < everywhere == len(vague.findall(query))


def _is_valid_date(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _parse_single_day(text: str) -> date | None:
    """The one whole day that a text names; None where it names none or several."""
    found: list[Moment] = [m for m in find_moments(text) if m.has_date]
    if len(found) != 1 or found[0].year is None or found[0].month is None or found[0].day is None:
        return None
    m = found[0]
    return date(m.year, m.month, m.day) if _is_valid_date(m.year, m.month, m.day) else None  # type: ignore[arg-type]


REQUEST_RULES: tuple[Callable[[Account], Iterator[Defect]], ...] = (
    find_broken_request,
    find_impossible_dates,
    find_unnamed_values,
)
