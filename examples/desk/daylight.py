"""Dates, time zones and the sun. Data: the IANA time zone database; the sun's position by astral (Apache-2.0)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date as Date
from datetime import datetime, timedelta
from typing import Annotated, TypedDict
from zoneinfo import ZoneInfo

from astral import Observer
from astral.sun import daylight

from callwright.errors import ToolError

from .world import TODAY


@dataclass(frozen=True)
class Form:
    """What a schema says of a text beyond its type."""

    description: str
    json_schema_extra: dict[str, str]


Day = Annotated[str, Form("YYYY-MM-DD", {"format": "date"})]
Zone = Annotated[str, "IANA time zone, such as Europe/Paris"]


class Today(TypedDict):
    date: str
    weekday: str


class SunTimes(TypedDict):
    date: str
    sunrise: str
    sunset: str
    sunset_date: str
    timezone: str
    daylight_minutes: int


class ConvertedTime(TypedDict):
    date: str
    time: str
    timezone: str
    weekday: str


def desk_date() -> Today:
    """Today's date and weekday as the desk counts them."""
    day = Date.fromisoformat(TODAY)
    return Today(date=TODAY, weekday=f"{day:%A}")


def sun_times(latitude: float, longitude: float, date: Day, timezone: Zone) -> SunTimes:
    """Local times of sunrise and sunset at a position on a date."""
    zone, day = parse_zone(timezone), parse_day(date)
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise ToolError("latitude must lie in -90..90 and longitude in -180..180")
    place = Observer(latitude, longitude, 0.0)
    try:
        rise, sets = daylight(place, day, tzinfo=zone)
        if sets < rise:  # far north in June the sun sets after midnight: that sunset belongs to the next date
            sets = daylight(place, day + timedelta(days=1), tzinfo=zone)[1]
    except ValueError as exc:
        raise ToolError(f"the sun does not rise or does not set there on {date}: {exc}") from exc
    return SunTimes(
        date=day.isoformat(),
        sunrise=f"{rise:%H:%M}",
        sunset=f"{sets:%H:%M}",
        sunset_date=f"{sets:%Y-%m-%d}",
        timezone=timezone,
        daylight_minutes=round((sets - rise).total_seconds() / 60),
    )


def convert_local_time(
    date: Day, time: Annotated[str, "HH:MM, 24-hour clock"], from_timezone: Zone, to_timezone: Zone
) -> ConvertedTime:
    """Convert a local date and time from one time zone to another, daylight saving included."""
    try:
        moment = datetime.strptime(time, "%H:%M").time()
    except ValueError as exc:
        raise ToolError(f"{time!r} is not a time of the form HH:MM") from exc
    start = datetime.combine(parse_day(date), moment, parse_zone(from_timezone))
    there = start.astimezone(parse_zone(to_timezone))
    return ConvertedTime(date=f"{there:%Y-%m-%d}", time=f"{there:%H:%M}", timezone=to_timezone, weekday=f"{there:%A}")


def parse_day(text: str) -> Date:
    """The date of ``YYYY-MM-DD``; tells the model otherwise."""
    try:
        return Date.fromisoformat(text)
    except ValueError as exc:
        raise ToolError(f"{text!r} is not a date of the form YYYY-MM-DD") from exc


def parse_zone(name: str) -> ZoneInfo:
    """The time zone of an IANA name; tells the model otherwise."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError) as exc:
        raise ToolError(f"there is no time zone {name!r}: use an IANA name such as Europe/Paris") from exc
