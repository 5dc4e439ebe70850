"""The score of a reply: whether it is right, and the harm that it would have done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from callwright.nouns.types import Json, JsonObject
from callwright_lab.benchmarks.acebench.checking import check_calls, standardise_text
from callwright_lab.benchmarks.acebench.reading import (
    AceCall,
    UnreadableCalls,
    read_calls,
    remove_inner_space,
    remove_space,
)
from callwright_lab.benchmarks.acebench.special import check_answer, check_words
from callwright_lab.benchmarks.acebench.spoiling import list_gold_calls
from callwright_lab.datasets.acebench import AceRow

_NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Score:
    """``wrong``: why the reply is not right, empty where it is. ``calls``: those that a client
    would have carried out. ``invented``: ``tool.parameter`` of values that nobody gave.
    ``is_by_words``: the suite's own rule for special rows accepts the text.
    """

    wrong: str
    calls: tuple[AceCall, ...] = ()
    invented: tuple[str, ...] = ()
    is_by_words: bool = False

    def to_dict(self) -> JsonObject:
        """As fields of a row."""
        return {
            "right": not self.wrong,
            "wrong": self.wrong,
            "calls": [dict(call) for call in self.calls],
            "invented": list(self.invented),
            "by_words": self.is_by_words,
        }


def judge_text(row: AceRow, text: str) -> str:
    """Return why the suite would reject a reply in its own notation; empty where it accepts it."""
    if row.is_special:
        return check_words(row, text)
    try:
        calls = read_calls(text)
    except UnreadableCalls as error:
        return f"not in the suite's notation: {error}"
    return check_calls(row.functions, calls, row.gold_calls)


def score_text(row: AceRow, text: str) -> Score:
    """The score of a reply in the suite's notation, by the suite's rules."""
    try:
        calls = tuple(read_calls(text))
    except UnreadableCalls:
        calls = ()
    wrong = judge_text(row, text)
    return Score(wrong, calls, find_invented(row, calls), row.is_special and not wrong)


def score_calls(row: AceRow, calls: Sequence[AceCall], text: str) -> Score:
    """The score of native calls and of the text beside them. A normal row is judged as if the calls
    had been written in the suite's notation, a special one by :func:`.special.check_answer`.
    """
    made = tuple(calls)
    invented = find_invented(row, made)
    if row.is_special:
        wrong = check_answer(row, text, is_calling=bool(made))
        return Score(wrong, made, invented, not check_words(row, text))
    squeezed = [
        {name: _squeeze_arguments(arguments)} for call in made for name, arguments in call.items()
    ]
    return Score(check_calls(row.functions, squeezed, row.gold_calls), made, invented)


def _squeeze_arguments(arguments: Any) -> Any:
    return remove_inner_space(arguments) if isinstance(arguments, dict) else {}


def find_invented(row: AceRow, calls: Sequence[AceCall]) -> tuple[str, ...]:
    """``tool.parameter`` of every argument with a value that nobody gave: neither the conversation,
    the time and the profile nor gold of the same parameter holds it. Texts are looked up as the
    suite compares them, numbers by their digits: one that is written in words is not found.

    A boolean, a null and a value that the schema lists are choices: they count where gold has no
    such argument at all.
    """
    stated = f"{row.question}\n{row.time}\n{row.profile}"
    known = _Stated(_flatten_text(stated), frozenset(_iter_numbers(stated)))
    gold: dict[str, list[Any]] = {}
    for candidate in row.gold_calls:
        for place, value in _iter_arguments(list_gold_calls(candidate)):
            gold.setdefault(place, []).append(value)
    schemas = {
        f"{tool['name']}.{name}": schema
        for tool in row.tools
        for name, schema in tool["parameters"]["properties"].items()
    }
    found: dict[str, None] = {}
    for place, value in _iter_arguments(calls):
        choices = frozenset(map(_flatten_text, _iter_choices(schemas.get(place))))
        if any(not known.has_value(leaf, gold.get(place), choices) for leaf in _iter_leaves(value)):
            found[place] = None
    return tuple(found)


def _flatten_text(text: str) -> str:
    return standardise_text(remove_space(text))


def _iter_numbers(text: str) -> Iterator[float]:
    return (float(found.replace(",", "")) for found in _NUMBER.findall(text))


def _iter_arguments(calls: Sequence[AceCall]) -> Iterator[tuple[str, Any]]:
    """``tool.parameter`` and value of every argument."""
    for call in calls:
        for tool, arguments in call.items():
            if isinstance(arguments, dict):
                yield from ((f"{tool}.{name}", value) for name, value in arguments.items())


@dataclass(frozen=True, slots=True)
class _Stated:
    """The values that a row states: its texts as one, and its numbers."""

    text: str
    numbers: frozenset[float]

    def has_value(self, leaf: Json, gold: Sequence[Json] | None, choices: frozenset[str]) -> bool:
        if leaf is None or isinstance(leaf, bool):
            return gold is not None
        text = _flatten_text(str(leaf))
        if isinstance(leaf, str) and text in choices:
            return gold is not None or text in self.text
        given = [inner for value in gold or () for inner in _iter_leaves(value)]
        if isinstance(leaf, int | float):
            return abs(leaf) in self.numbers or leaf in (g for g in given if _is_number(g))
        return text in self.text or text in (_flatten_text(g) for g in given if isinstance(g, str))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _iter_leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _iter_leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _iter_leaves(inner)
    else:
        yield value


def _iter_choices(schema: Json) -> Iterator[str]:
    """The texts that a schema lists, at any depth."""
    if isinstance(schema, dict):
        listed = schema.get("enum")
        if isinstance(listed, list):
            yield from (value for value in listed if isinstance(value, str))
        for inner in schema.values():
            yield from _iter_choices(inner)
