"""OpenAI's messages with tools and tool calls, as its fine-tuning takes them, and TRL's prompt and
completion.

OpenAI: ``{"messages": […], "tools": […]}``; arguments are JSON text; ``"weight": 0`` on an
assistant message takes its loss away (Fine-tuning guide). TRL: ``{"prompt": […], "completion": […],
"tools": […]}``; arguments are objects, and loss is on the completion (Dataset formats, "Tool
calling"). Neither has a word for giving up: it stands as a member ``given_up`` of the record.
Thought before an answer stands in ``reasoning_content``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall
from callwright.tools.lists.chat_messages import content_text
from callwright.tools.lists.tools import tool_from_wire, tool_to_openai
from callwright_lab.transcripts.transcript import Head, json_text, parse_result, render_result
from callwright_lab.transcripts.turns import Messages, Round, Turn

_HEAD = ("system", "developer", "user")
_OURS = ("role", "content", "tool_calls", "tool_call_id", "reasoning_content", "weight")


class OpenAIMessages:
    """``{"messages": […], "tools": […]}``."""

    name = "openai"
    objects = False  # whether arguments are objects rather than JSON text

    def recognises(self, record: JsonObject) -> bool:
        found = record.get("messages")
        return isinstance(found, list) and not any(
            isinstance(m, dict) and "no_loss" in m for m in found
        )

    def head(self, record: JsonObject) -> Head:
        first = tuple(_iter_opening_messages(self._all(record)))
        query = "\n\n".join(
            content_text(m.get("content")) for m in first if m.get("role") == "user"
        )
        listed = record.get("tools", record.get("functions"))
        return Head(_find_record_id(record), query, parse_tools(listed), first)

    def turns(self, record: JsonObject, head: Head) -> Iterator[tuple[Turn, Messages]]:
        gives_up = bool(record.get("given_up"))
        body = self._all(record)[len(head.messages) :]
        for at, message in enumerate(body, 1):
            turn = _parse_turn(message)
            ends = at == len(body) and turn.role == "assistant" and not turn.calls
            yield (_build_ending_turn(turn, message, gives_up) if ends else turn), (message,)

    def opening(self, trajectory: Trajectory, like: JsonObject | None) -> Messages:
        before = (
            [m for m in _iter_opening_messages(self._all(like)) if m.get("role") != "user"]
            if like
            else []
        )
        return (*before, {"role": "user", "content": trajectory.query})

    def messages(self, one: Round, like: Messages) -> Messages:
        made = list(self._made(one))
        first = next((m for m in like if m.get("role") == "assistant"), {})
        made[0] |= {k: v for k, v in first.items() if k not in _OURS}
        return tuple(made)

    def record(
        self, trajectory: Trajectory, head: Messages, body: Sequence[Round], like: JsonObject | None
    ) -> JsonObject:
        return {
            **_build_record_members(trajectory, like),
            "messages": [*head, *(m for one in body for m in one.messages)],
        }

    def _all(self, record: JsonObject) -> list[JsonObject]:
        return [m for m in record["messages"] if isinstance(m, dict)]

    def _made(self, one: Round) -> Iterator[JsonObject]:
        weight = {} if one.learn or self.objects else {"weight": 0}
        if one.step is None:
            thought = {"reasoning_content": one.thought} if one.thought else {}
            yield {"role": "assistant", **thought, "content": one.answer or "", **weight}
            return
        said: JsonObject = {"role": "assistant", "content": one.step.thought or None}
        if one.step.calls:
            said["tool_calls"] = [self._call(c) for c in one.step.calls]
        yield said | weight
        for call, result in one.step.pairs:
            if result is not None:
                yield {"role": "tool", "tool_call_id": call.id, "content": render_result(result)}

    def _call(self, call: ToolCall) -> JsonObject:
        given = call.arguments
        arguments: Json = given if isinstance(given, str) or self.objects else json_text(given)
        return {
            "id": call.id,
            "type": "function",
            "function": {"name": call.tool, "arguments": arguments},
        }


class PromptCompletion(OpenAIMessages):
    """TRL's ``{"prompt": […], "completion": […], "tools": […]}``: one border between context and
    what is learned.
    """

    name = "trl"
    objects = True

    def recognises(self, record: JsonObject) -> bool:
        return isinstance(record.get("prompt"), list) and isinstance(record.get("completion"), list)

    def turns(self, record: JsonObject, head: Head) -> Iterator[tuple[Turn, Messages]]:
        border = len(record["prompt"])
        place = len(head.messages)
        for turn, (message,) in super().turns(record, head):
            yield (_disable_learning(turn) if place < border else turn), (message,)
            place += 1

    def record(
        self, trajectory: Trajectory, head: Messages, body: Sequence[Round], like: JsonObject | None
    ) -> JsonObject:
        first = next((i for i, one in enumerate(body) if one.learn), len(body))
        if not all(one.learn for one in body[first:]):
            raise ConfigError(
                f"{trajectory.id}: rounds without loss after one that has it",
                hint=(
                    "TRL's prompt and completion have one border; write openai or toolbench-vr"
                    " instead"
                ),
            )
        parts = [[m for one in some for m in one.messages] for some in (body[:first], body[first:])]
        return {
            **_build_record_members(trajectory, like),
            "prompt": [*head, *parts[0]],
            "completion": parts[1],
        }

    def _all(self, record: JsonObject) -> list[JsonObject]:
        return [m for m in (*record["prompt"], *record["completion"]) if isinstance(m, dict)]


def parse_tools(listed: Json) -> tuple[Tool, ...]:
    """The tools of a record: a list in any style the catalogue reads, or that list as JSON text;
    None is none.
    """
    if isinstance(listed, str):
        listed = parse(listed) if listed.strip() else None
    found = listed if isinstance(listed, list) else []
    made = (tool_from_wire(spec) for spec in found)
    return tuple({tool.name: tool for tool in made}.values())


def _find_record_id(record: JsonObject) -> str:
    return str(next((record[key] for key in ("id", "query_id") if record.get(key) is not None), ""))


def _build_record_members(trajectory: Trajectory, like: JsonObject | None) -> JsonObject:
    """The record's members beside its messages."""
    made: JsonObject = dict(like or {"id": trajectory.id})
    made.pop("given_up", None)
    if like is None or _parsed_tools(like) != trajectory.tools:
        made["tools"] = [tool_to_openai(tool) for tool in trajectory.tools]
    return made | ({"given_up": True} if trajectory.given_up else {})


