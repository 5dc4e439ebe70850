"""The rules on a list of calls: each by itself, then among each other."""

from __future__ import annotations

import pytest

from callwright.nouns.types import WRITE, Tool, ToolCall
from callwright.repair.context import RepairContext
from tests.repair.ruled_calls import apply_rules

TOKEN = Tool(
    "GetUserToken",
    "Get the user token by username and password.",
    {
        "type": "object",
        "properties": {"username": {"type": "string"}, "password": {"type": "string"}},
        "required": ["username", "password"],
    },
)
ALARM = Tool(
    "DeleteAlarm",
    "Remove an alarm.",
    {
        "type": "object",
        "properties": {
            "token": {"type": "string", "description": "User's token."},
            "time": {"type": "string", "description": "Format: %Y-%m-%d %H:%M:%S"},
        },
        "required": ["token", "time"],
    },
)


def test_a_call_whose_token_is_an_echo_waits_for_the_call_that_gets_the_token() -> None:
    calls = [
        ToolCall("1", "GetUserToken", {"username": "JohnDoe", "password": "pass123"}),
        ToolCall(
            "2",
            "DeleteAlarm",
            {"token": {"type": "str", "description": "User's token."}, "time": "2023-03-16"},
        ),
    ]
    found = apply_rules(
        calls, RepairContext([TOKEN, ALARM], "My username is JohnDoe and my password is pass123.")
    )
    assert found.calls == [calls[0]]
    assert found.positions == [0]
    assert found.edits[-1].rule == "wait_for_result"
    assert found.edits[-1].path == "/1"


def test_references_are_neither_converted_nor_doubted() -> None:
    calls = [
        ToolCall("1", "GetUserToken", {"username": "JohnDoe", "password": "pass123"}),
        ToolCall("2", "DeleteAlarm", {"token": "API_call_0", "time": "2023-03-16 07:00:00"}),
    ]
    found = apply_rules(
        calls, RepairContext([TOKEN, ALARM], "I am JohnDoe, pass123; alarm on 2023-03-16 07:00:00")
    )
    assert found.calls == calls
    assert found.edits == []


def test_confidence_is_that_of_the_least_certain_edit() -> None:
    calls = [ToolCall("1", "GetUserTokne", {"username": "JohnDoe", "password": "pass123"})]
    found = apply_rules(calls, RepairContext([TOKEN, ALARM], "JohnDoe pass123"))
    assert found.calls[0].tool == "GetUserToken"
    assert found.confidence == 0.98


def test_a_later_call_with_the_same_id_gets_a_fresh_one() -> None:
    calls = [
        ToolCall("call_7", "GetUserToken", {"username": "JohnDoe", "password": "pass123"}),
        ToolCall("call_7", "GetUserToken", {"username": "Jane", "password": "pass123"}),
        ToolCall("call_8", "GetUserToken", {"username": "Joe", "password": "pass123"}),
    ]
    found = apply_rules(
        calls, RepairContext([TOKEN], "JohnDoe, Jane and Joe have the password pass123")
    )
    assert [c.id for c in found.calls] == ["call_7", "call_9", "call_8"]
    assert [(e.path, e.before, e.after, e.rule) for e in found.edits] == [
        ("/1/id", "call_7", "call_9", "fresh_id"),
    ]
    assert found.calls[1].arguments == calls[1].arguments


def test_equal_calls_under_one_id_are_one_call() -> None:
    call = ToolCall("call_0", "GetUserToken", {"username": "JohnDoe", "password": "pass123"})
    found = apply_rules([call, call], RepairContext([TOKEN], "JohnDoe pass123"))
    assert found.calls == [call]
    assert [e.rule for e in found.edits] == ["duplicate_call"]


@pytest.mark.parametrize(
    "query", ["Deposit 5 twice.", "Zahle 5 ein, und dann noch einmal 5.", "存5，再存5"]
)
def test_equal_writes_of_one_reply_both_stay_whatever_the_language(query: str) -> None:
    schema = {
        "type": "object",
        "properties": {"amount": {"type": "integer"}},
        "required": ["amount"],
    }
    deposit = Tool("deposit", "Deposit money.", schema, effects=WRITE)
    calls = [ToolCall(id_, "deposit", {"amount": 5}) for id_ in ("call_0", "call_1")]
    found = apply_rules(calls, RepairContext([deposit], query))
    assert found.calls == calls
    assert found.edits == []
    assert ["both may be meant" in a.reason for a in found.abstained] == [True]
