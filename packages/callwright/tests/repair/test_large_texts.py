"""What a model, a client or a tool wrote is read in time that grows with its length, whatever it
repeats.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from callwright.grounding import check_answer
from callwright.nouns.types import Tool, ToolCall, ToolResult
from callwright.repair.gate import Gate
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.refinement import refine
from callwright.repair.rules.several import left_over, several

LONG = 60_000
SECONDS = 4.0  # what grows with the square takes a minute and more
WEATHER = Tool(
    "get_weather",
    "Weather of a city.",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "when": {"type": "string", "format": "date"},
            "day": {"type": "string", "description": "as YYYY-MM-DD"},
            "unit": {"enum": ["metric", "imperial"]},
            "price": {"type": "number", "description": "in km"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "user_id": {"type": "string"},
            "email": {"type": "string", "format": "email"},
        },
        "required": ["city", "days", "user_id", "price"],
    },
)
SOME = (" ", "\n", '"', "1", "A.", "$1 ", "{'", "_")
MORE = (
    *(
        "a",
        "A",
        "'",
        "(",
        "[",
        "{",
        "<",
        ",",
        ".",
        "-",
        "@",
        "/",
        "$",
        "\\",
        "é",
        "1,",
        "a.",
        "A ",
        "Ab ",
        "a b ",
        "1 ",
    ),
    *(
        ", ",
        ". ",
        "a@",
        "A1 ",
        "Ab, ",
        "a and ",
        '" ',
        "[r1",
        '{"',
        "</",
        "```",
        "Mr. ",
        "a. ",
        "r1 ",
        "**",
        "a=",
        "f(",
    ),
    *(
        "- ",
        "1. ",
        "city ",
        "city is ",
        '"a", ',
        "“",
        "${a}",
        "API_call_0 ",
        "2020-01-01 ",
        "id ",
        "from A to ",
        "<|",
    ),
    *(
        "<tool_call>",
        "<think>",
        "Action: ",
        '{"name": ',
        "&lt;",
        "\t",
        "5 km ",
        "Human:",
        "(results ",
        "\ud800",
    ),
)


def call(**values: object) -> ToolCall:
    return ToolCall("c", "get_weather", {"city": "Paris", "days": 3, **values})


def of_value(text: str) -> None:
    for key in WEATHER.properties:
        refine([call(**{key: text})], [WEATHER], query="Weather in Paris for 3 days")


def of_name_and_key(text: str) -> None:
    refine([call(**{text: 1}), ToolCall("d", text, {})], [WEATHER], query="Weather in Paris")


def of_request(text: str) -> None:
    refine([ToolCall("c", "get_weather", {"city": "Paris"})], [WEATHER], query=text)
    several(text, [call()], [WEATHER])
    list(left_over(text, [call()]))


def of_reply(text: str) -> None:
    for reply in (text, "<tool_call>" + text, f"[get_weather(city={text})]"):
        refine(reply, [WEATHER], query="x")
    refine([ToolCall("c", "get_weather", "{" + text)], [WEATHER], query="x")


def of_answer(text: str) -> None:
    check_answer("It is 5. " + text, "x", [ToolResult("r1", "get_weather", {}, {"a": 1})])


def of_sources(text: str) -> None:
    sources = ProvenanceIndex(text, results=[ToolResult("r1", "x", {}, {"a": text})])
    Gate([WEATHER]).check(call(user_id=text, price=1), sources)


READERS = (of_value, of_name_and_key, of_request, of_reply, of_answer, of_sources)


def read(reader: Callable[[str], None], unit: str) -> None:
    text = (unit * LONG)[:LONG]
    started = time.process_time()
    reader(text)
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("unit", SOME)
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_a_long_text_is_read_in_linear_time(reader: Callable[[str], None], unit: str) -> None:
    read(reader, unit)


@pytest.mark.heavy
@pytest.mark.parametrize("unit", MORE)
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_whatever_a_long_text_repeats_it_is_read_in_linear_time(
    reader: Callable[[str], None], unit: str
) -> None:
    read(reader, unit)
