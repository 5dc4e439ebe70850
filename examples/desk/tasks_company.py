"""Tasks about the company: people, trips, expenses, rooms, notes. Some change the desk; the change
is scored.
"""

from __future__ import annotations

from typing import Any

from .gold import Gold, Task, clock, day, number, pattern, text

FINE = 0.001


def person(g: Gold, name: str) -> dict[str, str]:
    found: dict[str, str] = g.call("find_employee", name=name)["employees"][0]
    return found


def trip_to(g: Gold, name: str, airport: str) -> dict[str, Any]:
    trips = g.call("list_trips", employee_id=person(g, name)["employee_id"])["trips"]
    return next(trip for trip in trips if trip["destination"] == airport)


def expense(g: Gold, trip: dict[str, Any], category: str) -> dict[str, Any]:
    rows = g.call("list_expenses", trip_id=trip["trip_id"])["expenses"]
    return next(row for row in rows if row["category"] == category)


def beatriz_email(g: Gold) -> str:
    email = person(g, "Beatriz Lopes")["email"]
    g.expect(text(email))
    g.must = [["find_employee", "list_employees"]]
    return f"Her email address is {email}."


def liam_city(g: Gold) -> str:
    city = g.call("get_office", office_id=person(g, "Liam Tremblay")["office_id"])["city"]
    g.expect(text(city))
    return f"Liam Tremblay works in {city}."


def henrik_trip(g: Gold) -> str:
    trip = trip_to(g, "Henrik Dahl", "KEF")
    g.expect(day(trip["departs"]), day(trip["returns"]))
    return f"Henrik Dahl leaves on {trip['departs']} and comes back on {trip['returns']}."


def aiko_hotel(g: Gold) -> str:
    row = expense(g, trip_to(g, "Aiko Tanaka", "YYZ"), "hotel")
    g.expect(number(row["amount"], row["currency"], within=0.005))
    return f"The hotel cost {row['amount']:.2f} {row['currency']}."


def wanjiru_flight(g: Gold) -> str:
    row = expense(g, trip_to(g, "Wanjiru Kamau", "LIS"), "flight")
    change = {"from_currency": row["currency"], "to_currency": "EUR", "date": "2025-04-10"}
    euros = g.call("convert_currency", amount=row["amount"], **change)["amount"]
    g.expect(number(euros, "EUR", share=FINE))
    g.must = [["list_expenses"], ["convert_currency", "exchange_rate"]]
    return f"Her flight cost {euros} EUR."


def ingrid_total(g: Gold) -> str:
    trip = trip_to(g, "Ingrid Solberg", "HND")
    totals = {
        t["currency"]: t["amount"]
        for t in g.call("list_expenses", trip_id=trip["trip_id"])["totals"]
    }
    change = {"from_currency": "JPY", "to_currency": "NOK", "date": "2025-05-19"}
    kroner = g.call("convert_currency", amount=totals["JPY"], **change)["amount"]
    total = g.call("add_up", amounts=[totals["NOK"], kroner])["total"]
    g.expect(number(total, "NOK", share=FINE))
    g.must = [["list_expenses"], ["convert_currency", "exchange_rate"]]
    return f"All in all the trip cost {total:.2f} NOK."


def lisbon_people(g: Gold) -> str:
    office = g.call("find_office", city="Lisbon")["office_id"]
    for row in g.call("list_employees", office_id=office)["employees"]:
        g.expect(text(row["name"]))
    g.forbid(r"ingrid solberg|aiko tanaka|liam tremblay")
    return "Tomás Ferreira and Beatriz Lopes work in Lisbon."


def tomas_flight(g: Gold) -> str:
    trip = trip_to(g, "Tomás Ferreira", "NBO")
    km = g.call("flight_distance", origin=trip["origin"], destination=trip["destination"])[
        "kilometres"
    ]
    g.expect(number(km, "kilometre", share=0.005))
    return f"One way it is {km} km."


