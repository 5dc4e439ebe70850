from __future__ import annotations

import json

from callwright.nouns.types import READ, UNKNOWN, Tool
from callwright.proxy.server.undeclared_tools import UndeclaredTools
from callwright.tools.lists.tools import tools_from_wire

CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
WEATHER = Tool("get_weather", "The weather", CITY, effects=UNKNOWN)
MAIL = Tool("send_mail", "Sends a mail", CITY, effects=UNKNOWN)


def test_each_name_is_kept_once_as_it_was_offered_first() -> None:
    found = UndeclaredTools(10_000)
    assert not found.add([])
    assert found.add([WEATHER])
    assert not found.add([MAIL, Tool("get_weather", "Something else", {}, effects=UNKNOWN)])
    assert len(found) == 2
    assert [tool.description for tool in tools_from_wire(json.loads(found.to_json()))] == [
        "The weather",
        "Sends a mail",
    ]


def test_no_secret_of_a_request_is_kept() -> None:
    found = UndeclaredTools(10_000)
    found.add([Tool("call", "Uses sk-abcdef123456", {}, effects=UNKNOWN)], ["sk-abcdef123456"])
    assert b"sk-abcdef123456" not in found.to_json()
    assert b"[secret]" in found.to_json()


def test_what_is_kept_has_a_bound_whatever_clients_offer() -> None:
    found = UndeclaredTools(5_000)
    for number in range(1_000):
        found.add([Tool(f"tool_{number}", "x" * 1_000, {}, effects=UNKNOWN)])
    assert 4 <= len(found) <= 6
    assert len(found.to_json()) < 7_000


def test_a_declared_tool_would_say_so() -> None:
    """The list is for ``tools effects``, which asks only about tools at the worst case."""
    found = UndeclaredTools(10_000)
    found.add([Tool("look", "", {}, effects=READ)])
    assert json.loads(found.to_json())[0]["function"]["annotations"]["readOnlyHint"] is True
