"""The model-free evaluator: where descriptions are in doubt classes first, then the retriever, then
speed.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.probing import Ranked
from callwright.agent.probing.policy import Order
from callwright.agent.probing.ranking import classify_standing, rank_candidates
from callwright.tools.evidence import OUTCOMES

ORDERS = get_args(Order)
CASES = st.lists(
    st.tuples(
        st.sampled_from([None, *OUTCOMES]),
        st.booleans(),
        st.sampled_from([0.0, 0.2, 0.5, 0.9]),
        st.one_of(st.none(), st.floats(0, 5)),
    ),
    max_size=8,
)


def made(rows: list[tuple]) -> list[Ranked]:  # type: ignore[type-arg]
    rows = sorted(rows, key=lambda row: -row[2])
    return [
        Ranked(
            f"t{i}",
            i,
            i,
            outcome,
            simulated and outcome == "functional_success",
            "",
            score,
            seconds,
        )
        for i, (outcome, simulated, score, seconds) in enumerate(rows, 1)
    ]


@given(CASES, st.randoms(use_true_random=False))
def test_the_ranking_is_a_permutation_ordered_by_class(
    rows: list[tuple], rng: random.Random
) -> None:  # type: ignore[type-arg]
    candidates = made(rows)
    by_name = {one.name: one for one in candidates}
    preferred = rng.sample(sorted(by_name), k=rng.randint(0, len(by_name)))
    order = rank_candidates(candidates, preferred, order="proof")
    assert sorted(order) == sorted(by_name)
    classes = [classify_standing(by_name[name]) for name in order]
    assert classes == sorted(classes), (
        "simulated never stands above a real success, nor a failure above anything"
    )


@given(CASES, st.randoms(use_true_random=False))
def test_the_order_in_which_candidates_come_in_changes_nothing(
    rows: list[tuple], rng: random.Random
) -> None:  # type: ignore[type-arg]
    candidates = made(rows)
    shuffled = rng.sample(candidates, k=len(candidates))
    assert rank_candidates(shuffled) == rank_candidates(candidates)


def test_of_tools_that_the_retriever_scored_alike_the_faster_comes_first() -> None:
    slow = Ranked("slow", 1, 1, "functional_success", score=0.5, seconds=0.9)
    fast = Ranked("fast", 2, 2, "functional_success", score=0.5, seconds=0.1)
    better = Ranked("better", 3, 3, "functional_success", score=0.4, seconds=0.01)
    assert rank_candidates([slow, fast, better]) == ["fast", "slow", "better"]


def test_scores_of_nothing_are_no_tie() -> None:
    slow = Ranked("slow", 1, 1, "functional_success", seconds=0.9)
    fast = Ranked("fast", 2, 2, "functional_success", seconds=0.1)
    assert rank_candidates([slow, fast]) == ["slow", "fast"]


def test_a_preferred_order_moves_tools_within_their_class_only() -> None:
    works, also, failed = (
        Ranked("works", 1, 1, "functional_success", score=0.9),
        Ranked("also", 2, 2, "functional_success", score=0.8),
        Ranked("failed", 3, 3, "execution_failure", score=0.7),
    )
    for order in ORDERS:
        assert rank_candidates([works, also, failed], ["failed", "also", "works"], order=order) == [
            "also",
            "works",
            "failed",
        ]


def test_seven_untried_tools_that_a_model_likes_stand_below_five_real_successes() -> None:
    works = [Ranked(f"works_{i}", i, i, "functional_success", called=True) for i in range(1, 6)]
    untried = [Ranked(f"untried_{i}", i, i) for i in range(6, 13)]
    liked = [one.name for one in (*untried, *works)]
    for order in ORDERS:
        found = rank_candidates([*works, *untried], liked, order=order)
        assert found == [one.name for one in (*works, *untried)], order


def test_with_a_model_real_successes_stand_first_where_the_retriever_put_untried_tools_first() -> (
    None
):
    untried = [Ranked(f"untried_{i}", i, i) for i in range(1, 8)]
    works = [Ranked(f"works_{i}", i, i, "functional_success", called=True) for i in range(8, 13)]
    liked = [one.name for one in (*untried, *reversed(works))]
    expected = [one.name for one in (*reversed(works), *untried)]
    assert rank_candidates([*untried, *works], liked) == expected


@given(CASES, st.randoms(use_true_random=False), st.sampled_from(ORDERS))
def test_no_opinion_lifts_an_untried_tool_above_a_real_success(
    rows: list[tuple],  # type: ignore[type-arg]
    rng: random.Random,
    order: Order,
) -> None:
    candidates = made(rows)
    candidates = [replace(one, about=rng.random() < 0.7) for one in candidates]
    liked = rng.sample([one.name for one in candidates], k=rng.randint(0, len(candidates)))
    before = rank_candidates(candidates, order=order)
    after = rank_candidates(candidates, liked, order=order)
    works = {one.name for one in candidates if one.works}
    for high in works:
        for low in set(before) - works:
            if before.index(high) < before.index(low):
                assert after.index(high) < after.index(low)


def test_in_the_retrievers_order_only_failing_moves_a_tool() -> None:
    untested, works, failed, made_up = (
        Ranked("untested", 1, 1, score=0.9),
        Ranked("works", 2, 2, "functional_success", score=0.8),
        Ranked("failed", 3, 3, "execution_failure", score=0.7),
        Ranked("made_up", 4, 4, "functional_success", True, score=0.6),
    )
    candidates = [untested, works, failed, made_up]
    assert rank_candidates(candidates, order="retrieved") == [
        "untested",
        "works",
        "made_up",
        "failed",
    ]
    assert rank_candidates(candidates, order="proof") == ["works", "made_up", "untested", "failed"]


def test_a_place_that_the_retriever_gave_to_a_clause_stays_with_it() -> None:
    weather = Ranked("weather", 1, 1)
    mail = Ranked("mail", 2, 2, clause=1)  # may write: nobody tried it
    forecast = Ranked("forecast", 3, 3, "functional_success")
    climate = Ranked("climate", 4, 4, "functional_success")
    assert rank_candidates([weather, mail, forecast, climate], order="proof") == [
        "forecast",
        "mail",
        "climate",
        "weather",
    ]


def test_what_failed_gives_its_place_away_to_whatever_clause_comes_next() -> None:
    broken = Ranked("broken", 1, 1, "execution_failure")
    also = Ranked("also_broken", 2, 2, "semantic_mismatch")
    mail, forecast = Ranked("mail", 3, 3, clause=1), Ranked("forecast", 4, 4, "functional_success")
    assert rank_candidates([broken, also, mail, forecast]) == [
        "mail",
        "forecast",
        "broken",
        "also_broken",
    ]


def test_a_success_with_nothing_of_the_request_in_it_keeps_its_place() -> None:
    untested = Ranked("person_credits", 1, 1)
    everything = Ranked("all_genres", 2, 2, "functional_success", about=False)
    for order in ORDERS:
        assert rank_candidates([untested, everything], order=order) == [
            "person_credits",
            "all_genres",
        ]


def test_where_a_called_tool_failed_what_works_passes_what_could_not_be_tried_and_only_in_that_clause() -> (
    None
):
    candidates = [
        Ranked("untested", 1, 1),
        Ranked("mail", 2, 2, clause=1),
        Ranked("dead", 3, 3, "execution_failure", called=True),
        Ranked("works", 4, 4, "functional_success", called=True),
        Ranked("post", 5, 5, "functional_success", clause=1, called=True),
    ]
    assert rank_candidates(candidates) == ["works", "mail", "untested", "post", "dead"]


def test_an_input_that_nobody_gave_casts_no_doubt_on_other_descriptions() -> None:
    wants = Ranked("wants_a_code", 1, 1, "parameter_mismatch")
    untested, works = (
        Ranked("untested", 2, 2),
        Ranked("works", 3, 3, "functional_success", called=True),
    )
    assert rank_candidates([wants, untested, works]) == ["untested", "works", "wants_a_code"]


def test_who_feeds_a_tool_that_works_stands_right_behind_it() -> None:
    candidates = [
        Ranked("untested", 1, 1),
        Ranked("cast", 2, 2, "functional_success", fed_by=("find_film",), called=True),
        Ranked("weather", 3, 3, "functional_success", called=True),
        Ranked("find_film", 40, 40, "functional_success", called=True),
        Ranked("find_person", 41, 41, "functional_success", called=True),
    ]
    assert rank_candidates(candidates) == [
        "untested",
        "cast",
        "find_film",
        "weather",
        "find_person",
    ]
    dead = Ranked("dead", 5, 5, "execution_failure", called=True)
    assert rank_candidates([*candidates, dead]) == [
        "cast",
        "find_film",
        "weather",
        "find_person",
        "untested",
        "dead",
    ]


def test_who_feeds_a_tool_in_vain_or_failed_itself_stays_where_it_was() -> None:
    in_vain = Ranked("cast", 1, 1, fed_by=("find_film",), called=True)
    weather, find = (
        Ranked("weather", 2, 2),
        Ranked("find_film", 3, 3, "functional_success", called=True),
    )
    assert rank_candidates([in_vain, weather, find]) == ["cast", "weather", "find_film"]
    sunk = Ranked("find_film", 3, 3, "execution_failure")
    works = Ranked("cast", 1, 1, "functional_success", fed_by=("find_film",), called=True)
    assert rank_candidates([works, weather, sunk]) == ["cast", "weather", "find_film"]


WHOLE = st.lists(
    st.tuples(
        st.sampled_from(["functional_success", "parameter_mismatch", None]),
        st.integers(0, 2),
        st.lists(st.integers(1, 12), max_size=2, unique=True),
    ),
    min_size=1,
    max_size=12,
)


@given(WHOLE, st.integers(1, 10))
def test_where_no_call_failed_the_first_k_lose_only_places_that_feeders_take(
    rows: list[tuple], k: int
) -> None:  # type: ignore[type-arg]
    candidates = [
        Ranked(f"t{i}", i, i, outcome, clause=clause, called=outcome == "functional_success",
               fed_by=tuple(f"t{n}" for n in fed if n != i))
        for i, (outcome, clause, fed) in enumerate(rows, 1)
    ]  # fmt: skip
    order = rank_candidates(candidates, k=k)
    serving = [one for one in candidates if not one.failed]
    works = {one.name for one in serving if one.works}
    feeders = works & {name for one in serving if one.works for name in one.fed_by}
    assert [name for name in order if name in {one.name for one in serving} - feeders] == [
        one.name for one in serving if one.name not in feeders
    ]
    lost = {one.name for one in serving[:k]} - set(order[:k])
    assert len(lost) <= len({one.clause for one in serving}), "one a clause, whatever was tried"


@given(CASES)
def test_a_made_up_success_never_stands_above_a_real_one_of_its_clause(rows: list[tuple]) -> None:  # type: ignore[type-arg]
    for order in ("doubt", "proof"):
        names = rank_candidates(made(rows), order=order)
        by_name = {one.name: one for one in made(rows)}
        found = [by_name[name] for name in names if by_name[name].outcome == "functional_success"]
        assert [one.simulated for one in found] == sorted(one.simulated for one in found)


def test_of_several_that_feed_tools_of_one_clause_one_comes_among_the_first_k() -> None:
    candidates = [
        Ranked("cast", 1, 1, "functional_success", fed_by=("find_film",), called=True),
        Ranked("filmography", 2, 2, "functional_success", fed_by=("find_person",), called=True),
        Ranked("reviews", 3, 3, "functional_success", fed_by=("find_film",), called=True),
        Ranked("find_person", 4, 4, "functional_success", called=True),
        Ranked("find_film", 5, 5, "functional_success", called=True),
    ]
    assert rank_candidates(candidates, k=3)[:3] == ["cast", "find_film", "filmography"]
    assert rank_candidates(candidates, k=5) == [
        "cast",
        "find_film",
        "filmography",
        "find_person",
        "reviews",
    ]
