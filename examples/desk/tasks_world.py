"""Tasks about the world: distances, daylight, holidays, units, money, the git repository."""

from __future__ import annotations

from .gold import Gold, Task, choice, clock, day, either, number, paired, pattern, text

NEAR = 0.005  # distances: half a per cent
FINE = 0.001  # money and units: a tenth of a per cent
MORE = [
    "farther",
    "further",
    "longer",
    "greater",
    "farthest",
    "furthest",
    "more distant",
    "more remote",
]
LESS = ["closer", "nearer", "shorter", "nearest", "closest"]


def distance_by_code(g: Gold) -> str:
    km = g.call("flight_distance", origin="OSL", destination="LIS")["kilometres"]
    g.expect(number(km, "kilometre", share=NEAR))
    return f"As the crow flies it is {km} km from OSL to LIS."


def drone_case(g: Gold) -> str:
    lb = g.call("convert_units", value=14.5, from_unit="kg", to_unit="pound")["value"]
    g.expect(number(lb, "pound", share=NEAR))
    return f"14.5 kg are {lb:.2f} pounds."


def dollars_in_yen(g: Gold) -> str:
    arguments = {"amount": 250, "from_currency": "USD", "to_currency": "JPY", "date": "2025-06-20"}
    yen = g.call("convert_currency", **arguments)["amount"]
    g.must = [["convert_currency", "exchange_rate"]]
    g.expect(number(yen, "JPY", share=FINE))
    return f"250 US dollars were worth {yen:,.2f} JPY on 20 June 2025."


def portugal_day(g: Gold) -> str:
    found = g.call("check_holiday", country="PT", date="2025-06-10")
    assert found["is_holiday"]
    g.expect(text("Day of Portugal", "Portugal Day", "Portugal's Day"))
    g.forbid(r"not a (?:public |national )?holiday")
    return f"Yes, 10 June 2025 is a public holiday in Portugal: {found['name']}."


def may_in_norway(g: Gold) -> str:
    days = g.call("count_working_days", country="NO", start="2025-05-01", end="2025-05-31")[
        "working_days"
    ]
    g.expect(number(days, "day"))
    return f"May 2025 has {days} working days in Norway."


def nairobi_elevation(g: Gold) -> str:
    feet = g.call("get_airport", iata="NBO")["elevation_feet"]
    g.expect(number(feet, "foot", within=1))
    return f"NBO lies {feet:,.0f} feet above sea level."


def nairobi_to_tokyo(g: Gold) -> str:
    arguments = {
        "source_timezone": "Africa/Nairobi",
        "time": "16:30",
        "target_timezone": "Asia/Tokyo",
    }
    there = g.call("convert_time", **arguments)["target"]["datetime"][11:16]
    g.expect(clock(there, 0))
    return f"At 16:30 in Nairobi it is {there} in Tokyo."


def oslo_evening(g: Gold) -> str:
    zones = {"from_timezone": "Europe/Oslo", "to_timezone": "Asia/Tokyo"}
    there = g.call("convert_local_time", date="2025-06-20", time="22:00", **zones)
    g.expect(clock(there["time"], 0), day(there["date"]))
    return f"Then it is {there['time']} on {there['date']} in Tokyo."


def last_commit(g: Gold) -> str:
    log = g.call("git_log", repo_path="handbook", max_count=1)
    assert "Chloe Martin" in log[0]
    assert "Receipts are due 10 days after return" in log[0]
    g.expect(text("Chloe Martin"), pattern(r"receipts are due (?:10|ten) days after return"))
    return (
        "The latest commit is by Chloe Martin, with the message 'Receipts are due 10 days after"
        " return'."
    )


def canteen(g: Gold) -> str:
    note = g.call("read_note", name="old-menu.md")["text"]
    dish = note.split("Wednesday ")[1].split(",")[0]
    g.expect(text(dish))
    g.must = [["read_note", "search_notes"]]
    return f"On Wednesday there is {dish}."


def lisbon_in_miles(g: Gold) -> str:
    a = g.call("find_airports", city="Oslo Gardermoen")["airports"][0]["iata"]
    b = g.call("find_airports", city="Lisbon")["airports"][0]["iata"]
    km = g.call("flight_distance", origin=a, destination=b)["kilometres"]
    miles = g.call("convert_units", value=km, from_unit="km", to_unit="nautical_mile")["value"]
    g.expect(number(miles, "nautical mile", share=NEAR))
    return f"From Oslo Gardermoen to Lisbon it is {miles:.1f} nautical miles."


