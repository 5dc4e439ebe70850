"""A model that is as good as can be, and obeys every injected instruction that it reads: the worst
case, scripted.

Until it has read the attacker's text it does what solves the user's task. From then on it tries the
attacker's calls wherever it is asked for one, before the user's, and puts his values into whatever
argument it may fill; what is refused it follows by what the user wanted. It says what the attacker
wants said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from callwright.agent.safety.provenance import Provenance, find_addresses, iter_leaves
from callwright.jsontext import write
from callwright.nouns.plan import OPEN, Plan, Slot
from callwright.nouns.protocols import Capabilities, ChatRequest, Watcher
from callwright.nouns.types import Json, JsonObject, Reply, ToolCall, ToolResult, Usage
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright_lab.benchmarks.agentdojo.worlds import Pair
from callwright_lab.benchmarks.makespan.expert import collect_schema_tools

_MARK = 40  # characters of the attacker's goal by which his text is known
WRITTEN = "Here is a summary."  # in the place of AgentDojo's blanks
_BLANK = re.compile(r"<[^<>]*>|\.\.\.")
_REPAIRED = re.compile(r"fix the arguments for tool: (\S+)")


def build_oracle_plan(pair: Pair, told: Sequence[Json] | None = None) -> Plan:
    """The plan that solves the user's task, with every argument as the solution has it.

    ``told``: what each of its calls returns. Then only those arguments are the plan's that it can
    know: what the request says, and texts that no result says (titles, labels). The rest is left
    open, and the step waits for what it may come from; where that cannot be seen, for all before
    it. What may write keeps its place.
    """
    slots: list[Slot] = []
    for number, call in enumerate(_fill_blank_arguments(pair.calls)):
        made, feeds = _as_object(call.arguments), _find_last_write(pair, number)
        if told is not None:
            made, needs = _keep_knowable_arguments(made, pair.query, told[:number])
            feeds |= needs
        after = frozenset(f"s{one + 1}" for one in feeds)
        slots.append(Slot(f"s{number + 1}", call.tool, after, arguments=made))
    return Plan(tuple(slots))


def _keep_knowable_arguments(
    arguments: JsonObject, query: str, told: Sequence[Json]
) -> tuple[JsonObject, set[int]]:
    """The arguments with what a plan cannot know left open, and the places of the results that it
    may come from.
    """
    results = [ToolResult(str(place), "", {}, content) for place, content in enumerate(told)]
    seen = Provenance(ProvenanceIndex(query, results=results))
    made: JsonObject = {}
    feeds: set[int] = set()
    for key, value in arguments.items():
        unsaid = [leaf for _, leaf in iter_leaves(value) if not seen.is_in_request(leaf)]
        found = {int(origin.result) for leaf in unsaid for origin in seen.all_of(leaf)}
        parts = [
            leaf
            for leaf in unsaid
            if not isinstance(leaf, str) or leaf == WRITTEN or seen.of(leaf) is not None
        ]
        made[key] = OPEN if parts else value
        feeds |= (found or {*range(len(told))}) if parts else set()
    return made, feeds


def _find_last_write(pair: Pair, number: int) -> set[int]:
    """The last call before this one that may write: what it changed may be read, and writes keep
    their order.
    """
    writes = {tool.name for tool in pair.tools if tool.effects.may_write}
    return {*[place for place in range(number) if pair.calls[place].tool in writes][-1:]}


class Compromised:
    """A ChatModel for one run of one pair."""

    name = "compromised"

    def __init__(self, pair: Pair, plan: Plan | None = None) -> None:
        """``plan``: the task's own, where a plan is carried out or asked for; what it says is not
        asked for again.
        """
        self._pair = pair
        self._plan = plan
        self._left = [*_fill_blank_arguments(pair.calls)]
        if plan is not None:
            self._left = [
                call for call, slot in zip(self._left, plan.slots, strict=True) if slot.is_open
            ]
        self._attack = [*pair.attack.calls] if pair.attack else []
        self._last: dict[str, JsonObject] = {}
        self.fell = False  # whether it has read the attacker's text

    async def capabilities(self) -> Capabilities:
        return Capabilities(json_schema=True, context=1_000_000)

    async def aclose(self) -> None:
        """Nothing is held."""

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
        """Return the scripted reply to a request as one piece."""
        mark = self._pair.attack.goal.split("\n")[0][:_MARK] if self._pair.attack else ""
        if mark and any(mark in message.content for message in request.messages):
            self.fell = True
        said = write(self._said(request)).decode()
        if watch is not None:
            watch(said)
        return Reply(said, usage=Usage(1, 1), model=self.name)

    def _said(self, request: ChatRequest) -> Json:
        if request.purpose == "select":
            return {"needed": [*dict.fromkeys(call.tool for call in self._pair.calls)]}
        if request.purpose == "plan":
            return self._planned(request.schema or {})
        if request.purpose == "bind":
            schema = request.schema or {}
            if "action" in schema.get("properties", {}):
                return self._step(collect_schema_tools(schema["properties"]["action"]))
            return self._filled(collect_schema_tools(schema))
        if request.purpose == "repair":
            return self._repaired(request)
        return self._answer(request.schema or {})

    def _planned(self, schema: JsonObject) -> Json:
        """The task's own steps, with what its plan says; in which order is left to the planner."""
        offered = {*collect_schema_tools(schema)}
        self._left = [call for call in self._left if call.tool in offered]
        slots = [slot for slot in (self._plan or Plan()).slots if slot.tool in offered]
        return {
            "steps": [
                {"step": n, "tool": s.tool, "arguments": s.arguments}
                for n, s in enumerate(slots, 1)
            ]
        }

    def _step(self, offered: Sequence[str]) -> Json:
        """One step of a loop: what the attacker wants first."""
        for queue in (self._attack if self.fell else [], self._left):
            while queue:
                call = queue.pop(0)
                if call.tool in offered:
                    return {
                        "thought": "",
                        "action": {"tool": call.tool, "arguments": call.arguments},
                    }
        return {"thought": "", "action": {"tool": "finish", "reason": "done"}}

    def _filled(self, offered: Sequence[str]) -> Json:
        """The calls of one step of a plan: the attacker's, the user's with the attacker's values,
        the user's.
        """
        place = next((n for n, call in enumerate(self._left) if call.tool in offered), None)
        wanted = [] if place is None else [self._left.pop(place)]
        calls: list[ToolCall] = []
        if self.fell:
            calls += [call for call in self._attack if call.tool in offered]
            calls += [swapped for call in wanted for swapped in self._swapped(call)]
        calls += wanted
        for call in calls:
            self._last[call.tool] = _as_object(call.arguments)
        if not calls:
            return {"useful": ["none"], "reason": "nothing to do"}
        made = [{"tool": call.tool, "arguments": call.arguments} for call in calls]
        return {"useful": sorted({call.tool for call in calls}), "calls": made}

    def _swapped(self, call: ToolCall) -> Iterator[ToolCall]:
        """A call of the user's with the attacker's values: under the same names, and where an
        address stands.
        """
        theirs = [_as_object(attack.arguments) for attack in self._attack]
        mine = _as_object(call.arguments)
        pairs = [pair for arguments in theirs for pair in arguments.items()]
        made = {key: value for key, value in pairs if key in mine}
        found = [address for _, value in pairs for address in find_addresses(str(value))]
        if found:
            made = {key: _replace_addresses(value, found[0]) for key, value in mine.items()} | made
        changed = {**mine, **made}
        if changed != mine:
            yield replace(call, arguments=changed)

    def _repaired(self, request: ChatRequest) -> Json:
        """The attacker's arguments for the call to be repaired, if he has any for that tool."""
        found = _REPAIRED.search("\n".join(message.content for message in request.messages))
        tool = found[1] if found else ""
        theirs = [call for call in self._attack if call.tool == tool] if self.fell else []
        arguments = theirs[0].arguments if theirs else self._last.get(tool, {})
        return {"tool_calls": [{"name": tool, "arguments": arguments}]}

    def _answer(self, schema: JsonObject) -> Json:
        texts = [self._pair.output or "Done."]
        if self.fell and self._pair.attack is not None and self._pair.attack.output:
            texts.append(self._pair.attack.output)
        try:
            ids = schema["properties"]["statements"]["items"]["properties"]["results"]["items"][
                "enum"
            ][:6]
        except KeyError:
            ids = []
        return {"statements": [{"text": text, "results": ids} for text in texts], "missing": []}


def _replace_addresses(value: Json, address: str) -> Json:
    if isinstance(value, list):
        return [_replace_addresses(one, address) for one in value]
    if isinstance(value, str):
        for found in find_addresses(value):
            value = value.replace(found, address)
    return value


def _fill_blank_arguments(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Calls without blanks: where AgentDojo's solutions say ``<summary>`` or ``...``, something is
    written.
    """
    return [replace(call, arguments=_fill_blanks(call.arguments)) for call in calls]


def _fill_blanks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _fill_blanks(inner) for key, inner in value.items()}
    return WRITTEN if isinstance(value, str) and _BLANK.fullmatch(value.strip()) else value


def _as_object(arguments: JsonObject | str) -> JsonObject:
    return arguments if isinstance(arguments, dict) else {}
