from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.models.patterns import plain_pattern

from .test_grammar import refused


@pytest.mark.parametrize(
    ("pattern", "plain"),
    [
        ("^[a-z]{2,3}$", "^[a-z]{2,3}$"),
        ("^\\d{4}-\\d{2}$", "^[0-9]{4}-[0-9]{2}$"),
        ("^(?:a|b)+\\.[\\w-]+$", "^(a|b)+\\.[A-Za-z0-9_\\-]+$"),
    ],
)
def test_simple_patterns_are_kept_in_a_common_spelling(pattern: str, plain: str) -> None:
    assert plain_pattern(pattern) == plain


@pytest.mark.parametrize(
    "pattern",
    [
        "a+",
        "^a",
        "^a|b$",
        "^(?=a)a$",
        "^(a)\\1$",
        "^[z-a]$",
        "^a{900}$",
        "^(a{99}){99}$",
        "^*a$",
        "^(|a)$",
        "^(a$",
    ],
)
def test_other_patterns_are_left_to_the_gate(pattern: str) -> None:
    assert plain_pattern(pattern) is None


@pytest.mark.parametrize(
    "pattern",
    ["^a)$", "^\\p{L}$", "^a{3,1}$", "^a+?b$", "^[]$", "^\\bx$", '^"$', "^$", "", None, 5],
)
def test_what_is_no_pattern_at_all_is_left_to_the_gate_too(pattern: Any) -> None:
    assert plain_pattern(pattern) is None


@pytest.mark.filterwarnings(
    "ignore:Possible:FutureWarning"
)  # "[--a]" may mean a set difference one day
@settings(deadline=None, max_examples=200)
@given(st.text(alphabet='ab09-^$[](){}|?*+.\\dws,23"', max_size=12))
def test_every_pattern_kept_is_one_that_decoders_read_as_python_does(body: str) -> None:
    plain = plain_pattern(f"^{body}$")
    if plain is not None:
        assert refused({"type": "string", "pattern": f"^{body}$"}) == []
        re.compile(plain)