def _parsed_tools(record: JsonObject) -> tuple[Tool, ...]:
    return parse_tools(record.get("tools", record.get("functions")))


def _iter_opening_messages(messages: Iterable[JsonObject]) -> Iterator[JsonObject]:
    for message in messages:
        if message.get("role") not in _HEAD:
            return
        yield message


def _parse_turn(message: JsonObject) -> Turn:
    role, content = message.get("role"), message.get("content")
    if role in ("tool", "function"):
        text = content if isinstance(content, str) else content_text(content) or content
        return Turn("tool", results=(parse_result(str(message.get("tool_call_id") or ""), text),))
    if role != "assistant":
        return Turn("user", content_text(content))
    said = (message.get("reasoning_content"), content_text(content))
    text = "\n\n".join(part for part in said if isinstance(part, str) and part)
    return Turn("assistant", text, tuple(_iter_calls(message)), learn=message.get("weight") != 0)


def _iter_calls(message: JsonObject) -> Iterator[ToolCall]:
    old = message.get("function_call")
    listed: list[Any] = message.get("tool_calls") or ([{"function": old}] if old else [])
    for entry in listed:
        function = entry.get("function", entry)
        given = function.get("arguments", {})
        yield ToolCall(str(entry.get("id") or ""), str(function["name"]), _parse_arguments(given))


def _parse_arguments(given: Json) -> JsonObject | str:
    """Arguments as an object; text where they are none."""
    if isinstance(given, str):
        try:
            read = parse(given)
        except JsonError:
            return given
        return read if isinstance(read, dict) else given
    return given if isinstance(given, dict) else json_text(given)


def _build_ending_turn(turn: Turn, message: JsonObject, gives_up: bool) -> Turn:
    thought = message.get("reasoning_content")
    answer = content_text(message.get("content")) or None
    if not gives_up and answer is None:
        return turn
    return Turn("assistant", thought or "", answer=answer, given_up=gives_up, learn=turn.learn)


def _disable_learning(turn: Turn) -> Turn:
    return replace(turn, learn=False)


OPENAI = OpenAIMessages()
TRL = PromptCompletion()
