"""The sequence rules on gold sequences of public data: right ones never change, shuffled ones are
put in order.
"""

from __future__ import annotations

import random

import pytest

from callwright.nouns.types import ToolCall, to_canonical_json
from callwright.repair.ordering.sequence import order
from tests.benchmarks.refine.sequence_data import Case, gold_cases, missing_data


@pytest.mark.parametrize("source", ["nestful", "nestools", "seal_tools"])
@pytest.mark.skipif(bool(missing_data()), reason=missing_data() or "data present")
def test_right_sequences_of_public_data_never_change(source: str) -> None:
    cases = gold_cases(source)
    harmed = [
        c.query
        for c in cases
        if (done := order(c.calls, c.tools, query=c.query)).edits or done.calls != c.calls
    ]
    assert len(cases) >= 200
    assert len(harmed) <= 0.002 * len(cases), harmed[:3]


@pytest.mark.parametrize("source", ["nestful", "nestools"])
@pytest.mark.skipif(bool(missing_data()), reason=missing_data() or "data present")
def test_shuffled_sequences_of_public_data_are_put_in_order(source: str) -> None:
    rng = random.Random(3)
    for case in rng.sample(gold_cases(source), 60):
        mixed = rng.sample(case.calls, len(case.calls))
        done = order(mixed, case.tools, query=case.query)
        assert sorted(map(to_canonical_json, done.calls)) == sorted(
            map(to_canonical_json, case.calls)
        )
        assert _sound(done.calls, case)


def _sound(calls: tuple[ToolCall, ...], case: Case) -> bool:
    seen: set[str] = set()
    for call in calls:
        taken = {
            label
            for c in case.calls
            for label in c.id.split()
            if label in to_canonical_json(call.arguments)
        }
        if not {t for t in taken if f"{t}0" not in taken} <= seen | {call.id} and not taken <= seen:
            return False
        seen |= set(call.id.split())
    return True
