"""``callwright doctor``: what an endpoint does with tool calls, and what the proxy will mend there."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any

from callwright.dialects import parse_calls
from callwright.errors import ConfigError, Failure
from callwright.http import Egress, HttpClient, HttpResponse, Timeout
from callwright.jsontext import JsonError, parse
from callwright.proxy.address import Upstream
from callwright.proxy.native import NativeCalls
from callwright.proxy.sse import EventSplitter, data_of, json_object
from callwright.types import JsonObject
from callwright.wire import chat

_LAMP: JsonObject = {
    "type": "function",
    "function": {
        "name": "switch_lamp",
        "description": "Switches a lamp on or off.",
        "parameters": {
            "type": "object",
            "properties": {"room": {"type": "string"}, "on": {"type": "boolean"}},
            "required": ["room", "on"],
        },
    },
}
_TOOL = {"tools": [_LAMP]}
_SCHEMA = {
    "type": "object",
    "properties": {"zq": {"enum": ["k7"]}},
    "required": ["zq"],
    "additionalProperties": False,
}
_SECRET = "The password is heliotrope."
_FILLER_WORDS = 7_000  # about 7,000 tokens: more than the windows that servers open without being told


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was tried. ``verdict``: good, mended (by the proxy), setting (the user can change it), bad."""

    about: str
    verdict: str
    said: str
    advice: str = ""


@dataclass(slots=True)
class Answered:
    """What came back to one question."""

    status: int
    text: str = ""
    reasoning: str = ""
    calls: tuple[str, ...] = ()
    finish: str = ""
    prompt_tokens: int = 0
    problem: str = ""
    pieces: int = 0
    sound: bool = True


Ask = Callable[..., Awaitable[Answered]]


def examine(upstream: str, model: str | None = None, *, as_json: bool = False) -> int:
    """Probe an endpoint and print what was found; the key comes from CALLWRIGHT_API_KEY. 0 unless something is bad.

    Raises ConfigError where the endpoint cannot be asked at all.
    """
    findings = asyncio.run(_examine(upstream, model))
    if as_json:
        print(json.dumps([asdict(f) for f in findings], ensure_ascii=False, indent=1))
    else:
        for found in findings:
            print(f"{found.verdict:8} {found.about}: {found.said}")
            if found.advice:
                print(f"{'':8} -> {found.advice}")
    return 1 if any(f.verdict == "bad" for f in findings) else 0


async def _examine(upstream: str, model: str | None) -> list[Finding]:
    async with HttpClient(Egress.any(), timeout=Timeout(idle=300, total=600)) as client:
        endpoint = _Endpoint(client, upstream, model or "")
        await endpoint.choose()
        print(f"asking {endpoint.upstream.base}, model {endpoint.model}", file=sys.stderr)
        ask = endpoint.ask
        first = await ask("Say hello.")
        if first.problem:
            raise ConfigError(
                f"the endpoint does not answer a plain question: {first.problem}",
                hint="is the address right, the model's name, the key in CALLWRIGHT_API_KEY?",
            )
        native, schema = await _native(ask), await _schema(ask)
        return [
            native,
            *await _choices(ask),
            await _streaming(ask),
            schema,
            _guided(native, schema),
            _thinking(first),
            await _truncation(ask),
        ]


class _Endpoint:
    def __init__(self, client: HttpClient, upstream: str, model: str) -> None:
        self._client = client
        self.upstream = Upstream(upstream)
        self.model = model
        key = os.environ.get("CALLWRIGHT_API_KEY", "")
        self._headers = {"authorization": f"Bearer {key}"} if key else {}

    async def choose(self) -> None:
        """The first model that the endpoint lists, where none was named."""
        if self.model:
            return
        answer = await self._client.request("GET", self.upstream.url("/v1/models"), headers=self._headers)
        try:
            assert isinstance(answer, HttpResponse)
            self.model = str(parse(answer.body)["data"][0]["id"])
        except (AssertionError, JsonError, KeyError, TypeError, IndexError):
            self.model = "default"

    async def ask(self, text: str, **more: Any) -> Answered:
        messages = [{"role": "user", "content": text}]
        body = {"model": self.model, "messages": messages, "max_tokens": 300, "temperature": 0, **more}
        url = self.upstream.url("/v1/chat/completions")
        answer = await self._client.request("POST", url, headers=self._headers, json=body)
        if isinstance(answer, Failure):
            return Answered(0, problem=answer.message)
        if not answer.ok:
            return Answered(answer.status, problem=f"status {answer.status}: {answer.text[:200]}")
        return _streamed(answer.body) if more.get("stream") else _whole(answer.body)


async def _native(ask: Ask) -> Finding:
    found = await ask("Switch the lamp in the kitchen on. Use the tool.", **_TOOL)
    about = "tool calls"
    if found.problem:
        return Finding(about, "mended", f"requests with tools are refused ({found.problem})", "proxy: --guided on")
    if found.calls == ("switch_lamp",):
        return Finding(about, "good", "native calls arrive as calls")
    parsed = parse_calls(found.text or found.reasoning, chat.offer(_TOOL["tools"]).tools)
    if parsed.calls:
        where = "text" if found.text else "reasoning"
        return Finding(about, "mended", f"the call is left in the {where}, written in the format {parsed.dialect}")
    return Finding(about, "bad", f"no call came back: {(found.text or found.reasoning)[:80]!r}", "a larger model")


