"""Tasks on a desk whose documentation is out of date or whose servers refuse, each with what the
server really says.

The documented call is part of the gold, marked as failing; the calls after it are what the server's
own words lead to. Where no call helps, the right end is to say so.
"""

from __future__ import annotations

from .faults import Fault
from .gold import Gold, Task, clock, number, text
from .tasks_company import PEOPLE, TRIPS, person, trip_to
from .tasks_limits import BOOKED, DAYS, MONEY
from .tasks_world import AIR, CASH, FINE, NEAR, SKY

MANY = 32  # tools in view where there are many


# The documentation calls a parameter by another name.


def toronto_feet(g: Gold) -> str:
    g.refused("get_airport", iata="YYZ")
    feet = g.call("get_airport", code="YYZ")["elevation_feet"]
    g.expect(number(feet, "foot", within=1))
    return f"YYZ lies {feet:,.0f} feet above sea level."


TORONTO_FEET = Fault(
    "misnamed",
    "get_airport",
    {
        "detail": [
            {"type": "missing", "loc": ["query", "code"], "msg": "Field required"},
            {
                "type": "extra_forbidden",
                "loc": ["query", "iata"],
                "msg": "Extra inputs are not permitted",
            },
        ]
    },
    status=422,
    parameter="iata",
    wanted="code",
)


def tokyo_people(g: Gold) -> str:
    office = g.call("find_office", city="Tokyo")["office_id"]
    g.refused("list_employees", office_id=office)
    for row in g.call("list_employees", office=office)["employees"]:
        g.expect(text(row["name"]))
    g.forbid(r"ingrid solberg|beatriz lopes|liam tremblay")
    return "Aiko Tanaka and Kenji Mori work in Tokyo."


TOKYO_PEOPLE = Fault(
    "misnamed",
    "list_employees",
    {"error": "unknown query parameter 'office_id', expected 'office'"},
    parameter="office_id",
    wanted="office",
)


def canada_days(g: Gold) -> str:
    span = {"country": "CA", "start": "2025-06-30"}
    g.refused("count_working_days", **span, end="2025-07-11")
    days = g.call("count_working_days", **span, until="2025-07-11")["working_days"]
    g.expect(number(days, "day"))
    return f"It is {days} working days."


CANADA_DAYS = Fault(
    "misnamed",
    "count_working_days",
    "Error executing tool count_working_days: 2 validation errors for"
    " count_working_daysArguments\nuntil\n  Field required [type=missing, input_type=dict]\nend\n "
    " Extra inputs are not permitted [type=extra_forbidden, input_value='{value}', input_type=str]",
    status=0,
    parameter="end",
    wanted="until",
)


def liam_meals(g: Gold) -> str:
    row = {"trip_id": "T305", "category": "meals", "amount": 42.8}
    g.refused("add_expense", **row, currency="CAD")
    made = g.call("add_expense", **row, currency_code="CAD")
    g.expect(number(42.8, "CAD"))
    return f"Added meals of 42.80 CAD to T305 ({made['expense_id']})."


LIAM_MEALS = Fault(
    "misnamed",
    "add_expense",
    {"code": 400, "message": "Missing required field 'currency_code'; unknown field 'currency'"},
    parameter="currency",
    wanted="currency_code",
)


# The documentation lists options that the server does not take any more.


def sigrun_train(g: Gold) -> str:
    row = {"trip_id": "T310", "amount": 649, "currency": "NOK"}
    g.refused("add_expense", **row, category="train")
    made = g.call("add_expense", **row, category="rail")
    g.expect(number(649, "NOK"))
    return f"Added 649 NOK for a train ticket to T310 ({made['expense_id']})."


SIGRUN_TRAIN = Fault(
    "stale_enum",
    "add_expense",
    {"message": "category must be one of: airfare, rail, ride, lodging, food, other"},
    status=422,
    parameter="category",
    becomes={
        "airfare": "flight",
        "rail": "train",
        "ride": "taxi",
        "lodging": "hotel",
        "food": "meals",
        "other": "other",
    },
)


