from __future__ import annotations

import re

import pytest

from callwright.nouns.errors import Failure
from callwright.nouns.types import Json, Message, ToolResult
from callwright.repair.provenance.sources import (
    Leaf,
    ProvenanceIndex,
    find_told_clocks,
    fold_text,
    squash_text,
)


def result(content: Json, **fields: object) -> ToolResult:
    return ToolResult("r1", "search", {}, content, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [
        "PP2023-001",
        "pp2023001",
        "New York",
        "new_york",
        5,
        5.0,
        "5",
        1234567,
        "2024-05-03",
        0.07,
        "Müller",
        "MULLER",
        2,
        "",
    ],
)
def test_what_was_said_is_held_however_it_is_spelled(value: Json) -> None:
    text = (
        "Policy PP2023-001 for two people in New York, 5 days from 3 May 2024, 1,234,567 at 7%,"
        " Herr Müller"
    )
    assert ProvenanceIndex(text).holds(value)


@pytest.mark.parametrize("value", ["PP2023-002", "Boston", 6, "2024-06-03", 0.08, 12345, "u-1"])
def test_what_was_not_said_is_not_held(value: Json) -> None:
    text = "Policy PP2023-001 for two people in New York, 5 days from 3 May 2024, 1,234,567 at 7%"
    assert not ProvenanceIndex(text).holds(value)


def test_short_texts_must_stand_alone() -> None:
    assert ProvenanceIndex("version 3.5.2 in C++").holds("3.5.2")
    assert not ProvenanceIndex("version 13.5.21").holds("3.5")
    assert not ProvenanceIndex("the cat").holds("at")


def test_results_count_with_their_keys_and_members() -> None:
    sources = ProvenanceIndex()
    sources.add_result(result({"people": [{"id": 7, "name": "Ada"}], "tt0120338": {"x": 1}}))
    assert sources.holds(7)
    assert sources.holds("Ada")
    assert sources.holds("tt0120338")
    assert Leaf("r1", ("people", "id"), 7) in sources.leaves


def test_a_result_that_is_json_text_is_read() -> None:
    sources = ProvenanceIndex(results=[result("{'id': 'abc-9'}")])
    assert Leaf("r1", ("id",), "abc-9") in sources.leaves


def test_a_failed_result_is_no_source() -> None:
    sources = ProvenanceIndex(
        results=[result({"id": "zz-991"}, failure=Failure("tool_error", "no"))]
    )
    assert not sources.holds("zz-991")


def test_a_failure_counts_by_its_text_less_what_its_call_said() -> None:
    failed = ToolResult(
        "r1",
        "cancel",
        {"order": "chair", "code": "ORD-9999"},
        failure=Failure("error_payload", "ORD-9999 is no order; did you mean ORD-4711 (chair)?"),
    )
    sources = ProvenanceIndex("Cancel the order.", results=[failed])
    for known in (sources, sources.copy(), sources.without_echoes(), sources.without({"r2"})):
        assert known.holds_apart("ORD-4711")
        assert not known.holds("ORD-9999")
        assert known.results == []
    assert not sources.without({"r1"}).holds("ORD-4711")


@pytest.mark.parametrize(
    ("text", "value", "is_held"),
    [
        ("Cancel ORD-4711.", "ord 4711", True),
        ("Cancel ORD-4711.", "ORD-471", False),
        ("Cancel 4711.", "711", False),
        ("Fly to Oslo from the ORD terminal.", "ORD", True),
        ("Please record it.", "ORD", False),
        ("رقم الطلب ٤٧١١", "4711", True),
        ("Order 200 of A-100.", "A-200", False),
        ("C++ it is", "C++", True),
        ("nothing", "", True),
    ],
)
def test_a_text_stands_apart_in_one_piece(text: str, value: str, is_held: bool) -> None:
    assert ProvenanceIndex(text).holds_apart(value) is is_held


