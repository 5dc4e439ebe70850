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
from callwright.jsontext import JsonError, literal, parse
from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall, ToolResult
from callwright.parsing.formats.program import Round as Said
from callwright.parsing.formats.program import calls_in, read_round, write_round
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.tools.lists.tools import tool_to_openai
from callwright_lab.transcripts.messages import tools_of
from callwright_lab.transcripts.transcript import (
    Head,
    failure_in,
    json_text,
    program,
    text_of,
    unsayable,
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
                if turn.code and (made := _called(following)) is not None:
                    turn = replace(turn, calls=tuple(call for call, _ in made))
                calls = turn.calls
            elif (made := _called(message)) is not None:
                results = tuple(result for _, result in made if result is not None)
                turn = Turn("user", results=results, shown=_body(message["content"]))
            else:
                turn = observed(message["content"], calls)
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
            return (spoken, seen if _says_all(step) else {**seen, _CALLED: _carried(step)})
        back = printed(step) if step else ""
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
                found = literal(line.strip())
            except JsonError:
                continue
            return tools_of(found)
    return ()


def message_text(text: str, tools: Sequence[Tool], *, learn: bool = True) -> Turn:
    """One round as the agent writes it."""
    made = read_round(text)
    if made.code is not None:
        offer = ToolVocabulary(tools, unknown=True)
        calls = tuple(
            ToolCall("", call.tool, call.arguments) for call in calls_in(made.code, offer)
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
        _python(step.calls)
    return write_round(Said(step.thought, step.code or program(step.calls) or None))


def _python(calls: Sequence[ToolCall]) -> None:
    for call in calls:
        if why := unsayable(call):
            raise ConfigError(
                f"{call.tool!r} cannot be called in Python: {why}", hint="write openai instead"
            )


def observed(text: str, calls: Sequence[ToolCall]) -> Turn:
    """What a program printed: a result a call where each can be told apart, else the text as it
    stands.
    """
    body = _body(text)
    lines = [body] if len(calls) == 1 else [line for line in body.split("\n") if line.strip()]
    if not calls or len(lines) != len(calls):
        return Turn("user", shown=body)
    return Turn("user", results=tuple(map(_result, lines)))


def _body(text: str) -> str:
    return text.strip().removeprefix(OBSERVATION).strip()


def _says_all(step: Step) -> bool:
    """Whether a round can be read from its program and print-out alone."""
    if any(result.simulated for result in step.results):
        return False
    calls = calls_in(step.code, ToolVocabulary((), unknown=True))
    if [(c.tool, c.arguments) for c in calls] != [(c.tool, c.arguments) for c in step.calls]:
        return False
    told = [(result.content, result.failure) for result in observed(step.shown, step.calls).results]
    return told == [(result.content, result.failure) for result in step.results]


def _carried(step: Step) -> str:
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


def _called(message: JsonObject | None) -> list[tuple[ToolCall, ToolResult | None]] | None:
    """What an observation of ours says was called; None where it leaves that to the program and its
    print-out.
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


def printed(step: Step) -> str:
    """What came back of a round: what its program printed where that is on record, else what
    :func:`observed` reads as these results. ConfigError where only some calls of the round have
    one.
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
    return "\n".join(_line(result, several=len(results) > 1) for result in results)


def _line(result: ToolResult, *, several: bool) -> str:
    text = text_of(result)
    if not text:  # nothing at all would be no observation
        return json_text(text)
    if isinstance(result.content, str) and (
        several or text != text.strip() or _reads(text) or OBSERVATION in text
    ):
        return (
            text
            if text[:1] == '"' and _reads(text) == result.content
            else json_text(result.content)
        )
    return text


def _reads(text: str) -> Json:
    """What a line says if it says a value; None where it is only text."""
    try:
        return literal(text)
    except JsonError:
        return None


def _result(text: str) -> ToolResult:
    try:
        content = literal(text.strip())
    except JsonError:
        content = text
    return ToolResult("", "", {}, content, failure_in(content))


VR = ToolBenchVR()