async def _choices(ask: Ask) -> list[Finding]:
    """Whether ``tool_choice`` and ``parallel_tool_calls`` do anything, tried where the model would do otherwise."""
    required = await ask("What is two plus two?", **_TOOL, tool_choice="required")
    none = await ask("Switch the lamp in the kitchen on.", **_TOOL, tool_choice="none")
    two = "Switch the lamps in the kitchen and in the hall on, both now. Use the tool twice."
    single = await ask(two, **_TOOL, parallel_tool_calls=False)
    return [
        _honoured("tool_choice required", bool(required.calls), required),
        _honoured("tool_choice none", not none.calls, none),
        _honoured("parallel_tool_calls false", len(single.calls) <= 1, single),
    ]


def _honoured(about: str, good: bool, found: Answered) -> Finding:
    if good and not found.problem:
        return Finding(about, "good", "honoured")
    return Finding(about, "mended", found.problem or "ignored", "the proxy does it in the upstream's place")


async def _streaming(ask: Ask) -> Finding:
    found = await ask("Switch the lamp in the kitchen on. Use the tool.", **_TOOL, stream=True)
    if found.problem or not found.pieces:
        return Finding("streaming", "bad", found.problem or "no events came", "ask without stream")
    if not found.sound:
        return Finding("streaming", "mended", "calls come without id or with a wrong index")
    return Finding("streaming", "good", f"{found.pieces} events, finish_reason {found.finish or 'missing'}")


async def _schema(ask: Ask) -> Finding:
    named = {"name": "probe", "schema": _SCHEMA, "strict": True}
    form = {"type": "json_schema", "json_schema": named}
    found = await ask("Reply with the single word: hello", response_format=form)
    if json_object(found.text.encode()) == {"zq": "k7"}:
        return Finding("json_schema", "good", "followed")
    return Finding("json_schema", "setting", found.problem or "not followed", "guided mode is off here")


def _guided(native: Finding, schema: Finding) -> Finding:
    """What ``callwright proxy --guided auto`` makes of the two."""
    about = "guided mode"
    if native.verdict == "good":
        return Finding(about, "good", "not needed, native calls work")
    if schema.verdict != "good":
        return Finding(about, "good", "not possible without json_schema: calls are read from the text")
    if "left in" in native.said:
        said = (
            "calls are read from the text; by schema a second time where a request wants several or one was refused"
        )
        return Finding(about, "mended", said, "--guided on asks by schema first, --guided off never")
    return Finding(about, "mended", "tools are ignored or refused: calls are asked by schema first", "--guided off")


def _thinking(found: Answered) -> Finding:
    if "<think>" in found.text or "</think>" in found.text:
        advice = (
            "start the server with its reasoning parser (vLLM: --reasoning-parser, llama.cpp: --reasoning-format)"
        )
        return Finding("thinking", "setting", "<think> is left in the text", advice)
    if found.reasoning and not found.text:
        advice = "raise max_tokens, or switch thinking off (chat_template_kwargs: enable_thinking false)"
        return Finding("thinking", "setting", "the answer stays in reasoning_content", advice)
    said = "kept apart in reasoning_content" if found.reasoning else "none left in the text"
    return Finding("thinking", "good", said)


async def _truncation(ask: Ask) -> Finding:
    """Whether a long conversation is cut without a word: its first sentence is asked for."""
    filler = " ".join(f"item{n}" for n in range(_FILLER_WORDS // 3))
    question = "Above, a password was given. Reply with the password alone."
    found = await ask(f"{_SECRET}\n\nList: {filler}\n\n{question}")
    about = "long context"
    if found.problem:
        return Finding(about, "good", f"too long a prompt is refused clearly ({found.problem[:80]})")
    if "heliotrope" in (found.text + found.reasoning).lower():
        return Finding(about, "good", f"{found.prompt_tokens or 'about 7,000'} tokens were read whole")
    if found.prompt_tokens and found.prompt_tokens < _FILLER_WORDS // 3:
        advice = "open the window: Ollama OLLAMA_CONTEXT_LENGTH or num_ctx, llama.cpp -c, LM Studio context length"
        return Finding(about, "setting", f"cut to {found.prompt_tokens} tokens without a word", advice)
    advice = "if the window is smaller than 8,192 tokens, open it: tools alone often need that much"
    return Finding(about, "setting", "the beginning of a long prompt was not seen or not used", advice)


def _whole(body: bytes) -> Answered:
    document = json_object(body)
    choice = chat.only_choice(document or {})
    if document is None or choice is None:
        return Answered(200, problem="the answer is no chat completion")
    message = choice.get("message") or {}
    native = NativeCalls()
    native.whole(message.get("tool_calls"))
    return Answered(
        200,
        chat.content_text(message.get("content")),
        str(message.get("reasoning_content") or message.get("reasoning") or ""),
        tuple(c.name for c in native.calls),
        str(choice.get("finish_reason") or ""),
        int((document.get("usage") or {}).get("prompt_tokens") or 0),
        sound=all(c.sound for c in native.calls),
    )


def _streamed(body: bytes) -> Answered:
    splitter, native, found = EventSplitter(), NativeCalls(), Answered(200)
    for event in [*splitter.feed(body), splitter.close()]:
        choice = chat.only_choice(json_object(data_of(event)) or {})
        if choice is None:
            continue
        delta = choice.get("delta") or {}
        found.pieces += 1
        found.text += str(delta.get("content") or "")
        native.feed(delta.get("tool_calls"))
        found.finish = str(choice.get("finish_reason") or found.finish)
    found.calls = tuple(c.name for c in native.calls)
    found.sound = all(c.sound for c in native.calls)
    return found
