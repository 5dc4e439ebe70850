"""Every class of error that text can have, in the formats in which models make it: repaired with
the slips listed, or reported, never a crash and never a call that was not meant.
"""

from __future__ import annotations

from functools import partial

import pytest

from callwright.parsing import CallPiece, Parser, TextPiece, write_calls
from callwright_lab.training.refiner.corruption import corrupt
from callwright_lab.training.refiner.corruption_text import TEXT_KINDS
from tests.training.corruption_case import CALLS, TOOLS

WHOLE = (
    "hermes",
    "llama_json",
    "mistral",
    "fenced",
    "granite",
    "jamba",
)  # the call is JSON, name included
FAMILIES = (*WHOLE, "deepseek_v31", "kimi", "mistral_args")
CASES = [
    (kind, family)
    for kind in TEXT_KINDS
    for family in (WHOLE if kind == "wrapper_keys" else FAMILIES)
    if not kind.startswith("delta") and kind != "split"  # those are streams, not texts
]


@pytest.mark.parametrize(("kind", "dialect"), CASES)
def test_an_error_of_the_text_is_repaired_or_reported(kind: str, dialect: str) -> None:
    made = 0
    for seed in range(12):
        spoiled = corrupt(CALLS, TOOLS, kind, seed, write=partial(write_calls, dialect=dialect))
        if spoiled is None or not spoiled.text:
            continue
        made += 1
        pieces = Parser(TOOLS).read(spoiled.text)
        assert (
            "".join(p.text if isinstance(p, TextPiece) else p.raw for p in pieces) == spoiled.text
        )
        found = [p for p in pieces if isinstance(p, CallPiece)]
        meant = [(c.tool, c.arguments) for c in spoiled.expected]
        repaired = [(p.call.tool, p.call.arguments) for p in found] == meant
        reported = (
            not found or any(p.problems or p.truncated for p in found) or len(found) != len(meant)
        )
        assert repaired or reported, (seed, spoiled.text, found)
        if not spoiled.answerable:
            assert not any(isinstance(p.call.arguments, dict) for p in found if p.truncated)
    assert made
