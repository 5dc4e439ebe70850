"""What of a result can be met again, and what it says by being empty."""

from __future__ import annotations

from typing import Any

import pytest

from callwright_lab.verify.used import (
    extract_telling_values,
    is_count_stated,
    is_empty_search,
    render_values,
)


@pytest.mark.parametrize(
    ("content", "nothing"),
    [
        ([], True),
        ({"results": [], "total": None}, True),
        ({"error": "", "response": "{'ads': [], 'results': [], 'ts': 1.24, 'ads_count': 0}"}, True),
        ({"results": [], "name": "Ada", "born": 1815}, False),
        ({"results": [{"title": "Lamp"}], "ads": []}, False),
        ({"price": 4}, False),
        ("nothing found", False),  # words are for who reads words
    ],
)
def test_an_empty_list_with_what_it_says_of_itself_found_nothing(
    content: Any, nothing: bool
) -> None:
    assert is_empty_search(content) == nothing


def test_values_are_met_again_in_any_notation_and_keys_are_none() -> None:
    words = extract_telling_values(
        [render_values({"degrees": 1234.56, "inner": "{'city': 'Oslo'}"})]
    )
    assert {"1234.56", "1234.6", "1235", "oslo"} <= words
    assert "degrees" not in words


def test_a_length_that_is_said_is_a_use() -> None:
    assert is_count_stated(["a", "b", "c"], "There are three.")
    assert not is_count_stated(["a"], "There is 1.")
