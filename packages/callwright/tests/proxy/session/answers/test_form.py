"""JSON of a form: what is right stays to the byte, what a lossless edit makes right is made right."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.proxy.session.answers.form import (
    Form,
    is_in_form,
    read_form,
    repair_completion,
    repair_text,
)
from callwright.schema.compiled import is_valid_instance
from tests.proxy.playbook import call, whole

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "people": {"type": "integer"},
        "when": {"type": "string", "format": "date"},
    },
    "required": ["city", "people"],
    "additionalProperties": False,
}
FORM = Form(SCHEMA)
OSLO = {"city": "Oslo", "people": 7}
CITIES = st.fixed_dictionaries({"city": st.text(), "people": st.integers(-(2**53), 2**53)})


@pytest.mark.parametrize(
    ("asked", "schema"),
    [
        ({"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}, SCHEMA),
        ({"type": "json_object"}, {"type": "object"}),
        ({"type": "text"}, None),
        ({"type": "json_schema"}, None),
        ("json", None),
        (None, None),
    ],
)
def test_the_form_is_that_of_the_request(asked: Any, schema: Any) -> None:
    found = read_form({"response_format": asked})
    assert (None if found is None else found.schema) == schema


@given(CITIES, st.sampled_from([None, 2]), st.booleans())
def test_right_json_stays_to_the_letter(city: Any, indent: Any, is_ascii: bool) -> None:
    text = json.dumps(city, indent=indent, ensure_ascii=is_ascii)
    assert repair_text(text, FORM) == (text, [], "")
    body = whole(text)
    assert repair_completion(body, FORM) == (body, [], "")


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ('{"city": "Oslo", "people": 7,}', ["mend_json"]),
        ("{'city': 'Oslo', 'people': 7}", ["mend_json"]),
        ('Here it is:\n```json\n{"city": "Oslo", "people": 7}\n```\nAnything else?', ["mend_json"]),
        ('Here: {"city": "Oslo", "people": 7}', ["mend_json"]),
        ('{"city": "Oslo", "people": "7"}', ["text_to_number"]),
        ('{"City": "Oslo", "people": 7}', ["rename_key"]),
        ('{"city": "Oslo", "people": 7, "sure": true}', ["drop_unknown"]),
        ('{"City": "Oslo", "people": "7",}', ["mend_json", "rename_key", "text_to_number"]),
    ],
)
def test_what_is_broken_is_repaired_with_its_edits(text: str, rules: list[str]) -> None:
    made, edits, problem = repair_text(text, FORM)
    assert json.loads(made) == OSLO
    assert ([edit.rule for edit in edits], problem) == (rules, "")
    assert all(edit.path.startswith("/content") for edit in edits)
    assert repair_text(made, FORM) == (made, [], "")


@pytest.mark.parametrize(
    "text",
    ["", "I do not know.", '{"city": "Oslo"}', '{"city": "Oslo", "people": "many"}', "[1, 2]",
     '{"city": "Oslo", "peo'],
)  # fmt: skip
def test_what_only_a_guess_would_make_right_stays_and_the_reason_is_told(text: str) -> None:
    made, edits, problem = repair_text(text, FORM)
    assert (made, edits) == (text, [])
    assert problem


@given(st.text() | CITIES.map(lambda one: json.dumps(one)[:-2]))
def test_whatever_comes_the_answer_is_right_or_untouched(text: str) -> None:
    made, edits, _ = repair_text(text, FORM)
    assert made == text if not edits else is_valid_instance(SCHEMA, json.loads(made))


def test_an_object_of_any_form_is_only_read() -> None:
    made, edits, _ = repair_text("{'a': [1, 2,]}", Form({"type": "object"}))
    assert json.loads(made) == {"a": [1, 2]}
    assert [edit.rule for edit in edits] == ["mend_json"]


def test_of_a_completion_only_the_text_is_another_one() -> None:
    body = whole('{"city": "Oslo", "people": "7"}')
    made, edits, _ = repair_completion(body, FORM)
    document = json.loads(body)
    document["choices"][0]["message"]["content"] = '{"city":"Oslo","people":7}'
    assert json.loads(made) == document
    assert len(edits) == 1


@pytest.mark.parametrize(
    "body",
    [
        whole('{"city": "Oslo", "people": "7"}', [call("get_weather", {"city": "Oslo"})]),
        whole(None),
        b"no json",
        b"[]",
    ],
)
def test_an_answer_that_calls_or_is_no_completion_has_no_form(body: bytes) -> None:
    assert repair_completion(body, FORM) == (body, [], "")


def test_an_answer_that_was_cut_off_is_not_completed() -> None:
    body = whole('{"city": "Oslo", "people": "7"}', finish="length")
    made, edits, problem = repair_completion(body, FORM)
    assert (made, edits) == (body, [])
    assert "cut off" in problem


def test_a_text_is_in_the_form_if_the_schema_names_all_its_keys() -> None:
    right = json.dumps({"city": "Oslo", "people": 2})
    for text in (right, f"```json\n{right}\n```"):
        assert is_in_form(text, Form(SCHEMA)), text
    for text in ("[]", "Oslo", '{"city": "Oslo"}', right[:-1]):
        assert not is_in_form(text, Form(SCHEMA)), text
    assert not is_in_form(right, Form({"type": "object"})), "it fits, and is not asked for"
    assert not is_in_form(right, Form(True))
