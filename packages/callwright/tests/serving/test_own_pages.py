from __future__ import annotations

from callwright.models.secret import Secret
from callwright.serving.access import Access
from callwright.serving.own_pages import (
    STRICT,
    build_answer,
    build_login,
    encode_headers,
    read_login,
    send_answer,
)

GATEWAY = Access(
    Secret("k" * 16), page_key=Secret("made"), what="gateway", variable="CALLWRIGHT_GATEWAY_KEY"
)


def test_a_page_may_load_nothing_and_is_kept_nowhere() -> None:
    status, headers, body = build_answer("text/plain", b"one", [("link", "next")])
    assert (status, body) == (200, b"one")
    assert dict(headers)["cache-control"] == "no-store"
    assert "default-src 'none'" in dict(STRICT)["content-security-policy"]
    assert dict(headers)["link"] == "next"


def test_the_login_names_the_server_and_the_variable_of_its_key() -> None:
    status, headers, body = build_login("/callwright/login", "", GATEWAY)
    assert (status, dict(headers)["www-authenticate"]) == (401, "Bearer")
    assert b"Callwright gateway" in body
    assert b"CALLWRIGHT_GATEWAY_KEY" in body


def test_only_the_right_key_opens_the_pages() -> None:
    opened = read_login(b"key=" + b"k" * 16, GATEWAY, "/callwright")
    assert opened is not None
    assert dict(opened[1])["location"] == "/callwright"
    assert "HttpOnly" in dict(opened[1])["set-cookie"]
    assert read_login(b"key=no", GATEWAY, "/callwright") is None
    assert read_login(b"", Access(), "/callwright") is None, "without a key there is no login"


async def test_an_answer_is_sent_whole_with_its_length() -> None:
    sent = []

    async def send(message: object) -> None:
        sent.append(message)

    await send_answer(send, 200, [("a", "b")], b"12345")
    assert encode_headers([("a", "\u2028")]) == [(b"a", b"?")]
    assert sent == [
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"a", b"b"), (b"content-length", b"5")],
        },
        {"type": "http.response.body", "body": b"12345", "more_body": False},
    ]
