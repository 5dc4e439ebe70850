"""Only trials that could change the shortlist are made."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.probing.selection import Standing, select_open

STANDINGS = st.lists(st.sampled_from(["open", "kept", "failed"]), max_size=12)


def test_at_first_the_first_k_are_tried() -> None:
    assert select_open(["open"] * 6, 3) == [0, 1, 2]


def test_each_that_fails_lets_the_next_one_in() -> None:
    assert select_open(["failed", "kept", "kept", "open", "open"], 3) == [3]


def test_what_may_not_be_tried_keeps_its_place() -> None:
    assert select_open(["kept", "kept", "kept", "open"], 3) == []


def test_thorough_tries_all() -> None:
    assert select_open(["kept", "open", "failed", "open"], 1, thorough=True) == [1, 3]


@given(STANDINGS, st.integers(1, 8), st.data())
def test_no_trial_that_is_left_out_could_change_the_shortlist(
    standings: list[Standing], k: int, data: st.DataObject
) -> None:
    """However the others end, the first k that have not failed are the same once nothing is worth
    trying.
    """
    if select_open(standings, k):
        return
    ended = [
        data.draw(st.sampled_from(["kept", "failed"])) if s == "open" else s for s in standings
    ]

    def shortlist(of: list[Standing]) -> list[int]:
        return [place for place, s in enumerate(of) if s != "failed"][:k]

    before = shortlist(standings)
    if len(before) == k:
        assert shortlist(ended) == before


@given(STANDINGS, st.integers(1, 8))
def test_what_is_tried_is_open_and_never_more_than_k(standings: list[Standing], k: int) -> None:
    places = select_open(standings, k)
    assert len(places) <= k
    assert all(standings[place] == "open" for place in places)
