from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.language.pack import PACKS
from callwright.language.quantities import (
    UNITS,
    Quantity,
    convert_value,
    find_units,
    read_quantities,
)

HOURS = {
    "en": [
        ("for an hour and a half", 1.5),
        ("one and a half hours", 1.5),
        ("1 hour 30 minutes", 1.5),
        ("1h15m30s", 4_530 / 3_600),
        ("three quarters of an hour", 0.75),
        ("2½ hours", 2.5),
        ("two hours and twenty minutes", 2 + 1 / 3),
    ],
    "de": [
        ("anderthalb Stunden", 1.5),
        ("eine Dreiviertelstunde", 0.75),
        ("eine Stunde und 30 Minuten", 1.5),
        ("2,5 Stunden", 2.5),
    ],
    "es": [
        ("una hora y media", 1.5),
        ("tres cuartos de hora", 0.75),
        ("hora y cuarto", 1.25),
        ("un cuarto de hora", 0.25),
    ],
    "zh": [
        ("一个半小时", 1.5),
        ("一小时半", 1.5),
        ("两个半小时", 2.5),
        ("半小时", 0.5),
        ("两小时三十分钟", 2.5),
    ],
    "ar": [
        ("ساعة ونصف", 1.5),
        ("لمدة ساعتين", 2.0),
        ("ثلاثة أرباع الساعة", 0.75),
        ("ساعتان ونصف", 2.5),
    ],
}


@pytest.mark.parametrize(
    ("code", "text", "hours"),
    [(code, text, hours) for code, told in HOURS.items() for text, hours in told],
)
def test_hours_are_read_in_words_and_in_figures(code: str, text: str, hours: float) -> None:
    counts = [n for one in read_quantities(text, code) if one.unit == "h" for n in one.counts]
    assert any(n == pytest.approx(hours) for n in counts)


@pytest.mark.parametrize(
    ("code", "text", "unit", "count"),
    [
        ("en", "2 inches", "in", 2),
        ("en", "12 cm long", "cm", 12),
        ("en", "at 72 °F", "F", 72),
        ("en", "68 degrees", "F", 68),
        ("en", "180 pounds", "lb", 180),
        ("en", "for 2:30 minutes", "min", 2.5),
        ("en", "1,250 km", "km", 1250),
        ("en", "99 cents", "cent", 99),
        ("de", "2,5 km", "km", 2.5),
        ("de", "15 Prozent", "%", 15),
        ("es", "15 por ciento", "%", 15),
        ("zh", "12厘米", "cm", 12),
        ("zh", "12 cm", "cm", 12),
        ("ar", "٩٠ دقيقة", "min", 90),
        ("en", "a pound and a half of beef", "lb", 1.5),
        ("zh", "两公斤半土豆", "kg", 2.5),
        ("zh", "半公斤", "kg", 0.5),
        ("zh", "两个星期后", "week", 2),
        ("zh", "三个钟头", "h", 3),
        ("ar", "خمسين بالمئة", "%", 50),
        ("ar", "خمسين في المئة", "%", 50),
        ("ar", "3 لترات", "l", 3),
        ("ar", "خمسة أعوام", "year", 5),
    ],
)
def test_a_number_counts_with_the_unit_behind_it(
    code: str, text: str, unit: str, count: float
) -> None:
    assert any(one.unit == unit and count in one.counts for one in read_quantities(text, code))


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "50 euros for Ann"),  # money is no quantity
        ("en", "it is fine again"),
        ("en", "on 2026.03.10 min"),
        ("de", "meine Überstunden"),
        ("zh", "今天下午"),
        ("xx", "2 hours"),
    ],
)
def test_what_counts_nothing_is_no_quantity(code: str, text: str) -> None:
    assert [*read_quantities(text, code)] == []


@pytest.mark.parametrize(
    ("unit", "target", "made"),
    [
        ("in", "mm", [50.8]),
        ("mi", "km", [3.218688]),
        ("F", "C", [-16.666667]),
        ("GB", "MB", [2_000, 2_048]),
        ("min", "km", []),
        ("%", "%", []),
    ],
)
def test_quantities_are_converted_within_their_dimension(
    unit: str, target: str, made: list[float]
) -> None:
    assert [*Quantity(frozenset({2.0}), unit).convert(target)] == pytest.approx(made)


@pytest.mark.parametrize(
    ("key", "about", "units"),
    [
        ("length_mm", "", {"mm"}),
        ("minutesBefore", "", {"min"}),
        ("temp_f", "", {"F"}),
        ("amount_cents", "", {"cent"}),
        ("amount", "In the smallest currency unit.", {"cent"}),
        ("importe", "En céntimos.", {"cent"}),
        ("duration", "In milliseconds.", {"ms"}),
        ("dauer", "Dauer in Minuten", {"min"}),
        ("时长", "时长（分钟）", {"min"}),
        ("amount", "Money to send to a person.", set()),
        ("quantity", "", set()),
    ],
)
def test_a_schema_names_its_unit_in_any_language(key: str, about: str, units: set[str]) -> None:
    assert find_units(key, about) == units


@pytest.mark.parametrize("code", PACKS)
def test_a_text_without_numbers_and_a_long_one_are_read(code: str) -> None:
    assert [*read_quantities("", code)] == []
    assert len([*read_quantities("2 km, " * 5_000, code)]) < 5_000
    assert {"h", "km", "cent", "%"} <= UNITS.keys()


NAMES = st.sampled_from(sorted(UNITS))
VALUES = st.floats(-1e6, 1e6, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (26.2, "mi", "km", 42.165),
        (100, "C", "F", 212),
        (0, "K", "C", -273.15),
        (90, "min", "h", 1.5),
        (36, "km/h", "m/s", 10),
        (1, "ha", "m2", 10_000),
    ],
)
def test_values_are_converted_by_the_defined_factors(
    value: float, source: str, target: str, expected: float
) -> None:
    assert convert_value(value, source, target)[0] == pytest.approx(expected, rel=1e-4)


@given(VALUES, NAMES, NAMES)
def test_a_conversion_there_and_back_gives_the_value_again(value: float, a: str, b: str) -> None:
    there = convert_value(value, a, b)
    if there:
        assert convert_value(there[0], b, a)[0] == pytest.approx(value, rel=1e-6, abs=1e-6)


@given(NAMES, NAMES)
def test_only_units_of_one_dimension_convert_and_money_never_does(a: str, b: str) -> None:
    one, two = UNITS[a].dimension, UNITS[b].dimension
    assert bool(convert_value(1.0, a, b)) == (one == two and one not in ("money", "share"))


def test_bytes_are_counted_in_thousands_and_in_1024s() -> None:
    assert set(convert_value(2.0, "GB", "MB")) == {2000.0, 2048.0}
