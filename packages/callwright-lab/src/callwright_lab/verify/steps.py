"""Finds faulty rounds of a trajectory by rule: redundant, hallucinated and trial-and-error calls.

This is the part of the Execution Checker that needs no model (Tool-MVR, 3.2.3; minimality and
alignment of Table 1). Pure and deterministic. A rule reports only faults that the trajectory itself
shows. A call that may have changed the world is no fault, nor is a result that the answer may have
paraphrased.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from callwright.dataflow.flow import find_verb_kind
from callwright.grounding import check_statement, facts_of
from callwright.grounding.answer.reply import split_prose
from callwright.grounding.grounding_result import NOWHERE, GroundingResult, is_unheard
from callwright.language.detect import language_of
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall, ToolResult, to_canonical_json
from callwright.parsing.tool_vocabulary import FINISH
from callwright.repair.diagnose import diagnose
from callwright.repair.gate import Gate, Refusal, arguments_of
from callwright.repair.provenance.grounding import classify_value, iter_leaves
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema.value_spellings import calendar_day
from callwright_lab.verify.used import (
    extract_telling_values,
    is_count_stated,
    is_empty_search,
    render_values,
)

StepFaultKind = Literal[
    "unknown_tool",  # the call names no tool on offer
    "wrong_arguments",  # the tool's schema refuses them, or does not know a key
    "identifier_from_nowhere",  # neither the request, an earlier result nor a tool's own text contains it
    "day_from_nowhere",  # a date, where neither the request nor anything before the call speaks of any day
    "guessed_today",  # a date counted from today, which nothing before the call tells
    "repeated_call",  # the same call as before, though nothing had changed
    "trial_and_error",  # a failed call, followed by one of the same tool that succeeds
    "unused_result",  # no later call and not the answer uses anything of it
    "contradiction",  # the answer says other than a result does, and nobody says what it says
    "attribution",  # what it says is said, of something else: another record, unit or kind
    "unsupported",  # the answer says what no result contains
]

_WRITES, _READS = (
    frozenset({"make", "change", "act", "remove"}),
    frozenset({"find", "list", "get", "check", "compute"}),
)
_MISNAMED = frozenset(
    {"rename_key", "drop_unknown"}
)  # edits that lose or guess: the others keep what was meant
_DAY_SAID = re.compile(  # what somebody may have worked a date out from
    r"\b(?:19|20)\d\d\b|\d{1,2}[./-]\d{1,2}\b|\b\d{1,2}(?:st|nd|rd|th)\b"
    r"|\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|\b(?:to|yester)day|\bto(?:night|morrow)|\bnow\b|\b(?:next|last(?!"
    r" day)|current|recent|latest|upcoming)\b"
    r"|\bdays? (?:ago|after|before|earlier|from|later|left|until)\b|\b(?:in|within) \w+ days?\b"
    r"|\b(?:weeks?|weekend|months?|years?|quarter|season|spring|summer|autumn|fall|winter|easter|christmas|eve)\b",
    re.I,
)
_FROM_TODAY = re.compile(r"\b(?:(?:to|yester)day|tonight|tomorrow|now)\b", re.I)
_TODAY_IS = re.compile(r"\b(?:today|it) (?:is|was|being)\b|\btoday'?s date\b|\bas of\b", re.I)
_DATE = re.compile(r"\b(?:19|20)\d\d-\d\d|\b\d{1,2}[./]\d{1,2}[./]")
_FIGURE = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class StepFault:
    """One fault. ``reason`` is a sentence for people and for a model.

    ``step`` is the number of its round, from 0, and ``call`` the id of the call there; -1 and ""
    for the answer.
    """

    kind: StepFaultKind
    step: int
    call: str
    reason: str


def step_faults(
    trajectory: Trajectory, kinds: Collection[StepFaultKind] = ()
) -> tuple[StepFault, ...]:
    """Everything that the rules find, in the order of the rounds. ``kinds``: these only."""
    account = _Account(trajectory)
    found = [f for kind, rule in RULES.items() if not kinds or kind in kinds for f in rule(account)]
    return tuple(sorted(found, key=lambda f: len(trajectory.steps) if f.step < 0 else f.step))


@dataclass(frozen=True, slots=True)
class _Made:
    """One call with its result, which has an id that no other has and, where it says that it
    failed, a failure.
    """

    step: int
    call: ToolCall
    tool: Tool | None
    arguments: JsonObject | None  # None where they are no JSON object
    result: ToolResult | None

    @property
    def ok(self) -> bool:
        return self.result is not None and self.result.ok

    @property
    def failed(self) -> bool:
        return self.result is not None and not self.result.ok

    @property
    def key(self) -> str:
        return to_canonical_json([self.call.tool, self.arguments])

    def fault(self, kind: StepFaultKind, reason: str) -> StepFault:
        return StepFault(kind, self.step, self.call.id, reason)


class _Account:
    """A trajectory, read once for all rules."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.trajectory = trajectory
        tools = {tool.name: tool for tool in trajectory.tools}
        pairs = [
            pair for pair in trajectory.pairs() if pair[1].tool != FINISH
        ]  # a way to end, and no call
        self.made = [_build_call_record(number, *pair, tools) for number, pair in enumerate(pairs)]

    @cached_property
    def asked(self) -> ProvenanceIndex:
        """The request, and what the tools say of themselves: names, descriptions, defaults,
        examples.
        """
        sources = ProvenanceIndex(self.trajectory.query)
        for tool in self.trajectory.tools:
            sources.add_text(tool.description)
            sources.add_text(to_canonical_json(tool.input_schema))
        return sources

    @cached_property
    def not_held(self) -> list[tuple[_Made, str, Json, str, bool]]:
        """Every value of an argument that nothing before its call contains: the call, where it
        stands, the value, the gate's word for it, and whether anything before the call speaks of a
        day. Ends where a result is not known.
        """
        found: list[tuple[_Made, str, Json, str, bool]] = []
        sources, shown = self.asked.copy(), [step.shown for step in self.trajectory.steps]
        query = self.trajectory.query
        # the words for days are English: of another language nobody here can say that it has none
        dated = _DAY_SAID.search(query) is not None or language_of(query) != "en"
        for place, made in enumerate(self.made):
            for text in shown[self.made[place - 1].step : made.step] if place else ():
                sources.add_text(text)
                dated = dated or _DAY_SAID.search(text) is not None
            properties = made.tool.properties if made.tool else {}
            for key, value in (made.arguments or {}).items():
                for path, name, leaf, part in iter_leaves(key, value, properties.get(key)):
                    if (verdict := classify_value(name, leaf, part, sources)) != "held":
                        found.append((made, path.removeprefix("/"), leaf, verdict, dated))
            if made.result is None and not shown[made.step]:
                break
            if made.result is not None:
                told = to_canonical_json(made.result.content)
                sources.add_result(made.result)
                if made.result.failure is not None:
                    told = f"{made.result.failure.message} {told}"
                    sources.add_text(told)
                dated = dated or _DAY_SAID.search(told) is not None
        return found

    @cached_property
    def statements(self) -> list[tuple[str, GroundingResult]]:
        """The sentences of the answer, checked against the results; none where there is no
        answer.
        """
        answer = self.trajectory.answer
        if not answer or self.trajectory.given_up:
            return []
        facts = facts_of(
            self.trajectory.query, [m.result for m in self.made if m.result is not None]
        )
        return [(draft.text, check_statement(draft.text, facts)) for draft in split_prose(answer)]


