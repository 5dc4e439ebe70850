from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.schema.compiled import is_valid_instance
from callwright_lab.benchmarks.broken_tools.replies import (
    dress_schema,
    film_number,
    film_reply,
    is_film_number,
    is_issued,
    is_known_value,
    make_facts,
    make_id,
    shape_reply,
)

GIVES = ["station_id:id:station", "name:w", "distance_km:n"]
EXAMPLE = {
    "page": 1,
    "results": [{"id": 7, "name": "Brad"}, {"id": 8, "name": "Ann"}],
    "total_results": 2,
}


@given(st.text(), st.integers())
def test_an_id_is_known_by_its_check_digit(seed: str, guess: int) -> None:
    assert is_issued("station", make_id("station", seed))
    assert not is_issued("station", make_id("hotel", seed))
    assert is_film_number(str(film_number(seed)))
    assert is_film_number(str(abs(guess))) == (abs(guess) % 97 == 13)


def test_the_same_call_gets_the_same_facts_in_each_api_s_own_dress() -> None:
    held = make_facts(GIVES, "find_station", {"city": "Oslo"})
    assert held == make_facts(GIVES, "find_station", {"city": "Oslo"})
    assert held != make_facts(GIVES, "find_station", {"city": "Rome"})
    shapes = set()
    for tool in (
        "searchStations",
        "stations_near",
        "list_stations",
        "trace",
        "whois",
        "pollen_today",
    ):
        reply = shape_reply(tool, held, {"city": "Oslo"})
        assert str(held["station_id"]) in str(reply)
        assert is_valid_instance(dress_schema(tool, GIVES, ["city"]), reply)
        shapes.add(tuple(sorted(reply)))
    assert len(shapes) > 1


def test_values_are_accepted_by_kind() -> None:
    known = {"city": ["Oslo"]}
    assert is_known_value("city", "oslo", known)
    assert not is_known_value("city", "the weather in Oslo", known)
    assert is_known_value("date", "2026-12-04", known)
    assert not is_known_value("iata", "Oslo", known)
    assert is_known_value("id:hotel", make_id("hotel", 1), known)
    assert not is_known_value("id:hotel", "1", known)


def test_the_film_database_answers_about_what_was_asked_with_ids_that_it_takes_again() -> None:
    status, body = film_reply(EXAMPLE, {"query": "Titanic"})
    assert (status, [row["name"] for row in body["results"]]) == (200, ["Titanic"])
    number = body["results"][0]["id"]
    assert film_reply({"id": 1, "title": "x"}, {"movie_id": str(number)}) == (
        200,
        {"id": number, "title": "x"},
    )
    assert film_reply({"id": 1}, {"movie_id": "597"})[0] == 404
    assert (
        film_reply(EXAMPLE, {"query": "give me the number of movies directed by Sofia"})[1][
            "results"
        ]
        == []
    )
