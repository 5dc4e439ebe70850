"""One budget over the whole run."""

from __future__ import annotations

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.limits import LIMITS, Budget, Limits
from callwright.nouns.types import Usage


def test_the_repair_budget_is_spent_once_and_never_overdrawn() -> None:
    budget = Budget(Limits(repairs=2))
    assert [budget.spend_repair() for _ in range(4)] == [True, True, False, False]
    assert budget.repairs == 2


def test_a_budget_of_zero_allows_nothing() -> None:
    budget = Budget(Limits(repairs=0, tool_calls=0, model_calls=0))
    assert not budget.spend_repair()
    assert not budget.spend_tool_call()
    assert budget.exhausted() == "model_calls"


def test_each_limit_is_named_when_it_ends_the_run() -> None:
    now = [0.0]
    budget = Budget(Limits(model_calls=9, tokens=100, seconds=10), clock=lambda: now[0])
    assert budget.exhausted() == ""
    budget.charge(Usage(90, 20))
    assert budget.exhausted() == "tokens"
    now[0] = 11.0
    assert Budget(Limits(seconds=10), clock=lambda: 0.0).exhausted() == ""
    assert budget.seconds == 11.0
    assert budget.seconds_left == 0.0
    slow = Budget(Limits(seconds=10), clock=lambda: now[0])
    now[0] = 22.0
    assert slow.exhausted() == "seconds"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"repairs": -1}, "the limit repairs is -1, and must be 0 or more"),
        ({"seconds": float("nan")}, "the limit seconds is nan, and must be 0 or more, and finite"),
        ({"seconds": float("inf")}, "must be 0 or more, and finite"),
        ({"tokens": 2**53}, "and finite"),
        ({"concurrency": 0}, "must be 1 or more"),
        ({"tool_seconds": 0}, "must be 0.001 or more"),
        ({"turns": 2.5}, "takes a whole number, not 2.5"),
        ({"turns": True}, "takes a whole number, not True"),
        ({"seconds": "60"}, "takes a number, not '60'"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused_by_name_with_what_it_is(
    given: dict[str, float], said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        Limits(**given)  # type: ignore[arg-type]
    assert said in str(caught.value)
    assert f"usually {LIMITS[next(iter(given))].default}" in str(caught.value)


def test_every_limit_can_be_told_to_a_user() -> None:
    assert [*LIMITS] == [*Limits.__dataclass_fields__]
    for name, limit in LIMITS.items():
        assert limit.about
        assert Limits(**{name: limit.kind(limit.least or 1)}) is not None
        assert getattr(Limits(), name) == limit.default
