"""Special rows by the suite's words and by the rule for native tools."""

from __future__ import annotations

from callwright_lab.benchmarks.acebench.special import check_answer, check_words
from tests.benchmarks.invented_ace import row

LIMITS = "Due to the limitations of the function, I cannot solve this problem."
INCOMPLETE = row("special_incomplete", gold={"shop.order": ["item_name", "deliveryDate"]})
INCORRECT = row("special_error_param", gold={"item": ["Bolt #1"]})
IRRELEVANT = row("special_irrelevant", gold=LIMITS)


def test_the_suite_wants_its_words_the_tool_and_every_parameter() -> None:
    said = "Missing necessary parameters (item_name, deliveryDate) for the api (shop.order)"
    assert not check_words(INCOMPLETE, f'["{said}"]')
    assert check_words(INCOMPLETE, said.replace("Missing", "missing"))
    assert check_words(INCOMPLETE, said.replace("shop.order", "shop"))
    assert check_words(INCOMPLETE, said.replace("deliveryDate", "date"))


def test_the_suite_wants_the_wrong_value_as_it_stands() -> None:
    said = "There is incorrect value (Bolt #1) for the parameters (item)"
    assert not check_words(INCORRECT, said)
    assert check_words(INCORRECT, said.replace("Bolt", "bolt"))
    assert check_words(INCORRECT, "Bolt #1 is wrong")


def test_the_suite_wants_to_hear_of_limits() -> None:
    assert not check_words(IRRELEVANT, LIMITS)
    assert check_words(IRRELEVANT, "I cannot.")


def test_an_answer_names_what_is_missing_in_any_spelling() -> None:
    for said in ("item_name and delivery_date?", "Which item name, which Delivery Date?"):
        assert not check_answer(INCOMPLETE, said, is_calling=False)
    assert check_answer(INCOMPLETE, "Which item name?", is_calling=False)
    assert check_answer(INCOMPLETE, "item name, delivery date", is_calling=True)
    assert check_answer(INCOMPLETE, " ", is_calling=False) == "says nothing"


def test_an_answer_quotes_what_is_wrong() -> None:
    assert not check_answer(INCORRECT, "bolt#1 is no item.", is_calling=False)
    assert check_answer(INCORRECT, "That item is wrong.", is_calling=False)


def test_an_answer_says_that_nothing_fits() -> None:
    assert not check_answer(IRRELEVANT, LIMITS.upper(), is_calling=False)
    assert check_answer(IRRELEVANT, "It is 3 pm.", is_calling=False)
    assert check_answer(IRRELEVANT, LIMITS, is_calling=True)
