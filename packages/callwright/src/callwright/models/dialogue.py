"""Driving a dialogue: parts without I/O yield questions and are sent the replies; here somebody
answers them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from callwright.nouns.closing import Closing
from callwright.nouns.protocols import Capabilities, ChatModel, ChatRequest
from callwright.nouns.types import Reply, Usage

WARM = 0.7  # the temperature of another attempt, at least

T = TypeVar("T")


async def run_dialogue(
    dialogue: Generator[ChatRequest, Reply, T], ask: Callable[[ChatRequest], Awaitable[Reply]]
) -> T:
    """Answer a dialogue's questions until it ends and return its value. What ``ask`` raises ends
    it.
    """
    try:
        request = next(dialogue)
        while True:
            request = dialogue.send(await ask(request))
    except StopIteration as done:
        value: T = done.value
        return value
    finally:
        dialogue.close()


def vary_request(request: ChatRequest, attempt: int) -> ChatRequest:
    """The request for its ``attempt``, from 0. Another attempt has another seed and is warm: a
    model that answers greedily would give the same broken reply again, token for token.
    """
    if not attempt:
        return request
    return replace(request, seed=request.seed + attempt, temperature=max(request.temperature, WARM))


@dataclass(frozen=True, slots=True)
class Conversed(Generic[T]):
    """Result of a dialogue, and the cost of its questions."""

    value: T
    usage: Usage
    seconds: float


async def converse(model: ChatModel, dialogue: Generator[ChatRequest, Reply, T]) -> Conversed[T]:
    """Answer a dialogue with a model. Raises ModelError where it cannot be asked."""
    usage, seconds = Usage(), 0.0

    async def ask(request: ChatRequest) -> Reply:
        nonlocal usage, seconds
        reply = await model.complete(request)
        usage, seconds = usage + reply.usage, seconds + reply.seconds
        return reply

    value = await run_dialogue(dialogue, ask)
    return Conversed(value, usage, seconds)


class BlockingModel(Closing):
    """A model for callers without an event loop: a loop of its own lives as long as the model. A
    context manager.
    """

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self._runner = asyncio.Runner()

    def close(self) -> None:
        """Close the model, then its loop."""
        self._runner.run(self.model.aclose())
        self._runner.close()

    def capabilities(self) -> Capabilities:
        """Return the capabilities of the model."""
        return self._runner.run(self.model.capabilities())

    def converse(self, dialogue: Generator[ChatRequest, Reply, T]) -> Conversed[T]:
        """Answer a dialogue with the model. Raises ModelError where it cannot be asked."""
        return self._runner.run(converse(self.model, dialogue))
