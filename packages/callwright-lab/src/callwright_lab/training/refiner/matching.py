"""Which call stands for which gold call: the assignment with the greatest total likeness."""

from __future__ import annotations

from collections.abc import Sequence

from callwright.nouns.types import Json, canonical
from callwright.repair.rules.assignment import assign
from callwright_lab.training.refiner.formats import Invocation


def same(value: Json) -> str:
    """One text per JSON value: equal where JSON Schema calls two values equal (1 is 1.0, true is
    not 1).
    """
    return canonical(_plain(value))


def _plain(value: Json) -> Json:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value


def likeness(output: Invocation, gold: Invocation) -> float:
    """0 for different tools; else 1, plus up to 1 for common parameter names and up to 2 for common
    values.
    """
    if output.name != gold.name:
        return 0.0
    either = set(output.arguments) | set(gold.arguments)
    if not either:
        return 4.0
    common = set(output.arguments) & set(gold.arguments)
    alike = sum(same(output.arguments[k]) == same(gold.arguments[k]) for k in common)
    return 1.0 + (len(common) + 2 * alike) / len(either)


def pairs(output: Sequence[Invocation], gold: Sequence[Invocation]) -> list[tuple[int, int]]:
    """(index of the output call, index of the gold call) of the same tool, each once, greatest
    total likeness.
    """
    return assign([[likeness(o, g) for g in gold] for o in output])
