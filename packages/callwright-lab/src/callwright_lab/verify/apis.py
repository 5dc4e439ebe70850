"""Verify tools by calling them (Tool-MVR, 3.2.1 and B.1): propose, execute, decide who is alive,
imitate the dead, refine the documentation by what was seen.

Only tools that are declared to read are called, or those in a declared sandbox
(:mod:`callwright.agent.probing.policy`). Tools whose inputs others return are called after them,
with what came back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import zip_longest
from typing import Any

from callwright.agent.probing.arguments import Draft
from callwright.agent.probing.attempt import Attempt, Attempts, explain_untriable
from callwright.agent.probing.chains import FEEDS, Feeding, extract_link_values
from callwright.agent.probing.pacing import Pacer
from callwright.agent.probing.policy import TrialPolicy
from callwright.dataflow.flow import GENERIC, split_words
from callwright.models.dialogue import run_dialogue
from callwright.nouns.errors import CallwrightError
from callwright.nouns.protocols import ChatModel
from callwright.nouns.redaction import select_redactable
from callwright.nouns.types import (
    Json,
    JsonObject,
    Tool,
    ToolCall,
    ToolOutput,
    ToolResult,
    to_canonical_json,
    to_json,
)
from callwright.repair.diagnose import failure_in
from callwright.repair.gate import Gate
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.simulation.simulator import Simulator
from callwright.tools.evidence import EvidenceStore
from callwright.tools.overlay import Overlay, OverlayChange, ToolOverlay, apply_changes, documented
from callwright_lab.verify.budget import Meter
from callwright_lab.verify.committee import Votes, decide_majority, poll_judges
from callwright_lab.verify.memory import InDoubt
from callwright_lab.verify.observed import Seen, observe_calls
from callwright_lab.verify.proposals import (
    MOST,
    Proposals,
    ask_example_calls,
    propose_by_rule,
    select_valid_calls,
)
from callwright_lab.verify.refiner import Refined, ask_refinement
from callwright_lab.verify.sweep import Finding, Row, Sweep, make_row_key

Caller = Callable[[str, JsonObject], Awaitable[ToolOutput]]
KEPT = ("alive", "responds")
_NAMED = 3  # values of one reply that are tried for an input of their name
_VALUE = 120  # characters of a value that is handed on from a reply
_REPLY = 20_000  # characters of a reply that the journal keeps, for tools that are fed by it
_TRANSIENT = frozenset({"rate_limit", "timeout", "cancelled"})
VALID, INVALID = "valid", "invalid"


@dataclass(frozen=True, slots=True)
class Watch:
    """Settings for verifying tools. ``calls`` is the limit per tool; ``policy`` says what may be
    called, and how fast.

    ``proposer`` writes example calls (Table 12) besides those from the schema. ``refiners`` decide
    on validity by majority and write documentation (Table 13); the first text that keeps to the
    rules is taken. ``imitator`` answers for dead tools (Table 14). ``place`` returns who answers
    the calls of a tool (:meth:`callwright.tools.Catalog.place`): the same documentation elsewhere
    is another tool.
    """

    calls: int = MOST
    policy: TrialPolicy = field(default_factory=TrialPolicy)
    proposer: ChatModel | None = None
    refiners: Mapping[str, ChatModel] = field(default_factory=dict)
    imitator: ChatModel | None = None
    evidence: EvidenceStore | None = None
    secrets: Sequence[str] = ()
    today: date = field(default_factory=date.today)
    place: Callable[[str], str] = lambda _: ""


class ApiVerifier:
    """Verifies the tools of one catalogue. ``judge`` and ``levels`` are what
    :func:`callwright_lab.verify.sweep.run_sweep` takes.
    """

    def __init__(self, tools: Sequence[Tool], caller: Caller, watch: Watch) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self._caller, self._watch = caller, watch
        self._feeding = Feeding(tools)
        self._gate = Gate(tools)
        self._pacer = Pacer(watch.policy)
        self._secrets = select_redactable(watch.secrets)
        self._results: dict[str, list[ToolResult]] = {}
        self._guessing = False

    def rows(self) -> list[Row[Tool]]:
        """A row for every tool."""
        place = self._watch.place
        return [
            Row(tool.name, make_row_key("apis", tool.digest, place(tool.name)), tool)
            for tool in self.tools.values()
        ]

    def levels(self, rows: Sequence[Row[Tool]]) -> Generator[Sequence[Row[Tool]], Sweep, None]:
        """The rows in the order in which they can be judged: those whose inputs are documented,
        then those that are fed by what came back, then those that need a guess; last those for
        which nothing is known.
        """
        waiting = list(rows)
        while waiting:
            ready = [row for row in waiting if not self._proposals(row.item).lacking]
            if not ready and not self._guessing:
                self._guessing = True
                continue
            made = yield ready or waiting
            if not ready:
                return
            self._learn(made.findings)
            waiting = [row for row in waiting if row not in ready]

    def _learn(self, findings: Sequence[Finding]) -> None:
        """Keep what came back of tools that answered, for those that are fed by it."""
        for finding in findings:
            worked = [s for s in _load_seen(finding) if s.works]
            self._results[finding.id] = [
                ToolResult(finding.id, finding.id, s.arguments, s.reply) for s in worked
            ]

    def _proposals(self, tool: Tool) -> Proposals:
        given = {key: self._given(tool, key) for key in tool.properties}
        known = self._remembered(tool)
        watch = self._watch
        return propose_by_rule(
            tool, watch.today, given=given, known=known, most=watch.calls, guess=self._guessing
        )

    def _given(self, tool: Tool, key: str) -> list[Json]:
        """Return values for an input from other tools' results, taking one from each possible
        provider in turn.
        """
        found = [
            [
                v.value
                for result in self._results.get(producer.name, ())
                for v in extract_link_values(link, result)
            ]
            for link, producer in self._feeding.providers(tool, key, FEEDS)
        ]
        if not any(found) and not set(split_words(key)) <= GENERIC:
            found = [*self._named_so(tool, key)]
        return [
            value
            for some in zip_longest(*found, fillvalue=None)
            for value in some
            if _is_short(value)
        ]

    def _named_so(self, tool: Tool, key: str) -> Iterator[list[Json]]:
        """Yield the values under an input's own name in each other tool's replies, where no
        documentation links them.
        """
        for name, results in self._results.items():
            if name != tool.name:
                leaves = (
                    leaf
                    for leaf in ProvenanceIndex(results=results).leaves_under(key)
                    if leaf.path[-1] == key
                )
                yield list({to_canonical_json(leaf.value): leaf.value for leaf in leaves}.values())[
                    :_NAMED
                ]

    def _remembered(self, tool: Tool) -> list[JsonObject]:
        """Arguments that are on record as having worked."""
        store = self._watch.evidence
        try:
            worked = store.health(tool.digest).worked if store is not None else ()
        except CallwrightError:  # evidence is a help, not a condition
            return []
        return [
            one.arguments for one in worked if "[secret]" not in to_canonical_json(one.arguments)
        ]

    async def judge(self, tool: Tool, meter: Meter) -> Finding:
        """Verify one tool. Raises BudgetSpent, ModelError."""
        tried: list[Attempt] = []
        finding = await self._judged(tool, meter, tried)
        self._keep(
            tried
        )  # last: calls are proposed by what is evidence, and who goes on proposes them again
        return finding

    async def _judged(self, tool: Tool, meter: Meter, tried: list[Attempt]) -> Finding:
        policy = self._watch.policy
        if why := explain_untriable(tool, policy):
            return await self._imitated(tool, "untried: may write", why, meter)
        plan = self._proposals(tool)
        calls = await self._asked_for(tool, plan, meter)
        if not calls:
            lacking = ", ".join(map(repr, plan.lacking))
            return await self._imitated(
                tool, "untried: no input", f"nothing gives {lacking}", meter
            )
        try:
            tried += await self._attempts(tool, calls, meter)
        except InDoubt as doubt:
            return _build_finding("in doubt", str(doubt), (), ToolOverlay(documented(tool)), {}, ())
        seen = [_build_seen(one) for one in tried]
        found = observe_calls(tool, seen)
        status, why = _judge_liveness(tried, seen, found.drift)
        refined, votes = (
            await self._refined(tool, seen, meter) if status.startswith(KEPT) else (None, {})
        )
        if refined is not None and decide_majority(votes).label == INVALID:
            status, why = (
                "doubted",
                f"calls came back, and {_join_doubters(votes)} found no valid tool: {why}",
            )
        if not status.startswith(KEPT):
            return await self._imitated(tool, status, why, meter, seen, found, votes)
        return _build_finding(
            status,
            why,
            seen,
            _merge_observations(found, refined),
            votes,
            refined.refused if refined else (),
        )

    async def _attempts(
        self, tool: Tool, calls: Sequence[JsonObject], meter: Meter
    ) -> list[Attempt]:
        """The calls and what came of them; where none served, others. Raises InDoubt."""
        attempts = await self._made(tool, calls, meter)
        if not any(one.works for one in attempts) and any(one.blames_arguments for one in attempts):
            attempts += await self._made(tool, self._others(tool, calls), meter)
        return [*attempts, *await self._as_taught(tool, attempts, meter)]

    def _others(self, tool: Tool, tried: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
        """Calls with values that anybody would try, where those that were given did not serve."""
        most = self._watch.calls
        found = propose_by_rule(tool, self._watch.today, most=most + len(tried)).calls
        known = set(map(to_canonical_json, tried))
        return tuple(call for call in found if to_canonical_json(call) not in known)[:most]

    async def _as_taught(
        self, tool: Tool, attempts: Sequence[Attempt], meter: Meter
    ) -> list[Attempt]:
        """Calls as the tool itself said that they should be, where none was answered so far."""
        if any(one.works for one in attempts):
            return []
        taught = apply_changes(
            tool,
            [
                c
                for c in observe_calls(tool, [_build_seen(one) for one in attempts]).changes
                if c.key
            ],
        )
        if taught == tool:
            return []
        calls = propose_by_rule(taught, self._watch.today, most=self._watch.calls).calls
        return await self._made(taught, calls, meter)

    async def _asked_for(self, tool: Tool, plan: Proposals, meter: Meter) -> tuple[JsonObject, ...]:
        """The calls to make: the schema's first, then a model's, together at most as many as are
        wanted.
        """
        asked, most = self._watch.proposer, self._watch.calls
        if asked is None or not tool.properties:
            return plan.calls
        model = meter.metered(asked)
        shown = [
            f"{name}: {to_canonical_json(r.content)[:300]}"
            for name, some in self._results.items()
            for r in some[:1]
        ]
        constrained = (await model.capabilities()).json_schema
        dialogue = ask_example_calls(
            tool, seen="\n".join(shown[-8:]), most=most, schema=constrained
        )
        written = await run_dialogue(dialogue, model.complete)
        sure = plan.calls[:1] if not plan.guessed else ()
        return select_valid_calls(tool, [*sure, *written, *plan.calls], most)

    async def _made(self, tool: Tool, calls: Sequence[JsonObject], meter: Meter) -> list[Attempt]:
        watch = self._watch
        policy = replace(watch.policy, calls=len(calls), simulate="never")
        gate = self._gate.with_tool(tool)

        async def caller(_: str, arguments: JsonObject) -> ToolOutput:
            return await meter.called(tool, arguments, self._caller, secrets=self._secrets)

        attempts = Attempts(
            "", caller, gate, policy, secrets=self._secrets, actor=f"verify:{tool.name}"
        )
        attempts.pacer = self._pacer  # one for all tools: hosts are spared by all of them together
        made = []
        for arguments in calls:
            known = meter.knows_call(tool.name, arguments)
            meter.call(known=known)
            one = await attempts.make(
                tool, Draft(arguments), ProvenanceIndex(to_canonical_json(arguments))
            )
            meter.settled()
            if not known and not (isinstance(one, Attempt) and one.called):
                meter.no_call()
            if isinstance(one, Attempt):
                made.append(one)
        return made

    def _keep(self, attempts: Sequence[Attempt]) -> None:
        if self._watch.evidence is not None:
            with suppress(CallwrightError):  # evidence is a help, not a condition
                self._watch.evidence.record([one.observation for one in attempts if one.called])

    async def _refined(
        self, tool: Tool, seen: Sequence[Seen], meter: Meter
    ) -> tuple[Refined | None, Votes]:
        """The documentation of the first refiner that keeps to the rules, and what all of them say
        of validity.
        """
        judges = self._watch.refiners
        if not judges:
            return None, {}

        told = await poll_judges(
            judges,
            lambda constrained, _: ask_refinement(tool, seen, schema=constrained),
            meter.metered,
        )
        votes = {name: _label_vote(one) for name, one in told.items()}
        refused = tuple(dict.fromkeys(why for one in told.values() for why in one.refused))
        taken = next((one for one in told.values() if one.changes), Refined(None))
        return replace(taken, refused=refused), votes

    async def _imitated(
        self, tool: Tool, status: str, why: str, meter: Meter, seen: Sequence[Seen] = (),
        found: ToolOverlay | None = None, votes: Votes | None = None,
    ) -> Finding:  # fmt: skip
        """The finding of a tool that cannot be used, with a simulated reply where somebody imitates
        it.
        """
        kept = ToolOverlay(documented(tool), drift=found.drift if found else ())
        made = _build_finding(status, why, seen, kept, votes or {}, ())
        imitator = self._watch.imitator
        call = next((s.arguments for s in seen), None) or next(
            iter(self._proposals(tool).calls), None
        )
        if imitator is None or call is None:
            return made
        result = await Simulator(model=meter.metered(imitator)).simulate(
            ToolCall("", tool.name, call), tool
        )
        if result.ok:
            example = {"arguments": call, "reply": result.content, "simulated": result.simulated}
            return replace(made, found={**made.found, "stand_in": example})
        return made


def _is_short(value: Json) -> bool:
    return value is not None and len(to_canonical_json(value)) <= _VALUE


def _label_vote(refined: Refined) -> str:
    if refined.valid is None:
        return ""
    if refined.valid:
        return VALID
    return INVALID


def _join_doubters(votes: Votes) -> str:
    return ", ".join(name for name, label in votes.items() if label == INVALID)


def _build_seen(attempt: Attempt) -> Seen:
    one = attempt.observation
    works = attempt.works
    said = "" if works or one.outcome == "functional_success" else one.reply
    return Seen(
        one.arguments, one.outcome, one.kind, one.proof, said, attempt.content if works else None
    )


def _judge_liveness(
    attempts: Sequence[Attempt], seen: Sequence[Seen], drift: Sequence[str]
) -> tuple[str, str]:
    """The Validator's verdict by rule, and why. A tool whose call came back with what it promises
    is alive; one that refuses values or has nothing for them answers; one that wants what its
    documentation does not name cannot be used as documented; what failed for the moment decides
    nothing.
    """
    if not seen:
        return "unsettled", "no call could be made for now"
    if working := [s for s in seen if s.works]:
        return "alive", f"{len(working)} of {len(seen)} calls answered; {working[0].proof}"
    if lost := next((line for line in drift if line.startswith(_UNUSABLE)), None):
        return "drifted", lost
    if answered := next(
        (s for s in seen if s.outcome in _ANSWERED and _classify_failure(s) not in _CLOSED), None
    ):
        return "responds", answered.proof
    last = seen[-1]
    if _classify_failure(last) in _TRANSIENT or any(one.again for one in attempts):
        return "unsettled", last.proof
    return (
        f"dead: {_DEAD_OF.get(_classify_failure(last), _classify_failure(last).replace('_', ' '))}",
        last.proof,
    )


def _classify_failure(seen: Seen) -> str:
    """The kind of a failure; where a tool put it into words only (401: invalid key), what the words
    say.
    """
    found = failure_in({"error": seen.said}) if seen.said else None
    return found.kind if found is not None and found.kind in _CLOSED else seen.kind


_UNUSABLE = ("asks for", "does not know", "says that it is replaced")
_ANSWERED = ("parameter_mismatch", "semantic_mismatch")
_CLOSED = frozenset({"auth", "unavailable", "crashed", *_TRANSIENT})
_DEAD_OF = {"crashed": "failed", "": "failed"}  # in words of the report


def _merge_observations(found: ToolOverlay, refined: Refined | None) -> ToolOverlay:
    """Return the observations, with a model's descriptions in place of the observed ones where they
    exist.
    """
    if refined is None or not refined.changes:
        return found
    words = {(c.key, c.change): c for c in refined.changes}
    kept = {(c.key, c.change): c for c in found.changes}
    return replace(found, changes=tuple({**kept, **words}.values()))


def _build_finding(
    status: str,
    why: str,
    seen: Sequence[Seen],
    found: ToolOverlay,
    votes: Votes,
    refused: Sequence[str],
) -> Finding:
    told: dict[str, Any] = {
        "of": found.of,
        "calls": [_serialize_call(s) for s in seen],
        "changes": to_json(found.changes),
        "drift": list(found.drift),
    }
    told |= {"votes": dict(votes)} if votes else {}
    told |= {"refused": list(refused)} if refused else {}
    kept = status in KEPT
    lasting = not status.startswith("un")
    drift = f"; drift: {found.drift[0]}" if found.drift and kept else ""
    return Finding(kept, status, why + drift, told, lasting=lasting)


def _serialize_call(seen: Seen) -> JsonObject:
    """A call as the journal keeps it: a reply that is too long goes."""
    whole: JsonObject = to_json(seen)
    return whole if len(to_canonical_json(seen.reply)) <= _REPLY else {**whole, "reply": None}


def _load_seen(finding: Finding) -> list[Seen]:
    return [Seen(**call) for call in finding.found.get("calls", ())]


def build_overlay(findings: Sequence[Finding], made: JsonObject | None = None) -> Overlay:
    """The overlay of what was found: every tool that was called, with its changes, its status and
    its drift.
    """
    tools = {}
    for one in findings:
        if not one.found.get("calls") and "stand_in" not in one.found:
            continue
        changes = tuple(OverlayChange(**change) for change in one.found["changes"])
        tools[one.id] = ToolOverlay(
            one.found["of"], changes, one.category, tuple(one.found["drift"])
        )
    return Overlay(tools, made or {})
