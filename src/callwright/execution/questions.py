"""Asking the model: within the budget, cut at the first complete answer, everything recorded."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import TypeVar

from callwright.dialects import Cutter, cut
from callwright.limits import Budget
from callwright.protocols import ChatModel, ChatRequest, ReplyMode
from callwright.trace import Trace
from callwright.types import Reply, canonical, to_json

T = TypeVar("T")


class LimitReached(Exception):
    """A limit of the run forbids another model call. Caught by the orchestrator, which answers with what there is."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


class Questions:
    """The one way of a run to its model."""

    def __init__(
        self,
        model: ChatModel,
        mode: ReplyMode,
        budget: Budget,
        trace: Trace,
        on_text: Callable[[str], None] | None = None,
    ) -> None:
        self.model = model
        self.mode = mode
        self._budget = budget
        self._trace = trace
        self._on_text = on_text

    @property
    def calls_left(self) -> int:
        """Model calls that the limits still allow, the one kept for the answer included; 0 once any limit is hit."""
        budget = self._budget
        return 0 if budget.exhausted() else budget.limits.model_calls - budget.model_calls

    async def ask(self, request: ChatRequest, calls: int | None = 1) -> Reply:
        """One model call, its reply cut where the answer is complete (``calls`` of them; None: as many as come).

        Raises LimitReached before a call that a limit forbids, ModelError if it cannot be made.
        """
        self._admit(request)
        cutter = None if request.schema is not None else Cutter(calls=calls)
        reply = await self.model.complete(request, self._watcher(cutter))
        discarded = ""
        if cutter is not None:
            kept = cut(reply.text, calls=calls)
            reply, discarded = replace(reply, text=kept.text), kept.discarded
        if request.purpose.startswith("answer"):  # shown to people; a call may need what it is told to send
            reply = replace(reply, text=self._trace.redact(reply.text))
        self._budget.charge(reply.usage)
        self._record(request, reply, discarded)
        return reply

    async def converse(self, dialogue: Generator[ChatRequest, Reply, T]) -> T:
        """Drive a generator of questions to its end and return its value."""
        try:
            request = next(dialogue)
            while True:
                request = dialogue.send(await self.ask(request))
        except StopIteration as done:
            value: T = done.value
            return value
        finally:
            dialogue.close()

    def _admit(self, request: ChatRequest) -> None:
        limit = self._budget.exhausted()
        if not limit and not request.purpose.startswith("answer"):  # one call is kept for the answer
            left = self._budget.limits.model_calls - self._budget.model_calls
            limit = "model_calls" if left <= 1 else ""
        if limit:
            self._trace.add("limit", limit=limit, purpose=request.purpose)
            raise LimitReached(limit)

    def _watcher(self, cutter: Cutter | None) -> Callable[[str], bool] | None:
        show = self._on_text
        if cutter is None and show is None:
            return None

        def watch(piece: str) -> bool:
            if show is not None:
                show(piece)
            return cutter(piece) if cutter is not None else False

        return watch

    def _record(self, request: ChatRequest, reply: Reply, discarded: str) -> None:
        prompt = "\n\n".join(f"[{m.role}]\n{m.content}" for m in request.messages)
        self._trace.add(
            "model",
            purpose=request.purpose,
            mode="schema" if request.schema else "native" if request.tools else "text",
            prompt=self._trace.blob(prompt),
            schema=self._trace.blob(canonical(request.schema)) if request.schema else None,
            reply=self._trace.blob(reply.text),
            native_calls=to_json(reply.tool_calls),
            finish_reason=reply.finish_reason,
            discarded=discarded,
            usage=to_json(reply.usage),
            seconds=round(reply.seconds, 3),
        )
