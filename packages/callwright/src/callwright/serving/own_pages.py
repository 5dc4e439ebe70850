"""The pages that a server of ours has beside what it serves: their headers, and the login."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import parse_qs

from callwright.serving.access import COOKIE, Access
from callwright.viewer.document import build_policy, render_document
from callwright.viewer.markup import html

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Answer: TypeAlias = tuple[int, Sequence[tuple[str, str]], bytes]
"""Status, headers and body."""

LOGIN_BYTES = 4_000  # of the form of a login
JSON, TEXT, HTML = (
    "application/json",
    "text/plain; version=0.0.4; charset=utf-8",
    "text/html; charset=utf-8",
)
_SAFE = (
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
)


def build_safe_headers(policy: str) -> tuple[tuple[str, str], ...]:
    """The headers of a page with this content security policy."""
    return (("content-security-policy", f"{policy}; frame-ancestors 'none'"), *_SAFE)


STRICT = build_safe_headers(build_policy(form=True))


def build_answer(kind: str, body: bytes, more: Sequence[tuple[str, str]] = ()) -> Answer:
    """A page that was found."""
    return 200, (("content-type", kind), *STRICT, *more), body


def render_login(path: str, message: str, access: Access) -> str:
    """The form that asks for the server's key; ``message`` says what was wrong with the last
    one.
    """
    body = html(
        '<h1>Callwright {what}</h1><p>{message}</p><form method="post"'
        ' action="{path}"><label>{variable} <input type="password" name="key"'
        ' autocomplete="current-password" autofocus></label> <button>Open</button></form>',
        what=access.what,
        message=message
        or f"These pages show conversations. Enter the key of the {access.what} to see them.",
        path=path,
        variable=access.variable,
    )
    return render_document(access.what.capitalize(), [body], form=True)


def build_login(path: str, message: str, access: Access) -> Answer:
    """The answer to a browser that has no key yet."""
    headers = (("content-type", HTML), *STRICT, ("www-authenticate", "Bearer"))
    return 401, headers, render_login(path, message, access).encode()


def read_login(body: bytes, access: Access, pages: str) -> Answer | None:
    """The answer to the right key: the cookie for the ``pages``, the path of them all. None for a
    wrong one.
    """
    form = parse_qs(body[:LOGIN_BYTES].decode("latin-1"), encoding="latin-1")
    if not access.opens(form.get("key", [""])[0].encode("latin-1")):
        return None
    cookie = f"{COOKIE}={access.page_key.reveal()}; Path={pages}; HttpOnly; SameSite=Strict"
    return 303, (("location", pages), ("set-cookie", cookie), *STRICT), b""


def encode_headers(headers: Sequence[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """Headers as ASGI has them."""
    return [(k.encode("latin-1", "replace"), v.encode("latin-1", "replace")) for k, v in headers]


async def send_answer(
    send: Send, status: int, headers: Sequence[tuple[str, str]], body: bytes
) -> None:
    """Send a whole response."""
    given = [*headers, ("content-length", str(len(body)))]
    await send({"type": "http.response.start", "status": status, "headers": encode_headers(given)})
    await send({"type": "http.response.body", "body": body, "more_body": False})
