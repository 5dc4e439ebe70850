import gc
import random
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.grounding import check_statement, facts_of
from callwright.grounding.facts import render_content
from callwright.nouns.types import ToolResult

PARIS = ToolResult(
    "r1",
    "city_info",
    {"city": "Paris"},
    {"name": "Paris", "population": 2102650, "area_km2": 105.4, "open": True},
)
LONDON = ToolResult(
    "r2",
    "city_info",
    {"city": "London"},
    {"name": "London", "population": 8866180, "area_km2": 1572.0, "open": False},
)
FLIGHTS = ToolResult(
    "r3",
    "flights",
    {"from": "CDG", "to": "LHR"},
    {
        "flights": [
            {"no": "AF1680", "departure": "2024-05-24T07:35:00+02:00", "arrival": "2024-05-24T07:55:00+01:00",
             "duration_min": 80, "price": {"amount": 124.5, "currency": "EUR"}},
            {"no": "BA303", "departure": "2024-05-24T08:50:00+02:00", "arrival": "2024-05-24T09:10:00+01:00",
             "duration_min": 80, "price": {"amount": 151.0, "currency": "EUR"}},
        ]
    },
)  # fmt: skip
FACTS = facts_of("Compare Paris and London and find flights.", [PARIS, LONDON, FLIGHTS])


@pytest.mark.parametrize(
    "text",
    [
        "Paris has a population of 2,102,650.",
        "About 2.1 million people live in Paris.",
        "Paris covers 40.7 square miles.",
        "London has 8.9 million inhabitants and covers 1,572 km².",
        "AF1680 leaves at 7:35 am and costs 124.50 euros.",
        "AF1680 takes 1 h 20 min.",
        "BA303 departs on Friday, May 24, 2024.",
        "London has 6,763,530 more inhabitants than Paris.",
        "There are two flights.",
        "Together the two flights cost 275.50 EUR.",
        "AF1680 is the cheaper one, by 26.50 euros.",
        "Paris is open.",
        "London is not open.",
    ],
)
def test_what_the_results_say_or_imply_is_supported(text: str) -> None:
    verdict = check_statement(text, FACTS)
    assert verdict.support == "supported", verdict.problems
    assert all(c.quote in FACTS.texts[c.result] for c in verdict.citations)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Paris has a population of 2,302,650.", "number changed"),
        ("Paris has a population of 8,866,180.", "London's number"),
        ("The area of Paris is 2,102,650.", "another field's number"),
        ("Paris covers 105.4 square miles.", "unit swapped"),
        ("AF1680 costs $124.50.", "currency swapped"),
        ("BA303 departs at 07:35.", "the other flight's time"),
        ("BA303 departs at 9:10 am.", "its arrival"),
        ("AF1680 leaves on Monday, 24 May 2024.", "that day was a Friday"),
        ("AF1682 leaves at 07:35.", "no such flight"),
        ("London is the busiest city of Europe.", "nobody says so"),
        ("Breakfast is served on board.", "nobody says so"),
        ("Paris is not open.", "it is"),
        ("London is open.", "it is not"),
        ("The two flights take 95 minutes each.", "number changed"),
    ],
)
def test_what_the_results_do_not_say_is_flagged(text: str, why: str) -> None:
    assert check_statement(text, FACTS).support == "unsupported", why


def test_a_value_of_the_wrong_record_is_repaired_to_the_right_one() -> None:
    fix = check_statement("Paris has a population of 8,866,180.", FACTS).fixes[0]
    assert (fix.before, fix.text, fix.leaf.result) == ("8,866,180", "2,102,650", "r1")


def test_a_derived_number_says_what_it_was_derived_from() -> None:
    verdict = check_statement("Paris covers 40.7 square miles.", FACTS)
    assert verdict.derived
    assert verdict.citations[0].quote == '"area_km2":105.4'


