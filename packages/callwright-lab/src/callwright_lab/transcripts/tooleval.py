"""ToolEval's answer files and the answers they are made of, ToolBench's own.

ToolEval: ``{"query", "available_tools", "answer": {"method", "total_steps", "final_answer",
"answer_details"}}``, one record a query id; ``answer_details`` is a chain of nodes, each ``next``
of the one before, a call and its reply in one node as a Python literal. The runs as published cut
every message to 100 characters: what is cut is marked, and a call whose arguments are cut has the
text that is left. ``Finish`` is no tool but the ending.

ToolBench: one search a file, ``{"tree", "answer_generation", …}``. A trajectory is the last chain
of messages that the search made (``train_messages``), where there is none the branch it tried last;
as ToolEval's converter takes it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from callwright.jsontext import JsonError, parse_literal
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall, ToolResult
from callwright.tools.lists.tools import tool_from_wire
from callwright_lab.transcripts.gold import ReadOnly
from callwright_lab.transcripts.transcript import Head, find_failure, json_text, render_result
from callwright_lab.transcripts.turns import Messages, Round, Turn

FINISH = "Finish"
CUT_AT = 100  # characters of a message in the runs as published
_QUOTED = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\"""")
_FINISH_SPEC: JsonObject = {
    "name": FINISH,
    "description": "Call this once, at the end: to give the final answer, or to give up.",
    "parameters": {
        "type": "object",
        "properties": {
            "return_type": {"type": "string", "enum": ["give_answer", "give_up_and_restart"]},
            "final_answer": {
                "type": "string",
                "description": "The answer, where return_type is give_answer.",
            },
        },
        "required": ["return_type"],
    },
}


class ToolEval:
    """Answer files of ToolEval, one record a query."""

    name = "tooleval"

    def recognises(self, record: JsonObject) -> bool:
        answer = record.get("answer")
        return (
            isinstance(answer, dict) and "answer_details" in answer and "available_tools" in record
        )

    def head(self, record: JsonObject) -> Head:
        nodes = list(_iter_chain(record["answer"]["answer_details"]))
        at = next(
            (i for i, n in enumerate(nodes) if n["role"] not in ("system", "user")), len(nodes)
        )
        tools = tuple(
            toolbench_tool(spec) for spec in record["available_tools"] if spec.get("name") != FINISH
        )
        return Head("", record["query"], tools, tuple(_drop_next(n) for n in nodes[:at]))

    def turns(self, record: JsonObject, head: Head) -> Iterator[tuple[Turn, Messages]]:
        nodes = list(_iter_chain(record["answer"]["answer_details"]))[len(head.messages) :]
        said = _parse_finish(record["answer"].get("final_answer"))
        ended = False
        for node in nodes:
            turn = _parse_turn(node)
            if (
                turn.answer is not None
                or turn.given_up
                or find_first_name(str(node["message"])) == FINISH
            ):
                turn, ended = said or turn, True
            yield turn, (_drop_next(node),)
        if not ended and said is not None:
            yield said, ()

    def opening(self, trajectory: Trajectory, like: JsonObject | None) -> Messages:
        del like  # published runs keep nothing else in these nodes
        return ({"role": "system", "message": ""}, {"role": "user", "message": trajectory.query})

    def messages(self, one: Round, like: Messages) -> Messages:
        del like
        return tuple(_iter_round_nodes(one))

    def record(
        self, trajectory: Trajectory, head: Messages, body: Sequence[Round], like: JsonObject | None
    ) -> JsonObject:
        nodes = [*head, *(m for one in body for m in one.messages)]
        ending = next((one for one in body if one.step is None), None)
        final = _finish_arguments(ending) if ending else None
        before = (like or {}).get("answer") or {"method": "callwright"}
        if _parse_finish(before.get("final_answer")) == _parse_finish(final):
            final = before.get("final_answer", "")
        answer = {
            **before,
            "total_steps": (
                before.get("total_steps") if like and _flatten_chain(like) == nodes else len(nodes)
            ),
            "final_answer": final or "",
            "answer_details": _nest_nodes(nodes),
        }
        return {
            **(like or {}),
            "query": trajectory.query,
            "available_tools": _build_tool_specs(trajectory, like),
            "answer": answer,
        }


