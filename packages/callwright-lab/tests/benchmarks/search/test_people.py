"""Invented people: always the same, no two of the same name."""

from __future__ import annotations

from callwright_lab.benchmarks.search.people import COUNTRIES, PEOPLE, person


def test_every_number_is_one_person_and_always_the_same() -> None:
    people = [person(n) for n in range(PEOPLE)]
    assert len({p.name for p in people}) == PEOPLE == 192
    assert person(PEOPLE + 5).name == person(5).name
    assert person(5) == person(5)


def test_every_country_is_somebody_s_and_nothing_is_shared() -> None:
    assert {person(n).country.name for n in range(PEOPLE)} == {c.name for c in COUNTRIES}
    for field in (
        "name",
        "capital",
        "currency",
        "currency_short",
        "calling_code",
        "domain",
        "ccn3",
    ):
        assert len({getattr(c, field) for c in COUNTRIES}) == len(COUNTRIES), field


def test_a_birthdate_reads_as_a_date() -> None:
    who = person(7)
    assert who.birthdate == f"{who.month} {who.day}, {who.year}"
    assert 1 <= who.day <= 28
