"""One call of a run: its outcome, and what equal calls share."""

from __future__ import annotations

from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.execution.call_task import CallOutcome, make_call_key
from callwright.nouns.types import Skip, Tool, ToolResult


def test_an_outcome_is_plain_if_nothing_but_its_result_changed_the_run() -> None:
    assert CallOutcome(ToolResult("r1", "pay", {}, 5), same="r0", key=b"x").is_plain
    assert not CallOutcome(skips=[Skip("pay", "why")]).is_plain
    assert not CallOutcome(lacks=True).is_plain
    assert not CallOutcome(unrepaired="x").is_plain


def test_every_other_part_of_an_outcome_makes_it_no_plain_one() -> None:
    plain = {"result", "same", "repeats", "key"}
    for part in fields(CallOutcome):
        if part.name not in plain:
            changed = CallOutcome()
            setattr(changed, part.name, ["something"])
            assert not changed.is_plain, part.name


@given(st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=4))
def test_equal_calls_have_one_key(arguments: dict[str, int | str]) -> None:
    pay, order = Tool("pay", "", {}), Tool("order", "", {})
    assert make_call_key(pay, arguments) == make_call_key(pay, {**arguments})
    assert make_call_key(pay, arguments) != make_call_key(order, arguments)
    assert make_call_key(pay, arguments) != make_call_key(pay, {**arguments, "more": 1})


def test_another_spelling_of_a_call_is_the_same_call() -> None:
    schema = {"properties": {"amount": {}, "currency": {"default": "EUR"}}, "required": ["amount"]}
    pay = Tool("pay", "", schema)
    spelled = make_call_key(pay, {"amount": 5.0, "currency": "EUR"})
    assert make_call_key(pay, {"amount": 5}) == spelled
    assert make_call_key(pay, {"amount": 5, "currency": "USD"}) != spelled


def test_half_a_character_has_a_key_too() -> None:
    pay = Tool("pay", "", {})
    assert make_call_key(pay, {"to": "A\ud83d"}) == make_call_key(pay, {"to": "A\ud83d"})
    assert make_call_key(pay, {"to": "A\ud83d"}) != make_call_key(pay, {"to": "A"})