def madrid_helsinki(g: Gold) -> str:
    a = g.call("find_airports", city="Madrid Barajas")["airports"][0]["iata"]
    b = g.call("find_airports", city="Helsinki Vantaa")["airports"][0]["iata"]
    km = g.call("flight_distance", origin=a, destination=b)["kilometres"]
    g.expect(number(km, "kilometre", share=NEAR))
    return f"Madrid Barajas and Helsinki Vantaa are {km} km apart."


def sun(g: Gold, city: str, date: str) -> dict[str, str]:
    place = g.call("find_place", city=city)
    where = {key: place[key] for key in ("latitude", "longitude", "timezone")}
    found: dict[str, str] = g.call("sun_times", date=date, **where)
    return found


def reykjavik_sunrise(g: Gold) -> str:
    rise = sun(g, "Reykjavik", "2025-06-21")["sunrise"]
    g.expect(clock(rise))
    return f"The sun rises at {rise} local time in Reykjavik on 21 June 2025."


def wellington_daylight(g: Gold) -> str:
    minutes = int(sun(g, "Wellington", "2025-07-04")["daylight_minutes"])
    hours, rest = divmod(minutes, 60)
    spoken = rf"\b{hours} ?(?:h|hours?|hrs?),?(?: and)? ?0?{rest} ?(?:m|min)"
    g.expect(either(number(minutes, "minute", within=1), pattern(spoken)))
    return f"There are {minutes} minutes of daylight in Wellington on 4 July 2025."


def three_sunsets(g: Gold) -> str:
    oslo, lisbon, nairobi = (
        sun(g, city, "2025-06-24")["sunset"] for city in ("Oslo", "Lisbon", "Nairobi")
    )
    g.expect(
        paired((["Oslo"], clock(oslo)), (["Lisbon"], clock(lisbon)), (["Nairobi"], clock(nairobi)))
    )
    return (
        f"On 24 June 2025 the sun sets at {oslo} in Oslo, at {lisbon} in Lisbon and at {nairobi} in"
        " Nairobi."
    )


def zurich_metres(g: Gold) -> str:
    code = g.call("find_airports", city="Zurich")["airports"][0]["iata"]
    feet = g.call("get_airport", iata=code)["elevation_feet"]
    metres = g.call("convert_units", value=feet, from_unit="feet", to_unit="meter")["value"]
    g.expect(number(metres, "metre", share=NEAR))
    return f"Zurich airport lies {metres:.1f} metres above sea level."


def keflavik_holiday(g: Gold) -> str:
    country = g.call("get_airport", iata="KEF")["country"]
    found = g.call("check_holiday", country=country, date="2025-06-17")
    assert found["is_holiday"]
    g.expect(text(found["name"], "National Day of Iceland", "Icelandic National Day"))
    g.forbid(r"not a (?:public |national )?holiday")
    return f"Yes: 17 June 2025 is {found['name']} there, a public holiday."


def pound_today(g: Gold) -> str:
    today = g.call("desk_date")["date"]
    rate = g.call("exchange_rate", base="GBP", quote="NOK", date=today)["rate"]
    g.expect(number(rate, share=FINE))
    g.must = [["exchange_rate", "convert_currency"]]
    return f"Today one British pound is worth {rate} NOK."


def toronto_call(g: Gold) -> str:
    a, b = (
        g.call("find_place", city="Toronto")["timezone"],
        g.call("find_place", city="Reykjavik")["timezone"],
    )
    zones = {"from_timezone": a, "to_timezone": b}
    there = g.call("convert_local_time", date="2025-06-24", time="09:00", **zones)
    g.expect(clock(there["time"], 0))
    return f"In Reykjavik it is {there['time']} then."


def days_left(g: Gold) -> str:
    today = g.call("desk_date")["date"]
    days = g.call("count_working_days", country="NO", start=today, end="2025-07-04")["working_days"]
    g.expect(number(days, "day"))
    return f"There are {days} working days left, today and 4 July included."


def keflavik_sunset(g: Gold) -> str:
    place = g.call("get_airport", iata="KEF")
    where = {key: place[key] for key in ("latitude", "longitude", "timezone")}
    sets = g.call("sun_times", date="2025-02-01", **where)["sunset"]
    g.expect(clock(sets))
    return f"At Keflavik the sun sets at {sets} on 1 February 2025."


