"""Any endpoint that speaks OpenAI's chat-completions API."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from callwright.http import (
    Egress,
    HttpClient,
    HttpResponse,
    HttpStream,
    Retry,
    Timeout,
    retry_after,
)
from callwright.jsontext import JsonError, parse
from callwright.language import ENGLISH
from callwright.models.chat import Gathered, body_out, tool_out
from callwright.models.grammar import reduce_schema
from callwright.models.model_size import ask_size
from callwright.models.probe import build_memory_key, capabilities_of, open_memory
from callwright.models.refusal import build_model_error
from callwright.models.secret import Secret
from callwright.nouns.errors import ConfigError, Failure, ModelError
from callwright.nouns.model_profile import ModelSize
from callwright.nouns.protocols import Capabilities, ChatRequest, ReplyMode, Watcher
from callwright.nouns.types import Json, JsonObject, Reply

MAX_BYTES = 20_000_000  # of one answer
CONTEXT = 32_768  # tokens, where nobody says how many
_SIZE_SECONDS = 10.0  # for each request about the size: a run waits for it

_OPTIONAL = ("stream_options", "seed", "temperature", "max_tokens", "top_logprobs", "logprobs")
_TOO_LONG = ENGLISH.pattern("errors.too_long")
_NAME = re.compile(r"[^A-Za-z0-9_-]+")


class OpenAIModel:
    """A ChatModel behind ``{base_url}/chat/completions``.

    What the endpoint supports is found out once with a few tiny questions and remembered per
    address and model in the cache directory; ``mode`` says it instead: "native" tool calls,
    "schema" (``response_format`` json_schema) or "text". 429, 5xx and broken connections are tried
    again, with backoff and as long as the endpoint asks for; other refusals are a ModelError at
    once. With ``watch`` the reply is streamed and the connection closed where the watcher ends it.
    The key is sent to the server of ``base_url`` alone and appears in no error, trace or repr.
    """

    def __init__(
        self,
        base_url: str,
        model: str = "",
        *,
        api_key: Secret | str | None = None,
        mode: ReplyMode | None = None,
        context: int | None = None,
        retry: Retry | None = None,
        timeout: Timeout | None = None,
        client: HttpClient | None = None,
        memory: Path | None = None,
    ) -> None:
        self.base_url = _check_base_url(base_url)
        self._model = model
        self._key = api_key if isinstance(api_key, Secret) else Secret(api_key or "")
        self._context = context or CONTEXT
        self._stated_context = context
        self._declared = _declare_capabilities(mode, self._context)
        self._retry = retry or Retry(attempts=4)
        self._client = client or HttpClient(
            Egress.any(),
            timeout=timeout or Timeout(connect=10, idle=300, total=900),
            max_bytes=MAX_BYTES,
            retry=self._retry,
        )
        self._memory = memory
        self._known: Capabilities | None = None
        self._size: ModelSize | None = None
        self._unanswered: ModelError | None = None  # what came of probing last, where it failed
        self._probing: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            WeakKeyDictionary()
        )
        self._refused: set[str] = set()  # optional parameters this endpoint does not know

    def __repr__(self) -> str:
        return f"OpenAIModel({self.base_url!r}, {self._model!r})"

    @property
    def name(self) -> str:
        return self._model or urlsplit(self.base_url).netloc

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the secrets that this model sends and no trace may hold: its key, if it has
        one.
        """
        return (self._key.reveal(),) if self._key else ()

    async def capabilities(self) -> Capabilities:
        """Overridden, remembered, or probed now. Raises ModelError when the endpoint cannot be
        asked.
        """
        if self._declared:
            return self._declared
        if self._known is None:
            lock = self._probing.setdefault(asyncio.get_running_loop(), asyncio.Lock())
            waited = lock.locked()
            async with lock:
                return await self._found_out(waited)
        return self._known

    async def _found_out(self, waited: bool) -> Capabilities:
        """Remembered or probed. Who ``waited`` while somebody else probed takes what came of that,
        also where it failed: many who begin at once ask an endpoint that is down no more often than
        one does.
        """
        if self._known is None:
            if waited and self._unanswered is not None:
                raise self._unanswered
            memory = open_memory(self._memory)
            key = build_memory_key(self.base_url, self._model)
            self._known = memory.get(key, self._context)
            if self._known is None:
                self._unanswered = None
                try:
                    self._known = await capabilities_of(self._ask_raw, self._context)
                except ModelError as error:
                    self._unanswered = error
                    raise
                memory.put(key, self._known)
        return self._known

    async def models(self) -> tuple[str, ...]:
        """The names the endpoint lists; empty if it lists none."""
        answer = await self._client.request(
            "GET", f"{self.base_url}/models", headers=self._headers(), repeat=True
        )
        if isinstance(answer, Failure) or not answer.ok:
            return ()
        try:
            listed = parse(answer.body)["data"]
            return tuple(str(entry["id"]) for entry in listed)
        except (JsonError, KeyError, TypeError):
            return ()

    async def read_size(self) -> ModelSize:
        """The size of the model, as the endpoint states it; a ``context`` that was given counts
        instead. It is asked once, without retries, for whatever it does not say is not known.
        """
        if self._size is None:
            found = await ask_size(self._fetch, self._model)
            self._size = found._replace(context=self._stated_context or found.context)
        return self._size

    async def _fetch(self, path: str, body: JsonObject | None) -> Json:
        """The JSON at a path of the server; ``/v1`` stands for the base URL. None where there is
        none.
        """
        is_api = path.startswith("/v1/")
        root = self.base_url if is_api else self.base_url.removesuffix("/v1")
        answer = await self._client.request(
            "GET" if body is None else "POST",
            root + (path.removeprefix("/v1") if is_api else path),
            headers=self._headers(),
            json=body,
            timeout=_SIZE_SECONDS,
        )
        if isinstance(answer, Failure) or not answer.ok:
            return None
        try:
            found: Json = parse(answer.body)
        except JsonError:
            return None
        return found

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
        """Ask once. Raises ModelError with what to do about it; ``retryable`` if it may pass."""
        started = time.monotonic()
        body = self._body(request)
        gathered, finish = Gathered(), ""
        if watch is None:
            gathered.feed(await self._whole(body))
            gathered.close()
        else:
            finish = await self._streamed(body, gathered, watch)
        prompt = "".join(m.content for m in request.messages)
        seconds = time.monotonic() - started
        return gathered.reply(
            prompt=prompt, finish=finish, seconds=seconds, model=gathered.model or self.name
        )

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _ask_raw(self, body: JsonObject) -> JsonObject:
        """One unstreamed question as it stands, for the probes."""
        return await self._whole({"model": self._model, **body} if self._model else body)

    def _body(self, request: ChatRequest) -> JsonObject:
        body = body_out(request)
        if self._model:
            body["model"] = self._model
        if request.schema is not None:
            schema = reduce_schema(request.schema)
            named = {
                "name": _NAME.sub("_", request.purpose) or "reply",
                "schema": schema,
                "strict": is_strict(schema),
            }
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif request.tools:
            body["tools"] = [tool_out(t) for t in request.tools]
            body["tool_choice"] = request.tool_choice
        return body

    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._key.reveal()}"} if self._key else {}

    async def _whole(self, body: JsonObject) -> JsonObject:
        """The answer as one JSON object. A question to a model has no effect, so it may be
        repeated.
        """
        while True:
            sent = self._adapted(body)
            answer = await self._client.request(
                "POST", self._url, headers=self._headers(), json=sent, repeat=True
            )
            if isinstance(answer, HttpResponse) and answer.ok:
                return self._object(answer.body)
            if not self._learn(answer, sent):
                raise self._refusal(answer)

    async def _streamed(self, body: JsonObject, gathered: Gathered, watch: Watcher) -> str:
        """Feed server-sent events as they come; returns "cut" where the watcher ended it."""
        body = {**body, "stream": True, "stream_options": {"include_usage": True}}
        attempt = 0
        while True:
            sent = self._adapted(body)
            async with self._client.stream(
                "POST", self._url, headers=self._headers(), json=sent
            ) as stream:
                if isinstance(stream, HttpStream) and stream.ok:
                    return await self._events(stream, gathered, watch)
                answer = stream if isinstance(stream, Failure) else await stream.read()
            if self._learn(answer, sent):
                continue
            attempt += 1
            asked = (
                retry_after(answer.headers, time.time())
                if isinstance(answer, HttpResponse)
                else None
            )
            wait = self._retry.wait(attempt, answer, asked, random.random())
            if wait is None:
                raise self._refusal(answer)
            await self._client.surroundings.sleep(wait)

    def _adapted(self, body: JsonObject) -> JsonObject:
        """The body without what this endpoint refused before; newer ones call max_tokens
        max_completion_tokens.
        """
        sent = {k: v for k, v in body.items() if k not in self._refused}
        if "max_tokens" in self._refused:
            sent["max_completion_tokens"] = body["max_tokens"]
        return sent

    def _learn(self, answer: HttpResponse | Failure, sent: JsonObject) -> bool:
        """Return True if the refusal names an optional parameter. It is left out from now on, and
        the request is repeated.
        """
        if isinstance(answer, Failure) or answer.status not in (400, 422):
            return False
        named = next(
            (k for k in _OPTIONAL if k in sent and re.search(rf"\b{k}\b", answer.text)), None
        )
        if named is None or _TOO_LONG.search(answer.text):
            return False
        self._refused.add(named)
        return True

    async def _events(self, stream: HttpStream, gathered: Gathered, watch: Watcher) -> str:
        """A stream that has begun is not tried again: its text was already seen."""
        if "text/event-stream" not in stream.headers.get("content-type", "text/event-stream"):
            return await self._unstreamed(stream, gathered, watch)
        done = False
        async for line in stream.lines():
            if isinstance(line, Failure):
                raise ModelError(
                    f"{self.name}: the reply broke off: {line.message}", retryable=True
                )
            if not line.startswith("data:"):
                continue
            data = line[5:].strip()
            if data == "[DONE]":
                done = True
                break
            piece = gathered.feed(self._object(data.encode()))
            if piece and watch(piece):
                return "cut"
        if not done and not gathered.finish:
            raise ModelError(f"{self.name}: the stream ended before the reply did", retryable=True)
        return "cut" if (held := gathered.close()) and watch(held) else ""

    async def _unstreamed(self, stream: HttpStream, gathered: Gathered, watch: Watcher) -> str:
        """An endpoint that does not stream, although asked to."""
        answer = await stream.read()
        if isinstance(answer, Failure):
            raise self._refusal(answer)
        text = gathered.feed(self._object(answer.body)) + gathered.close()
        return "cut" if text and watch(text) else ""

    def _object(self, data: bytes) -> JsonObject:
        try:
            value: Any = parse(data)
        except JsonError as exc:
            raise ModelError(
                f"{self.name} answered something that is not JSON: {exc}", retryable=True
            ) from None
        if not isinstance(value, Mapping):
            raise ModelError(f"{self.name} answered JSON that is not an object")
        if value.get("error") and not value.get("choices"):
            raise build_model_error(
                self.name, self.base_url, 200, data.decode("utf-8", "replace"), self._key
            )
        return dict(value)

    def _refusal(self, answer: HttpResponse | Failure) -> ModelError:
        if isinstance(answer, Failure):
            return build_model_error(
                self.name,
                self.base_url,
                None,
                answer.message,
                self._key,
                retryable=answer.retryable,
            )
        return build_model_error(self.name, self.base_url, answer.status, answer.text, self._key)

    @property
    def _url(self) -> str:
        return f"{self.base_url}/chat/completions"


def _declare_capabilities(mode: ReplyMode | None, context: int) -> Capabilities | None:
    if mode is None:
        return None
    if mode not in ("native", "schema", "text"):
        raise ConfigError(f"there is no mode {mode!r}", hint="native, schema or text")
    return Capabilities(mode == "native", mode == "schema", context, "overridden")


def _check_base_url(base_url: str) -> str:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            f"{base_url!r} is not an endpoint", hint="write it as http://host:8000/v1"
        )
    if parts.username or parts.password or parts.query:
        raise ConfigError(
            f"the endpoint at {parts.hostname} must not have a password or a query in its address",
            hint="give the key as api_key or in CALLWRIGHT_API_KEY",
        )
    return base_url.partition("#")[0].rstrip("/")


def is_strict(schema: Any) -> bool:
    """Return True if a schema meets OpenAI's rule for ``strict``: every object closed, every
    property required.
    """
    if isinstance(schema, list):
        return all(is_strict(s) for s in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(
            schema.get("required", ())
        ) != set(properties):
            return False
        return all(is_strict(s) for s in properties.values())
    return bool(schema) and all(
        is_strict(schema[k]) for k in ("anyOf", "items", "prefixItems") if k in schema
    )
