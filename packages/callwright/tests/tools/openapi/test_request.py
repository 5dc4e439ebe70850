from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.types import READ
from callwright.tools.openapi.binding import Binding, Body, Field, Place
from callwright.tools.openapi.request import BadArgument, Request, build_request

COLOURS = ["blue", "black", "brown"]
RGB = {"R": 100, "G": 200, "B": 150}


def request(place: Place, value: Any, **options: Any) -> Request:
    path = "/a/{color}/z" if place == "path" else "/a"
    options.setdefault("explode", options.get("style", "form") in ("form", "deepObject"))
    f = Field("color", "color", place, True, **options)
    return build_request(Binding("GET", path, (f,), None, READ), {"color": value})


@pytest.mark.parametrize(
    ("style", "explode", "value", "text"),
    [  # the table of OpenAPI 3.1.1, section 4.8.12.3
        ("matrix", False, "blue", ";color=blue"),
        ("matrix", False, COLOURS, ";color=blue,black,brown"),
        ("matrix", True, COLOURS, ";color=blue;color=black;color=brown"),
        ("matrix", False, RGB, ";color=R,100,G,200,B,150"),
        ("matrix", True, RGB, ";R=100;G=200;B=150"),
        ("label", False, "blue", ".blue"),
        ("label", False, COLOURS, ".blue,black,brown"),
        ("label", True, COLOURS, ".blue.black.brown"),
        ("label", True, RGB, ".R=100.G=200.B=150"),
        ("simple", False, "blue", "blue"),
        ("simple", False, COLOURS, "blue,black,brown"),
        ("simple", False, RGB, "R,100,G,200,B,150"),
        ("simple", True, RGB, "R=100,G=200,B=150"),
        ("simple", False, True, "true"),
        ("simple", False, 12.5, "12.5"),
    ],
)
def test_path_styles_follow_the_specification(
    style: str, explode: bool, value: Any, text: str
) -> None:
    assert request("path", value, style=style, explode=explode).path == f"/a/{text}/z"


@pytest.mark.parametrize(
    ("style", "explode", "value", "text"),
    [
        ("form", True, "blue", "color=blue"),
        ("form", False, COLOURS, "color=blue,black,brown"),
        ("form", True, COLOURS, "color=blue&color=black&color=brown"),
        ("form", False, RGB, "color=R,100,G,200,B,150"),
        ("form", True, RGB, "R=100&G=200&B=150"),
        ("spaceDelimited", False, COLOURS, "color=blue%20black%20brown"),
        ("pipeDelimited", False, COLOURS, "color=blue%7Cblack%7Cbrown"),
        ("pipeDelimited", False, RGB, "color=R%7C100%7CG%7C200%7CB%7C150"),
        ("deepObject", True, RGB, "color[R]=100&color[G]=200&color[B]=150"),
        ("deepObject", True, {"a": {"b": [1, 2]}}, "color[a][b]=1&color[a][b]=2"),
        ("form", True, [], ""),
        ("form", True, None, ""),
        ("form", True, "a&b=c#d e/\u00e9", "color=a%26b%3Dc%23d%20e%2F%C3%A9"),
    ],
)
def test_query_styles_follow_the_specification(
    style: str, explode: bool, value: Any, text: str
) -> None:
    assert request("query", value, style=style, explode=explode).query == text


def test_reserved_characters_stay_only_where_they_cannot_end_the_value() -> None:
    assert request("query", "a/b?c&d#e", reserved=True).query == "color=a/b?c%26d%23e"


def test_parameters_declared_by_content_are_json() -> None:
    assert unquote(request("query", {"a": [1]}, as_json=True).query) == 'color={"a":[1]}'
    assert request("header", {"a": "\u00e9"}, as_json=True).headers["color"] == '{"a":"\\u00e9"}'


def test_cookies_and_headers_are_written_in_their_style() -> None:
    assert request("cookie", "a; b=c").cookies == (("color", "a%3B%20b%3Dc"),)
    assert request("header", COLOURS, style="simple").headers["color"] == "blue,black,brown"
    assert (
        request("header", RGB, style="simple", explode=True).headers["color"] == "R=100,G=200,B=150"
    )


WAYS_OUT: list[Any] = [
    "..",
    ".",
    "../admin",
    "../../etc/passwd",
    "a/../b",
    "a/..",
    "..\\admin",
    "%2e%2e",
    "%2e%2e%2fadmin",
    "..%2fx",
]
WAYS_OUT += [
    "%252e%252e%252f",
    "..;/admin",
    "..;x",
    "",
    "a\r\nHost: evil",
    "a\0b",
    "%0d%0aX: 1",
    "./x",
    ".%2e/",
    "x/./y",
    " ..",
    None,
]


@pytest.mark.parametrize("value", WAYS_OUT)
@pytest.mark.parametrize("style", ["simple", "label", "matrix"])
def test_a_path_value_that_could_lead_elsewhere_is_refused(value: Any, style: str) -> None:
    """The regression test of CVE-2026-32871: a path parameter must not reach another operation."""
    for given_value in (value, ["ok", value], {"k": value}):
        with pytest.raises(BadArgument):
            request("path", given_value, style=style)


@pytest.mark.parametrize(
    ("value", "segment"),
    [
        ("a/b", "a%2Fb"),
        ("a?b#c", "a%3Fb%23c"),
        ("a;b", "a%3Bb"),
        ("100%", "100%25"),
        ("\u65e5\u672c", "%E6%97%A5%E6%9C%AC"),
        ("v1..2", "v1..2"),
        ("//", "%2F%2F"),
        ("\ud800", "%3F"),
        ("a b", "a%20b"),
        ("\u2024\u2024", "%E2%80%A4%E2%80%A4"),
    ],
)
def test_other_path_values_stay_one_segment(value: str, segment: str) -> None:
    assert request("path", value, style="simple").path == f"/a/{segment}/z"