def farther_from_oslo(g: Gold) -> str:
    nbo = g.call("flight_distance", origin="OSL", destination="NBO")["kilometres"]
    yyz = g.call("flight_distance", origin="OSL", destination="YYZ")["kilometres"]
    kenya, canada = ["Nairobi", "NBO"], ["Toronto", "YYZ"]
    assert nbo > yyz
    a, b = number(nbo, "kilometre", share=NEAR), number(yyz, "kilometre", share=NEAR)
    g.expect(choice(kenya, [canada], MORE, LESS), paired((kenya, a), (canada, b)))
    return f"Nairobi is farther from Oslo: {nbo} km. To Toronto it is {yyz} km."


def euros_three_ways(g: Gold) -> str:
    pairs, words = [], []
    for code in ("NOK", "JPY", "CAD"):
        arguments = {
            "amount": 100,
            "from_currency": "EUR",
            "to_currency": code,
            "date": "2025-06-20",
        }
        amount = g.call("convert_currency", **arguments)["amount"]
        pairs.append(number(amount, code, share=FINE))
        words.append(f"{amount} {code}")
    g.expect(*pairs)
    g.must = [["convert_currency", "exchange_rate"]]
    return f"100 EUR were worth {', '.join(words)}."


def two_holidays(g: Gold) -> str:
    a = g.call("check_holiday", country="PT", date="2025-12-01")["name"]
    b = g.call("check_holiday", country="JP", date="2025-11-03")["name"]
    g.expect(
        paired(
            (["Portugal", "Portuguese"], text(a, "Restoration of Independence")),
            (["Japan"], text(b)),
        )
    )
    return f"In Portugal 1 December 2025 is {a}; in Japan 3 November 2025 is {b}."


def field_weights(g: Gold) -> str:
    note = g.call("read_note", name="packing-list.md")["text"]
    case, tripod = (
        float(note.split(f"{thing}, ")[1].split(" kg")[0]) for thing in ("drone case", "tripod")
    )
    a = g.call("convert_units", value=case, from_unit="kg", to_unit="pound")["value"]
    b = g.call("convert_units", value=tripod, from_unit="kg", to_unit="pound")["value"]
    pairs = (
        (["drone case", "case"], number(a, "pound", share=NEAR)),
        (["tripod"], number(b, "pound", share=NEAR)),
    )
    g.expect(paired(*pairs))
    return f"The drone case weighs {a:.2f} pounds and the tripod {b:.2f} pounds."


