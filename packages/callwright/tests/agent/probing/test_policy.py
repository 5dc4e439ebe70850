"""What trials may do is said in one place, and nonsense is refused there."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.agent.probing import TrialPolicy
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 0},
        {"calls": -1},
        {"seconds": float("nan")},
        {"seconds": float("inf")},
        {"concurrency": 0},
        {"per_host": True},
        {"per_second": 0},
        {"money": "1"},
        {"simulate": "always"},
        {"planning": "gpt"},
        {"evaluation": ""},
        {"order": "score"},
        {"evaluator_share": 1.5},
        {"evaluator_share": -0.1},
        {"prices": {"a": -1.0}},
        {"prices": {"a": float("nan")}},
        {"prices": {"a": float("inf")}},
    ],
    ids=str,
)
def test_a_policy_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        TrialPolicy(**wrong)


def test_by_default_nothing_is_a_sandbox_and_nothing_is_paid_for() -> None:
    policy = TrialPolicy()
    assert not policy.in_sandbox(Tool("send_mail"))
    assert policy.money == 0.0


def test_a_sandbox_is_declared_by_patterns_on_names() -> None:
    policy = TrialPolicy(sandbox=("test_*", "delete_note"))
    assert [policy.in_sandbox(Tool(n)) for n in ("test_send", "delete_note", "delete_notes")] == [
        True,
        True,
        False,
    ]


def test_of_several_prices_the_highest_counts() -> None:
    policy = TrialPolicy(prices={"maps_*": 0.01, "maps_route": 0.5})
    assert [policy.price(Tool(n)) for n in ("maps_route", "maps_search", "weather")] == [
        0.5,
        0.01,
        0.0,
    ]


def test_a_tool_is_free_only_where_that_is_declared() -> None:
    policy = TrialPolicy(prices={"own_*": 0.0, "own_paid": 0.2})
    assert [policy.is_free(Tool(n)) for n in ("own_search", "own_paid", "weather")] == [
        True,
        False,
        False,
    ]
