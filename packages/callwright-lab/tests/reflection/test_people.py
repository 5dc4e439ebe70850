"""Who is found in trajectories, and what is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Tool, ToolCall, ToolResult
from callwright_lab.reflection.people import EMAILS, collect_people, numbers_in


def found(
    content: Any = None, arguments: Any = None, query: str = "q", tool: str = "look"
) -> set[str]:
    call = ToolCall("c", tool, arguments or {})
    step = Step("", (call,), (ToolResult("c", tool, {}, content),))
    return set(collect_people([Trajectory("t", query, (Tool(tool),), (step,))]).words)


@pytest.mark.parametrize(
    "content",
    [
        {"guest": "Ann Lee"},
        {"guest": "ann lee"},
        {"guest": {"first": "Ann", "last": "Lee"}},
        {"guest": {"name": "Ann Lee", "room": "Blue"}},
        {"attendees": ["Ann", "Lee"]},
        {"attendees": [{"name": "Ann"}, {"displayName": "Lee"}]},
        {"name": "Ann Lee", "email": "a@b.no"},
        '{"guest": "Ann Lee"}',
        "Guest: Ann Lee",
        "**Guest:** Ann Lee\nCity: Oslo",
        {"author": "Dr. Ann B. Lee, Jr."},
        {"customer": "LEE, ANN"},
    ],
)
def test_a_name_is_found_wherever_it_stands_under_a_persons_word(content: Any) -> None:
    assert {word.casefold() for word in found(content)} == {"ann", "lee"}


def test_a_tool_of_people_has_people_in_its_records_and_arguments() -> None:
    assert found([{"name": "Bo Berg"}], tool="find_employee") == {"Bo", "Berg"}
    assert found(arguments={"name": "Bo"}, tool="get_customer") == {"Bo"}
    assert found([{"name": "Oslo"}], tool="find_city") == set()


@pytest.mark.parametrize(
    "content",
    [
        {"guest_house": {"city": "Oslo"}, "customer_request": "Late check in please"},
        {"user_agent": "Mozilla", "customer_id": "Ann", "author_count": 3},
        {"employee": "L12", "user": "bo7", "contact": "https://a.no/x"},
        {"note": "Guests of ours like it", "city": "Bergen", "hotel": "Grand"},
        {"author": "written by the whole team in the winter of that year, and then again"},
    ],
)
def test_what_is_no_name_is_left_alone(content: Any) -> None:
    assert found(content) == set()


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("write to ann.lee+x@fjord.co.uk.", "ann.lee+x@fjord.co.uk"),
        ("(åse@blåbær.no)", "åse@blåbær.no"),
        ("https://a.no/?to=ann%40fjord.no&x=1", "ann%40fjord.no"),
        ("请写信给ann@fjord.no谢谢", "ann@fjord.no"),
        ("Пишите: анна@почта.рф!", "анна@почта.рф"),
        ("O'Neil <d.o'neil@x.ie>", "d.o'neil@x.ie"),
    ],
)
def test_an_address_is_found_in_any_script_and_taken_whole(text: str, address: str) -> None:
    left = text
    for pattern in EMAILS:
        left = pattern.sub("", left)
    assert "@" not in left
    assert EMAILS[0].search(text)[0] == address  # type: ignore[index]


NOBODY = collect_people([])


@pytest.mark.parametrize(
    "number",
    ["+47 22 33 44 55", "+1 (415) 555-2671", "0047 22334455", "(020) 7946 0958", "06 12 34 56 78", "415-555-2671",
     "22 33 44 55", "+８１ ９０ １２３４ ５６７８", "٠٥٠ ١٢٣ ٤٥٦٧"],
)  # fmt: skip
def test_a_telephone_number_is_known_by_its_form(number: str) -> None:
    assert numbers_in(f"call {number}, please", NOBODY) == [number]


@pytest.mark.parametrize("text", ["2024-12-25", "25.12.2024", "from 10:30 to 11:45", "1,234,567.89", "192.168.10.20",
                                  "id 4711-0815", "0.123456789", "1 234", "version 3.11.2"])  # fmt: skip
def test_dates_figures_and_addresses_of_machines_are_no_telephone_numbers(text: str) -> None:
    assert numbers_in(text, NOBODY) == []


def test_a_number_under_its_word_is_known_however_it_is_written_elsewhere() -> None:
    step = Step("", (), (ToolResult("c", "f", {}, {"mobile": 4722334455}),))
    known = collect_people([Trajectory("t", "q", (), (step,))])
    assert numbers_in("22334455 or 47-2233-4455, not 122334455", known) == [
        "22334455",
        "47-2233-4455",
    ]
