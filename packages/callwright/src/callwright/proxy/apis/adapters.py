"""The APIs that clients speak to the proxy, each turned into chat completions and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from callwright.nouns.types import JsonObject
from callwright.proxy.apis.anthropic import Anthropic, count_tokens
from callwright.proxy.apis.functions import Functions
from callwright.proxy.apis.ollama import Ollama
from callwright.proxy.apis.responses import Responses
from callwright.proxy.session.answers.sse import COMMENT


class Writer(Protocol):
    """Turns a chat completion, whole or streamed, into another API's answer as it comes. Pure."""

    @property
    def keep_alive(self) -> bytes:
        """Return the bytes that keep an idle stream alive; empty if the API has none."""

    def head(self, status: int, headers: dict[str, str]) -> dict[str, str]:
        """The client's headers for an upstream answer's status and headers (lower case names)."""

    def feed(self, data: bytes) -> bytes:
        """Return a piece of the chat completion in the client's format."""

    def end(self) -> bytes:
        """The rest, when the chat completion is complete."""


class Plain:
    """The client speaks chat completions itself: nothing is turned into anything."""

    keep_alive = COMMENT

    def head(self, status: int, headers: dict[str, str]) -> dict[str, str]:  # noqa: ARG002
        return headers

    def feed(self, data: bytes) -> bytes:
        return data

    def end(self) -> bytes:
        return b""


class Front(Protocol):
    """One API: requests in, a writer for the answers out."""

    def request(self, body: JsonObject) -> JsonObject:
        """The chat request that a request means. Raises BadRequest."""

    def writer(self, body: JsonObject) -> Writer:
        """A writer for the answer to this request."""

    def error(self, status: int, message: str) -> bytes:
        """An error of the proxy's own in this API's shape."""


FRONTS: dict[str, Front] = {
    "/v1/messages": Anthropic(),
    "/v1/responses": Responses(),
    "/responses": Responses(),
    "/api/chat": Ollama(),
}

OLDER: Front = Functions()
"""The front of chat requests with functions in the place of tools, under their own paths."""

ANSWERS: dict[str, Callable[[JsonObject], bytes]] = {"/v1/messages/count_tokens": count_tokens}
"""What the proxy answers itself."""
