"""A binding is all that a request needs: what it says about an argument is what happens to it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, get_args
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import READ
from callwright.tools.openapi.binding import Binding, Body, Field, Place, is_json
from callwright.tools.openapi.request import BadArgument, build_request

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(
    lambda t: t.strip() == t and t.strip(".") and "%" not in t and "/" not in t and "\\" not in t
)


def binding(*fields: Field, body: Body | None = None, path: str = "/a") -> Binding:
    return Binding("POST", path, fields, body, READ)


@pytest.mark.parametrize(
    "media_type",
    [
        *(
            "application/json",
            "APPLICATION/JSON",
            "application/json; charset=utf-8",
            " application/json ",
        ),
        *("application/vnd.api+json", "application/problem+json;x=1", "*/*", "application/*"),
    ],
)
def test_media_types_and_ranges_that_can_be_json(media_type: str) -> None:
    assert is_json(media_type)


@pytest.mark.parametrize(
    "media_type",
    [
        "",
        "text/plain",
        "text/*",
        "application/xml",
        "application/jsonl",
        "application/json-seq",
        "json",
        "a/b+jsonx",
    ],
)
def test_media_types_that_cannot(media_type: str) -> None:
    assert not is_json(media_type)


@given(TEXT, TEXT, TEXT, TEXT, TEXT)
def test_every_argument_goes_to_its_place_under_the_apis_name_and_nowhere_else(
    path: str, query: str, header: str, cookie: str, body: str
) -> None:
    made = binding(
        Field("p", "id", "path", required=True, style="simple", explode=False),
        Field("q", "filter[name]", "query"),
        Field("h", "X-Header", "header", style="simple", explode=False),
        Field("c", "session", "cookie"),
        Field("b", "title", "body"),
        body=Body("json", "application/json", True),
        path="/items/{id}/x",
    )
    request = build_request(made, {"p": path, "q": query, "h": header, "c": cookie, "b": body})
    assert unquote(request.path) == f"/items/{path}/x"
    assert parse_qsl(request.query.replace("+", "%2B"), keep_blank_values=True) == [
        ("filter[name]", query)
    ]
    assert set(request.headers) == {"x-header", "accept", "content-type"}
    assert [(name, unquote(value)) for name, value in request.cookies] == [("session", cookie)]
    assert json.loads(request.body or b"") == {"title": body}


@pytest.mark.parametrize("place", get_args(Place))
def test_what_is_required_is_asked_for_and_what_is_unknown_refused_whatever_the_place(
    place: Any,
) -> None:
    body = Body("json", "application/json", True) if place == "body" else None
    made = binding(
        Field("key", "name", place, required=True),
        body=body,
        path="/{name}" if place == "path" else "/a",
    )
    with pytest.raises(BadArgument, match="'key' is required"):
        build_request(made, {})
    with pytest.raises(BadArgument, match="there is no parameter 'name'"):
        build_request(made, {"key": "x", "name": "y"})


def test_a_body_is_its_one_argument_or_an_object_of_its_fields() -> None:
    whole = binding(
        Field("b", "body", "body"), body=Body("json", "application/json", True, whole="b")
    )
    assert json.loads(build_request(whole, {"b": [1, 2]}).body or b"") == [1, 2]
    parts = binding(
        Field("x", "a", "body"),
        Field("y", "b", "body"),
        body=Body("json", "application/json", True),
    )
    assert json.loads(build_request(parts, {"x": 1, "y": 2}).body or b"") == {"a": 1, "b": 2}
    assert build_request(replace(parts, fields=(), body=None), {}).body is None


def test_a_field_says_nothing_but_its_place_and_is_written_as_openapi_writes_a_query() -> None:
    made = binding(Field("q", "q", "query"))
    assert build_request(made, {"q": ["a", "b c"]}).query == "q=a&q=b%20c"
    together = replace(made, fields=(Field("q", "q", "query", explode=False),))
    assert build_request(together, {"q": ["a", "b c"]}).query == "q=a,b%20c"
    as_json = replace(made, fields=(Field("q", "q", "query", as_json=True),))
    assert json.loads(
        unquote(build_request(as_json, {"q": ["a", "b c"]}).query.removeprefix("q="))
    ) == [
        "a",
        "b c",
    ]
