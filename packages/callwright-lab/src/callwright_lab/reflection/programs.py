"""A learner's programs (Tool-MVR, Table 17 and B.3): run where it may, so that what they really
call is known.

A program that computes its arguments shows what it calls only when it runs. It runs in
:mod:`callwright.agent.execution.sandbox`, its calls go the way of everything that is tried, and it finds the
variables that the rounds before it left: those are run first, with what their calls returned then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from callwright.agent.execution.sandbox import Ran, Sandbox, Stop
from callwright.agent.strategies.code import (
    CALLS,
    bind_call,
    build_functions,
    get_result_value,
    render_observation,
)
from callwright.nouns.errors import Failure
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Json, ToolCall, ToolResult, to_canonical_json
from callwright.repair.gate import Gate
from callwright_lab.reflection.attempts import Trying
from callwright_lab.reflection.syntax import is_fully_printed
from callwright_lab.reflection.wrong import Wrong, check_call
from callwright_lab.verify.budget import Meter

_OBSERVED = 12_000  # characters, of which an observation takes half at most
_OF_HISTORY = 64  # calls of an earlier round, whoever wrote it
_LAST = re.compile(r"(?P<kind>\w+)(?:: (?P<said>.*))?\Z", re.DOTALL)
_TRACEBACK = "Traceback (most recent call last)"
_FOREIGN = ("NotImplementedError", "monty syntax parser")
_OFFERED = "; the functions are: "  # in the sandbox's NameError for a call of what is no tool


class NotCarriedOut(Exception):
    """A call that nobody may carry out here: nothing follows from what wanted to make it."""


@dataclass
class Attempts:
    """Calls that a learner makes, one after the other: what came back, and the first that the gate
    refused.
    """

    gate: Gate
    trying: Trying
    query: str
    meter: Meter
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    wrong: Wrong | None = None

    async def make(self, call: ToolCall) -> ToolResult:
        """The result of a call, a failure where the gate refuses it. Raises NotCarriedOut and what
        trying raises.
        """
        call = replace(call, id=f"w{len(self.calls) + 1}")
        self.calls.append(call)
        verdict = check_call(self.gate, call)
        if isinstance(verdict, Wrong):
            given = call.arguments if isinstance(call.arguments, dict) else {}
            result = ToolResult(
                call.id, call.tool, given, failure=Failure("tool_error", verdict.feedback)
            )
            self.wrong = self.wrong or verdict
        else:
            result = await self.trying.call(verdict, self.query, self.meter)
            if result.failure is not None and result.failure.kind == "not_executable":
                raise NotCarriedOut(result.failure.message)
        self.results.append(result)
        return result


@dataclass(frozen=True, slots=True)
class Done:
    """Result of running a program: its calls with their results and its output. If it did not end
    well, it also holds the reason.
    """

    step: Step
    wrong: Wrong | None = None  # the first call that the gate refused
    stop: Stop = ""
    kind: str = ""  # of the exception that ended it

    @property
    def fault(self) -> Wrong | None:
        """The program's own error: an exception that it did not catch, or more calls than a round
        may have.
        """
        if self.stop == "calls":
            return Wrong("calling", "too many calls", self.step.shown)
        if self.stop != "error":
            return None
        named = "unknown tool" if _OFFERED in self.step.shown else f"program: {self.kind}"
        return Wrong("calling", named, self.step.shown)

    @property
    def foreign(self) -> bool:
        """Return True if the program uses Python that the sandbox does not support, or if the
        sandbox stopped it. This is not the learner's error.
        """
        ended = self.stop not in ("", "error", "calls")
        return ended or (self.kind == _FOREIGN[0] and _FOREIGN[1] in self.step.shown)


class Programs:
    """Runs programs of one point. ``gate`` holds the tools on offer."""

    def __init__(self, gate: Gate, trying: Trying) -> None:
        self._gate, self._trying = gate, trying
        self._functions = build_functions(gate.tools)
        self.tools = frozenset(self._functions)
        self._known: dict[
            str, ToolResult
        ] = {}  # what calls of the history return that is not on record

    async def run(
        self, before: Trajectory, code: str, thought: str, meter: Meter, most: int = CALLS
    ) -> Done:
        """Run a program after the rounds of ``before``, with ``most`` calls at most.

        Raises NotCarriedOut where a call may not be made here or an earlier program, which ended
        well, does not now: the variables that it left are missing. MissingExtra without a sandbox,
        and what a call raises.
        """
        made = Attempts(self._gate, self._trying, before.query, meter)

        async def call(name: str, args: tuple[Json, ...], kwargs: dict[str, Json]) -> Json:
            return get_result_value(await made.make(bind_call(self._functions[name], args, kwargs)))

        async with Sandbox() as sandbox:
            for number, step in enumerate(before.steps, 1):
                if step.code:
                    earlier = _Earlier(
                        self, step, Attempts(self._gate, self._trying, before.query, meter)
                    )
                    past = await sandbox.run(step.code, self._functions, earlier.call, _OF_HISTORY)
                    if past.stop and not _has_final_traceback(step):
                        raise NotCarriedOut(
                            f"the program of round {number} ended well then; now: {past.why[-200:]}"
                        )
            ran = await sandbox.run(code, self._functions, call, most)
        step = Step(
            thought,
            tuple(made.calls),
            tuple(made.results),
            code,
            render_observation(ran, _OBSERVED),
        )
        return Done(step, made.wrong, ran.stop, _extract_exception_type(ran))

    async def known(self, call: ToolCall, made: Attempts) -> ToolResult:
        """The result of a call of the history that has none on record: made once for all programs
        of the point.
        """
        key = to_canonical_json([call.tool, call.arguments])
        if key not in self._known:
            self._known[key] = await made.make(call)
        return self._known[key]

    def call_of(self, name: str, args: Sequence[Json], kwargs: dict[str, Json]) -> ToolCall:
        """The tool's call that a program's is. Raises ProgramError."""
        return bind_call(self._functions[name], args, kwargs)


class _Earlier:
    """Answers an earlier round's calls as they were answered then; where that is not on record, by
    making them.
    """

    def __init__(self, programs: Programs, step: Step, made: Attempts) -> None:
        self._programs, self._made = programs, made
        told = [result for _, result in step.pairs if result is not None]
        read = not step.shown  # from the print-out alone
        whole = len(told) == len(step.calls) and (
            not read or is_fully_printed(step.code, programs.tools)
        )
        self._told = told if whole else []
        self._next = 0

    async def call(self, name: str, args: tuple[Json, ...], kwargs: dict[str, Json]) -> Json:
        self._next += 1
        if self._next <= len(self._told):
            return get_result_value(self._told[self._next - 1])
        return get_result_value(
            await self._programs.known(self._programs.call_of(name, args, kwargs), self._made)
        )


def _has_final_traceback(step: Step) -> bool:
    """Return True if a program's output ends with a traceback."""
    told = step.shown or "\n".join(r.content for r in step.results if isinstance(r.content, str))
    return _TRACEBACK in told


def _extract_exception_type(ran: Ran) -> str:
    """The type of the exception that ended a program, "" where none did."""
    lines = [line for line in ran.why.splitlines() if line and not line[0].isspace()]
    found = _LAST.match(lines[-1]) if ran.stop == "error" and lines else None
    if found:
        return found["kind"]
    if ran.stop == "error":
        return "error"
    return ""
