from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from callwright.nouns.types import READ, Tool
from callwright.tools.openapi.binding import Binding
from callwright.tools.openapi.document import Unusable, document_of
from callwright.tools.openapi.operation import Importer


def imported(
    operation: Any,
    path: str = "/a",
    method: str = "get",
    *,
    trusted: bool = True,
    item: Any = None,
    **root: Any,
) -> tuple[Tool, Binding]:
    document = document_of({"openapi": "3.0.3", "paths": {}, **root}, "test")
    made = Importer(document, source="openapi test", trusted=trusted).tool(
        "t", method, path, item or {}, operation
    )
    jsonschema_rs.Draft202012Validator(made[0].input_schema)
    return made


def param(name: str, place: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "in": place,
        "schema": {"type": "string"},
        **({"required": True} if place == "path" else {}),
        **more,
    }


def json_body(schema: Any, **more: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}, **more}


def test_parameters_and_body_become_one_schema() -> None:
    operation = {
        "parameters": [
            param("limit", "query"),
            param("id", "path"),
            param("X-Trace", "header"),
            param("s", "cookie"),
        ],
        "requestBody": json_body(
            {"type": "object", "properties": {"name": {}, "tag": {}}, "required": ["name"]},
            required=True,
        ),
    }
    tool, binding = imported(operation, "/a/{id}", "post")
    assert list(tool.input_schema["properties"]) == ["id", "limit", "X-Trace", "s", "name", "tag"]
    assert tool.required == ("id", "name")
    assert tool.input_schema["additionalProperties"] is False
    assert [f.place for f in binding.fields] == [
        "path",
        "query",
        "header",
        "cookie",
        "body",
        "body",
    ]


def test_names_that_clash_get_their_place_in_a_fixed_order() -> None:
    operation = {
        "parameters": [
            param("id", "cookie"),
            param("id", "header"),
            param("id", "query"),
            param("id", "path"),
        ],
        "requestBody": json_body({"type": "object", "properties": {"id": {}, "id_query": {}}}),
    }
    tool, binding = imported(operation, "/a/{id}", "post")
    keys = ["id", "id_query", "id_header", "id_cookie", "id_body", "id_query_body"]
    assert list(tool.properties) == keys
    assert [f.name for f in binding.fields] == ["id"] * 5 + ["id_query"]


def test_names_that_no_model_may_write_are_made_plain() -> None:
    tool, binding = imported(
        {
            "parameters": [
                param("filter[name]", "query"),
                param("$top", "query"),
                param("\u00e9", "query"),
            ]
        }
    )
    assert list(tool.properties) == ["filter_name", "top", "query"]
    assert [f.name for f in binding.fields] == ["filter[name]", "$top", "\u00e9"]


def test_the_operations_parameters_replace_those_of_its_path() -> None:
    item = {"parameters": [param("q", "query", description="old"), param("id", "path")]}
    tool, _ = imported(
        {"parameters": [param("q", "query", description="new")]}, "/a/{id}", item=item
    )
    assert tool.properties["q"]["description"] == "new"
    assert tool.required == ("id",)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {}},
        {"type": "string"},
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": True},
        {"type": "object", "properties": {"a": {}}, "required": ["undeclared"]},
        {"properties": {"a": {}}, "anyOf": [{"required": ["a"]}]},
        {"oneOf": [{"type": "object", "properties": {"a": {}}}, {"type": "array"}]},
    ],
)
def test_a_body_that_is_no_plain_object_is_one_argument(schema: Any) -> None:
    tool, binding = imported({"requestBody": json_body(schema, required=True)}, method="post")
    assert tool.required == ("body",)
    assert binding.body is not None
    assert binding.body.whole == "body"


def test_all_of_with_different_properties_is_one_object() -> None:
    base = {"type": "object", "properties": {"id": {}}, "required": ["id"]}
    more = {"type": "object", "properties": {"name": {}}, "required": ["name"]}
    schema = {"allOf": [{"$ref": "#/components/schemas/Base"}, more], "description": "d"}
    body = json_body(schema, required=True)
    tool, _ = imported({"requestBody": body}, method="post", components={"schemas": {"Base": base}})
    assert list(tool.properties) == ["id", "name"]
    assert tool.required == ("id", "name")
    clash = json_body(
        {"allOf": [base, {**base, "properties": {"id": {"type": "string"}}}]}, required=True
    )
    assert list(imported({"requestBody": clash}, method="post")[0].properties) == ["body"]


def test_an_optional_body_asks_for_its_required_parts_together() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "required": ["a", "b"]}
    tool, _ = imported({"requestBody": json_body(schema)}, method="post")
    validator = jsonschema_rs.Draft202012Validator(tool.input_schema)
    assert [validator.is_valid(v) for v in ({}, {"a": 1, "b": 1}, {"a": 1}, {"c": 1})] == [
        True,
        True,
        False,
        False,
    ]


