"""Builds the upstream requests for one client request: always with its path, query and key."""

from __future__ import annotations

from dataclasses import dataclass

from callwright.nouns.types import JsonObject
from callwright.proxy.server import headers
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.events import Headers, Request, SendUpstream

CHAT = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Outbound:
    """``translated``: the client speaks another API, so chat completions are asked in its place."""

    request: Request
    translated: bool = False

    @property
    def headers(self) -> Headers:
        """The client's headers as far as they go upstream; the key of another API as a bearer
        token.
        """
        given = headers.filter_upstream(self.request.headers)
        return headers.convert_api_key(given) if self.translated else given

    def unchanged(self) -> SendUpstream:
        """The request as it came."""
        asked = self.request
        return SendUpstream(
            asked.method,
            asked.path,
            asked.query,
            headers.filter_upstream(asked.headers),
            asked.body,
        )

    def chat(self, body: bytes) -> SendUpstream:
        """A chat completion in the request's place; what the query of another API means is not
        known upstream.
        """
        path, query = (CHAT, "") if self.translated else (self.request.path, self.request.query)
        return SendUpstream(self.request.method, path, query, self.headers, body)

    def question(self, body: JsonObject) -> SendUpstream:
        """A question of our own, whose answer is wanted whole."""
        return self.chat(json_bytes({**body, "stream": False}))

    def live_question(self, body: JsonObject) -> SendUpstream:
        """A question of our own, whose answer is read while it comes."""
        return self.chat(json_bytes({**body, "stream": True}))
