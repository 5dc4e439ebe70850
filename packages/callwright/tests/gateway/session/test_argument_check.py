from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.gateway.session.argument_check import check_call
from callwright.nouns.types import CheckedCall, ToolCall
from callwright.repair.gate import Gate, Refusal
from tests.gateway.session.offers import CITY, catalog, tool

LISTED = {
    "type": "object",
    "properties": {"tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["tags"],
}
CLOSED = {**CITY, "additionalProperties": False}
SINGLE = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Oslo", "Rome"]}},
    "required": ["city"],
}


def check(arguments: Any, schema: dict[str, Any] | None = None) -> CheckedCall | Refusal:
    made = catalog(tool("forecast", schema))
    offer = made.find("weather__forecast")
    assert offer is not None
    return check_call(made.gate, offer.tool, ToolCall("1", offer.exposed, arguments))


@pytest.mark.parametrize(
    "arguments",
    [
        {"city": "Oslo"},
        {"days": 2, "city": "Oslo"},
        {"city": "string"},
        {"city": "<city>", "days": 0},
        {"city": "Oslo", "extra": {"a": [None, 1.0]}},
        {"city": '{"type": "string", "value": "Oslo"}'},
    ],
)
def test_a_right_call_passes_as_it_is_whatever_it_looks_like(arguments: dict[str, Any]) -> None:
    checked = check(arguments)
    assert isinstance(checked, CheckedCall)
    assert checked.edits == ()
    assert checked.arguments == arguments
    assert list(checked.arguments) == list(arguments)


@given(
    st.dictionaries(st.text(max_size=5), st.integers() | st.none() | st.text(max_size=5)),
    st.text(max_size=8),
)
def test_keys_that_an_open_schema_takes_stay(more: dict[str, Any], city: str) -> None:
    arguments = {**{f"x_{key}_{n}": value for n, (key, value) in enumerate(more.items())}}
    checked = check({**arguments, "city": city})
    assert isinstance(checked, CheckedCall)
    assert checked.arguments["city"] == city


@pytest.mark.parametrize(
    ("arguments", "schema", "repaired", "rules"),
    [
        ({"city": "Oslo", "days": "3"}, None, {"city": "Oslo", "days": 3}, ["text_to_number"]),
        ('{"city": "Oslo"}', None, {"city": "Oslo"}, []),
        ("{'city': 'Oslo',}", None, {"city": "Oslo"}, ["mend_json"]),
        ({"City": "Oslo"}, None, {"city": "Oslo"}, ["rename_key"]),
        ({"tags": "a"}, LISTED, {"tags": ["a"]}, ["single_to_list"]),
        ({"city": "Oslo", "x": 1}, CLOSED, {"city": "Oslo"}, ["drop_unknown"]),
        ({"city": "oslo"}, SINGLE, {"city": "Oslo"}, ["option_spelling"]),
        ({"arguments": {"city": "Oslo"}}, CLOSED, {"city": "Oslo"}, ["unwrap_arguments"]),
    ],
)
def test_a_wrong_call_is_repaired_and_every_change_is_listed(
    arguments: Any, schema: dict[str, Any] | None, repaired: dict[str, Any], rules: list[str]
) -> None:
    checked = check(arguments, schema)
    assert isinstance(checked, CheckedCall), checked
    assert checked.arguments == repaired
    assert [edit.rule for edit in checked.edits] == rules
    assert all(not edit.path.startswith("/0") for edit in checked.edits)


def test_another_spelling_of_a_key_that_lacks_is_renamed_although_the_schema_is_open() -> None:
    checked = check({"city": "Oslo", "Days": 2})
    assert isinstance(checked, CheckedCall)
    assert checked.arguments == {"city": "Oslo", "days": 2}


@pytest.mark.parametrize("arguments", [{}, {"days": 2}, {"city": 5.5}, "[1, 2]", "no json"])
def test_what_cannot_be_repaired_is_refused_and_nothing_is_made_up(arguments: Any) -> None:
    refused = check(arguments, CLOSED)
    if isinstance(refused, CheckedCall):  # a number is spelled as text without a loss
        assert refused.arguments == {"city": "5.5"}
        return
    assert refused.message


def test_one_call_stays_one_call() -> None:
    checked = check({"city": ["Oslo", "Rome"]}, SINGLE)
    assert isinstance(checked, Refusal)


@pytest.mark.parametrize("said", [{}, {"annotations": {"readOnlyHint": False}}])
@pytest.mark.parametrize(
    ("arguments", "reads"),
    [
        ({"city": "Oslo", "dry_run": True}, {"city": "Oslo"}),
        ({"place": "Oslo"}, {"city": "Oslo"}),
    ],
)
def test_a_write_is_not_sent_with_a_guess_of_what_it_is_about(
    arguments: dict[str, Any], reads: dict[str, Any], said: dict[str, Any]
) -> None:
    offer = catalog(tool("forecast", CLOSED, **said)).find("weather__forecast")
    assert offer is not None
    gate, call = Gate([offer.tool]), ToolCall("1", offer.exposed, arguments)
    read = check_call(gate, offer.tool, call)
    assert isinstance(read, CheckedCall)
    assert read.arguments == reads
    written = check_call(gate, offer.tool, call, may_write=True)
    assert isinstance(written, Refusal)
    assert next(iter({*arguments} - {"city"})) in written.message


def test_an_argument_that_says_nothing_refuses_no_write() -> None:
    offer = catalog(tool("forecast", CLOSED)).find("weather__forecast")
    assert offer is not None
    call = ToolCall("1", offer.exposed, {"city": "Oslo", "note": None, "days": "2"})
    checked = check_call(Gate([offer.tool]), offer.tool, call, may_write=True)
    assert isinstance(checked, CheckedCall)
    assert checked.arguments == {"city": "Oslo", "days": 2}


def test_a_number_that_languages_read_differently_is_no_number_of_a_write() -> None:
    schema = {
        "type": "object",
        "properties": {"sum": {"type": "number"}, "count": {"type": "integer"}},
    }
    (offer,) = catalog(tool("pay", schema))
    sent: dict[tuple[str, str], int | None] = {
        ("sum", "1,000"): None,
        ("sum", "1.000"): None,
        ("sum", "1,234,567"): 1_234_567,
        ("sum", "3"): 3,
        ("count", "1,000"): 1_000,
    }
    for (key, text), number in sent.items():
        call = ToolCall("1", offer.exposed, {key: text})
        checked = check_call(Gate([offer.tool]), offer.tool, call, may_write=True)
        assert isinstance(checked, Refusal) == (number is None)
        assert number is None or checked.arguments == {key: number}


@pytest.mark.parametrize(
    ("given", "key"),
    [("meeting", "meeting_id"), ("repository", "repo"), ("mesage", "message"), ("To", "to")],
)
def test_a_key_in_another_spelling_is_renamed_in_a_write_too(given: str, key: str) -> None:
    schema = {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
    (offer,) = catalog(tool("forecast", schema))
    call = ToolCall("1", offer.exposed, {given: "x"})
    checked = check_call(Gate([offer.tool]), offer.tool, call, may_write=True)
    assert isinstance(checked, CheckedCall)
    assert checked.arguments == {key: "x"}


def test_a_key_beside_those_of_an_open_schema_is_left_to_the_server_of_a_write() -> None:
    (offer,) = catalog(tool("forecast"))
    given = {"city": "Oslo", "duration": 3}
    call = ToolCall("1", offer.exposed, given)
    checked = check_call(Gate([offer.tool]), offer.tool, call, may_write=True)
    assert isinstance(checked, CheckedCall)
    assert checked.arguments == given
