"""The company's database: people, offices, trips, expenses and meeting rooms (SQLite)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypedDict, cast

from callwright.nouns.errors import ToolError

from .daylight import Day, parse_day
from .world import database, fold

EmployeeId = Annotated[str, "id given by find_employee"]
TripId = Annotated[str, "id given by list_trips"]
OfficeId = Annotated[str, "id given by find_office or find_employee"]
Clock = Annotated[str, "HH:MM, 24-hour clock"]
Category = Literal["flight", "train", "taxi", "hotel", "meals", "other"]
Status = Literal["planned", "confirmed", "completed"]


class Employee(TypedDict):
    employee_id: str
    name: str
    role: str
    office_id: str
    email: str


class Employees(TypedDict):
    employees: list[Employee]


class Office(TypedDict):
    office_id: str
    city: str
    country: str
    airport: str
    timezone: str
    currency: str
    opened: str


class Trip(TypedDict):
    trip_id: str
    employee_id: str
    origin: str
    destination: str
    departs: str
    returns: str
    status: str


class Trips(TypedDict):
    trips: list[Trip]


class Expense(TypedDict):
    expense_id: str
    category: str
    amount: float
    currency: str


class Total(TypedDict):
    currency: str
    amount: float


class Expenses(TypedDict):
    trip_id: str
    expenses: list[Expense]
    totals: list[Total]


class Room(TypedDict):
    room: str
    seats: int


class Rooms(TypedDict):
    office_id: str
    free_rooms: list[Room]


class AllRooms(TypedDict):
    office_id: str
    rooms: list[Room]


class Offices(TypedDict):
    offices: list[Office]


class Booking(TypedDict):
    booking_id: str
    room: str
    date: str
    start: str
    end: str
    employee_id: str


class Bookings(TypedDict):
    office_id: str
    date: str
    bookings: list[Booking]


class Added(TypedDict):
    expense_id: str
    trip_id: str
    amount: float
    currency: str


class Deleted(TypedDict):
    deleted: str


def find_employee(name: Annotated[str, "full name or part of it"]) -> Employees:
    """Find employees by name; gives their employee id, role, office id and email."""
    rows = _all(
        "SELECT employee_id, name, role, office_id, email FROM employees ORDER BY employee_id"
    )
    found = [row for row in rows if set(fold(name).split()) <= set(fold(row["name"]).split())]
    if not found:
        raise ToolError(f"no employee is called {name!r}")
    return Employees(employees=cast("list[Employee]", found))


def list_employees(office_id: OfficeId) -> Employees:
    """All employees of one office."""
    get_office(office_id)
    sql = (
        "SELECT employee_id, name, role, office_id, email FROM employees WHERE office_id = ? ORDER"
        " BY employee_id"
    )
    return Employees(employees=cast("list[Employee]", _all(sql, office_id)))


def get_office(office_id: OfficeId) -> Office:
    """City, country, nearest airport, time zone and currency of an office."""
    return cast("Office", _one("office", "SELECT * FROM offices WHERE office_id = ?", office_id))


def find_office(city: Annotated[str, "city of the office"]) -> Office:
    """Find the office in a city; gives its office id, country, airport, time zone and currency."""
    found = [row for row in _all("SELECT * FROM offices") if fold(row["city"]) == fold(city)]
    if not found:
        raise ToolError(f"there is no office in {city!r}")
    return cast("Office", found[0])


def list_offices() -> Offices:
    """All offices of the company with country, airport, time zone and currency."""
    return Offices(offices=cast("list[Office]", _all("SELECT * FROM offices ORDER BY office_id")))


def get_employee(employee_id: EmployeeId) -> Employee:
    """Name, role, office id and email of the employee of an id."""
    return cast(
        "Employee", _one("employee", "SELECT * FROM employees WHERE employee_id = ?", employee_id)
    )


def get_trip(trip_id: TripId) -> Trip:
    """Traveller, airports, dates and status of one trip."""
    return cast("Trip", _one("trip", "SELECT * FROM trips WHERE trip_id = ?", trip_id))


def find_trips(destination: Annotated[str, "IATA code of an airport"], status: Status) -> Trips:
    """Business trips of everybody to one airport that have a status, oldest first."""
    sql = "SELECT * FROM trips WHERE destination = ? AND status = ? ORDER BY departs"
    return Trips(trips=cast("list[Trip]", _all(sql, destination.strip().upper(), status)))


def list_trips(employee_id: EmployeeId) -> Trips:
    """All business trips of one employee, oldest first; gives their trip ids."""
    _one("employee", "SELECT * FROM employees WHERE employee_id = ?", employee_id)
    rows = _all("SELECT * FROM trips WHERE employee_id = ? ORDER BY departs", employee_id)
    return Trips(trips=cast("list[Trip]", rows))


def list_expenses(trip_id: TripId) -> Expenses:
    """Expenses of one trip, with totals by currency."""
    _one("trip", "SELECT * FROM trips WHERE trip_id = ?", trip_id)
    columns = "SELECT expense_id, category, amount, currency FROM expenses"
    rows = _all(f"{columns} WHERE trip_id = ? ORDER BY expense_id", trip_id)
    summed = "SELECT currency, ROUND(SUM(amount), 2) AS amount FROM expenses"
    totals = _all(f"{summed} WHERE trip_id = ? GROUP BY currency ORDER BY currency", trip_id)
    return Expenses(
        trip_id=trip_id, expenses=cast("list[Expense]", rows), totals=cast("list[Total]", totals)
    )


def find_rooms(
    office_id: OfficeId,
    seats: Annotated[int, "how many people must fit"],
    date: Day,
    start: Clock,
    end: Clock,
) -> Rooms:
    """Meeting rooms of an office that are free at a time and large enough, smallest first."""
    get_office(office_id)
    _check_span(date, start, end)
    sql = """
      SELECT room, seats FROM rooms WHERE office_id = ? AND seats >= ? AND room NOT IN (
        SELECT room FROM bookings WHERE date = ? AND start < ? AND "end" > ?)
      ORDER BY seats"""
    rows = _all(sql, office_id, seats, date, end, start)
    return Rooms(office_id=office_id, free_rooms=cast("list[Room]", rows))


def list_rooms(office_id: OfficeId) -> AllRooms:
    """All meeting rooms of an office with their seats, free or not."""
    get_office(office_id)
    rows = _all("SELECT room, seats FROM rooms WHERE office_id = ? ORDER BY seats", office_id)
    return AllRooms(office_id=office_id, rooms=cast("list[Room]", rows))


def list_bookings(office_id: OfficeId, date: Day) -> Bookings:
    """Which meeting rooms of an office are booked on a date, when and by whom."""
    get_office(office_id)
    parse_day(date)
    sql = """SELECT bookings.* FROM bookings JOIN rooms USING (room)
      WHERE office_id = ? AND date = ? ORDER BY start, room"""
    rows = _all(sql, office_id, date)
    return Bookings(office_id=office_id, date=date, bookings=cast("list[Booking]", rows))


def book_room(room: str, date: Day, start: Clock, end: Clock, employee_id: EmployeeId) -> Booking:
    """Book a meeting room for an employee."""
    _one("room", "SELECT * FROM rooms WHERE room = ?", room)
    _one("employee", "SELECT * FROM employees WHERE employee_id = ?", employee_id)
    _check_span(date, start, end)
    with database(write=True) as held:
        clash = held.execute(
            "SELECT booking_id FROM bookings WHERE room = ? AND date = ? AND start < ? AND"
            ' "end" > ?',
            (room, date, end, start),
        ).fetchone()
        if clash:
            raise ToolError(f"room {room} is taken on {date} between {start} and {end}")
        booking_id = _next_id(held, "bookings", "B")
        held.execute(
            "INSERT INTO bookings VALUES (?, ?, ?, ?, ?, ?)",
            (booking_id, room, date, start, end, employee_id),
        )
    return Booking(
        booking_id=booking_id, room=room, date=date, start=start, end=end, employee_id=employee_id
    )


def add_expense(
    trip_id: TripId,
    category: Category,
    amount: float,
    currency: Annotated[str, "ISO code of a currency"],
) -> Added:
    """Add an expense to a trip."""
    _one("trip", "SELECT * FROM trips WHERE trip_id = ?", trip_id)
    if amount <= 0:
        raise ToolError("the amount of an expense must be positive")
    with database(write=True) as held:
        expense_id = _next_id(held, "expenses", "X")
        row = (expense_id, trip_id, category, amount, currency.upper())
        held.execute("INSERT INTO expenses VALUES (?, ?, ?, ?, ?)", row)
    return Added(expense_id=expense_id, trip_id=trip_id, amount=amount, currency=currency.upper())


def delete_expense(expense_id: Annotated[str, "id given by list_expenses"]) -> Deleted:
    """Delete an expense for good."""
    _one("expense", "SELECT * FROM expenses WHERE expense_id = ?", expense_id)
    with database(write=True) as held:
        held.execute("DELETE FROM expenses WHERE expense_id = ?", (expense_id,))
    return Deleted(deleted=expense_id)


def cancel_trip(trip_id: TripId) -> Deleted:
    """Cancel a trip: it and its expenses are deleted for good."""
    _one("trip", "SELECT * FROM trips WHERE trip_id = ?", trip_id)
    with database(write=True) as held:
        held.execute("DELETE FROM expenses WHERE trip_id = ?", (trip_id,))
        held.execute("DELETE FROM trips WHERE trip_id = ?", (trip_id,))
    return Deleted(deleted=trip_id)


def _all(sql: str, *values: str | int) -> list[dict[str, Any]]:
    with database() as held:
        return [dict(row) for row in held.execute(sql, values)]


def _one(what: str, sql: str, key: str) -> dict[str, Any]:
    found: Sequence[dict[str, Any]] = _all(sql, key)
    if not found:
        raise ToolError(f"there is no {what} {key!r}")
    return found[0]


def _next_id(held: sqlite3.Connection, table: str, letter: str) -> str:
    """One more than the highest number in use."""
    key = held.execute(
        f"SELECT MAX(CAST(SUBSTR({table[:-1]}_id, 2) AS INTEGER)) FROM {table}"
    ).fetchone()[0]
    return f"{letter}{key + 1}"


def _check_span(date: str, start: str, end: str) -> None:
    parse_day(date)
    for clock in (start, end):
        if len(clock) != 5 or clock[2] != ":" or not (clock[:2] + clock[3:]).isdigit():
            raise ToolError(f"{clock!r} is not a time of the form HH:MM")
    if start >= end:
        raise ToolError("the end must lie after the start")
