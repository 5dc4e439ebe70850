"""The newest counts most, little says little, and what was only simulated nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.tools.evidence import Observation, Outcome, compute_rate
from callwright.tools.evidence.health import HALF_LIFE, Health, compute_decay, compute_health

NOW = 1_000_000_000.0
OUTCOMES: tuple[Outcome, ...] = (
    "functional_success",
    "parameter_mismatch",
    "semantic_mismatch",
    "execution_failure",
)


def seen(outcome: Outcome, age: float = 0.0, **more: object) -> Observation:
    return Observation("t", "d", outcome, at=NOW - age, **more)  # type: ignore[arg-type]


def of(*observations: Observation) -> Health:
    return compute_health("t", "d", sorted(observations, key=lambda o: -o.at), NOW)


def test_of_what_nothing_is_known_of_nothing_is_thought() -> None:
    assert (of().rate.success, of().rate.weight, of().seconds, of().last) == (0.5, 0.0, None, None)


def test_the_rate_is_the_mean_of_the_posterior() -> None:
    assert of(seen("functional_success")).rate.success == pytest.approx(2 / 3)
    assert of(seen("execution_failure")).rate.success == pytest.approx(1 / 3)
    assert of(
        *[seen("functional_success")] * 3, seen("execution_failure")
    ).rate.success == pytest.approx(4 / 6)


def test_after_a_half_life_an_observation_counts_half() -> None:
    assert compute_decay(0) == 1
    assert compute_decay(HALF_LIFE) == 0.5
    assert compute_decay(2 * HALF_LIFE) == 0.25
    assert compute_decay(-5.0) == 1  # a clock that was wrong
    assert of(seen("execution_failure", HALF_LIFE)).rate.success == pytest.approx(1 / 2.5)


def test_a_tool_that_was_repaired_is_forgiven_and_one_that_broke_is_found_out() -> None:
    old = [seen("execution_failure", 4 * HALF_LIFE)] * 5
    assert of(*old, *[seen("functional_success")] * 2).rate.success > 0.5
    good = [seen("functional_success", 4 * HALF_LIFE)] * 5
    assert of(*good, *[seen("execution_failure")] * 2).rate.success < 0.5


def test_only_what_speaks_of_the_tool_counts() -> None:
    silent = [
        seen("parameter_mismatch", kind="missing"),
        seen("semantic_mismatch", kind="irrelevant"),
        seen("functional_success", simulated=True),
    ]
    found = of(*silent)
    assert found.rate.weight == 0
    assert found.simulated == 1
    assert found.counts == {"parameter_mismatch": 1, "semantic_mismatch": 1}


def test_latency_is_the_median_of_the_calls_that_worked() -> None:
    worked = [seen("functional_success", seconds=s) for s in (0.1, 0.3, 9.0)]
    assert of(*worked, seen("execution_failure", seconds=30.0, kind="timeout")).seconds == 0.3


def test_the_kinds_of_failures_are_counted_the_most_frequent_first() -> None:
    failures = [seen("execution_failure", kind=k) for k in ("auth", "timeout", "timeout")]
    assert list((of(*failures).kinds or {}).items()) == [("timeout", 2), ("auth", 1)]


def test_the_newest_examples_are_shown() -> None:
    rows = [seen("functional_success", age, arguments={"n": age}) for age in range(9)]
    assert [o.arguments["n"] for o in of(*rows).worked] == [0, 1, 2]


@given(st.lists(st.tuples(st.sampled_from(OUTCOMES), st.floats(0, 1e8)), max_size=20))
def test_a_rate_lies_between_never_and_always_and_a_success_never_lowers_it(
    rows: list[tuple[Outcome, float]],
) -> None:
    before = of(*[seen(o, age) for o, age in rows]).rate.success
    after = of(*[seen(o, age) for o, age in rows], seen("functional_success")).rate.success
    worse = of(*[seen(o, age) for o, age in rows], seen("execution_failure")).rate.success
    assert 0 < worse <= before <= after < 1
    assert compute_rate(0, 0).success == 0.5
