"""The middle of a run: every call goes check -> (repair) -> invoke -> (diagnose -> repair -> invoke again).

Calls that are ready together run together, in one TaskGroup. An error stays at its call (RETO, section 3.4): what
cannot be mended within the budget is recorded as skipped or failed, and the run goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Coroutine, Iterable, Sequence
from dataclasses import replace

from callwright.errors import CallwrightError, Violation
from callwright.execution.gaps import names_another, unknown_keys
from callwright.execution.invoke import Caller, invoke
from callwright.execution.questions import LimitReached, Questions
from callwright.gate import Diagnosis, Gate, Refusal, Sources, diagnose, repair_failure, repair_refusal
from callwright.gate.grounding import copies_example
from callwright.gate.repair import Repair
from callwright.gate.spellings import calendar_day
from callwright.limits import Budget
from callwright.trace import Trace
from callwright.types import CheckedCall, Skip, ToolCall, ToolResult, canonical, to_json

_FIRST_WAIT = 0.5  # seconds before a repeated execution of a call the world refused; doubles


class Executor:
    """Executes calls for one run and keeps what came of them, in call order."""

    def __init__(
        self,
        *,
        caller: Caller,
        gate: Gate,
        sources: Sources,
        questions: Questions,
        budget: Budget,
        trace: Trace,
    ) -> None:
        self.results: list[ToolResult] = []
        self.skips: list[Skip] = []
        self.postponed: dict[str, int] = {}  # tool -> results there were when its call lacked a value
        self.held: dict[str, list[CheckedCall]] = {}  # calls that wait for a value from somewhere
        self.repairs = {"tier1": 0, "tier2": 0, "repeat": 0}
        self._caller = caller
        self._gate = gate
        self.sources = sources
        self._questions = questions
        self._budget = budget
        self._trace = trace
        self._seen: dict[str, str] = {}
        self._unmended: set[str] = set()
        self._numbered = 0
        self._places = asyncio.Semaphore(budget.limits.concurrency)

    def skip(self, skips: Iterable[Skip]) -> None:
        """Record tools that were offered and not called."""
        for skip in skips:
            self.skips.append(skip)
            self._trace.add("skip", tool=skip.tool, reason=skip.reason, slot=skip.slot)

    def postpone(self, tool: str) -> None:
        """Note that a call of this tool lacks a value that later results may hold."""
        self.postponed[tool] = len(self.results)

    async def settle(
        self, calls: Sequence[ToolCall], allowed: Iterable[str], *, patient: Container[str] = (), ask: bool = True
    ) -> list[ToolResult]:
        """Execute calls that may run at the same time; tools outside ``allowed`` are refused by construction.

        A call of a ``patient`` tool with a number or date from nowhere is held instead of executed: a later result
        may give it. ``ask=False``: calls that no model wrote; what the gate refuses is dropped. Tools whose call was
        held or refused for a made-up value are in ``postponed``.
        """
        view = frozenset(allowed)
        gate = Gate(tool for tool in self._gate.tools if tool.name in view)
        numbered = [self._number(call) for call in calls]
        return await self._together([self._settle_one(call, gate, call.tool in patient, ask) for call in numbered])

    async def release(self, tools: Iterable[str]) -> list[ToolResult]:
        """Execute the held calls of these tools after all: nothing that came since gave their value."""
        calls = [call for tool in tools for call in self.held.pop(tool, ())]
        return await self._together([self._once(call, self._gate) for call in calls])

    async def _together(self, work: Sequence[Coroutine[None, None, ToolResult | None]]) -> list[ToolResult]:
        """Run calls at the same time and keep what came of them, in the given order."""
        done: list[ToolResult | None] = [None] * len(work)

        async def one(place: int, call: Coroutine[None, None, ToolResult | None]) -> None:
            async with self._places:
                done[place] = await call

        failed: Exception | None = None
        try:
            async with asyncio.TaskGroup() as group:
                for place, call in enumerate(work):
                    group.create_task(one(place, call))
        except* CallwrightError as errors:  # one dead endpoint is one error, however many calls asked it
            failed = errors.exceptions[0]
        if failed is not None:  # raised out here: what is raised inside except* may come out as a group again
            raise failed from None
        results = [r for r in done if r is not None]
        self.results += results
        for result in results:
            if result.ok:
                self.sources.add_result(result)
        return results

    def _number(self, call: ToolCall) -> ToolCall:
        self._numbered += 1
        return replace(call, id=f"r{self._numbered}")

    async def _settle_one(self, call: ToolCall, gate: Gate, patient: bool, ask: bool) -> ToolResult | None:
        by = "model" if ask else "analogy"
        self._trace.add("call.raw", id=call.id, tool=call.tool, arguments=call.arguments, slot=call.slot, by=by)
        checked = await self._check(call, gate, ask)
        if checked is None:
            return None
        if patient and (why := _made_up(checked, self.sources)):
            self.held.setdefault(call.tool, []).append(checked)
            self._postpone(call, why)
            return None
        return await self._once(checked, gate)

    async def _once(self, checked: CheckedCall, gate: Gate) -> ToolResult | None:
        """Run a call unless the very same one was made before in this run."""
        key = canonical([checked.tool.name, checked.arguments])
        if key in self._seen:
            self.skip(
                (Skip(checked.tool.name, f"the same call was already made as {self._seen[key]}", checked.slot),)
            )
            return None
        self._seen[key] = checked.id
        return await self._run(checked, gate)

    async def _check(self, call: ToolCall, gate: Gate, ask: bool) -> CheckedCall | None:
        verdict = gate.check(call, self.sources)
        if isinstance(verdict, Refusal):
            self._trace.add("call.refused", id=call.id, violations=verdict.violations, edits=verdict.edits)
            verdict = await self._mend_refusal(verdict, gate) if ask else verdict
        if isinstance(verdict, Refusal):
            made_up = any(v.kind == "ungrounded" for v in verdict.violations)
            (self._postpone if made_up else self._drop)(call, _reason(verdict.violations))
            return None
        self.repairs["tier1"] += sum(edit.rule != "repair_model" for edit in verdict.edits)
        self._trace.add(
            "call.checked",
            id=call.id,
            tool=verdict.tool.name,
            arguments=verdict.arguments,
            edits=verdict.edits,
            warnings=[w.to_dict() for w in verdict.warnings],
        )
        return verdict

    async def _mend_refusal(self, refusal: Refusal, gate: Gate) -> CheckedCall | Refusal:
        key = canonical([refusal.call.tool, [(v.path, v.keyword, v.got) for v in refusal.violations]])
        if key in self._unmended:
            return refusal  # the model was asked this very thing in this run and knew no better
        mended = await self._repair(refusal, repair_refusal(refusal, gate, self.sources, self._grant))
        if isinstance(mended, Refusal):
            self._unmended.add(key)
        return mended

    async def _repair(self, refusal: Refusal, dialogue: Repair) -> CheckedCall | Refusal:
        """Drive one repair. What was changed and at which tier goes into the trace."""
        asked = self.repairs["tier2"]
        try:
            outcome = await self._questions.converse(dialogue)
        except LimitReached:
            return refusal
        if isinstance(outcome, CheckedCall):
            self._trace.add(
                "call.repair",
                id=outcome.id,
                tier=2 if self.repairs["tier2"] > asked else 1,
                before=refusal.call.arguments,
                after=outcome.arguments,
                edits=outcome.edits,
            )
        return outcome

    def _grant(self) -> bool:
        """One tier-2 question from the run's budget B."""
        granted = self._budget.spend_repair()
        self.repairs["tier2"] += granted
        if not granted:
            self._trace.add("limit", limit="repairs", purpose="repair")
        return granted

    async def _run(self, call: CheckedCall, gate: Gate) -> ToolResult | None:
        """Invoke, and while the diagnosis allows it and the budget lasts, mend and invoke again."""
        attempt = 1
        while True:
            if not self._budget.spend_tool_call():
                self._trace.add("limit", limit="tool_calls", purpose="invoke")
                self.skip(
                    (Skip(call.tool.name, "the run's limit of tool calls is reached", call.slot, refused=True),)
                )
                return None
            result, diagnosis = await self._invoke(call, attempt)
            if result.ok:
                return result
            again = await self._again(call, result, diagnosis, gate)
            if again is None:
                return result
            call, attempt = again, attempt + 1

    async def _invoke(self, call: CheckedCall, attempt: int) -> tuple[ToolResult, Diagnosis]:
        limits = self._budget.limits
        timeout = min(limits.tool_seconds, max(0.001, self._budget.seconds_left))
        result = await invoke(call, self._caller, timeout=timeout, max_bytes=limits.result_bytes, attempt=attempt)
        result = self._without_secrets(result)
        diagnosis = diagnose(result, call.tool)
        if result.ok and diagnosis.failure is not None:  # status 200 with an error inside, or nothing at all
            result = replace(result, failure=diagnosis.failure)
        self._trace.add("result", **to_json(result))
        return result, diagnosis

    def _without_secrets(self, result: ToolResult) -> ToolResult:
        """A tool may echo the key it was called with: neither the model nor the answer may see it."""
        failure = result.failure
        if failure is not None:
            failure = replace(
                failure, message=self._trace.redact(failure.message), detail=self._trace.redact(failure.detail)
            )
        return replace(result, content=self._trace.redact(result.content), failure=failure)

    async def _again(
        self, call: CheckedCall, result: ToolResult, diagnosis: Diagnosis, gate: Gate
    ) -> CheckedCall | None:
        """The call to execute next after a failure, or None where the failure stands."""
        failure = result.failure
        if failure is None or (failure.outcome_unknown and not call.tool.effects.may_repeat):
            return None
        if diagnosis.points_at_arguments:
            if self._unknown_here(call, failure.message):
                return None
            dialogue = repair_failure(call, result, diagnosis, gate, self.sources, self._grant)
            raw = ToolCall(call.id, call.tool.name, call.arguments, call.slot)
            mended = await self._repair(Refusal(raw, call.tool, call.arguments, ()), dialogue)
            if isinstance(mended, Refusal) or mended.arguments == call.arguments:
                return None
            if not self._spend_repeat():
                return None
            self._gate = self._gate.with_tool(mended.tool)  # what the error taught holds for the rest of the run
            return mended
        if failure.retryable and self._spend_repeat():
            await asyncio.sleep(min(_FIRST_WAIT * 2 ** (result.attempt - 1), self._budget.seconds_left))
            return call
        return None

    def _unknown_here(self, call: CheckedCall, message: str) -> bool:
        """Whether other arguments cannot be had: another tool knows the value, or nothing does yet."""
        if names_another(message, call.tool.name, (tool.name for tool in self._gate.tools)):
            return True
        keys = unknown_keys(message, call.arguments)
        return bool(keys) and not any({*self.sources.under(k)} - {call.arguments[k]} for k in keys)

    def _spend_repeat(self) -> bool:
        granted = self._budget.spend_repair()
        self.repairs["repeat"] += granted
        return granted

    def _postpone(self, call: ToolCall, reason: str) -> None:
        self.postpone(call.tool)
        self._drop(call, reason)

    def _drop(self, call: ToolCall, reason: str) -> None:
        self.skip((Skip(call.tool, reason, call.slot, refused=True),))


def _made_up(call: CheckedCall, sources: Sources) -> str:
    """Why a call should wait: a required number or date that nothing seen so far says, or the example that the tool's
    own description gives. A tool may yet say the value."""
    for warning in call.warnings:
        key = warning.path.removeprefix("/").split("/")[0]
        number = isinstance(warning.got, int | float) and not isinstance(warning.got, bool)
        day = isinstance(warning.got, str) and calendar_day(warning.got) is not None
        copied = copies_example(warning.got, call.tool.properties.get(key), sources)
        if warning.kind == "unsourced" and (number or day or copied) and key in call.tool.required:
            return warning.message
    return ""


def _reason(violations: Sequence[Violation]) -> str:
    return violations[0].message if violations else "refused by the gate"
