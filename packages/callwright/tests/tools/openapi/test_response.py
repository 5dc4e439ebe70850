from __future__ import annotations

from typing import Any

import pytest

from callwright.http import HttpResponse
from callwright.tools.openapi.response import output_of


def answer(status: int, body: bytes, content_type: str = "application/json", **headers: str) -> Any:
    response = HttpResponse(status, {"content-type": content_type, **headers}, body)
    return output_of(response, "GET /a", ("s3cret",), 0.0)


def test_content_is_json_text_or_base64() -> None:
    assert answer(200, b'{"a":1}').content == {"a": 1}
    assert answer(200, b'{"a":1}', "application/hal+json; charset=utf-8").content == {"a": 1}
    assert answer(200, b'{"a":1}', "text/json").content == {"a": 1}
    for kind in ("text/plain", "application/x-yaml", "application/vnd.oai+yaml", "image/svg+xml"):
        assert answer(200, b"hello", kind).content == "hello"
    assert answer(204, b"").content == {"status": 204}
    made = answer(201, b"", location="/things/5?key=s3cret").content
    assert made == {"status": 201, "location": "/things/5?key=[secret]"}
    assert answer(200, b"\0\1", "image/png").content == {
        "content_type": "image/png",
        "size": 2,
        "base64": "AAE=",
    }


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b'{"a":1}\n\n"\xc3\xa9"\r\n{"key":"s3cret"\n', "application/x-ndjson"),
        (b'\xef\xbb\xbf{"a":1}\n"\xc3\xa9"\n{"key":"s3cret"', "application/jsonl"),
        (b'{"a":1}\n"\xe9"\n{"key":"s3cret"', "Application/JSONL; charset=latin-1"),
        (b'\x1e{"a":\n1}\n\x1e"\xc3\xa9"\n\x1e{"key":"s3cret"', "application/json-seq"),
        (b'\x1e{"a":1}\x1e"\xc3\xa9"\x1e{"key":"s3cret"', "application/geo+json-seq"),
        (b'{"a":1}\n"\xc3\xa9"\n{"key":"s3cret"', "application/stream+json"),
    ],
)
def test_json_of_several_lines_is_a_list_and_a_broken_line_stays_text(
    body: bytes, content_type: str
) -> None:
    made = answer(200, body, content_type)
    assert made.content == [{"a": 1}, "\xe9", '{"key":"[secret]"']


@pytest.mark.parametrize(
    "body", [b"{", b"{'a':1}", b"[1,]", b"NaN", b"\xff", b'{"a":1} x', b"<html>"]
)
def test_json_that_is_broken_is_a_failure_whose_outcome_is_unknown(body: bytes) -> None:
    failure = answer(200, body).failure
    assert failure.kind == "tool_error"
    assert failure.outcome_unknown


@pytest.mark.parametrize(
    ("status", "body", "kind", "says"),
    [
        (404, b'{"message":"Not Found"}', "tool_error", "GET /a answered 404: Not Found"),
        (401, b'{"status_message":"Invalid API key","success":false}', "auth", "Invalid API key"),
        (
            422,
            b'{"detail":[{"type":"missing","loc":["query","place"],"msg":"Field required"}]}',
            "tool_error",
            "query.place: Field required",
        ),
        (
            400,
            b'{"day":["Enter a valid date.","It is past."]}',
            "tool_error",
            "day: Enter a valid date. It is past.",
        ),
        (
            422,
            b'{"detail":[{"loc":["query","q"],"msg":"x","message":"missing"}]}',
            "tool_error",
            "query.q: missing",
        ),
        (400, b'{"error":{"message":"bad","code":3}}', "tool_error", "bad"),
        (429, b"", "rate_limit", "GET /a answered 429"),
        (503, b"<html>", "unavailable", "GET /a answered 503"),
        (400, b'{"title":"T","detail":"D"}', "tool_error", "D; T"),
        (400, b"[" * 2000, "tool_error", "GET /a answered 400"),
    ],
)
def test_an_error_status_says_what_the_server_said(
    status: int, body: bytes, kind: str, says: str
) -> None:
    failure = answer(status, body).failure
    assert (failure.kind, failure.status) == (kind, status)
    assert says in failure.message


def test_plain_text_errors_are_read_and_long_ones_cut() -> None:
    failure = answer(400, b"x" * 9000, "text/plain").failure
    assert len(failure.message) < 600


def test_retry_after_is_kept_for_whoever_decides() -> None:
    assert answer(429, b"{}", **{"retry-after": "9"}).failure.detail == {"retry_after": 9.0}


def test_secrets_that_a_server_echoes_are_taken_out() -> None:
    assert answer(200, b'{"url":"/?key=s3cret","s3cret":["s3cret"]}').content == {
        "url": "/?key=[secret]",
        "[secret]": ["[secret]"],
    }
    assert answer(200, b"s3cret", "text/plain").content == "[secret]"
    failure = answer(400, b'{"message":"key s3\\u0063ret is wrong"}').failure
    assert "s3cret" not in str(failure)


def test_json_may_begin_with_a_byte_order_mark_and_have_the_charset_that_is_declared() -> None:
    assert answer(200, b'\xef\xbb\xbf{"a":1}').content == {"a": 1}
    latin = "application/json; charset=iso-8859-1"
    assert answer(200, '{"a":"ü"}'.encode("latin-1"), latin).content == {"a": "ü"}
    assert "bad" in answer(400, b'\xef\xbb\xbf{"message":"bad"}').failure.message


def test_of_an_answer_that_cannot_be_read_the_beginning_is_told() -> None:
    said = answer(200, b"<html>\n  s3cret log in" + b"x" * 900).failure.message
    assert "it begins: <html> [secret] log in" in said
    assert len(said) < 300
