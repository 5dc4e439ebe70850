"""Rounds of trials: what is worth trying is planned, tried together, and what came of it says what is tried next."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from callwright.evidence import Observation
from callwright.gate import Sources
from callwright.trials.arguments import Draft, Lacking, drafts
from callwright.trials.asking import Asking
from callwright.trials.attempt import Attempts, may_be_tried
from callwright.trials.candidate import Candidate
from callwright.trials.chains import feeds, provided, providers
from callwright.trials.policy import TrialPolicy
from callwright.trials.selection import worth_trying
from callwright.trials.values import Request, Value
from callwright.types import Message, Tool, ToolResult


@dataclass(frozen=True, slots=True)
class Ready:
    """Calls that can be made now, best first."""

    drafts: list[Draft]


@dataclass(frozen=True, slots=True)
class Waits:
    """A call that can be made after these, which may provide what it lacks."""

    after: list[Candidate]


class Rounds:
    """All rounds of one request. Candidates change in place; deterministic but for what is outside."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        request: Request,
        conversation: Sequence[Message],
        attempts: Attempts,
        asking: Asking,
        policy: TrialPolicy,
    ) -> None:
        self._candidates = list(candidates)
        self._of = {one.tool.name: one for one in candidates}
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

    async def _batch(self) -> list[tuple[Candidate, Ready]]:
        """What is tried now: every candidate worth it whose call can be made, and those that it waits for."""
        made: dict[str, tuple[Candidate, Ready]] = {}
        while True:
            standings = [one.standing for one in self._candidates]
            places = worth_trying(standings, self._policy.k, thorough=self._policy.thorough)
            queue = [(self._candidates[place], 0) for place in places]
            before = sum(one.closed for one in self._candidates)
            while queue:
                one, depth = queue.pop(0)
                if one.closed or one.tool.name in made:
                    continue
                planned = await self._plan(one, depth)
                if isinstance(planned, Ready):
                    made[one.tool.name] = (one, planned)
                elif isinstance(planned, Waits):
                    queue += [(other, depth + 1) for other in planned.after]
            if sum(one.closed for one in self._candidates) == before:  # what failed without a call lets others in
                return list(made.values())

    # ------------------------------------------------------------ plan

    async def _plan(self, one: Candidate, depth: int) -> Ready | Waits | None:
        """How a candidate's call is made; None where it is closed instead, or cannot be planned before others."""
        given = self._given(one)
        planned = await self._drafted(one, given)
        if isinstance(planned, Lacking):
            return self._lacking(one, planned, depth)
        if one.chained and not given:
            waits = self._waiting(one, one.tool.required, depth)
            one.closed = one.closed or waits is None
            return waits
        self._note_feeders(one, planned)
        return Ready(planned)

    async def _drafted(self, one: Candidate, given: dict[str, list[Value]]) -> list[Draft] | Lacking:
        found = drafts(one.tool, self._request, given, self._policy.attempts, chained=one.chained)
        if one.chained:
            return found
        results = [r for other in self._candidates if (r := other.result) is not None]
        asked = await self._asking.plan(one.tool, self._request, results)
        if isinstance(asked, Draft):
            return [asked, *(found if isinstance(found, list) else [])][: self._policy.attempts]
        if isinstance(asked, Lacking) and isinstance(found, list) and any(d.guessed for d in found):
            return asked
        return found

    def _lacking(self, one: Candidate, lack: Lacking, depth: int) -> Waits | None:
        waits = self._waiting(one, lack.missing, depth)
        if waits is not None or one.closed:
            return waits
        if lack.certain:
            one.attempts.append(self._attempts.keep(self._missing(one.tool, lack)))
        else:
            one.note = f"not tried: no value for {', '.join(map(repr, lack.missing))} was found in the request"
        one.closed = True
        return None

    def _waiting(self, one: Candidate, keys: Sequence[str], depth: int) -> Waits | None:
        """The candidates that may still provide all of these inputs; None where one has no provider at all.

        A candidate whose providers have all been tried in vain is closed: that nobody could ask proves nothing.
        """
        after: list[Candidate] = []
        for key in keys:
            found = [self._of[tool.name] for tool in providers(one.tool, key, [c.tool for c in self._candidates])]
            if not found:
                if one.chained:
                    continue
                return None
            if any(other.result is not None for other in found):
                continue
            still = [other for other in found if not other.closed and not may_be_tried(other.tool, self._policy)]
            if still and depth < self._policy.depth:
                after.append(still[0])
            else:
                one.note = one.note or _blocked(key, found, depth >= self._policy.depth and bool(still))
                one.closed = True
                return None
        if not after and not one.chained:
            one.note = f"not tried: the replies of other candidates held no value for {', '.join(map(repr, keys))}"
            one.closed = True
        return Waits(after) if after else None

    def _given(self, one: Candidate) -> dict[str, list[Value]]:
        """What replies of other candidates hold for each required input."""
        made: dict[str, list[Value]] = {}
        for key in one.tool.required:
            for tool in providers(one.tool, key, [c.tool for c in self._candidates]):
                result, link = self._of[tool.name].result, feeds(tool, one.tool, key)
                if result is not None and link is not None and (found := provided(link, result)):
                    made[key] = found
                    break
        return made

    def _note_feeders(self, one: Candidate, planned: Sequence[Draft]) -> None:
        one.fed_by = tuple(dict.fromkeys(tool for draft in planned for _, tool in draft.given_by))

    def _missing(self, tool: Tool, lack: Lacking) -> Observation:
        return Observation(
            tool.name, tool.digest, "parameter_mismatch", {}, "", "missing", lack.proof, at=self._attempts.now()
        )

    # ------------------------------------------------------------ execute

    async def _try(self, one: Candidate, planned: Sequence[Draft]) -> None:
        """One candidate's calls: the next one only where a guess may have been wrong, or a connection broke."""
        sources = Sources(self._request.query, self._conversation, self._results())
        left = list(planned)
        repeated = False
        while left:
            attempt = await self._attempts.make(one.tool, left[0], sources, whole=self._feeds_others(one))
            if isinstance(attempt, str):
                one.note = one.note or attempt
                break
            one.attempts.append(attempt)
            if attempt.again and not repeated:
                repeated = True
                continue
            if attempt.observation.outcome == "functional_success" or not attempt.blames_arguments:
                break
            if not left.pop(0).guessed:
                break
        one.closed = True

    def _results(self) -> list[ToolResult]:
        return [r for other in self._candidates if (r := other.result) is not None]

    def _feeds_others(self, one: Candidate) -> bool:
        """Whether another candidate may need the whole reply."""
        return any(
            feeds(one.tool, other.tool, key) is not None
            for other in self._candidates
            if not other.closed
            for key in other.tool.required
        )

    def _reopened(self, one: Candidate) -> None:
        """A tool that took none of the values said may take one that another candidate has: a code for a name."""
        best = one.best
        if one.chained or best is None or best.observation.outcome == "functional_success":
            return
        if best.blames_arguments and best.observation.kind != "missing":
            tools = [c.tool for c in self._candidates if c.works or not c.closed]
            if any(providers(one.tool, key, tools) for key in one.tool.required) and not one.fed_by:
                one.chained, one.closed = True, False


def _blocked(key: str, found: Sequence[Candidate], too_deep: bool) -> str:
    named = ", ".join(other.tool.name for other in found[:3])
    if too_deep:
        return f"not tried: {key!r} comes from {named}, too many tools away"
    return f"not tried: {key!r} comes from {named}, whose own trial gave none"
