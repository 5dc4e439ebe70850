"""Majority, ties, and agreement beyond chance, against published figures."""

from __future__ import annotations

from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.protocols import ChatRequest
from callwright.testing import ScriptedModel
from callwright_lab.verify.budget import Meter
from callwright_lab.verify.committee import (
    compute_cohen_kappa,
    compute_fleiss_kappa,
    compute_krippendorff_alpha,
    decide_majority,
    measure_agreement,
    name_judges,
    poll_judges,
)

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section C: four observers, twelve
# units
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
UNITS = [[v for v in unit if v is not None] for unit in zip(*OBSERVERS, strict=True)]
# Fleiss 1971, table 1 as Wikipedia's worked example has it: ten subjects, fourteen raters, five
# categories
SUBJECTS = ["0 0 0 0 14", "0 2 6 4 2", "0 0 3 5 6", "0 3 9 2 0", "2 2 8 1 1", "7 7 0 0 0", "3 2 6 3 0", "2 5 3 2 2",
            "6 5 2 1 0", "0 2 2 3 7"]  # fmt: skip


def test_alpha_is_the_one_that_krippendorff_published() -> None:
    assert compute_krippendorff_alpha(UNITS) == pytest.approx(0.743, abs=0.0005)
    assert compute_krippendorff_alpha(UNITS, "interval") == pytest.approx(0.849, abs=0.0005)


def test_fleiss_kappa_is_the_one_of_the_worked_example() -> None:
    rows = [
        [label for label, n in zip("abcde", map(int, s.split()), strict=True) for _ in range(n)]
        for s in SUBJECTS
    ]
    assert compute_fleiss_kappa(rows) == pytest.approx(0.210, abs=0.0005)


def test_cohens_kappa_is_the_one_of_the_worked_example() -> None:
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    assert compute_cohen_kappa(pairs) == pytest.approx(0.4)


def test_the_majority_decides_and_a_tie_is_a_tie() -> None:
    assert decide_majority({"a": "yes", "b": "yes", "c": "no"}).label == "yes"
    alone = decide_majority({"a": "yes", "b": ""})
    assert (alone.label, alone.votes, alone.cast) == ("yes", 1, 1), "who cannot be read has no vote"
    tie = decide_majority({"a": "yes", "b": "no"})
    assert (tie.label, tie.tie) == ("", True)
    assert decide_majority({"a": "x", "b": "x", "c": "y", "d": "y", "e": "z"}).tie
    nobody = decide_majority({"a": ""})
    assert (nobody.label, nobody.tie) == ("", False)


votes = st.dictionaries(
    st.sampled_from("abc"), st.sampled_from(["yes", "no", "unsure", ""]), max_size=3
)


@given(st.lists(votes, max_size=12))
def test_agreement_is_within_its_bounds_and_undefined_where_nothing_can_be_said(
    rows: list[dict[str, str]],
) -> None:
    found = measure_agreement(rows)
    assert found.rows == sum(sum(bool(label) for label in row.values()) > 1 for row in rows)
    assert (found.pairwise is None) == (found.rows == 0)
    for value in (found.pairwise, *(share for share, _ in found.pairs.values())):
        assert value is None or 0 <= value <= 1
    for value in (found.alpha, found.fleiss, *(kappa for _, kappa in found.pairs.values())):
        assert value is None or -1 - 1e-9 <= value <= 1 + 1e-9
    assert f"over {found.rows} rows" in str(found)


@given(st.lists(st.sampled_from(["yes", "no"]), min_size=2, max_size=9))
def test_judges_that_always_agree_have_full_agreement_if_there_was_anything_to_agree_on(
    labels: list[str],
) -> None:
    found = measure_agreement([{"a": label, "b": label} for label in labels])
    assert found.pairwise == 1
    for value in (found.alpha, found.fleiss, found.pairs["a", "b"][1]):
        assert value is None if len(set(labels)) == 1 else isclose(value or 0, 1)


async def test_every_judge_is_asked_and_counted_and_one_may_sit_twice() -> None:
    one, other = ScriptedModel(["yes", "yes"], name="one"), ScriptedModel(["no"], name="other")
    meter = Meter()

    def question(constrained: bool, seat: int):  # type: ignore[no-untyped-def]
        reply = yield ChatRequest((), f"seat {seat}, {constrained}")
        return reply.text

    told = await poll_judges(name_judges([one, other, one]), question, meter.metered)
    assert told == {"one": "yes", "other": "no", "one #2": "yes"}
    assert meter.cost.model_calls == 3
    assert [r.purpose for r in one.requests] == ["seat 0, True", "seat 2, True"]