def toolbench_tool(spec: JsonObject, source: str = "toolbench") -> Tool:
    """A tool as ToolBench shows it to a model; names in ``required`` that no property has are
    dropped.
    """
    schema = {k: v for k, v in (spec.get("parameters") or {}).items() if k != "optional"}
    schema["required"] = [
        n for n in schema.get("required") or () if n in (schema.get("properties") or {})
    ]
    return tool_from_wire({**spec, "parameters": schema}, source=source)


def _build_tool_specs(trajectory: Trajectory, like: JsonObject | None) -> list[JsonObject]:
    kept = {s.get("name"): s for s in (like or {}).get("available_tools") or ()}
    had = {name: toolbench_tool(s) for name, s in kept.items() if name != FINISH}
    made = [
        (
            kept[t.name]
            if had.get(t.name) == t
            else {"name": t.name, "description": t.description, "parameters": t.input_schema}
        )
        for t in trajectory.tools
    ]
    return [*made, kept.get(FINISH, _FINISH_SPEC)]


def _iter_chain(nodes: Any) -> Iterator[JsonObject]:
    while nodes:
        yield nodes[0]
        nodes = nodes[0].get("next") or ()


def _flatten_chain(record: JsonObject) -> list[JsonObject]:
    return [_drop_next(n) for n in _iter_chain(record["answer"]["answer_details"])]


def _drop_next(node: JsonObject) -> JsonObject:
    return {k: v for k, v in node.items() if k != "next"}


def _nest_nodes(nodes: Sequence[JsonObject]) -> list[JsonObject]:
    made: list[JsonObject] = []
    for node in reversed(nodes):
        made = [{**node, "next": made}]
    return made


# ---------------------------------------------------------------- nodes


def _parse_turn(node: JsonObject) -> Turn:
    text = node["message"]
    cut = isinstance(text, str) and len(text) == CUT_AT
    if node["role"] != "tool":
        return Turn("assistant", str(text or ""), cut=cut)
    try:
        read = parse_literal(text) if isinstance(text, str) else text
    except JsonError:
        return _parse_truncated_node(str(text))
    name = str(read["name"])
    if name == FINISH:
        return _parse_finish(read.get("arguments")) or Turn("assistant")
    call, replies = (
        ToolCall("", name, _parse_object(read.get("arguments"))),
        tuple(_iter_reply_results(read.get("response"))),
    )
    return Turn(
        "assistant",
        calls=(call,),
        results=replies,
        cut=cut or any(map(_is_truncated_reply, replies)),
    )


def _parse_truncated_node(text: str) -> Turn:
    """A node that is cut: the name, the arguments where they are whole, and of the reply
    nothing.
    """
    name = find_first_name(text)
    _, _, rest = text.partition("'arguments': ")
    whole = _QUOTED.match(rest)
    given = _parse_object(ast.literal_eval(whole[0])) if whole else rest
    if name == FINISH:
        return (_parse_finish(given) if isinstance(given, dict) else None) or Turn(
            "assistant", cut=True
        )
    return Turn("assistant", calls=(ToolCall("", name, given),), cut=True)


def find_first_name(message: str) -> str:
    """The tool that a message begins with: ``{'name': 'x', …``."""
    _, _, rest = message.partition("'name': '")
    return rest.partition("'")[0]


def _parse_object(text: Json) -> JsonObject | str:
    if isinstance(text, str):
        try:
            read = parse_literal(text) if text.strip() else {}
        except JsonError:
            return text
        return read if isinstance(read, dict) else text
    return text if isinstance(text, dict) else {}


def _iter_reply_results(text: Json) -> Iterator[ToolResult]:
    if text is None:
        return
    try:
        content = parse_literal(text) if isinstance(text, str) else text
    except JsonError:
        content = text
    yield ToolResult("", "", {}, content, find_failure(content))


def _is_truncated_reply(result: ToolResult) -> bool:
    """Return True if a reply begins as JSON and does not end as JSON. ToolBench cuts replies after
    1,024 or 2,048 characters.
    """
    content = result.content
    if isinstance(content, dict) and isinstance(content.get("response"), str):
        content = content["response"]
    return (
        isinstance(content, str)
        and content.lstrip()[:1] in ("{", "[")
        and content.rstrip()[-1:] not in ("}", "]")
    )


