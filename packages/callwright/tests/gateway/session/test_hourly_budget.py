from __future__ import annotations

from callwright.gateway.session.hourly_budget import HOUR, HourlyBudget


def test_so_many_calls_an_hour_and_each_client_has_its_own() -> None:
    budget = HourlyBudget()
    assert all(budget.take("ann", "mail", 2, now) for now in (0.0, 10.0))
    assert not budget.take("ann", "mail", 2, 20.0)
    assert budget.count_seconds("ann", "mail", 20.0) == HOUR - 20.0
    assert budget.take("bob", "mail", 2, 20.0)
    assert budget.take("ann", "maps", 2, 20.0)
    assert budget.take("ann", "mail", 2, HOUR), "the first call is an hour old"
    assert not budget.take("ann", "mail", 2, HOUR)
    assert budget.take("ann", "mail", None, HOUR), "no budget, no end"
    assert not budget.take("ann", "none", 0, 0.0)
    budget.give_back("ann", "mail")
    budget.give_back("nobody", "mail")
    assert budget.take("ann", "mail", 2, HOUR), "one was not sent"


def test_clients_that_left_are_forgotten() -> None:
    budget = HourlyBudget()
    for number in range(10_001):
        assert budget.take(str(number), "mail", 5, 0.0)
    budget.take("last", "mail", 5, HOUR)
    assert len(budget._made) == 1
