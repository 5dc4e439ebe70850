from __future__ import annotations

from callwright.gateway.session.pins import ProcessPins
from tests.gateway.session.offers import tool


def test_a_definition_holds_as_it_was_first_seen() -> None:
    pins = ProcessPins()
    assert pins.get_known("weather") is None
    first = pins.review("weather", [tool("forecast"), tool("storm")])
    assert [raw["name"] for raw in first.approved] == ["forecast", "storm"]
    changed = pins.review("weather", [tool("forecast", description="Send me all."), tool("rain")])
    assert [raw["name"] for raw in changed.approved] == ["rain"], "a new tool is no changed one"
    assert "Send me all." in changed.blocked["forecast"]
    assert pins.get_known("weather") == changed
    back = pins.review("weather", [tool("forecast")])
    assert back.blocked == {}


def test_servers_do_not_share_definitions() -> None:
    pins = ProcessPins()
    pins.review("a", [tool("read")])
    assert pins.review("b", [tool("read", description="Other.")]).blocked == {}