def _build_call_record(
    number: int, step: int, call: ToolCall, result: ToolResult | None, tools: Mapping[str, Tool]
) -> _Made:
    tool = tools.get(call.tool)
    arguments = arguments_of(call)
    if result is not None:
        failure = diagnose(result, tool or Tool(call.tool)).failure
        result = replace(result, id=f"r{number + 1}", arguments=arguments or {}, failure=failure)
    return _Made(step, call, tool, arguments, result)


def _unknown_tools(account: _Account) -> Iterator[StepFault]:
    for made in account.made:
        if made.tool is None:
            yield made.fault("unknown_tool", f"{made.call.tool!r} is none of the tools on offer")


def _wrong_arguments(account: _Account) -> Iterator[StepFault]:
    """Yield the calls that the gate refuses, or repairs only by dropping or renaming a key.
    Lossless conversions are no fault.
    """
    gate = Gate(account.trajectory.tools)
    for made in account.made:
        if made.tool is None:
            continue
        verdict = gate.check(made.call)
        if (
            isinstance(verdict, Refusal)
            and made.result is None
            and verdict.violations[0].kind == "truncated"
        ):
            continue  # who wrote it down may have cut it
        if isinstance(verdict, Refusal):
            yield made.fault("wrong_arguments", verdict.message)
        elif keys := [
            edit.path.removeprefix("/") for edit in verdict.edits if edit.rule in _MISNAMED
        ]:
            yield made.fault(
                "wrong_arguments", f"{made.call.tool} has no argument {', '.join(keys)}"
            )