@settings(deadline=None)
@given(
    st.text(max_size=30) | st.lists(st.text(max_size=8), max_size=3),
    st.sampled_from(["simple", "label", "matrix"]),
)
def test_no_path_value_changes_the_number_of_segments(value: Any, style: str) -> None:
    try:
        path = request("path", value, style=style).path
    except BadArgument:
        return
    before, segment, after = path[1:].split("/")
    assert (before, after) == ("a", "z")
    assert set(segment) <= set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%;=,"
    )
    assert unquote(segment) not in ("", ".", "..")


@pytest.mark.parametrize("path", ["/x/../{a}", "/x/%2e%2e/{a}", "/./{a}"])
def test_a_path_of_the_document_that_climbs_is_refused(path: str) -> None:
    with pytest.raises(BadArgument, match="another path"):
        build_request(
            Binding("GET", path, (Field("a", "a", "path", True, "simple", False),), None, READ),
            {"a": "v"},
        )


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\0", ["a", "b\r\n"], {"k\n": 1}])
def test_headers_cannot_be_injected(value: Any) -> None:
    with pytest.raises(BadArgument, match="line breaks"):
        request("header", value, style="simple")


def test_missing_and_unknown_arguments_are_named() -> None:
    binding = Binding("GET", "/a", (Field("q", "q", "query", True),), None, READ)
    with pytest.raises(BadArgument, match="'q' is required"):
        build_request(binding, {})
    with pytest.raises(BadArgument, match="no parameter 'z'"):
        build_request(binding, {"q": 1, "z": 2})


def body(kind: Any, arguments: Any, *, whole: str = "", **options: Any) -> Request:
    fields = tuple(Field(k, k, "body") for k in arguments)
    return build_request(
        Binding(
            "POST",
            "/a",
            fields,
            Body(kind, options.pop("media", "x/y"), True, whole, **options),
            READ,
        ),
        arguments,
    )


def test_bodies_are_written_in_their_media_type() -> None:
    assert body("json", {"a": 1, "b": None}, media="application/json").body == b'{"a":1,"b":null}'
    assert (
        body("json", {"body": [1]}, whole="body", media="*/*").headers["content-type"]
        == "application/json"
    )
    form = body("form", {"a": "x y&", "b": [1, 2], "c": {"d": 1}})
    assert form.body == b"a=x%20y%26&b=1&b=2&c=%7B%22d%22%3A1%7D"
    assert (
        body("text", {"body": "h\u00e9"}, whole="body", media="text/plain").body
        == "h\u00e9".encode()
    )
    assert body("bytes", {"body": "AAE="}, whole="body").body == b"\0\1"
    with pytest.raises(BadArgument, match="base64"):
        body("bytes", {"body": "not base64!"}, whole="body")


def test_a_body_that_need_not_be_sent_is_left_out() -> None:
    binding = Binding(
        "POST", "/a", (Field("a", "a", "body"),), Body("json", "application/json", False), READ
    )
    assert build_request(binding, {}).body is None
    assert build_request(binding, {"a": 1}).body == b'{"a":1}'


def test_multipart_parts_cannot_break_out_of_their_names_or_boundary() -> None:
    made = body(
        "multipart", {'a"\r\nX: 1': "v", "f": "AAE=", "o": {"k": 1}}, files=frozenset({"f"})
    )
    assert made.body is not None
    boundary = made.headers["content-type"].partition("boundary=")[2].encode()
    parts = made.body.split(b"--" + boundary)
    assert len(parts) == 5
    assert b'name="a%22%0D%0AX: 1"\r\n\r\nv\r\n' in parts[1]
    assert b'filename="f"' in parts[2]
    assert parts[2].endswith(b"\r\n\r\n\0\1\r\n")
    assert b'application/json\r\n\r\n{"k":1}' in parts[3]


def test_a_part_has_the_media_type_that_the_document_gives_it() -> None:
    given = {"f": "AAE=", "t": "x", "many": "AAE="}
    encoding = {
        "f": {"contentType": "image/png"},
        "t": {"contentType": "text/csv"},
        "many": {"contentType": "image/png, image/jpeg\r\nX: 1"},
    }
    made = body("multipart", given, files=frozenset({"f", "many"}), encoding=encoding)
    assert made.body is not None
    assert b"Content-Type: image/png\r\n\r\n\0\1" in made.body
    assert b'name="t"\r\nContent-Type: text/csv\r\n\r\nx' in made.body
    assert b'"many"\r\nContent-Type: application/octet-stream\r\n\r\n' in made.body


def test_values_that_json_cannot_carry_are_refused() -> None:
    for value in (float("nan"), {"a": float("inf")}):
        with pytest.raises(BadArgument, match="JSON"):
            body("json", {"a": value}, media="application/json")


@pytest.mark.parametrize(
    ("path", "name", "sent"),
    [
        (".evil.example/steal", "", "/.evil.example/steal"),
        ("@evil.example", "", "/@evil.example"),
        ("{x}", "x", "/.evil.example"),
        ("/a/{größe}", "größe", "/a/.evil.example"),
        ("/a/{pet id}.json", "pet id", "/a/.evil.example.json"),
        ("/é/{x}", "x", "/%C3%A9/.evil.example"),
        ("", "", ""),
    ],
)
def test_a_path_stays_behind_its_host_and_takes_any_name(path: str, name: str, sent: str) -> None:
    fields = (Field("key", name, "path", True, "simple", False),) if name else ()
    binding = Binding("GET", path, fields, None, READ)
    assert build_request(binding, {"key": ".evil.example"} if name else {}).path == sent
