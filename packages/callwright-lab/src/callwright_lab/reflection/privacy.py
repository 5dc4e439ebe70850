"""Rows from runs, made fit to be trained on: which tools, no long free text, and nobody's name or
address.

Secrets were taken out before anything was written down; what still looks like one is taken out here
(:func:`callwright.language.credentials.mask_secrets`). Addresses, telephone numbers and names
(:mod:`callwright_lab.reflection.people`) are given pseudonyms, the same one for the same person in
all rows, so that a row stays as true to itself as it was. Nothing else of a person is looked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from callwright.language.credentials import mask_secrets
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall, ToolResult, iter_scalars
from callwright_lab.reflection.people import (
    EMAILS,
    People,
    collect_people,
    extract_digits,
    is_number,
    numbers_in,
)
from callwright_lab.reflection.row import Reflected

_SECRET = "[secret]"
_PSEUDONYM = re.compile(r"person\d+@example\.com")
_FIELD = re.compile(r"[a-z][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Filters:
    """``keep`` and ``drop`` are patterns of tools' names, like ``find_*``; a row with a call of a
    tool that is not kept goes. Texts of more than ``longest`` characters are left out of it.
    ``pseudonyms``: people are renamed.
    """

    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    longest: int = 2_000
    pseudonyms: bool = True

    def wants(self, tool: str) -> bool:
        """Return True if a row may contain calls of this tool."""
        kept = not self.keep or any(fnmatchcase(tool, pattern) for pattern in self.keep)
        return kept and not any(fnmatchcase(tool, pattern) for pattern in self.drop)


@dataclass
class Privacy:
    """Applies filters to rows and counts what each did. One for all rows of a harvest: pseudonyms
    are kept in it.
    """

    filters: Filters = field(default_factory=Filters)
    done: Counter[str] = field(default_factory=Counter)
    _known: dict[tuple[str, str], str] = field(default_factory=dict)
    _people: People = field(default_factory=People)

    def clean(self, rows: Iterable[Reflected], runs: Iterable[Trajectory] = ()) -> list[Reflected]:
        """The rows that may be kept, cleaned. Names and numbers are looked for in all of them, and
        in the runs that they are from, before any is changed.
        """
        chosen = [row for row in rows if self._chosen(row)]
        if self.filters.pseudonyms:
            whole = [*runs, *(row.trajectory for row in chosen)]
            self._people = collect_people(whole)
            for word in self._people.words:
                self._alias("name", word)
        made = (
            _apply_change(row, _Change(self._text, self._documented, self._key, self._number))
            for row in chosen
        )
        return [row for row in made if not self._secret(row)]

    def report(self) -> str:
        """Return a one-line summary of what each filter did."""
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
        return "filters: " + ", ".join(
            said if self.filters.pseudonyms else [*said[:3], "nobody renamed"]
        )

    def _chosen(self, row: Reflected) -> bool:
        called = {call.tool for call in row.trajectory.calls}
        fits = all(self.filters.wants(tool) for tool in called)
        self.done["tools"] += not fits
        return fits

    def _secret(self, row: Reflected) -> bool:
        """Return True if a call holds the mark of a secret, and count the row. Such a call cannot
        be learned from.
        """
        calls = (*row.wrong.calls, *row.right)
        found = any(
            _SECRET in str(value)
            for call in calls
            for value in (call.arguments, *iter_scalars(call.arguments))
        )
        self.done["secret"] += found
        return found

    def _text(self, text: str) -> str:
        text = str(mask_secrets(text))
        if len(text) > self.filters.longest:
            self.done["long"] += 1
            return f"[{len(text)} characters left out]"
        return self._renamed(text)

    def _documented(self, text: str) -> str:
        """Return a tool's own documentation with names replaced; its length is not limited."""
        return self._renamed(str(mask_secrets(text)))

    def _key(self, key: str) -> str:
        """A member's name: changed where it is no field's, but somebody's."""
        return (
            key if _FIELD.fullmatch(key) and not self._people.is_one(key) else self._documented(key)
        )

    def _renamed(self, text: str) -> str:
        if not self.filters.pseudonyms:
            return text
        text = unicodedata.normalize("NFC", text)
        for pattern in EMAILS:
            text = pattern.sub(self._address, text)
        for number in sorted(numbers_in(text, self._people), key=len, reverse=True):
            text = text.replace(number, self._alias("number", extract_digits(number)))
        return self._people.renamed(text, lambda word: self._alias("name", word))

    def _address(self, found: re.Match[str]) -> str:
        """The pseudonym of an address; what holds one already is left."""
        if _PSEUDONYM.search(found[0]):
            return found[0]
        return self._alias("address", found[0].lower().replace("%40", "@"))

    def _number(self, value: int) -> int:
        """A telephone number that is written as one."""
        if not self.filters.pseudonyms or extract_digits(str(value)) not in self._people.numbers:
            return value
        return int(extract_digits(self._alias("number", extract_digits(str(value)))))

    def _alias(self, kind: str, value: str) -> str:
        if (kind, value) not in self._known:
            number = 1 + sum(known == kind for known, _ in self._known)
            self._known[kind, value] = {
                "address": f"person{number}@example.com",
                "number": f"+1-555-01{number:02d}",  # 555-0100 to -0199 are nobody's
                "name": f"Name{number}",
            }[kind]
        return self._known[kind, value]


