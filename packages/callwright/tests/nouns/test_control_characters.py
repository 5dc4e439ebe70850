"""What steers a terminal is shown instead of obeyed, and JSON keeps its meaning."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.control_characters import escape_controls, one_line

STEERING = "\x1b\x07\x9b\x9d\x08\r\x7f\x00\u202e\u2066\u200f\u200b\ufeff\u2028\U000e0041"
hostile = st.text(st.characters() | st.sampled_from(STEERING))


@given(hostile)
def test_nothing_that_steers_is_left_and_nothing_else_is_touched(text: str) -> None:
    shown = escape_controls(text)
    assert not {*STEERING} & {*shown}
    assert not any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" for c in shown)
    assert not any(unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
                   for c in shown)  # fmt: skip
    assert escape_controls(shown) == shown
    kept = [c for c in text.replace("\r\n", "\n") if escape_controls(c) == c]
    assert [c for c in shown if c in kept] == kept or "\\" in shown


@given(
    st.recursive(
        hostile | st.none() | st.integers(),
        lambda inner: st.lists(inner) | st.dictionaries(hostile, inner),
    )
)
def test_json_means_the_same_afterwards(value: object) -> None:
    written = json.dumps(value, ensure_ascii=False)
    assert json.loads(escape_controls(written)) == value


@given(hostile)
def test_a_name_cannot_begin_a_line_of_its_own(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\u001b[31mred"),
        ("a\r\nb\rc\td", "a\nb\\u000dc\td"),
        ("txt.\u202eexe", "txt.\\u202eexe"),
        ("tag\U000e0041", "tag\\udb40\\udc41"),
        ("naïve Ω 東京 👩\u200d🔬 é", "naïve Ω 東京 👩\u200d🔬 é"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert escape_controls(text) == shown
