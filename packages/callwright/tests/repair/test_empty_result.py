"""Which replies hold nothing."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.repair.empty_result import is_empty_result


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
