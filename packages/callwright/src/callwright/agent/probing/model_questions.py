"""Asks a model during tool probing: within its budget, one question at a time, and always
optional.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from callwright.agent.probing.arguments import Draft, Lacking
from callwright.agent.probing.candidate import Candidate
from callwright.agent.probing.evaluator import Shown, rank_with_model
from callwright.agent.probing.planner import plan_with_model
from callwright.agent.probing.policy import EVALUATED, TrialPolicy
from callwright.agent.probing.ranking import rank_candidates
from callwright.agent.probing.shares import Part, Shares
from callwright.agent.probing.values import Request
from callwright.agent.questions import LimitReached, Questions
from callwright.models.dialogue import run_dialogue
from callwright.nouns.errors import ModelError
from callwright.nouns.model_profile import SMALL, ModelProfile
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.types import Reply, Tool, ToolResult


class Asking:
    """The planner's and the evaluator's questions, within the model's profile. Where no model
    answers, callers go on without one.
    """

    def __init__(
        self,
        model: ChatModel | Questions | None,
        policy: TrialPolicy,
        actor: str,
        problems: list[str],
        profile: ModelProfile = SMALL,
    ) -> None:
        self._model = model
        self._policy = policy
        self._actor = actor
        self._problems = problems
        self._profile = profile
        self._shares = Shares(policy)
        # in the other half of the time the planned calls are made
        self._planned_by = asyncio.get_running_loop().time() + policy.seconds / 2
        self.calls = 0

    async def plan(
        self, tool: Tool, request: Request, results: Sequence[ToolResult]
    ) -> Draft | Lacking | None:
        """The model's plan of a call; None where it is not asked, cannot be, or says nothing of
        use.
        """
        if self._policy.planning != "model" or not tool.properties or not self._take("planner", 1):
            return None
        try:
            async with asyncio.timeout_at(self._planned_by):
                await asyncio.sleep(0)  # where time is over, no question is begun
                constrains = await self._constrains()
                dialogue = plan_with_model(
                    tool, request, results, schema=constrains, profile=self._profile
                )
                return await run_dialogue(dialogue, self._ask)
        except (ModelError, LimitReached, TimeoutError) as error:
            self._note(f"the planner could not be asked: {str(error) or 'its time is over'}")
            return None

    async def order(
        self, query: str, candidates: Sequence[Candidate]
    ) -> tuple[tuple[str, ...], float | None]:
        """The evaluator's order and its agreement with itself; no order where the evidence alone
        decides.
        """
        if self._policy.evaluation != "model" or not candidates:
            return (), None
        questions = self._take("evaluator", 1 + self._policy.shuffles)
        if not questions:
            return (), None
        known = {one.tool.name: (one, one.ranked()) for one in candidates}
        names = rank_candidates(
            [told for _, told in known.values()], order=self._policy.order, k=self._policy.k
        )
        most = self._policy.evaluated
        if most == EVALUATED:
            most = self._profile.scale(most, "listed_tools")
        best = [known[name] for name in names[:most]]
        shown = [Shown(one.tool, told, _get_best_reply(one)) for one, told in best]
        dialogue = rank_with_model(
            query,
            shown,
            shuffles=questions - 1,
            reply_chars=self._policy.reply_chars,
            schema=await self._constrains(),
            profile=self._profile,
        )
        try:
            opinion = await run_dialogue(dialogue, self._ask)
        except (ModelError, LimitReached) as error:
            self._note(f"the evaluator could not be asked: {error}")
            return (), None
        self._problems += opinion.problems
        return opinion.order, opinion.agreement

    async def _ask(self, request: ChatRequest) -> Reply:
        self.calls += 1
        if isinstance(self._model, Questions):
            return await self._model.ask(request, None, self._actor)
        assert self._model is not None
        return await self._model.complete(request)

    async def _constrains(self) -> bool:
        if isinstance(self._model, Questions):
            return self._model.mode == "schema"
        assert self._model is not None
        return (await self._model.capabilities()).json_schema

    def _take(self, part: Part, questions: int) -> int:
        """The questions that a part may ask now, at most so many; 0 where it may ask none."""
        who, total = f"the {part}", self._policy.model_calls
        if self._model is None:
            self._note(f"{who} was to be asked, and there is no model: the evidence alone decided")
            return 0
        taken = self._shares.take(part, questions)
        kept = self._shares.describe_kept(part)
        if not taken:
            self._note(f"{who} was not asked: the limit of {total} questions is reached" + kept)
        elif taken < questions:
            self._note(
                f"{who} was asked {taken} of {questions} times: the limit of {total} questions is"
                f" reached{kept}"
            )
        return taken

    def _note(self, problem: str) -> None:
        if problem not in self._problems:
            self._problems.append(problem)


def _get_best_reply(candidate: Candidate) -> str:
    """Return the reply of the best attempt, with secrets removed."""
    best = candidate.best
    return best.observation.reply if best is not None else ""
