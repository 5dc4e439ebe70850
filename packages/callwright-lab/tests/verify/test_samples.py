"""What anybody would try: values of the right type and form, nothing for what only its owner can
know.
"""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import JsonObject
from callwright.schema.compiled import compile_schema
from callwright_lab.verify.samples import extract_examples, sample_values

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("key", "part", "first"),
    [
        ("city", {"type": "string"}, "London"),
        ("origin", {"type": "string", "description": "IATA code of an airport"}, "LHR"),
        ("base", {"type": "string", "description": "ISO code of a currency"}, "EUR"),
        ("from_timezone", {"type": "string"}, "Europe/London"),
        ("start", {"type": "string", "description": "HH:MM, 24-hour clock"}, "09:00"),
        ("day", {"type": "string", "format": "date"}, "2026-10-11"),
        ("when", {"type": "string", "description": "yyyy-mm-dd"}, "2026-10-11"),
        ("at", {"type": "string", "format": "date-time"}, "2026-10-11T12:00:00Z"),
        ("year", {"type": "integer"}, 2026),
        ("limit", {"type": "integer", "maximum": 5}, 5),
        ("latitude", {"type": "number"}, 51.5),
        ("active", {"type": "boolean"}, False),
        ("people", {"type": "integer"}, 2),
        ("message", {"type": "string"}, "example"),
        ("note", {"type": "string", "minLength": 10}, "exampleeee"),
        ("note", {"type": "string", "maxLength": 3}, "exa"),
        ("contact", {"type": "string", "format": "email"}, "someone@example.com"),
        ("homepage", {"type": "string", "format": "uri"}, "https://example.com"),
    ],
)
def test_the_first_sample_is_of_the_parameters_kind(
    key: str, part: JsonObject, first: object
) -> None:
    assert sample_values(key, part, TODAY)[0] == first


@given(
    least=st.integers(0, 30),
    room=st.integers(0, 30),
    form=st.sampled_from(["", "email", "ipv6", "duration"]),
)
def test_texts_have_the_length_that_is_asked_for(least: int, room: int, form: str) -> None:
    part: JsonObject = {"type": "string", "minLength": least, "maxLength": least + room}
    schema = compile_schema(part)
    assert all(
        schema.accepts(value)
        for value in sample_values("x", part | ({"format": form} if form else {}), TODAY)
    )


@pytest.mark.parametrize(
    "key", ["user_id", "api_key", "repo_path", "uuid", "password", "employee_id", "isbn"]
)
@pytest.mark.parametrize("kind", ["string", "integer"])
def test_identifiers_and_credentials_are_not_guessed(key: str, kind: str) -> None:
    assert sample_values(key, {"type": kind}, TODAY) == []


@given(
    key=st.sampled_from(
        ["city", "page", "offset", "radius", "amount", "month", "x", "date", "year"]
    ),
    kind=st.sampled_from(["string", "integer", "number", "boolean", "array", ["integer", "null"]]),
    least=st.integers(-5, 5),
    room=st.integers(0, 5),
)
def test_samples_keep_to_the_schema(key: str, kind: str, least: int, room: int) -> None:
    part = {"type": kind, "minimum": least, "maximum": least + room}
    schema = compile_schema(part)
    assert all(schema.accepts(value) for value in sample_values(key, part, TODAY))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("IANA time zone, such as Europe/Paris", ["Europe/Paris"]),
        (
            "IANA name (e.g., 'America/New_York', 'Europe/London'). Use 'UTC'",
            ["America/New_York", "Europe/London"],
        ),
        ("such as kilometer, feet, degC", ["kilometer", "feet", "degC"]),
        ("for example 2024-01-31", ["2024-01-31"]),
        ("Example: AAPL or MSFT", ["AAPL"]),
        ("the city to look for", []),
    ],
)
def test_examples_in_a_description_are_read(text: str, found: list[str]) -> None:
    assert extract_examples(text) == found