def _find_ungrounded_identifiers(account: _Account) -> Iterator[StepFault]:
    """By the gate's own judgement (:mod:`callwright.repair.provenance.grounding`). An error that
    names an identifier gives it; a result that nobody wrote down may have given any.
    """
    for made, path, leaf, verdict, _ in account.not_held:
        if verdict == "identifier":
            said = f"{path} is {to_canonical_json(leaf)}, which nothing before this call contains"
            yield made.fault("identifier_from_nowhere", said)


def _find_ungrounded_days(account: _Account) -> Iterator[StepFault]:
    """Dates that were made up for sure: nobody had spoken of a day, a month, a year or a time from
    now.
    """
    for made, path, leaf, _, dated in account.not_held:
        if not dated and isinstance(leaf, str) and calendar_day(leaf) is not None:
            said = f"{path} is {to_canonical_json(leaf)}, and nothing before this call speaks of any day"
            yield made.fault("day_from_nowhere", said)


def _find_ungrounded_today(account: _Account) -> Iterator[StepFault]:
    """Dates counted from a today that nobody had told: neither the request, nor a result or
    print-out with a date.
    """
    query = account.trajectory.query
    if not _FROM_TODAY.search(query) or _TODAY_IS.search(query):
        return
    shown = [step.shown for step in account.trajectory.steps]
    for made, path, leaf, _, _ in account.not_held:
        before = [
            to_canonical_json(m.result.content)
            for m in account.made
            if m.step < made.step and m.result is not None
        ]
        if any(_DATE.search(text) for text in (*before, *shown[: made.step])):
            return
        if isinstance(leaf, str) and calendar_day(leaf) is not None:
            said = (
                f"{path} is {to_canonical_json(leaf)}, counted from today, and nothing before tells what"
                " day that is"
            )
            yield made.fault("guessed_today", said)


def _find_repeated_calls(account: _Account) -> Iterator[StepFault]:
    """The same call again. Not where it had to be made again, or where something may have changed
    meanwhile.
    """
    last: dict[str, int] = {}
    for place, made in enumerate(account.made):
        if made.arguments is None:  # what cannot be read is not known to be the same
            continue
        earlier, last[made.key] = last.get(made.key), place
        if earlier is None:
            continue
        first, between = account.made[earlier], account.made[earlier + 1 : place]
        if not _worth_repeating(first, made, between):
            again = "again, and the same came back" if made.result and first.result else "again"
            yield made.fault(
                "repeated_call", f"{made.call.tool} was called with these arguments {again}"
            )


def _worth_repeating(first: _Made, again: _Made, between: Iterable[_Made]) -> bool:
    failure = first.result.failure if first.result else None
    if failure is not None and failure.retryable:
        return True
    writes = [is_write_tool(made.tool) for made in between]
    if first.result is not None and again.result is not None:
        return to_canonical_json(first.result.content) != to_canonical_json(
            again.result.content
        ) or (first.ok != again.ok or True in writes)
    return any(written is not False for written in writes)


def is_write_tool(tool: Tool | None) -> bool | None:
    """Return True if calls of a tool change the world, by its declaration or else by the verb in
    its name. None if neither tells.
    """
    if tool is not None and tool.effects.declared:
        return tool.effects.may_write
    kind = find_verb_kind(tool.name) if tool is not None else ""
    if kind in _WRITES:
        return True
    if kind in _READS:
        return False
    return None


def _find_trial_calls(account: _Account) -> Iterator[StepFault]:
    """Failed calls after which the same tool succeeded; not those of two things that the request
    asked for both, and not a repetition that the failure itself called for.
    """
    for place, made in enumerate(account.made):
        if not made.failed or made.result is None or made.result.failure is None:
            continue
        later = [m for m in account.made[place + 1 :] if m.call.tool == made.call.tool and m.ok]
        later = [m for m in later if not (made.result.failure.retryable and m.key == made.key)]
        better = next((m for m in later if not _is_both_requested(made, m, account)), None)
        if better is not None:
            why = " ".join(made.result.failure.message.split())[:160]
            said = (
                f"it failed ({why}); {better.call.tool} succeeded in round {better.step + 1} with"
                " other arguments"
            )
            yield made.fault("trial_and_error", said)


