"""Answers that are made without a model."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding.answer.quoting import (
    build_abstention,
    build_no_answer,
    list_changes,
    list_untold,
    quote_result,
    report_outcome,
)
from callwright.nouns.errors import Failure
from callwright.nouns.types import Citation, Json, Statement, ToolResult

FULL = Failure("error_payload", "only 7 pieces of C-330 are in stock")
FAILED = ToolResult("r1", "create_order", {"part_code": "C-330", "quantity": 50}, None, FULL)
STOCK = ToolResult("r2", "get_part", {"part_code": "C-330"}, {"code": "C-330", "stock": 7})


def balance(number: str, value: Any, account: str = "petty") -> ToolResult:
    content = {"account": account, "balance": value, "currency": "EUR"}
    return ToolResult(number, "get_balance", {"account": account}, content)


def test_failures_and_results_are_told_apart_in_readable_lines() -> None:
    answer = report_outcome([FAILED, STOCK], "Order 50 pieces of C-330.")
    assert answer.text.split("\n") == [
        "This could not be done:",
        "- create_order(part_code: C-330, quantity: 50) failed: only 7 pieces of C-330 are in stock",
        "The tools returned:",
        "- get_part(part_code: C-330): code: C-330, stock: 7",
    ]
    assert answer.grounded
    assert [statement.support for statement in answer.statements] == ["limitation", "supported"]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Bestelle 50 Stück von C-330.", "Das konnte nicht ausgeführt werden:"),
        ("Pide 50 piezas de C-330, por favor.", "Esto no se ha podido hacer:"),
        ("请订购 50 件 C-330。", "以下操作无法完成:"),
        ("اطلب 50 قطعة من C-330.", "لم أتمكن من تنفيذ ما يلي:"),
        ("50", "This could not be done:"),
    ],
)
def test_fixed_words_are_in_the_users_language(query: str, first: str) -> None:
    assert report_outcome([FAILED], query).text.startswith(first)


def test_an_abstention_says_why_in_the_users_language() -> None:
    assert build_abstention((), (), query="请订购 50 件。").text.startswith(
        "无法根据工具的结果回答: "
    )
    assert build_no_answer("zu wenig Werkzeuge", "Was ist das?").text == (
        "Das konnte ich nicht beantworten: zu wenig Werkzeuge."
    )


def test_what_changed_between_two_readings_is_told_unless_the_text_does() -> None:
    results = [balance("r1", 140.0), balance("r2", 200.0)]
    (told,) = list_changes(results, "The balance is now 200 EUR.")
    assert told.text == "get_balance(account: petty): balance: 140.0 → 200.0"
    assert [citation.result for citation in told.citations] == ["r1", "r2"]
    assert list_changes(results, "It was 140 EUR, and it is 200 EUR now.") == []


def test_only_one_record_read_twice_with_few_changes_is_compared() -> None:
    assert list_changes([balance("r1", 140), balance("r2", 200, "main")], "") == []
    assert list_changes([balance("r1", 140), balance("r2", 140)], "") == []
    job = [ToolResult(f"r{n}", "get", {}, {"status": s}) for n, s in enumerate(("pending", "done"))]
    assert list_changes(job, "") == []
    many = [ToolResult(f"r{n}", "get", {}, dict.fromkeys("abcd", n)) for n in range(2)]
    assert list_changes(many, "") == []


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(contents=st.lists(_JSON, min_size=1, max_size=4), text=st.text(max_size=40))
def test_any_result_can_be_quoted(contents: list[Json], text: str) -> None:
    results = [ToolResult(f"r{n}", "t", {"a": 1}, content) for n, content in enumerate(contents)]
    assert report_outcome(results, text).text
    assert all(len(quote_result(one).text) < 300 for one in results)
    list_changes(results, text)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("Who is Anna?", "find_contact(name: Anna) returned nothing"),
        ("Wer ist Anna?", "find_contact(name: Anna) lieferte nichts"),
    ],
)
def test_an_empty_result_is_told_as_one_and_not_as_a_failure(query: str, told: str) -> None:
    nothing = Failure("empty", "the tool returned an empty result")
    empty = ToolResult("r1", "find_contact", {"name": "Anna"}, [], nothing)
    assert told in report_outcome([empty], query).text


def test_what_no_statement_rests_on_is_untold() -> None:
    before, after = balance("r3", 140.0), balance("r4", 200.0)
    told = [Statement("7 are in stock.", "supported", (Citation("r2"),))]
    assert list_untold([FAILED, STOCK, before, after], told) == [after], "of equal calls the last"
    assert list_untold([STOCK], told) == []
