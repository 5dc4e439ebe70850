"""Execute: one call of a trial, remembered, real or simulated, and what it showed (GRETEL,
Algorithm 1, 5-15).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from callwright.agent.execution.invoke import Caller, invoke
from callwright.agent.gaps import unknown_keys
from callwright.agent.journal.ledger import Ledger
from callwright.agent.probing.arguments import Draft
from callwright.agent.probing.pacing import Pacer, Spending, get_host
from callwright.agent.probing.policy import TrialPolicy
from callwright.agent.probing.verdict import ProbeVerdict, is_about, judge_result
from callwright.agent.safety.clear import ClearanceState, Denied, clear
from callwright.agent.safety.consent import Consent
from callwright.dataflow.flow import split_words
from callwright.jsontext import JsonError, parse
from callwright.language import ENGLISH
from callwright.language.credentials import mask_secrets
from callwright.nouns.errors import CallwrightError, Failure
from callwright.nouns.redaction import redact_secrets
from callwright.nouns.trace import Trace
from callwright.nouns.types import (
    CheckedCall,
    Json,
    JsonObject,
    Tool,
    ToolCall,
    ToolResult,
    get_public_fields,
)
from callwright.repair.gate import Gate, Refusal
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.tools.evidence import UNDOCUMENTED, Observation, make_excerpt

MAY_BE_TRIED = Consent(allow=("*",))  # of calls about which :func:`explain_untriable` has decided
# what may be otherwise soon: a server is back, a key was given, something was recorded
_PASSING_KINDS = frozenset({"rate_limit", "timeout", "unavailable", "auth", "empty"})
_REMOVING = ENGLISH.words("effects.removing")
_PROVED_NOTHING = frozenset({"rate_limit"})  # that we called too often is not the tool's doing


class Simulates(Protocol):
    """Protocol of a source of plausible replies:
    :class:`callwright.simulation.simulator.Simulator`. If it has none, the result carries a
    failure.
    """

    async def simulate(
        self, call: ToolCall, tool: Tool, query: str, error: Failure | None
    ) -> ToolResult: ...


class Remembers(Protocol):
    """Protocol of the evidence store that tool probing needs:
    :class:`callwright.tools.evidence.EvidenceStore`.
    """

    def record(self, observations: Sequence[Observation]) -> None: ...

    def remembered(
        self, digest: str, arguments: JsonObject, newest_after: float
    ) -> Observation | None: ...


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call and what it showed. ``proves`` is false where a failure may be that of a guess or of
    our own haste, and where the tool says that there is no such thing as was asked for, which only
    a tool that works can say.

    ``content`` is the reply, ``whole`` whether all of it is there. ``called``: a real call left;
    ``remembered``: one that left before. ``about``: something of the request is in the call or in
    its reply.
    """

    observation: Observation
    content: Json = None
    whole: bool = False
    proves: bool = True
    blames_arguments: bool = False
    again: bool = False
    called: bool = False
    remembered: bool = False
    about: bool = True

    @property
    def works(self) -> bool:
        """Return True if a real call succeeded."""
        return self.observation.outcome == "functional_success" and not self.observation.simulated


def explain_untriable(tool: Tool, policy: TrialPolicy) -> str:
    """Return the reason why a tool may not be called in probing; "" if it may.

    It must be declared to read, and such a declaration by an untrusted source is not believed. A
    name that says that the tool removes something overrides any declaration.
    """
    if policy.in_sandbox(tool):
        return ""
    if not tool.effects.read_only:
        known = "may write" if tool.effects.declared else "is not known to be read-only"
        return f"not tried: it {known}, and no sandbox is declared for it"
    if set(split_words(tool.name)[:1]) & _REMOVING:
        return (
            "not tried: its name says that it removes something, and no sandbox is declared for it"
        )
    return ""


