"""Every tool of the desk with what it may do to the world: ``callwright run … --tools
examples/desk``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from callwright.nouns.types import READ_LOCAL, Effects
from callwright.tools.python.functions import tool

_PARENT = str(Path(__file__).resolve().parent.parent)
if _PARENT not in sys.path:  # loaded by its path: the modules beside it are the package "desk"
    sys.path.append(_PARENT)

from desk import company, daylight, geography, measures, notes, workdays, world  # noqa: E402

if (
    __name__ != "desk.tools"
):  # a catalogue reads this file by its path, and mcp.json, which needs both, comes next
    os.environ.setdefault("CALLWRIGHT_DESK_PYTHON", sys.executable)
    os.environ["CALLWRIGHT_DESK_HOME"] = str(world.home())

READING: tuple[Callable[..., Any], ...] = (
    geography.find_airports,
    geography.get_airport,
    geography.flight_distance,
    geography.route_distance,
    geography.flight_bearing,
    geography.position_distance,
    geography.nearest_airports,
    geography.airport_by_icao,
    geography.find_place,
    daylight.desk_date,
    daylight.sun_times,
    daylight.convert_local_time,
    daylight.twilight_times,
    daylight.moon_phase,
    daylight.weekday_of,
    daylight.days_between,
    daylight.add_days,
    daylight.utc_offset,
    workdays.list_holidays,
    workdays.check_holiday,
    workdays.count_working_days,
    workdays.next_holiday,
    workdays.add_working_days,
    measures.convert_units,
    measures.exchange_rate,
    measures.convert_currency,
    measures.add_up,
    measures.list_currencies,
    measures.rate_change,
    measures.percent_of,
    measures.split_amount,
    company.find_employee,
    company.list_employees,
    company.find_office,
    company.get_office,
    company.list_trips,
    company.list_expenses,
    company.find_rooms,
    company.list_offices,
    company.get_employee,
    company.get_trip,
    company.find_trips,
    company.list_rooms,
    company.list_bookings,
    notes.list_notes,
    notes.search_notes,
    notes.read_note,
)
WRITING: tuple[Callable[..., Any], ...] = (
    company.book_room,
    company.add_expense,
    notes.append_note,
)
DESTROYING: tuple[Callable[..., Any], ...] = (
    company.delete_expense,
    company.cancel_trip,
    notes.write_note,  # replaces a note of the same name
    notes.delete_note,
)
ADDS = Effects(read_only=False, destructive=False, idempotent=False, open_world=False)
DESTROYS = Effects(read_only=False, destructive=True, idempotent=False, open_world=False)
TOOLS: tuple[Callable[..., Any], ...] = tuple(
    tool(effects=effects)(function)
    for effects, functions in ((READ_LOCAL, READING), (ADDS, WRITING), (DESTROYS, DESTROYING))
    for function in functions
)
BY_NAME: dict[str, Callable[..., Any]] = {function.__name__: function for function in TOOLS}
DESTRUCTIVE_NAMES = frozenset({function.__name__ for function in DESTROYING} | {"git_reset"})
