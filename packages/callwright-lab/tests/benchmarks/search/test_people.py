"""Invented people: always the same, no two of the same name."""

from __future__ import annotations

from callwright_lab.benchmarks.search.people import COUNTRIES, PEOPLE, make_person


def test_every_number_is_one_person_and_always_the_same() -> None:
    people = [make_person(n) for n in range(PEOPLE)]
    assert len({p.name for p in people}) == PEOPLE == 192
    assert make_person(PEOPLE + 5).name == make_person(5).name
    assert make_person(5) == make_person(5)


def test_every_country_is_somebody_s_and_nothing_is_shared() -> None:
    assert {make_person(n).country.name for n in range(PEOPLE)} == {c.name for c in COUNTRIES}
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
    who = make_person(7)
    assert who.birthdate == f"{who.month} {who.day}, {who.year}"
    assert 1 <= who.day <= 28
