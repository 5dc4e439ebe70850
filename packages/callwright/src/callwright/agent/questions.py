"""Asking the model: within the budget, cut at the first complete answer, everything recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from typing import TypeVar

from callwright.agent.journal.ledger import Answer, Ledger, build_divergence_error
from callwright.models.dialogue import run_dialogue as dialogue_with
from callwright.nouns.errors import ModelError
from callwright.nouns.limits import Budget
from callwright.nouns.model_profile import SMALL, ModelProfile
from callwright.nouns.protocols import ChatModel, ChatRequest, ReplyMode
from callwright.nouns.trace import Trace
from callwright.nouns.types import Reply, ToolCall, Usage, to_canonical_json, to_json
from callwright.prompts.run_prompt import add_instructions
from callwright.repair.considered_calls import cut_reply, watch_reply
from callwright.tools.python.raised import is_ended_from_outside

T = TypeVar("T")


class LimitReached(Exception):
    """A limit of the run forbids another model call. Caught by the orchestrator, which answers with
    what there is.
    """

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
        ledger: Ledger | None = None,
        instructions: str = "",
        profile: ModelProfile = SMALL,
    ) -> None:
        self.model = model
        self.mode = mode
        self.profile = profile
        self._budget = budget
        self._trace = trace
        self._on_text = on_text
        self._ledger = ledger or Ledger()
        self._instructions = instructions  # stand in the system message of every question
        self._open = 0  # questions on their way
        # calls of tools that have left, each with the event of its return
        self.sent: dict[str, asyncio.Event] = {}

    @property
    def calls_left(self) -> int:
        """Model calls that the limits still allow, the one kept for the answer included; 0 once any
        limit is hit.
        """
        budget = self._budget
        return 0 if budget.exhausted() else budget.limits.model_calls - budget.model_calls

    async def ask(
        self,
        request: ChatRequest,
        calls: int | None = 1,
        actor: str = "",
        on_piece: Callable[[str], None] | None = None,
    ) -> Reply:
        """One model call, its reply cut where the answer is complete (``calls`` of them; None: as
        many as come).

        ``actor`` is who asks: "" for the strategy, else the id of a call. ``on_piece`` is given
        each piece of the reply as it is written, from whatever thread; nothing where the reply is
        replayed. Raises LimitReached before a call that a limit forbids, ModelError if it cannot be
        made, JournalError if another question is recorded in its place.
        """
        messages = add_instructions(request.messages, self._instructions)
        warmth = max(request.temperature, self.profile.temperature)
        request = replace(request, messages=messages, temperature=warmth)
        replayed = self._replayed(request, actor)
        if replayed is not None:
            return replayed
        self._admit(request, actor)
        cutter = None if request.schema is not None else watch_reply(calls)
        self._open += 1
        self._trace.announce("question", purpose=request.purpose)
        try:
            reply = await self.model.complete(request, self._watcher(cutter, on_piece))
        except (Exception, asyncio.CancelledError) as error:  # a ChatModel of the user raises any
            if is_ended_from_outside(error):
                raise
            # it ends the run: what has left would be cancelled in the middle, and a write in doubt
            while under_way := [back for back in self.sent.values() if not back.is_set()]:
                await under_way[0].wait()
            if isinstance(error, Exception):
                raise
            raise ModelError("the model cancelled its own question") from error
        finally:
            self._open -= 1
        discarded = ""
        if cutter is not None:
            kept = cut_reply(reply.text, calls)
            reply, discarded = replace(reply, text=kept.text), kept.discarded
        if request.purpose.startswith(
            "answer"
        ):  # shown to people; a call may need what it is told to send
            reply = replace(reply, text=self._trace.redact(reply.text))
        self._keep(request, reply, discarded, actor, self._ledger.turn(actor))
        return reply

    async def converse(
        self, dialogue: Generator[ChatRequest, Reply, T], actor: str = "", calls: int | None = 1
    ) -> T:
        """Drive a generator of questions to its end and return its value; ``calls`` as for
        :meth:`ask`.
        """
        return await dialogue_with(dialogue, partial(self.ask, actor=actor, calls=calls))

    def _replayed(self, request: ChatRequest, actor: str) -> Reply | None:
        """The recorded reply to this question, or None where it was not asked yet. A recorded
        refusal is raised.
        """
        if told := self._ledger.next(actor, "limit"):
            self._trace.add("limit", **told)
            raise LimitReached(told["limit"])
        told = self._ledger.next(actor, "model")
        if told is None:
            return None
        if told["prompt"] != self._trace.blob(_render_request(request)):
            raise build_divergence_error(
                f"the question '{request.purpose}' is not the one that was asked"
            )
        if told["withheld"]:
            raise build_divergence_error(
                "a reply of the model held a secret, and secrets are not written down"
            )
        reply = _load_reply(told, self._ledger)
        self._keep(request, reply, told["discarded"], actor, told["turn"])
        return reply

    def _admit(self, request: ChatRequest, actor: str) -> None:
        limit = self._budget.exhausted()
        if not limit and not request.purpose.startswith(
            "answer"
        ):  # one call is kept for the answer
            left = self._budget.limits.model_calls - self._budget.model_calls - self._open
            limit = "model_calls" if left <= 1 else ""
        if limit:
            turn = self._ledger.turn(actor)
            self._trace.add("limit", limit=limit, purpose=request.purpose, actor=actor, turn=turn)
            raise LimitReached(limit)

    def _watcher(
        self, cutter: Callable[[str], bool] | None, on_piece: Callable[[str], None] | None
    ) -> Callable[[str], bool] | None:
        shown = [show for show in (self._on_text, on_piece) if show is not None]
        if cutter is None and not shown:
            return None

        def watch(piece: str) -> bool:
            for show in shown:
                show(piece)
            return cutter(piece) if cutter is not None else False

        return watch

    def _keep(
        self, request: ChatRequest, reply: Reply, discarded: str, actor: str, turn: int
    ) -> None:
        """Charge a reply to the budget and record it, with all that is needed to replay it."""
        self._budget.charge(reply.usage)
        self._trace.add(
            "model",
            purpose=request.purpose,
            mode=_get_mode(request),
            prompt=self._trace.blob(_render_request(request)),
            schema=self._trace.blob(to_canonical_json(request.schema)) if request.schema else None,
            reply=self._trace.blob(reply.text),
            reasoning=self._trace.blob(reply.reasoning) if reply.reasoning else None,
            native_calls=to_json(reply.tool_calls),
            finish_reason=reply.finish_reason,
            discarded=discarded,
            usage=to_json(reply.usage),
            estimated=reply.estimated,
            model=reply.model,
            seconds=round(reply.seconds, 3),
            withheld=_is_redacted(reply, self._trace),
            actor=actor,
            turn=turn,
            **({"first_token": dict(reply.first_token)} if reply.first_token else {}),
        )


def _get_mode(request: ChatRequest) -> str:
    """Return how the reply is constrained, in the words of the trace's ``model`` event."""
    if request.schema:
        return "schema"
    return "native" if request.tools else "text"


def _render_request(request: ChatRequest) -> str:
    return "\n\n".join(f"[{m.role}]\n{m.content}" for m in request.messages)


def _is_redacted(reply: Reply, trace: Trace) -> bool:
    """Return True if redaction changes a reply before it is recorded."""
    said = [reply.text, to_json(reply.tool_calls)]
    return bool(trace.secrets) and trace.redact(said) != said


def _load_reply(told: Answer, ledger: Ledger) -> Reply:
    return Reply(
        text=ledger.text(told["reply"]),
        tool_calls=tuple(ToolCall(**call) for call in told["native_calls"]),
        usage=Usage(**told["usage"]),
        finish_reason=told["finish_reason"],
        model=told["model"],
        seconds=told["seconds"],
        reasoning=ledger.text(told["reasoning"]) if told["reasoning"] else "",
        estimated=told["estimated"],
        first_token=told.get("first_token", {}),
    )