def explain_guess(tool: Tool, draft: Draft, policy: TrialPolicy) -> str:
    """Return the reason why a call may not be made for the values in it; "" if it may.

    A guess is not sent to a tool that reaches outside, where it may cost money or trust, unless the
    tool is declared free or its effects are thrown away.
    """
    if not draft.guessed or not tool.effects.open_world:
        return ""
    if policy.is_free(tool) or policy.in_sandbox(tool):
        return ""
    return (
        f"not tried: the value of {', '.join(map(repr, draft.guessed))} would be a guess, and the"
        " tool reaches outside and is not declared free (a price of 0)"
    )


@dataclass(slots=True)
class Attempts:
    """Makes the calls of one round of trials. Never raises for the world."""

    query: str
    caller: Caller
    gate: Gate
    policy: TrialPolicy
    evidence: Remembers | None = None
    simulator: Simulates | None = None
    secrets: Sequence[str] = ()
    now: Callable[[], float] = time.time
    trace: Trace = field(default_factory=Trace)
    ledger: Ledger = field(default_factory=Ledger)
    actor: str = "trials"
    problems: list[str] = field(default_factory=list)
    pacer: Pacer = field(init=False)
    spending: Spending = field(init=False)

    def __post_init__(self) -> None:
        self.pacer, self.spending = Pacer(self.policy), Spending(self.policy)

    async def make(
        self,
        tool: Tool,
        draft: Draft,
        sources: ProvenanceIndex,
        *,
        whole: bool = False,
        again: bool = False,
    ) -> Attempt | str:
        """Make one call, or say why it was not made. ``whole``: a reply of which only a part is
        remembered is no use. ``again``: none is, since the call is to be repeated.

        What is on record of this run is not done again.
        """
        actor = f"{self.actor}:{tool.name}"
        if told := self.ledger.next(actor, "trial"):
            attempt = _load_attempt(told)
            if attempt.called:
                self.spending.spend(tool)
        else:
            made = await self._make(tool, draft, sources, whole, again)
            if isinstance(made, str):
                return made
            attempt = self._without_secrets(made)
            self.trace.add(
                "trial", **get_public_fields(attempt), actor=actor, turn=self.ledger.turn(actor)
            )
        return attempt

    async def _make(
        self, tool: Tool, draft: Draft, sources: ProvenanceIndex, whole: bool, again: bool
    ) -> Attempt | str:
        call = ToolCall(f"{self.actor}:{tool.name}", tool.name, draft.arguments)
        verdict = self.gate.check(call, sources)
        if isinstance(verdict, Refusal):
            return self._refused(tool, draft, verdict)
        if not again and (known := self._remembered(verdict, draft, whole)):
            return known
        if why := self._explain_held_back(tool, draft):
            return await self._in_place_of(verdict, why)
        if why := self._forbidden(tool):
            return why
        cleared = clear(verdict, ClearanceState(sources, MAY_BE_TRIED))
        if isinstance(cleared, Denied):
            return await self._in_place_of(verdict, cleared.reason)
        async with self.pacer.turn(tool):
            if why := self._forbidden(tool):  # for what came back while it waited
                return why
            self.spending.spend(tool)
            result = await invoke(
                cleared,
                self.caller,
                timeout=self.policy.tool_seconds,
                max_bytes=self.policy.result_bytes,
            )
        return await self._judged(verdict, result, draft)

    def _explain_held_back(self, tool: Tool, draft: Draft) -> str:
        """Return the reason why a call stays here, where a simulated reply may stand in; "" if it
        may leave.
        """
        if self.policy.simulate == "only":
            return "not tried: replies are only simulated"
        return explain_untriable(tool, self.policy) or explain_guess(tool, draft, self.policy)

    async def _in_place_of(self, call: CheckedCall, why: str) -> Attempt | str:
        """A simulated reply of a tool that cannot be tried; else why it was not."""
        if self.policy.simulate == "never":
            return why
        return await self._simulated(call, None, why) or why

    def _forbidden(self, tool: Tool) -> str:
        if get_host(tool) in self.pacer.refusing:
            return f"not tried: {get_host(tool)} takes no more calls for now"
        why = self.spending.refusal(tool)
        if why and why not in self.problems:
            self.problems.append(why)
        return f"not tried: {why}" if why else ""

    async def _judged(self, call: CheckedCall, result: ToolResult, draft: Draft) -> Attempt | str:
        verdict = judge_result(result, call.tool, self.query)
        if verdict.kind == "rate_limit" and (host := get_host(call.tool)):
            self.pacer.refusing.add(host)
        if verdict.outcome is None:  # known by its schema only: nothing was called
            return await self._in_place_of(call, verdict.proof)
        attempt = self._attempt(call, result, verdict, draft)
        self._keep(attempt.observation)
        failed = verdict.outcome != "functional_success"
        if failed and (
            self.policy.simulate == "every"
            or (self.policy.simulate == "transient" and verdict.transient)
        ):
            simulated = await self._simulated(call, verdict.failure, verdict.proof)
            return replace(simulated, called=True) if simulated else attempt
        return attempt

    def _attempt(
        self, call: CheckedCall, result: ToolResult, verdict: ProbeVerdict, draft: Draft
    ) -> Attempt:
        said = verdict.failure.message if verdict.failure is not None else ""
        blames = verdict.blames_arguments and verdict.kind != UNDOCUMENTED
        return Attempt(
            observation=self._observed(call.tool, call.arguments, verdict, result),
            content=result.content,
            whole=True,
            proves=_is_proof(verdict.kind, said, call.arguments, blames and _may_be_wrong(draft)),
            blames_arguments=blames,
            again=verdict.transient and verdict.kind == "unavailable",
            called=True,
            about=self._about(call, draft, result.content),
        )

    def _about(self, call: CheckedCall, draft: Draft, content: Json) -> bool:
        """Return True if this call concerns the request. Values from another tool's reply were
        fetched for it.
        """
        return bool(draft.given_by) or is_about(self.query, call.tool, call.arguments, content)

    def _refused(self, tool: Tool, draft: Draft, refusal: Refusal) -> Attempt:
        """The gate refused the call: planned from what is at hand, it is no call of this tool."""
        said = refusal.violations[0] if refusal.violations else None
        proof = f"no valid call can be made: {said.message if said else 'refused by the gate'}"
        verdict = ProbeVerdict(
            "parameter_mismatch", said.kind if said else "schema", proof[:300], True
        )
        seen = self._observed(tool, draft.arguments, verdict, None)
        # a value of another kind than the schema wants is the reader's doing
        is_misread = said is not None and said.keyword in ("type", "anyOf", "oneOf")
        return Attempt(seen, proves=not (is_misread or _may_be_wrong(draft)), blames_arguments=True)

    def _remembered(self, call: CheckedCall, draft: Draft, whole: bool) -> Attempt | None:
        """Return the attempt that the same call gave recently, if it is still fresh and usable."""
        if self.evidence is None:
            return None
        now, policy = self.now(), self.policy
        try:
            seen = self.evidence.remembered(call.tool.digest, call.arguments, now - policy.fresh)
        except CallwrightError as error:
            self._store_failed(error)
            return None
        if (
            seen is None
            or seen.kind == "irrelevant"  # to the request for which it was made
            or (seen.simulated and policy.simulate == "never")
        ):
            return None
        if (
            seen.kind in _PASSING_KINDS or seen.simulated
        ) and seen.at <= now - policy.fresh_transient:
            return None
        content, complete = _parse_reply(seen.reply)
        if whole and not complete:
            return None
        failed = seen.outcome != "functional_success"
        tool_alone = seen.outcome == "execution_failure" and seen.kind != "crashed"
        blames = failed and not tool_alone and seen.kind != UNDOCUMENTED
        proves = _is_proof(
            seen.kind, seen.reply if failed else "", call.arguments, blames and _may_be_wrong(draft)
        )
        about = self._about(call, draft, content)
        return Attempt(seen, content, complete, proves, blames, remembered=True, about=about)

    async def _simulated(
        self, call: CheckedCall, error: Failure | None, why: str
    ) -> Attempt | None:
        """A made-up reply that would serve; None where nobody makes one up, or it would not."""
        if self.simulator is None:
            return None
        raw = ToolCall(call.id, call.tool.name, call.arguments)
        try:
            result = await self.simulator.simulate(raw, call.tool, self.query, error)
        except CallwrightError as failed:
            self.problems.append(f"{call.tool.name} could not be simulated: {failed.message}")
            return None
        verdict = judge_result(result, call.tool, self.query)
        if verdict.outcome != "functional_success":
            return None
        verdict = replace(
            verdict,
            kind="simulated",
            proof=f"{why}; a simulated reply stands in, which proves nothing",
        )
        seen = replace(self._observed(call.tool, call.arguments, verdict, result), simulated=True)
        self._keep(seen)
        return Attempt(seen, result.content, False)

    def _observed(
        self, tool: Tool, arguments: JsonObject, verdict: ProbeVerdict, result: ToolResult | None
    ) -> Observation:
        content = result.content if result is not None and result.content is not None else None
        if content is None and verdict.failure is not None:
            content = verdict.failure.message
        return Observation(
            tool=tool.name,
            digest=tool.digest,
            outcome=verdict.outcome or "execution_failure",
            arguments=redact_secrets(arguments, self.secrets),
            reply="" if content is None else make_excerpt(content, self.secrets),
            kind=verdict.kind,
            proof=redact_secrets(verdict.proof, self.secrets),
            seconds=result.seconds if result is not None else 0.0,
            simulated=bool(result.simulated) if result is not None else False,
            origin="trial",
            at=self.now(),
        )

    def _keep(self, observation: Observation) -> None:
        """Put it into the store at once: what a killed process had found out is not lost."""
        if self.evidence is not None:
            try:
                self.evidence.record([observation])
            except CallwrightError as error:
                self._store_failed(error)

    def keep_missing(self, tool: Tool, proof: str) -> Attempt:
        """A planning failure, which needs no call: an input that nobody gives."""
        verdict = ProbeVerdict("parameter_mismatch", "missing", proof)
        seen = self._observed(tool, {}, verdict, None)
        self._keep(seen)
        return self._without_secrets(Attempt(seen))

    def _store_failed(self, error: CallwrightError) -> None:
        """The store is a help, not a condition: without it every trial is made again."""
        self.problems.append(f"trials go without remembered evidence: {error.message}")
        self.evidence = None

    def _without_secrets(self, attempt: Attempt) -> Attempt:
        seen = attempt.observation
        safe = replace(
            seen,
            arguments=mask_secrets(seen.arguments, self.secrets),
            proof=mask_secrets(seen.proof, self.secrets),
            reply=mask_secrets(seen.reply, self.secrets),
        )
        return replace(
            attempt, observation=safe, content=redact_secrets(attempt.content, self.secrets)
        )


def _is_proof(kind: str, said: str, arguments: JsonObject, guess: bool) -> bool:
    """Return True if an outcome, new or remembered, proves anything. ``said`` is the failure's
    text; ``guess`` is True if the failure may concern a guessed value.
    """
    return not guess and kind not in _PROVED_NOTHING and not unknown_keys(said, arguments)


def _may_be_wrong(draft: Draft) -> bool:
    """Return True if a value of the call may not be the intended one: a guess, a value from another
    tool, or a model's choice.
    """
    return bool(draft.guessed or draft.given_by or draft.is_opinion)


def _parse_reply(reply: str) -> tuple[Json, bool]:
    """A remembered reply as a value, and whether all of it is there."""
    try:
        return parse(reply), True
    except JsonError:
        return reply, not reply.endswith("…") and reply[:1] not in ("{", "[")


def _load_attempt(told: Any) -> Attempt:
    fields = {name: told[name] for name in Attempt.__dataclass_fields__ if name != "observation"}
    return Attempt(observation=Observation(**told["observation"]), **fields)
