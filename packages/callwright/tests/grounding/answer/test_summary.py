from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding.answer.summary import (
    fair_shares,
    render_growing_results,
    summarise_results,
)
from callwright.nouns.errors import Failure
from callwright.nouns.types import Skip, ToolResult

SHORT = ToolResult("r1", "clock", {"city": "Oslo"}, {"time": "12:00"})
LONG = ToolResult(
    "r2",
    "shops",
    {},
    {
        "shops": [{"name": f"shop {i}", "sells": "nothing" * 5} for i in range(200)]
        + [{"name": "The umbrella shop", "sells": "umbrellas"}]
    },
)


def test_results_failures_and_skips_are_named_under_their_ids() -> None:
    failed = ToolResult("r3", "weather", {}, None, Failure("timeout", "no reply"))
    text = summarise_results("q", [SHORT, failed], [Skip("mailer", "not asked for")], 1000)
    assert 'r1: clock("city":"Oslo") -> {"time":"12:00"}' in text
    assert "r3: weather() -> FAILED (timeout): no reply" in text
    assert "skipped: mailer: not asked for" in text


def test_a_long_result_is_cut_with_a_marker_and_keeps_what_the_question_asks_for() -> None:
    text = summarise_results("Where can I buy an umbrella?", [SHORT, LONG], [], 1500)
    assert len(text) < 2200
    assert "The umbrella shop" in text
    assert "more of 201" in text
    assert '{"time":"12:00"}' in text, "a short result is not cut because another one is long"


def test_shares_are_fair_and_spare_room_goes_to_the_longer() -> None:
    assert fair_shares([10, 1000, 1000], 500) == [10, 245, 245]
    assert fair_shares([10, 20], 500) == [10, 20]


def test_a_long_text_keeps_the_sentences_of_the_question() -> None:
    text = (
        "Filler sentence about nothing. " * 100
        + "The museum opens at 10:30. "
        + "More filler here. " * 100
    )
    shown = summarise_results(
        "When does the museum open?", [ToolResult("r1", "page", {}, text)], [], 400
    )
    assert "The museum opens at 10:30" in shown
    assert "more characters cut" in shown


SIZES = st.lists(st.integers(0, 3_000), max_size=6)


@given(SIZES, SIZES, st.integers(100, 6_000))
def test_the_text_of_a_result_stays_as_it_was_when_others_come(
    sizes: list[int], more: list[int], limit: int
) -> None:
    results = [
        ToolResult(f"r{n}", "page", {}, "word " * (size // 5))
        for n, size in enumerate([*sizes, *more], 1)
    ]
    before = render_growing_results("q", results[: len(sizes)], limit)
    assert render_growing_results("q", results, limit)[: len(sizes)] == before


def test_growing_results_leave_room_for_those_that_follow() -> None:
    failed = ToolResult("r3", "weather", {}, None, Failure("timeout", "no reply"))
    first, second, third = render_growing_results("umbrella", [SHORT, LONG, failed], 4_000)
    assert first == 'r1: clock("city":"Oslo") -> {"time":"12:00"}'
    assert 500 < len(second) < 2_200
    assert "The umbrella shop" in second, "what the request speaks of is kept"
    assert "more of" in second, "what is left out is counted"
    assert third == "r3: weather() -> FAILED (timeout): no reply"
