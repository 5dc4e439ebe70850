"""What the upstream does for which model: asked once with two tiny questions, remembered on disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

from callwright.errors import ModelError
from callwright.http import HttpClient, Retry, Timeout
from callwright.models.openai import OpenAIModel
from callwright.proxy.events import Headers, Probed

FREE = Probed(native=True, schema=False)  # nothing known: ask as the client asked


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
        before = self._known.get(model, FREE)
        self._known[model] = Probed(before.native, guided)

    async def _probe(self, model: str, headers: Headers) -> Probed:
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
        except ModelError:
            return FREE
        made = self._known[model] = Probed(found.native_tools, found.json_schema)
        return made
