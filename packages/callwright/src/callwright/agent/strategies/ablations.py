"""The ablations of RETO, section 4.2.4 (Figure 5): the layered strategy without its sketch, and
without its repair; one of what goes beyond the paper; and ReAct, DFSDT and the Python-call agent as
their papers have them, without our gate and repair.

Each takes one thing away and leaves the rest as it is: executor, prompts, limits, the answer.
"""

from __future__ import annotations

from callwright.agent.execution.job import Job
from callwright.agent.safety.freeze import Level
from callwright.agent.step import StepContext, Steps
from callwright.agent.strategies.code import Code, ToolMVR
from callwright.agent.strategies.dfsdt import DFSDT
from callwright.agent.strategies.layered import Layered
from callwright.agent.strategies.react import ReAct
from callwright.agent.strategies.recovery import Recovery
from callwright.nouns.plan import Plan

_STEPS = 5  # the paper's L (A.1): the layers that a sketch has at most


class WithoutSketch(Layered):
    """The paper's "w/o Execution Sketch": it "exposes all tools rather than layer-constrained
    subsets".

    All tools that are offered are in view at every step: no choice among them, no plan, no order.
    The paper does not say how often the model is then asked. Asked once, it could never use one
    result for the next call, and losing would prove nothing; so it is asked again, with the results
    so far, until a step brings none, five times at most: as often as with the deepest sketch.
    """

    name = "layered-no-sketch"
    freezes: tuple[Level, ...] = ()  # there is no plan

    def steps(self, context: StepContext) -> Steps[None]:
        context.plan = Plan.from_layers([[tool.name for tool in context.tools]])
        context.record_plan()
        recovery, finished = (
            Recovery(context, self._recover - {"replan"}, self._layer),
            {s.id for s in context.plan.slots},
        )
        index, before = 0, -1
        while index < _STEPS and len(context.facts.all_results) > before:
            before = len(context.facts.all_results)
            index += 1
            slots = context.plan.slots
            yield from self._layer(context, slots, index, _STEPS, (), [s.tool for s in slots])
            yield from recovery.after((index, _STEPS), finished)
        yield from self._end(context, index, recovery, finished)


class WithoutRecovery(Layered):
    """Nothing is gone round where repair fails: the paper as it is, without what we do beyond it
    (A.2).
    """

    name = "layered-no-recovery"

    def __init__(self, choose_above: int = 1) -> None:
        """``choose_above``: as for :class:`Layered`."""
        super().__init__(choose_above, recover=(), ask_what_is_open=False)

    def steps(self, context: StepContext) -> Steps[None]:
        context.facts.handling.may_fetch = False
        return super().steps(context)


class WithoutRepair(WithoutRecovery):
    """The paper's "w/o Repair": it "removes the Reflect-and-Repair module".

    No deterministic edit, no question about a call, no repeated execution: what the schema refuses
    is left out, what fails has failed, and what we do beyond the paper where repair fails is left
    out too. The gate still drops keys that a tool does not know (Eq. 11 does it, not the repair).
    """

    name = "layered-no-repair"

    def prepare(self, job: Job) -> None:
        job.executor.without_repair()

    async def run(self, job: Job) -> None:
        self.prepare(job)
        await super().run(job)


class _AsWritten:
    """Before a strategy in the order of bases: its calls and its answer are taken as written."""

    unchecked = False

    def prepare(self, job: Job) -> None:
        job.take_as_written(unchecked=self.unchecked)

    async def run(self, job: Job) -> None:
        self.prepare(job)
        await super().run(job)  # type: ignore[misc]  # of the strategy behind it


class ReActAsWritten(_AsWritten, ReAct):
    """ReAct without repair: what the model writes is called as it is written.

    A call of a tool that is not offered, or with arguments that its schema refuses, comes back as a
    failed result, as a tool's own error does; the model sees it and may try again in its next turn,
    within the same limits. Nothing is repaired, dropped, held back or repeated by the executor, the
    same call may be made again, and the answer is the model's own words. Outside a sandbox one thing
    is held back all the same: a declared write with a value that nothing states, which comes back as
    a failed result too. Questions, limits, approval of writes and accounting are those of
    :class:`ReAct`; so is the reading of results (an error inside a success is shown as a failure),
    which can only help it.
    """

    name = "react-no-repair"


class ReActUnchecked(ReActAsWritten):
    """ReAct as in its paper and in ToolBench, without repair and without gate: arguments go to the
    tool whatever its documentation says, and replies are not held to it. Where the documentation is
    wrong, only so can a model do what the tool's error says.
    """

    name = "react-no-gate"
    unchecked = True


class DFSDTAsWritten(_AsWritten, DFSDT):
    """DFSDT with calls and answer as written, like :class:`ReActAsWritten`; a step that says and
    brings nothing new ends its branch.
    """

    name = "dfsdt-no-repair"


class DFSDTUnchecked(DFSDTAsWritten):
    """DFSDT without gate, like :class:`ReActUnchecked`."""

    name = "dfsdt-no-gate"
    unchecked = True


class CodeAsWritten(_AsWritten, Code):
    """The Python-call agent whose calls leave as they are written, like :class:`ReActAsWritten`:
    one that the schema refuses returns ``{"error": why}`` to the program, and repairing it is the
    model's part (Tool-MVR, 3.3).
    """

    name = "code-no-repair"


class CodeUnchecked(CodeAsWritten):
    """The Python-call agent without gate, like :class:`ReActUnchecked`."""

    name = "code-no-gate"
    unchecked = True


class ToolMVRAsWritten(_AsWritten, ToolMVR):
    """A model from ``train toolmvr`` on its own: the gate's refusals come back in the words of its
    training rows.
    """

    name = "toolmvr-no-repair"


class ToolMVRUnchecked(ToolMVRAsWritten):
    """A model from ``train toolmvr`` without gate either: the tool itself says what it does not
    take, as in the paper.
    """

    name = "toolmvr-no-gate"
    unchecked = True