LISTED = "[FILE] a.txt\n[DIR] sub\n[FILE] report-2024.pdf\n[FILE] .env"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("[FILE] a.txt", "The folder holds a.txt"),
        ("[FILE] a.txt", "The folder holds `a.txt`."),
        (LISTED, "The folder holds a.txt and sub."),
        (LISTED, "There are (a.txt), report-2024.pdf and .env."),
        ("<src/app.py>; [node.js]", "It has src/app.py, and node.js."),
        (["main.py"], "It has one file, main.py."),
        (
            "[2026-11-23] 5 files copied to backup.tar",
            "On 2026-11-23 five files were copied to backup.tar.",
        ),
    ],
)
def test_names_of_files_are_found_whatever_stands_around_them(content: Any, text: str) -> None:
    verdict = check_statement(
        text, facts_of("What is in the folder?", [ToolResult("r1", "list", {}, content)])
    )
    assert verdict.support == "supported", verdict.problems
    assert verdict.citations
    assert verdict.citations[0].result == "r1"


def test_a_file_that_no_result_names_is_flagged() -> None:
    facts = facts_of("What is in the folder?", [ToolResult("r1", "list", {}, "[FILE] a.txt")])
    assert check_statement("The folder holds b.txt.", facts).problems == [
        "b.txt stands in no result"
    ]
    assert not check_statement(
        "The folder holds a.txt, e.g. for the U.S. and/or others", facts
    ).problems


def test_the_result_that_holds_a_value_in_its_unit_is_cited_before_one_that_it_was_converted_from() -> (
    None
):
    way = ToolResult(
        "r1", "flight_distance", {"origin": "OSL", "destination": "LIS"}, {"kilometres": 2768.6}
    )
    asked = {"value": 2768.6, "from_unit": "kilometre", "to_unit": "nautical_mile"}
    miles = ToolResult("r2", "convert_units", asked, {"value": 1494.924, "unit": "nautical_mile"})
    text = "The distance from OSL to LIS is 1,494.92 nautical miles."
    question = "How far is it from OSL to LIS in nautical miles?"
    assert [
        c.result for c in check_statement(text, facts_of(question, [way, miles])).citations
    ] == ["r2"]
    assert [c.result for c in check_statement(text, facts_of(question, [way])).citations] == ["r1"]


def test_numbers_of_the_question_may_be_repeated() -> None:
    facts = facts_of(
        "What are 250 CHF in EUR?", [ToolResult("r1", "convert", {}, {"result": 266.05})]
    )
    assert check_statement("250 CHF are 266.05.", facts).support == "supported"


def test_a_limitation_is_no_false_statement() -> None:
    assert check_statement("The weather could not be found.", FACTS).support == "limitation"


def test_a_python_reply_inside_a_string_is_read() -> None:
    facts = facts_of(
        "status?",
        [ToolResult("r1", "t", {}, {"error": "", "response": "{'status': 'UP', 'jobs': 17}"})],
    )
    assert check_statement("There are 17 jobs.", facts).support == "supported"
    assert check_statement("There are 19 jobs.", facts).support == "unsupported"
    assert check_statement("The service is down.", facts).support == "unsupported"


KEYS = st.sampled_from(
    ["population", "price", "depth", "score", "visitor_count", "maxSpeed", "tidal range", "zorb"]
)
SCALARS = st.one_of(
    st.integers(-(10**7), 10**7),
    st.decimals(-(10**5), 10**5, places=2, allow_nan=False).map(float),
    st.text("abcdefghij ABCDEF0123456789", min_size=1, max_size=24),
    st.dates().map(str),
    st.booleans(),
)


def told(value: Any) -> str:
    return value if isinstance(value, str) else render_content(value)


@given(st.dictionaries(KEYS, SCALARS, min_size=1, max_size=6), st.data())
def test_a_scalar_copied_with_its_key_is_never_flagged(
    record: dict[str, Any], data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(sorted(record)))
    facts = facts_of("What is known?", [ToolResult("r1", "lookup", {}, record)])
    verdict = check_statement(f"{key}: {told(record[key])}", facts)
    assert verdict.support != "unsupported", verdict.problems