def japan_allowance(g: Gold) -> str:
    lines = g.call("search_notes", text="Japan")["lines"]
    yen = float(
        next(row["line"] for row in lines if "JPY" in row["line"]).split(": ")[1].split()[0]
    )
    change = {"from_currency": "JPY", "to_currency": "EUR", "date": "2025-06-20"}
    euros = g.call("convert_currency", amount=yen, **change)["amount"]
    g.expect(number(euros, "EUR", share=FINE))
    g.must = [["search_notes", "read_note"], ["convert_currency", "exchange_rate"]]
    return f"The daily allowance in Japan, 9500 JPY, was worth {euros} EUR."


def survey_limits(g: Gold) -> str:
    note = g.call("read_note", name="reykjavik-survey.md")["text"]
    feet, acres = (
        float(note.split(start)[1].split()[0]) for start in ("altitude limit: ", "Survey area: ")
    )
    metres = g.call("convert_units", value=feet, from_unit="feet", to_unit="meter")["value"]
    hectares = g.call("convert_units", value=acres, from_unit="acre", to_unit="hectare")["value"]
    g.expect(number(metres, "metre", share=0.005), number(hectares, "hectare", share=0.005))
    return f"The altitude limit is {metres:.1f} metres, the area {hectares:.2f} hectares."


def survey_start(g: Gold) -> str:
    note = g.call("read_note", name="reykjavik-survey.md")["text"]
    place = g.call("find_place", city="Reykjavik")
    where = {key: place[key] for key in ("latitude", "longitude", "timezone")}
    rise = g.call("sun_times", date=note.split("sunrise on ")[1][:10], **where)["sunrise"]
    g.expect(clock(rise))
    return f"The drone flights start at sunrise, at {rise} local time."


def two_clocks(g: Gold) -> str:
    zones = []
    for name in ("Beatriz Lopes", "Chloe Martin"):
        zones.append(g.call("get_office", office_id=person(g, name)["office_id"])["timezone"])
    shift = {
        "date": "2025-06-24",
        "time": "15:00",
        "from_timezone": zones[0],
        "to_timezone": zones[1],
    }
    there = g.call("convert_local_time", **shift)["time"]
    g.expect(clock(there, 0))
    return f"For Chloe it is {there} then."


def oslo_room(g: Gold) -> str:
    office = g.call("find_office", city="Oslo")["office_id"]
    span = {"date": "2025-06-23", "start": "10:00", "end": "11:00"}
    rooms = g.call("find_rooms", office_id=office, seats=4, **span)["free_rooms"]
    assert [row["room"] for row in rooms] == ["Skog"]
    g.expect(text("Skog"))
    g.forbid(r"\b(?:fjord|bryggen)\b(?! (?:is|are) (?:not|taken|booked|occupied))")
    return "The room Skog is free then."


def hotel_limit(g: Gold) -> str:
    page = g.call("git_show", repo_path="handbook", revision="main:hotels.md")
    limit = float(page.split("limit: ")[1].split()[0])
    g.expect(number(limit, "NOK"))
    g.must = [["git_show", "git_log"]]  # the log's messages name the limit too
    return f"The handbook allows {limit:.0f} NOK a night."


def chloe_holiday(g: Gold) -> str:
    trip = trip_to(g, "Chloe Martin", "OSL")
    found = g.call("check_holiday", country="JP", date=trip["departs"])
    assert found["is_holiday"]
    g.expect(text(found["name"]))
    g.forbid(r"not a (?:public |national )?holiday")
    return f"Yes, she leaves on {trip['departs']}, which is {found['name']} in Japan."


def lisbon_working_days(g: Gold) -> str:
    trip = trip_to(g, "Ingrid Solberg", "LIS")
    span = {"start": trip["departs"], "end": trip["returns"]}
    days = g.call("count_working_days", country="PT", **span)["working_days"]
    g.expect(either_days(days))
    return f"Her Lisbon trip covers {days} working days in Portugal."


def either_days(days: int) -> dict[str, Any]:
    words = ["zero", "one", "two", "three", "four", "five"]
    return {
        "kind": "any",
        "of": [number(days, "day"), pattern(rf"\b{words[days]} (?:working |business )?days")],
    }


def taxi(g: Gold) -> str:
    made = g.call("add_expense", trip_id="T301", category="taxi", amount=34.5, currency="EUR")
    g.expect(number(34.5, "EUR"))
    return f"Added a taxi expense of 34.50 EUR to T301 ({made['expense_id']})."


