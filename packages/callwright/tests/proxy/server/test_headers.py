from __future__ import annotations

from callwright.proxy.server.headers import (
    convert_api_key,
    filter_downstream,
    filter_upstream,
    join_repeated,
)


def test_headers_of_the_connection_stay_behind_and_the_others_pass() -> None:
    given = (
        ("host", "h"),
        ("connection", "close, x-mine"),
        ("x-mine", "1"),
        ("accept-encoding", "gzip"),
    )
    assert filter_upstream((*given, ("authorization", "k"), ("x-callwright-a", "b"))) == (
        ("authorization", "k"),
    )


def test_the_length_stays_only_where_the_body_stays() -> None:
    given = {"content-length": "3", "transfer-encoding": "chunked", "x-a": "b"}
    assert filter_downstream(given, length=True) == {"content-length": "3", "x-a": "b"}
    assert filter_downstream(given, length=False) == {"x-a": "b"}
    assert filter_downstream({**given, "content-encoding": "gzip"}, length=True) == {"x-a": "b"}


def test_an_anthropic_key_becomes_a_bearer_token() -> None:
    given = (("x-api-key", "k"), ("anthropic-version", "2023-06-01"), ("x-a", "b"))
    assert convert_api_key(given) == (("x-a", "b"), ("authorization", "Bearer k"))
    assert convert_api_key((("authorization", "Bearer j"), ("x-api-key", "k"))) == (
        ("authorization", "Bearer j"),
    )


def test_repeated_headers_are_joined_to_one_line() -> None:
    given = (("accept", "a"), ("cookie", "x=1"), ("accept", "b"), ("cookie", "y=2"))
    assert join_repeated(given) == {"accept": "a, b", "cookie": "x=1; y=2"}
