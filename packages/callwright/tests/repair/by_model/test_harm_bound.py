"""The file of a calibrated bound, and when it counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.repair.by_model.harm_bound import (
    Cut,
    HarmBound,
    Measured,
    read_bound,
    serialize_bound,
)
from callwright.repair.by_model.harm_score import FEATURES, PLAIN, HarmScore

PLAIN_CUT = Cut(HarmScore(-3, {"lost": 4.0}), 0.5, 1600, 0, 0.00187, 40, 100, "rows")
LIKELY_CUT = Cut(
    HarmScore(-3, {"surprise": 9.0}), 0.25, 1600, 1, 0.0029, 60, 100, "rows with likelihoods"
)
MEASURED = Measured("base+mine@0123456789abcdef", "qwen3-8b", "short", 768)
BOUND = HarmBound(
    MEASURED, 0.002, 0.95, "sha256:77", {"plain": PLAIN_CUT, "likelihood": LIKELY_CUT}
)


def features(**named: float) -> dict[str, float]:
    return {**dict.fromkeys(PLAIN, 0.0), **named}


def test_a_bound_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "bound.json"
    path.write_text(serialize_bound(BOUND), encoding="utf-8")
    assert read_bound(path) == BOUND
    only = replace(BOUND, cuts={"plain": PLAIN_CUT})
    path.write_text(serialize_bound(only), encoding="utf-8")
    assert read_bound(path) == only


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"threshold":0.5', '"threshold":0.9', "was changed after its calibration"),
        ('"harms":0', '"harms":1', "was changed after its calibration"),
        ('"version":1', '"version":2', "no harm bound of version 1"),
        ('"kind"', '"kinds"', "no harm bound of version 1"),
        ("{", "", "cannot be read"),
    ],
)
def test_a_file_that_was_changed_is_refused(
    tmp_path: Path, before: str, after: str, said: str
) -> None:
    path = tmp_path / "bound.json"
    path.write_text(serialize_bound(BOUND).replace(before, after, 1), encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        read_bound(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.json cannot be read"):
        read_bound(tmp_path / "nothing.json")


def test_a_change_is_taken_below_the_cut_and_refused_at_it() -> None:
    assert BOUND.explain_refusal(features()) == ""
    said = BOUND.explain_refusal(features(lost=1))
    assert said == "The change's harm score 0.731 is not below 0.500 (lost)."
    exact = replace(BOUND, cuts={"plain": replace(PLAIN_CUT, threshold=PLAIN_CUT.score.rate({}))})
    assert exact.explain_refusal(features()).endswith("(no feature).")


def test_likelihood_counts_where_the_answer_states_it() -> None:
    likely = dict.fromkeys(FEATURES, 0.0)
    assert BOUND.choose_cut(likely) is LIKELY_CUT
    assert BOUND.choose_cut(features()) is PLAIN_CUT
    assert replace(BOUND, cuts={"plain": PLAIN_CUT}).choose_cut(likely) is PLAIN_CUT
    assert BOUND.explain_refusal({**likely, "surprise": 1.0}).endswith("(surprise).")


@pytest.mark.parametrize(
    ("used", "said"),
    [
        (MEASURED, ""),
        (
            replace(MEASURED, refiner="other"),
            "refiner 'base+mine@0123456789abcdef', and not 'other'",
        ),
        (replace(MEASURED, upstream=""), "upstream 'qwen3-8b', and not 'unnamed'"),
        (replace(MEASURED, prompt="paper"), "prompt 'short', and not 'paper'"),
        (replace(MEASURED, max_tokens=4096), "max_tokens 768, and not 4096"),
    ],
)
def test_a_bound_of_something_else_does_not_count(used: Measured, said: str) -> None:
    told = BOUND.explain_mismatch(used)
    assert told == said if not said else told.endswith(f"it was measured with {said}.")


def test_a_bound_of_no_refiner_counts_for_none() -> None:
    unnamed = replace(MEASURED, refiner="")
    assert replace(BOUND, measured=unnamed).explain_mismatch(unnamed) != ""
