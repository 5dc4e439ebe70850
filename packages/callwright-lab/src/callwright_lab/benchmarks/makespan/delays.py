"""Scripted delays: every tool takes a time of its own, so that what a run waits for can be
compared.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable

from callwright.nouns.protocols import ToolSource
from callwright.nouns.trace import Event
from callwright.nouns.types import JsonObject, Tool, ToolOutput
from callwright.tools.wrapped import WrappedSource


def compute_delay(tool: str, seconds: float) -> float:
    """The time of one tool, in seconds: from half to one and a half times ``seconds``, by the
    sha256 of its name.
    """
    share = int.from_bytes(hashlib.sha256(tool.encode()).digest()[:4], "big") / 2**32
    return seconds * (0.5 + share)


class SlowSource(WrappedSource):
    """A source each of whose tools answers after its own time (:func:`compute_delay`), and else as it
    does.
    """

    def __init__(self, source: ToolSource, seconds: float) -> None:
        super().__init__(source)
        self._seconds = seconds

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        await asyncio.sleep(compute_delay(tool.name, self._seconds))
        return await super().call(tool, arguments)


def sum_call_time(events: Iterable[Event]) -> float:
    """Seconds of a run during which at least one call was under way; calls side by side count
    once.
    """
    spans = sorted((e.at - e.data["seconds"], e.at) for e in events if e.kind == "result")
    total, until = 0.0, float("-inf")
    for start, end in spans:
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total
