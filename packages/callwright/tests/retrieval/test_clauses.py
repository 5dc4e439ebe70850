"""Requests to the things they ask for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.retrieval.clauses import MOST, split_clauses


def test_each_sentence_is_a_clause() -> None:
    assert split_clauses("I fly to Oslo on Friday. What will the weather be? Book me a hotel!") == (
        "I fly to Oslo on Friday.",
        "What will the weather be?",
        "Book me a hotel!",
    )


def test_a_new_wish_behind_and_is_a_clause() -> None:
    found = split_clauses("Find flights to Oslo on Friday, and then book a hotel near the harbour")
    assert found == ("Find flights to Oslo on Friday", "book a hotel near the harbour")


@pytest.mark.parametrize(
    "request_",
    [
        "The weather in Oslo and Bergen",
        "terms and conditions of the contract",
        "Convert 3.50 dollars to euro",
    ],
)
def test_one_wish_stays_whole(request_: str) -> None:
    assert split_clauses(request_) == (request_,)


def test_a_short_request_is_its_own_clause_and_none_has_none() -> None:
    assert split_clauses("weather") == ("weather",)
    assert split_clauses(" \n ") == ()


@given(st.text(max_size=300))
def test_every_clause_stands_in_the_request(request_: str) -> None:
    found = split_clauses(request_)
    assert len(found) <= MOST
    assert len(set(found)) == len(found)
    assert all(clause in request_ and clause == clause.strip() for clause in found)
    assert bool(found) == bool(request_.strip())


def test_what_is_past_the_most_is_left_to_the_whole_request() -> None:
    assert len(split_clauses(" ".join(f"Find the book number {i}." for i in range(50)))) == MOST
