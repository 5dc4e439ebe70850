"""A chat completion read as it comes and handed on to a translation into another API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from callwright.proxy.session.answers.native import NativeCalls
from callwright.proxy.session.answers.sse import EventSplitter, extract_data, json_object
from callwright.tools.lists import chat_messages as chat


class BadRequest(ValueError):
    """The client's request cannot be turned into a chat completion; the message says why. ``body``:
    the answer, where its API says more than a message.
    """

    def __init__(self, message: str, body: bytes = b"") -> None:
        super().__init__(message)
        self.body = body


@dataclass(frozen=True, slots=True)
class Delta:
    """Content that one chunk adds. ``calls``: (place, id, name, arguments) of a piece of a call; id
    and name come first. ``refusal``: the text with which the model refuses, in place of an answer.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[tuple[int, str, str, str], ...] = ()
    finish: str = ""
    usage: Mapping[str, Any] | None = None
    id: str = ""
    model: str = ""
    refusal: str = ""

    @property
    def shown_text(self) -> str:
        """The text and the refusal, for APIs in which a refusal is text."""
        return "\n\n".join(part for part in (self.text, self.refusal) if part)


class Translation(Protocol):
    """One answer in another API. ``streams``: whether the client asked for a stream."""

    streams: bool
    stream_type: str
    keep_alive: bytes

    def delta(self, delta: Delta) -> bytes:
        """Return a chunk in the client's streaming format."""

    def close(self) -> bytes:
        """The end of the stream."""

    def render_completion(self, delta: Delta) -> bytes:
        """The whole answer at once."""

    def error(self, status: int, message: str) -> bytes:
        """An error before the answer."""

    def broken(self, message: str) -> bytes:
        """An error in the middle of a stream."""


class Translated:
    """A Writer: reads a chat completion, whole or streamed, and writes what the translation makes
    of it.
    """

    def __init__(self, into: Translation) -> None:
        self._into = into
        self._status = 200
        self._streamed = False
        self._splitter = EventSplitter()
        self._body: list[bytes] = []
        self._failed = False

    @property
    def keep_alive(self) -> bytes:
        return self._into.keep_alive

    def head(self, status: int, headers: dict[str, str]) -> dict[str, str]:
        """Headers for the client: the body's own are replaced, the others stay."""
        self._status = status
        self._streamed = headers.get("content-type", "").startswith("text/event-stream")
        kept = {k: v for k, v in headers.items() if k not in ("content-type", "content-length")}
        streams = self._into.streams and status == 200
        kept["content-type"] = self._into.stream_type if streams else "application/json"
        return kept

    def feed(self, data: bytes) -> bytes:
        if not self._streamed:
            self._body.append(data)
            return b""
        return b"".join(self._event(event) for event in self._splitter.feed(data))

    def end(self) -> bytes:
        if self._streamed:
            return b"" if self._failed else self._into.close()
        body = b"".join(self._body)
        document = json_object(body)
        if self._status != 200 or document is None or "choices" not in document:
            return self._into.error(self._status, _get_error_message(document, body))
        delta = whole_delta(document)
        if not self._into.streams:
            return self._into.render_completion(delta)
        return self._into.delta(delta) + self._into.close()

    def _event(self, event: bytes) -> bytes:
        document = json_object(extract_data(event))
        if document is None:
            return b""
        if document.get("error"):
            self._failed = True
            return self._into.broken(_get_error_message(document, b""))
        return self._into.delta(chunk_delta(document))


def chunk_delta(document: Mapping[str, Any]) -> Delta:
    """One ``chat.completion.chunk``. Its calls are well-formed: the proxy wrote or checked them."""
    choice = chat.only_choice(document) or {}
    delta = choice.get("delta")
    delta = delta if isinstance(delta, Mapping) else {}
    calls = []
    for piece in delta.get("tool_calls") or ():
        function = piece.get("function") or {}
        name, arguments = str(function.get("name") or ""), str(function.get("arguments") or "")
        calls.append((int(piece.get("index") or 0), str(piece.get("id") or ""), name, arguments))
    return Delta(
        str(delta.get("content") or ""),
        str(delta.get("reasoning_content") or delta.get("reasoning") or ""),
        tuple(calls),
        str(choice.get("finish_reason") or ""),
        document.get("usage"),
        str(document.get("id") or ""),
        str(document.get("model") or ""),
        str(delta.get("refusal") or ""),
    )


def whole_delta(document: Mapping[str, Any]) -> Delta:
    """A whole ``chat.completion`` as one delta."""
    choice = chat.only_choice(document) or {}
    message = choice.get("message")
    message = message if isinstance(message, Mapping) else {}
    native = NativeCalls()
    native.add_message(message)
    return Delta(
        chat.content_text(message.get("content")),
        str(message.get("reasoning_content") or message.get("reasoning") or ""),
        tuple((n, c.id, c.name, c.arguments) for n, c in enumerate(native.calls)),
        str(choice.get("finish_reason") or "stop"),
        document.get("usage"),
        str(document.get("id") or ""),
        str(document.get("model") or ""),
        str(message.get("refusal") or ""),
    )


def read_token_counts(usage: Mapping[str, Any] | None) -> tuple[int, int, int]:
    """Prompt, completion and cached tokens of a ``usage``."""
    given = usage or {}
    details = given.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
    return (
        int(given.get("prompt_tokens") or 0),
        int(given.get("completion_tokens") or 0),
        int(cached or 0),
    )


def _get_error_message(document: Mapping[str, Any] | None, body: bytes) -> str:
    said = (document or {}).get("error", (document or {}).get("detail"))
    if isinstance(said, Mapping):
        said = said.get("message")
    return (
        str(said)
        if said
        else body[:500].decode("utf-8", "replace") or "the upstream gave no reason"
    )
