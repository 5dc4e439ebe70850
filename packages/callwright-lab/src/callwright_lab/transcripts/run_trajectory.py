"""A run's trace as a trajectory: what judges and exploration read of our own runs, every attempt
and dead branch included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.errors import Failure
from callwright.nouns.trace import Event, collect_blobs
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import ToolCall, ToolResult
from callwright.parsing.formats.program import read_round
from callwright.simulation.recording import Recording


def build_trajectory(events: Sequence[Event], id: str = "") -> Trajectory:
    """Return the trajectory that the events of a run describe. Each execution is a round of its
    own, a repaired one under the id ``r1.2``. A finally refused call is a round without a result,
    and its ``shown`` holds the reason.

    A run that has not ended has no answer. A run that found nothing at all gave up, and so did one
    whose Python-call agent says so.
    """
    start = next((event.data for event in events if event.kind == "run.start"), {})
    answer = next((event.data for event in reversed(events) if event.kind == "answer"), None)
    ended = next((event.data for event in reversed(events) if event.kind == "run.end"), {})
    return Trajectory(
        id=id or str(start.get("run", "")),
        query=str(start.get("query", "")),
        tools=tuple(Recording.of_events(events).tools.values()),
        steps=tuple(_build_steps(events)),
        answer=None if answer is None else str(answer["text"]),
        given_up=ended.get("status") == "abstained" or any(map(_gave_up, events)),
    )


def _gave_up(event: Event) -> bool:
    return event.kind == "round" and event.data.get("given_up") is not None


def _build_steps(events: Sequence[Event]) -> list[Step]:
    texts = collect_blobs(events)
    carried_out = {event.data["id"] for event in events if event.kind == "result"}
    refused = {
        event.data["id"]: _explain_refusal(event.data)
        for event in events
        if event.kind == "call.refused"
    }
    steps: list[Step] = []
    thought = ""
    for event in events:
        data = event.data
        if event.kind == "model" and data.get("purpose") in ("bind", "code"):
            thought = _extract_thought(texts.get(str(data.get("reply", "")), ""))
        elif event.kind == "reflection":
            thought = f"{data['analysis']} {data['strategy']}".strip()
        elif event.kind == "result":
            steps.append(_build_executed_step(data, thought))
            thought = ""
        elif event.kind == "call.raw" and data["id"] not in carried_out:
            call = ToolCall(data["id"], data["tool"], data["arguments"])
            steps.append(
                Step(thought, (call,), shown=refused.get(data["id"], "it was not carried out"))
            )
            thought = ""
    return steps


def _build_executed_step(data: Mapping[str, Any], thought: str) -> Step:
    attempt = data.get("attempt", 1)
    name = data["id"] if attempt == 1 else f"{data['id']}.{attempt}"
    failure = None if data["failure"] is None else Failure(**data["failure"])
    result = ToolResult(
        id=name,
        tool=data["tool"],
        arguments=data["arguments"],
        content=data["content"],
        failure=failure,
        attempt=attempt,
        simulated=data.get("simulated", ""),
    )
    return Step(thought, (ToolCall(name, data["tool"], data["arguments"]),), (result,))


def _explain_refusal(data: Mapping[str, Any]) -> str:
    said = [str(violation.get("message", "")) for violation in data.get("violations") or ()]
    return f"refused before it left: {said[0]}" if said else "refused before it left"


def _extract_thought(reply: str) -> str:
    """Return the thought in a model's reply that decides on calls; "" if there is none."""
    if "<thought>" in reply:
        return read_round(reply).thought
    try:
        value = parse_lenient(reply).value
    except JsonError:
        return ""
    said = value.get("thought") if isinstance(value, dict) else None
    return said if isinstance(said, str) else ""
