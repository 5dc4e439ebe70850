"""Rounds of trials: what is worth trying is planned, tried together, and what came of it says what
is tried next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from heapq import nlargest

from callwright.agent.probing.arguments import Draft, Lacking, draft_calls, is_wanted
from callwright.agent.probing.attempt import Attempts, explain_guess, explain_untriable
from callwright.agent.probing.candidate import Candidate
from callwright.agent.probing.chains import FEEDS, PERHAPS, Feeding, extract_link_values
from callwright.agent.probing.model_questions import Asking
from callwright.agent.probing.pacing import get_host
from callwright.agent.probing.policy import TrialPolicy
from callwright.agent.probing.selection import select_open
from callwright.agent.probing.values import Request, Value
from callwright.dataflow.flow import split_words
from callwright.dataflow.prerequisites import Need, Prerequisites
from callwright.nouns.types import Json, Message, Tool, ToolResult
from callwright.repair.provenance.grounding import classify_value, iter_leaves
from callwright.repair.provenance.sources import ProvenanceIndex

_ASKED = 2  # providers of one input that are tried in vain
_BROUGHT = 3  # tools beyond the candidates that join them, since they give what a candidate needs
# inputs for which such a tool is looked for: 16 ms each among 16,000 tools of one source
_SOUGHT = 12
_BESIDE = 64  # tools of a catalogue that are looked through for one: those whose names share most words with the need


@dataclass(frozen=True, slots=True)
class Ready:
    """Calls that can be made now, best first."""

    drafts: list[Draft]


@dataclass(frozen=True, slots=True)
class Waits:
    """A call that can be made after these, which may provide what it lacks."""

    after: list[Candidate]


class Rounds:
    """All rounds of one request. Candidates change in place, and of ``others``, the tools that are
    none, some may join them; deterministic but for what is outside.
    """

    def __init__(
        self,
        candidates: list[Candidate],
        others: Sequence[Tool],
        request: Request,
        conversation: Sequence[Message],
        attempts: Attempts,
        asking: Asking,
        policy: TrialPolicy,
    ) -> None:
        self._candidates = candidates
        self._others = {tool.name: tool for tool in others}
        self._brought = self._sought = 0
        self._of = {one.tool.name: one for one in candidates}
        self._feeding = Feeding([one.tool for one in candidates])
        self._request = request
        self._conversation = conversation
        self._attempts = attempts
        self._asking = asking
        self._policy = policy

    async def run(self) -> None:
        """Try until no trial could change the shortlist, or the budget is spent."""
        while batch := await self._batch():
            async with asyncio.TaskGroup() as group:
                for one, ready in batch:
                    group.create_task(self._try(one, ready.drafts))
            for one, _ in batch:
                self._reopened(one)
        standings = [one.standing for one in self._candidates]
        for place in select_open(standings, self._policy.k, thorough=self._policy.thorough):
            one = self._candidates[place]
            one.note = one.note or "not tried: it waits for a candidate that waits for it"

    async def _batch(self) -> list[tuple[Candidate, Ready]]:
        """Return the probes to make now: every worthwhile candidate with a ready call, and those
        that it waits for.
        """
        made: dict[str, tuple[Candidate, Ready]] = {}
        while True:
            standings = [one.standing for one in self._candidates]
            places = select_open(standings, self._policy.k, thorough=self._policy.thorough)
            before = sum(one.closed for one in self._candidates)
            queue = [self._candidates[place] for place in places]
            looked_at: set[str] = set()  # two may wait for each other
            while queue:
                one = queue.pop(0)
                if one.closed or one.tool.name in made or one.tool.name in looked_at:
                    continue
                looked_at.add(one.tool.name)
                planned = await self._plan(one)
                if isinstance(planned, Ready):
                    made[one.tool.name] = (one, planned)
                elif isinstance(planned, Waits):
                    queue += planned.after
            if (
                sum(one.closed for one in self._candidates) == before
            ):  # what failed without a call lets others in
                return list(made.values())

    # ------------------------------------------------------------ plan

    async def _plan(self, one: Candidate) -> Ready | Waits | None:
        """Return the candidate's drafted call, or the tools that it waits for. None if the
        candidate is closed instead.
        """
        given = self._given(one)
        if one.chained and not given:
            return self._waiting(one, one.tool.required)
        planned = await self._drafted(one, given)
        if isinstance(planned, Lacking):
            return self._lacking(one, planned)
        one.fed_by = tuple(dict.fromkeys(tool for draft in planned for _, tool in draft.given_by))
        return Ready(planned)

    async def _drafted(
        self, one: Candidate, values: dict[str, list[Value]]
    ) -> list[Draft] | Lacking:
        found = draft_calls(
            one.tool, self._request, values, self._policy.attempts, chained=one.chained
        )
        if one.chained or (self._policy.simulate == "never" and not self._may_try(one)):
            return found  # no model is asked for a call that nobody makes or makes up
        asked = await self._asking.plan(one.tool, self._request, self._results())
        drafts = found if isinstance(found, list) else []
        if isinstance(asked, Draft):
            alike = [d for d in drafts if d.arguments == asked.arguments]
            asked = replace(
                asked,
                guessed=self._list_guesses(one.tool, asked),
                given_by=next((d.given_by for d in alike), ()),
                is_opinion=all(d.guessed for d in alike),
            )
            return [asked, *(d for d in drafts if d not in alike)][: self._policy.attempts]
        if isinstance(asked, Lacking) and any(d.guessed for d in drafts):
            return asked
        return found

    def _list_guesses(self, tool: Tool, draft: Draft) -> tuple[str, ...]:
        """The parameters of a model's call whose values no source holds: neither the request, nor
        a reply, nor the schema.
        """
        days = [date.fromisoformat(day) for day in self._request.days]
        sources = ProvenanceIndex(
            self._request.query, self._conversation, self._results(), days=days
        )
        return tuple(
            key
            for key, value in draft.arguments.items()
            if any(
                classify_value(name, leaf, schema, sources) != "held"
                for _, name, leaf, schema in iter_leaves(key, value, tool.properties.get(key))
            )
        )

    def _lacking(self, one: Candidate, lack: Lacking) -> Waits | None:
        """Wait for who may provide what is missing. Where nobody may, that is a parameter
        mismatch.
        """
        nobody = [
            key
            for key in lack.missing
            if not (self._perhaps(one.tool, key) or self._bring(one, key))
        ]
        if not nobody:
            return self._waiting(one, lack.missing)
        one.closed = True
        if lack.certain and any(is_wanted(key, one.tool) for key in nobody):
            proof = Lacking(tuple(nobody), True).proof
            one.attempts.append(self._attempts.keep_missing(one.tool, proof))
        else:
            one.note = (
                f"not tried: no value for {', '.join(map(repr, nobody))} was found in the request"
            )
        return None

    def _waiting(self, one: Candidate, keys: Sequence[str]) -> Waits | None:
        """The candidates that may still provide these inputs. Where one has been asked for in vain,
        the candidate is closed: that nobody could be asked, or had none, proves nothing.
        """
        after: list[Candidate] = []
        for key in keys:
            if any(other.result is not None for other in self._providers(one.tool, key)):
                continue
            seen = frozenset({one.tool.name})
            next_ = self._to_ask(one, key, self._policy.depth, seen)
            if next_ is None and self._bring(one, key):
                next_ = self._to_ask(one, key, self._policy.depth, seen)
            if next_ is not None:
                after.append(next_)
            elif not one.chained:
                one.note = self._blocked(one, key)
                break
        else:
            if after:
                return Waits(after)
            one.note = (
                one.note or f"not tried: no reply held a value for {', '.join(map(repr, keys))}"
            )
        one.closed = True
        return None

    def _to_ask(
        self, one: Candidate, key: str, depth: int, seen: frozenset[str]
    ) -> Candidate | None:
        """Return the candidate whose probe helps most to supply this input. It is the best provider
        that can be called, or else a candidate that feeds one.
        """
        found = self._providers(one.tool, key)
        for other in found:  # a remembered reply of which only the beginning is known
            if other.works and other.result is None and not other.asked_whole:
                other.asked_whole, other.closed = True, False
        if depth < 1 or sum(other.closed and bool(other.attempts) for other in found) >= _ASKED:
            return None
        still = [
            c
            for c in found
            if not c.closed and not c.chained and c.tool.name not in seen and self._may_try(c)
        ]
        plans = [(c, draft_calls(c.tool, self._request, self._given(c), 1)) for c in still]
        ready = [
            (_rate_looseness(plan[0]), i, c)
            for i, (c, plan) in enumerate(plans)
            if isinstance(plan, list)
        ]
        if ready:
            return min(ready)[2]
        for c, plan in plans:
            if isinstance(plan, Lacking):
                nearer = self._to_ask(c, plan.missing[0], depth - 1, seen | {c.tool.name})
                if nearer is not None:
                    return nearer
        return None

    def _bring(self, one: Candidate, key: str) -> bool:
        """Add a tool as the last candidate if it gives an input that no candidate gives, and return
        True if one was found. The same rule as in retrieval decides which tools give an input
        (:mod:`callwright.dataflow.prerequisites`).
        """
        first = Prerequisites(self._beside, self._request.query)
        need = next((n for n in first.needs(one.tool) if n.field.path[0] == key), None)
        if (
            need is None
            or self._brought >= _BROUGHT
            or self._sought >= _SOUGHT
            or self._policy.depth < 1
        ):
            return False
        self._sought += 1
        link = next((link for link in first.providers(need) if link.producer in self._others), None)
        if link is None:
            return False
        self._brought += 1
        tool = self._others.pop(link.producer)
        self._of[tool.name] = Candidate(tool, len(self._candidates) + 1, 0.0, clause=one.clause)
        self._candidates.append(self._of[tool.name])
        self._feeding.add(tool)
        return True

    def _beside(self, need: Need) -> list[Tool]:
        """The candidates, and the other tools whose names share most with what is needed."""
        said = set(split_words(need.words))
        near = nlargest(
            _BESIDE, self._others.values(), lambda tool: len(said & {*split_words(tool.name)})
        )
        return [*(one.tool for one in self._candidates), *near]

    def _providers(self, tool: Tool, key: str, least: float = FEEDS) -> list[Candidate]:
        return [self._of[other.name] for _, other in self._feeding.providers(tool, key, least)]

    def _perhaps(self, tool: Tool, key: str) -> list[Candidate]:
        """Those that are not ruled out as providers."""
        alike = self._providers(tool, key, PERHAPS)
        return alike or [self._of[other.name] for other in self._feeding.same_form(tool, key)]

    def _may_try(self, one: Candidate) -> bool:
        return not explain_untriable(one.tool, self._policy)

    def _given(self, one: Candidate) -> dict[str, list[Value]]:
        """Return the values for each required input from other candidates' replies. Two inputs do
        not get the same value. What one server told is a guess at another one that is not free.
        """
        made: dict[str, list[Value]] = {}
        used: list[Json] = []
        for key in one.tool.required:
            for link, tool in self._feeding.providers(one.tool, key):
                result = self._of[tool.name].result
                if result is not None:
                    is_home = (
                        get_host(one.tool) in ("", get_host(tool))
                        or self._policy.is_free(one.tool)
                        or self._policy.in_sandbox(one.tool)
                    )
                    found = [
                        replace(v, sure=v.sure and is_home)
                        for v in extract_link_values(link, result, self._request.talk.text)
                        if v.value not in used
                    ]
                    if found:
                        made[key] = found
                        used.append(found[0].value)
                        break
        return made

    def _blocked(self, one: Candidate, key: str) -> str:
        found = self._providers(one.tool, key) or self._perhaps(one.tool, key)
        named = ", ".join(other.tool.name for other in found[:3])
        return f"not tried: {key!r} may come from {named}, and no trial of these gave it"

    # ------------------------------------------------------------ execute

    async def _try(self, one: Candidate, planned: Sequence[Draft]) -> None:
        """One candidate's calls: the next one only where a guess may have been wrong, or a
        connection broke.
        """
        sources = ProvenanceIndex(self._request.query, self._conversation, self._results())
        left = sorted(planned, key=lambda d: bool(explain_guess(one.tool, d, self._policy)))
        repeated = False
        while left:
            attempt = await self._attempts.make(
                one.tool, left[0], sources, whole=one.asked_whole, again=repeated
            )
            if isinstance(attempt, str):
                one.note = one.note or attempt
                break
            one.attempts.append(attempt)
            if attempt.again and not repeated:
                repeated = True
                continue
            if attempt.observation.outcome == "functional_success" or not attempt.blames_arguments:
                one.fed_by = tuple(dict.fromkeys(tool for _, tool in left[0].given_by))
                break
            made = left.pop(0)
            if not (made.guessed or made.is_opinion):
                break
        one.closed = True

    def _results(self) -> list[ToolResult]:
        return [r for other in self._candidates if (r := other.result) is not None]

    def _reopened(self, one: Candidate) -> None:
        """A tool that took none of the values said may take one that another candidate has: a code
        for a name.
        """
        best = one.best
        if (
            one.chained
            or one.fed_by
            or best is None
            or best.observation.outcome == "functional_success"
        ):
            return
        if best.blames_arguments and any(self._to_feed(one, key) for key in one.tool.required):
            one.chained, one.closed = True, False

    def _to_feed(self, one: Candidate, key: str) -> bool:
        """Return True if a candidate has supplied this input, or may yet supply it."""
        if any(other.result is not None for other in self._providers(one.tool, key)):
            return True
        return self._to_ask(one, key, self._policy.depth, frozenset({one.tool.name})) is not None


def _rate_looseness(draft: Draft) -> int:
    """A look-up of what was said stands before a list of everything, and that before a guess."""
    return 2 if draft.guessed else int(not draft.arguments)
