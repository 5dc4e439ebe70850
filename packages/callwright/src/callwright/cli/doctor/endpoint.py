"""One endpoint as the doctor asks it: questions out, answers read as they are, nothing repaired."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from callwright.http import HttpClient, HttpResponse
from callwright.jsontext import JsonError, parse
from callwright.models.openai import OpenAIModel
from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.model_profile import ModelSize
from callwright.nouns.types import Json, JsonObject, ToolCall
from callwright.proxy.server.address import Upstream
from callwright.proxy.session.answers.native import NativeCalls
from callwright.proxy.session.answers.sse import EventSplitter, extract_data, json_object
from callwright.tools.lists import chat_messages as chat

MAX_TOKENS = 300


@dataclass(slots=True)
class Answered:
    """Answer to one question. ``problem``: the reason why there is none. ``sound``: the calls are
    well-formed.
    """

    status: int = 200
    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: str = ""
    prompt_tokens: int = 0
    problem: str = ""
    pieces: int = 0
    sound: bool = True

    @property
    def text_or_reasoning(self) -> str:
        return self.text or self.reasoning


Ask = Callable[..., Awaitable[Answered]]
"""``ask(question, **more)``: the question is a text or a list of messages, ``more`` goes into the
request's body.
"""


class Endpoint:
    """Chat completions at one address, with one model; the key comes from CALLWRIGHT_API_KEY."""

    def __init__(self, client: HttpClient, upstream: str, model: str | None = None) -> None:
        self._client = client
        self.upstream = Upstream(upstream)
        self.model = model or ""
        self.listed: tuple[str, ...] = ()
        self.size = ModelSize()
        key = self._key = os.environ.get("CALLWRIGHT_API_KEY", "")
        self._headers = {"authorization": f"Bearer {key}"} if key else {}

    async def choose(self) -> None:
        """Read the models it lists; the first is asked where none was named."""
        answer = await self._client.request(
            "GET", self.upstream.url("/v1/models"), headers=self._headers
        )
        if isinstance(answer, HttpResponse) and answer.ok:
            self.listed = _list_models(answer.body)
        self.model = self.model or next(iter(self.listed), "default")

    async def learn_size(self) -> None:
        """Read how large the model is, as far as the endpoint states it."""
        model = OpenAIModel(self.upstream.base, self.model, api_key=self._key, client=self._client)
        self.size = await model.read_size()

    async def ask(self, question: str | list[Json], **more: Any) -> Answered:
        """One chat completion."""
        messages = (
            [{"role": "user", "content": question}] if isinstance(question, str) else question
        )
        body = {
            "model": self.model,
            "messages": messages,
            "max_tokens": MAX_TOKENS,
            "temperature": 0,
            **more,
        }
        url = self.upstream.url("/v1/chat/completions")
        answer = await self._client.request("POST", url, headers=self._headers, json=body)
        if isinstance(answer, Failure):
            return Answered(0, problem=answer.message)
        if not answer.ok:
            return Answered(
                answer.status, problem=f"status {answer.status}: {_extract_reason(answer.body)}"
            )
        if more.get("stream") and answer.headers.get("content-type", "").startswith(
            "text/event-stream"
        ):
            return _read_stream(answer.body)
        return _read_completion(answer.body)

    def unanswered(self, found: Answered) -> ConfigError:
        """Return an error that says why a plain question got no answer, and what to do about it."""
        said = f"{self.upstream.base} does not answer a plain question: {found.problem}"
        return ConfigError(said, hint=self._hint(found))

    def _hint(self, found: Answered) -> str:
        if found.status == 0:
            return (
                "is the server running, and is this its address? It is asked under"
                " /v1/chat/completions"
            )
        if found.status in (401, 403):
            return "put its key into CALLWRIGHT_API_KEY"
        if found.status in (400, 404) and self.listed and self.model not in self.listed:
            return f"--model with one that it lists: {', '.join(self.listed[:6])}"
        if found.status == 404:
            return (
                "--model with the name the server knows; and the address as far as /v1, no further"
            )
        if found.status == 200:
            return (
                "this is not the address of an OpenAI-compatible server; many serve it under …/v1"
            )
        return "the server's own log says more"


def _list_models(body: bytes) -> tuple[str, ...]:
    try:
        document = parse(body)
    except JsonError:
        return ()
    entries = document.get("data") if isinstance(document, dict) else None
    return tuple(str(e["id"]) for e in entries or () if isinstance(e, dict) and e.get("id"))


def _extract_reason(body: bytes) -> str:
    """Return the message of an error body in one line."""
    document = json_object(body) or {}
    said: Any = document.get("error") or document.get("detail") or document.get("message")
    said = said.get("message") if isinstance(said, dict) else said
    return " ".join(str(said or body.decode("utf-8", "replace")).split())[:200]


def _read_completion(body: bytes) -> Answered:
    document = json_object(body)
    choice = chat.only_choice(document or {})
    if document is None or choice is None:
        return Answered(200, problem="the answer is no chat completion")
    message = choice.get("message") or {}
    native = NativeCalls()
    native.add_message(message)
    return Answered(
        200,
        chat.content_text(message.get("content")),
        str(message.get("reasoning_content") or message.get("reasoning") or ""),
        tuple(c.call() for c in native.calls),
        str(choice.get("finish_reason") or ""),
        int((document.get("usage") or {}).get("prompt_tokens") or 0),
        sound=all(c.sound for c in native.calls),
    )


def _read_stream(body: bytes) -> Answered:
    splitter, native, found = EventSplitter(), NativeCalls(), Answered(200)
    for event in [*splitter.feed(body), splitter.close()]:
        choice = chat.only_choice(json_object(extract_data(event)) or {})
        if choice is None:
            continue
        delta = choice.get("delta") or {}
        found.pieces += 1
        found.text += str(delta.get("content") or "")
        found.reasoning += str(delta.get("reasoning_content") or delta.get("reasoning") or "")
        native.feed(delta)
        found.finish = str(choice.get("finish_reason") or found.finish)
    found.calls = tuple(c.call() for c in native.calls)
    found.sound = all(c.sound for c in native.calls)
    return found


def build_tool(name: str, about: str, **properties: JsonObject) -> JsonObject:
    """A function to offer; all its parameters are required."""
    schema: JsonObject = {"type": "object", "properties": properties, "required": list(properties)}
    return {
        "type": "function",
        "function": {"name": name, "description": about, "parameters": schema},
    }