def test_recursive_bodies_keep_their_definitions_where_references_point() -> None:
    node = {
        "type": "object",
        "properties": {"child": {"$ref": "#/components/schemas/Node"}, "n": {"type": "integer"}},
    }
    tool, _ = imported(
        {"requestBody": json_body({"$ref": "#/components/schemas/Node"}, required=True)},
        method="post",
        components={"schemas": {"Node": node}},
    )
    validator = jsonschema_rs.Draft202012Validator(tool.input_schema)
    assert validator.is_valid(
        {"body": {"child": {"n": 1}}} if "body" in tool.properties else {"child": {"n": 1}}
    )
    assert not validator.is_valid(
        {"body": {"child": {"n": "x"}}} if "body" in tool.properties else {"child": {"n": "x"}}
    )


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ({"application/xml": {}, "application/json": {}}, "json"),
        ({"text/plain": {}, "application/vnd.api+json": {}}, "json"),
        ({"multipart/form-data": {}, "application/x-www-form-urlencoded": {}}, "form"),
        ({"text/csv": {}}, "text"),
        ({"application/octet-stream": {}}, "bytes"),
    ],
)
def test_the_body_is_written_in_the_best_known_media_type(content: Any, kind: str) -> None:
    _, binding = imported({"requestBody": {"content": content}}, method="post")
    assert binding.body is not None
    assert binding.body.kind == kind


def test_binary_parts_of_a_form_are_base64_arguments() -> None:
    schema = {
        "type": "object",
        "properties": {"f": {"type": "string", "format": "binary"}, "n": {"type": "string"}},
    }
    tool, binding = imported(
        {"requestBody": {"content": {"multipart/form-data": {"schema": schema}}}}, method="post"
    )
    assert tool.properties["f"] == {"type": "string", "contentEncoding": "base64"}
    assert binding.body is not None
    assert binding.body.files == {"f"}


@pytest.mark.parametrize(
    ("operation", "path", "reason"),
    [
        ({}, "/a/{id}", "'id' is not declared"),
        ({"parameters": [param("q", "query", style="matrix")]}, "/a", "style"),
        ({"parameters": [{"in": "query"}]}, "/a", "malformed"),
        ({"parameters": [param("q", "body")]}, "/a", "malformed"),
        ({"parameters": [{"$ref": "#/nowhere"}]}, "/a", "points at nothing"),
        ({"parameters": [{"$ref": "http://evil.test/p"}]}, "/a", "nothing is fetched"),
        ({"parameters": [param("Host", "header")]}, "/a", "belongs to the connection"),
        (
            {"requestBody": {"content": {"application/xml": {}}}},
            "/a",
            "application/xml, which is not supported",
        ),
        ("nonsense", "/a", "not an object"),
    ],
)
def test_what_cannot_be_imported_says_why(operation: Any, path: str, reason: str) -> None:
    with pytest.raises(Unusable, match=reason):
        imported(operation, path)


def test_header_parameters_that_openapi_reserves_are_ignored() -> None:
    names = ("Accept", "content-type", "AUTHORIZATION", "X-Own")
    tool, _ = imported({"parameters": [param(n, "header") for n in names]})
    assert list(tool.properties) == ["X-Own"]


def test_the_first_successful_json_response_is_the_output_schema() -> None:
    def response(kind: str, media: str = "application/json") -> Any:
        return {"content": {media: {"schema": {"type": kind}}}}

    tool, _ = imported(
        {
            "responses": {
                "404": response("null"),
                "201": response("array"),
                "200": response("object"),
            }
        }
    )
    assert tool.output_schema == {"type": "object"}
    assert imported({"responses": {"default": response("object")}})[0].output_schema is None
    assert imported({"responses": {"2XX": response("integer", "application/hal+json")}})[
        0
    ].output_schema == {"type": "integer"}
    assert imported({"responses": {"200": response("x", "text/html")}})[0].output_schema == {
        "type": "string"
    }


@pytest.mark.parametrize(
    ("method", "read_only", "destructive", "idempotent"),
    [
        *(("get", True, False, True), ("head", True, False, True), ("post", False, False, False)),
        *(("put", False, True, True), ("delete", False, True, True), ("patch", False, True, False)),
    ],
)
def test_effects_follow_the_method(
    method: str, read_only: bool, destructive: bool, idempotent: bool
) -> None:
    effects = imported({}, method=method)[0].effects
    assert (effects.read_only, effects.destructive, effects.idempotent) == (
        read_only,
        destructive,
        idempotent,
    )


def test_an_extension_overrides_effects_but_only_tightens_where_the_source_is_not_trusted() -> None:
    said = {"x-callwright-effects": {"read_only": True}}
    assert imported(said, method="post")[0].effects == READ
    assert imported(said, method="post", trusted=False)[0].effects.may_write
    tightened = imported({"x-callwright-effects": {"readOnlyHint": False}}, trusted=False)[
        0
    ].effects
    assert tightened.may_write


def test_descriptions_say_both_summary_and_description() -> None:
    tool, _ = imported({"summary": "Get it", "description": "All of it.", "deprecated": True})
    assert tool.description == "Deprecated.\n\nGet it\n\nAll of it."
    assert len(imported({"description": "x" * 9000})[0].description) == 1500