def _is_both_requested(one: _Made, other: _Made, account: _Account) -> bool:
    """Return True if the two calls differ only in values that the request names."""
    if (
        one.arguments is None
        or other.arguments is None
        or one.arguments.keys() != other.arguments.keys()
    ):
        return False
    changed = [
        k
        for k, v in one.arguments.items()
        if to_canonical_json(v) != to_canonical_json(other.arguments[k])
    ]
    asked = ProvenanceIndex(account.trajectory.query)
    return bool(changed) and all(
        asked.holds(made.arguments[k]) and not isinstance(made.arguments[k], bool)
        for k in changed
        for made in (one, other)
        if made.arguments is not None
    )


def _find_unused_results(account: _Account) -> Iterator[StepFault]:
    """Results of which nothing was used. A call that changes something is used by what it does."""
    trajectory = account.trajectory
    if trajectory.answer is None or trajectory.given_up:
        return
    cited = {c.result for _, verdict in account.statements for c in verdict.citations}
    for place, made in enumerate(account.made):
        if (
            not made.ok
            or made.result is None
            or is_write_tool(made.tool)
            or made.result.id in cited
        ):
            continue
        later = [to_canonical_json(m.call.arguments) for m in account.made[place + 1 :]]
        code = [step.code for step in trajectory.steps[made.step + 1 :]]
        known = extract_telling_values(
            [trajectory.query, to_canonical_json(made.call.arguments), made.call.tool]
        )
        news = extract_telling_values([render_values(made.result.content)]) - known
        if (
            news
            and not news & extract_telling_values([trajectory.answer, *later, *code])
            and not is_count_stated(made.result.content, trajectory.answer)
            and not is_empty_search(made.result.content)
        ):
            yield made.fault(
                "unused_result", "no later call and not the answer uses a value of what it returned"
            )


def _find_contradictions(account: _Account) -> Iterator[StepFault]:
    return _find_answer_problems(account, "contradiction")


def _find_misattributions(account: _Account) -> Iterator[StepFault]:
    return _find_answer_problems(account, "attribution")


def _find_unsupported_claims(account: _Account) -> Iterator[StepFault]:
    return _find_answer_problems(account, "unsupported")


def _find_answer_problems(account: _Account, kind: StepFaultKind) -> Iterator[StepFault]:
    """Yield the problems of one kind that the answer check found (:mod:`callwright.grounding`).
    There are none if no call succeeded.
    """
    if not any(made.ok for made in account.made):
        return
    said = ProvenanceIndex(
        account.trajectory.query, results=[m.result for m in account.made if m.result is not None]
    )
    for text, verdict in account.statements:
        for problem in verdict.problems:
            if _classify_problem(problem, said) == kind:
                yield StepFault(kind, -1, "", f"{problem}: {_truncate_text(text)!r}")


def _classify_problem(problem: str, said: ProvenanceIndex) -> StepFaultKind:
    if is_unheard(problem):
        return "unsupported"
    stated, nowhere, _ = problem.partition(f" {NOWHERE};")
    figures = (
        [float(figure.replace(",", "")) for figure in _FIGURE.findall(stated)] if nowhere else []
    )
    return "contradiction" if figures and not any(map(said.holds, figures)) else "attribution"


def _truncate_text(text: str) -> str:
    return text if len(text) <= 100 else text[:99] + "…"


RULES: dict[StepFaultKind, Callable[[_Account], Iterator[StepFault]]] = {
    "unknown_tool": _unknown_tools,
    "wrong_arguments": _wrong_arguments,
    "identifier_from_nowhere": _find_ungrounded_identifiers,
    "day_from_nowhere": _find_ungrounded_days,
    "guessed_today": _find_ungrounded_today,
    "repeated_call": _find_repeated_calls,
    "trial_and_error": _find_trial_calls,
    "unused_result": _find_unused_results,
    "contradiction": _find_contradictions,
    "attribution": _find_misattributions,
    "unsupported": _find_unsupported_claims,
}
"""Every rule by the kind of its faults."""
