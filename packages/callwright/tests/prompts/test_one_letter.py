"""Questions that are answered with one letter, read off probabilities."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import Tool
from callwright.prompts.one_letter import LETTERS, read_shares, render_choices, render_tool_choices


def test_each_choice_has_a_letter_and_a_tool_says_what_it_does() -> None:
    assert render_choices(["true", "false"]) == "A) true\nB) false"
    tools = [Tool("order", f"Orders\n a  part. {'x' * 200}"), Tool("wait", "")]
    first, second, third = render_tool_choices(tools, "none").split("\n")
    assert first.startswith("A) order: Orders a part. x")
    assert len(first) < 120
    assert (second, third) == ("B) wait", "C) none")


@given(st.lists(st.floats(0.001, 1.0), min_size=2, max_size=len(LETTERS)))
def test_shares_are_those_of_the_letters_among_each_other(weights: list[float]) -> None:
    likely = {
        f" {letter}": 0.9 * weight / sum(weights)
        for letter, weight in zip(LETTERS, weights, strict=False)
    }
    shares = read_shares({**likely, "The": 0.1}, len(weights))
    assert sum(shares) == pytest.approx(1)
    assert shares == pytest.approx([weight / sum(weights) for weight in weights], abs=1e-4)


@pytest.mark.parametrize("likely", [{}, {"The": 0.9, "A": 0.1}])
def test_a_model_that_does_not_answer_with_a_letter_is_not_judged_by(
    likely: dict[str, float],
) -> None:
    assert read_shares(likely, 3) == ()
