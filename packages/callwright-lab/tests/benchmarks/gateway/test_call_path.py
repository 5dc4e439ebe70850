"""One call on the gateway's way: what its server is sent, and what the client is told."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.types import Tool
from callwright_lab.benchmarks.gateway.call_path import find_offered_name, offer_tools, send_call

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
CATALOG = offer_tools([Tool("get_weather", "Weather of a city.", SCHEMA)])
NAME = find_offered_name(CATALOG, "get_weather")


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ({"city": "Oslo", "days": 3}, {"city": "Oslo", "days": 3}),
        ({"city": "Oslo", "days": "3"}, {"city": "Oslo", "days": 3}),
        ('{"city": "Oslo",}', {"city": "Oslo"}),
    ],
)
def test_a_server_is_sent_right_arguments(arguments: Any, sent: Any) -> None:
    passed = send_call(CATALOG, NAME, arguments)
    assert (passed.tool, passed.arguments, passed.refused) == ("get_weather", sent, "")
    assert bool(passed.rules) == (arguments != sent)


def test_what_lacks_a_value_is_refused_with_its_name() -> None:
    passed = send_call(CATALOG, NAME, {"days": 3})
    assert (passed.arguments, passed.refused) == (None, "arguments")
    assert "city" in passed.text


def test_an_unknown_tool_is_refused_and_the_near_one_named() -> None:
    passed = send_call(CATALOG, NAME.upper(), {"city": "Oslo"})
    assert (passed.arguments, passed.refused) == (None, "unknown_tool")
    assert f"'{NAME}'" in passed.text
