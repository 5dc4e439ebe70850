"""A run that has ended, as its journal tells it: for a resume that would ask other questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callwright.agent.journal.facts import load_known, result_of
from callwright.nouns.plan import Plan
from callwright.nouns.trace import Event
from callwright.nouns.types import (
    Answer,
    Citation,
    Edit,
    Skip,
    Statement,
    ToolResult,
    Usage,
)


def ended_life(events: Sequence[Event]) -> tuple[Event, ...]:
    """The events of the last process that came to the end of the run's last segment, from its start
    on; none where the run has not ended.
    """
    lives: list[list[Event]] = []
    for event in events:
        if event.kind == "run.start":
            lives.append([])
        if lives:
            lives[-1].append(event)
    last = max((life[0].data.get("segment", 1) for life in lives), default=1)
    whole = [
        life
        for life in lives
        if life[0].data.get("segment", 1) == last and any(e.kind == "run.end" for e in life)
    ]
    return tuple(whole[-1]) if whole else ()


def recorded_outcome(life: Sequence[Event]) -> dict[str, Any]:
    """Return the outcome of a run by the names of a run's fields, from the events of
    :func:`ended_life`. The cost is its stored form, with the usage as an object. The results are
    all that are recorded, those of branches that were left among them; which skips were refusals is
    not on record.
    """
    start = life[0].data
    end = next(event.data for event in reversed(life) if event.kind == "run.end")
    answer = next(event.data for event in reversed(life) if event.kind == "answer")
    plans = [event.data for event in life if event.kind == "plan"]
    results = _results(life)
    stale = {id_ for e in life if e.kind == "stale" for id_ in e.data["results"]}
    return {
        "query": start["query"],
        "strategy": start["strategy"],
        "status": end["status"],
        "answer": _answer(answer),
        "plan": Plan.from_slots(plans[-1]["slots"], plans[-1]["revision"]) if plans else Plan(),
        "results": results,
        "skips": tuple(load_known(Skip, e.data) for e in life if e.kind == "skip"),
        "events": tuple(life),
        "limit": end["limit"],
        "stale": tuple(result.id for result in results if result.id in stale),
        "in_doubt": tuple(end.get("in_doubt", ())),
        "cost": {**end["cost"], "usage": load_known(Usage, end["cost"]["usage"])},
    }


def _results(life: Sequence[Event]) -> tuple[ToolResult, ...]:
    """The last result of each call, in the order in which they came."""
    found: dict[str, ToolResult] = {}
    for event in life:
        if event.kind == "result":
            found[event.data["id"]] = result_of(event.data)
    return tuple(found.values())


def _answer(told: Mapping[str, Any]) -> Answer:
    statements = [
        Statement(
            one["text"],
            one["support"],
            tuple(load_known(Citation, citation) for citation in one["citations"]),
            tuple(one["problems"]),
        )
        for one in told["statements"]
    ]
    return Answer(
        told["text"],
        tuple(statements),
        tuple(told["missing"]),
        tuple(load_known(Edit, edit) for edit in told["edits"]),
        tuple(told.get("assumed", ())),
    )
