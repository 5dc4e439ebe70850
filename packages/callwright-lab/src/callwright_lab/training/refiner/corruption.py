"""Spoils right calls in every way that models are known to: for benchmarks, for the ranker and the
refiner's data.

The kinds are the corruption classes people report (a marker in a string, a double-encoded argument,
a lost prefix …). Every corruption says whether what was meant can still be known, and what a
perfect repairer would hand on.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool, ToolCall
from callwright_lab.training.refiner.corrupted import (
    Corrupted,
    Corruptor,
    Given,
    Write,
    write_hermes,
)
from callwright_lab.training.refiner.corruption_calls import CALL_KINDS
from callwright_lab.training.refiner.corruption_text import TEXT_KINDS

__all__ = ["ERRORS", "KINDS", "Corrupted", "corrupt", "iter_corruptions"]

KINDS: Mapping[str, Corruptor] = {**CALL_KINDS, **TEXT_KINDS}
"""Every kind of error by name, those inside calls first."""

ERRORS: Mapping[str, tuple[str, ...]] = {
    "format": (
        "fence", "prose", "missing_closer", "extra_closer", "truncated", "single_quotes", "python_literals",
        "trailing_comma", "wrapper_keys", "arguments_as_text", "escaped_twice",
    ),
    "name": (
        "name_prefix_lost", "name_prefix_added", "name_suffix", "name_case", "name_typo", "wrong_tool", "key_case",
        "key_prefix_lost", "required_missing", "ghost_argument",
    ),
    "content": (
        "wrong_value", "object_as_text", "array_as_text", "scalar_for_array", "array_of_one", "number_as_text",
        "boolean_as_text", "locale_number", "enum_case", "enum_spacing", "schema_echo", "placeholder",
    ),
}  # fmt: skip
"""The paper's three error kinds (Tool-use Refiner, Appendix C.1) and the rules that stand for each.
"""


def corrupt(
    calls: Sequence[ToolCall],
    tools: Sequence[Tool],
    kind: str,
    rng: random.Random | int = 0,
    *,
    query: str = "",
    write: Write = write_hermes,
) -> Corrupted | None:
    """The calls with one error of ``kind``; None where these calls cannot have it (no enum, one
    call only …).

    The same calls, kind and seed give the same result. ``query`` decides whether a lost value can
    be known (it is stated there). ``write`` makes the text that text errors spoil. ConfigError for
    an unknown kind.
    """
    if kind not in KINDS:
        raise ConfigError(f"there is no corruption {kind!r}", hint="kinds: " + ", ".join(KINDS))
    if not isinstance(rng, random.Random):
        rng = random.Random(f"{kind} {rng}")
    return KINDS[kind](Given(tuple(calls), tuple(tools), query, write), rng)


def iter_corruptions(
    calls: Sequence[ToolCall],
    tools: Sequence[Tool],
    seed: int = 0,
    *,
    query: str = "",
    write: Write = write_hermes,
    kinds: Collection[str] = tuple(KINDS),
) -> Iterator[Corrupted]:
    """One corruption of every kind that the calls can have."""
    for kind in kinds:
        made = corrupt(calls, tools, kind, seed, query=query, write=write)
        if made is not None:
            yield made
