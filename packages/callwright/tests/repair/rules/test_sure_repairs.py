"""Repairs of writes: what the call means stays, or it is refused with the reasons."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.types import READ, UNKNOWN, WRITE, CheckedCall, Effects, Tool, ToolCall
from callwright.repair.gate import Gate, Refusal
from callwright.repair.refinement import refine
from callwright.repair.rules import sure_repairs

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}


def build(
    name: str, properties: dict[str, Any], effects: Effects = WRITE, *, closed: bool = False
) -> Tool:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    schema |= {"required": [*properties]}
    schema |= {"additionalProperties": False} if closed else {}
    return Tool(name, "", schema, effects=effects)


def sent(tool: Tool, arguments: dict[str, Any], query: str = "") -> dict[str, Any] | None:
    """The arguments of a call after ``refine`` and the gate; None where it is refused."""
    (call,) = refine([ToolCall("", tool.name, arguments)], [tool], query=query).calls
    verdict = Gate([tool]).check(call)
    return verdict.arguments if isinstance(verdict, CheckedCall) else None


DELETE = {"path": TEXT}


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("value", [True, False, 0, "soon", ["a"], {"a": None}])
def test_a_write_does_not_lose_an_unknown_argument_and_its_refusal_names_it(
    closed: bool, value: Any
) -> None:
    arguments = {"path": "a", "dry_run": value}
    writing = build("delete_file", DELETE, closed=closed)
    verdict = Gate([writing]).check(ToolCall("", "delete_file", arguments))
    assert isinstance(verdict, Refusal)
    assert verdict.message == "Unknown key 'dry_run'. Known keys: 'path'."
    assert [v.path for v in verdict.violations] == ["/dry_run"]
    found = refine([ToolCall("", "delete_file", arguments)], [writing])
    assert found.calls[0].arguments == arguments
    assert [v.message for v in found.violations] == [verdict.message]
    for effects in (READ, UNKNOWN):
        assert sent(build("delete_file", DELETE, effects, closed=closed), arguments) == {
            "path": "a"
        }


@pytest.mark.parametrize("value", [None, "", "  ", [], {}, "delete_file"])
def test_an_unknown_argument_that_says_nothing_is_dropped(value: Any) -> None:
    assert sent(build("delete_file", DELETE), {"path": "a", "note": value}) == {"path": "a"}


def test_an_unknown_argument_within_an_object_is_not_lost_either() -> None:
    inner = {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False}
    tool = build("set_options", {"options": inner})
    verdict = Gate([tool]).check(ToolCall("", "set_options", {"options": {"a": "x", "dry": True}}))
    assert isinstance(verdict, Refusal)
    assert [v.path for v in verdict.violations] == ["/options/dry"]


@pytest.mark.parametrize(
    ("tool", "given", "wanted"),
    [
        ("cancel_order", "customer_id", "order_id"),
        ("cancel_order", "customer_id", "id"),
        ("cancel_customer_order", "customer_id", "id"),
        ("delete", "product_id", "project_id"),
        ("end", "contact_id", "contract_id"),
        ("switch_off", "sender_id", "sensor_id"),
        ("ship", "billing_address", "shipping_address"),
        ("call", "home_phone", "work_phone"),
        ("delete_user", "user_name", "user_id"),
        ("delete_file", "file_id", "file_name"),
        ("create_event", "end_date", "date"),
        ("send_mail", "cc_email", "email"),
        ("set_state", "stage", "state"),
        ("write_file", "context", "content"),
        ("move_page", "page_id", "parent_id"),
        ("book", "place", "city"),
    ],
)
def test_a_key_of_another_thing_is_no_parameter_of_a_write(
    tool: str, given: str, wanted: str
) -> None:
    assert sent(build(tool, {wanted: TEXT}), {given: "17"}) is None


@pytest.mark.parametrize(
    ("tool", "given", "wanted"),
    [
        ("delete_customer", "customer_id", "id"),
        ("cancel_order", "id", "order_id"),
        ("set_up", "meeting", "meeting_id"),
        ("clone", "repository", "repo"),
        ("say", "mesage", "message"),
        ("say", "recieve", "receive"),
        ("visit", "city_name", "city"),
        ("write", "Email", "recipient_email"),
        ("write", "orderId", "order_id"),
    ],
)
def test_a_key_that_says_the_same_is_a_parameter_of_a_write(
    tool: str, given: str, wanted: str
) -> None:
    assert sent(build(tool, {wanted: TEXT}), {given: "17"}) == {wanted: "17"}


def test_what_a_key_says_more_may_stand_in_the_description() -> None:
    part = {**TEXT, "description": "Email address of the person"}
    assert sent(build("write", {"email": part}), {"email_address": "a"}) == {"email": "a"}
    assert sent(build("write", {"email": TEXT}), {"email_address": "a"}) is None


def test_an_optional_parameter_of_a_write_takes_no_key_of_fewer_words() -> None:
    schema = {"type": "object", "properties": {"to": TEXT, "cc_email": TEXT}, "required": ["to"]}
    given = {"to": "a", "email": "b"}
    assert sent(Tool("send", "", schema, effects=WRITE), given) is None
    assert sent(Tool("send", "", schema, effects=READ), given) == {"to": "a", "cc_email": "b"}


@pytest.mark.parametrize(
    ("value", "schema", "number"),
    [
        ("1,000", NUMBER, None),
        ("$1,000", NUMBER, None),
        ("1.000", NUMBER, None),
        (["1.000"], NUMBER, None),
        ("1,000 euro", {**NUMBER, "description": "in euro"}, None),
        ("1.000 euro", {"type": "integer", "description": "in euro"}, None),
        ("1,000", {"type": "integer"}, 1_000),
        ("1,234,567", NUMBER, 1_234_567),
        ("0.125", NUMBER, 0.125),
        ("12.50 euro", {**NUMBER, "description": "in euro"}, 12.5),
        ("3", NUMBER, 3),
    ],
)
def test_a_number_that_languages_read_differently_is_no_number_of_a_write(
    value: Any, schema: dict[str, Any], number: float | None
) -> None:
    made = sent(build("pay", {"sum": schema}), {"sum": value})
    assert made == (None if number is None else {"sum": number})


def test_such_a_number_is_read_as_the_user_writes_numbers() -> None:
    tool = build("pay", {"sum": NUMBER})
    german = "Überweise bitte 1.000 Euro an Anna, und das noch heute"
    assert sent(tool, {"sum": "1.000"}, german) == {"sum": 1_000}
    assert sent(tool, {"sum": "1,000"}, "Please transfer 1,000 dollars to Ann") == {"sum": 1_000}


@pytest.mark.parametrize(
    ("value", "options", "meant"),
    [
        ("reactivate", ["deactivate", "activate"], None),
        ("subscribe", ["unsubscribe", "pause"], None),
        ("all except admins", ["all", "none"], None),
        ("-1", [0, 1], None),
        ("Economy class", ["Economy", "Business"], "Economy"),
        ("in economy", ["Economy", "Business"], "Economy"),
        ("ECONOMY", ["Economy", "Business"], "Economy"),
    ],
)
def test_an_option_of_a_write_is_the_one_that_was_written(
    value: str, options: list[Any], meant: str | None
) -> None:
    made = sent(build("set", {"travel_class": {"enum": options}}), {"travel_class": value})
    assert made == (None if meant is None else {"travel_class": meant})


@pytest.mark.parametrize(
    ("value", "is_dropped"),
    [("<days>", False), ({"type": "integer"}, False), ("null", True), (None, True)],
)
def test_a_placeholder_that_may_narrow_a_write_is_not_left_out(
    value: Any, is_dropped: bool
) -> None:
    properties = {"path": TEXT, "older_than": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": ["path"]}
    arguments = {"path": "a", "older_than": value}
    made = sent(Tool("delete_files", "", schema, effects=WRITE), arguments)
    assert made == ({"path": "a"} if is_dropped else None)
    assert sent(Tool("delete_files", "", schema, effects=READ), arguments) == {"path": "a"}


@pytest.mark.parametrize(
    ("key", "query"),
    [
        ("order_id", "My customer id is C-7. Cancel my order."),
        ("id", "My customer id is C-7. Cancel my order."),
        ("email", "I am ann@x.org, write to Bob"),
    ],
)
def test_a_write_takes_only_values_that_were_said_for_its_parameter(key: str, query: str) -> None:
    assert sent(build("cancel", {key: TEXT}), {}, query) is None
    assert sent(build("look_up", {key: TEXT}, READ), {}, query) is not None


def test_a_write_takes_a_value_that_was_said_beside_its_name() -> None:
    tool = build("cancel", {"order_id": TEXT})
    assert sent(tool, {}, "The order id is C-7. Cancel it.") == {"order_id": "C-7"}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("repo", "repository", True),
        ("adress", "address", True),
        ("recieve", "receive", True),
        ("form", "from", False),
        ("car", "card", False),
        ("count", "country", False),
        ("thread", "threat", False),
    ],
)
def test_two_spellings_are_one_word_only_where_no_other_word_is_made(
    one: str, other: str, same: bool
) -> None:
    assert sure_repairs.is_same_word(one, other) is same
    assert sure_repairs.is_same_word(other, one) is same


def test_a_key_without_words_that_can_be_read_is_the_same_only_letter_by_letter() -> None:
    tool = build("delete", {"客户": TEXT})
    assert not sure_repairs.is_same_key("订单", "客户", tool)
    assert sure_repairs.says_of_what("order_id")
    assert not sure_repairs.says_of_what("id")


def _moving(*required: str, **effects: Any) -> Tool:
    keys = ("from_account", "to_account", "amount")
    schema = {
        "type": "object",
        "properties": dict.fromkeys(keys, TEXT),
        "required": [*required],
    }
    return Tool("transfer", "", schema, **effects)


@pytest.mark.parametrize("required", [("to_account",), ("from_account",), ()])
def test_a_key_that_may_be_either_of_two_parameters_is_given_to_neither(
    required: tuple[str, ...],
) -> None:
    writing = _moving(*required, effects=WRITE)
    given = {"account": "A-111", "amount": "5"}
    said = "Transfer 5 out of account A-111."
    assert sent(writing, given, said) is None
    (call,) = refine([ToolCall("", "transfer", given)], [writing], query=said).calls
    assert call.arguments == given
    verdict = Gate([writing]).check(ToolCall("", "transfer", given))
    assert isinstance(verdict, Refusal)


def test_beside_a_parameter_that_the_call_has_only_one_can_be_meant() -> None:
    given = {"account": "B-222", "from_account": "A-111"}
    wanted = {"to_account": "B-222", "from_account": "A-111"}
    assert sent(_moving("to_account", effects=WRITE), given) == wanted


@pytest.mark.parametrize(
    ("given", "wanted", "others", "has_rival"),
    [
        ("address", "drop_address", ["pickup_address"], True),
        ("time", "start_time", ["end_time"], True),
        ("address", "drop_address", ["pickup_place"], False),
        ("order", "order_id", ["order_date"], False),
        ("toAccount", "to_account", ["from_account"], False),
        ("订单", "客户", ["订单号"], False),
    ],
)
def test_a_rival_is_told_by_the_words_that_a_key_leaves_out(
    given: str, wanted: str, others: list[str], has_rival: bool
) -> None:
    tool = build("move", dict.fromkeys([wanted, *others], TEXT))
    assert sure_repairs.has_rival(given, wanted, tool, ()) is has_rival
    assert not sure_repairs.has_rival(given, wanted, tool, others)


@pytest.mark.parametrize("given", [{}, {"from_account": "A-111"}])
def test_a_value_that_is_said_for_either_of_two_parameters_is_filled_into_neither(
    given: dict[str, Any],
) -> None:
    writing = _moving("to_account", effects=WRITE)
    assert sent(writing, {"amount": "5", **given}, "Transfer 5 out of account A-111.") is None
    both = "Transfer 5 from account A-111 to account B-222."
    assert sent(writing, {"amount": "5", **given}, both) == {
        "amount": "5",
        "to_account": "B-222",
        **given,
    }
