import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding import check_statement, facts_of
from callwright.grounding.claims import claims_of
from callwright.grounding.derived import Derivation, derive_value
from callwright.grounding.facts import Facts
from callwright.nouns.errors import Failure
from callwright.nouns.types import ToolResult

LIBRARIES = facts_of(
    "How do the libraries of Brenn and Ostvik compare?",
    [
        ToolResult("r1", "library_stats", {"town": "Brenn"}, {
            "town": "Brenn", "visitors": 48200, "loans": 31250, "staff": 14, "opened": 1987, "seats": 120,
            "opens": "09:00", "closes": "18:30"}),
        ToolResult("r2", "library_stats", {"town": "Ostvik"}, {
            "town": "Ostvik", "visitors": 61900, "loans": 30100, "staff": 20, "opened": 2003, "seats": 180,
            "opens": "10:00", "closes": "20:00"}),
    ],
)  # fmt: skip
SWIMMERS = facts_of(
    "How did the swimmers of the club do this season?",
    [
        ToolResult("r1", "query", {}, [
            {"name": "Ines Falk", "club": "Delfin", "wins": 7, "races": 12, "best_s": 58.31, "born": "2004-02-11"},
            {"name": "Jon Aas", "club": "Delfin", "wins": 4, "races": 16, "best_s": 59.02, "born": "2001-07-30"},
            {"name": "Rita Moen", "club": "Otter", "wins": 9, "races": 15, "best_s": 57.88, "born": "2003-11-05"}]),
    ],
)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "Ostvik had 13,700 more visitors than Brenn.",
        "Together the two libraries had 110,100 visitors.",
        "Brenn's library is 16 years older.",
        "In Brenn there are about 3,443 visitors per staff member.",
        "On average a library has 150 seats.",
        "Brenn is open 9.5 hours a day.",
        "Ostvik has 1.5 times as many seats as Brenn.",
        "Brenn counts roughly 78 % of Ostvik's visitors.",
        "Ostvik closes an hour and a half later than Brenn.",
        "Ostvik opens one hour later.",
    ],
)
def test_what_follows_from_two_records_is_supported(text: str) -> None:
    verdict = check_statement(text, LIBRARIES)
    assert verdict.support == "supported", verdict.problems


@pytest.mark.parametrize(
    "text",
    [
        "Ostvik had 14,700 more visitors than Brenn.",
        "Together the two libraries had 120,100 visitors.",
        "Brenn's library is 18 years older.",
        "Ostvik's library stays open for eleven hours a day.",
        "Ostvik has 1.8 times as many seats as Brenn.",
        "Ostvik drew about 38% more visitors than Brenn.",
    ],
)
def test_what_does_not_follow_is_flagged(text: str) -> None:
    assert check_statement(text, LIBRARIES).support == "unsupported"


@pytest.mark.parametrize(
    "text",
    [
        "The three swimmers won 20 races in total.",
        "Delfin's swimmers took 11 wins.",
        "Ines Falk lost five of her 12 races.",
        "Rita Moen won 60 percent of her races.",
        "Two swimmers belong to Delfin.",
        "The swimmers come from two clubs.",
        "Two of the three swimmers finished under 59 seconds.",
        "Jon Aas is about two years older than Rita Moen.",
        "The gap between the fastest and the slowest is 1.14 seconds.",
    ],
)
def test_what_follows_from_a_table_is_supported(text: str) -> None:
    verdict = check_statement(text, SWIMMERS)
    assert verdict.support == "supported", verdict.problems


@pytest.mark.parametrize(
    "text",
    [
        "The three swimmers won 24 races in total.",
        "Delfin's swimmers took 13 wins.",
        "Ines Falk lost eight of her 12 races.",
        "Rita won six more races than Ines.",
        "The gap between the fastest and the slowest is 2.14 seconds.",
    ],
)
def test_what_a_table_does_not_bear_out_is_flagged(text: str) -> None:
    assert check_statement(text, SWIMMERS).support == "unsupported"