def test_texts_are_read_after_a_change_and_searched() -> None:
    known = ProvenanceIndex("Pay 50 to Ann.", results=[result({"sum": 70})])
    plain = known.reword(lambda text: text.replace("50", "").replace("70", "80"))
    assert not plain.holds(50)
    assert plain.holds(80)
    assert plain.said_texts == ["Pay  to Ann."]
    assert known.has_match(re.compile("ann"))
    assert not known.has_match(re.compile("bob"))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.250,50 Euro", 1250.5),
        ("1.250 Euro", 1250),
        ("1,250.50 euros", 1250.5),
        ("1250,5 Euro", 1250.5),
        ("-1.250.000", 1_250_000),
        ("1 250,50 zł", 1250.5),
        ("12\u202f345\u202f678,90 €", 12_345_678.9),
        ("1\u2009250,5 kr", 1250.5),
        ("CHF 1'250.50", 1250.5),
        ("1’250.50 Fr.", 1250.5),
        ("1 250, please", 1250),
        ("١٬٢٥٠٫٥٠", 1250.5),
        ("٢٫٥", 2.5),
        ("Annに３７．５円", 37.5),
    ],
)
def test_points_and_commas_are_read_as_either_may_be_meant(text: str, number: float) -> None:
    assert ProvenanceIndex(text).holds(number)


@pytest.mark.parametrize("text", ["1 250,50", "1'250.50", "１．２．３", "v2٫5", "1 250,50,3"])
def test_a_number_with_decimals_is_read_whole(text: str) -> None:
    assert not any(map(ProvenanceIndex(text).holds, (1250, 1.2, 2.5)))


def test_the_conversation_and_the_defaults_are_sources() -> None:
    sources = ProvenanceIndex(
        "go on",
        [Message("user", "my key is K-77512"), "team Blue-42"],
        defaults={"region": "eu-west-9"},
    )
    assert all(sources.holds(v) for v in ("K-77512", "Blue-42", "eu-west-9"))


def test_every_member_must_be_held() -> None:
    sources = ProvenanceIndex("apples and pears")
    assert sources.holds(["apples", {"x": "pears"}])
    assert not sources.holds(["apples", "plums"])


def test_mentions_forgives_endings() -> None:
    sources = ProvenanceIndex("sorted by popularity")
    assert sources.mentions("sort")
    assert sources.mentions("popular")
    assert not sources.mentions("price")


def test_the_brief_fits_and_keeps_the_latest_results() -> None:
    sources = ProvenanceIndex("query")
    for i in range(50):
        sources.add_result(ToolResult(f"r{i}", "t", {}, {"n": "x" * 50}))
    text = sources.brief(300)
    assert len(text) <= 300
    assert text.startswith("User request: query")
    assert "r49" in text
    assert "r0 " not in text


def test_comparison_ignores_case_accents_and_punctuation() -> None:
    assert fold_text("É") == "e"
    assert squash_text("A-b_ç!") == "abc"


def test_deep_results_are_read_without_overflow() -> None:
    deep: Json = "leaf"
    for _ in range(500):
        deep = [deep]
    ProvenanceIndex(results=[result(deep)])


def test_a_negative_number_and_a_rounded_one_were_seen() -> None:
    """Coordinates: a model copies -9.13592 or shortens it to -9.14, and neither is made up."""
    sources = ProvenanceIndex("at -7 degrees, 3-5 days")
    sources.add_result(ToolResult("r1", "t", {}, {"longitude": -9.13592, "latitude": 38.7813}))
    assert all(sources.holds(value) for value in (-9.13592, -9.14, 38.78, -7, 3, 5))
    assert not any(sources.holds(value) for value in (9.99, 38.5, 39, -38.78))


def test_values_are_found_under_names_that_end_alike_and_days_wherever_they_stand() -> None:
    sources = ProvenanceIndex(
        results=[
            ToolResult("r1", "place", {}, {"timezone": "Europe/Oslo", "opened": "2009-03-02"}),
            ToolResult(
                "r2",
                "place",
                {},
                [{"timezone": "Europe/Lisbon"}, {"timezone": "Europe/Oslo", "n": 5}],
            ),
        ]
    )
    assert sources.under("to_timezone") == ["Europe/Oslo", "Europe/Lisbon"]
    assert sources.under("city") == []
    assert sources.days() == ["2009-03-02"]


def test_a_text_glued_together_from_words_is_held_but_not_in_one_piece() -> None:
    sources = ProvenanceIndex("I am John Doe, my code is 77-ab.")
    assert sources.holds("Doe code")
    assert not sources.holds_whole("Doe code")
    assert sources.holds_whole("john-doe")