def nairobi_toronto_miles(g: Gold) -> str:
    g.refused("route_distance", origin="NBO", destination="YYZ", unit="mi")
    miles = g.call("route_distance", origin="NBO", destination="YYZ", unit="miles")["distance"]
    g.expect(number(miles, "mile", share=NEAR))
    g.must = [["route_distance", "flight_distance"]]
    return f"From NBO to YYZ it is {miles} miles."


MILES = Fault(
    "stale_enum",
    "route_distance",
    {
        "error": (
            "Invalid value '{value}' for 'unit'. Allowed values: kilometers, miles, nautical_miles"
        )
    },
    parameter="unit",
    becomes={"kilometers": "km", "miles": "mi", "nautical_miles": "nmi"},
)


def lisbon_dusk(g: Gold) -> str:
    place = g.call("find_place", city="Lisbon")
    where = {
        **{key: place[key] for key in ("latitude", "longitude", "timezone")},
        "date": "2025-06-24",
    }
    g.refused("twilight_times", **where, kind="nautical")
    dusk = g.call("twilight_times", **where, kind="NAUTICAL")["dusk"]
    g.expect(clock(dusk))
    return f"Nautical twilight ends at {dusk} in Lisbon on 24 June 2025."


LISBON_DUSK = Fault(
    "stale_enum",
    "twilight_times",
    {
        "detail": [
            {
                "type": "literal_error",
                "loc": ["query", "kind"],
                "msg": "Input should be 'CIVIL', 'NAUTICAL' or 'ASTRONOMICAL'",
                "input": "{value}",
            }
        ]
    },
    status=422,
    parameter="kind",
    becomes={"CIVIL": "civil", "NAUTICAL": "nautical", "ASTRONOMICAL": "astronomical"},
)


def planned_to_iceland(g: Gold) -> str:
    g.refused("find_trips", destination="KEF", status="planned")
    trip = g.call("find_trips", destination="KEF", status="scheduled")["trips"][0]
    name = g.call("get_employee", employee_id=trip["employee_id"])["name"]
    g.expect(text(name))
    g.must = [["find_trips", "list_trips", "get_trip"]]
    g.forbid(r"henrik dahl(?! (?:is|has|'s) (?:not|confirmed))")
    return f"{name} has a planned trip to KEF."


PLANNED = Fault(
    "stale_enum",
    "find_trips",
    {
        "status": [
            '"{value}" is not a valid choice. Valid choices are: scheduled, confirmed, completed'
        ]
    },
    parameter="status",
    becomes={"scheduled": "planned", "confirmed": "confirmed", "completed": "completed"},
)


# Status 400, and the text says what is taken instead.


def beatrice_lopez(g: Gold) -> str:
    g.refused("find_employee", name="Beatrice Lopez")
    email = person(g, "Beatriz Lopes")["email"]
    g.expect(text(email))
    g.must = [["find_employee", "list_employees", "get_employee"]]
    return f"The address of Beatriz Lopes is {email}."


BEATRICE = Fault(
    "hint_400",
    "find_employee",
    {"error": "no employee is called '{value}'. Did you mean 'Beatriz Lopes'?"},
    parameter="name",
    refuses=r".*(?:beatrice|lopez).*",
)


def oslo_keflavik(g: Gold) -> str:
    g.refused("flight_distance", origin="OSL", destination="KEF")
    g.refused("flight_distance", origin="ENGM", destination="KEF")
    km = g.call("flight_distance", origin="ENGM", destination="BIKF")["kilometres"]
    g.expect(number(km, "kilometre", share=NEAR))
    return f"It is {km} km from OSL to KEF."


