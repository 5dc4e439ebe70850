"""Plan, execute, evaluate: a round of trials on one screen (GRETEL, Algorithm 1 and section
3.2.2).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from callwright.agent.execution.invoke import Caller
from callwright.agent.journal.ledger import Ledger
from callwright.agent.probing.attempt import Attempts, Remembers, Simulates
from callwright.agent.probing.candidate import Candidate
from callwright.agent.probing.model_questions import Asking
from callwright.agent.probing.policy import TrialPolicy
from callwright.agent.probing.ranking import rank_candidates
from callwright.agent.probing.relevance import is_calibrated, weigh_candidates
from callwright.agent.probing.result import Ranked, Trials
from callwright.agent.probing.rounds import Rounds
from callwright.agent.probing.values import Request
from callwright.agent.questions import Questions
from callwright.models.model_size import read_profile
from callwright.nouns.model_profile import ModelProfile
from callwright.nouns.protocols import ChatModel, Encoder
from callwright.nouns.redaction import select_redactable
from callwright.nouns.trace import Trace
from callwright.nouns.types import Message, Tool
from callwright.repair.gate import Gate
from callwright.retrieval import Hit
from callwright.tools.evidence import Observation


@dataclass(frozen=True, slots=True)
class ProbingContext:
    """Where a probing takes place: the secrets that are in nothing that comes back
    (``Catalog.secrets``), the clock (Unix time), and the journalled run that it belongs to.

    ``encoder`` (MiniLM) gives replies a calibrated relevance; without it rules alone judge.
    ``profile`` limits what a model is shown and may write; None: that of the size which it states.
    ``trace`` records each trial and their result, and ``ledger`` hands back what is on record;
    ``actor`` must then name this call alone.
    """

    secrets: Sequence[str] = ()
    now: Callable[[], float] = time.time
    trace: Trace | None = None
    ledger: Ledger | None = None
    actor: str = "trials"
    encoder: Encoder | None = None
    profile: ModelProfile | None = None


async def try_tools(
    query: str,
    hits: Sequence[Hit],
    tools: Iterable[Tool],
    *,
    invoker: Caller,
    model: ChatModel | Questions | None = None,
    simulator: Simulates | None = None,
    evidence: Remembers | None = None,
    policy: TrialPolicy | None = None,
    conversation: Sequence[Message] = (),
    context: ProbingContext | None = None,
) -> Trials:
    """Try the candidates ``hits`` of a request and rank them by what their trials proved.

    ``tools`` holds every tool that is named in ``hits``; a hit without a tool is left out, as
    ``problems`` says. Of the others a few that give what a candidate needs and no candidate gives
    may join the candidates. ``invoker`` calls a tool (``Catalog.call``). Without a ``model`` all is
    done from the request, the schemas and the replies; with one, what ``policy`` says is asked of
    it. ``context`` holds secrets, clock and the run.

    Never raises for what a tool, a model or the store of evidence does: that is in ``problems``.
    Cancellation passes through, and what was observed until then is in the store.
    """
    policy, context = policy or TrialPolicy(), context or ProbingContext()
    ledger, actor = context.ledger or Ledger(), context.actor
    if told := ledger.next(actor, "trials"):
        return _load_trials(told["trials"])
    began = time.monotonic()
    forms = select_redactable(context.secrets)
    trace = context.trace if context.trace is not None else Trace(secrets=forms)
    known = {tool.name: tool for tool in tools}
    candidates, problems = _build_candidates(hits, known)
    attempts = Attempts(
        query=query,
        caller=invoker,
        gate=Gate(known.values()),
        policy=policy,
        evidence=evidence,
        simulator=simulator,
        secrets=forms,
        now=context.now,
        trace=trace,
        ledger=ledger,
        actor=actor,
        problems=problems,
    )
    request = Request(
        query, date.fromtimestamp(context.now()), "\n".join(m.content for m in conversation)
    )
    policy = _fit_order(policy, request)
    asks = "model" in (policy.planning, policy.evaluation)
    profile = context.profile or await read_profile(model if asks else None)
    asking = Asking(model, policy, f"{actor}:model", problems, profile)
    named = {one.tool.name for one in candidates}
    others = [tool for name, tool in known.items() if name not in named]
    rounds = Rounds(candidates, others, request, conversation, attempts, asking, policy)
    try:
        async with asyncio.timeout(policy.seconds):
            await rounds.run()
    except TimeoutError:
        problems.append(
            f"the {policy.seconds:g} s for trials are over: what was not tried by then is untested"
        )
        for one in candidates:
            one.note = one.note or "not tried to the end: the time for trials was over"
    if context.encoder is not None and not is_calibrated(context.encoder):
        problems.append(
            f"the similarities of {context.encoder.name} are not calibrated: rules alone judged"
        )
    await weigh_candidates(candidates, request, context.encoder)
    order, agreement = await asking.order(query, candidates)
    seconds = time.monotonic() - began
    made = _build_trials(candidates, order, attempts, asking, agreement, seconds, policy)
    trace.add("trials", trials=made, actor=actor, turn=ledger.turn(actor))
    return made


def _fit_order(policy: TrialPolicy, request: Request) -> TrialPolicy:
    """The policy for a request that cannot be read: that a tool was not tried is then the reader's
    doing, so no success of another overtakes it, unless "proof" is asked for.
    """
    if policy.order != "doubt" or request.is_readable:
        return policy
    return replace(policy, order="retrieved")


def _build_candidates(
    hits: Sequence[Hit], known: Mapping[str, Tool]
) -> tuple[list[Candidate], list[str]]:
    """The hits as candidates, each tool once."""
    first = {hit.name: hit for hit in reversed(hits)}
    ordered = list(dict.fromkeys(hit.name for hit in hits))
    unknown = [name for name in ordered if name not in known]
    found = [first[name] for name in ordered if name in known]
    made = [
        Candidate(known[hit.name], place, hit.score, clause=hit.clause)
        for place, hit in enumerate(found, 1)
    ]
    return made, [f"no tool is called {name}: not ranked" for name in unknown]


def _build_trials(
    candidates: Sequence[Candidate],
    order: Sequence[str],
    attempts: Attempts,
    asking: Asking,
    agreement: float | None,
    seconds: float,
    policy: TrialPolicy,
) -> Trials:
    known = {one.tool.name: one.ranked() for one in candidates}
    names = rank_candidates(list(known.values()), order, order=policy.order, k=policy.k)
    final = [replace(known[name], final=place) for place, name in enumerate(names, 1)]
    made = [attempt for one in candidates for attempt in one.attempts]
    return Trials(
        ranking=tuple(final),
        observations=tuple(attempt.observation for attempt in made),
        calls=attempts.spending.calls,
        tried=sum(bool(one.attempts) for one in candidates),
        remembered=sum(attempt.remembered for attempt in made),
        model_calls=asking.calls,
        seconds=seconds,
        agreement=agreement,
        problems=tuple(dict.fromkeys(attempts.problems)),
    )


def _load_trials(told: dict[str, object]) -> Trials:
    """Trials from the journal."""
    fields: dict[str, object] = dict(told)
    rows = [one | {"fed_by": tuple(one.get("fed_by", ()))} for one in told["ranking"]]  # type: ignore[attr-defined]
    fields["ranking"] = tuple(Ranked(**one) for one in rows)
    fields["observations"] = tuple(Observation(**one) for one in told["observations"])  # type: ignore[attr-defined]
    fields["problems"] = tuple(told["problems"])  # type: ignore[arg-type]
    return Trials(**fields)  # type: ignore[arg-type]
