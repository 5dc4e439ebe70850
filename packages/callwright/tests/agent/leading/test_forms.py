"""The form of a question for calls, and what is read of its replies."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.leading.forms import (
    CallForm,
    hold_to_meant,
    read_guided_calls,
    render_led,
)
from callwright.agent.safety.held_call import HeldCall
from callwright.nouns.model_profile import SMALL
from callwright.nouns.types import JsonObject, Tool, ToolCall

PARAMETERS: JsonObject = {
    "type": "object",
    "properties": {
        "day": {"type": "string", "format": "date"},
        "pieces": {"type": "integer"},
        "extras": {"type": "array", "items": {"enum": ["wifi", "pool"]}},
        "notes": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["day"],
}
ORDER, MAIL = Tool("order", "Orders.", PARAMETERS), Tool("mail", "Mails.", {"properties": {}})


def test_the_wishes_stand_before_the_calls_and_no_call_is_a_reply() -> None:
    some, none = CallForm().build_schema([ORDER, MAIL])["anyOf"]
    assert [*some["properties"]] == ["wishes", "calls"]
    calls = some["properties"]["calls"]["items"]["anyOf"]
    assert [one["properties"]["name"]["const"] for one in calls] == ["order", "mail"]
    assert [*none["properties"]] == ["no_call"]


@pytest.mark.parametrize(
    ("form", "keys", "most", "told"),
    [
        (CallForm(most=4), ["wishes", "calls"], 4, '"wishes"'),
        (CallForm(wishes=False), ["calls"], 16, "one for each call"),
        (CallForm(several=False, least=3), ["wishes", "calls"], 1, "the one call"),
        (CallForm(several=False, wishes=False), ["calls"], 1, "the one call"),
    ],
)
def test_what_the_client_allows_is_the_form(
    form: CallForm, keys: list[str], most: int, told: str
) -> None:
    made = form.build_schema([ORDER])["anyOf"][0]["properties"]
    assert [*made] == keys
    assert made["calls"]["maxItems"] == most
    assert told in form.description


def test_where_a_call_is_demanded_there_is_no_other_reply() -> None:
    assert "no_call" not in str(CallForm(may_decline=False).build_schema([ORDER]))


def test_a_list_of_options_is_no_longer_than_there_are_options() -> None:
    some = CallForm(may_decline=False).build_schema([ORDER])
    (one,) = some["properties"]["calls"]["items"]["anyOf"]
    made = one["properties"]["arguments"]["properties"]
    assert made["extras"]["maxItems"] == 2
    assert "maxItems" not in made["notes"]


def test_the_instructions_tell_the_tools_and_the_form() -> None:
    said = render_led([ORDER], CallForm(), SMALL).content
    assert "order(day" in said
    assert CallForm().description in said


CALL = {"name": "order", "arguments": {"day": "A"}}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (json.dumps({"calls": [CALL]}), [{"day": "A"}]),
        ('{"no_call": "chat"}', []),
        ("It rains.", None),
        ('{"day": 1}', None),
        (json.dumps({"calls": [CALL]})[:-2] + ', {"name": "order", "argu', [{"day": "A"}]),
        ('{"calls": [{"name": "order", "arguments": {"da', None),
        ('{"calls": [{"name": "rocket", "arguments": {}}, 3, {"name": "order"}]}', []),
        ('{"calls": 3}', []),
    ],
)
def test_replies_are_read_and_cut_off_calls_are_left(
    text: str, found: list[JsonObject] | None
) -> None:
    calls = read_guided_calls(text, {"order", "mail"})
    assert (None if calls is None else [c.arguments for c in calls]) == found


def test_without_names_every_call_is_read() -> None:
    (call,) = read_guided_calls('{"calls": [{"name": "rocket", "arguments": {}}]}') or ()
    assert call.tool == "rocket"


@given(st.text(max_size=60))
def test_whatever_comes_is_calls_or_nothing(text: str) -> None:
    found = read_guided_calls(text)
    assert found is None or all(isinstance(one, ToolCall) for one in found)


def held(*missing: str, meant: tuple[str, ...] = ()) -> HeldCall:
    call = ToolCall("", "order", {"day": "2024-01-01", "pieces": 9})
    return HeldCall(call, "unstated_value", "why", meant=meant, missing=missing)


def test_an_argument_takes_only_the_values_that_are_meant() -> None:
    (day,) = hold_to_meant([ORDER, MAIL], [held("day", meant=("2026-03-26",))])
    assert day.properties["day"]["enum"] == ["2026-03-26"]
    (pieces,) = hold_to_meant([ORDER], [held("pieces", meant=("48",))])
    assert pieces.properties["pieces"]["enum"] == [48]
    assert hold_to_meant([ORDER], [held("day", "pieces", meant=("48",))]) == (ORDER,)
    assert hold_to_meant([ORDER], [held("gone", meant=("48",))]) == (ORDER,)
    assert hold_to_meant([ORDER], [held("day")]) == ()


def test_a_tool_without_parameters_is_called_without_arguments() -> None:
    some, _ = CallForm().build_schema([MAIL])["anyOf"]
    arguments = some["properties"]["calls"]["items"]["anyOf"][0]["properties"]["arguments"]
    assert arguments["additionalProperties"] is False
    free = Tool("note", "Notes.", {"properties": {}, "additionalProperties": True})
    some, _ = CallForm().build_schema([free])["anyOf"]
    arguments = some["properties"]["calls"]["items"]["anyOf"][0]["properties"]["arguments"]
    assert arguments["additionalProperties"] is True