def delete_flight(g: Gold) -> str:
    g.call("delete_expense", expense_id="X514")
    g.expect(pattern(r"x514"), pattern(r"delet|remov"))
    return "Expense X514 is deleted."


def cancel_iceland(g: Gold) -> str:
    trip = trip_to(g, "Liam Tremblay", "KEF")
    g.call("cancel_trip", trip_id=trip["trip_id"])
    g.expect(pattern(r"cancel|delet|remov"))
    return f"Liam Tremblay's trip {trip['trip_id']} to Keflavik is cancelled."


def book_smallest(g: Gold) -> str:
    office = g.call("find_office", city="Oslo")["office_id"]
    span = {"date": "2025-06-24", "start": "10:00", "end": "11:00"}
    room = g.call("find_rooms", office_id=office, seats=6, **span)["free_rooms"][0]["room"]
    marta = person(g, "Marta Nowak")["employee_id"]
    g.call("book_room", room=room, employee_id=marta, **span)
    g.expect(text(room))
    return f"Room {room} is booked for Marta Nowak on 24 June 2025, 10:00 to 11:00."


def book_tejo(g: Gold) -> str:
    tomas = person(g, "Tomás Ferreira")["employee_id"]
    span = {"date": "2025-06-25", "start": "09:00", "end": "10:30"}
    made = g.call("book_room", room="Tejo", employee_id=tomas, **span)
    g.expect(text("Tejo"))
    return (
        "Tejo is booked for Tomás Ferreira on 2025-06-25 from 09:00 to 10:30"
        f" ({made['booking_id']})."
    )


def sun_note(g: Gold) -> str:
    place = g.call("find_place", city="Oslo")
    where = {key: place[key] for key in ("latitude", "longitude", "timezone")}
    rise = g.call("sun_times", date="2025-07-01", **where)["sunrise"]
    g.call("write_note", name="oslo-sun.md", text=f"The sun rises at {rise} in Oslo on 2025-07-01.")
    g.note_facts = {"oslo-sun.md": [clock(rise)]}
    g.expect(text("oslo-sun.md", "oslo-sun"))
    return f"The note oslo-sun.md says that the sun rises at {rise}."


def new_branch(g: Gold) -> str:
    g.call("git_create_branch", repo_path="handbook", branch_name="autumn-update")
    g.expect(text("autumn-update"))
    return "The branch autumn-update exists now in the repository handbook."


