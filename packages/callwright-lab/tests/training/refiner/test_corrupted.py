"""What corruptions are given."""

from __future__ import annotations

from callwright.language.tokens import squash_name
from callwright_lab.training.refiner.corrupted import Given, write_hermes
from tests.training.corruption_case import CALLS, QUERY, TOOLS

GIVEN = Given(CALLS, TOOLS, QUERY, write_hermes)


def test_changes_leave_the_other_calls_and_the_order_of_arguments() -> None:
    site = next(s for s in GIVEN.sites() if s.key == "nights")
    assert site.type == "integer"
    for calls in (GIVEN.with_value(site, 9), GIVEN.with_key(site, "days")):
        assert calls[1:] == CALLS[1:]
        assert (
            list(calls[0].arguments).index("nights" if "nights" in calls[0].arguments else "days")
            == 2
        )
    assert "nights" not in GIVEN.without(site)[0].arguments
    assert GIVEN.with_name(3, "x")[3].tool == "x"
    assert CALLS[0].arguments["nights"] == 3  # type: ignore[index]


def test_a_value_is_stated_where_the_query_holds_it() -> None:
    assert GIVEN.stated("lyon")
    assert not GIVEN.stated("Paris")
    assert not GIVEN.stated(3)
    assert not GIVEN.stated("pa")  # part of "pay"
    assert Given(CALLS, TOOLS, "for 12 nights", write_hermes).stated(12.0)


def test_bare_names_drop_case_and_separators() -> None:
    assert squash_name("Get_User-Info") == squash_name("getUserInfo") == "getuserinfo"