@given(KEYS, st.integers(100, 10**7), st.integers(100, 10**7))
def test_a_number_that_stands_nowhere_and_follows_from_nothing_is_flagged(
    key: str, right: int, wrong: int
) -> None:
    facts = facts_of("What is known?", [ToolResult("r1", "lookup", {}, {key: right})])
    verdict = check_statement(f"The {key} is {wrong}.", facts)
    assert (verdict.support == "unsupported") == (right != wrong)


@given(st.dictionaries(KEYS, SCALARS, min_size=1, max_size=6), st.text(max_size=200))
def test_checking_is_deterministic_never_raises_and_quotes_what_is_there(
    record: dict[str, Any], text: str
) -> None:
    results = [ToolResult("r1", "lookup", {"q": "x"}, record)]
    statement = f"{text} {next(iter(record.values()))}"
    first, second = (
        check_statement(statement, facts_of("q", results)),
        check_statement(statement, facts_of("q", results)),
    )
    assert first == second
    assert all(c.quote in render_content(record) for c in first.citations)


@settings(deadline=None, max_examples=30)
@given(
    st.recursive(
        SCALARS | st.none(),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
        ),
        max_leaves=20,
    )
)
def test_any_json_can_be_indexed(content: Any) -> None:
    check_statement(
        "The total of 12 items is 3.5 km on 5 May 2024.",
        facts_of("q", [ToolResult("r1", "t", {}, content)]),
    )


def _huge() -> dict[str, Any]:
    dice = random.Random(7)
    return {
        "numbers": [dice.random() * 1000 for _ in range(10_000)],
        "records": [
            {"name": f"item {i}", "price": i * 1.5, "at": "2025-01-11T10:00:00Z"}
            for i in range(12_000)
        ],
        "one word": "a" * 1_000_000,
        "digits": "1" * 1_000_000,
        "commas": "1," * 500_000,
        "prose": " ".join(
            dice.choice(["alpha", "beta.", "12.5", "2025-01-02", "3 km"]) for _ in range(150_000)
        ),
        "wide": {f"k{i}": i for i in range(60_000)},
    }


HUGE = _huge()


@pytest.mark.parametrize("name", list(HUGE))
def test_a_huge_result_is_indexed_and_checked_in_bounded_time(name: str) -> None:
    content = HUGE[name]
    gc.collect()
    gc.disable()  # what other tests left behind is not this check's work
    try:
        started = time.process_time()
        facts = facts_of("What is the total?", [ToolResult("r1", "big", {"q": "x"}, content)])
        check_statement(
            "The total of Alpha is 123,456,789, more than the average of Beta, for 3 hours.", facts
        )
        spent = time.process_time() - started
    finally:
        gc.enable()
    assert spent < 0.5  # 250 ms is the promise; slow machines get twice that


@pytest.mark.parametrize(
    "text",
    ["9" * 20_000, "A " * 10_000, "1-" * 10_000, "two " * 5_000, "1 h " * 4_000, "12:30 " * 4_000],
)
def test_a_hostile_statement_is_checked_in_bounded_time(text: str) -> None:
    started = time.process_time()
    check_statement(text, FACTS)
    assert time.process_time() - started < 0.5


def test_a_number_beyond_what_is_indexed_of_a_huge_result_is_still_found() -> None:
    content = [{"name": f"item {i}", "price": i} for i in range(9_000)] + [
        {"name": "last", "price": 777123}
    ]
    facts = facts_of("q", [ToolResult("r1", "big", {}, content)])
    assert facts.cut
    assert check_statement("The price of the last one is 777,123.", facts).support == "supported"


