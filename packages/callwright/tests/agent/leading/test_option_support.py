"""Optional values that the conversation makes likelier, by the probabilities of one letter."""

from __future__ import annotations

from collections.abc import Generator
from math import inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.leading.option_support import (
    Option,
    ask_gain,
    compute_gain,
    find_options,
    read_share,
    read_value_shares,
)
from callwright.nouns.types import JsonObject, Reply, Tool

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "item": {"type": "string"},
        "speed": {"enum": ["slow", "express"], "description": "How fast it goes."},
        "gift": {"type": "boolean"},
        "plain": {"type": "boolean", "default": True},
        "size": {"enum": [1, 2, 3]},
        "many": {"enum": [*range(40)]},
    },
    "required": ["item"],
}
TOOL = Tool("order", "", SCHEMA)


def test_optional_values_of_a_list_are_judged() -> None:
    left = {"speed": "express", "gift": True, "size": 2, "item": "lamp"}
    options = find_options(left, TOOL)
    assert [(one.key, one.value) for one in options] == [
        ("speed", "express"), ("gift", True), ("size", 2),
    ]  # fmt: skip
    assert 'A) "slow"\nB) "express"\nC) the user does not say' in (
        options[0].render_question()[-1].content
    )
    assert not find_options({"gift": False, "many": 7, "other": True, "plain": True}, TOOL)


OPTION = Option(TOOL, "gift", True, (True, False))


def test_shares_count_the_letters_alone() -> None:
    likely = {"A": 0.3, " A": 0.1, "B": 0.1, "Hello": 0.4, "C": 0.1}
    shares = read_value_shares(Reply("", first_token=likely), OPTION)
    assert shares == pytest.approx((4 / 6, 1 / 6))
    assert read_share(Reply("", first_token=likely), OPTION) == pytest.approx(4 / 6)
    assert read_share(Reply("A"), OPTION) is None
    assert compute_gain(0.4, 0.2) == pytest.approx(log(2))


@pytest.mark.parametrize(
    ("reply", "gain"),
    [
        (Reply("C"), -inf),
        (Reply("(C)"), -inf),
        (Reply("A"), None),
        (Reply("Certainly"), None),
        (Reply("C", first_token={"C": 0.3, "<think>": 0.7}), None),
    ],
)
def test_a_letter_without_probabilities_tells_only_that_the_user_does_not_say_it(
    reply: Reply, gain: float | None
) -> None:
    asked: list[bool] = []

    def ask(is_told: bool) -> Generator[None, None, Reply]:
        asked.append(is_told)
        return reply
        yield

    with pytest.raises(StopIteration) as end:
        next(ask_gain(OPTION, ask, {}, "key"))
    assert end.value.value == gain
    assert asked == [True]


@given(st.dictionaries(st.sampled_from("A B C x".split()), st.floats(1e-9, 1.0)))
def test_shares_are_shares_whatever_is_likely(likely: dict[str, float]) -> None:
    shares = read_value_shares(Reply("", first_token=likely), OPTION)
    assert len(shares) in (0, 2)
    assert all(0 < share < 1 for share in shares)
    assert sum(shares) < 1
