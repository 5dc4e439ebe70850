"""Tasks with thirty and more tools in view, as platforms have them: most do nothing for it, some
nearly do it.
"""

from __future__ import annotations

from .gold import Gold, Task, clock, day, number, paired, pattern, text
from .tasks_company import person, trip_to
from .tasks_limits import BOOKED

SERVED = ("git_log", "git_status", "convert_time", "get_current_time")  # of the two MCP servers


def office_days(g: Gold) -> str:
    a = g.call("find_office", city="Lisbon")["opened"]
    b = g.call("find_office", city="Tokyo")["opened"]
    days = g.call("days_between", start=a, end=b)["days"]
    g.expect(number(days, "day"))
    g.must = [["find_office", "list_offices", "get_office"], ["days_between"]]
    return f"The Tokyo office opened {days} days after the Lisbon office."


def next_in_japan(g: Gold) -> str:
    found = g.call("next_holiday", country="JP", after="2025-06-20")
    g.expect(day(found["date"]), text(found["weekday"]))
    g.must = [["next_holiday", "list_holidays"]]
    return (
        f"The next public holiday in Japan is on {found['weekday']}, {found['date']}:"
        f" {found['name']}."
    )


def euro_gain(g: Gold) -> str:
    found = g.call("rate_change", base="EUR", quote="JPY", start="2025-06-02", end="2025-06-20")
    per_cent = found["percent"]
    g.expect(pattern(rf"(?<![\d.])(?:{per_cent:.2f}|{per_cent:.1f}) ?(?:%|per ?cent)"))
    g.must = [["rate_change"]]
    return f"The euro gained {per_cent:g} % against the yen."


def booked_in_lisbon(g: Gold) -> str:
    office = g.call("find_office", city="Lisbon")["office_id"]
    rows = g.call("list_bookings", office_id=office, date="2025-06-24")["bookings"]
    g.expect(paired(*(([row["room"]], clock(row["start"], 0)) for row in rows)))
    g.must = [["list_bookings"]]
    return "On 24 June 2025 Alfama is booked from 09:00 to 12:00 and Tejo from 14:00 to 15:30."


def kenji_hotel(g: Gold) -> str:
    trip = trip_to(g, "Kenji Mori", "OSL")
    made = g.call(
        "add_expense", trip_id=trip["trip_id"], category="hotel", amount=1240, currency="NOK"
    )
    g.expect(number(1240, "NOK"))
    return f"Added 1,240 NOK for the hotel to {trip['trip_id']} ({made['expense_id']})."


def book_a_flight(g: Gold) -> str:
    person(g, "Ingrid Solberg")
    g.limitation, g.must = True, []
    g.forbid(BOOKED, r"\bi(?:'ve| have)? booked")
    return "I cannot book flights: there is no tool for that. Nothing was booked."


TASKS = (
    Task(
        "office-days",
        "crowded",
        "How many days after the Lisbon office did the Tokyo office open?",
        (
            "find_office",
            "get_office",
            "list_offices",
            "days_between",
            "count_working_days",
            "cancel_trip",
        ),
        office_days,
        view=32,
    ),
    Task(
        "next-in-japan",
        "crowded",
        "Which date is the first public holiday in Japan after 20 June 2025, and what weekday"
        " is it?",
        (
            "next_holiday",
            "list_holidays",
            "check_holiday",
            "weekday_of",
            "add_working_days",
            *SERVED,
        ),
        next_in_japan,
        view=36,
    ),
    Task(
        "euro-gain",
        "crowded",
        "By how many per cent did the euro gain against the yen between 2 June 2025 and 20 June"
        " 2025?",
        ("rate_change", "exchange_rate", "convert_currency", "percent_of", "delete_expense"),
        euro_gain,
        view=30,
    ),
    Task(
        "booked-in-lisbon",
        "crowded",
        "Which meeting rooms are booked in the Lisbon office on 24 June 2025, and from what time?",
        ("find_office", "list_bookings", "list_rooms", "find_rooms", "book_room", "cancel_trip"),
        booked_in_lisbon,
        view=32,
    ),
    Task(
        "kenji-hotel",
        "crowded",
        "Kenji Mori's trip to Oslo lacks a hotel expense of 1240 NOK, add it please.",
        ("find_employee", "list_trips", "list_expenses", "add_expense", "delete_expense", *SERVED),
        kenji_hotel,
        view=36,
    ),
    Task(
        "book-a-flight",
        "crowded",
        "Book a flight from Oslo to Lisbon on 23 June 2025 for Ingrid Solberg.",
        (
            "find_employee",
            "list_trips",
            "find_airports",
            "flight_distance",
            "book_room",
            "cancel_trip",
        ),
        book_a_flight,
        view=34,
    ),
)
