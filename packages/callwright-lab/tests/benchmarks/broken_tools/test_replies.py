from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.schema.compiled import validate
from callwright_lab.benchmarks.broken_tools.replies import (
    accepted,
    dress_schema,
    dressed,
    facts,
    film_number,
    film_reply,
    is_film_number,
    is_issued,
    issued,
)

GIVES = ["station_id:id:station", "name:w", "distance_km:n"]
EXAMPLE = {
    "page": 1,
    "results": [{"id": 7, "name": "Brad"}, {"id": 8, "name": "Ann"}],
    "total_results": 2,
}


@given(st.text(), st.integers())
def test_an_id_is_known_by_its_check_digit(seed: str, guess: int) -> None:
    assert is_issued("station", issued("station", seed))
    assert not is_issued("station", issued("hotel", seed))
    assert is_film_number(str(film_number(seed)))
    assert is_film_number(str(abs(guess))) == (abs(guess) % 97 == 13)


def test_the_same_call_gets_the_same_facts_in_each_api_s_own_dress() -> None:
    held = facts(GIVES, "find_station", {"city": "Oslo"})
    assert held == facts(GIVES, "find_station", {"city": "Oslo"})
    assert held != facts(GIVES, "find_station", {"city": "Rome"})
    shapes = set()
    for tool in (
        "searchStations",
        "stations_near",
        "list_stations",
        "trace",
        "whois",
        "pollen_today",
    ):
        reply = dressed(tool, held, {"city": "Oslo"})
        assert str(held["station_id"]) in str(reply)
        assert validate(dress_schema(tool, GIVES, ["city"]), reply)
        shapes.add(tuple(sorted(reply)))
    assert len(shapes) > 1


def test_values_are_accepted_by_kind() -> None:
    known = {"city": ["Oslo"]}
    assert accepted("city", "oslo", known)
    assert not accepted("city", "the weather in Oslo", known)
    assert accepted("date", "2026-12-04", known)
    assert not accepted("iata", "Oslo", known)
    assert accepted("id:hotel", issued("hotel", 1), known)
    assert not accepted("id:hotel", "1", known)


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
