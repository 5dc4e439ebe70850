from __future__ import annotations

from callwright.nouns.types import WRITE, Tool
from callwright_lab.benchmarks.gateway.call_path import find_offered_name, offer_tools, send_call

TOOL = Tool(
    "get.forecast",
    "The forecast of a city.",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
    effects=WRITE,
)


def test_a_right_call_reaches_its_server_as_it_is() -> None:
    catalog = offer_tools([TOOL])
    name = find_offered_name(catalog, "get.forecast")
    assert name == "get_forecast"
    passed = send_call(catalog, name, {"days": 2, "city": "Oslo"})
    assert passed.tool == "get.forecast"
    assert passed.arguments is not None
    assert list(passed.arguments.items()) == [("days", 2), ("city", "Oslo")]
    assert passed.rules == ()


def test_a_malformed_call_is_repaired_or_refused() -> None:
    catalog = offer_tools([TOOL])
    repaired = send_call(catalog, "get_forecast", '{"City": "Oslo", "days": "2"}')
    assert repaired.arguments == {"city": "Oslo", "days": 2}
    assert repaired.rules
    refused = send_call(catalog, "get_forecast", {"days": 2})
    assert refused.arguments is None
    assert refused.refused == "arguments"
    assert "city" in refused.text
    assert send_call(catalog, "forecast", {"city": "Oslo"}).refused == "unknown_tool"
