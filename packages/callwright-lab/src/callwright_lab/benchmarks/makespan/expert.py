"""A model that knows the right calls and writes them at a fixed pace, whatever a strategy asks it
for.

With it strategies differ by their structure alone: how often they ask, how much they have written,
and what waits for what. It knows nothing that the results so far do not show: a call whose values
come from another is only made when that one was handed out in an earlier reply.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from callwright.agent.strategies.code import CALLS
from callwright.jsontext import write
from callwright.language.tokens import has_question_mark
from callwright.nouns.plan import OPEN, Plan
from callwright.nouns.protocols import Capabilities, ChatRequest, Watcher
from callwright.nouns.types import Json, JsonObject, Reply, ToolCall, Usage
from callwright.parsing.formats.program import Round, write_round
from callwright.parsing.formats.pythonic import write_value

_CHARACTERS = 4  # of a token
_PIECE = 8  # tokens written at once


class Expert:
    """A ChatModel for one run. ``plan`` and ``calls`` are the task's, slot ``n`` of one for call
    ``n`` of the other.

    A reply takes ``latency`` seconds, and ``per_token`` for each of its tokens; pieces are shown as
    they come.
    """

    name = "expert"

    def __init__(
        self,
        plan: Plan,
        calls: Sequence[ToolCall],
        answer: str,
        latency: float = 0.0,
        per_token: float = 0.0,
    ) -> None:
        self._plan = plan
        self._calls = {slot.id: call for slot, call in zip(plan.slots, calls, strict=True)}
        self._answer = answer
        self._latency, self._per_token = latency, per_token
        self._made: dict[str, int] = {}  # slots whose calls were handed out -> in which reply
        self._replies = 0

    async def capabilities(self) -> Capabilities:
        return Capabilities(json_schema=True, context=1_000_000)

    async def aclose(self) -> None:
        """Nothing is held."""

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
        """Its reply, after the time that it takes."""
        self._replies += 1
        text = (
            self._program()
            if request.schema is None and request.purpose == "code"
            else self._json(request)
        )
        await self._paced(text, watch)
        asked = sum(len(message.content) for message in request.messages) // _CHARACTERS
        return Reply(text, usage=Usage(asked, _count_tokens(text)), model=self.name)

    async def _paced(self, text: str, watch: Watcher | None) -> None:
        await asyncio.sleep(self._latency)
        size = _PIECE * _CHARACTERS
        for at in range(0, len(text), size):
            piece = text[at : at + size]
            await asyncio.sleep(self._per_token * _count_tokens(piece))
            if watch is not None:
                watch(piece)

    def _json(self, request: ChatRequest) -> str:
        said = self._said(request)
        return said if isinstance(said, str) else write(said).decode()

    def _said(self, request: ChatRequest) -> Json:
        schema = request.schema or {}
        if request.purpose == "bind" and "action" in schema.get("properties", {}):
            return self._step(schema)
        if request.purpose == "bind":
            return self._guided(schema) if _has_wishes(schema) else self._layer(schema)
        if request.purpose == "plan":
            return self._planned(schema)
        if request.purpose == "select":
            return {"needed": [*dict.fromkeys(slot.tool for slot in self._plan.slots)]}
        if request.purpose == "join":
            return {"thought": "", "judgement": "finish"}
        if request.purpose == "code":
            return self._round(schema)
        return self._repaired() if request.purpose == "repair" else self._answered(schema)

    def _planned(self, schema: JsonObject) -> Json:
        """Return the plan of the calls that were not made yet. A later plan contains no references
        to earlier calls.
        """
        offered = collect_schema_tools(schema)
        left = [
            slot for slot in self._plan.slots if slot.id not in self._made and slot.tool in offered
        ]
        number = {slot.id: at for at, slot in enumerate(left, 1)}
        steps = []
        for slot in left:
            after = sorted(number[one] for one in slot.after if one in number)
            again = len(left) < len(self._plan.slots)
            arguments = self._calls[slot.id].arguments if again else slot.arguments
            steps.append(
                {"step": number[slot.id], "tool": slot.tool, "after": after, "arguments": arguments}
            )
            if OPEN not in write(arguments).decode():
                self._made[slot.id] = self._replies
        return {"steps": steps}

    def _ready(self, offered: Sequence[str]) -> list[str]:
        """The slots of the tools on offer that were not handed out and wait for nothing that was
        not before.
        """
        return [
            slot.id
            for slot in self._plan.slots
            if slot.id not in self._made
            and slot.tool in offered
            and all(self._made.get(one, self._replies) < self._replies for one in slot.after)
        ]

    def _step(self, schema: JsonObject) -> Json:
        """One step of a loop."""
        for slot in self._ready(collect_schema_tools(schema))[:1]:
            self._made[slot] = self._replies
            call = self._calls[slot]
            return {"thought": "", "action": {"tool": call.tool, "arguments": call.arguments}}
        return {"thought": "", "action": {"tool": "finish", "reason": self._why("done")}}

    def _guided(self, schema: JsonObject) -> Json:
        """All calls that can be made now of the tools on offer, behind the wishes that they serve."""
        ready = self._ready(collect_schema_tools(schema))
        self._made |= dict.fromkeys(ready, self._replies)
        calls = [self._calls[slot] for slot in ready]
        if not calls:
            return {"no_call": self._why("all is done")}
        made = [{"name": call.tool, "arguments": call.arguments} for call in calls]
        return {"wishes": [call.tool for call in calls], "calls": made}

    def _round(self, schema: JsonObject) -> Json:
        """One round of the Python-call agent: two calls at most, or the answer."""
        calls = self._next(collect_schema_tools(schema))
        if not calls:
            return {"thought": "", "final_answer": self._answer}
        return {
            "thought": "",
            "calls": [{"function": one.tool, "arguments": one.arguments} for one in calls],
        }

    def _program(self) -> str:
        """The same round in text, where no schema says which tools there are."""
        calls = self._next([slot.tool for slot in self._plan.slots])
        code = "\n".join(f"print({call})" for call in write_value(calls))
        return write_round(
            Round("I call.", code=code) if calls else Round("I answer.", answer=self._answer)
        )

    def _next(self, offered: Sequence[str]) -> list[ToolCall]:
        """Return the calls of one round: at most two of the calls that are ready."""
        ready = self._ready(offered)[:CALLS]
        self._made |= dict.fromkeys(ready, self._replies)
        return [self._calls[slot] for slot in ready]

    def _layer(self, schema: JsonObject) -> Json:
        """The calls of a layer: all that can be made now of the tools on offer, and which others
        are useful later; asked first of all, whichever are.
        """
        offered = collect_schema_tools(schema)
        is_first = "later" in write(schema).decode()
        ready = self._ready(offered)
        wanted = {
            slot.tool
            for slot in self._plan.slots
            if slot.id not in self._made and slot.tool in offered
        }
        if not wanted:
            none = {"later" if is_first else "useful": ["none"]}
            return {**none, "reason": self._why("all that it gives is there")}
        calls = [self._calls[slot] for slot in ready]
        self._made |= dict.fromkeys(ready, self._replies)
        made = [{"tool": call.tool, "arguments": call.arguments} for call in calls]
        if is_first:
            left = {slot.tool for slot in self._plan.slots if slot.id not in self._made}
            return {"calls": made, "later": sorted(left)}
        return {"useful": sorted(wanted), "calls": made}

    def _why(self, done: str) -> str:
        """The reason for no call: the question that is the answer, where it has no calls at all."""
        asks = not self._calls and has_question_mark(self._answer)
        return self._answer if asks else done

    def _repaired(self) -> Json:
        """The last calls it made, once more: it knows no better ones."""
        last = [slot for slot, at in self._made.items() if at == max(self._made.values())]
        calls = [self._calls[slot] for slot in last]
        return {
            "tool_calls": [{"name": call.tool, "arguments": call.arguments} for call in calls[:1]]
        }

    def _answered(self, schema: JsonObject) -> Json:
        """The answer in the form that is asked for: plain words where that is none."""
        if not schema:
            return self._answer
        branches = [schema, *schema.get("anyOf", ())]
        named = {key for branch in branches for key in branch.get("properties", {})}
        for key in ("final_answer", "question", "reply"):
            if key in named and (key != "question" or has_question_mark(self._answer)):
                return {key: self._answer}
        try:
            ids = schema["properties"]["statements"]["items"]["properties"]["results"]["items"][
                "enum"
            ]
        except KeyError:
            ids = []
        return {"statements": [{"text": self._answer, "results": [*ids][:6]}], "missing": []}


def collect_schema_tools(schema: Any) -> list[str]:
    """The tools that a decoding schema offers: the constants that stand under ``tool`` or
    ``function``, or under ``name`` beside arguments.
    """
    if isinstance(schema, list):
        return [name for part in schema for name in collect_schema_tools(part)]
    if not isinstance(schema, dict):
        return []
    named = schema.get("name") if "arguments" in schema else None
    own = schema.get("tool", schema.get("function", named))
    found = [str(own["const"])] if isinstance(own, dict) and "const" in own else []
    return [
        *found,
        *(
            name
            for key, part in schema.items()
            if part is not own
            for name in collect_schema_tools(part)
        ),
    ]


def _has_wishes(schema: JsonObject) -> bool:
    ways = schema.get("anyOf", [])
    return any("wishes" in way.get("properties", {}) for way in ways)


def _count_tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS)
