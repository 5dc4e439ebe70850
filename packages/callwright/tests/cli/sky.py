"""A file of tools: the weather of two cities."""

from __future__ import annotations

TOOLS = '''
from callwright.tools import tool
from callwright.nouns.types import READ_LOCAL

@tool(effects=READ_LOCAL)
def weather(city: str) -> dict[str, object]:
    """The weather of a city."""
    return {"city": city, "sky": {"Oslo": "clear", "Rome": "cloudy"}[city]}
'''
