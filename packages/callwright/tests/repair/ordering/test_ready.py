"""A tool waits for an identifier that nobody has said, if another tool provides it."""

from __future__ import annotations

import pytest

from callwright.nouns.types import Message, Tool
from callwright.repair.context import RepairContext
from callwright.repair.ordering.ready import waiting


def tool(name: str, *keys: str) -> Tool:
    properties = {key: {"type": "string"} for key in keys}
    return Tool(name, name, {"type": "object", "properties": properties, "required": list(keys)})


TOKEN = tool("GetUserToken", "username", "password")
ALARM = tool("SetAlarm", "token", "time")


def waits(said: str, *tools: Tool) -> dict[str, str]:
    return waiting(RepairContext(tools or (TOKEN, ALARM), "", [Message("user", said)]))


def test_a_tool_waits_for_what_another_returns() -> None:
    assert waits("Set an alarm for six. My name is JohnDoe, password pass123.") == {
        "SetAlarm": "token"
    }


@pytest.mark.parametrize(
    "said",
    [
        "Set an alarm, token: abcdef",
        'GetUserToken returned {"token": "a9s8d7"}',
        "my token is abc",
        "use token a9s8d7",
    ],
)
def test_what_was_said_need_not_be_waited_for(said: str) -> None:
    assert waits(said) == {}


def test_without_a_provider_nothing_waits() -> None:
    assert waits("Set an alarm for six.", ALARM) == {}
    assert waits("Set an alarm for six.", ALARM, tool("CheckToken", "token")) == {}


def test_a_place_or_a_name_is_nothing_to_wait_for() -> None:
    assert waits("Weather?", tool("get_weather", "city"), tool("get_city", "country")) == {}


def test_without_a_conversation_nothing_waits() -> None:
    assert waiting(RepairContext([TOKEN, ALARM])) == {}