OSLO_KEFLAVIK = (
    Fault(
        "hint_400",
        "flight_distance",
        {
            "error": "Bad Request",
            "message": "origin '{value}' is not accepted: use the ICAO code, ENGM for OSL",
        },
        parameter="origin",
        refuses="osl",
        becomes={"ENGM": "OSL"},
    ),
    Fault(
        "hint_400",
        "flight_distance",
        {
            "error": "Bad Request",
            "message": "destination '{value}' is not accepted: use the ICAO code, BIKF for KEF",
        },
        parameter="destination",
        refuses="kef",
        becomes={"BIKF": "KEF"},
    ),
)


def dollar_rate(g: Gold) -> str:
    g.refused("exchange_rate", base="USD", quote="NOK", date="2025-06-20")
    rate = g.call("exchange_rate", base="USD", quote="NOK", date="20250620")["rate"]
    g.expect(number(rate, share=FINE))
    return f"One US dollar was worth {rate} NOK on 20 June 2025."


DOLLAR_RATE = Fault(
    "hint_400",
    "exchange_rate",
    {
        "error": {
            "code": "invalid_date",
            "message": "date must be given as YYYYMMDD, without dashes",
        }
    },
    parameter="date",
    form="%Y%m%d",
)


def portugal_feast(g: Gold) -> str:
    g.refused("check_holiday", country="PT", date="2025-08-15")
    found = g.call("check_holiday", country="PRT", date="2025-08-15")
    assert found["is_holiday"]
    g.expect(text(found["name"], "Assumption"))
    g.must = [["check_holiday", "list_holidays", "next_holiday"]]
    g.forbid(r"not a (?:public |national )?holiday")
    return f"Yes, 15 August 2025 is a public holiday in Portugal: {found['name']}."


PORTUGAL = Fault(
    "hint_400",
    "check_holiday",
    {
        "title": "Bad Request",
        "detail": "country '{value}' is not accepted: give three letters, PRT for Portugal",
    },
    parameter="country",
    refuses="pt|portugal",
    becomes={"PRT": "PT"},
)


# Status 200, and only the body says that it did not work.


def canadian_dollar(g: Gold) -> str:
    g.refused("exchange_rate", base="CAD", quote="JPY", date="2025-06-06")
    change = {"from_currency": "CAD", "to_currency": "JPY", "date": "2025-06-06"}
    yen = g.call("convert_currency", amount=1, **change)["amount"]
    g.expect(number(yen, share=FINE))
    return f"One Canadian dollar was worth {yen} yen on 6 June 2025."


CANADIAN = Fault(
    "error_200",
    "exchange_rate",
    {
        "success": False,
        "error": {
            "code": 302,
            "type": "endpoint_retired",
            "info": "exchange_rate is retired. Use convert_currency.",
        },
    },
    status=200,
)


def five_in_oslo(g: Gold) -> str:
    office = g.call("find_office", city="Oslo")["office_id"]
    span = {"office_id": office, "date": "2025-06-23", "start": "15:00", "end": "16:00"}
    g.refused("find_rooms", seats=5, **span)
    for row in g.call("find_rooms", seats=6, **span)["free_rooms"]:
        g.expect(text(row["room"]))
    g.forbid(r"\bskog\b(?! (?:is|has|seats|only))")
    return "Fjord and Bryggen are free then and seat five people."


FIVE = Fault(
    "error_200",
    "find_rooms",
    {
        "ok": False,
        "error": "invalid_arguments",
        "message": "seats must be an even number, got {value}: round up",
    },
    status=200,
    parameter="seats",
    refuses=r"\d*[13579]",
)


def pounds_to_kilos(g: Gold) -> str:
    g.refused("convert_units", value=44, from_unit="lbs", to_unit="kg")
    kg = g.call("convert_units", value=44, from_unit="pound", to_unit="kg")["value"]
    g.expect(number(kg, "kilogram", share=NEAR))
    return f"44 lbs are {kg:.2f} kg."


LBS = Fault(
    "error_200",
    "convert_units",
    {"status": "error", "message": "unknown unit '{value}' in from_unit. Did you mean 'pound'?"},
    status=200,
    parameter="from_unit",
    refuses="lbs?|pounds",
)


