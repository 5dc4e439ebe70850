"""A small catalogue whose tools differ in name, words, parameters and where they come from."""

from __future__ import annotations

import pytest

from callwright.types import Tool


def tool(name: str, description: str = "", *parameters: str, source: str = "") -> Tool:
    properties = {key: {"type": "string"} for key in parameters}
    return Tool(name, description, {"type": "object", "properties": properties}, source=source)


@pytest.fixture
def tools() -> list[Tool]:
    return [
        tool("getForecast", "The weather of the next days at a place.", "city", "days", source="openapi weather"),
        tool("getAlerts", "Official warnings for a region.", "region", source="openapi weather"),
        tool("search_flights", "Flights between two airports on a day.", "origin", "destination", source="travel"),
        tool("book_hotel", "Reserve a room in a hotel.", "hotel_id", "nights", source="travel"),
        tool("convert_currency", "An amount of money in another currency.", "amount", "currency", source="money"),
        tool("translate_text", "A text in another language.", "text", "language", source="words"),
    ]
