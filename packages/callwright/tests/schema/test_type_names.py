from __future__ import annotations

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.schema.type_names import says_optional, schema_of_type_name, without_marker


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("str", {"type": "string"}),
        ("INTEGER", {"type": "integer"}),
        ("float", {"type": "number"}),
        ("dict", {"type": "object"}),
        ("HashMap", {"type": "object"}),
        ("None", {"type": "null"}),
        ("any", {}),
        ("", {}),
        ("date", {"type": "string", "format": "date"}),
        ("DATE (YYYY-MM-DD)", {"type": "string", "format": "date"}),
        ("TIME (24-hour HH:MM)", {"type": "string"}),
        ("int[]", {"type": "array", "items": {"type": "integer"}}),
        ("List[str]", {"type": "array", "items": {"type": "string"}}),
        (
            "typing.List[Dict[str, int]]",
            {
                "type": "array",
                "items": {"type": "object", "additionalProperties": {"type": "integer"}},
            },
        ),
        ("list of strings", {"type": "array", "items": {"type": "string"}}),
        ("set of int", {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
        ("Optional[int]", {"type": ["integer", "null"]}),
        ("Union[int, str]", {"type": ["integer", "string"]}),
        ("str | None", {"type": ["string", "null"]}),
        ("string or number", {"type": ["string", "number"]}),
        (
            "List[int] | None",
            {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
        ),
        ("Literal['a', 'b']", {"enum": ["a", "b"]}),
        ("Tuple[int, ...]", {"type": "array", "items": {"type": "integer"}}),
        ("int, optional", {"type": "integer"}),
        ("str, default 'a'", {"type": "string"}),
    ],
)
def test_type_names_of_every_origin_are_understood(name: str, schema: dict[str, object]) -> None:
    assert schema_of_type_name(name) == schema


def test_a_tuple_of_several_types_keeps_their_places() -> None:
    schema = schema_of_type_name("Tuple[float, str]")
    assert schema["prefixItems"] == [{"type": "number"}, {"type": "string"}]
    assert schema["minItems"] == schema["maxItems"] == 2


def test_what_is_not_understood_is_kept_and_restricts_nothing() -> None:
    schema = schema_of_type_name("the user's mood")
    assert schema == {"x-type": "the user's mood"}
    assert jsonschema_rs.is_valid(schema, 12)


@pytest.mark.parametrize(
    ("text", "optional", "bare"),
    [
        ("str, optional", True, "str"),
        ("List[int] (optional)", True, "List[int]"),
        ("str, optional, default 'x'", True, "str"),
        ("int", False, "int"),
        ("int, required", False, "int"),
        ("Optional[int]", False, "Optional[int]"),
    ],
)
def test_markers_of_the_parameter_are_told_from_its_type(
    text: str, optional: bool, bare: str
) -> None:
    assert says_optional(text) is optional
    assert without_marker(text) == bare


@given(
    st.one_of(st.text(max_size=80), st.text(alphabet="[]()<>|,/ intstrListOptional", max_size=120))
)
def test_any_text_gives_a_valid_schema(text: str) -> None:
    jsonschema_rs.meta.validate(schema_of_type_name(text))
    jsonschema_rs.meta.validate(schema_of_type_name(without_marker(text)))


@pytest.mark.parametrize(
    "text", [" " * 200_000, "a|" * 100_000, "List[" * 50_000, "(" * 100_000, ", optional" * 20_000]
)
def test_long_texts_are_not_read_as_types(text: str) -> None:
    assert not says_optional(text)
    assert len(str(schema_of_type_name(without_marker(text)))) < 1_000