def _parse_finish(arguments: Json) -> Turn | None:
    """The ending that ``Finish`` was given; None where nothing was said."""
    given = _parse_object(arguments) if arguments else None
    if given is None:
        return None
    if isinstance(given, str):
        return Turn("assistant", answer=given)
    answer = given.get("final_answer")
    up = given.get("return_type") == "give_up_and_restart"
    said = answer if isinstance(answer, str) or answer is None else json_text(answer)
    return Turn("assistant", answer=said or None, given_up=up) if up or said else None


def _finish_arguments(one: Round) -> str:
    kind = "give_up_and_restart" if one.given_up else "give_answer"
    return json_text({"return_type": kind, **({"final_answer": one.answer} if one.answer else {})})


def _iter_round_nodes(one: Round) -> Iterator[JsonObject]:
    thought = one.thought if one.step is None else one.step.thought
    if thought:
        yield {"role": "assistant", "message": thought}
    if one.step is None:
        yield {
            "role": "tool",
            "message": repr({"name": FINISH, "arguments": _finish_arguments(one), "response": ""}),
        }
        return
    for call, result in one.step.pairs:
        given = call.arguments if isinstance(call.arguments, str) else json_text(call.arguments)
        told = {} if result is None else {"response": render_result(result)}
        yield {"role": "tool", "message": repr({"name": call.tool, "arguments": given, **told})}


# ---------------------------------------------------------------- ToolBench's own answers


class ToolBenchAnswer(ReadOnly):
    """One search of ToolBench's. It is read and kept; a search cannot be written from a
    trajectory.
    """

    name = "toolbench"

    def recognises(self, record: JsonObject) -> bool:
        return isinstance(record.get("answer_generation"), dict)

    def head(self, record: JsonObject) -> Head:
        made = record["answer_generation"]
        tools = tuple(
            toolbench_tool(s) for s in made.get("function") or () if s.get("name") != FINISH
        )
        return Head("", str(made.get("query", "")).strip(), tools)

    def turns(self, record: JsonObject, head: Head) -> Iterator[tuple[Turn, Messages]]:
        del head
        chains = record["answer_generation"].get("train_messages") or []
        turns = list(_iter_message_turns(chains[-1])) if chains else list(_iter_tree_turns(record))
        said = _parse_finish(record["answer_generation"].get("final_answer"))
        for turn in [t for t in turns if t.answer is None and not t.given_up]:
            yield turn, ()
        if said is not None:
            yield said, ()


def _iter_message_turns(chain: Sequence[Mapping[str, Any]]) -> Iterator[Turn]:
    for message in chain:
        if message["role"] == "assistant":
            called = message.get("function_call")
            ending = (
                _parse_finish(called["arguments"]) if called and called["name"] == FINISH else None
            )
            if ending is not None:
                yield ending
            elif called and called["name"] != FINISH:
                call = ToolCall("", called["name"], _parse_object(called.get("arguments")))
                yield Turn("assistant", message.get("content") or "", (call,))
            elif message.get("content"):
                yield Turn("assistant", message["content"])
        elif message["role"] == "function":
            replies = tuple(_iter_reply_results(message.get("content")))
            yield Turn("tool", results=replies, cut=any(map(_is_truncated_reply, replies)))


def _iter_tree_turns(record: Mapping[str, Any]) -> Iterator[Turn]:
    """The branch a search tried last."""
    node, action, thought = (record.get("tree") or {}).get("tree") or {}, "", ""
    while node:
        kind, said = node.get("node_type"), str(node.get("description") or "")
        if kind == "Thought":
            thought = said
        elif kind == "Action":
            action = said
        elif kind == "Action Input" and action == FINISH:
            yield _parse_finish(said) or Turn("assistant")
        elif kind == "Action Input" and action:
            call = ToolCall("", action, _parse_object(said))
            replies = tuple(_iter_reply_results(node.get("observation")))
            yield Turn(
                "assistant", thought, (call,), replies, cut=any(map(_is_truncated_reply, replies))
            )
            thought = ""
        node = (node.get("children") or [None])[-1]


TOOLEVAL = ToolEval()
TOOLBENCH = ToolBenchAnswer()
