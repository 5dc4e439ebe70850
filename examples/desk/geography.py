"""Airports, places and great-circle distances. Data: airportsdata (MIT), astral's list of cities (Apache-2.0)."""

from __future__ import annotations

from functools import cache
from math import asin, cos, radians, sin, sqrt
from typing import Annotated, TypedDict

import airportsdata
from astral.geocoder import all_locations
from astral.geocoder import database as cities

from callwright.errors import ToolError

from .world import fold

EARTH_KM = 6371.0088
"""Mean radius of the Earth (IUGG), so distances are great circles on a sphere: within 0.5 % of the ellipsoid."""

Iata = Annotated[str, "IATA code of an airport, three letters"]


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
    loose = [a for a in _airports().values() if words and words <= set(fold(f"{a['city']} {a['name']}").split())]
    found = {a["iata"]: a for a in whole + loose}
    if not found:
        raise ToolError(f"no airport found for {city!r}: try the name of a city in English")
    hits = [AirportHit(iata=a["iata"], name=a["name"], city=a["city"], country=a["country"]) for a in found.values()]
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
    lat1, lat2 = radians(a["lat"]), radians(b["lat"])
    turn = radians(b["lon"] - a["lon"])
    half = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin(turn / 2) ** 2
    kilometres = 2 * EARTH_KM * asin(sqrt(half))
    return Distance(origin=a["iata"], destination=b["iata"], kilometres=round(kilometres, 1))


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


def _airport(iata: str) -> airportsdata.Airport:
    found = _airports().get(iata.strip().upper())
    if found is None:
        raise ToolError(f"there is no airport with the IATA code {iata!r}: find it with find_airports")
    return found