EVENTS = facts_of(
    "When is the meeting?",
    [
        ToolResult("r1", "list_events", {}, [
            {"title": "Meeting", "date": "2026-03-16", "time": "10:00", "guests": 25, "km": 5},
            {"title": "Lunch", "date": "2026-03-17", "time": "12:30", "guests": 4, "km": 1}]),
    ],
)  # fmt: skip


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("The meeting is on 2026-03-16 10:00.", "The meeting is on 2026-03-16 12:30."),
        ("Das Treffen ist am 2026-03-16 10:00.", "Das Treffen ist am 2026-03-17 10:00."),
        ("会议在3月16日10:00。", "会议在3月18日10:00。"),
        ("会议时间为2026年3月16日上午10点。", "会议时间为2026年4月16日。"),
        ("第1个会议有25人参加。", "第1个会议有31人参加。"),
        ("距离是5公里。", "距离是8公里。"),
    ],
)
def test_days_times_and_numbers_beside_signs_are_checked(right: str, wrong: str) -> None:
    assert check_statement(right, EVENTS).support == "supported"
    assert check_statement(wrong, EVENTS).support == "unsupported"


ORDERS = [
    ToolResult(
        f"r{place}",
        "create_order",
        {"part_code": part, "quantity": many},
        {"order_id": f"O-500{place}", "total": total},
    )
    for place, (part, many, total) in enumerate([("A-100", 5, 122.5), ("C-330", 7, 595.0)], 1)
]
CHANGES = [
    ToolResult(
        "r1", "cancel_order", {"order_id": "O-5002"}, {"order_id": "O-5002", "status": "cancelled"}
    ),
    ToolResult(
        "r2",
        "update_order",
        {"order_id": "O-5003", "quantity": 12},
        {"order_id": "O-5003", "part_code": "A-100", "quantity": 12, "status": "open"},
    ),
]


@pytest.mark.parametrize(
    ("text", "results", "support"),
    [
        ("You ordered 5 pieces of A-100 and 7 pieces of C-330.", ORDERS, "supported"),
        ("The order IDs are O-5001 and O-5002.", ORDERS, "supported"),
        ("The orders O-5001 and O-5002 cost 717.5 in total.", ORDERS, "supported"),
        ("You ordered 6 pieces of A-100.", ORDERS, "unsupported"),
        ("The order O-5003 was placed.", ORDERS, "unsupported"),
        ("The order O-5002 costs 122.5.", ORDERS, "unsupported"),
        (
            "The order O-5002 was cancelled, and the quantity of O-5003 was set to 12.",
            CHANGES,
            "supported",
        ),
        ("O-5002 is cancelled, and A-100 has the order O-5002.", CHANGES, "unsupported"),
    ],
)
def test_what_was_done_is_told_of_by_what_the_calls_were_made_with(
    text: str, results: list[ToolResult], support: str
) -> None:
    facts = facts_of("Do what I asked for.", results)
    assert check_statement(text, facts).support == support


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("Luma opens at 9 am.", "Luma opens at 10 am."),
        ("It closes at 6 o'clock in the evening.", "It closes at 7 o'clock in the evening."),
        ("It opens at 9 and closes at 6 pm.", "It opens at 9 and closes at 7 pm."),
    ],
)
def test_a_full_hour_may_stand_in_a_result_as_a_number(true: str, false: str) -> None:
    shop = ToolResult("r1", "get_shop", {}, {"name": "Luma", "opens": 9, "closes": 18})
    known = facts_of("When is Luma open?", [shop])
    assert check_statement(true, known).problems == []
    assert check_statement(false, known).support == "unsupported"


def test_an_hour_that_was_asked_for_may_be_repeated() -> None:
    asked = ToolResult("r1", "book", {"title": "Yoga", "hour": 18}, {"booked": True})
    known = facts_of("Buche Yoga um 18 Uhr.", [asked])
    assert check_statement("Yoga um 18 Uhr ist gebucht.", known).problems == []
    assert check_statement("Yoga um 19 Uhr ist gebucht.", known).support == "unsupported"


