"""One budget over the whole run."""

from __future__ import annotations

from callwright.limits import Budget, Limits
from callwright.types import Usage


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
