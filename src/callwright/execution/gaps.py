"""What a run still owes its request after the last layer: calls that failed over a value, names nobody looked up.

A small model forgets the second of two names, and hands a tool a name where it wants a code. Both show without a
model: the tool's error and the request say it. What the request itself gives as an identifier is never a gap: if
trip T999 does not exist, another trip is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from callwright.gate.diagnose import points_at_arguments
from callwright.gate.sources import fold
from callwright.gate.spellings import calendar_day
from callwright.types import Json, JsonObject, Tool, ToolResult, canonical

_TOKEN = re.compile(r"[^\W_][\w'’/.\-]*")
_POSSESSIVE = re.compile(r"['’](?:s|d|m|ll|re|ve)?$")
_IDENTIFIER = re.compile(r"\d|[@./\\]")
_CALENDAR = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday christmas easter".split()
)
_ABSENT = re.compile(r"\b(?:no|not found|unknown|does ?n[o']t exist|nothing|cannot find|could ?n[o']t find)\b")
_MALFORMED = re.compile(r"\b(?:invalid|must|should|expected|format|form|use|try|instead|required|allowed)\b")
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DATE = re.compile(rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}} {_MONTH} \d{{4}}\b|\b{_MONTH} \d{{1,2}}, \d{{4}}\b")
_NOTE = 200


@dataclass(frozen=True, slots=True)
class Gap:
    """``note``: what is open, as the model is told; ``tool``: whose calls show it; ``named``: tools in an error."""

    note: str
    tool: str
    named: tuple[str, ...] = ()


def gaps(
    query: str, results: Sequence[ToolResult], tools: Sequence[Tool], edges: Iterable[tuple[str, str]] = ()
) -> tuple[Gap, ...]:
    """The gaps that the results of a run leave: calls that failed over a value, results of one tool that only some
    calls of the next tool took up (``edges``: pairs of tools in the plan), names that no call took.

    No results, no gaps: nothing was understood.
    """
    failed = _failed(query, results, [t.name for t in tools])
    sure = (*(g for g in failed if g.named), *_passed_over(query, results, edges), *_forgotten(query, results))
    return sure or tuple(failed)  # a failure that names no way out is often that of a call nobody needed


def names_another(message: str, tool: str, tools: Iterable[str]) -> tuple[str, ...]:
    """The other tools that an error text names: "find it with find_airports"."""
    words = set(re.findall(r"[\w.\-]*\w", message))
    return tuple(name for name in tools if name != tool and name in words)


def unknown_keys(message: str, arguments: JsonObject) -> tuple[str, ...]:
    """The arguments of which an error says that there is no such thing; none, where it speaks of their form."""
    said = fold(message)
    if not _ABSENT.search(said) or _MALFORMED.search(said):
        return ()
    return tuple(k for k, v in arguments.items() if isinstance(v, str) and len(v) > 1 and fold(v) in said)


def _failed(query: str, results: Sequence[ToolResult], tools: Sequence[str]) -> list[Gap]:
    found: list[Gap] = []
    for result in results:
        failure = result.failure
        if failure is None or not points_at_arguments(failure) or failure.kind == "empty":
            continue
        if any(_IDENTIFIER.search(v) and fold(v) in fold(query) for v in _texts(result.arguments)):
            continue
        note = f"{result.tool}({canonical(result.arguments)[1:-1]}) failed: {failure.message[:_NOTE]}"
        found.append(Gap(note, result.tool, names_another(failure.message, result.tool, tools)))
    return found


def _passed_over(query: str, results: Sequence[ToolResult], edges: Iterable[tuple[str, str]]) -> list[Gap]:
    """Where ``find_place`` gave Oslo and Lisbon and ``sun_times`` was called for Oslo only: Lisbon, once a tool."""
    open_for: dict[str, list[str]] = {}
    taken_for: dict[str, set[str]] = {}
    for producer, consumer in edges:
        found = [r for r in results if r.ok and r.tool == producer]
        takers = [r for r in results if r.ok and r.tool == consumer]
        own = _distinct(found)
        used = [any(own[i] & _scalars(taker.arguments) for taker in takers) for i in range(len(found))]
        if not any(used):
            continue
        for result, done in zip(found, used, strict=True):
            about = [text for text in _texts(result.arguments) if fold(text) in fold(query)]
            into = taken_for.setdefault(consumer, set()) if done else open_for.setdefault(consumer, [])
            (into.update if isinstance(into, set) else into.extend)(about)
    left = {tool: [t for t in dict.fromkeys(texts) if t not in taken_for[tool]] for tool, texts in open_for.items()}
    return [Gap(f"{tool} was not called for {', '.join(texts)} yet", tool) for tool, texts in left.items() if texts]


def _distinct(results: Sequence[ToolResult]) -> list[set[str]]:
    """For each result the values that no other of them holds."""
    held = [_scalars(r.content) for r in results]
    return [one - set().union(*(other for other in held if other is not one)) for one in held]


def _scalars(value: Json) -> set[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return set().union(*map(_scalars, value))
    return set() if value is None or isinstance(value, bool) else {canonical(value)}


def _forgotten(query: str, results: Sequence[ToolResult]) -> list[Gap]:
    """Names and days of the request that no successful call took or returned, where one of their form was taken."""
    good = [r for r in results if r.ok]
    seen = fold(" ".join(text for r in good for value in (r.arguments, r.content) for text in _texts(value)))
    said = {**{name: name for name in names(query)}, **dict(_days(query))}
    left = [name for name, written in said.items() if fold(written) not in seen]
    found: list[Gap] = []
    for name in left:
        siblings = {fold(w) for other, w in said.items() if other not in left and _form(other) == _form(name)}
        takers = [r.tool for r in good if siblings & {fold(text) for text in _texts(r.arguments)}]
        if takers:
            found.append(Gap(f"the request also speaks of {name}; no result does", takers[0]))
    return found


def _days(query: str) -> list[tuple[str, str]]:
    """The full dates of a request: as written, and as ISO 8601."""
    found = ((match[0], calendar_day(match[0])) for match in _DATE.finditer(query))
    return [(text, day.isoformat()) for text, day in found if day is not None]


def names(query: str) -> tuple[str, ...]:
    """The proper names, codes and zones of a request, in order: ``Madrid Barajas``, ``OSL``, ``Africa/Nairobi``.

    A single capitalised word at the start of a sentence is none; nor are months, weekdays and single letters.
    """
    found: list[str] = []
    run: list[str] = []
    end, at_start = 0, True
    for match in _TOKEN.finditer(query):
        before, joined = query[: match.start()].rstrip(" \t\"'(«“"), query[end : match.start()] == " "
        word = _POSSESSIVE.sub("", match[0].rstrip(".'’-/"))
        upper = word[:1].isupper() and word.lower() not in _CALENDAR and len(word) > 1
        if run and not (upper and joined and not _code(word) and not _code(run[-1])):
            _close(run, found, at_start)
        if upper:
            at_start = at_start if run else not before or before[-1] in ".!?:\n"
            run.append(word)
        end = match.end()
        if run and match[0] != word:  # a possessive or a full stop ends the name
            _close(run, found, at_start)
    if run:
        _close(run, found, at_start)
    return tuple(dict.fromkeys(found))


def _close(run: list[str], found: list[str], at_start: bool) -> None:
    if len(run) > 1 or not at_start or _code(run[0]) or "/" in run[0]:
        found.append(" ".join(run))
    run.clear()


def _code(word: str) -> bool:
    return len(word) > 1 and word.isupper()


def _form(name: str) -> tuple[int, bool, bool]:
    """Names of one form are likely of one kind; a date is a kind of its own."""
    if _DATE.fullmatch(name):
        return 0, False, False
    return len(name.split()), _code(name), "/" in name


def _texts(value: Json) -> list[str]:
    """Every text inside a JSON value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _texts(inner)]
    return [text for inner in value for text in _texts(inner)] if isinstance(value, list) else []
