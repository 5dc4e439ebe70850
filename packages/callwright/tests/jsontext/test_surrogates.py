from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.jsontext.surrogates import join_surrogates
from callwright.nouns.types import Json


@pytest.mark.parametrize(
    ("value", "made"),
    [
        ("x\ud83dy", "x\ufffdy"),
        ("\ude00", "\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ({"\ud800": ["\udfff", 1, None]}, {"\ufffd": ["\ufffd", 1, None]}),
    ],
)
def test_halves_are_joined_or_replaced(value: Json, made: Json) -> None:
    assert join_surrogates(value) == (made, True)


@given(st.text() | st.dictionaries(st.text(), st.lists(st.text() | st.integers())))
def test_whole_characters_stay(value: Json) -> None:
    assert join_surrogates(value) == (value, False)


@given(st.text(st.characters(categories=["Cs", "Ll"])))
def test_what_comes_out_can_be_written(value: str) -> None:
    made, _ = join_surrogates(value)
    assert isinstance(made, str)
    made.encode("utf-8")
