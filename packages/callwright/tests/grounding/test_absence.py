"""Statements that there is none: right over an empty list, wrong over one with entries."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.grounding import GroundingResult, check_statement, facts_of
from callwright.nouns.types import ToolResult

ORDERS = [{"id": "O-1", "item": "chair", "status": "open"}, {"id": "O-2", "status": "shipped"}]
ASKED = {
    "en": "Which orders do I have?",
    "de": "Welche Bestellungen habe ich?",
    "es": "¿Qué pedidos tengo?",
    "zh": "我有哪些订单？",
    "ar": "ما هي طلباتي؟",
}
NONE = [
    ("en", "You have no orders."),
    ("en", "There are currently no orders."),
    ("de", "Du hast keine Bestellungen."),
    ("de", "Es gibt derzeit keine Bestellungen."),
    ("es", "No tienes ningún pedido."),
    ("es", "No hay pedidos."),
    ("zh", "您没有任何订单。"),
    ("zh", "没有找到订单。"),
    ("ar", "ليس لديك أي طلبات."),
    ("ar", "لا توجد طلبات."),
]


def check(text: str, query: str, content: Any, tool: str = "list_orders") -> GroundingResult:
    return check_statement(text, facts_of(query, [ToolResult("r1", tool, {}, content)]))


@pytest.mark.parametrize(("language", "text"), NONE)
@pytest.mark.parametrize("content", [[], {"orders": []}])
def test_that_there_is_none_is_supported_by_an_empty_list(
    language: str, text: str, content: Any
) -> None:
    found = check(text, ASKED[language], content)
    assert (found.support, found.problems) == ("supported", [])
    assert found.citations[0].result == "r1"


@pytest.mark.parametrize(("language", "text"), NONE)
def test_a_list_with_entries_contradicts_it(language: str, text: str) -> None:
    found = check(text, ASKED[language], ORDERS)
    assert (found.support, found.problems) == ("unsupported", ["r1 holds 2"])


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "You have no cancelled orders."),
        ("en", "You have no orders from Acme."),
        ("en", "There are no more orders."),
        ("de", "Du hast keine stornierten Bestellungen."),
        ("de", "Du hast keine weiteren Bestellungen."),
        ("es", "No tienes ningún pedido cancelado."),
        ("es", "No tienes ningún otro pedido."),
        ("zh", "您没有已取消的订单。"),
        ("zh", "没有其他订单。"),
        ("ar", "ليس لديك طلبات ملغاة."),
        ("ar", "لا توجد طلبات أخرى."),
    ],
)
def test_none_of_a_kind_that_no_entry_is_of_may_be_right(language: str, text: str) -> None:
    assert check(text, ASKED[language], ORDERS).problems == []


def test_none_of_a_kind_that_an_entry_is_of_is_wrong() -> None:
    assert check("There are no open orders.", ASKED["en"], ORDERS).problems == ["r1 holds 2"]
    closed = [{"id": "T-1", "status": "closed", "opened": "2026-01-02"}]
    asked = "Are there open tickets?"
    assert not check("There are no open tickets.", asked, closed, "list_tickets").problems


def test_what_was_asked_for_may_be_less_than_what_the_list_holds() -> None:
    assert not check("You have no orders.", "Do I have cancelled orders?", ORDERS).problems


def test_of_two_lists_the_one_that_is_named_counts() -> None:
    both = {"orders": ORDERS, "returns": []}
    found = check("You have no returns.", "Do I have returns?", both, "get_orders_and_returns")
    assert found.support == "supported"


@pytest.mark.parametrize(("unread", "support"), [(0, "supported"), (3, "unsupported")])
def test_a_number_under_the_key_that_is_named_counts_as_a_list_does(
    unread: int, support: str
) -> None:
    content = {"unread_count": unread, "total": 14}
    found = check("You have no unread mails.", "Do I have unread mails?", content, "get_inbox")
    assert found.support == support


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Your orders are on their way."),
        ("de", "Deine Bestellungen sind unterwegs."),
        ("es", "Tus pedidos están en camino."),
        ("zh", "您的订单已发货。"),
        ("ar", "طلباتك في الطريق."),
    ],
)
def test_over_nothing_at_all_only_a_denial_answers(language: str, text: str) -> None:
    assert check(text, ASKED[language], []).support == "unsupported"
    assert check(text, ASKED[language], ORDERS).support != "unsupported"


def test_a_question_or_a_courtesy_over_nothing_is_no_answer() -> None:
    assert check("Soll ich deine Bestellungen später prüfen?", ASKED["de"], []).problems == []
    assert check("Melde dich gern.", ASKED["de"], []).problems == []


@pytest.mark.parametrize("tool", ["get_list", "get_shopping_list"])
def test_an_empty_list_may_be_called_empty(tool: str) -> None:
    asked = "What is on my shopping list?"
    assert check("Your shopping list is empty.", asked, [], tool).support == "supported"
    assert check("Your list is empty.", asked, [], tool).support == "supported"
    assert check("Your shopping list has milk.", asked, [], tool).support == "unsupported"


def test_a_list_with_entries_is_not_called_empty() -> None:
    verdict = check("The shopping list is empty.", "Show it", ["milk"], "get_shopping_list")
    assert verdict.support == "unsupported"