PEOPLE = ("find_employee", "list_employees", "get_office")
TRIPS = ("find_employee", "list_trips", "list_expenses")
ROOMS = ("find_office", "find_rooms", "find_employee", "book_room")
TASKS = (
    Task(
        "beatriz-email",
        "single",
        "What's Beatriz Lopes's email address?",
        (*PEOPLE, "search_notes", "delete_note"),
        beatriz_email,
    ),
    Task(
        "liam-city",
        "chain",
        "In which city does Liam Tremblay work?",
        (*PEOPLE, "list_trips", "find_place"),
        liam_city,
    ),
    Task(
        "henrik-trip",
        "chain",
        "When does Henrik Dahl leave for Iceland and when is he back?",
        (*TRIPS, "get_office", "cancel_trip"),
        henrik_trip,
    ),
    Task(
        "aiko-hotel",
        "chain",
        "How much was the hotel on Aiko Tanaka's trip to Toronto?",
        (*TRIPS, "convert_currency", "delete_expense"),
        aiko_hotel,
    ),
    Task(
        "wanjiru-flight",
        "chain",
        "What did the flight of Wanjiru Kamau's trip to Lisbon cost in euros, at the rate of 10"
        " April 2025?",
        (*TRIPS, "convert_currency", "add_up", "cancel_trip"),
        wanjiru_flight,
    ),
    Task(
        "ingrid-total",
        "chain",
        "What did Ingrid Solberg's Tokyo trip cost altogether in NOK? Use the exchange rate of 19"
        " May 2025.",
        (*TRIPS, "convert_currency", "add_up", "delete_expense"),
        ingrid_total,
    ),
    Task(
        "lisbon-people",
        "chain",
        "Who works in our Lisbon office?",
        ("find_office", "list_employees", "find_place", "list_trips", "cancel_trip"),
        lisbon_people,
    ),
    Task(
        "tomas-flight",
        "chain",
        "How many km is Tomás Ferreira's planned flight to Nairobi, one way?",
        ("find_employee", "list_trips", "flight_distance", "get_office", "cancel_trip"),
        tomas_flight,
    ),
    Task(
        "japan-allowance",
        "chain",
        "Our notes give a daily allowance for meals in Japan. What was it worth in euros on 20 June"
        " 2025?",
        ("search_notes", "read_note", "convert_currency", "list_holidays", "delete_note"),
        japan_allowance,
    ),
    Task(
        "survey-limits",
        "parallel",
        "Take flight altitude limit and survey area from the note reykjavik-survey.md, in metres"
        " and in hectares.",
        ("read_note", "list_notes", "convert_units", "convert_currency", "write_note"),
        survey_limits,
    ),
    Task(
        "survey-start",
        "chain",
        "The note reykjavik-survey.md says when drone flights start. What local time is that?",
        ("read_note", "find_place", "sun_times", "convert_time", "delete_note"),
        survey_start,
    ),
    Task(
        "two-clocks",
        "chain",
        "Beatriz Lopes wants to ring Chloe Martin at 15:00 on 24 June 2025, Beatriz's office time."
        " What time is it at Chloe's office then?",
        ("find_employee", "get_office", "convert_local_time", "list_trips", "book_room"),
        two_clocks,
    ),
    Task(
        "oslo-room",
        "chain",
        "Which meeting room in the Oslo office is free for 4 people on 2025-06-23 from 10:00 to"
        " 11:00?",
        ("find_office", "find_rooms", "list_employees", "check_holiday", "book_room"),
        oslo_room,
    ),
    Task(
        "hotel-limit",
        "single",
        "In the git repository handbook, what hotel limit does main:hotels.md give?",
        ("git_show", "git_log", "git_status", "search_notes", "git_checkout"),
        hotel_limit,
    ),
    Task(
        "chloe-holiday",
        "chain",
        "Is the day Chloe Martin leaves on her trip to Oslo a public holiday in Japan? Which one?",
        ("find_employee", "list_trips", "check_holiday", "desk_date", "cancel_trip"),
        chloe_holiday,
    ),
    Task(
        "lisbon-working-days",
        "chain",
        "How many working days in Portugal does Ingrid Solberg's Lisbon trip cover, first and last"
        " day included?",
        ("find_employee", "list_trips", "count_working_days", "check_holiday", "delete_expense"),
        lisbon_working_days,
    ),
    Task(
        "taxi",
        "write",
        "Please add a taxi expense of 34.50 EUR to trip T301.",
        ("add_expense", "list_expenses", "delete_expense", "convert_currency", "cancel_trip"),
        taxi,
    ),
    Task(
        "delete-flight",
        "write",
        "Expense X514 was entered twice, delete it please.",
        ("delete_expense", "list_expenses", "add_expense", "cancel_trip", "delete_note"),
        delete_flight,
    ),
    Task(
        "cancel-iceland",
        "write",
        "Liam Tremblay isn't going to Iceland (KEF) after all. Cancel that trip.",
        ("find_employee", "list_trips", "cancel_trip", "delete_expense", "list_expenses"),
        cancel_iceland,
    ),
    Task(
        "book-smallest",
        "write",
        "Book the smallest free room in Oslo that fits 6 people for Marta Nowak, 2025-06-24 from"
        " 10:00 to 11:00.",
        (*ROOMS, "list_employees", "delete_note"),
        book_smallest,
    ),
    Task(
        "book-tejo",
        "write",
        "Book room Tejo for Tomás Ferreira on 25 June 2025, 09:00-10:30.",
        ("find_employee", "book_room", "list_trips", "write_note", "cancel_trip"),
        book_tejo,
    ),
    Task(
        "sun-note",
        "write",
        "Find out when the sun rises in Oslo on 1 July 2025 and save that in a note called"
        " oslo-sun.md",
        ("find_place", "sun_times", "write_note", "read_note", "delete_note"),
        sun_note,
    ),
    Task(
        "new-branch",
        "write",
        "Create a branch called autumn-update in the git repository handbook.",
        ("git_create_branch", "git_branch", "git_checkout", "git_reset", "git_log"),
        new_branch,
    ),
)
