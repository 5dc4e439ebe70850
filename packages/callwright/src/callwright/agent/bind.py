"""bind: one question to the model for all ready slots at once, in the form its endpoint supports
best.

Three forms, one meaning: which of the tools in view are called, how often, with what arguments -
and which are not, and why. The reply is read into :class:`Bound`; nothing here does I/O.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from callwright import prompts
from callwright.agent.render import (
    render_refusals,
    render_results,
    render_signature,
    render_signatures,
)
from callwright.grounding.answer.summary import render_growing_results
from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.model_profile import SMALL, ModelProfile
from callwright.nouns.protocols import ChatRequest, ReplyMode
from callwright.nouns.types import (
    Json,
    JsonObject,
    Message,
    Reply,
    Skip,
    Tool,
    ToolCall,
    ToolResult,
)
from callwright.prompts.run_prompt import RunPrompt
from callwright.repair.considered_calls import parse_decided_calls
from callwright.schema.normalize import closed_object, required_first

FINISH = "finish"
GIVE_UP = "give_up_and_restart"
NONE = "none"
_GIVES_UP = re.compile(r"\bgive[_ ]up", re.I)
_USEFUL = re.compile(r"\s*useful:(.*)", re.I)
_THOUGHT = re.compile(r"^\s*thought:(.*)$", re.I | re.M)
_WANTED = "the model wants it and made no call of it yet"
_NO_USE = "the model saw no use for it here"


@dataclass(frozen=True, slots=True)
class View:
    """All that the model may know at one point of a run."""

    query: str
    tools: tuple[Tool, ...]
    results: tuple[ToolResult, ...] = ()
    refused: tuple[Skip, ...] = ()
    index: int = 1  # 1-based layer or turn
    total: int = 1
    conversation: tuple[Message, ...] = ()
    open_points: tuple[str, ...] = ()  # what is known to be missing still
    may_finish: bool = False  # the strategy grows its plan, and the model says when it is done
    may_give_up: bool = False  # and may go back to try another way
    # a turn's reply is held to its form and to the tools' names, not to their arguments
    free_arguments: bool = False
    tried: tuple[
        str, ...
    ] = ()  # the steps that were taken from this very point before, and what became of them
    profile: ModelProfile = SMALL


@dataclass(frozen=True, slots=True)
class Bound:
    """The model's decision. ``finished``: it says that nothing more is to be called.

    ``wanted`` are tools that it called useful now and yet did not call: as a rule a value was
    missing. ``needed`` are those that it named for the whole request, where it was asked.
    """

    calls: tuple[ToolCall, ...] = ()
    skips: tuple[Skip, ...] = ()
    wanted: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    finished: bool = False
    given_up: bool = False  # it wants to go back and try another way
    malformed: str = ""  # why the reply could not be read, if so
    thought: str = ""  # what the model says before its call
    reason: str = ""  # why it calls nothing, in its words


def build_bind_request(
    view: View,
    mode: ReplyMode,
    prompt: str,
    shared: RunPrompt | None = None,
    callable: Collection[str] = (),
    thoughts: Iterable[tuple[str, str]] = (),
) -> ChatRequest:
    """The request for one view. ``prompt`` names the question: "first" (which tools the request
    needs, and the calls that can be made now), "layer" (the calls of one layer), "react" or "dfsdt"
    (one call of a turn). ``shared``: what all questions of the run share, where they do;
    ``callable``: the tools that may be called before any result is there, all if empty;
    ``thoughts``: the model's own before a call, by the id of its result.
    """
    if prompt in _SHARING:
        return _build_shared_request(view, mode, prompt, shared or _open_prompt(view), callable)
    values = {
        "query": view.query,
        "results": (
            render_results(view.results, view.profile.result_chars, view.refused, dict(thoughts))
            + _still_open(view.open_points)
        ),
        "tools": (
            "(see the tool list)"
            if mode == "native"
            else render_signatures(view.tools, view.profile)
        ),
        "format": _FORMATS[mode, view.may_finish] + (_GIVING_UP[mode] if view.may_give_up else ""),
    }
    if prompt == "dfsdt":
        values["tried"] = _render_tried_steps(view.tried)
    messages = prompts.render(prompt, **values)
    messages = messages[:1] + view.conversation + messages[1:]
    request = ChatRequest(messages, purpose="bind", max_tokens=view.profile.reply_tokens)
    if mode == "schema":
        return replace(
            request, schema=step_schema(view.tools, view.may_give_up, free=view.free_arguments)
        )
    if mode == "native":
        return replace(request, tools=view.tools)
    return request


def _build_shared_request(
    view: View, mode: ReplyMode, question: str, prompt: RunPrompt, callable: Collection[str]
) -> ChatRequest:
    """A question that stands behind what all questions of the run share. Tools that are shown there
    are only named.
    """
    is_first = question == "first"
    if is_first:
        values = {"format": _FIRST_FORMATS[mode], "query": view.query}
    else:
        tools = () if mode == "native" else view.tools
        shown = (render_signature(tool, view.profile) for tool in tools)
        values = {
            "format": _FORMATS[mode, False],
            "index": str(view.index),
            "total": str(view.total),
            "names": ", ".join(t.name for t in view.tools),
            "tools": "".join(f"{block}\n" for block in shown if block not in prompt.tools),
            "notes": _render_notes(view),
        }
    messages = prompt.ask("ask_first" if is_first else "layer", **values)
    request = ChatRequest(messages, purpose="bind", max_tokens=view.profile.reply_tokens)
    if mode == "schema":
        most = view.profile.layer_calls
        schema = (
            first_schema(view.tools, callable, most) if is_first else layer_schema(view.tools, most)
        )
        return replace(request, schema=schema)
    return replace(request, tools=view.tools) if mode == "native" else request


def _open_prompt(view: View) -> RunPrompt:
    """The beginning of a question that no other shares: it shows no tools but its own."""
    results = render_growing_results(view.query, view.results, view.profile.result_chars)
    return RunPrompt(view.query, results=results, conversation=view.conversation)


def _render_notes(view: View) -> str:
    """Render what stands beside the results: calls that were refused, and what is still open."""
    notes = render_refusals(view.refused) + _still_open(view.open_points).strip()
    return f"{notes}\n\n" if notes else ""


def _still_open(points: Sequence[str]) -> str:
    return "".join(["\n\nStill open:", *(f"\n- {point}" for point in points)]) if points else ""


def _render_tried_steps(steps: Sequence[str]) -> str:
    if not steps:
        return ""
    (message,) = prompts.render("diverse", tried="\n".join(f"- {step}" for step in steps))
    return "\n\n" + message.content


def read_reply(view: View, mode: ReplyMode, reply: Reply) -> Bound:
    """Return the decision of a reply. The executor gives the calls their ids."""
    if mode == "schema":
        return _read_schema(view, reply.text)
    if reply.tool_calls:
        return Bound(reply.tool_calls, thought=reply.text.strip())
    parsed = parse_decided_calls(reply.text, view.tools)
    named = _named_useful(view, reply.text)
    if parsed.calls and not (named and mode == "text"):
        thought = _read_thought(reply.text)
        return Bound(parsed.calls, finished=parsed.finish is not None, thought=thought)
    if parsed.calls or named:
        return _bind_layer_calls(view, parsed.calls, named, _NO_USE)
    if view.may_finish:
        said = parsed.finish.return_type if parsed.finish is not None else reply.text
        given_up = view.may_give_up and _GIVES_UP.search(said) is not None
        why = parsed.finish.answer if parsed.finish is not None else parsed.reason or reply.text
        return Bound(finished=not given_up, given_up=given_up, reason=why)
    reason = parsed.reason or "the reply held no call"
    skips = tuple(Skip(t.name, reason) for t in view.tools)
    return Bound(skips=skips, reason=parsed.reason or _USEFUL.sub("", reply.text, count=1))


def first_schema(
    tools: Sequence[Tool], names: Collection[str] = (), most: int = SMALL.layer_calls
) -> JsonObject:
    """The decoding schema of the first question: calls of the tools that may be called before any
    result is there (``names``; empty: all), then the names of those needed later, or 'none' and the
    reason. ``most``: the calls that may be made, or two a tool where that is more.

    The calls come first: asked for the needed tools before, a small model names nearly all of a
    few, and calls what it has named.
    """
    calls = [
        closed_object(tool={"const": tool.name}, arguments=required_first(tool))
        for tool in tools
        if not names or tool.name in names
    ]
    many: JsonObject = {
        "type": "array",
        "items": {"anyOf": calls},
        "minItems": 1,
        "maxItems": max(most, 2 * len(calls)),
    }
    later: JsonObject = {
        "type": "array",
        "items": {"enum": [t.name for t in tools]},
        "maxItems": len(tools),
    }
    reason: JsonObject = {"type": "string", "maxLength": 120}
    none = closed_object(later={"const": [NONE]}, reason=reason)
    return {"anyOf": [closed_object(calls=many, later=later), none]}


def layer_schema(tools: Sequence[Tool], most: int = SMALL.layer_calls) -> JsonObject:
    """The decoding schema of one layer: which tools are useful now and their calls, or 'none' and
    the reason. ``most`` as in :func:`first_schema`.

    Naming the useful tools before any call is made is what keeps a small model from calling
    whatever it sees; in text it is what makes it call at all (asked for calls or ``No call: why``
    it gave reasons, in 23 of 23 runs).
    """
    calls = [
        closed_object(tool={"const": tool.name}, arguments=required_first(tool)) for tool in tools
    ]
    names = {
        "type": "array",
        "items": {"enum": [t.name for t in tools]},
        "minItems": 1,
        "maxItems": len(tools),
    }
    many: JsonObject = {
        "type": "array",
        "items": {"anyOf": calls},
        "maxItems": max(most, 2 * len(tools)),
    }
    reason: JsonObject = {"type": "string", "maxLength": 120}
    chosen = closed_object(useful=names, calls=many)
    none = closed_object(useful={"const": [NONE]}, reason=reason)
    return {"anyOf": [chosen, none]}


def step_schema(
    tools: Sequence[Tool], may_give_up: bool = False, *, free: bool = False
) -> JsonObject:
    """The decoding schema of one turn: a short thought, then one call or the finish. ``free``: of
    any arguments.
    """
    anything: JsonObject = {"type": "object"}
    actions: list[Json] = [
        closed_object(tool={"const": t.name}, arguments=anything if free else required_first(t))
        for t in tools
    ]
    ends = (FINISH, GIVE_UP) if may_give_up else (FINISH,)
    actions += [
        closed_object(tool={"const": end}, reason={"type": "string", "maxLength": 120})
        for end in ends
    ]
    return closed_object(thought={"type": "string", "maxLength": 200}, action={"anyOf": actions})


def _read_schema(view: View, text: str) -> Bound:
    value, truncated, problem = _object_of(text)
    if value is None:
        return Bound(malformed=problem, finished=view.may_finish)
    if view.may_finish:
        return (
            Bound(finished=True, malformed="the reply was cut off")
            if truncated
            else _read_action(value.get("action"), value.get("thought"))
        )
    entries = value.get("calls")
    entries = entries if isinstance(entries, list) else []
    calls = [
        ToolCall("", entry["tool"], entry.get("arguments") or {})
        for entry in (
            entries[:-1] if truncated else entries
        )  # the entry that was cut off is never completed
        if isinstance(entry, dict) and isinstance(entry.get("tool"), str)
    ]
    reason = value.get("reason")
    reason = reason if isinstance(reason, str) and reason.strip() else _NO_USE
    if isinstance(later := value.get("later"), list):
        return _bind_first_calls(view, calls, later, reason)
    useful = value.get("useful")
    return _bind_layer_calls(view, calls, useful if isinstance(useful, list) else (), reason)


def _bind_first_calls(
    view: View, calls: Sequence[ToolCall], later: Sequence[Json], reason: str
) -> Bound:
    """The calls of the first question; what is needed are their tools and those named for later."""
    named = {*(call.tool for call in calls), *later}
    needed = tuple(t.name for t in view.tools if t.name in named)
    return Bound(tuple(calls), needed=needed, reason=reason)


def _bind_layer_calls(
    view: View, calls: Sequence[ToolCall], useful: Sequence[Json], reason: str
) -> Bound:
    """The calls of a layer, which of the tools called useful have none, and why each other one is
    not called.
    """
    called = {call.tool for call in calls}
    needed = [t.name for t in view.tools if t.name in useful]
    wanted = [name for name in needed if name not in called]
    skips = (
        Skip(t.name, _WANTED if t.name in wanted else reason)
        for t in view.tools
        if t.name not in called
    )
    return Bound(tuple(calls), tuple(skips), tuple(wanted), tuple(needed), reason=reason)


def _named_useful(view: View, text: str) -> list[str]:
    """The tools in view that the first line ``Useful: a, b`` of a reply in text names."""
    line = _USEFUL.match(text)
    said = set(re.findall(r"[\w.-]+", line[1])) if line and not view.may_finish else set()
    return [t.name for t in view.tools if t.name in said]


def _object_of(text: str) -> tuple[JsonObject | None, bool, str]:
    """The reply as an object, whether it was cut off, and why there is none."""
    try:
        found = parse_lenient(text)
    except JsonError as exc:
        return None, False, str(exc)
    if not isinstance(found.value, dict):
        return None, False, "the reply is no JSON object"
    return found.value, found.truncated, ""


def _read_thought(text: str) -> str:
    line = _THOUGHT.search(text)
    return line[1].strip() if line else ""


def _read_action(action: Json, thought: Json) -> Bound:
    if not isinstance(action, dict) or action.get("tool") in (None, FINISH):
        reason = action.get("reason") if isinstance(action, dict) else None
        return Bound(finished=True, reason=reason if isinstance(reason, str) else "")
    if action["tool"] == GIVE_UP:
        return Bound(given_up=True)
    call = ToolCall("", str(action["tool"]), action.get("arguments") or {})
    return Bound((call,), thought=thought.strip() if isinstance(thought, str) else "")


_SHARING = ("first", "layer")  # questions that stand behind what all questions of a run share
_FIRST_FORMATS: dict[ReplyMode, str] = {
    "schema": (
        'Reply with JSON: {"calls": [{"tool": ..., "arguments": {...}}, one for each call], "later":'
        ' ["tool name", ...]}. If no tool helps: {"later": ["none"], "reason": "..."}.'
    ),
    "native": "Make the tool calls now. If no call is needed or possible, reply: No call: <why>",
    "text": (
        "First write one line:\nUseful: <names of all tools that the request really needs, or"
        " none>\nThen for each call exactly two lines:\nAction: <tool_name>\nAction Input: <JSON"
        ' arguments>\nAfter "Useful: none" write why in one line, and no call.'
    ),
}
_FORMATS: dict[tuple[ReplyMode, bool], str] = {
    ("schema", False): (
        'Reply with JSON: {"useful": [names of the tools of this step that the request really needs'
        ' now], "calls": [{"tool": ..., "arguments": {...}}, one for each call]}. If none of them'
        ' is needed or can be called yet: {"useful": ["none"], "reason": "..."}. Most steps hold'
        " tools that are not needed."
    ),
    ("schema", True): (
        'Reply with JSON: {"thought": "what is still missing", "action": {"tool": ..., "arguments":'
        ' {...}}}, or {"thought": ..., "action": {"tool": "finish", "reason": "..."}} when done.'
    ),
    (
        "native",
        False,
    ): (
        "Make the tool calls of this step now. If no call is needed or possible, reply: No call:"
        " <why>"
    ),
    (
        "native",
        True,
    ): "Make the next tool call. If nothing more is needed or possible, reply: Finish: <why>",
    ("text", False): (
        "First write one line:\nUseful: <names of the tools of this step that the request really"
        " needs now, or none>\nThen for each call exactly two lines:\nAction: <tool_name>\nAction"
        ' Input: <JSON arguments>\nAfter "Useful: none" write why in one line, and no call.'
    ),
    ("text", True): (
        "Write exactly three lines:\nThought: <what is still missing>\nAction: <tool_name>\n"
        "Action Input: <JSON arguments>\nIf nothing more is needed or possible, write:\n"
        'Action: Finish\nAction Input: {"reason": "..."}'
    ),
}

_GIVING_UP: dict[ReplyMode, str] = {
    "schema": (
        ' If this way cannot lead to the answer: {"thought": ..., "action": {"tool":'
        ' "give_up_and_restart", "reason": "..."}}.'
    ),
    "native": " If this way cannot lead to the answer, reply: Give up: <why>",
    "text": (
        "\nIf this way cannot lead to the answer, write:\nAction: Finish\n"
        'Action Input: {"return_type": "give_up_and_restart", "reason": "..."}'
    ),
}