def test_what_is_added_after_a_question_is_known_to_the_next_one() -> None:
    sources = ProvenanceIndex("Room 12.")
    assert sources.holds(12)
    assert not sources.holds("Bergen")
    assert not sources.holds(47)
    sources.add_text("The hotel in Bergen has forty-seven: 47 rooms.")
    assert sources.holds("Bergen")
    assert sources.holds(47)


def test_a_part_of_a_word_is_not_said_in_whole_words() -> None:
    sources = ProvenanceIndex("Kings of France; tigers")
    assert sources.holds("Franc")
    assert not sources.holds_words("Franc")
    assert sources.holds_words("france")
    assert sources.holds_words("tiger")


def test_a_copy_knows_what_was_known_and_grows_by_itself() -> None:
    sources = ProvenanceIndex("Find Ada", ["in Oslo"], [result({"id": "K7"})])
    assert sources.holds("K7")
    copy = sources.copy()
    copy.add_result(result({"id": "K8", "count": 12345}))
    sources.add_text("K9")
    assert all(copy.holds(value) for value in ("Ada", "Oslo", "K7", "K8", 12345))
    assert not copy.holds("K9")
    assert not sources.holds("K8")
    assert not sources.holds(12345)
    assert (len(sources.results), len(copy.results)) == (1, 2)
    assert (sources.under("id"), copy.under("id")) == (["K7"], ["K7", "K8"])


def test_without_a_result_its_values_are_from_nowhere_and_all_else_stays() -> None:
    results = [
        ToolResult("r1", "t", {}, {"id": "O-12"}),
        ToolResult("r2", "t", {}, '{"id": "O-15"}'),
    ]
    sources = ProvenanceIndex("for Ann", ["at noon"], results, {"zone": "Europe/Oslo"})
    sources.add_text("by train")
    left = sources.without({"r1"})
    assert not left.holds("O-12")
    assert all(left.holds(value) for value in ("O-15", "Ann", "at noon", "Europe/Oslo", "by train"))
    assert (left.query, left.under("id"), [r.id for r in left.results]) == (
        "for Ann",
        ["O-15"],
        ["r2"],
    )
    assert sources.holds("O-12"), "the sources themselves are as they were"


def test_the_first_of_a_list_of_wishes_is_no_number() -> None:
    listed = ProvenanceIndex("Two things. First, add 7 and 3. Second, the sine of 5.")
    assert [listed.holds(n) for n in (1, 2, 3, 5, 7)] == [False, True, True, True, True]
    assert ProvenanceIndex("First, the first 3 results.").holds(1)


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("Set the alarm to half past six, please.", "6:30"),
        ("Stell den Wecker bitte auf Viertel nach drei.", "3:15"),
        ("Pon el despertador a las cuatro menos cuarto.", "3:45"),
        ("请把闹钟设在六点半。", "6:30"),
        ("اضبط المنبه على السادسة والنصف من فضلك.", "6:30"),
    ],
)
def test_a_time_of_day_in_words_is_held_in_figures(text: str, clock: str) -> None:
    assert clock in ProvenanceIndex(text).texts
    assert clock not in ProvenanceIndex("").texts
    (told,) = find_told_clocks(text)
    assert text[slice(*told.span)] in text


def test_what_results_were_asked_with_is_known_as_they_come() -> None:
    known = ProvenanceIndex("Cancel it.", results=[ToolResult("r1", "get", {"id": "C-1"}, {})])
    assert known.was_asked_with("c-1")
    assert not known.was_asked_with("C-2")
    known.add_result(ToolResult("r2", "get", {"of": [{"id": "C-2"}, 7]}, {}))
    assert known.was_asked_with("C-2")
    assert known.was_asked_with(7)
    assert not known.without({"r2"}).was_asked_with("C-2")


def test_a_word_of_a_script_that_parts_no_words_is_mentioned_where_it_stands() -> None:
    said = ProvenanceIndex("只付水费，电费先不要付。")
    assert said.mentions("水费")
    assert not said.mentions("保险")
    assert not said.mentions("付"), "one sign tells nothing"