def kenji_offline(g: Gold) -> str:
    trip = trip_to(g, "Kenji Mori", "OSL")
    error = g.refused("list_expenses", trip_id=trip["trip_id"])
    g.limitation, g.must = True, []
    g.forbid(MONEY)
    return f"I could not find out what the hotel cost: {error}."


OFFLINE = Fault(
    "error_200",
    "list_expenses",
    {"status": "error", "message": "the archive of expenses is offline until Monday"},
    status=200,
)


# A list with nothing in it: the name must be spelt otherwise, or there is nothing.


def marta_trips(g: Gold) -> str:
    marta = person(g, "Marta Nowak")["employee_id"]
    assert g.call("list_trips", employee_id=marta) == {"trips": []}
    g.limitation, g.must = True, [["list_trips"]]
    g.forbid(DAYS, r"\bt3\d\d\b")
    return "There are no trips of Marta Nowak, so there is no date to give."


def lissabon(g: Gold) -> str:
    assert g.call("find_airports", city="Lissabon") == {"airports": []}
    code = g.call("find_airports", city="Lisbon")["airports"][0]["iata"]
    km = g.call("flight_distance", origin="OSL", destination=code)["kilometres"]
    g.expect(number(km, "kilometre", share=NEAR))
    return f"From OSL to Lisbon it is {km} km."


LISSABON = Fault(
    "empty",
    "find_airports",
    {"airports": []},
    status=200,
    parameter="city",
    refuses=r".*(?:lissabon|lisboa).*",
)


def sigrun_email(g: Gold) -> str:
    assert g.call("find_employee", name="Sigrun Jonsdottir") == {"employees": []}
    office = g.call("find_office", city="Reykjavik")["office_id"]
    rows = g.call("list_employees", office_id=office)["employees"]
    email = next(row["email"] for row in rows if row["name"] == "Sigrún Jónsdóttir")
    g.expect(text(email))
    g.must = [["list_employees", "find_employee", "get_employee"]]
    return f"Her address is {email}."


SIGRUN = Fault(
    "empty",
    "find_employee",
    {"employees": []},
    status=200,
    parameter="name",
    refuses=r".*(?:sigrun|jonsd).*",
)


def twenty_in_lisbon(g: Gold) -> str:
    office = g.call("find_office", city="Lisbon")["office_id"]
    span = {"date": "2025-06-25", "start": "10:00", "end": "11:00"}
    assert g.call("find_rooms", office_id=office, seats=20, **span)["free_rooms"] == []
    g.limitation, g.must = True, [["find_rooms", "list_rooms"]]
    g.forbid(BOOKED)
    return "There is no room for 20 people in the Lisbon office, so nothing was booked."


# The old name says what the tool is called now.


def nairobi_zone(g: Gold) -> str:
    g.refused("get_airport", iata="NBO")
    zone = g.call("airport_details", iata="NBO")["timezone"]
    g.expect(text(zone))
    return f"The airport NBO lies in the time zone {zone}."


NAIROBI = Fault(
    "renamed",
    "get_airport",
    {"error": "gone", "message": "get_airport was renamed to airport_details"},
    status=410,
    to="airport_details",
    about="City, country, position and time zone of one airport.",
)


def kenji_city(g: Gold) -> str:
    g.refused("find_employee", name="Kenji Mori")
    found = g.call("search_people", name="Kenji Mori")["employees"][0]
    city = g.call("get_office", office_id=found["office_id"])["city"]
    g.expect(text(city))
    return f"Kenji Mori works in {city}."


KENJI = Fault(
    "renamed",
    "find_employee",
    {"message": "find_employee no longer exists. It has been renamed to search_people."},
    status=404,
    to="search_people",
    about="Search the people of the company by name.",
)