def way(text: str, facts: Facts) -> Derivation | None:
    claims = claims_of(text, facts)
    return derive_value(claims.numbers[0], claims, facts)


def pair(a: int, b: int) -> Facts:
    return facts_of(
        "q",
        [ToolResult("r1", "t", {}, [{"name": "Norte", "depth": a}, {"name": "Sur", "depth": b}])],
    )


@given(st.integers(1000, 10**6), st.integers(1000, 10**6))
def test_a_difference_of_two_values_is_found_where_it_is_announced(a: int, b: int) -> None:
    found = way(f"The depth of Norte is {abs(a - b)} more than that of Sur.", pair(a, b))
    assert found is not None or a == b


def test_a_derivation_says_how_and_from_which_values() -> None:
    found = way("The depth of Norte is 250 more than that of Sur.", pair(1500, 1250))
    assert found is not None
    assert found.text == "250 is 0/depth minus 1/depth"
    assert [leaf.value for leaf in found.leaves] == [1500, 1250]


def test_a_difference_that_nothing_announces_is_none() -> None:
    assert way("Norte holds 250.", pair(1500, 1250)) is None


def test_a_time_follows_from_another_and_a_duration() -> None:
    facts = facts_of("q", [ToolResult("r1", "t", {}, {"departure": "10:05", "duration_min": 140})])
    assert check_statement("Leaving at 10:05 you arrive at 12:25.", facts).support == "supported"
    assert check_statement("Leaving at 10:05 you arrive at 12:45.", facts).support == "unsupported"


FERRIES = facts_of(
    "Compare the two ferries.",
    [
        ToolResult("r1", "ferry", {"line": "Havbris"}, {
            "line": "Havbris", "adult": 18.0, "child": 9.0, "car": 42.0, "currency": "EUR", "crossing_min": 95,
            "cabins": 40, "booked": 31}),
        ToolResult("r2", "ferry", {"line": "Nordlys"}, {
            "line": "Nordlys", "adult": 22.0, "child": 11.0, "car": 39.0, "currency": "EUR", "crossing_min": 70,
            "cabins": 60, "booked": 15}),
    ],
)  # fmt: skip


@pytest.mark.parametrize(
    ("true", "false"),
    [
        (
            "An adult and a child pay 27 euros on Havbris.",
            "An adult and a child pay 29 euros on Havbris.",
        ),
        ("A car costs three euros less on Nordlys.", "A car costs five euros less on Nordlys."),
        (
            "Havbris takes 25 minutes longer than Nordlys.",
            "Havbris takes 35 minutes longer than Nordlys.",
        ),
        ("Nine cabins are not booked on Havbris.", "Eight cabins are not booked on Havbris."),
        ("Nordlys is the fastest.", "Havbris is the fastest."),
    ],
)
def test_a_calculation_holds_and_its_neighbour_does_not(true: str, false: str) -> None:
    verdict = check_statement(true, FERRIES)
    assert verdict.support == "supported", verdict.problems
    assert check_statement(false, FERRIES).support == "unsupported"


@pytest.mark.parametrize(
    ("made_up", "twice"),
    [
        ("Es gibt noch 20 Lampen auf Lager.", "Das Doppelte davon, zweimal 40, sind 80 Lampen."),
        ("Quedan 20 lámparas en el almacén.", "Son el doble de las que hay: 80 lámparas."),
        ("仓库里还有 20 盏灯。", "两倍就是 80 盏灯。"),
        ("بقي 20 مصباحا في المخزن", "الضعف هو 80 مصباحا في المخزن"),
    ],
)
def test_a_value_counts_twice_only_where_the_words_say_so(made_up: str, twice: str) -> None:
    results = [ToolResult("r1", "get_part", {"code": "A-1"}, {"stock": 40})]
    facts = facts_of("", results)
    assert check_statement(made_up, facts).support == "unsupported"
    assert check_statement(twice, facts).support == "supported"