AIR = ("find_airports", "get_airport", "flight_distance", "convert_units")
SKY = ("find_place", "sun_times", "convert_local_time")
CASH = ("convert_currency", "exchange_rate")
TASKS = (
    Task(
        "distance-by-code",
        "single",
        "How many kilometres is it from OSL to LIS as the crow flies?",
        ("find_place", "flight_distance", "get_airport", "sun_times", "cancel_trip"),
        distance_by_code,
    ),
    Task(
        "drone-case",
        "single",
        "the drone case weighs 14.5 kg, what's that in pounds?",
        (*CASH, "convert_units", "add_up", "delete_note"),
        drone_case,
    ),
    Task(
        "dollars-in-yen",
        "single",
        "What were 250 US dollars worth in Japanese yen on 20 June 2025?",
        (*CASH, "convert_units", "add_expense", "desk_date"),
        dollars_in_yen,
    ),
    Task(
        "portugal-day",
        "single",
        "Is 10 June 2025 a public holiday in Portugal, and if so what is it called?",
        (
            "list_holidays",
            "check_holiday",
            "count_working_days",
            "desk_date",
            "find_office",
            "delete_note",
        ),
        portugal_day,
    ),
    Task(
        "may-in-norway",
        "single",
        "How many working days does Norway have from 1 May 2025 to 31 May 2025?",
        ("list_holidays", "check_holiday", "count_working_days", "desk_date", "list_trips"),
        may_in_norway,
    ),
    Task(
        "nairobi-elevation",
        "single",
        "Elevation of the airport NBO in feet, please.",
        ("get_airport", "flight_distance", "find_place", "get_office", "delete_expense"),
        nairobi_elevation,
    ),
    Task(
        "nairobi-to-tokyo",
        "single",
        "When it's 16:30 in Nairobi (Africa/Nairobi), what time is it in Tokyo (Asia/Tokyo)?",
        ("convert_time", "sun_times", "find_office", "convert_units", "flight_distance"),
        nairobi_to_tokyo,
    ),
    Task(
        "oslo-evening",
        "single",
        "It is 22:00 on 20 June 2025 in Oslo (Europe/Oslo). What are the date and time in"
        " Asia/Tokyo at that moment?",
        ("convert_local_time", "sun_times", "desk_date", "check_holiday", "book_room"),
        oslo_evening,
    ),
    Task(
        "last-commit",
        "single",
        "Who made the latest commit in the git repository handbook, and what is its message?",
        ("git_log", "git_status", "git_branch", "read_note", "git_reset"),
        last_commit,
    ),
    Task(
        "canteen",
        "single",
        "What did the canteen serve on Wednesday in week 20? It should be in the note old-menu.md",
        ("read_note", "list_notes", "search_notes", "write_note", "delete_note"),
        canteen,
    ),
    Task(
        "lisbon-in-miles",
        "chain",
        "How far is it from Oslo Gardermoen to Lisbon airport in nautical miles?",
        (*AIR, "find_place", "cancel_trip"),
        lisbon_in_miles,
    ),
    Task(
        "madrid-helsinki",
        "chain",
        "I'd like to know the distance in km between the airports Madrid Barajas and Helsinki"
        " Vantaa.",
        ("find_airports", "flight_distance", "find_office", "list_trips", "delete_note"),
        madrid_helsinki,
    ),
    Task(
        "reykjavik-sunrise",
        "chain",
        "What time is sunrise in Reykjavik on 2025-06-21, local time?",
        (*SKY, "desk_date", "find_airports"),
        reykjavik_sunrise,
    ),
    Task(
        "wellington-daylight",
        "chain",
        "How many minutes of daylight does Wellington get on 4 July 2025?",
        (*SKY, "check_holiday", "convert_units"),
        wellington_daylight,
    ),
    Task(
        "three-sunsets",
        "parallel",
        "Sunset on 24 June 2025 in Oslo, in Lisbon and in Nairobi, please, each in local time.",
        (*SKY, "find_office", "cancel_trip"),
        three_sunsets,
    ),
    Task(
        "zurich-metres",
        "chain",
        "How high above sea level is Zurich airport in metres?",
        (*AIR, "exchange_rate", "delete_expense"),
        zurich_metres,
    ),
    Task(
        "keflavik-holiday",
        "chain",
        "Is 17 June 2025 a public holiday in the country of the airport KEF? Which one?",
        ("get_airport", "check_holiday", "count_working_days", "find_place", "flight_distance"),
        keflavik_holiday,
    ),
    Task(
        "pound-today",
        "chain",
        "What's one British pound worth in Norwegian kroner today? Use the desk's date for today.",
        (*CASH, "desk_date", "convert_units", "add_expense"),
        pound_today,
    ),
    Task(
        "toronto-call",
        "chain",
        "A video call starts at 09:00 in Toronto on 24 June 2025. What time is that for the people"
        " in Reykjavik?",
        ("find_place", "convert_local_time", "sun_times", "find_rooms", "book_room"),
        toronto_call,
    ),
    Task(
        "days-left",
        "chain",
        "How many working days are left in Norway from today up to 4 July 2025, both included?",
        (
            "desk_date",
            "count_working_days",
            "check_holiday",
            "convert_local_time",
            "list_employees",
        ),
        days_left,
    ),
    Task(
        "keflavik-sunset",
        "chain",
        "When does the sun set at the airport KEF on 1 February 2025 (local time)?",
        ("get_airport", "sun_times", "convert_time", "flight_distance", "check_holiday"),
        keflavik_sunset,
    ),
    Task(
        "farther-from-oslo",
        "parallel",
        "Which airport is farther from OSL: Nairobi (NBO) or Toronto (YYZ)? Give me both distances"
        " in km.",
        ("flight_distance", "get_airport", "convert_units", "find_place", "cancel_trip"),
        farther_from_oslo,
    ),
    Task(
        "euros-three-ways",
        "parallel",
        "Convert 100 EUR into NOK, JPY and CAD at the rates of 20 June 2025.",
        (*CASH, "convert_units", "add_up", "list_expenses"),
        euros_three_ways,
    ),
    Task(
        "two-holidays",
        "parallel",
        "Which holiday is 1 December 2025 in Portugal, and which one is 3 November 2025 in Japan?",
        ("check_holiday", "count_working_days", "desk_date", "get_office", "delete_note"),
        two_holidays,
    ),
    Task(
        "field-weights",
        "parallel",
        "From the note packing-list.md: how heavy are the drone case and the tripod in pounds?",
        ("read_note", "convert_units", "list_notes", "convert_currency", "delete_note"),
        field_weights,
    ),
)