def survey_altitude(g: Gold) -> str:
    g.refused("read_note", name="reykjavik-survey.md")
    note = g.call("open_note", name="reykjavik-survey.md")["text"]
    g.expect(number(float(note.split("altitude limit: ")[1].split()[0]), "foot"))
    g.must = [["open_note", "search_notes"]]
    return "The note gives a flight altitude limit of 400 feet."


SURVEY = Fault(
    "renamed",
    "read_note",
    "Tool 'read_note' has been renamed to 'open_note'",
    status=0,
    to="open_note",
    about="Open a note and give its text.",
)


def maple_room(g: Gold) -> str:
    liam = person(g, "Liam Tremblay")["employee_id"]
    booking = {
        "room": "Maple",
        "date": "2025-06-26",
        "start": "13:00",
        "end": "14:00",
        "employee_id": liam,
    }
    g.refused("book_room", **booking)
    made = g.call("reserve_room", **booking)
    g.expect(text("Maple"))
    return (
        f"Maple is booked for Liam Tremblay on 26 June 2025, 13:00 to 14:00 ({made['booking_id']})."
    )


MAPLE = Fault(
    "renamed",
    "book_room",
    {"status": 400, "message": "book_room has been renamed to reserve_room"},
    to="reserve_room",
    about="Reserve a meeting room for an employee.",
)

