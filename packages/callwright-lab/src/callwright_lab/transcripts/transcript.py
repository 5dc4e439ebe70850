"""A record of one of the formats, read: its trajectory, what of it teaches, and the record itself.

A format is a lens: :func:`read_transcript` takes a record apart, :func:`write` puts a trajectory into the
record it came from. What the trajectory still says as the record did stays as it stood, letter for
letter, unknown members included; only rounds that were changed are written again. So a record that
is read and written is the same record, and one whose trajectory lost a step has lost that step's
messages and nothing else.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall, ToolResult, to_canonical_json
from callwright.parsing.formats import pythonic
from callwright.parsing.formats.program import find_calls, has_computed_argument
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright_lab.transcripts.turns import Messages, Round, Turn, assign_unique_ids, build_rounds


@dataclass(frozen=True, slots=True)
class Head:
    """Part of a record before the first round: request, tools, and the messages that state them."""

    id: str
    query: str
    tools: tuple[Tool, ...]
    messages: Messages = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """The record a transcript was read from, and what was read in it."""

    format: str
    record: JsonObject
    head: Head
    rounds: tuple[Round, ...]
    read: tuple[Trajectory, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A trajectory as a record holds it.

    ``context``: rounds that carry no loss, counted from 0; the ending is round
    ``len(trajectory.steps)``. ``cut``: rounds of which the source keeps only the beginning: nothing
    can be concluded from what is not there. ``origin`` is None where it was read from no record.
    """

    trajectory: Trajectory
    context: frozenset[int] = frozenset()
    cut: frozenset[int] = frozenset()
    origin: Origin | None = None

    @property
    def format(self) -> str:
        """The name of the format it was read in, "" where it was read from no record."""
        return self.origin.format if self.origin else ""


class Format(Protocol):
    """One layout of records. ``read`` raises ConfigError for what is not in it; ``made`` writes
    from nothing.
    """

    @property
    def name(self) -> str: ...

    def recognises(self, record: JsonObject) -> bool: ...

    def head(self, record: JsonObject) -> Head: ...

    def turns(self, record: JsonObject, head: Head) -> Iterator[tuple[Turn, Messages]]:
        """Yield the turns after the head, message by message."""

    def opening(self, trajectory: Trajectory, like: JsonObject | None) -> Messages:
        """The messages of a head."""

    def messages(self, one: Round, like: Messages) -> Messages:
        """The messages of one round; members of ``like`` (those of the round that stood there) are
        kept.
        """

    def record(
        self, trajectory: Trajectory, head: Messages, body: Sequence[Round], like: JsonObject | None
    ) -> JsonObject:
        """The record of these messages; its other members are those of ``like``."""


def read_transcript(record: JsonObject, format: Format, id: str = "") -> Transcript:
    """One record. ``id`` is its name where it holds none. ConfigError where it is not in this
    format.
    """
    try:
        head = format.head(record)
        found = assign_unique_ids(build_rounds(format.turns(record, head)))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"this is no record in the form of {format.name}: {type(error).__name__}: {error}"
        ) from None
    steps, ending = _split_ending(found)
    answer, given_up = (ending.answer, ending.given_up) if ending else (None, False)
    trajectory = Trajectory(head.id or id, head.query, head.tools, steps, answer, given_up)
    numbers = list(_iter_step_numbers(found))
    context = frozenset(
        at for one, places in zip(found, numbers, strict=True) if not one.learn for at in places
    )
    cut = frozenset(
        at for one, places in zip(found, numbers, strict=True) if one.cut for at in places
    )
    origin = Origin(format.name, record, head, found, (trajectory, context))
    return Transcript(trajectory, context, cut, origin)


def write(transcript: Transcript, format: Format) -> JsonObject:
    """The record of a transcript; where it was read in this format, with all that its record says
    besides.

    ConfigError where the format has no words for it.
    """
    trajectory, origin = transcript.trajectory, transcript.origin
    if origin is None or origin.format != format.name:
        if origin is not None:
            _refuse_programs(trajectory, format.name)
        body = [replace(one, messages=format.messages(one, ())) for one in _iter_rounds(transcript)]
        return format.record(trajectory, format.opening(trajectory, None), body, None)
    if origin.read == (trajectory, transcript.context):
        return origin.record
    had = list(origin.rounds)
    same = (origin.head.query, origin.head.tools) == (trajectory.query, trajectory.tools)
    opening = origin.head.messages if same else format.opening(trajectory, origin.record)
    body = [_place_round(format, one, had) for one in _iter_rounds(transcript)]
    return format.record(trajectory, opening, body, origin.record)


def _refuse_programs(trajectory: Trajectory, name: str) -> None:
    """ConfigError for a round that was read as a program and is more than its calls and what each
    returned: of what it computed, and what it printed of that, only the program tells (where the
    record does not say it beside).
    """
    for at, step in enumerate(trajectory.steps, 1):
        if not step.code:
            continue
        if step.shown and not step.results:
            why = "what its program printed belongs to no single call"
        elif has_computed_argument(
            step.code, {call.tool for call in step.calls}
        ) and _is_program_verbatim(step):
            why = "its program computes what it calls with"
        else:
            continue
        raise ConfigError(
            f"round {at} has no form in {name}: {why}", hint="toolbench-vr keeps it as it stands"
        )


def _is_program_verbatim(step: Step) -> bool:
    """Return True if a round's calls are exactly those written in its program."""
    written = [
        (call.tool, call.arguments)
        for call in find_calls(step.code, ToolVocabulary((), unknown=True))
    ]
    return [(call.tool, call.arguments) for call in step.calls] == written


