"""Runs the write cases with an endpoint's own calls in a plain loop, and judges them by code."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from callwright.cli.doctor.endpoint import Answered, Ask
from callwright.cli.doctor.probes import Finding, Verdict
from callwright.cli.doctor.write_cases import TOOLS, Call, World, WriteCase, read_cases
from callwright.models.write_record import LEAST_PERCENT, WriteRecord
from callwright.nouns.types import Json, JsonObject, ToolCall
from callwright.parsing import parse_calls
from callwright.tools.lists import chat_messages as chat

MOST_ANSWERS: Final = 6  # of the model in one case
_REQUESTS = 2  # that a case takes, about
_MAX_TOKENS = 600
_OFFER = chat.read_tools(list(TOOLS)).tools

UNASKED, REPEATED = "writes nobody asked for", "repeated writes"
WRONG, MISSING = "writes with a wrong value", "missing writes"
TALK, SILENT = "calls in small talk", "no answer in words"
UNSAID, IN_TEXT, ENDLESS = "answers without the number", "calls left in the text", "no end"
_HARM = frozenset({UNASKED, REPEATED})


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one case. ``faults`` is empty if it was done right. ``problem``: why the endpoint
    gave no answer.
    """

    case: str
    faults: tuple[str, ...] = ()
    problem: str = ""


async def run_case(ask: Ask, case: WriteCase) -> Outcome:
    """Do one job: the model's calls are carried out until it answers in words."""
    world = World()
    messages = build_conversation(case, world)
    world.made.clear()
    answer, called = Answered(), 0
    for _ in range(MOST_ANSWERS):
        answer = await ask(messages, tools=list(TOOLS), max_tokens=_MAX_TOKENS)
        if answer.problem:
            return Outcome(case.name, problem=answer.problem)
        if not answer.calls:
            return Outcome(case.name, tuple(judge_case(case, world.made, called, answer.text)))
        called += len(answer.calls)
        messages += _carry_out(answer, world)
    faults = [*_judge_writes(case, world.made), ENDLESS]
    return Outcome(case.name, tuple(faults))


def build_conversation(case: WriteCase, world: World) -> list[Json]:
    """Return the messages of a case; the calls that were made before are made in the world."""
    *earlier, request = case.said
    messages: list[Json] = [{"role": "user", "content": said} for said in earlier]
    if case.before:
        calls = tuple(ToolCall(f"c{n}", c.tool, c.arguments) for n, c in enumerate(case.before))
        messages += _carry_out(Answered(calls=calls), world)
        messages.append({"role": "assistant", "content": case.reply})
    return [*messages, {"role": "user", "content": request}]


def _carry_out(answer: Answered, world: World) -> list[Json]:
    """The messages that an agent adds for an answer with calls."""
    entries: list[Json] = []
    results: list[Json] = []
    for number, call in enumerate(answer.calls):
        called = call.id or f"call{number}"
        given = call.arguments
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        function: JsonObject = {"name": call.tool, "arguments": text}
        entries.append({"id": called, "type": "function", "function": function})
        result = json.dumps(world.call(call.tool, given), ensure_ascii=False)
        results.append({"role": "tool", "tool_call_id": called, "content": result})
    return [
        {"role": "assistant", "content": answer.text or None, "tool_calls": entries},
        *results,
    ]


def judge_case(case: WriteCase, made: Sequence[Call], called: int, text: str) -> list[str]:
    """Return what is wrong: with the writes that were ``made``, with ``called`` calls in all, and
    with the answer in words.
    """
    faults = _judge_writes(case, made)
    if case.talk and called:
        faults.append(TALK)
    if not text.strip():
        faults.append(SILENT)
    elif parse_calls(text, _OFFER).calls:
        faults.append(IN_TEXT)
    elif not all(number in text for number in case.says):
        faults.append(UNSAID)
    return faults


def _judge_writes(case: WriteCase, made: Sequence[Call]) -> list[str]:
    """Each write that is too much or too little, as a fault."""
    open_, surplus = list(case.writes), []
    for one in made:
        met = next((wanted for wanted in open_ if wanted.is_met_by(one)), None)
        if met is not None:
            open_.remove(met)
        else:
            surplus.append(one)
    faults = []
    known = (*case.writes, *case.before)
    for one in surplus:
        wrong = next((wanted for wanted in open_ if wanted.tool == one.tool), None)
        if any(wanted.is_met_by(one) for wanted in known):
            faults.append(REPEATED)
        elif wrong is not None:
            open_.remove(wrong)
            faults.append(WRONG)
        else:
            faults.append(UNASKED)
    return [*faults, *(MISSING for _ in open_)]


def count_requests() -> tuple[int, int]:
    """Return the number of cases, and of the requests that they take, about."""
    cases = len(read_cases()[1])
    return cases, _REQUESTS * cases


async def run_cases(ask: Ask) -> list[Outcome]:
    """Run all cases, one after the other. Ends early where the endpoint cannot be reached."""
    outcomes: list[Outcome] = []
    for case in read_cases()[1]:
        outcomes.append(await run_case(ask, case))
        if outcomes[-1].problem:
            break
    return outcomes


def build_record(outcomes: Sequence[Outcome]) -> WriteRecord | None:
    """Return what is to be recorded; None where a case got no answer: then nothing is known."""
    if not outcomes or any(outcome.problem for outcome in outcomes):
        return None
    right = sum(not outcome.faults for outcome in outcomes)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return WriteRecord(right, len(outcomes), at, read_cases()[0])


def judge_writes(outcomes: Sequence[Outcome], on_record: WriteRecord | None = None) -> Finding:
    """Return the finding about all cases: the share that is right, and what went wrong.
    ``on_record`` holds on where they say nothing.
    """
    about, record = "writes", build_record(outcomes)
    if record is None:
        problem = next((outcome.problem for outcome in outcomes if outcome.problem), "")
        said = f"not recorded: a write case got no answer ({problem})"
        return Finding(about, "unclear", said, tell_guard(on_record))
    wrong = count_faults(outcomes)
    said = f"{record.right} of {record.of} small jobs done right"
    verdict: Verdict = "unclear"
    if record.is_trusted:
        verdict = "good"
    elif _HARM & wrong.keys():
        verdict = "mended"
    return Finding(about, verdict, said + _tell_faults(outcomes, wrong), tell_guard(record))


def count_faults(outcomes: Iterable[Outcome]) -> Counter[str]:
    """Return the number of cases with each fault."""
    return Counter(fault for outcome in outcomes for fault in dict.fromkeys(outcome.faults))


def _tell_faults(outcomes: Sequence[Outcome], wrong: Counter[str]) -> str:
    told = []
    for fault, _ in wrong.most_common():
        cases = ", ".join(outcome.case for outcome in outcomes if fault in outcome.faults)
        told.append(f"{fault} ({cases})")
    return f"; {'; '.join(told)}" if told else ""


def tell_guard(record: WriteRecord | None) -> str:
    """Return in one line what the proxy's ``--guard auto`` does with a model on record."""
    if record is not None and record.is_trusted:
        return (
            f"--guard auto only reports: at least {LEAST_PERCENT} % are right, so calls pass as"
            " they are"
        )
    if record is not None:
        return (
            f"--guard auto acts: fewer than {LEAST_PERCENT} % are right, so repeated writes and"
            " writes with a value that nobody said are kept back"
        )
    return "--guard auto acts: this model's writes were not tested"
