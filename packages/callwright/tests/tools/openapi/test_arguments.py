"""What the model may say (one schema) and where each part of it goes (fields, body)."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openapi_pydantic.v3.v3_1 import Parameter

from callwright.tools.openapi.arguments import Arguments
from callwright.tools.openapi.binding import Body, Field
from callwright.tools.openapi.document import Unusable, document_of
from callwright.tools.openapi.schema import SchemaConverter

NODE = {
    "type": "object",
    "properties": {"child": {"$ref": "#/components/schemas/Node"}, "n": {"type": "integer"}},
}


class Gathered:
    """Arguments over a document with one recursive schema; raw parameters and schemas go in."""

    def __init__(self) -> None:
        document = document_of(
            {"openapi": "3.1.0", "paths": {}, "components": {"schemas": {"Node": NODE}}}, "test"
        )
        self.converter = SchemaConverter(document, writing=True)
        self.made = Arguments(self.converter)

    def parameter(self, name: str, place: str, **more: Any) -> Field:
        raw = {"name": name, "in": place, **({"required": True} if place == "path" else {}), **more}
        raw |= {} if "content" in raw else {"schema": raw.get("schema", {"type": "string"})}
        self.made.add_parameter(Parameter.model_validate(raw), raw)
        return self.made.fields[-1]

    def body(self, schema: Any, kind: Any = "json", *, required: bool = True) -> Body:
        body = Body(kind, "application/json", required)
        return self.made.add_body(body, self.converter.convert(schema))

    @property
    def schema(self) -> Any:
        made = self.made.schema()
        jsonschema_rs.Draft202012Validator(made)
        return made

    def accepts(self, value: Any) -> bool:
        return jsonschema_rs.Draft202012Validator(self.schema).is_valid(value)


def test_nothing_declared_takes_nothing() -> None:
    gathered = Gathered()
    assert gathered.schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert gathered.accepts({})
    assert not gathered.accepts({"a": 1})


@pytest.mark.parametrize(
    ("place", "said", "style", "explode"),
    [
        ("path", {}, "simple", False),
        ("header", {}, "simple", False),
        ("query", {}, "form", True),
        ("cookie", {}, "form", True),
        ("query", {"style": "deepObject"}, "deepObject", True),
        ("query", {"style": "pipeDelimited"}, "pipeDelimited", False),
        ("query", {"explode": False}, "form", False),
        ("path", {"style": "matrix", "explode": True}, "matrix", True),
    ],
)
def test_style_and_explode_are_as_said_else_the_defaults_of_the_specification(
    place: str, said: Any, style: str, explode: bool
) -> None:
    field = Gathered().parameter("p", place, **said)
    assert (field.style, field.explode) == (style, explode)


@pytest.mark.parametrize(
    ("place", "style"),
    [
        ("query", "simple"),
        ("query", "label"),
        ("path", "form"),
        ("header", "form"),
        ("cookie", "deepObject"),
    ],
)
def test_a_style_of_another_place_is_refused_by_name(place: str, style: str) -> None:
    with pytest.raises(Unusable, match=f"{place} parameter 'p' has the style '{style}'"):
        Gathered().parameter("p", place, style=style)


def test_path_parameters_are_required_and_others_where_they_say_so() -> None:
    gathered = Gathered()
    for name, place, more in (
        ("a", "path", {}),
        ("b", "query", {}),
        ("c", "header", {"required": True}),
    ):
        gathered.parameter(name, place, **more)
    assert gathered.schema["required"] == ["a", "c"]
    assert [f.required for f in gathered.made.fields] == [True, False, True]


def test_a_parameter_described_by_json_content_is_one_json_text() -> None:
    gathered = Gathered()
    content = {
        "application/json": {"schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    }
    assert gathered.parameter("filter", "query", content=content).as_json
    assert gathered.accepts({"filter": {"n": 1}})
    assert not gathered.accepts({"filter": {"n": "x"}})
    with pytest.raises(Unusable, match="'f' is written in a format that is not JSON"):
        gathered.parameter("f", "query", content={"text/csv": {"schema": {"type": "string"}}})


def test_reserved_characters_are_kept_only_where_the_parameter_allows_them() -> None:
    gathered = Gathered()
    assert gathered.parameter("a", "query", allowReserved=True).reserved
    assert not gathered.parameter("b", "query").reserved


def test_the_parameters_own_words_and_examples_win_over_those_of_its_type() -> None:
    gathered = Gathered()
    gathered.parameter(
        "q",
        "query",
        schema={"type": "string", "description": "a text"},
        description="what to find",
        example="oslo",
    )
    many = {name: {"value": name} for name in "abcde"}
    gathered.parameter("r", "query", examples={**many, "x": {"externalValue": "http://e.test/x"}})
    gathered.parameter("s", "query", schema={"type": "string", "description": "a text"})
    properties = gathered.schema["properties"]
    assert properties["q"] == {
        "type": "string",
        "description": "what to find",
        "examples": ["oslo"],
    }
    assert properties["r"]["examples"] == ["a", "b", "c"]
    assert properties["s"]["description"] == "a text"


def test_the_api_keeps_its_name_where_the_model_gets_another() -> None:
    gathered = Gathered()
    for place in ("path", "query"):
        gathered.parameter("id", place)
    gathered.body({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]})
    assert [(f.key, f.name, f.place) for f in gathered.made.fields] == [
        ("id", "id", "path"),
        ("id_query", "id", "query"),
        ("id_body", "id", "body"),
    ]
    assert gathered.schema["required"] == ["id", "id_body"]


@given(
    st.lists(
        st.tuples(st.text(max_size=8), st.sampled_from(["query", "header", "cookie"])), max_size=8
    )
)
def test_whatever_the_names_every_argument_has_one_of_its_own(
    declared: list[tuple[str, str]],
) -> None:
    gathered = Gathered()
    for name, place in declared:
        gathered.parameter(name, place)
    keys = [f.key for f in gathered.made.fields]
    assert len(set(keys)) == len(keys) == len(declared)
    assert list(gathered.schema["properties"]) == keys
    assert [f.name for f in gathered.made.fields] == [name for name, _ in declared]


def test_recursive_schemas_of_several_arguments_share_their_definition_at_the_top() -> None:
    gathered = Gathered()
    node = {"$ref": "#/components/schemas/Node"}
    gathered.parameter("p", "query", content={"application/json": {"schema": node}})
    gathered.body({"type": "object", "properties": {"tree": node}, "required": ["tree"]})
    assert list(gathered.schema["$defs"]) == ["Node"]
    assert "$defs" not in gathered.schema["properties"]["p"]
    assert gathered.accepts({"tree": {"child": {"child": {"n": 1}}}})
    assert not gathered.accepts({"tree": {"child": {"child": {"n": "x"}}}})


@pytest.mark.parametrize("kind", ["text", "bytes"])
def test_a_body_that_is_no_object_on_the_wire_is_one_argument_beside_the_parameters(
    kind: str,
) -> None:
    gathered = Gathered()
    gathered.parameter("body", "query")
    body = gathered.body({"type": "object", "properties": {"a": {}}}, kind)
    assert body.whole == "body_body"
    assert gathered.schema["required"] == ["body_body"]


def test_an_optional_body_may_be_left_out_but_not_given_in_part() -> None:
    gathered = Gathered()
    schema = {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "required": ["a", "b"]}
    assert gathered.body(schema, required=False).whole == ""
    assert not any(f.required for f in gathered.made.fields)
    for value, good in (({}, True), ({"a": 1, "b": 1}, True), ({"a": 1}, False), ({"c": 1}, False)):
        assert gathered.accepts(value) is good


def test_nested_all_of_is_one_object_unless_something_would_be_lost() -> None:
    inner = {
        "allOf": [
            {"type": "object", "properties": {"a": {}}},
            {"properties": {"b": {}}, "required": ["b"]},
        ]
    }
    flat = Gathered()
    flat.body({"allOf": [inner, {"type": "object", "properties": {"c": {}}}]})
    assert list(flat.schema["properties"]) == ["a", "b", "c"]
    assert flat.schema["required"] == ["b"]
    for more in (
        {"properties": {"a": {}}},
        {"anyOf": [{}, {}]},
        {"additionalProperties": {"type": "string"}},
    ):
        whole = Gathered()
        assert whole.body({"allOf": [inner, {"type": "object", **more}]}).whole == "body"


def test_files_of_a_form_are_base64_texts_alone_or_in_a_list() -> None:
    gathered = Gathered()
    file = {"type": "string", "format": "binary", "description": "the picture"}
    picture = {"type": "string", "contentMediaType": "image/png"}
    properties = {
        "one": file,
        "many": {"type": "array", "items": file},
        "other": picture,
        "name": {"type": "string"},
    }
    body = gathered.body({"type": "object", "properties": properties}, "multipart")
    assert body.files == {"one", "many", "other"}
    made = gathered.schema["properties"]
    assert made["one"] == {
        "type": "string",
        "description": "the picture",
        "contentEncoding": "base64",
    }
    assert made["many"]["items"]["contentEncoding"] == "base64"
    assert made["name"] == {"type": "string"}
