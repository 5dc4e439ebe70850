"""Fills the results of a run into a type: one question, the repairs of a call's arguments, a check
of every value, and at most one more question.

What no result supports is withdrawn: it is null where the type allows it, else the output names the
field that lacks a value, and there is no output.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from callwright.grounding.answer.summary import render_skips
from callwright.grounding.output.support import Evidence, Unsupported, find_unsupported
from callwright.grounding.output.target import NAME, OutputTarget
from callwright.nouns.errors import Violation
from callwright.nouns.model_profile import SMALL
from callwright.nouns.protocols import ChatRequest, ReplyMode
from callwright.nouns.types import (
    CheckedCall,
    Edit,
    Json,
    JsonObject,
    Reply,
    ToolCall,
    to_canonical_json,
)
from callwright.nouns.wire_names import EditRules
from callwright.prompts.run_prompt import RunPrompt
from callwright.repair.by_model.question import read_reply
from callwright.repair.gate import Gate, Refusal
from callwright.schema.summary import schema_summary
from callwright.schema.value_edits import Pointer, render_pointer

__all__ = ["Evidence", "Filled", "Output", "fill_output"]

_FORMATS = {
    "schema": "Reply with one JSON object and nothing else.",
    "native": f"Call the tool {NAME} exactly once.",
    "text": "Reply with one JSON object and nothing else.",
}
_QUOTED = 600  # characters of a reply that are shown again
_UNSTATED = "no result states a value"


@dataclass(frozen=True, slots=True)
class Output:
    """The answer as a value of a type. ``value`` is its JSON, ``loaded`` the value itself; both are
    None where ``lacking`` says which fields lack a value, or what is wrong with them.
    """

    value: Json = None
    loaded: Any = None
    lacking: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()  # values of optional fields that no result supports

    @property
    def problems(self) -> tuple[str, ...]:
        return (*self.lacking, *self.withdrawn)

    @property
    def weight(self) -> tuple[int, int]:
        """The badness of the problems, for a comparison: what is lacking counts more."""
        return len(self.lacking), len(self.withdrawn)


Filled: TypeAlias = tuple[Output, tuple[Edit, ...]]
"""An output, and the changes to what the model wrote."""


def fill_output(
    target: OutputTarget,
    evidence: Evidence,
    prompt: RunPrompt,
    mode: ReplyMode,
    *,
    questions: int = 1,
    max_tokens: int = SMALL.output_tokens,
) -> Generator[ChatRequest, Reply, Filled]:
    """Ask for the output and check it. ``questions``: how often the model may be asked again about
    what is wrong or unsupported. ``max_tokens``: of one reply.
    """
    request = _build_question(target, evidence, prompt, mode)
    reply = yield replace(request, max_tokens=max_tokens)
    found, edits = read_output(reply, target, evidence)
    while found.problems and questions > 0:
        questions -= 1
        request = _build_question(target, evidence, prompt, mode, _say_again(reply, found))
        reply = yield replace(request, max_tokens=max_tokens)
        again, more = read_output(reply, target, evidence)
        if again.weight <= found.weight:
            made = Edit("", found.value, again.value, EditRules.REPAIR_MODEL)
            marks = (made,) if found.value != again.value else ()
            found, edits = again, (*edits, *marks, *more)
    return found, edits


def read_output(reply: Reply, target: OutputTarget, evidence: Evidence) -> Filled:
    """The output that a reply holds, repaired as the arguments of a call, without what no result
    supports. Pure.
    """
    given = read_reply(reply, target.tool)
    if isinstance(given, Violation):
        lacking = "the reply holds no JSON object of the form that was asked for"
        return Output(lacking=(lacking,)), ()
    gate = Gate([target.tool])
    first = gate.check(ToolCall("", NAME, given))
    if isinstance(first, Refusal) and first.arguments is None:
        return Output(lacking=_list_lacking(first, target, {})), ()
    assert first.arguments is not None
    unsupported = find_unsupported(first.arguments, target.compile().root, evidence)
    left = _withdraw(first.arguments, unsupported)
    last = gate.check(ToolCall("", NAME, left)) if unsupported else first
    why = {render_pointer(one.pointer): one.problem for one in unsupported}
    marks = tuple(
        Edit(path, one.value, None, EditRules.ANSWER_WITHDRAWN)
        for path, one in zip(why, unsupported, strict=True)
    )
    edits = (*first.edits, *marks)
    if isinstance(last, Refusal):
        return Output(lacking=_list_lacking(last, target, why)), edits
    return _load_output(target, last, tuple(f"{at}: {said}" for at, said in why.items())), edits


def _load_output(target: OutputTarget, checked: CheckedCall, withdrawn: tuple[str, ...]) -> Output:
    value = target.unwrap(checked.arguments)
    try:
        loaded = target.load(deepcopy(value))
    except (ValueError, TypeError) as error:  # a check of the type's own
        return Output(lacking=(f"{target.type_name} refuses it: {error}",))
    return Output(value, loaded, (), withdrawn)


def _list_lacking(verdict: Refusal, target: OutputTarget, why: dict[str, str]) -> tuple[str, ...]:
    """The fields that lack a value, each with the reason, and what else is wrong."""
    said = []
    for violation in verdict.violations:
        is_lacking = violation.keyword == "required" or violation.got is None
        reason = why.get(violation.path, _UNSTATED if is_lacking else violation.message)
        place = target.place_of(violation.path)
        said.append(f"{place}: {reason}" if place else reason)
    return tuple(dict.fromkeys(said))


def _withdraw(value: JsonObject, unsupported: Sequence[Unsupported]) -> JsonObject:
    """The value without what is not supported: null in an object, left out of a list."""
    made = deepcopy(value)
    for one in reversed(unsupported):  # later places of a list first
        _remove(made, one.pointer)
    return made


def _remove(value: Any, pointer: Pointer) -> None:
    *way, last = pointer
    key: Any
    for key in way:
        value = value[key]
    if isinstance(value, list) and isinstance(last, int):
        del value[last]
    else:
        value[last] = None


def _say_again(reply: Reply, found: Output) -> str:
    said = reply.text or to_canonical_json([call.arguments for call in reply.tool_calls])
    quoted = " ".join(said.split())[:_QUOTED]
    wrong = "".join(f"- {problem}\n" for problem in found.problems)
    return f"Your last reply was: {quoted}\nIts problems:\n{wrong}Write it again without them.\n"


def _build_question(
    target: OutputTarget, evidence: Evidence, prompt: RunPrompt, mode: ReplyMode, problems: str = ""
) -> ChatRequest:
    facts = evidence.facts
    messages = prompt.ask(
        "ask_output",
        fields=schema_summary(target.tool),
        skipped="".join(f"{line}\n" for line in render_skips(facts.skips)),
        problems=problems,
        format=_FORMATS[mode],
        query=facts.query,
    )
    request = ChatRequest(messages, "answer.output")
    if mode == "schema":
        return replace(request, schema=target.decoding_schema)
    if mode == "native":
        tool = replace(target.tool, input_schema=target.decoding_schema)
        return replace(request, tools=(tool,), tool_choice="required")
    return request
