"""Comparing calls: equal values, and the class of the first mistake among calls that are not the
gold ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from callwright.nouns.types import Json, Tool, ToolCall

ERRORS = (
    "no_call",  # nothing was received as a call
    "unwanted_call",  # the right answer was no call at all
    "not_json",  # the arguments are text that is no JSON object
    "unknown_tool",  # a name that is not among the tools
    "wrong_tool",  # an offered tool, another one than gold
    "missing_call",
    "extra_call",
    "missing_argument",
    "ghost_argument",  # an argument that gold does not have
    "wrong_type",  # the right value written as another type
    "near_value",  # equal but for case, spaces, punctuation
    "wrong_value",
    "order",
    "format",  # everything right but the format that was asked for
)


def is_same_value(a: Json, b: Json, *, numbers: bool = False) -> bool:
    """Return True if two JSON values are equal: ``1`` and ``1.0`` are, ``true`` and ``1`` are not.

    ``numbers``: a number also equals its own text (``5`` and ``"5"``, ``37.0`` and ``"37.0"``), on
    either side.
    """
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(is_same_value(a[k], b[k], numbers=numbers) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(
            is_same_value(x, y, numbers=numbers) for x, y in zip(a, b, strict=True)
        )
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if numbers and _is_number_and_text(a, b):
        return _to_number(a) == _to_number(b) or str(a) == str(b)
    return (type(a) is type(b) or (_is_number(a) and _is_number(b))) and bool(a == b)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_number_and_text(a: Json, b: Json) -> bool:
    return (_is_number(a) and isinstance(b, str)) or (isinstance(a, str) and _is_number(b))


def _to_number(value: Json) -> float | str:
    """A number, or a text that is exactly a number, as a number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return str(value)


def is_same_call(a: ToolCall, b: ToolCall, *, numbers: bool = False) -> bool:
    """Same tool and equal arguments."""
    return a.tool == b.tool and is_same_value(a.arguments, b.arguments, numbers=numbers)


def has_same_calls(a: Sequence[ToolCall], b: Sequence[ToolCall], *, ordered: bool = False) -> bool:
    """The same calls, in any order unless ``ordered``."""
    if len(a) != len(b):
        return False
    if ordered:
        return all(is_same_call(x, y) for x, y in zip(a, b, strict=True))
    left = list(b)
    for call in a:
        place = next((i for i, other in enumerate(left) if is_same_call(call, other)), None)
        if place is None:
            return False
        del left[place]
    return True


def classify_error(
    calls: Sequence[ToolCall], gold: Sequence[ToolCall], tools: Sequence[Tool] = ()
) -> str:
    """The first class of :data:`ERRORS` that tells ``calls`` from ``gold``; "" where they are the
    same.
    """
    if not calls:
        return "no_call" if gold else ""
    if not gold:
        return "unwanted_call"
    if any(isinstance(c.arguments, str) for c in calls):
        return "not_json"
    known = {t.name for t in tools} or {c.tool for c in gold}
    if any(c.tool not in known for c in calls):
        return "unknown_tool"
    return _classify_names(calls, gold) or _classify_arguments(calls, gold)


def _classify_names(calls: Sequence[ToolCall], gold: Sequence[ToolCall]) -> str:
    have, want = Counter(c.tool for c in calls), Counter(c.tool for c in gold)
    if have == want:
        return ""
    if not want - have:
        return "extra_call"
    return "missing_call" if not have - want else "wrong_tool"


def _classify_arguments(calls: Sequence[ToolCall], gold: Sequence[ToolCall]) -> str:
    """The gravest difference of a call from the gold call that is nearest to it."""
    left = list(gold)
    found = []
    for call in calls:
        rivals = [g for g in left if g.tool == call.tool]
        best = max(
            rivals, key=lambda g: _rank_error(_classify_argument_error(call.arguments, g.arguments))
        )
        left.remove(best)
        found.append(_classify_argument_error(call.arguments, best.arguments))
    wrong = [error for error in found if error]
    if wrong:
        return min(wrong, key=ERRORS.index)
    return "" if has_same_calls(calls, gold, ordered=True) else "order"


def _rank_error(error: str) -> int:
    return ERRORS.index(error) if error else len(ERRORS)


def _classify_argument_error(given: Json, gold: Json) -> str:
    if not isinstance(given, dict) or not isinstance(gold, dict):
        return "not_json"
    if gold.keys() - given.keys():
        return "missing_argument"
    if given.keys() - gold.keys():
        return "ghost_argument"
    found = [_classify_value_error(given[k], gold[k]) for k in gold]
    return min((e for e in found if e), key=ERRORS.index, default="")


def _classify_value_error(given: Json, gold: Json) -> str:
    if is_same_value(given, gold):
        return ""
    if is_same_value(given, gold, numbers=True) or str(given).lower() == str(gold).lower():
        return "wrong_type" if type(given) is not type(gold) else "near_value"
    if (
        isinstance(given, str)
        and isinstance(gold, str)
        and _strip_symbols(given) == _strip_symbols(gold)
    ):
        return "near_value"
    return "wrong_value"


def _strip_symbols(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()