def test_that_nothing_is_planned_makes_no_claim_of_its_words() -> None:
    known = facts_of("What is planned?", [ToolResult("r1", "list_events", {}, {"events": []})])
    assert check_statement("Nothing is planned for tomorrow.", known).support == "supported"


STAY = [ToolResult("r1", "book", {}, {
    "hotel": "Anker", "check_in": "2026-03-14T15:00", "check_out": "2026-03-17T11:00"})]  # fmt: skip
TRIPS = [ToolResult("r1", "list_flights", {}, [
    {"flight": "LH123", "price_eur": 240, "departs": "2026-03-14T08:30"},
    {"flight": "AF77", "price_eur": 180, "departs": "2026-03-15T19:05"},
    {"flight": "BA9", "price_eur": 310, "departs": "2026-03-16T12:00"}])]  # fmt: skip
AIR = [ToolResult("r1", "get_weather", {}, {"temperature": -3.5, "unit": "C", "humidity": 82})]


@pytest.mark.parametrize(
    ("query", "results", "text", "holds"),
    [
        ("Book the Anker", STAY, "The stay is from 14 to 17 March 2026.", True),
        ("Book the Anker", STAY, "The stay is from March 14–17, 2026.", True),
        ("Book the Anker", STAY, "The stay is from 15 to 17 March 2026.", False),
        ("Book the Anker", STAY, "You leave on the 17th.", True),
        ("Book the Anker", STAY, "You leave on the 18th.", False),
        ("Book the Anker", STAY, "You stay for three nights.", True),
        ("Book the Anker", STAY, "You stay for two nights.", False),
        ("Buche das Anker", STAY, "Sie bleiben 3 Nächte, vom 14. bis 17. März 2026.", True),
        ("Buche das Anker", STAY, "Sie bleiben vom 14.3. bis zum 17.3. im Hotel.", True),
        ("Buche das Anker", STAY, "Sie bleiben vom 14.3. bis zum 18.3. im Hotel.", False),
        ("Reserva el Anker", STAY, "La estancia es del 14 al 17 de marzo, 3 noches.", True),
        ("Reserva el Anker", STAY, "La estancia es del 15 al 17 de marzo.", False),
        ("预订Anker酒店", STAY, "入住时间为3月14日至17日，共3晚。", True),
        ("احجز فندق Anker", STAY, "الإقامة من 14 إلى 17 مارس 2026، 3 ليال.", True),
        ("احجز فندق Anker", STAY, "الإقامة من 13 إلى 17 مارس 2026.", False),
        ("Which flights?", TRIPS, "The 2nd flight is AF77.", True),
        ("Which flights?", TRIPS, "The 4th flight is AF77.", False),
        ("Welche Flüge gibt es?", TRIPS, "Der 2. Flug ist AF77.", True),
        ("¿Qué vuelos hay?", TRIPS, "El 2.º vuelo es AF77.", True),
        ("ما هي الرحلات؟", TRIPS, "هناك رحلتان LH123 وAF77.", True),
        ("ما هي الرحلات؟", TRIPS, "هناك رحلتان LH123 وAF78.", False),
        ("Weather?", AIR, "The humidity is 82%.", True),
        ("Wie ist das Wetter?", AIR, "Die Luftfeuchtigkeit beträgt 82 %.", True),
        ("¿Qué tiempo hace?", AIR, "La humedad es del 82 %.", True),
        ("天气如何？", AIR, "湿度82%。", True),
        ("كيف الطقس؟", AIR, "الرطوبة 82٪.", True),
        ("Weather?", AIR, "It is 82 °C.", False),
    ],
)
def test_days_places_and_shares_are_told_in_many_ways(
    query: str, results: list[ToolResult], text: str, holds: bool
) -> None:
    verdict = check_statement(text, facts_of(query, results))
    assert (verdict.support != "unsupported") is holds, verdict.problems