def _apply_change(row: Reflected, change: _Change) -> Reflected:
    """The row with every text in it changed; names of tools and of their arguments stay."""
    before, text = row.before, change.text
    tools = tuple(change.tool(tool) for tool in before.tools)
    known = {tool.name: frozenset(tool.properties) for tool in tools}
    steps = tuple(change.step(step, known) for step in before.steps)
    made = replace(before, id=text(before.id), query=text(before.query), tools=tools, steps=steps)
    wrong, right = (
        change.step(row.wrong, known),
        tuple(change.call(call, known) for call in row.right),
    )
    program = change.code(row.program)
    return replace(
        row, before=made, wrong=wrong, reflection=text(row.reflection), right=right, program=program
    )


@dataclass(frozen=True, slots=True)
class _Change:
    """Functions that change the texts of a run, the texts of its tools, the names of members, and
    numbers.
    """

    text: Callable[[str], str]
    documented: Callable[[str], str]
    key: Callable[[str], str]
    number: Callable[[int], int]

    def tool(self, tool: Tool) -> Tool:
        given = self._schema(tool.input_schema)
        return replace(
            tool,
            description=self.documented(tool.description),
            input_schema=given,
            output_schema=None,
        )

    def _schema(self, value: Json) -> Json:
        """A schema with every text in it changed, its keys kept."""
        if isinstance(value, str):
            return self.documented(value)
        if isinstance(value, dict):
            return {key: self._schema(inner) for key, inner in value.items()}
        return [self._schema(inner) for inner in value] if isinstance(value, list) else value

    def code(self, code: str) -> str:
        """A program of which nothing had to be changed; another is written again from its calls."""
        return code if self.text(code) == code else ""

    def step(self, step: Step, known: dict[str, frozenset[str]]) -> Step:
        calls = tuple(self.call(call, known) for call in step.calls)
        results: Sequence[ToolResult] = [self.result(result, known) for result in step.results]
        return Step(
            self.text(step.thought),
            calls,
            tuple(results),
            self.code(step.code),
            self.text(step.shown),
        )

    def call(self, call: ToolCall, known: dict[str, frozenset[str]]) -> ToolCall:
        return replace(
            call, arguments=self.arguments(call.arguments, known.get(call.tool, frozenset()))
        )

    def result(self, result: ToolResult, known: dict[str, frozenset[str]]) -> ToolResult:
        failure = result.failure
        if failure is not None:
            failure = replace(failure, message=self.text(failure.message), detail=None)
        given = self.arguments(result.arguments, known.get(result.tool, frozenset()))
        arguments: JsonObject = given if isinstance(given, dict) else {}
        return replace(
            result, arguments=arguments, content=self.value(result.content), failure=failure
        )

    def arguments(self, given: JsonObject | str, names: frozenset[str]) -> JsonObject | str:
        """A call's arguments; keys that are no parameter's are somebody's text."""
        if isinstance(given, str):
            return self.text(given)
        hidden = mask_secrets(given)
        return {
            key if key in names else self.key(key): self.value(inner)
            for key, inner in hidden.items()
        }

    def value(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.key(key): self.value(inner) for key, inner in mask_secrets(value).items()}
        if isinstance(value, list):
            return [self.value(inner) for inner in value]
        return self.number(value) if is_number(value) else value
