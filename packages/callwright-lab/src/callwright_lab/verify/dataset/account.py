"""One row of a data set as its rules read it, and what they find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from callwright.nouns.types import JsonObject, Tool, ToolCall, ToolResult, to_canonical_json
from callwright.repair.diagnose import diagnose
from callwright.repair.gate import arguments_of
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright_lab.transcripts import Transcript
from callwright_lab.verify.steps import StepFault, step_faults

DefectKind = Literal[
    "unnamed_value",  # an argument is the word for a thing that the request does not name: "a specific country"
    "placeholder",  # an argument stands for a value that nobody gave: YOUR_KEY, <id>
    "asks_back",  # the answer asks the user for what the request lacks
    "broken_request",  # the request is cut, holds an unclosed quotation or a blank to be filled
    "impossible_date",  # a day that no calendar has, or an end before its beginning
    "repeated_request",  # another row asks the same of the same tools
    "given_up",  # the agent gave up
    "tool_not_offered",  # a gold call of a tool that is not on offer
    "unknown_tool",  # a call of no tool on offer
    "missing_input",  # a call without an input that its tool requires
    "unknown_argument",  # a call with an argument that its tool does not know
    "wrong_value",  # a value that the tool's schema refuses
    "identifier_from_nowhere",  # an identifier that nothing before the call contains
    "day_from_nowhere",  # a date, where nobody had spoken of any day
    "value_from_nowhere",  # another value that nothing before the call contains
    "dangling_reference",  # a reference to the result of a call that was not made before
    "no_call",  # an answer without any call
    "no_answer",  # no answer, though the source gives answers
    "admitted_failure",  # the answer says that it does not answer
    "failure_as_success",  # every call failed, and the answer says nothing of it
    "unsupported",  # the answer says what no result contains
    "contradiction",  # the answer says other than a result does
    "repeated_call",  # the same call as before, though nothing had changed
    "unused_result",  # nothing of a result was used
    "trial_and_error",  # a failed call, followed by one of the same tool that succeeds
]


@dataclass(frozen=True, slots=True)
class Defect:
    """One fault in a row. ``step`` and ``call`` name the call, -1 and "" the request or the
    answer.
    """

    kind: DefectKind
    reason: str
    step: int = -1
    call: str = ""


class Account:
    """A transcript, read once for all rules."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.trajectory = transcript.trajectory
        self.cut = transcript.cut
        self.tools = {tool.name: tool for tool in self.trajectory.tools}

    @cached_property
    def found(self) -> tuple[StepFault, ...]:
        """Return the faults that :mod:`callwright_lab.verify.steps` finds."""
        return step_faults(self.trajectory)

    @property
    def gold(self) -> bool:
        """Return True if the calls are a source's gold calls rather than an agent's actions."""
        return not self.trajectory.results and not self.cut and self.trajectory.answer is None

    @property
    def answers(self) -> bool:
        """Return True if the source gives answers, rather than gold calls or rounds that end before
        an answer.
        """
        return not self.gold and not self.transcript.context

    def calls(self) -> Iterator[tuple[int, ToolCall, ToolResult | None, Tool | None]]:
        """Every call with its round, its result, a failure found in it, and its tool."""
        for step, call, result in self.trajectory.pairs():
            tool = self.tools.get(call.tool)
            yield (
                step,
                call,
                _diagnose_result(result, tool if tool is not None else Tool(call.tool)),
                tool,
            )

    def is_complete(self, step: int) -> bool:
        """Return True if the record is complete up to and including this round, so that missing
        parts are really missing.
        """
        return not any(at <= step for at in self.cut)

    def said_before(self) -> Iterator[tuple[int, ToolCall, JsonObject, Tool, ProvenanceIndex]]:
        """Every call whose arguments and tool are known, with all that was said before it: the
        request, what the tools say of themselves, thoughts of nobody, results and print-outs.
        """
        sources = ProvenanceIndex(self.trajectory.query)
        for offered in self.trajectory.tools:
            sources.add_text(f"{offered.description} {to_canonical_json(offered.input_schema)}")
        shown = -1
        for step, call, result, tool in self.calls():
            while shown < step - 1:
                shown += 1
                sources.add_text(self.trajectory.steps[shown].shown)
            arguments = arguments_of(call)
            if tool is not None and arguments is not None:
                yield step, call, arguments, tool, sources
            if result is not None:
                sources.add_result(result)
                if result.failure is not None:
                    sources.add_text(
                        f"{result.failure.message} {to_canonical_json(result.content)}"
                    )


def _diagnose_result(result: ToolResult | None, tool: Tool) -> ToolResult | None:
    return None if result is None else replace(result, failure=diagnose(result, tool).failure)
