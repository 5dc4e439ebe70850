"""Airports, places and great-circle distances. Data: airportsdata (MIT), astral's list of cities
(Apache-2.0).
"""

from __future__ import annotations

from functools import cache
from math import asin, atan2, cos, degrees, radians, sin, sqrt
from typing import Annotated, Literal, TypedDict

import airportsdata
from astral.geocoder import all_locations
from astral.geocoder import database as cities

from callwright.nouns.errors import ToolError

from .daylight import check_position
from .world import fold

EARTH_KM = 6371.0088
"""Mean radius of the Earth (IUGG), so distances are great circles on a sphere: within 0.5 % of the
ellipsoid.
"""

KILOMETRES_IN: dict[str, float] = {"km": 1.0, "mi": 1.609344, "nmi": 1.852}
"""International mile and nautical mile, exact by definition."""

Iata = Annotated[str, "IATA code of an airport, three letters"]
LengthUnit = Literal["km", "mi", "nmi"]


class AirportHit(TypedDict):
    iata: str
    name: str
    city: str
    country: str


class AirportHits(TypedDict):
    airports: list[AirportHit]


class Airport(TypedDict):
    iata: str
    name: str
    city: str
    country: str
    latitude: float
    longitude: float
    elevation_feet: float
    timezone: str


class Distance(TypedDict):
    origin: str
    destination: str
    kilometres: float


class Route(TypedDict):
    origin: str
    destination: str
    distance: float
    unit: str


class Bearing(TypedDict):
    origin: str
    destination: str
    initial_bearing_degrees: float


class Length(TypedDict):
    kilometres: float


class NearAirport(TypedDict):
    iata: str
    name: str
    country: str
    kilometres: float


class NearAirports(TypedDict):
    airports: list[NearAirport]


class Place(TypedDict):
    city: str
    country: str
    latitude: float
    longitude: float
    timezone: str


@cache
def _airports() -> dict[str, airportsdata.Airport]:
    return airportsdata.load("IATA")


def find_airports(city: Annotated[str, "city or airport name"]) -> AirportHits:
    """Find airports by city or airport name; gives their IATA codes."""
    wanted = fold(city)
    whole = [a for a in _airports().values() if wanted in (fold(a["city"]), fold(a["name"]))]
    words = set(wanted.split()) - {"airport"}
    loose = [
        a
        for a in _airports().values()
        if words and words <= set(fold(f"{a['city']} {a['name']}").split())
    ]
    found = {a["iata"]: a for a in whole + loose}
    if not found:
        raise ToolError(f"no airport found for {city!r}: try the name of a city in English")
    hits = [
        AirportHit(iata=a["iata"], name=a["name"], city=a["city"], country=a["country"])
        for a in found.values()
    ]
    return AirportHits(airports=hits[:6])


def get_airport(iata: Iata) -> Airport:
    """Name, city, country (ISO code), position, elevation and time zone of one airport."""
    a = _airport(iata)
    return Airport(
        iata=a["iata"],
        name=a["name"],
        city=a["city"],
        country=a["country"],
        latitude=a["lat"],
        longitude=a["lon"],
        elevation_feet=a["elevation"],
        timezone=a["tz"],
    )


def flight_distance(origin: Iata, destination: Iata) -> Distance:
    """Great-circle distance between two airports, in kilometres."""
    a, b = _airport(origin), _airport(destination)
    kilometres = _great_circle(a["lat"], a["lon"], b["lat"], b["lon"])
    return Distance(origin=a["iata"], destination=b["iata"], kilometres=round(kilometres, 1))


def route_distance(origin: Iata, destination: Iata, unit: LengthUnit) -> Route:
    """Distance between two airports in the unit asked for."""
    a, b = _airport(origin), _airport(destination)
    kilometres = _great_circle(a["lat"], a["lon"], b["lat"], b["lon"])
    return Route(
        origin=a["iata"],
        destination=b["iata"],
        distance=round(kilometres / KILOMETRES_IN[unit], 1),
        unit=unit,
    )


def flight_bearing(origin: Iata, destination: Iata) -> Bearing:
    """Direction in which a flight sets out from one airport to another, in degrees from north."""
    a, b = _airport(origin), _airport(destination)
    lat1, lat2, turn = radians(a["lat"]), radians(b["lat"]), radians(b["lon"] - a["lon"])
    east, north = sin(turn) * cos(lat2), cos(lat1) * sin(lat2) - sin(lat1) * cos(lat2) * cos(turn)
    bearing = round(degrees(atan2(east, north)) % 360, 1)
    return Bearing(origin=a["iata"], destination=b["iata"], initial_bearing_degrees=bearing)


def position_distance(
    latitude_a: float, longitude_a: float, latitude_b: float, longitude_b: float
) -> Length:
    """Great-circle distance between two positions, in kilometres."""
    check_position(latitude_a, longitude_a)
    check_position(latitude_b, longitude_b)
    return Length(
        kilometres=round(_great_circle(latitude_a, longitude_a, latitude_b, longitude_b), 1)
    )


def nearest_airports(latitude: float, longitude: float) -> NearAirports:
    """The five airports nearest to a position, nearest first."""
    check_position(latitude, longitude)
    far = [
        (_great_circle(latitude, longitude, a["lat"], a["lon"]), a["iata"], a)
        for a in _airports().values()
    ]
    rows = [
        NearAirport(iata=iata, name=a["name"], country=a["country"], kilometres=round(km, 1))
        for km, iata, a in sorted(far, key=lambda row: row[:2])[:5]
    ]
    return NearAirports(airports=rows)


def airport_by_icao(icao: Annotated[str, "ICAO code of an airport, four letters"]) -> Airport:
    """The airport of an ICAO code: IATA code, name, city, country, position, elevation, time
    zone.
    """
    found = next((a for a in _airports().values() if a["icao"] == icao.strip().upper()), None)
    if found is None:
        raise ToolError(f"there is no airport with the ICAO code {icao!r}")
    return get_airport(found["iata"])


def find_place(city: Annotated[str, "name of a city in English"]) -> Place:
    """Country, latitude, longitude and time zone of a city."""
    for found in all_locations(cities()):
        if fold(found.name) == fold(city):
            return Place(
                city=found.name,
                country=found.region,
                latitude=round(found.latitude, 4),
                longitude=round(found.longitude, 4),
                timezone=found.timezone,
            )
    raise ToolError(f"no city called {city!r} in the list; it holds capitals and large cities only")


def _great_circle(lat_a: float, lon_a: float, lat_b: float, lon_b: float) -> float:
    """Kilometres by the haversine formula."""
    lat1, lat2, turn = radians(lat_a), radians(lat_b), radians(lon_b - lon_a)
    half = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin(turn / 2) ** 2
    return 2 * EARTH_KM * asin(sqrt(half))


def _airport(iata: str) -> airportsdata.Airport:
    found = _airports().get(iata.strip().upper())
    if found is None:
        raise ToolError(
            f"there is no airport with the IATA code {iata!r}: find it with find_airports"
        )
    return found
