"""What came of a reply: whether it is right, and what harm it would have done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callwright.nouns.types import Json, JsonObject
from callwright_lab.benchmarks.acebench.checking import check_calls, standardise
from callwright_lab.benchmarks.acebench.reading import (
    AceCall,
    UnreadableCalls,
    read_calls,
    remove_inner_space,
)
from callwright_lab.benchmarks.acebench.special import check_answer, check_words
from callwright_lab.benchmarks.acebench.spoiling import list_gold_calls
from callwright_lab.datasets.acebench import AceRow

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


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
    """Why the suite would reject a reply in its own notation; empty where it would accept it."""
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
    squeezed = [{name: _squeeze(arguments)} for call in made for name, arguments in call.items()]
    return Score(check_calls(row.functions, squeezed, row.gold_calls), made, invented)


def _squeeze(arguments: Any) -> Any:
    return remove_inner_space(arguments) if isinstance(arguments, dict) else {}


def find_invented(row: AceRow, calls: Sequence[AceCall]) -> tuple[str, ...]:
    """``tool.parameter`` of every argument with a value that nobody gave: neither the conversation,
    the time and the profile nor gold of the same parameter holds it. Texts are looked up as the
    suite compares them, numbers as whole numbers.

    A boolean, a null and a value that the schema lists are choices: they count where gold has no
    such argument at all.
    """
    stated = f"{row.question}\n{row.time}\n{row.profile}"
    known = _Stated(standardise(stated), frozenset(map(float, _NUMBER.findall(stated))))
    gold: dict[str, list[Any]] = {}
    for candidate in row.gold_calls:
        for call in list_gold_calls(candidate):
            for tool, arguments in call.items():
                for name, value in arguments.items():
                    gold.setdefault(f"{tool}.{name}", []).append(value)
    found: dict[str, None] = {}
    for call in calls:
        for tool, arguments in call.items():
            for name, value in arguments.items() if isinstance(arguments, dict) else ():
                place = f"{tool}.{name}"
                choices = _list_choices(row.functions, tool, str(name))
                if any(
                    not known.holds(leaf, gold.get(place), choices) for leaf in _iter_leaves(value)
                ):
                    found[place] = None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Stated:
    """What the row states: its texts as one, and its numbers."""

    text: str
    numbers: frozenset[float]

    def holds(self, leaf: Json, gold: Sequence[Json] | None, choices: frozenset[str]) -> bool:
        if leaf is None or isinstance(leaf, bool) or (isinstance(leaf, str) and leaf in choices):
            return gold is not None or (isinstance(leaf, str) and standardise(leaf) in self.text)
        given = [inner for value in gold or () for inner in _iter_leaves(value)]
        if isinstance(leaf, int | float):
            numbers = {g for g in given if isinstance(g, int | float)}
            return float(leaf) in self.numbers or leaf in numbers
        text = standardise(str(leaf))
        return text in self.text or any(
            text == standardise(g) for g in given if isinstance(g, str)
        )


def _iter_leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _iter_leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _iter_leaves(inner)
    else:
        yield value


def _list_choices(
    functions: Sequence[Mapping[str, Any]], tool: str, parameter: str
) -> frozenset[str]:
    """The values that a parameter's schema lists, at any depth."""
    for function in functions:
        if function["name"] == tool:
            properties = (function.get("parameters") or {}).get("properties") or {}
            return frozenset(_iter_enums(properties.get(parameter)))
    return frozenset()


def _iter_enums(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from (value for value in schema.get("enum") or () if isinstance(value, str))
        for key in ("items", *(schema.get("properties") or {})):
            yield from _iter_enums(schema.get(key) or (schema.get("properties") or {}).get(key))
