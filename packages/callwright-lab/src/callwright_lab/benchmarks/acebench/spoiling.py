"""Replies that are right by gold, and deterministically spoiled ones: what the agreement of two
checkers is measured on.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from callwright_lab.benchmarks.acebench.reading import AceCall, write_calls
from callwright_lab.benchmarks.acebench.special import INCORRECT, LIMITED, MISSING
from callwright_lab.datasets.acebench import AceRow

Spoil = Callable[[random.Random, list[Any]], None]


def write_gold(row: AceRow, candidate: int = 0) -> str:
    """The reply that the suite's prompt asks for, with gold's values."""
    if row.category == "special_incomplete":
        told = [f"{MISSING} ({', '.join(v)}) for the api ({k})" for k, v in row.gold.items()]
        return str(told)
    if row.category == "special_error_param":
        told = [
            f"{INCORRECT} ({', '.join(v)}) for the parameters ({k}) in the conversation history."
            for k, v in row.gold.items()
        ]
        return str(told)
    if row.is_special:
        return f'["{row.gold}"]'
    return write_calls(list_gold_calls(row.gold_calls[candidate]))


def list_gold_calls(gold: Mapping[str, Any]) -> list[AceCall]:
    """Gold's calls under their tools' names: a tool that is called twice is numbered in gold."""
    return [{_drop_number(key, gold): arguments} for key, arguments in gold.items()]


def _drop_number(key: str, gold: Mapping[str, Any]) -> str:
    name, _, number = key.rpartition("_")
    return name if name and number.isdigit() and len(gold) > 1 else key


def iter_spoiled(
    rows: Sequence[AceRow], count: int, seed: str = "acebench"
) -> Iterator[tuple[AceRow, str, str]]:
    """``count`` times a row, the kind of spoiling, and the spoiled reply. Every kind comes up in
    turn, over rows drawn by the seed.
    """
    drawn = random.Random(seed)
    normal = [row for row in rows if not row.is_special]
    special = [row for row in rows if row.is_special]
    kinds = [*SPOILS, *TEXT_SPOILS, *SPECIAL_SPOILS]
    for number in range(count):
        kind = kinds[number % len(kinds)]
        if kind in SPECIAL_SPOILS:
            row = drawn.choice(special)
            yield row, kind, SPECIAL_SPOILS[kind](row, write_gold(row))
            continue
        row = drawn.choice(normal)
        if kind in TEXT_SPOILS:
            yield row, kind, TEXT_SPOILS[kind](write_gold(row))
            continue
        calls = copy.deepcopy(list_gold_calls(row.gold_calls[0]))
        SPOILS[kind](drawn, calls)
        yield row, kind, write_calls(calls)


def _pick_argument(drawn: random.Random, calls: list[Any]) -> tuple[dict[str, Any], str]:
    """The arguments of one call, and the name of one of them."""
    arguments = next(iter(drawn.choice(calls).values()))
    return arguments, drawn.choice([*arguments] or [""])


def _rename_tool(drawn: random.Random, calls: list[Any]) -> None:
    place = drawn.randrange(len(calls))
    ((name, arguments),) = calls[place].items()
    calls[place] = {drawn.choice([name[:-1] or "x", name + "_1", name.upper()]): arguments}


def _rename_argument(drawn: random.Random, calls: list[Any]) -> None:
    arguments, name = _pick_argument(drawn, calls)
    arguments[drawn.choice([name + "s", name.upper() + "_", "x" + name])] = arguments.pop(name, 1)


def _drop_argument(drawn: random.Random, calls: list[Any]) -> None:
    arguments, name = _pick_argument(drawn, calls)
    arguments.pop(name, None)


def _add_argument(drawn: random.Random, calls: list[Any]) -> None:
    arguments, _ = _pick_argument(drawn, calls)
    arguments[drawn.choice(["extra", "note", "limit"])] = drawn.choice(["a", 1, True])


def _change_value(drawn: random.Random, calls: list[Any]) -> None:
    arguments, name = _pick_argument(drawn, calls)
    arguments[name] = _replace_value(drawn, arguments.get(name))


def _change_inner(drawn: random.Random, calls: list[Any]) -> None:
    """Change what lies deepest in one argument, so that the shape stays."""
    arguments, name = _pick_argument(drawn, calls)
    holder: Any = arguments
    key: Any = name
    while isinstance(holder[key], dict | list) and holder[key]:
        holder = holder[key]
        key = drawn.choice([*holder] if isinstance(holder, dict) else [*range(len(holder))])
    holder[key] = _replace_value(drawn, holder[key])


def _replace_value(drawn: random.Random, value: Any) -> Any:
    """Another value of the same type; of a text also one that only looks different."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return drawn.choice([value + 1, -value, value * 10])
    if isinstance(value, str):
        ways = [value + "x", value[1:], f"the {value}.", value.upper(), value.replace(" ", "_")]
        return drawn.choice(ways)
    if isinstance(value, list):
        return drawn.choice([value[1:], [*value, *value[:1]], value[::-1]])
    if isinstance(value, dict):
        return {**value, "extra": 1} if drawn.random() < 0.5 else dict([*value.items()][1:])
    return "x"


def _change_type(drawn: random.Random, calls: list[Any]) -> None:
    arguments, name = _pick_argument(drawn, calls)
    value = arguments.get(name)
    others = [str(value), [value], {"value": value}, "true", "false", 1, 1.0, True, None, ""]
    arguments[name] = drawn.choice(others)


def _drop_call(drawn: random.Random, calls: list[Any]) -> None:
    calls.pop(drawn.randrange(len(calls)))


def _repeat_call(drawn: random.Random, calls: list[Any]) -> None:
    calls.append(drawn.choice(calls))


def _replace_call(drawn: random.Random, calls: list[Any]) -> None:
    """One call takes the place of another: the number stays, gold's calls do not."""
    calls[drawn.randrange(len(calls))] = drawn.choice(calls)


def _shuffle_calls(drawn: random.Random, calls: list[Any]) -> None:
    drawn.shuffle(calls)


SPOILS: Mapping[str, Spoil] = {
    "tool renamed": _rename_tool,
    "argument renamed": _rename_argument,
    "argument missing": _drop_argument,
    "argument added": _add_argument,
    "value changed": _change_value,
    "inner value changed": _change_inner,
    "type changed": _change_type,
    "call missing": _drop_call,
    "call repeated": _repeat_call,
    "call replaced": _replace_call,
    "calls shuffled": _shuffle_calls,
}
TEXT_SPOILS: Mapping[str, Callable[[str], str]] = {
    "words before": lambda text: f"Sure: {text}",
    "cut off": lambda text: text[:-1],
    "fenced": lambda text: f"```python\n{text}\n```",
    "without brackets": lambda text: text[1:-1],
    "true in lower case": lambda text: text.replace("True", "true").replace("False", "false"),
    "arithmetic": lambda text: text.replace("=1", "=1+0").replace("=2", "=4/2"),
    "spaces and lines": lambda text: text.replace(", ", " ,\n  "),
}
SPECIAL_SPOILS: Mapping[str, Callable[[AceRow, str], str]] = {
    "other words": lambda _, text: (
        text.replace(MISSING, "Missing parameters")
        .replace(INCORRECT, "There is a wrong value")
        .replace(LIMITED, "its limits")
    ),
    "other case": lambda _, text: text.lower(),
    "half of it": lambda _, text: text[: len(text) // 2],
    "a call": lambda row, text: f"[{row.functions[0]['name']}(value='{text[2:-2]}')]",
    "words alone": lambda *_: f"{MISSING}. {INCORRECT}. {LIMITED}.",
}
