"""Matches calls to gold calls by the assignment with the greatest total similarity."""

from __future__ import annotations

from collections.abc import Sequence

from callwright.nouns.types import Json, to_canonical_json
from callwright.repair.rules.assignment import assign_pairs
from callwright_lab.training.refiner.formats import Invocation


def canonicalize_value(value: Json) -> str:
    """One text per JSON value: equal where JSON Schema calls two values equal (1 is 1.0, true is
    not 1).
    """
    return to_canonical_json(_normalize_numbers(value))


def _normalize_numbers(value: Json) -> Json:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {k: _normalize_numbers(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_normalize_numbers(v) for v in value]
    return value


def score_similarity(output: Invocation, gold: Invocation) -> float:
    """0 for different tools; else 1, plus up to 1 for common parameter names and up to 2 for common
    values.
    """
    if output.name != gold.name:
        return 0.0
    either = set(output.arguments) | set(gold.arguments)
    if not either:
        return 4.0
    common = set(output.arguments) & set(gold.arguments)
    alike = sum(
        canonicalize_value(output.arguments[k]) == canonicalize_value(gold.arguments[k])
        for k in common
    )
    return 1.0 + (len(common) + 2 * alike) / len(either)


def match_calls(output: Sequence[Invocation], gold: Sequence[Invocation]) -> list[tuple[int, int]]:
    """(index of the output call, index of the gold call) of the same tool, each once, greatest
    total likeness.
    """
    return assign_pairs([[score_similarity(o, g) for g in gold] for o in output])
