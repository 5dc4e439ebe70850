"""DFSDT (Qin et al., 2023, ToolLLM): a depth-first search over steps, which gives a branch up and
takes another.

As in ToolBench's ``DFS_tree_search`` without its filter (``DFS_woFilter_w2``, what RETO compares
with): all tools are in view; a step is a thought and one call, or an end; every node has at most
two children (``tree_beam_size``), the second made with a prompt that shows what was tried there and
asks for something else. The model may give up and restart: the search goes back two nodes from
there, so that the step before is taken again, and a model that gives up at the root ends the
search. A node whose children are spent goes back one. Twelve steps at most lie below each other
(``single_chain_max_step``). The first answer ends everything, and so does the limit of model calls
(``max_query_count``, 200 there). A call that fails or is refused is an observation like another.

Ours: ToolBench counts thought, action and input as one level each, here a step is one
(:class:`Limits`, ``turns``), so branches may be longer. The gate, the repair, the budgets and the
accounting are those of every strategy here, and the answer is made by the same last question. A
call that is a sibling tried before, that was made or refused before on this branch, or that names
no tool, ends the branch at once: a model without sampling would only say the same again. The prompt
for the second child names the tried steps and how they ended, not what they returned: nothing from
a dead branch reaches a later question or the answer. Its calls, tokens and seconds count. Where no
branch led to an answer, ToolBench takes one of the given-up ones at random; here the answer is made
from the one that found most.

A dead branch cannot be taken back where it wrote something. So what may write, and what nobody
declared, is only called in a run that is declared a sandbox; elsewhere such a branch is refused,
which the trace says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from callwright.agent.bind import Bound
from callwright.agent.questions import LimitReached
from callwright.agent.state import RunState
from callwright.agent.step import BindStep, StepContext, Steps, step_id
from callwright.agent.strategies.strategy import Stepwise
from callwright.nouns.plan import Plan
from callwright.nouns.types import Skip, ToolCall, ToolResult, to_canonical_json

NO_SANDBOX = (
    "it may write, and a branch that is given up cannot be taken back: dfsdt writes only in a"
    " sandbox"
)
_ANSWERED, _SPENT, _GIVEN_UP = 0, 1, 2  # nodes to go back from a child
_SAID = 200  # characters of a reason


class DFSDT(Stepwise):
    """Searches depth first; in the end the plan holds the branch that the answer is made from."""

    name = "dfsdt"

    def __init__(self, width: int = 2) -> None:
        """``width``: how many children a node may have."""
        self._width = width

    def steps(self, context: StepContext) -> Steps[None]:
        context.plan = Plan()
        search = _Search(context, self._width)
        try:
            if (yield from search.expand(1)) != _ANSWERED:
                search.take_the_best()
                context.trace.add(
                    "note", text="no branch led to an answer: the one that found most is taken"
                )
        except LimitReached:
            search.take_the_best()
            raise
        finally:
            context.record_plan()


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of the tree: what the run knew there, and the branch that led to it."""

    mark: RunState
    plan: Plan

    @property
    def found(self) -> int:
        return sum(result.ok for result in self.mark.valid_results)


@dataclass(frozen=True, slots=True)
class _Child:
    """Outcome of one child: how many nodes to go back from it, and the message for its sibling."""

    back: int
    told: str = ""


@dataclass(slots=True)
class _Search:
    """One run's search. The executor and the plan of the context are always those of the branch
    being taken.
    """

    context: StepContext
    width: int
    steps: int = 0  # of all branches
    best: _Node | None = None

    def expand(self, depth: int) -> Steps[int]:
        """Take steps from the node where the run is. Returns how many nodes to go back; 0: it was
        answered.
        """
        context, most = self.context, self.context.limits.turns
        if depth > most:
            return self._dead(f"{most} steps are the most", _SPENT)
        here = self._node()
        tried: list[str] = []
        for _ in range(self.width):
            step = BindStep(
                "dfsdt", depth, most, may_finish=True, may_give_up=True, tried=tuple(tried)
            )
            bound = yield from context.bind(context.tools, step)
            child = yield from self._child(bound, depth, tried)
            if child.back != _SPENT:
                return max(_ANSWERED, child.back - 1)
            self._return_to(here)
            tried.append(child.told)
        return _SPENT

    def take_the_best(self) -> None:
        """Stand where the most was found, of the dead branches and the one being taken."""
        self._remember()
        if self.best is not None:
            self._return_to(self.best)

    def _child(self, bound: Bound, depth: int, tried: list[str]) -> Steps[_Child]:
        if bound.malformed:
            return _Child(
                self._dead("the reply could not be read", _SPENT), "a reply that could not be read"
            )
        if bound.given_up:
            return _Child(self._dead("the model gave up", _GIVEN_UP))
        if not bound.calls:
            self.context.trace.add("note", text="the model finished")
            return _Child(_ANSWERED)
        call = bound.calls[0]
        shown = f"{call.tool}({to_canonical_json(call.arguments)})"
        if any(step.startswith(f"{shown}: ") for step in tried):
            return _Child(
                self._dead(f"{shown}: it was tried here before", _SPENT), f"{shown}: tried twice"
            )
        known = len(self.context.facts.skips)
        results = yield from self._step(call)
        if results:
            return _Child(
                (yield from self.expand(depth + 1)), f"{shown}: {_describe_outcome(results[-1])}"
            )
        before, skips = self.context.facts.skips[:known], self.context.facts.skips[known:]
        why = "; ".join(skip.reason for skip in skips) or "it brought nothing"
        told = f"{shown}: not executed: {why[:_SAID]}"
        if any(self._is_news(skip, before) for skip in skips):
            return _Child((yield from self.expand(depth + 1)), told)
        return _Child(self._dead(f"{shown}: {why}", _SPENT), told)

    def _step(self, call: ToolCall) -> Steps[list[ToolResult]]:
        """Execute one call as the next step of the branch; outside a sandbox only if it only
        reads.
        """
        context = self.context
        self.steps += 1
        names = {tool.name for tool in context.tools}
        allowed = {
            tool.name
            for tool in context.tools
            if context.facts.is_sandbox or tool.effects.read_only
        }
        if call.tool in names - allowed:
            context.facts.deny(replace(call, slot=step_id(call, self.steps)), NO_SANDBOX)
            return []
        return (yield from context.step(call, self.steps, allowed))

    def _is_news(self, skip: Skip, before: Sequence[Skip]) -> bool:
        """Return True if a refusal is an observation to continue from: the next question shows it,
        and no earlier one did.
        """
        known = {(other.tool, other.reason) for other in before}
        shown = skip.refused and skip.tool in {tool.name for tool in self.context.tools}
        return shown and skip.reason != NO_SANDBOX and (skip.tool, skip.reason) not in known

    def _dead(self, why: str, back: int) -> int:
        self.context.trace.add("note", text=f"this branch ends: {why}")
        self._remember()
        return back

    def _remember(self) -> None:
        here = self._node()
        if self.best is None or here.found >= self.best.found:
            self.best = here

    def _node(self) -> _Node:
        return _Node(self.context.facts.mark(), self.context.plan)

    def _return_to(self, node: _Node) -> None:
        self.context.facts.rewind(node.mark)
        self.context.plan = replace(node.plan, revision=self.context.plan.revision)


def _describe_outcome(result: ToolResult) -> str:
    if result.failure is not None:
        return f"failed: {result.failure.message[:_SAID]}"
    return "executed, and what followed led to no answer"
