from callwright.grounding.summary import fair_shares, summarise_results
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
