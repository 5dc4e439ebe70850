"""Which tools give the values of arguments that are looked up."""

from __future__ import annotations

from callwright.dataflow.lookups import find_lookups
from callwright.nouns.types import READ, WRITE, JsonObject, Tool

TEXT: JsonObject = {"type": "string"}
MAIL: JsonObject = {"type": "string", "format": "email"}
BY_NAME: JsonObject = {"properties": {"name": TEXT}, "required": ["name"]}
FIND = Tool("find_customer", "Find customers by name. Returns id and email.", BY_NAME, effects=READ)
ORDER = Tool(
    "create_order",
    "Order.",
    {"properties": {"part_code": TEXT, "customer_id": TEXT}, "required": ["part_code"]},
    effects=WRITE,
)
SEND = Tool(
    "send_mail",
    "Send a mail.",
    {"properties": {"to": MAIL, "body": TEXT}, "required": ["to", "body"]},
    effects=WRITE,
)


def test_an_optional_identifier_has_a_lookup_too() -> None:
    assert find_lookups([FIND, ORDER]) == {"create_order": {"customer_id": ("find_customer",)}}


def test_a_format_is_looked_up_with_what_says_that_it_returns_it() -> None:
    assert find_lookups([FIND, SEND])["send_mail"] == {"to": ("find_customer",)}
    silent = Tool("find_room", "Find rooms by name.", BY_NAME, effects=READ)
    assert find_lookups([silent, SEND]) == {}
    declared = Tool(
        "find_room",
        "Find rooms.",
        {"properties": {"name": TEXT}},
        {"type": "object", "properties": {"owner_email": TEXT}},
        effects=READ,
    )
    assert find_lookups([declared, SEND])["send_mail"] == {"to": ("find_room",)}


def test_a_writer_gives_nothing() -> None:
    made = Tool("make_customer", "Makes a customer. Returns id and email.", {}, effects=WRITE)
    assert find_lookups([made, ORDER, SEND]) == {}


def test_without_tools_there_are_no_lookups() -> None:
    assert find_lookups([]) == {}
