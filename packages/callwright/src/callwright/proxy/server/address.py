"""Maps a path of the proxy to its address upstream."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from callwright.nouns.errors import ConfigError

_PLAIN = re.compile(r"[!-\[\]-~]+")  # printable ASCII without blank and backslash
_ENCODINGS = 3  # a path may be encoded once for each server on its way
_SHORT = ("/chat/completions", "/completions", "/embeddings", "/models", "/responses")


def refused_target(path: str, query: str) -> str:
    """Return the reason why no request is passed to this path; "" if it may be. Servers and proxies
    read dot segments, encoded ones and backslashes in different ways. Such a path could end outside
    the part that somebody opened to others.
    """
    if not path.startswith("/") or not _PLAIN.fullmatch(path + query):
        return "the path is none, or holds characters that must be percent-encoded"
    decoded = path
    for _ in range(_ENCODINGS):
        decoded = unquote(decoded, "latin-1")
    if any(segment.partition(";")[0] in (".", "..") for segment in re.split(r"[/\\]", decoded)):
        return "the path holds dot segments"
    return ""


def normalize_path(path: str) -> str:
    """The path as the most lenient server reads it: decoded, in lower case, without repeated and
    last slashes.
    """
    for _ in range(_ENCODINGS):
        path = unquote(path, "latin-1")
    return re.sub(r"/+", "/", path).rstrip("/").lower()


class Upstream:
    """One OpenAI-compatible endpoint. ``url`` is its base with or without ``/v1``, as people have
    it.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(
                f"{url!r} is no address of an endpoint", hint="write it as http://host:8000/v1"
            )
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ConfigError(
                f"the address of the endpoint at {parts.hostname} must be plain: no password, query"
                " or fragment",
                hint="clients send their keys themselves; the proxy passes them on",
            )
        path = parts.path.rstrip("/").removesuffix(
            "/chat/completions"
        )  # some copy the address of a request
        plain = f"{parts.scheme}://{parts.netloc}{path}"
        self.base = plain if path else f"{plain}/v1"
        self.root = re.sub(r"/v\d+\Z", "", self.base)

    def url(self, path: str, query: str = "") -> str:
        """``/v1/…`` lies under the base, everything else beside it."""
        if path == "/v1" or path.startswith("/v1/"):
            found = self.base + path[3:]
        elif path.startswith(_SHORT):
            found = self.base + path
        else:
            found = self.root + path
        return f"{found}?{query}" if query else found
