"""Tools and calls that can have every kind of error."""

from __future__ import annotations

from callwright.nouns.types import Tool, ToolCall

HOTEL = Tool(
    "travel.find_hotel",
    "Find a hotel",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Name of the city"},
            "check_in": {"type": "string"},
            "nights": {"type": "integer"},
            "maxPrice": {"type": "number"},
            "kind": {"type": "string", "enum": ["bed_and_breakfast", "hotel"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "filter": {"type": "object"},
            "pool": {"type": "boolean"},
            "note": {"type": ["string", "null"]},
        },
        "required": ["city", "nights"],
    },
)
PAY = Tool(
    "send_payment",
    "Pay",
    {"type": "object", "properties": {"booking": {"type": "string"}, "amount": {"type": "number"}}},
)
WEATHER = Tool("weather", "", {"type": "object", "properties": {"place": {"type": "string"}}})
TOOLS = (HOTEL, PAY, WEATHER)
CALLS = (
    ToolCall(
        "call_1",
        "travel.find_hotel",
        {
            "city": "Lyon",
            "check_in": "2026-05-01",
            "nights": 3,
            "maxPrice": 1200.5,
            "kind": "bed_and_breakfast",
            "tags": ["quiet"],
            "filter": {"stars": 4},
            "pool": True,
            "note": None,
        },
    ),
    ToolCall("call_2", "send_payment", {"booking": "$var1.id$", "amount": 2400}),
    ToolCall("call_3", "weather", {"place": "Lyon"}),
    ToolCall("call_4", "weather", {"place": "Nice"}),
)
QUERY = "Book a hotel in Lyon from 2026-05-01, pay, and tell me the weather in Lyon and Nice"
