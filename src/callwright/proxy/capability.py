"""What the upstream does for which model: asked once with two or three tiny questions, mostly remembered on disk."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from callwright.dialects import parse_calls
from callwright.errors import ModelError
from callwright.http import HttpClient, Retry, Timeout
from callwright.protocols import ChatRequest
from callwright.proxy.events import Headers, Probed
from callwright.types import Message, Tool

if TYPE_CHECKING:
    from callwright.models.openai import OpenAIModel

FREE = Probed(native=True, schema=False)  # nothing known: ask as the client asked

_LAMP = Tool(
    "switch_lamp",
    "Switches the lamp on or off.",
    {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]},
)


class Capability:
    """Answers Probe. A probe that fails is tried again with the next request, and the request goes on meanwhile."""

    def __init__(
        self, base: str, client: HttpClient, *, known: Probed | None = None, memory: Path | None = None
    ) -> None:
        self._base = base
        self._client = client
        self._always = known
        self._memory = memory
        self._known: dict[str, Probed] = {}
        self._asking: dict[str, asyncio.Lock] = {}

    async def of(self, model: str, headers: Headers) -> Probed:
        """What is known of a model, or found out now with the client's own key."""
        if self._always is not None:
            return self._always
        if model not in self._known:
            async with self._asking.setdefault(model, asyncio.Lock()):
                if model not in self._known:
                    return await self._probe(model, headers)
        return self._known[model]

    def learned(self, model: str, guided: bool) -> None:
        """A guided question was refused, or worked."""
        self._known[model] = replace(self._known.get(model, FREE), schema=guided)

    async def _probe(self, model: str, headers: Headers) -> Probed:
        from callwright.models.openai import OpenAIModel

        key = dict(headers).get("authorization", "").removeprefix("Bearer ").strip()
        asked = OpenAIModel(
            self._base,
            model,
            api_key=key,
            client=self._client,
            retry=Retry(attempts=1),
            timeout=Timeout(idle=60, total=120),
            memory=self._memory,
        )
        try:
            found = await asked.capabilities()
            written = found.json_schema and not found.native_tools and await _written(asked)
        except ModelError:
            return FREE
        made = self._known[model] = Probed(found.native_tools, found.json_schema, written)
        return made


async def _written(model: OpenAIModel) -> bool:
    """Whether a call that does not arrive as one stands in the text, in a format that we read."""
    question = Message("user", "Switch the lamp on.")
    try:
        reply = await model.complete(ChatRequest((question,), purpose="probe", tools=(_LAMP,), max_tokens=64))
    except ModelError as exc:
        if exc.status is None:
            raise
        return False  # requests with tools are refused
    return any(call.tool == _LAMP.name for call in parse_calls(reply.text, [_LAMP]).calls)