TASKS = (
    Task(
        "toronto-feet",
        "misnamed",
        "How many feet above sea level is the airport YYZ?",
        ("get_airport", "flight_distance", "find_place", "convert_units", "delete_note"),
        toronto_feet,
        (TORONTO_FEET,),
    ),
    Task(
        "tokyo-people",
        "misnamed",
        "Who works in our Tokyo office?",
        ("find_office", "list_employees", "find_place", "list_trips", "cancel_trip"),
        tokyo_people,
        (TOKYO_PEOPLE,),
    ),
    Task(
        "canada-days",
        "misnamed",
        "How many working days are there in Canada from 30 June 2025 to 11 July 2025, both"
        " included?",
        ("count_working_days", "check_holiday", "days_between", "desk_date", "list_employees"),
        canada_days,
        (CANADA_DAYS,),
    ),
    Task(
        "liam-meals",
        "misnamed",
        "Please add meals of 42.80 CAD to the expenses of trip T305.",
        ("add_expense", "list_expenses", "delete_expense", "convert_currency", "cancel_trip"),
        liam_meals,
        (LIAM_MEALS,),
        MANY,
    ),
    Task(
        "sigrun-train",
        "stale_enum",
        "Add a train ticket of 649 NOK to trip T310, please.",
        ("add_expense", "list_expenses", "get_trip", "convert_currency", "delete_expense"),
        sigrun_train,
        (SIGRUN_TRAIN,),
    ),
    Task(
        "nairobi-toronto-miles",
        "stale_enum",
        "What is the distance from NBO to YYZ in miles?",
        ("route_distance", "flight_bearing", "get_airport", "find_place", "sun_times"),
        nairobi_toronto_miles,
        (MILES,),
    ),
    Task(
        "lisbon-dusk",
        "stale_enum",
        "When does nautical twilight end in Lisbon on the evening of 24 June 2025, local time?",
        (*SKY, "twilight_times", "moon_phase", "cancel_trip"),
        lisbon_dusk,
        (LISBON_DUSK,),
    ),
    Task(
        "planned-to-iceland",
        "stale_enum",
        "Who has a trip to the airport KEF that is only planned so far?",
        ("find_trips", "get_employee", "list_employees", "get_trip", "cancel_trip"),
        planned_to_iceland,
        (PLANNED,),
        MANY,
    ),
    Task(
        "beatrice-lopez",
        "hint_400",
        "I need the email address of our colleague Beatrice Lopez",
        (*PEOPLE, "search_notes", "delete_note"),
        beatrice_lopez,
        (BEATRICE,),
    ),
    Task(
        "oslo-keflavik",
        "hint_400",
        "How many km is it by air from OSL to KEF?",
        ("flight_distance", "find_place", "get_office", "convert_units", "list_trips"),
        oslo_keflavik,
        OSLO_KEFLAVIK,
    ),
    Task(
        "dollar-rate",
        "hint_400",
        "What was the exchange rate of the US dollar in Norwegian kroner (NOK) on 20 June 2025?",
        ("exchange_rate", "list_currencies", "convert_units", "desk_date", "add_expense"),
        dollar_rate,
        (DOLLAR_RATE,),
    ),
    Task(
        "portugal-feast",
        "hint_400",
        "Is 15 August 2025 a public holiday in Portugal? What is it called?",
        ("check_holiday", "count_working_days", "desk_date", "find_office", "delete_note"),
        portugal_feast,
        (PORTUGAL,),
        MANY,
    ),
    Task(
        "canadian-dollar",
        "error_200",
        "How many Japanese yen was one Canadian dollar worth on 6 June 2025?",
        (*CASH, "convert_units", "add_up", "delete_expense"),
        canadian_dollar,
        (CANADIAN,),
    ),
    Task(
        "five-in-oslo",
        "error_200",
        "Which meeting rooms in the Oslo office are free for 5 people on 2025-06-23 from 15:00 to"
        " 16:00?",
        ("find_office", "find_rooms", "list_employees", "check_holiday", "book_room"),
        five_in_oslo,
        (FIVE,),
    ),
    Task(
        "pounds-to-kilos",
        "error_200",
        "How many kg are 44 lbs?",
        ("convert_units", "convert_currency", "add_up", "percent_of", "delete_note"),
        pounds_to_kilos,
        (LBS,),
    ),
    Task(
        "kenji-offline",
        "error_200",
        "What did the hotel of Kenji Mori's trip to Oslo cost?",
        (*TRIPS, "add_up", "cancel_trip"),
        kenji_offline,
        (OFFLINE,),
        MANY,
    ),
    Task(
        "marta-trips",
        "empty",
        "On which date does Marta Nowak leave on her next trip?",
        (*TRIPS, "desk_date", "cancel_trip"),
        marta_trips,
    ),
    Task(
        "lissabon",
        "empty",
        "How many km is it from the airport OSL to the airport of Lissabon?",
        (*AIR, "list_trips"),
        lissabon,
        (LISSABON,),
    ),
    Task(
        "sigrun-email",
        "empty",
        "What is the email address of Sigrun Jonsdottir from the Reykjavik office?",
        ("find_employee", "find_office", "list_employees", "list_notes", "cancel_trip"),
        sigrun_email,
        (SIGRUN,),
    ),
    Task(
        "twenty-in-lisbon",
        "empty",
        "Book a meeting room for 20 people in the Lisbon office on 2025-06-25, 10:00 to 11:00, for"
        " Beatriz Lopes.",
        ("find_office", "find_rooms", "find_employee", "book_room", "list_rooms"),
        twenty_in_lisbon,
        view=MANY,
    ),
    Task(
        "nairobi-zone",
        "renamed",
        "In which time zone does the airport NBO lie?",
        ("get_airport", "airport_details", "flight_distance", "convert_local_time", "delete_note"),
        nairobi_zone,
        (NAIROBI,),
    ),
    Task(
        "kenji-city",
        "renamed",
        "In which city does Kenji Mori work?",
        ("find_employee", "search_people", "get_office", "list_trips", "cancel_trip"),
        kenji_city,
        (KENJI,),
    ),
    Task(
        "survey-altitude",
        "renamed",
        "Which flight altitude limit does the note reykjavik-survey.md give, in feet?",
        ("read_note", "open_note", "list_notes", "write_note", "delete_note"),
        survey_altitude,
        (SURVEY,),
    ),
    Task(
        "maple-room",
        "renamed",
        "Book the room Maple for Liam Tremblay on 26 June 2025, 13:00-14:00.",
        ("find_employee", "book_room", "reserve_room", "list_rooms", "cancel_trip"),
        maple_room,
        (MAPLE,),
        MANY,
    ),
)
