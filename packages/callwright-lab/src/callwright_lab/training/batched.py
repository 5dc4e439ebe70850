"""A trained model in memory as a chat model: questions that wait are answered together.

Where a processor multiplies matrices in bfloat16, a batch costs little more than one question, and
reading a prompt a fraction of what llama.cpp needs for it. This is for measuring; what is shipped
is asked by llama.cpp.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from callwright.models import ModelOptions, open_model
from callwright.models.chat import messages_out, tool_out
from callwright.nouns.errors import ModelError
from callwright.nouns.protocols import Capabilities, ChatModel, ChatRequest, Watcher
from callwright.nouns.types import Reply, Usage

if TYPE_CHECKING:  # needs torch
    from callwright_lab.training.decoding import Continuation

_KIND = "trained:"
_AT_ONCE = 64
_GATHER = 0.05  # seconds until a batch begins: those who ask at the same time are in it
_TOKENS = 80_000  # of the prompts of one batch, padding counted: 2.3 GB of cache on a 1.5B model


class BatchedModel:
    """Greedy replies of what :func:`~callwright_lab.training.checkpoints.open_model` opens, in text,
    with the log-probabilities of their tokens where these are asked for. Up to ``at_once`` questions
    are answered in one go; equal ones once.

    Raises MissingExtra or ConfigError where the model cannot be opened, and ModelError for a
    question that wants more: a schema, draws, the likelihoods of other tokens. Tools stand where the
    chat template has them; calls are text like the rest of a reply.
    """

    def __init__(self, name: str, at_once: int = _AT_ONCE) -> None:
        from callwright_lab.training import checkpoints

        bf16 = checkpoints.supports_bfloat16()
        self._model, self._tokenizer = checkpoints.open_model(name, bf16=bf16)
        self._ends = {self._tokenizer.eos_token_id, self._tokenizer.pad_token_id}
        self._name, self._at_once = Path(name).name, at_once
        self._waiting: list[ChatRequest] = []
        self._replies: dict[ChatRequest, Reply] = {}
        self._turn = asyncio.Lock()

    @property
    def name(self) -> str:
        return self._name

    async def capabilities(self) -> Capabilities:
        return Capabilities()

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
        """The reply, when those of its batch are there. ``watch`` sees it whole."""
        if request.schema or request.temperature or request.top_logprobs:
            raise ModelError(f"{self.name} in memory answers in text, greedily, and nothing else")
        if request not in self._replies:
            self._waiting.append(request)
            await asyncio.sleep(_GATHER)
        async with self._turn:  # whoever has it asks for those that wait by then, too
            while request not in self._replies:
                some = list(dict.fromkeys([request, *self._waiting]))[: self._at_once]
                self._waiting = [one for one in self._waiting if one not in some]
                try:
                    replies = await asyncio.to_thread(self._answer_batches, some)
                except Exception as error:
                    raise ModelError(f"{self.name} cannot be asked: {error}") from error
                self._replies |= zip(some, replies, strict=True)
        reply = self._replies[request]
        if watch is not None:
            watch(reply.text)
        return reply

    async def aclose(self) -> None:
        self._model = None  # its memory may be wanted

    def _answer_batches(self, requests: list[ChatRequest]) -> list[Reply]:
        """The replies, in the order of the requests, a batch of prompts alike in length at a time."""
        from callwright_lab.training import decoding, generation

        prompts = [
            generation.tokenize_chat(
                self._tokenizer,
                generation.ToolChat(
                    messages_out(request.messages), list(map(tool_out, request.tools))
                ),
            )
            for request in requests
        ]
        left = sorted(range(len(prompts)), key=lambda n: len(prompts[n]))
        found: dict[int, Reply] = {}
        while left:
            size = max(1, sum(len(prompts[n]) * (at + 1) <= _TOKENS for at, n in enumerate(left)))
            some, left = left[:size], left[size:]
            replies = decoding.continue_prompts(
                self._model, [prompts[n] for n in some], max(requests[n].max_tokens for n in some),
                ends=self._ends, pad=self._tokenizer.eos_token_id,
            )  # fmt: skip
            for n, reply in zip(some, replies, strict=True):
                text = generation.decode_until_end(
                    self._tokenizer, reply.ids[: requests[n].max_tokens]
                )
                found[n] = self._build_reply(requests[n], len(prompts[n]), reply, text)
        return [found[n] for n in range(len(prompts))]

    def _build_reply(
        self, request: ChatRequest, length: int, made: Continuation, text: str
    ) -> Reply:
        written = len(
            [token for token in made.ids[: request.max_tokens] if token not in self._ends]
        )
        return Reply(
            text,
            usage=Usage(length, written),
            finish_reason="length" if written >= request.max_tokens else "stop",
            logprobs=tuple(made.logprobs[:written]) if request.logprobs else (),
        )


def open_measured_model(spec: str, options: ModelOptions) -> ChatModel:
    """A model from what a user writes, as :func:`callwright.models.open_model` takes it, or
    ``trained:FOLDER``: one in memory.
    """
    if spec.startswith(_KIND):
        return BatchedModel(spec.removeprefix(_KIND), options.at_once or _AT_ONCE)
    return open_model(spec, options)
