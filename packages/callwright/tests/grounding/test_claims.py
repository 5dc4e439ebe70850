import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding import facts_of
from callwright.grounding.claims import Claims, claims_of, content_words
from callwright.nouns.types import ToolResult

FACTS = facts_of(
    "Which of the films is longer?",
    [
        ToolResult(
            "r1",
            "film",
            {},
            {"title": "Skarvtind", "minutes": 118, "premiere": "2019-03-08", "year": 2019},
        ),
        ToolResult(
            "r2",
            "film",
            {},
            {"title": "Monte Olvera", "minutes": 96, "premiere": "2021-11-19", "year": 2021},
        ),
        ToolResult("r3", "estate", {}, {"name": "Estate 220", "hectares": 14}),
    ],
)


def read(text: str) -> Claims:
    return claims_of(text, FACTS)


def mentions(text: str) -> list[str]:
    return [text[slice(*m.span)] for m in read(text).mentions]


def test_names_of_records_are_found_as_people_write_them() -> None:
    assert mentions("skarvtind is longer than Monte Olvera.") == ["skarvtind", "Monte Olvera"]
    assert mentions("Olvera runs 96 minutes.") == ["Olvera"]


def test_a_number_inside_a_name_is_no_value() -> None:
    assert [n.value for n in read("Estate 220 has 14 hectares.").numbers] == [14]


def test_the_number_of_a_list_line_is_no_value() -> None:
    assert [n.value for n in read("2. Skarvtind: 118 minutes").numbers] == [118]


def test_the_scale_of_a_rating_is_no_value() -> None:
    assert [n.value for n in read("It was rated 7 out of 10.").numbers] == [7]


@pytest.mark.parametrize(
    "word", ["AF1680", "10.0.0.1", "https://example.org/x", "a@example.org", "v2.10.3-rc1"]
)
def test_codes_and_addresses_are_identifiers_not_numbers(word: str) -> None:
    claims = read(f"It says {word} there")
    assert [w for _, w in claims.identifiers] == [word]
    assert claims.numbers == []


def test_capitalised_words_are_names_unless_they_only_begin_the_sentence() -> None:
    assert [n for _, n in read("Yesterday Ingrid Dahl visited Skarvtind.").names] == [
        "Ingrid Dahl",
        "Skarvtind",
    ]
    assert read("However, it rained.").names == []


def test_a_value_belongs_to_the_names_of_its_own_clause() -> None:
    text = "Skarvtind runs 118 minutes, while Monte Olvera runs 96."
    claims = read(text)
    near = [text[slice(*m.span)] for n in claims.numbers for m in claims.near(n.span)]
    assert near == ["Skarvtind", "Monte Olvera"]


def test_a_clause_without_a_name_takes_the_last_one_before() -> None:
    text = "Skarvtind opened in March, and runs 118 minutes."
    claims = read(text)
    assert [text[slice(*m.span)] for m in claims.near(claims.numbers[0].span)][:1] == ["Skarvtind"]


@pytest.mark.parametrize(
    ("text", "negated"),
    [("It isn't long", True), ("It is long", False), ("There is no film", True)],
)
def test_a_denial_is_heard(text: str, negated: bool) -> None:
    assert read(text).clauses[0].negated is negated


def test_content_words_are_those_that_claim_something() -> None:
    carried, unknown = content_words(read("The premiere of Skarvtind was a triumph."), FACTS)
    assert carried == ["premiere", "triumph"]
    assert unknown == ["triumph"]


@given(st.text(max_size=120))
def test_any_text_is_taken_apart_with_spans_inside_it(text: str) -> None:
    claims = claims_of(text, FACTS)
    spans = (
        [n.span for n in claims.numbers]
        + [m.span for m in claims.moments]
        + [s for s, _ in claims.identifiers]
    )
    assert all(0 <= a < b <= len(text) for a, b in spans)
    assert claims.clauses


def test_a_code_among_signs_that_part_no_words_stands_for_itself() -> None:
    for text, code in (("A-100还有25件。", "A-100"), ("注文ORD-7は完了", "ORD-7")):
        assert [word for _, word in read(text).identifiers] == [code]