EVENTS = [
    ToolResult("r1", "list_events", {}, [
        {"title": "Dentist", "start": "2026-03-12T14:30:00"},
        {"title": "Yoga", "start": "2026-03-25T18:00:00", "booked": "2026-03-06"}]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "true", "false"),
    [
        ("When is yoga?", "Yoga is in 14 days.", "Yoga is in 13 days."),
        ("When is yoga?", "Yoga is in two weeks.", "Yoga is in three weeks."),
        ("When is yoga?", "Yoga was booked five days ago.", "Yoga was booked six days ago."),
        ("When is yoga?", "It is in 1 day.", "It is in 19 days."),
        ("Wann ist Yoga?", "Yoga ist in 14 Tagen.", "Yoga ist in 13 Tagen."),
        ("¿Cuándo es el yoga?", "Yoga es dentro de 14 días.", "Yoga es dentro de 13 días."),
        ("Yoga是什么时候？", "Yoga在14天后。", "Yoga在13天后。"),
        ("متى Yoga؟", "Yoga بعد 14 يومًا.", "Yoga بعد 13 يومًا."),
    ],
)
def test_days_are_counted_from_today_where_it_is_known(query: str, true: str, false: str) -> None:
    known = facts_of(query, EVENTS, said=["Today is 2026-03-11."])
    assert check_statement(true, known).problems == []
    assert check_statement(false, known).support == "unsupported"


def test_where_today_is_not_known_nothing_is_counted_from_it() -> None:
    assert check_statement("Yoga is in 14 days.", facts_of("When is yoga?", EVENTS)).problems
    known = facts_of("Wann ist Yoga?", EVENTS)
    assert check_statement("Yoga ist in 14 Tagen.", known).problems


FARES = ToolResult("r1", "list_orders", {}, [
    {"order": "LH123", "price_eur": 240, "status": "open", "departs": "2026-03-14T08:30"},
    {"order": "AF77", "price_eur": 180, "status": "done", "departs": "2026-03-15T19:05"},
    {"order": "BA9", "price_eur": 310, "status": "done", "departs": "2026-03-16T12:00"}])  # fmt: skip


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("AF77 is 60 EUR cheaper than LH123.", True),
        ("AF77 is 70 EUR cheaper than LH123.", False),  # that is between LH123 and BA9
        ("All three orders together cost 730 EUR.", True),
        ("All three orders together cost 720 EUR.", False),  # three times one of the prices
        ("You have 3 orders, 2 of them done.", True),
        ("You have 3 orders, 1 of them done.", False),  # one call was made
        ("AF77 leaves one day later than LH123.", True),
        ("AF77 leaves two days later than LH123.", False),
        ("The three orders leave within three days.", True),
    ],
)
def test_what_follows_belongs_to_the_records_that_are_named(text: str, holds: bool) -> None:
    verdict = check_statement(text, facts_of("Which orders are there?", [FARES]))
    assert (verdict.support == "supported") is holds, verdict.problems


def test_calls_that_failed_are_not_counted_as_done() -> None:
    made = [ToolResult(f"r{at}", "set_reminder", {}, {"at": at + 40}) for at in range(2)]
    lost = ToolResult("r2", "set_reminder", {}, None, failure=Failure("server", "down"))
    facts = facts_of("Set the reminders", [*made, lost])
    assert check_statement("2 reminders were set.", facts).support == "supported"
    assert check_statement("3 reminders were set.", facts).support == "unsupported"
    assert check_statement("2 of 3 reminders were set, 1 failed.", facts).problems == []


def test_an_amount_is_in_a_currency_that_the_results_name() -> None:
    content = {"from": "USD", "to": "NOK", "rate": 10.45, "result": 2612.5}
    made = ToolResult("r1", "convert", {"amount": 250, "from": "USD", "to": "NOK"}, content)
    facts = facts_of("What is 250 USD in NOK?", [made])
    assert check_statement("250 USD are 2,612.50 NOK.", facts).support == "supported"
    assert check_statement("250 USD are 2,612.50 SEK.", facts).support == "unsupported"
