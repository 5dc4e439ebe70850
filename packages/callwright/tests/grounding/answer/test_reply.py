import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding.answer.reply import (
    Draft,
    Drafts,
    read_drafts,
    read_json,
    schema_for,
    split_prose,
)
from callwright.nouns.types import Reply, to_canonical_json

IDS = ["r1", "r2"]


def texts(drafts: Drafts) -> list[str]:
    return [d.text for d in drafts.statements]


def test_statements_keep_only_the_results_that_exist() -> None:
    said = to_canonical_json(
        {"statements": [{"text": "A is 3.", "results": ["r2", "r9"]}], "missing": ["B"]}
    )
    found = read_drafts(Reply(said), IDS)
    assert found.statements == (Draft("A is 3.", ("r2",), " "),)
    assert found.missing == ("B",)


def test_a_statement_of_two_sentences_becomes_two_with_the_same_results() -> None:
    said = to_canonical_json(
        {"statements": [{"text": "A is 3. B is 4.", "results": ["r1"]}], "missing": []}
    )
    found = read_drafts(Reply(said), IDS)
    assert texts(found) == ["A is 3.", "B is 4."]
    assert {d.results for d in found.statements} == {("r1",)}


@pytest.mark.parametrize(
    "text", ['{"calls": []}', "{}", '{"name": "x", "arguments": {}}', '{"a', '{"statements": 3}']
)
def test_an_object_without_statements_is_no_prose(text: str) -> None:
    assert read_drafts(Reply(text), IDS) == Drafts()


def test_giving_up_is_told_from_saying_nothing() -> None:
    assert read_drafts(Reply('{"return_type": "give_up_and_restart"}'), IDS).gave_up
    assert not read_drafts(Reply("{}"), IDS).gave_up


def test_a_fenced_object_is_read() -> None:
    assert texts(
        read_drafts(Reply('```json\n{"statements": ["A is 3."], "missing": []}\n```'), IDS)
    ) == ["A is 3."]


def test_a_reply_cut_in_a_final_answer_keeps_what_was_said_and_knows_that_it_was_cut() -> None:
    text = 'Action Input: {"return_type": "give_answer", "final_answer": "A is 3. B is \\"4'
    found = read_drafts(Reply(text, finish_reason="length"), IDS)
    assert found.cut
    assert texts(found)[0] == "A is 3."


def test_prose_is_cut_into_sentences_but_not_at_abbreviations_or_decimals() -> None:
    assert [d.text for d in split_prose("Dr. Moen paid 3.50 EUR. It rained.")] == [
        "Dr. Moen paid 3.50 EUR.",
        "It rained.",
    ]


def test_citation_tags_are_taken_out_of_the_text() -> None:
    assert split_prose("A is 3 [r1, r2].", IDS) == [Draft("A is 3.", ("r1", "r2"))]


def test_json_that_stops_in_the_middle_is_not_completed_by_guessing() -> None:
    assert read_json('{"a": [1, 2') is None
    assert read_json("{'a': 1}") == {"a": 1}


def test_the_schema_asks_for_at_least_one_statement_and_cites_existing_results_only() -> None:
    found = schema_for(IDS)["properties"]["statements"]
    assert found["minItems"] == 1
    assert found["items"]["properties"]["results"]["items"]["enum"] == IDS


@given(st.text(max_size=200))
def test_any_reply_is_read_without_an_error(text: str) -> None:
    assert all(d.text.strip() for d in read_drafts(Reply(text), IDS).statements)


@given(
    st.lists(
        st.sampled_from(["A is 3.", "It costs 3.50 EUR!", "Really?", "- item one", "\n", "  "]),
        max_size=8,
    )
)
def test_glue_and_texts_joined_give_the_prose_back(parts: list[str]) -> None:
    prose = " ".join(parts).strip()
    assert "".join(d.glue + d.text for d in split_prose(prose)) == prose


def test_sentences_that_end_without_a_space_are_told_apart() -> None:
    texts = ["已订购 2 件 B-220，订单号 O-5005。", "总价为 258.0。", "“好！”"]
    drafts = split_prose("".join(texts))
    assert [draft.text for draft in drafts] == texts
    assert "".join(draft.glue + draft.text for draft in drafts) == "".join(texts)
    assert len(split_prose("هل هذا صحيح؟ نعم.")) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("They are: 1. A is 3.5, 2. B is 4.", ["They are:", "1. A is 3.5,", "2. B is 4."]),
        ("三个： 1. 甲， 2. 乙", ["三个：", "1. 甲，", "2. 乙"]),
        ("他们是：1. 安娜，2. 鲍勃", ["他们是：1. 安娜，2. 鲍勃"]),
        ("Es kostet 3,12. Sie kommt 10:30. Gut.", ["Es kostet 3,12.", "Sie kommt 10:30.", "Gut."]),
        ("Am Samstag: 1. Mai, 2. Mai.", ["Am Samstag: 1. Mai, 2. Mai."]),
        ("It costs 5, 2. floor left.", ["It costs 5, 2. floor left."]),
        ("Read: 1. a\n2. b", ["Read:", "1. a", "2. b"]),
    ],
)
def test_the_items_of_a_list_within_a_line_are_statements(text: str, expected: list[str]) -> None:
    drafts = split_prose(text)
    assert [draft.text for draft in drafts] == expected
    assert "".join(draft.glue + draft.text for draft in drafts) == text


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Der 2. Flug ist AF77.", 1),
        ("Er fährt im 3. Stock ab. Dort ist es ruhig.", 2),
        ("It is on the 2nd. Then it ends.", 2),
        ("Es sind 2. Dann kommt mehr.", 2),
    ],
)
def test_a_place_in_an_order_ends_no_sentence(text: str, count: int) -> None:
    assert len(split_prose(text)) == count
