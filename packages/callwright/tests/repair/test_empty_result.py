"""Which replies hold nothing."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.types import READ, UNKNOWN, WRITE
from callwright.repair.empty_result import is_blank, is_empty_result, tell_done


@pytest.mark.parametrize(
    "content",
    [
        {},
        [],
        "",
        "No results found.",
        {"employees": []},
        {"query": "x", "city": "Oslo", "results": []},
        {"total": 0, "page": 1, "rows": [], "next": None},
        {"status": 204},
        [None, {}],
    ],
)
def test_empty_lists_what_was_given_and_bookkeeping_are_nothing(content: Any) -> None:
    assert is_empty_result(content, {"city": "Oslo"})


@pytest.mark.parametrize(
    "content",
    [
        {"city": "Oslo", "mayor": "Ann", "results": []},
        {"deleted": True},
        [1],
        "Oslo is rainy.",
        0,
        False,
    ],
)
def test_whatever_says_something_is_something(content: Any) -> None:
    assert not is_empty_result(content, {"city": "Oslo"})


@pytest.mark.parametrize("blank", [None, "", " ", "null", "None", "{}", {}, [], "[]"])
def test_a_blank_reply_of_what_is_known_to_write_says_that_it_is_done(blank: Any) -> None:
    assert tell_done(blank, WRITE) == {"done": True}
    for effects in (READ, UNKNOWN):
        assert tell_done(blank, effects) == blank


@pytest.mark.parametrize("content", [0, False, "done", {"id": 3}, "not found"])
def test_a_reply_that_says_something_stays(content: Any) -> None:
    assert tell_done(content, WRITE) == content
    assert not is_blank(content)
