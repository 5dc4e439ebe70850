"""A call that its server runs as a task (MCP 2025-11-25, "Tasks"): it is begun, and its result waited
for. Clients see a call like any other.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from callwright.gateway.server.link import Flight, Link, Progress, drop_meta
from callwright.gateway.session.commands import Failed, Returned, Told
from callwright.gateway.session.tasks import RESULT
from callwright.nouns.types import JsonObject

_RELATED = "io.modelcontextprotocol/related-task"


async def call_as_task(
    link: Link, method: str, params: JsonObject, flight: Flight, progress: Progress | None
) -> Told:
    """Begin a task and return its result. Whoever stops waiting has the task cancelled. Once a task
    has begun, a lost answer leaves its outcome unknown: the server may go on with it.
    """
    begun = await link.send(method, {**params, "task": {}}, flight, progress)
    task = _read_task(begun)
    if not task:
        return begun
    try:
        told = await link.send(RESULT, {"taskId": task}, flight, progress)
    except asyncio.CancelledError:
        link.cancel_task(task)
        raise
    match told:
        case Returned(result):
            return Returned(drop_meta(result, _RELATED))  # its client knows of no task
        case Failed(failure):
            return Failed(replace(failure, not_done=False, outcome_unknown=True))
    return told


def _read_task(told: Told) -> str:
    """The id of the task that was begun; "" where there is none."""
    task = told.result.get("task") if isinstance(told, Returned) else None
    found = task.get("taskId") if isinstance(task, dict) else None
    return found if isinstance(found, str) else ""