def test_nights_are_counted_where_today_is_known() -> None:
    facts = facts_of("Book the Anker", STAY, said=["Today is Friday, 2026-03-13."])
    assert check_statement("You stay for three nights.", facts).support == "supported"
    assert check_statement("You stay for 2 nights.", facts).support == "unsupported"


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("LH123, AF77 and BA9 cost 240, 180 and 310 EUR respectively.", True),
        ("LH123, AF77 and BA9 cost 180, 240 and 310 EUR respectively.", False),
        ("LH123 and AF77 cost 180 and 240 EUR respectively.", False),
    ],
)
def test_values_in_the_order_of_the_names_belong_to_them(text: str, holds: bool) -> None:
    verdict = check_statement(text, facts_of("Which flights are there?", TRIPS))
    assert (verdict.support == "supported") is holds, verdict.problems


FIRM = [ToolResult("r1", "firm", {}, {"revenue_musd": 12.5, "growth_pct": -3.2, "staff": 1250})]


@pytest.mark.parametrize(
    ("query", "text", "holds"),
    [
        ("How is the firm?", "Revenue declined by 3.2%.", True),
        ("How is the firm?", "Revenue grew by 3.2%.", False),
        ("Wie läuft die Firma?", "Der Umsatz sank um 3,2 %.", True),
        ("Wie läuft die Firma?", "Der Umsatz wuchs um 3,2 %.", False),
        ("¿Cómo va la empresa?", "Los ingresos cayeron un 3,2 %.", True),
        ("¿Cómo va la empresa?", "Los ingresos subieron un 3,2 %.", False),
        ("公司怎么样？", "下降了3.2%。", True),
        ("公司怎么样？", "增长了3.2%。", False),
        ("كيف حال الشركة؟", "انخفضت بنسبة ٣٫٢٪.", True),
        ("كيف حال الشركة؟", "ارتفعت بنسبة ٣٫٢٪.", False),
        # too short for its language to be told
        ("Wie läuft die Firma?", "Der Umsatz betrug 12,5 Millionen Dollar.", True),
        ("Wie läuft die Firma?", "Der Umsatz betrug 13,5 Millionen Dollar.", False),
        ("Wie läuft die Firma?", "Es gibt mehr als 1.200 Mitarbeiter.", True),
    ],
)
def test_a_fall_and_millions_are_told_in_words(query: str, text: str, holds: bool) -> None:
    verdict = check_statement(text, facts_of(query, FIRM))
    assert (verdict.support != "unsupported") is holds, verdict.problems


def test_what_was_not_read_to_its_end_may_hold_the_extreme() -> None:
    rows = [{"name": f"Item {at}", "price": at * 1.5} for at in range(3_000)]
    facts = facts_of("How many items are there?", [ToolResult("r1", "list_items", {}, rows)])
    text = "The most expensive is Item 2999 at 4498.5."
    assert check_statement(text, facts).support == "supported"
    assert check_statement("The cheapest is Item 5 at 7.5.", facts).support == "unsupported"


TABLE = [ToolResult("r1", "book_table", {"people": 4}, {
    "booking": "B7", "date": "2026-05-02", "time": "19:30"})]  # fmt: skip
ASKED = [ToolResult("r1", "book_table", {"date": "2026-05-02"}, {"status": "confirmed"})]


