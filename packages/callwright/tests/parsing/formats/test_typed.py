from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.parsing.formats.typed import (
    escape_markers,
    format_value,
    read_typed_value,
    unescape_markers,
)
from callwright.parsing.tool_vocabulary import ToolVocabulary

OFFER = ToolVocabulary()


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("3", {"type": "integer"}, 3),
        ("3.5", {"type": "number"}, 3.5),
        (" 3\n", {"type": "integer"}, 3),
        ("true", {"type": "boolean"}, True),
        ("True", {"type": "boolean"}, True),
        ("null", {"type": ["string", "null"]}, None),
        ("null", {"type": "string"}, "null"),
        ("[1, 2]", {"type": "array"}, [1, 2]),
        ("['a', 'b']", {"type": "array"}, ["a", "b"]),
        ('{"a": 1}', {"type": "object"}, {"a": 1}),
        ("5", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, 5),
        ("5", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "5"),
        ("5", {"enum": [1, 5]}, 5),
        ("5", {"enum": ["1", "5"]}, "5"),
        ("5", {"const": 5}, 5),
        ("5", {"type": "int"}, 5),
        ("null", {"type": "integer"}, None),
        ("None", {"type": ["number", "boolean"]}, None),
        ("5", {}, "5"),
        ("true", {}, "true"),
        ("null", {}, "null"),
        ("[1, 2]", {}, [1, 2]),
        ('{"a": 1}', {"description": "anything"}, {"a": 1}),
        ("[1, 2", {}, "[1, 2"),
        ("{a: 1}", {}, "{a: 1}"),
        ("5", None, "5"),
        ("5", {"type": "string"}, "5"),
    ],
)
def test_a_text_takes_the_declared_type(text: str, schema: Any, value: Any) -> None:
    assert read_typed_value(text, schema, OFFER)[0] == value


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("three", "integer"),
        ("3.5", "integer"),
        ("1,000", "number"),
        ("007", "integer"),
        ("yes", "boolean"),
        ("[1", "array"),
    ],
)
def test_a_text_that_is_not_of_the_type_stays_text_and_that_is_said(text: str, kind: str) -> None:
    assert read_typed_value(text, {"type": kind}, OFFER) == (
        text,
        "a parameter is not of its declared type",
    )


def test_a_whole_number_that_may_be_a_thousand_stays_text() -> None:
    assert read_typed_value("1.000", {"type": "integer"}, OFFER)[0] == "1.000"
    assert read_typed_value("1.000", {"type": "number"}, OFFER)[0] == 1.0
    assert read_typed_value("1.0", {"type": "integer"}, OFFER)[0] == 1.0


def test_what_is_repaired_is_said() -> None:
    assert read_typed_value("['a',]", {"type": "array"}, OFFER)[1]
    assert read_typed_value("False", {"type": "boolean"}, OFFER) == (
        False,
        "a Python word for JSON's",
    )


@given(
    st.lists(
        st.sampled_from(
            ["<", "&", "lt;", "amp;", "/parameter>", "function=", "tool_call>", "x", '|"|>']
        ),
        max_size=10,
    )
)
def test_escaping_is_undone_and_leaves_no_marker(parts: list[str]) -> None:
    text = "".join(parts)
    assert unescape_markers(escape_markers(text)) == text
    assert "</parameter>" not in escape_markers(text)


@pytest.mark.parametrize("text", ["a &lt; b", "&lt;b&gt;", "&amp;", "a < b", "&quot;"])
def test_other_entities_are_the_texts_own(text: str) -> None:
    assert unescape_markers(text) == text
    assert escape_markers(text) == text


def test_values_stand_as_text_or_json() -> None:
    assert [format_value(v) for v in ("x", 1, None, {"a": ["é"]})] == [
        "x",
        "1",
        "null",
        '{"a": ["é"]}',
    ]
