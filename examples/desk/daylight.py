"""Dates, time zones and the sun. Data: the IANA time zone database; the sun's position by astral
(Apache-2.0).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date as Date
from datetime import datetime, timedelta
from typing import Annotated, Literal, TypedDict
from zoneinfo import ZoneInfo

from astral import Observer
from astral.moon import phase
from astral.sun import dawn, daylight, dusk

from callwright.nouns.errors import ToolError

from .world import TODAY


@dataclass(frozen=True)
class Form:
    """What a schema says of a text beyond its type."""

    description: str
    json_schema_extra: dict[str, str]


Day = Annotated[str, Form("YYYY-MM-DD", {"format": "date"})]
Zone = Annotated[str, "IANA time zone, such as Europe/Paris"]
Twilight = Literal["civil", "nautical", "astronomical"]
DEPRESSION: dict[str, float] = {"civil": 6.0, "nautical": 12.0, "astronomical": 18.0}
"""Degrees of the sun below the horizon at which each twilight begins and ends."""


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


class TwilightTimes(TypedDict):
    date: str
    kind: str
    dawn: str
    dusk: str
    timezone: str


class Moon(TypedDict):
    date: str
    phase: str


class Weekday(TypedDict):
    date: str
    weekday: str


class DaySpan(TypedDict):
    start: str
    end: str
    days: int


class UtcOffset(TypedDict):
    timezone: str
    date: str
    utc_offset: str


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
    check_position(latitude, longitude)
    place = Observer(latitude, longitude, 0.0)
    try:
        rise, sets = daylight(place, day, tzinfo=zone)
        if (
            sets < rise
        ):  # far north in June the sun sets after midnight: that sunset belongs to the next date
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
    return ConvertedTime(
        date=f"{there:%Y-%m-%d}", time=f"{there:%H:%M}", timezone=to_timezone, weekday=f"{there:%A}"
    )


def twilight_times(
    latitude: float, longitude: float, date: Day, timezone: Zone, kind: Twilight
) -> TwilightTimes:
    """Local times of dawn and dusk at a position on a date, for one kind of twilight."""
    zone, day = parse_zone(timezone), parse_day(date)
    check_position(latitude, longitude)
    place = Observer(latitude, longitude, 0.0)
    try:
        rise, sets = (f(place, day, depression=DEPRESSION[kind], tzinfo=zone) for f in (dawn, dusk))
    except ValueError as exc:
        raise ToolError(f"there is no {kind} twilight there on {date}: {exc}") from exc
    return TwilightTimes(
        date=day.isoformat(),
        kind=kind,
        dawn=f"{rise:%H:%M}",
        dusk=f"{sets:%H:%M}",
        timezone=timezone,
    )


def moon_phase(date: Day) -> Moon:
    """Phase of the moon on a date."""
    age = phase(parse_day(date))  # 0 to 27.99: new moon at 0, full moon at 14
    named = ("new moon", "first quarter", "full moon", "last quarter")[int(age // 7) % 4]
    return Moon(date=date, phase=named)


def weekday_of(date: Day) -> Weekday:
    """The weekday of a date."""
    return Weekday(date=date, weekday=f"{parse_day(date):%A}")


def days_between(start: Day, end: Day) -> DaySpan:
    """Number of days from one date to another; negative where the end lies before the start."""
    return DaySpan(start=start, end=end, days=(parse_day(end) - parse_day(start)).days)


def add_days(date: Day, days: int) -> Weekday:
    """The date so many days after another, with its weekday. Negative numbers go back."""
    try:
        found = parse_day(date) + timedelta(days=days)
    except OverflowError as exc:
        raise ToolError(f"{days} days from {date} is no date of the calendar") from exc
    return Weekday(date=found.isoformat(), weekday=f"{found:%A}")


def utc_offset(timezone: Zone, date: Day) -> UtcOffset:
    """Offset of a time zone from UTC at noon of a date, such as +02:00."""
    noon = datetime.combine(
        parse_day(date), datetime.min.time().replace(hour=12), parse_zone(timezone)
    )
    return UtcOffset(timezone=timezone, date=date, utc_offset=noon.isoformat()[-6:])


def parse_day(text: str) -> Date:
    """The date of ``YYYY-MM-DD``; tells the model otherwise."""
    try:
        return Date.fromisoformat(text)
    except ValueError as exc:
        raise ToolError(f"{text!r} is not a date of the form YYYY-MM-DD") from exc


def check_position(latitude: float, longitude: float) -> None:
    """Tells the model where these are no degrees on the Earth."""
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise ToolError("latitude must lie in -90..90 and longitude in -180..180")


def parse_zone(name: str) -> ZoneInfo:
    """The time zone of an IANA name; tells the model otherwise."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError) as exc:
        raise ToolError(
            f"there is no time zone {name!r}: use an IANA name such as Europe/Paris"
        ) from exc
