"""Mishaps on purpose: wrap a real source or model and say which of its calls go wrong, and how.

Faults are consumed one a call; ``None`` lets a call through; after the last one everything passes.
::

    source = FaultySource(real, {"search": [RATE_LIMITED, None, LOST]})
    model = FaultyModel(real, [ModelError("refused", retryable=True), cut_off(20)])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from callwright.nouns.errors import Failure
from callwright.nouns.protocols import Capabilities, ChatModel, ChatRequest, ToolSource, Watcher
from callwright.nouns.types import JsonObject, Reply, Tool, ToolOutput
from callwright.tools.wrapped import WrappedSource


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure instead of a tool's result. ``after``: the call is carried out first and its result
    lost.
    """

    failure: Failure
    after: bool = False


RATE_LIMITED = Fault(Failure("rate_limit", "429 Too Many Requests", retryable=True, status=429))
UNAVAILABLE = Fault(Failure("unavailable", "503 Service Unavailable", retryable=True, status=503))
UNAUTHORIZED = Fault(Failure("auth", "401 Unauthorized", status=401))
TIMED_OUT = Fault(Failure("timeout", "no answer in time", retryable=True, outcome_unknown=True))
LOST = Fault(
    Failure(
        "unavailable",
        "the connection broke before the answer came",
        retryable=True,
        outcome_unknown=True,
    ),
    after=True,
)


class FaultySource(WrappedSource):
    """A ToolSource in front of another. ``faults``: tool name -> faults of its calls, in order."""

    def __init__(self, source: ToolSource, faults: Mapping[str, Sequence[Fault | None]]) -> None:
        super().__init__(source)
        self._faults = {name: list(list_) for name, list_ in faults.items()}

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        left = self._faults.get(tool.name)
        fault = left.pop(0) if left else None
        if fault is None:
            return await super().call(tool, arguments)
        if fault.after:
            await super().call(tool, arguments)
        return ToolOutput(failure=fault.failure)


ModelFault = Exception | Callable[[Reply], Reply]


class FaultyModel:
    """A ChatModel in front of another. A fault is an exception raised instead of asking, or a
    change to the reply.
    """

    def __init__(self, model: ChatModel, faults: Sequence[ModelFault | None]) -> None:
        self._model = model
        self._faults = list(faults)

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(getattr(self._model, "secrets", ()))

    async def capabilities(self) -> Capabilities:
        return await self._model.capabilities()

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
        fault = self._faults.pop(0) if self._faults else None
        if isinstance(fault, Exception):
            raise fault
        reply = await self._model.complete(request, watch)
        return fault(reply) if fault else reply

    async def aclose(self) -> None:
        await self._model.aclose()


def cut_off(characters: int) -> Callable[[Reply], Reply]:
    """The reply stops after so many characters, as when the token limit is reached."""
    return lambda reply: replace(reply, text=reply.text[:characters], finish_reason="length")


def wrapped(before: str, after: str = "") -> Callable[[Reply], Reply]:
    """Chatter around the reply: ``wrapped("Sure! ```json\\n", "\\n```")``."""
    return lambda reply: replace(reply, text=before + reply.text + after)
