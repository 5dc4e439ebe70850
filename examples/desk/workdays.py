"""Public holidays and working days. Data: holidays (MIT), national holidays only."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, TypedDict

import holidays

from callwright.nouns.errors import ToolError

from .daylight import Day, parse_day

Country = Annotated[str, "ISO code of a country, two letters"]


class Holiday(TypedDict):
    date: str
    name: str


class Holidays(TypedDict):
    country: str
    year: int
    holidays: list[Holiday]


class HolidayCheck(TypedDict):
    country: str
    date: str
    weekday: str
    is_holiday: bool
    name: str


class NextHoliday(TypedDict):
    country: str
    date: str
    weekday: str
    name: str


class WorkingDay(TypedDict):
    country: str
    date: str
    weekday: str


class WorkingDays(TypedDict):
    country: str
    working_days: int


def list_holidays(country: Country, year: int) -> Holidays:
    """All public holidays of a country in a year."""
    found = sorted(_calendar(country, year).items())
    rows = [Holiday(date=day.isoformat(), name=name) for day, name in found if day.year == year]
    return Holidays(country=country.upper(), year=year, holidays=rows)


def check_holiday(country: Country, date: Day) -> HolidayCheck:
    """Whether a date is a public holiday in a country, and which."""
    day = parse_day(date)
    name = _calendar(country, day.year).get(day)
    return HolidayCheck(
        country=country.upper(),
        date=day.isoformat(),
        weekday=f"{day:%A}",
        is_holiday=name is not None,
        name=name or "",
    )


def count_working_days(country: Country, start: Day, end: Day) -> WorkingDays:
    """Number of working days from start to end, both included: no weekends, no public holidays."""
    first, last = parse_day(start), parse_day(end)
    if last < first or (last - first).days > 3660:
        raise ToolError("end must not lie before start, nor more than ten years after it")
    off = _calendar(country, *range(first.year, last.year + 1))
    days = (first + timedelta(n) for n in range((last - first).days + 1))
    return WorkingDays(
        country=country.upper(), working_days=sum(d.weekday() < 5 and d not in off for d in days)
    )


def next_holiday(country: Country, after: Day) -> NextHoliday:
    """The first public holiday of a country after a date."""
    day = parse_day(after)
    coming = sorted(d for d in _calendar(country, day.year, day.year + 1) if d > day)
    if not coming:
        raise ToolError(f"no holiday known for {country!r} after {after}")
    name = _calendar(country, coming[0].year)[coming[0]]
    return NextHoliday(
        country=country.upper(), date=coming[0].isoformat(), weekday=f"{coming[0]:%A}", name=name
    )


def add_working_days(country: Country, start: Day, days: int) -> WorkingDay:
    """The date so many working days after a start, the start itself not counted."""
    day = parse_day(start)
    if not 0 < days <= 1000:
        raise ToolError("days must lie in 1..1000")
    off = _calendar(country, *range(day.year, day.year + 6))
    while days:
        day += timedelta(days=1)
        days -= day.weekday() < 5 and day not in off
    return WorkingDay(country=country.upper(), date=day.isoformat(), weekday=f"{day:%A}")


def _calendar(country: str, *years: int) -> holidays.HolidayBase:
    try:
        return holidays.country_holidays(country.strip().upper(), years=years, language="en_US")
    except NotImplementedError as exc:
        raise ToolError(
            f"no holidays known for {country!r}: use a two-letter ISO code such as NO"
        ) from exc
