from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.jsontext import MAX_CHARS, JsonError, parse_lenient, parse_tool_text

scalars = st.text() | st.integers(-1000, 1000) | st.booleans() | st.none()
arguments = st.dictionaries(
    st.text(min_size=1), st.recursive(scalars, lambda i: st.lists(i, max_size=3), max_leaves=6)
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("['a', 'b',]", ["a", "b"]),
        ('{"a": 1} (cached)', {"a": 1}),
        ("[FILE] a.txt", "[FILE] a.txt"),
        ("[FILE] a.txt\n[DIR] sub", "[FILE] a.txt\n[DIR] sub"),
        ("[2026-11-23] started", "[2026-11-23] started"),
        ("Error: [no]", "Error: [no]"),
        (7, 7),
    ],
)
def test_a_text_that_only_begins_with_a_mark_in_brackets_is_no_value(text: Any, value: Any) -> None:
    assert parse_tool_text(text) == value


def test_strict_json_has_no_problems() -> None:
    found = parse_lenient('{"a": 1}')
    assert (found.value, found.problems, found.truncated) == ({"a": 1}, (), False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': True, 'b': None}", {"a": True, "b": None}),
        ("{'a': \"it's\"}", {"a": "it's"}),
        ("{'a': ('x', 'y')}", {"a": ["x", "y"]}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ("{a: 1}", {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Sure!\n```\n{"a": 1}\n```\nDone.', {"a": 1}),
        ('Here you are: {"a": 1} as asked', {"a": 1}),
        ('{"a": 1}}', {"a": 1}),
        ('{"a": "he said "hi" to me"}', {"a": 'he said "hi" to me'}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"a": 1, // why\n "b": 2}', {"a": 1, "b": 2}),
        ('\ufeff{"a": 1}', {"a": 1}),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
        ('{"a": "b" "c": ["x" null]}', {"a": "b", "c": ["x", None]}),
        ('Here: {"a": ["b" 5]} as asked', {"a": ["b", 5]}),
        ('["one" "two"]', ["one", "two"]),
        ('{"a": 1} {"a": 1}', {"a": 1}),
        ('{"a": """print("b", 1)\n"""}', {"a": 'print("b", 1)\n'}),
        ("{'a': '''it's \"b\"'''}", {"a": 'it\'s "b"'}),
        ('["""a""", ""]', ["a", ""]),
        ('{"a": """b", "c": 1}', {"a": '""b', "c": 1}),
        ('{"a": 10%}', {"a": "10%"}),
        (r'{"a": "C:\Users\me\notes.txt"}', {"a": r"C:\Users\me\notes.txt"}),
        (r'{"a": "C:\\Users\\new\\", b: 1}', {"a": "C:\\Users\\new\\", "b": 1}),
        (r'{"a": "\d+\n", "b": "C: \new"}', {"a": "\\d+\n", "b": "C: \new"}),
        ('{"a": 5 €, "b": [5km, -2.5 °C]}', {"a": "5 €", "b": ["5km", "-2.5 °C"]}),
        ('{"a": $5, b: 1e5}', {"a": "$5", "b": 1e5}),
    ],
)
def test_usual_breakages_are_repaired_and_named(text: str, value: Any) -> None:
    found = parse_lenient(text)
    assert found.value == value
    assert found.problems
    assert not found.truncated


@given(arguments, st.data())
def test_a_cut_off_document_is_always_reported_as_truncated(
    value: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(value)
    cut = data.draw(st.integers(1, len(text) - 1))
    try:
        found = parse_lenient(text[:cut])
    except JsonError:
        return
    assert found.truncated


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "x',
        '{"a": 1',
        '{"a": {"b": 1}',
        '[{"a": 1}, {"b"',
        '{"a": 1,',
        '{"path": "/etc/',
        "{'a': 'x",
    ],
)
def test_truncation_is_reported_for_arguments_that_a_library_would_complete(text: str) -> None:
    assert parse_lenient(text).truncated


def test_two_different_values_are_not_ours_to_choose_from() -> None:
    with pytest.raises(JsonError, match="two different values"):
        parse_lenient('{"a": 1} {"a": 2}')


@pytest.mark.parametrize("text", ["", "hello", "   ", "42 and", "True"])
def test_a_text_without_a_value_is_refused(text: str) -> None:
    with pytest.raises(JsonError):
        parse_lenient(text)


def test_a_number_too_large_for_json_is_refused_rather_than_infinite() -> None:
    with pytest.raises(JsonError):
        parse_lenient("{'a': 1e999}")


def test_a_fence_inside_a_string_stays_there() -> None:
    assert parse_lenient('{"md": "```json\\n{}\\n```",}').value == {"md": "```json\n{}\n```"}


def test_json_test_suite_in_repair_mode_neither_crashes_nor_hangs(
    json_test_suite: list[dict[str, Any]],
) -> None:
    assert len(json_test_suite) == 318
    for entry in json_test_suite:
        started = time.perf_counter()
        with contextlib.suppress(JsonError):
            parse_lenient(entry["input"])
        assert time.perf_counter() - started < 2, entry["name"]


@given(st.text(alphabet="{}[]\"':,\\ntrue 1x\n`", max_size=80))
def test_garbage_is_read_or_refused_but_never_crashes(text: str) -> None:
    try:
        found = parse_lenient(text)
    except JsonError:
        return
    json.dumps(found.value, allow_nan=False)


def test_deep_and_long_garbage_is_refused_quickly() -> None:
    started = time.perf_counter()
    for text in (
        "{" + "'a':1 " * 100_000,
        "x" * (MAX_CHARS + 1) + "{",
        "{" + "'a':1 " * 30_000 + "}",
    ):
        with pytest.raises(JsonError):
            parse_lenient(text)
    for text in ("[" * 100_000, '{"a":' * 50_000):
        assert parse_lenient(text).truncated
    assert parse_lenient('{"a": [' + '"""a",' * 40_000 + "]}").problems
    assert time.perf_counter() - started < 5


def test_bytes_that_are_not_utf8_are_named() -> None:
    found = parse_lenient(b'{"a": "\xff"}')
    assert any("UTF-8" in p for p in found.problems)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 12.50 "b": 1}', {"a": 12.5, "b": 1}),
        ('{"a": 1_000, b: x}', {"a": 1_000, "b": "x"}),
        (r'{"a": "caf\u00e9" "b": 2}', {"a": "café", "b": 2}),
        ('as of 2025: {"a": 5, b: x} or 6', {"a": 5, "b": "x"}),
        ('{"a": 5 000}', None),
        ('{"a": 5 * 3}', None),
        ('{"a": 05}', None),
        ('{"a": 5%, not here "b": 1}', None),
        ('{"a": """5", "b": 5 000}', None),
    ],
)
def test_no_repair_loses_a_digit(text: str, value: Any) -> None:
    if value is not None:
        assert parse_lenient(text).value == value
        return
    with pytest.raises(JsonError, match="not written in digits alone"):
        parse_lenient(text)
