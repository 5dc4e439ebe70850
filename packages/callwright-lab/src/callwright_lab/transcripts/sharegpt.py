"""ShareGPT: ``{"conversations": [{"from", "value"}], "tools", "system"}``.

Read are the words of LLaMA-Factory (``human``, ``gpt``, ``function_call``, ``observation``;
``tools`` as JSON text; its README, "ShareGPT Format"), of Hermes' function calling sets (``tool``
turns, calls in ``<tool_call>`` or in another dialect inside ``gpt``) and of ToolBench's (``user``,
``assistant``, ``function``); written are the first. Thought stands in ``<think>`` before a call or
an answer. A turn's ``"loss": false``, a member of ours, takes its loss away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from callwright.jsontext import JsonError, parse, parse_literal
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import Json, JsonObject, Role, Tool, ToolCall
from callwright.parsing import parse_calls
from callwright.tools.lists.tools import tool_to_openai
from callwright_lab.transcripts.messages import _find_record_id, parse_tools
from callwright_lab.transcripts.toolbench_vr import listed_tools
from callwright_lab.transcripts.transcript import Head, json_text, parse_result, render_result
from callwright_lab.transcripts.turns import Messages, Round, Turn

_ROLES: dict[str, Role] = {
    "system": "system", "human": "user", "user": "user",
    "gpt": "assistant", "assistant": "assistant", "function_call": "assistant", "tool_call": "assistant",
    "observation": "tool", "tool": "tool", "function": "tool", "function_response": "tool", "tool_response": "tool",
}  # fmt: skip
_THINK = re.compile(r"\A\s*<think>\n?(.*?)\n?</think>\s*", re.S)
_TOOLS = re.compile(r"<tools>\s*(.*?)\s*</tools>", re.S)
_BACK = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.S)
_OURS = ("from", "value", "loss")
_BEGIN = "Begin!"


class ShareGPT:
    """``conversations`` of turns with ``from`` and ``value``."""

    name = "sharegpt"

    def recognises(self, record: JsonObject) -> bool:
        found = record.get("conversations")
        return isinstance(found, list) and all(isinstance(m, dict) and "from" in m for m in found)

    def head(self, record: JsonObject) -> Head:
        turns = record["conversations"]
        at = next(
            (i for i, m in enumerate(turns) if _ROLES.get(m["from"]) in ("assistant", "tool")),
            len(turns),
        )
        first = tuple(turns[:at])
        asked = [
            m["value"].strip().removesuffix(_BEGIN).strip()
            for m in first
            if _ROLES.get(m["from"]) == "user"
        ]
        return Head(_find_record_id(record), "\n\n".join(asked), _parse_tools(record), first)

    def turns(self, record: JsonObject, head: Head) -> Iterator[tuple[Turn, Messages]]:
        gives_up = bool(record.get("given_up"))
        body = record["conversations"][len(head.messages) :]
        for at, message in enumerate(body, 1):
            turn = _parse_turn(message, head.tools)
            ends = at == len(body) and turn.role == "assistant" and not turn.calls
            yield (_build_ending_turn(message, gives_up) if ends else turn), (message,)

    def opening(self, trajectory: Trajectory, like: JsonObject | None) -> Messages:
        before = (
            [m for m in self.head(like).messages if _ROLES.get(m["from"]) != "user"] if like else []
        )
        query = trajectory.query
        asked = (
            f"{query}\n{_BEGIN}" if query.strip().endswith(_BEGIN) else query
        )  # a reader takes one off
        return (*before, {"from": "human", "value": asked})

    def messages(self, one: Round, like: Messages) -> Messages:
        made = list(_iter_round_messages(one))
        first = next((m for m in like if _ROLES.get(m["from"]) == "assistant"), {})
        made[0] |= {k: v for k, v in first.items() if k not in _OURS}
        return tuple(made)

    def record(
        self, trajectory: Trajectory, head: Messages, body: Sequence[Round], like: JsonObject | None
    ) -> JsonObject:
        made: JsonObject = dict(like or {"id": trajectory.id})
        made.pop("given_up", None)
        made["conversations"] = [*head, *(m for one in body for m in one.messages)]
        if like is None or _parse_tools(like) != trajectory.tools:
            made["tools"] = json_text([tool_to_openai(tool) for tool in trajectory.tools])
        return made | ({"given_up": True} if trajectory.given_up else {})


def _parse_tools(record: JsonObject) -> tuple[Tool, ...]:
    if record.get("tools"):
        return parse_tools(record["tools"])
    system = str(
        record.get("system")
        or next((m["value"] for m in record["conversations"] if m["from"] == "system"), "")
    )
    marked = _TOOLS.search(system)
    if marked is not None:
        return parse_tools(_parse_tool_list(marked[1]))
    return listed_tools(system) or parse_tools(_find_last_list(system))


def _parse_tool_list(text: str) -> Json:
    """The tools between ``<tools>``: one list, or an object a line."""
    found = parse_literal(text if text.startswith("[") else "[" + ",".join(text.split("\n")) + "]")
    return found if isinstance(found, list) else [found]


def _find_last_list(system: str) -> Json:
    """The list after the last ``APIs:`` of a system prompt, as ToolBench ends its own; [] where
    there is none.
    """
    text = system[max(system.rfind("APIs:"), 0) :]
    try:
        found = parse_literal(text[text.find("[") :].strip()) if "[" in text else []
    except JsonError:
        return []
    return found if isinstance(found, list) and all(isinstance(t, dict) for t in found) else []


def _parse_turn(message: JsonObject, tools: Sequence[Tool]) -> Turn:
    role, text = _ROLES[message["from"]], message["value"]
    learn = message.get("loss") is not False
    if role == "tool":
        inner = _BACK.findall(text) or [text]
        return Turn("tool", results=tuple(parse_result("", each) for each in inner))
    if role != "assistant":
        return Turn("user", text)
    thought, rest = _split_thought(text)
    if message["from"] in ("function_call", "tool_call"):
        return Turn("assistant", thought, tuple(_iter_calls(rest)), learn=learn)
    read = parse_calls(rest, tools)
    if read.calls:
        said = "\n\n".join(part for part in (thought, read.text) if part)
        return Turn("assistant", said, read.calls, learn=learn)
    return Turn("assistant", "\n\n".join(part for part in (thought, rest) if part), learn=learn)


def _split_thought(text: str) -> tuple[str, str]:
    found = _THINK.match(text)
    return (found[1], text[found.end() :]) if found else ("", text)


def _iter_calls(text: str) -> Iterator[ToolCall]:
    value = parse(text)
    for entry in value if isinstance(value, list) else [value]:
        given = entry.get("arguments", entry.get("parameters", {}))
        yield ToolCall(str(entry.get("id") or ""), str(entry["name"]), given)


def _build_ending_turn(message: JsonObject, gives_up: bool) -> Turn:
    thought, answer = _split_thought(message["value"])
    learn = message.get("loss") is not False
    if not gives_up and not answer:
        return Turn("assistant", thought, learn=learn)
    return Turn("assistant", thought, answer=answer or None, given_up=gives_up, learn=learn)


def _iter_round_messages(one: Round) -> Iterator[JsonObject]:
    loss: JsonObject = {} if one.learn else {"loss": False}
    thought = one.thought if one.step is None else one.step.thought
    think = f"<think>\n{thought}\n</think>\n\n" if thought else ""
    if one.step is None:
        yield {"from": "gpt", "value": think + (one.answer or ""), **loss}
        return
    if not one.step.calls:
        yield {"from": "gpt", "value": thought, **loss}
        return
    entries = [{"name": c.tool, "arguments": c.arguments} for c in one.step.calls]
    yield {
        "from": "function_call",
        "value": think + json_text(entries[0] if len(entries) == 1 else entries),
        **loss,
    }
    for _, result in one.step.pairs:
        if result is not None:
            yield {"from": "observation", "value": render_result(result)}


SHAREGPT = ShareGPT()