@pytest.mark.parametrize(
    ("results", "text", "holds"),
    [
        (TABLE, "Your table is booked for Saturday, 2 May.", True),
        (TABLE, "Your table is booked for Sunday, 2 May.", False),
        (ASKED, "Your table is booked for Saturday, 2 May.", True),
        (ASKED, "Your table is booked for Sunday, 2 May.", False),
        (TABLE, "Ihr Tisch ist für Samstag, den 2. Mai, reserviert.", True),
        (TABLE, "Ihr Tisch ist für Sonntag, den 2. Mai, reserviert.", False),
        (TABLE, "Ihr Tisch ist für den 2. Mai (Samstag) reserviert.", True),
        (TABLE, "Su mesa está reservada para el sábado 2 de mayo.", True),
        (TABLE, "Su mesa está reservada para el domingo 2 de mayo.", False),
        (TABLE, "Su mesa está reservada para el 02/05/2026.", True),
        (TABLE, "Su mesa está reservada para el 05/02/2026.", False),
        (TABLE, "您的餐桌已预订，时间为5月2日（星期六）。", True),
        (TABLE, "您的餐桌已预订，时间为5月2日（星期日）。", False),
        (TABLE, "تم حجز طاولتك ليوم السبت 2 مايو.", True),
        (TABLE, "تم حجز طاولتك ليوم الأحد 2 مايو.", False),
    ],
)
def test_the_weekday_beside_a_day_is_that_of_the_day(
    results: list[ToolResult], text: str, holds: bool
) -> None:
    verdict = check_statement(text, facts_of("Please book a table", results))
    assert (verdict.support != "unsupported") is holds, verdict.problems


ALARMS = [ToolResult("r1", "list_alarms", {}, [
    {"id": 1, "time": "06:30", "days": ["Mon", "Tue"]}, {"id": 2, "time": "08:00", "days": ["Sat"]}])]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("You have two alarms, at 6:30 and 8:00.", True),
        ("You have 2 alarms, at 6:30 and 8:00.", True),
        ("Alarm 2 rings at 6:30.", False),
        ("Alarm 1 rings at 6:30 on Mondays and Tuesdays.", True),
        ("Alarm 1 rings at 6:30 on Sundays.", False),
    ],
)
def test_how_many_there_are_names_none_of_them(text: str, holds: bool) -> None:
    verdict = check_statement(text, facts_of("Which alarms do I have?", ALARMS))
    assert (verdict.support != "unsupported") is holds, verdict.problems


@pytest.mark.parametrize(
    ("content", "true", "false"),
    [
        ({"price": 0.5}, "The price is 50 cents.", "The price is 70 cents."),
        ({"price": 0.5}, "The price is 50¢.", "The price is 70¢."),
        ({"price_cents": 50}, "The price is 50 cents.", "The price is 70 cents."),
        (
            {"price": 12.5, "currency": "EUR"},
            "The price is 12 euros and 50 cents.",
            "The price is 12 euros and 70 cents.",
        ),
        ({"temp_c": -5}, "It is 5 degrees below zero.", "It is 7 degrees below zero."),
        ({"temp_c": -5}, "The temperature is below zero.", "The temperature is above zero."),
        ({"temp_c": 3}, "The temperature is above zero.", "The temperature is below zero."),
        ({"year": 1999}, "The year is in the 1990s.", "The year is in the 1980s."),
        ({"share": 1e-05}, "The share is 1e-05.", "The share is 2e-05."),
        ({"atoms": 6.022e23}, "The atoms are 6.022e+23.", "The atoms are 7.022e+23."),
        ({"lat": -33.86}, "The lat is 33.86°S.", "The lat is 43.86°S."),
        ({"balance": -250}, "The balance is overdrawn by 250.", "The balance is 350 overdrawn."),
    ],
)
def test_signs_cents_decades_and_exponents_are_read(content: Any, true: str, false: str) -> None:
    facts = facts_of("Tell me about it, please.", [ToolResult("r1", "look", {}, content)])
    assert check_statement(true, facts).support == "supported"
    assert check_statement(false, facts).support == "unsupported"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"temp_c": 3}, "The temperature is below zero."),
        ({"count": 2100}, "The count is over 3000."),
        ({"year": 1999}, "The year is in the 20th century."),
        ({"price": 0.5}, "The price is 70₿."),
    ],
)
def test_a_value_is_not_put_in_the_place_of_what_is_more_than_a_value(
    content: Any, text: str
) -> None:
    facts = facts_of("Tell me about it, please.", [ToolResult("r1", "look", {}, content)])
    verdict = check_statement(text, facts)
    assert (verdict.support, verdict.fixes) == ("unsupported", [])
