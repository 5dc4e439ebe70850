import pytest

from callwright.grounding.quantity import (
    Number,
    find_moments,
    find_numbers,
    shift_to_offset,
    weekday_of,
)


def only(text: str) -> Number:
    found = find_numbers(text)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("1,234.50 EUR", 1234.5, "EUR"),
        ("$1,234", 1234, "USD"),
        ("2.1 million", 2_100_000, ""),
        ("5k", 5000, ""),
        ("−5 °C", -5, "C"),
        ("23 %", 23, "%"),
        ("12km", 12, "km"),
        ("105 square kilometres", 105, "km2"),
        ("1h 25m", 85, "min"),
        ("2 hours and 5 minutes", 125, "min"),
        ("five and a half hours", 5.5, "h"),
        ("half an hour", 0.5, "h"),
        ("twenty-five", 25, ""),
        ("a dozen", 12, ""),
        ("1.234,56", 1234.56, ""),
        ("12\u202f345", 12345, ""),
        ("1.2e5", 120_000, ""),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, value: float, unit: str) -> None:
    found = only(text)
    assert (round(found.value, 6), found.unit) == (value, unit)


def test_the_step_is_the_worth_of_the_last_digit() -> None:
    assert only("2.1 million").step == pytest.approx(100_000)
    assert only("3.50").step == pytest.approx(0.01)


@pytest.mark.parametrize(
    "text",
    [
        "24 May 2024",
        "May 24, 2024",
        "the 24th of May 2024",
        "2024-05-24",
        "Friday, May 24th, 2024",
        "24.05.2024",
        "5/24/2024",
    ],
)
def test_dates_are_read_in_every_common_form(text: str) -> None:
    found = find_moments(text)[0]
    assert (found.year, found.month, found.day) == (2024, 5, 24)
    assert weekday_of(found) == 4


@pytest.mark.parametrize(
    ("text", "clock"),
    [("2:30 pm", (14, 30)), ("14:30", (14, 30)), ("12 am", (0, 0)), ("noon", (12, 0))],
)
def test_times_are_read_in_twelve_and_twenty_four_hours(text: str, clock: tuple[int, int]) -> None:
    assert (find_moments(text)[0].hour, find_moments(text)[0].minute) == clock


def test_a_moment_is_told_in_another_zone() -> None:
    utc = shift_to_offset(find_moments("2024-05-24T01:30:00+02:00")[0], 0)
    assert (utc.day, utc.hour, utc.minute) == (23, 23, 30)
