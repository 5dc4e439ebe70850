"""ToolBench-V and ToolBench-R (Tool-MVR, 3.2.4, 3.3.2): messages with ``no_loss``, calls as Python.

A record is ``{"id", "messages"}``. The system message ends with the tools as a Python literal; the
request stands between ``Task:`` and ``Begin!``; the agent writes ``<thought>`` and then
``<execute>`` with a program, ``<final_answer>`` or ``<given_up>``; what the program printed comes
back after ``Observation:``. ``no_loss`` is true on the assistant messages that are context only:
none in a V record, all but the last in an R record (Eq. (6), (7)).

A program may compute what it passes and prints. Where its text and its print-out do not say what
was called and what came back, an observation of ours has a member ``called`` besides, a JSON text;
other readers pass over it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from callwright import prompts
from callwright.jsontext import JsonError, parse, parse_literal
from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall, ToolResult
from callwright.parsing.formats.program import Round as Said
from callwright.parsing.formats.program import find_calls, read_round, write_round
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.tools.lists.tools import tool_to_openai
from callwright_lab.transcripts.messages import parse_tools
from callwright_lab.transcripts.transcript import (
    Head,
    explain_unwritable,
    find_failure,
    json_text,
    render_program,
    render_result,
)
from callwright_lab.transcripts.turns import Messages, Round, Turn

OBSERVATION = "Observation:"
_CALLED = "called"
_TASK = re.compile(r"Task:\s*(.*?)\s*Begin!\s*\Z", re.S)
_ANY_TAG = re.compile(r"</?(?:thought|execute|final_answer|given_up)>")
_OURS = ("role", "content", "no_loss")


class ToolBenchVR:
    """ToolBench-V and -R records. A V record has loss on every round, an R record on its last."""

    name = "toolbench-vr"

    def recognises(self, record: JsonObject) -> bool:
        found = record.get("messages")
        return isinstance(found, list) and any(
            isinstance(m, dict) and "no_loss" in m for m in found
        )

    def head(self, record: JsonObject) -> Head:
        messages = record["messages"]
        at = next((i for i, m in enumerate(messages) if m["role"] == "assistant"), len(messages))
        first = tuple(messages[:at])
        system = next((m["content"] for m in first if m["role"] == "system"), "")
        asked = next((m["content"] for m in reversed(first) if m["role"] == "user"), "")
        task = _TASK.search(asked)
        return Head(
            str(record.get("id", "")),
            task[1] if task else asked.strip(),
            listed_tools(system),
            first,
        )

    def turns(self, record: JsonObject, head: Head) -> Iterator[tuple[Turn, Messages]]:
        calls: tuple[ToolCall, ...] = ()
        messages = record["messages"][len(head.messages) :]
        for message, following in zip_longest(messages, messages[1:]):
            if message["role"] == "assistant":
                turn = message_text(
                    message["content"], head.tools, learn=not message.get("no_loss")
                )
                if turn.code and (made := _parse_pairs(following)) is not None:
                    turn = replace(turn, calls=tuple(call for call, _ in made))
                calls = turn.calls
            elif (made := _parse_pairs(message)) is not None:
                results = tuple(result for _, result in made if result is not None)
                turn = Turn("user", results=results, shown=_strip_observation(message["content"]))
            else:
                turn = parse_observation(message["content"], calls)
            yield turn, (message,)

    def opening(self, trajectory: Trajectory, like: JsonObject | None) -> Messages:
        del like  # its words belong to its tools and its request
        listed = repr([tool_to_openai(tool) for tool in trajectory.tools])
        asked = prompts.render("transcript", tools=listed, query=trajectory.query)
        return tuple({"role": m.role, "content": m.content} for m in asked)

    def messages(self, one: Round, like: Messages) -> Messages:
        first = next((m for m in like if m.get("role") == "assistant"), {})
        kept = {k: v for k, v in first.items() if k not in _OURS}
        spoken = {
            "role": "assistant",
            "content": write_record(one),
            "no_loss": not one.learn,
            **kept,
        }
        step = one.step
        if step is not None and step.code and step.shown:
            seen = {"role": "user", "content": f"{OBSERVATION}\n{step.shown}"}
            return (
                spoken,
                seen if _is_fully_printed(step) else {**seen, _CALLED: _serialize_pairs(step)},
            )
        back = render_observation(step) if step else ""
        return (
            (spoken, {"role": "user", "content": f"{OBSERVATION}\n{back}"}) if back else (spoken,)
        )

    def record(
        self, trajectory: Trajectory, head: Messages, body: Sequence[Round], like: JsonObject | None
    ) -> JsonObject:
        messages = [*head, *(m for one in body for m in one.messages)]
        return {**(like or {}), "id": trajectory.id, "messages": messages}


def listed_tools(system: str) -> tuple[Tool, ...]:
    """The tools that a system message ends with: the last line of it that is a list, JSON or a
    Python literal.
    """
    for line in reversed(system.split("\n")):
        if line.lstrip().startswith("["):
            try:
                found = parse_literal(line.strip())
            except JsonError:
                continue
            return parse_tools(found)
    return ()


def message_text(text: str, tools: Sequence[Tool], *, learn: bool = True) -> Turn:
    """One round as the agent writes it."""
    made = read_round(text)
    if made.code is not None:
        offer = ToolVocabulary(tools, unknown=True)
        calls = tuple(
            ToolCall("", call.tool, call.arguments) for call in find_calls(made.code, offer)
        )
        return Turn("assistant", made.thought, calls, code=made.code, learn=learn)
    ending = made.answer if made.given_up is None else made.given_up
    if ending is None:
        return Turn("assistant", made.thought, learn=learn)
    return Turn(
        "assistant",
        made.thought,
        answer=ending or None,
        given_up=made.given_up is not None,
        learn=learn,
    )


def write_record(one: Round) -> str:
    """A round as the agent writes it (Table 17). ConfigError where the form has no words for it."""
    step = one.step
    texts = (one.thought, one.answer or "") if step is None else (step.thought, step.code)
    for tag in (found[0] for text in texts if (found := _ANY_TAG.search(text))):
        raise ConfigError(
            f"a text of the round holds {tag}, which would end it", hint="write openai instead"
        )
    if step is None:
        told = one.answer or ""
        return write_round(
            Said(one.thought, None, *((None, told) if one.given_up else (told, None)))
        )
    if not step.code:
        _require_python_calls(step.calls)
    return write_round(Said(step.thought, step.code or render_program(step.calls) or None))


def _require_python_calls(calls: Sequence[ToolCall]) -> None:
    for call in calls:
        if why := explain_unwritable(call):
            raise ConfigError(
                f"{call.tool!r} cannot be called in Python: {why}", hint="write openai instead"
            )


def parse_observation(text: str, calls: Sequence[ToolCall]) -> Turn:
    """Return the output of a program as a turn: one result per call if they can be separated, else
    the text.
    """
    body = _strip_observation(text)
    lines = [body] if len(calls) == 1 else [line for line in body.split("\n") if line.strip()]
    if not calls or len(lines) != len(calls):
        return Turn("user", shown=body)
    return Turn("user", results=tuple(map(_parse_result, lines)))


def _strip_observation(text: str) -> str:
    return text.strip().removeprefix(OBSERVATION).strip()


def _is_fully_printed(step: Step) -> bool:
    """Return True if a round can be reconstructed from its program and its output alone."""
    if any(result.simulated for result in step.results):
        return False
    calls = find_calls(step.code, ToolVocabulary((), unknown=True))
    if [(c.tool, c.arguments) for c in calls] != [(c.tool, c.arguments) for c in step.calls]:
        return False
    told = [
        (result.content, result.failure)
        for result in parse_observation(step.shown, step.calls).results
    ]
    return told == [(result.content, result.failure) for result in step.results]


def _serialize_pairs(step: Step) -> str:
    made: list[JsonObject] = []
    for call, result in step.pairs:
        entry: JsonObject = {"id": call.id, "tool": call.tool, "arguments": call.arguments}
        if result is not None:
            entry["result"] = result.content
            entry |= (
                {"failure": [result.failure.kind, result.failure.message]} if result.failure else {}
            )
            entry |= {"simulated": result.simulated} if result.simulated else {}
        made.append(entry)
    return json_text(made)


def _parse_pairs(message: JsonObject | None) -> list[tuple[ToolCall, ToolResult | None]] | None:
    """Return the calls that an observation of ours records. None if only the program and its output
    show them.
    """
    text = message.get(_CALLED) if isinstance(message, dict) else None
    if not isinstance(text, str):
        return None
    made: list[tuple[ToolCall, ToolResult | None]] = []
    for entry in parse(text):
        call = ToolCall(entry["id"], entry["tool"], entry["arguments"])
        failure = Failure(*entry["failure"]) if "failure" in entry else None
        given = call.arguments if isinstance(call.arguments, dict) else {}
        result = ToolResult(
            call.id,
            call.tool,
            given,
            entry.get("result"),
            failure,
            simulated=entry.get("simulated", ""),
        )
        made.append((call, result if "result" in entry else None))
    return made


def render_observation(step: Step) -> str:
    """Return what came back of a round: the output of its program where that is on record, else the
    text that :func:`parse_observation` reads as these results. ConfigError where only some calls of
    the round have one.
    """
    if step.code and step.shown:
        return step.shown
    results = [result for _, result in step.pairs if result is not None]
    if results and len(results) < len(step.calls):
        raise ConfigError(
            f"{step.calls[0].tool}: some calls of a round have results and some have none",
            hint="toolbench-vr prints all of a round or nothing; write openai instead",
        )
    if not results:
        return (
            step.shown if len(step.calls) != 1 else ""
        )  # of a call that was never carried out nothing came back
    return "\n".join(_render_result_line(result, several=len(results) > 1) for result in results)


def _render_result_line(result: ToolResult, *, several: bool) -> str:
    text = render_result(result)
    if not text:  # nothing at all would be no observation
        return json_text(text)
    if isinstance(result.content, str) and (
        several or text != text.strip() or _parse_literal(text) or OBSERVATION in text
    ):
        return (
            text
            if text[:1] == '"' and _parse_literal(text) == result.content
            else json_text(result.content)
        )
    return text


def _parse_literal(text: str) -> Json:
    """Parse a line as a value; return None if it is only text."""
    try:
        return parse_literal(text)
    except JsonError:
        return None


def _parse_result(text: str) -> ToolResult:
    try:
        content = parse_literal(text.strip())
    except JsonError:
        content = text
    return ToolResult("", "", {}, content, find_failure(content))


VR = ToolBenchVR()
