"""Rows from runs, made fit to be trained on: which tools, no long free text, and nobody's name or address.

Secrets were taken out before anything was written down; what still looks like one is taken out here
(:func:`callwright.redaction.masked`). Addresses, telephone numbers and names are given pseudonyms, the same one for
the same person in all rows, so that a row stays as true to itself as it was. Nothing else of a person is looked for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from callwright.explore.row import Reflected
from callwright.gate.grounding import is_identifier
from callwright.gate.keys import words
from callwright.redaction import masked
from callwright.trajectory import Step, Trajectory
from callwright.types import Json, ToolCall, ToolResult, scalars

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"(?<![\w.:/-])(?:\+\d[\d ().-]{6,18}\d|\(?0\d{1,4}\)?[ -]\d[\d -]{4,12}\d)(?![\w-])")
_A_NAME = re.compile(r"[^\W\d_]{2,}(?:[ '’.-]+[^\W\d_]+){0,3}\Z")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d\d?[.]\d\d?[.]\d{2,4}")
_PEOPLE = frozenset(
    "guest person people attendee attendees customer client author recipient recipients sender contact employee "
    "passenger patient owner assignee member participant participants user username firstname surname lastname "
    "fullname manager colleague friend driver teacher student".split()
)
_SECRET = "[secret]"


@dataclass(frozen=True, slots=True)
class Filters:
    """``keep`` and ``drop`` are patterns of tools' names, like ``find_*``; a row with a call of a tool that is not
    kept goes. Texts of more than ``longest`` characters are left out of it. ``pseudonyms``: people are renamed."""

    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    longest: int = 2_000
    pseudonyms: bool = True

    def wants(self, tool: str) -> bool:
        """Whether calls of this tool may stand in a row."""
        kept = not self.keep or any(fnmatchcase(tool, pattern) for pattern in self.keep)
        return kept and not any(fnmatchcase(tool, pattern) for pattern in self.drop)


@dataclass
class Privacy:
    """Applies filters to rows and counts what each did. One for all rows of a harvest: pseudonyms are kept in it."""

    filters: Filters = field(default_factory=Filters)
    done: Counter[str] = field(default_factory=Counter)
    _known: dict[tuple[str, str], str] = field(default_factory=dict)

    def clean(self, rows: Iterable[Reflected], runs: Iterable[Trajectory] = ()) -> list[Reflected]:
        """The rows that may be kept, cleaned. Names are looked for in all of them, and in the runs that they are
        from, before any is changed."""
        chosen = [row for row in rows if self._chosen(row)]
        if self.filters.pseudonyms:
            whole = [*runs, *(row.trajectory for row in chosen)]
            for name in sorted({n for trajectory in whole for n in _names(trajectory)}):
                for word in name.split():
                    self._alias("name", word)
        made = (_changed(row, self._text) for row in chosen)
        return [row for row in made if not self._secret(row)]

    def report(self) -> str:
        """What each filter did, in one line."""
        people = Counter(kind for kind, _ in self._known)
        told = {
            "rows dropped for their tools": self.done["tools"],
            f"texts over {self.filters.longest} characters left out": self.done["long"],
            "rows dropped for a secret": self.done["secret"],
            "addresses renamed": people["address"],
            "telephone numbers renamed": people["number"],
            "words of names renamed": people["name"],
        }
        said = [f"{what} {count}" for what, count in told.items()]
        return "filters: " + ", ".join(said if self.filters.pseudonyms else [*said[:3], "nobody renamed"])

    def _chosen(self, row: Reflected) -> bool:
        called = {call.tool for call in row.trajectory.calls}
        fits = all(self.filters.wants(tool) for tool in called)
        self.done["tools"] += not fits
        return fits

    def _secret(self, row: Reflected) -> bool:
        """Whether a call holds the mark of a secret: with it the call cannot be learned from."""
        calls = (*row.wrong.calls, *row.right)
        found = any(_SECRET in str(value) for call in calls for value in scalars(call.arguments))
        self.done["secret"] += found
        return found

    def _text(self, text: str) -> str:
        text = str(masked(text))
        if len(text) > self.filters.longest:
            self.done["long"] += 1
            return f"[{len(text)} characters left out]"
        return self._renamed(text) if self.filters.pseudonyms else text

    def _renamed(self, text: str) -> str:
        text = _EMAIL.sub(lambda found: self._alias("address", found[0].lower()), text)
        text = _PHONE.sub(self._number, text)
        for (kind, word), alias in self._known.items():
            if kind == "name" and word in text:
                text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", alias, text)
        return text

    def _number(self, found: re.Match[str]) -> str:
        if _DATE.search(found[0]):
            return found[0]
        return self._alias("number", re.sub(r"\D", "", found[0]))

    def _alias(self, kind: str, value: str) -> str:
        if (kind, value) not in self._known:
            number = 1 + sum(known == kind for known, _ in self._known)
            self._known[kind, value] = {
                "address": f"person{number}@example.com",
                "number": f"+1-555-01{number:02d}",  # 555-0100 to -0199 are nobody's
                "name": f"Name{number}",
            }[kind]
        return self._known[kind, value]


def _names(trajectory: Trajectory) -> Iterator[str]:
    """Values of arguments and results that stand under a person's word, or under a name that is said to be one's."""
    for call in trajectory.calls:
        tool = trajectory.tool(call.tool)
        for key, value in call.arguments.items() if isinstance(call.arguments, dict) else ():
            part = tool.properties.get(key) if tool is not None else None
            about = part.get("description") if isinstance(part, dict) else ""
            if _personal(key, str(about or "")):
                yield from (v for v in scalars(value) if _a_name(key, v))
            yield from _inside(value)
    for result in trajectory.results:
        yield from _inside(result.content)


def _inside(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if _personal(key) and _a_name(key, inner):
                yield inner
            yield from _inside(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _inside(inner)


def _a_name(key: str, value: Json) -> bool:
    """Whether a value under a person's word looks like a name, and not like that person's number."""
    named = isinstance(value, str) and value[:1].isupper() and _A_NAME.match(value) is not None
    return named and not is_identifier(key, value)


def _personal(key: str, about: str = "") -> bool:
    named = set(words(key))
    return bool(named & _PEOPLE) or ("name" in named and bool(set(words(about)) & _PEOPLE))


def _changed(row: Reflected, text: Callable[[str], str]) -> Reflected:
    """The row with every text in it changed; names of tools and arguments stay."""
    before = row.before
    made: Trajectory = replace(before, query=text(before.query), steps=tuple(_step(s, text) for s in before.steps))
    right = tuple(_call(call, text) for call in row.right)
    return replace(row, before=made, wrong=_step(row.wrong, text), reflection=text(row.reflection), right=right)


def _step(step: Step, text: Callable[[str], str]) -> Step:
    calls = tuple(_call(call, text) for call in step.calls)
    results: Sequence[ToolResult] = [_result(result, text) for result in step.results]
    code = "" if text(step.code) != step.code else step.code  # written anew from its calls
    return Step(text(step.thought), calls, tuple(results), code, text(step.shown))


def _call(call: ToolCall, text: Callable[[str], str]) -> ToolCall:
    return replace(call, arguments=_value(call.arguments, text))


def _result(result: ToolResult, text: Callable[[str], str]) -> ToolResult:
    failure = result.failure
    if failure is not None:
        failure = replace(failure, message=text(failure.message), detail=None)
    arguments = _value(result.arguments, text)
    return replace(result, arguments=arguments, content=_value(result.content, text), failure=failure)


def _value(value: Json, text: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {key: _value(inner, text) for key, inner in masked(value).items()}
    return [_value(inner, text) for inner in value] if isinstance(value, list) else value
