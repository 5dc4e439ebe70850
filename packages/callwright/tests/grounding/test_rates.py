"""Lengths beside "an hour" are speeds, in five languages."""

from __future__ import annotations

import pytest

from callwright.grounding.foreign import numbers_in
from callwright.grounding.quantity import Number, find_numbers
from callwright.grounding.rates import join_rates


def read(text: str, language: str) -> list[Number]:
    found = find_numbers(text) if language == "en" else numbers_in(text, (), language)
    return [*join_rates(found, text, language)]


@pytest.mark.parametrize(
    ("text", "language", "unit"),
    [
        ("The wind blows at 12 kilometres an hour.", "en", "km/h"),
        ("12 Kilometer in der Stunde", "de", "km/h"),
        ("12 kilómetros a la hora", "es", "km/h"),
        ("风速为每小时12公里。", "zh", "km/h"),
        ("时速约12英里", "zh", "mph"),
        ("风速每秒12米", "zh", "m/s"),
        ("12 كيلومترًا في الساعة", "ar", "km/h"),
    ],
)
def test_a_length_for_a_time_is_a_speed(text: str, language: str, unit: str) -> None:
    (found,) = read(text, language)
    assert (found.value, found.unit) == (12.0, unit)


@pytest.mark.parametrize(
    ("text", "language", "units"),
    [
        ("12 kilometres in an hour and a half", "en", ["km", "h"]),
        ("12 Liter pro Stunde", "de", ["l"]),
        ("每小时12次", "zh", [""]),
        ("12 km par heure", "fr", ["km"]),
    ],
)
def test_other_numbers_stay_as_they_are(text: str, language: str, units: list[str]) -> None:
    assert [number.unit for number in read(text, language)] == units
