"""A trajectory from the trace of a run of the Python-call agent: what it wrote, called and saw,
round by round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from callwright.agent.strategies.code import build_functions
from callwright.nouns.errors import Failure
from callwright.nouns.trace import Event
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import JsonObject, Tool, ToolCall, ToolResult


def build_trajectory(events: Iterable[Event], tools: Sequence[Tool], id: str = "") -> Trajectory:
    """The trajectory of a run (``Run.events``, or a journal's); ``tools`` are those of its
    catalogue.

    Tools and arguments have the names that programs know them by. A call that did not leave has the
    reason as its failure; one that had been made before has its result again. Without rounds there
    are no steps.
    """
    trace = _Trace(events)
    offered = build_functions([tool for tool in tools if tool.name in trace.names])
    known = {function.tool.name: (shown, function) for shown, function in offered.items()}
    made: list[Step] = []
    answer: str | None = None
    given_up = False
    for told in trace.rounds:
        if told["answer"] is not None or told["given_up"] is not None:
            given_up = told["given_up"] is not None
            answer = told["given_up"] if given_up else told["answer"]
            if told["thought"]:
                made.append(Step(told["thought"]))
            continue
        pairs = [_pair_call_with_result(call, trace, known) for call in told["calls"]]
        calls, results = tuple(c for c, _ in pairs), tuple(r for _, r in pairs)
        made.append(Step(told["thought"], calls, results, told["code"] or "", told["shown"]))
    shown = tuple(function.shown for function in offered.values())
    return Trajectory(id, trace.query, shown, tuple(made), answer, given_up)


class _Trace:
    """The events of a run that a trajectory is made of."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.query = ""
        self.names: frozenset[str] = frozenset()  # of the tools that the run was shown
        self.rounds: list[Mapping[str, Any]] = []
        self.by_slot: dict[str, Mapping[str, Any]] = {}  # the last result of each
        self.by_id: dict[str, Mapping[str, Any]] = {}
        self.reasons: dict[str, str] = {}
        for event in events:
            data = event.data
            if event.kind == "run.start":
                self.query, self.names = str(data["query"]), frozenset(data["digests"])
            elif event.kind == "round":
                self.rounds.append(data)
            elif event.kind == "result":
                self.by_slot[data["slot"]] = self.by_id[data["id"]] = data
            elif event.kind == "skip":
                self.reasons[data["slot"]] = data["reason"]


def _pair_call_with_result(
    call: JsonObject, trace: _Trace, known: Mapping[str, Any]
) -> tuple[ToolCall, ToolResult]:
    slot = call["slot"]
    name, arguments = call["tool"], call["arguments"]
    if name in known:
        name, function = known[name]
        shown = {key: written for written, key in function.keys.items()}
        arguments = {shown.get(key, key): value for key, value in arguments.items()}
    made = ToolCall(slot, name, arguments)
    told = trace.by_slot.get(slot)
    reason = trace.reasons.get(slot, "it was not called")
    if told is None:
        told = trace.by_id.get(reason.rpartition(" ")[2])
    if told is None:
        return made, ToolResult(slot, name, arguments, None, Failure("not_executable", reason))
    failure = told["failure"]
    if isinstance(failure, Mapping):
        failure = Failure(**failure)
    simulated = told.get("simulated", "")  # journals of earlier versions do not say
    return made, ToolResult(
        slot, name, arguments, told["content"], failure, told["seconds"], simulated=simulated
    )