def _place_round(format: Format, one: Round, had: list[Round]) -> Round:
    """The round with its messages: those it had where it is still in the record (rounds before it
    are gone).
    """
    for at, old in enumerate(had):
        if old.says(one):
            del had[: at + 1]
            if old.learn == one.learn:
                return old
            return replace(one, messages=format.messages(one, old.messages))
    return replace(one, messages=format.messages(one, ()))


def _iter_rounds(transcript: Transcript) -> Iterator[Round]:
    """The rounds of a trajectory. Thought at its end is the ending's."""
    t, context = transcript.trajectory, transcript.context
    steps = list(t.steps)
    ends = t.answer is not None or t.given_up
    thought = ""
    if ends and steps and not (steps[-1].calls or steps[-1].code):
        thought = steps.pop().thought
    for at, step in enumerate(steps):
        yield Round(step, learn=at not in context)
    if ends:
        yield Round(None, t.answer, t.given_up, thought, learn=len(t.steps) not in context)


def _split_ending(found: Sequence[Round]) -> tuple[tuple[Step, ...], Round | None]:
    steps: list[Step] = []
    ending = None
    for one in found:
        if one.step is not None:
            steps.append(one.step)
        else:
            ending = one
            if one.thought:
                steps.append(Step(one.thought))
    return tuple(steps), ending


def _iter_step_numbers(found: Sequence[Round]) -> Iterator[tuple[int, ...]]:
    """The rounds' numbers in the trajectory; an ending with a thought has two."""
    at = 0
    for one in found:
        width = 2 if one.step is None and one.thought else 1
        yield tuple(range(at, at + width))
        at += width


# ---------------------------------------------------------------- results


def find_failure(content: Json) -> Failure | None:
    """The failure a result tells of in a member ``error`` that says something (ToolBench's dress
    and its like).
    """
    said = content.get("error") if isinstance(content, dict) else None
    if said in (None, "", False, 0, [], {}):
        return None
    return Failure("tool_error", said if isinstance(said, str) else to_canonical_json(said))


def parse_result(id: str, text: Json) -> ToolResult:
    """A result from the text of a message: JSON where it is JSON, else the text itself."""
    content = text
    if isinstance(text, str):
        try:
            content = parse(text)
        except JsonError:
            content = text
    return ToolResult(id, "", {}, content, find_failure(content))


def render_result(result: ToolResult) -> str:
    """The text that :func:`parse_result` reads as this result's content. A failure without content is
    written as one.
    """
    content = result.content
    if result.failure is not None and find_failure(content) is None:
        content = {"error": result.failure.message or result.failure.kind, "response": content}
    if isinstance(content, str) and not _is_json(content):
        return content
    return json_text(content)


def json_text(value: Json) -> str:
    """A value as JSON in one line, members in their order."""
    return json.dumps(value, ensure_ascii=False)


def _is_json(text: str) -> bool:
    try:
        parse(text)
    except JsonError:
        return False
    return True


def render_program(calls: Sequence[ToolCall]) -> str:
    """A program that makes these calls and prints what each returns; "" where one of them is
    :func:`explain_unwritable`.
    """
    return (
        ""
        if any(map(explain_unwritable, calls))
        else "\n".join(f"print({call})" for call in pythonic.write_value(calls))
    )


def explain_unwritable(call: ToolCall) -> str:
    """Return the reason why a call cannot be written in Python, or ""."""
    if isinstance(call.arguments, str):
        return "its arguments are no object"
    named = call.tool.isidentifier() and not keyword.iskeyword(call.tool)
    return "" if named else "its name is no name there"


def normalize_trajectory(trajectory: Trajectory, *, code: bool = False) -> Trajectory:
    """Return a trajectory reduced to what every format can express and read back.

    Calls are numbered from ``call_1``. Results have no seconds, slots or attempts, and failures are
    described as results describe them. A thought without a call belongs to the next call or the
    answer; if neither follows, it is the answer. With ``code``, as ToolBench-V writes, every round
    that Python can express has its program, and texts have no surrounding space. Without it, no
    round has a program.
    """
    count, steps, thought = 0, [], ""
    for step in trajectory.steps:
        thought = "\n\n".join(text for text in (thought, step.thought) if text)
        if not step.calls and not (code and step.code):
            continue
        names = {c.id: f"call_{count + i}" for i, c in enumerate(step.calls, 1)}
        count += len(step.calls)
        steps.append(
            _normalize_step(
                replace(step, thought=thought.strip() if code else thought), names, code
            )
        )
        thought = ""
    answer = trajectory.answer or None
    if code:
        thought, answer = thought.strip(), (answer or "").strip() or None
    if thought and answer is None and not trajectory.given_up:
        return replace(trajectory, steps=tuple(steps), answer=thought)
    return replace(trajectory, steps=(*steps, *([Step(thought)] if thought else [])), answer=answer)


def _normalize_step(step: Step, names: dict[str, str], code: bool) -> Step:
    calls = tuple(replace(c, id=names[c.id], slot="") for c in step.calls)
    results = []
    for call, result in step.pairs:
        if result is not None:
            told = parse_result(names[call.id], render_result(result))
            arguments = call.arguments if isinstance(call.arguments, dict) else {}
            results.append(replace(told, tool=call.tool, arguments=arguments))
    if not code:
        return Step(step.thought, calls, tuple(results))
    return Step(
        step.thought,
        calls,
        tuple(results),
        step.code or render_program(calls),
        step.shown.strip() if step.code else "",
    )
