import pytest

from callwright.grounding import facts_of
from callwright.grounding.binding import Bound
from callwright.grounding.facts import Figure
from callwright.grounding.grounding_result import (
    GroundingResult,
    describe_leaf,
    record_problem,
    render_value,
)
from callwright.grounding.quantity import find_moments, find_numbers
from callwright.nouns.types import Json, ToolResult


def figure(content: Json) -> Figure:
    return facts_of("q", [ToolResult("r1", "lookup", {}, content)]).figures[0]


def test_a_refusal_without_a_rival_says_that_it_stands_nowhere_and_cannot_be_repaired() -> None:
    verdict = GroundingResult("supported")
    record_problem("12", Bound(), verdict, find_numbers("12")[0])
    assert verdict.problems == ["12 stands in no result"]
    assert not verdict.repairable


@pytest.mark.parametrize(
    ("content", "stated", "text"),
    [
        ({"visitors": 48_200}, "50000", "48,200"),
        ({"temp_c": 4.5}, "5 °C", "4.5 °C"),
        ({"humidity_percent": 40}, "45%", "40%"),
        ({"distance_km": 12}, "13 km", "12 km"),
        ({"price_cents": 1999, "currency": "EUR"}, "29.99 euros", "19.99 EUR"),
    ],
)
def test_the_one_rival_is_the_replacement_as_the_result_tells_it(
    content: Json, stated: str, text: str
) -> None:
    verdict = GroundingResult("unsupported")
    record_problem(
        stated, Bound(None, figure(content), None, only=True), verdict, find_numbers(stated)[0]
    )
    assert [(f.span, f.text) for f in verdict.fixes] == [((0, len(stated)), text)]
    assert verdict.repairable


@pytest.mark.parametrize(
    ("text", "is_replaced"),
    [("13 km", True), ("价格是 13元。", True), ("the 13th", False), ("over 13", False)],
)
def test_only_what_is_a_value_is_replaced(text: str, is_replaced: bool) -> None:
    verdict, meant = GroundingResult("unsupported"), figure({"distance_km": 12})
    record_problem(text, Bound(None, meant, None, only=True), verdict, find_numbers(text)[0])
    assert verdict.repairable is is_replaced


def test_where_several_could_be_meant_nothing_is_replaced() -> None:
    verdict = GroundingResult("unsupported")
    record_problem(
        "13 km",
        Bound(None, figure({"distance_km": 12}), None, only=False),
        verdict,
        find_numbers("13 km")[0],
    )
    assert verdict.fixes == []
    assert verdict.problems == ["13 km stands in no result; r1 distance_km is 12 km"]


def test_a_wrong_owner_is_named() -> None:
    verdict = GroundingResult("unsupported")
    taken, meant = figure({"loans": 12}), figure({"visitors": 13})
    record_problem("12", Bound(None, meant, taken), verdict, find_numbers("12")[0])
    assert verdict.problems == ["12 is r1 loans; r1 visitors is 13"]


def test_a_moment_is_replaced_by_the_results_own_text() -> None:
    verdict = GroundingResult("unsupported")
    record_problem(
        "10:00",
        Bound(None, figure({"opens": "09:00"}), None, only=True),
        verdict,
        find_moments("10:00")[0],
    )
    assert verdict.fixes[0].text == "09:00"


def test_a_value_is_shown_with_its_place_and_unit() -> None:
    found = figure({"a": [{"depth_m": 1500}]})
    assert (describe_leaf(found.leaf), render_value(found)) == ("r1 a/0/depth_m", "1,500 m")
