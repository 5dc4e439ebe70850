"""Writes what calls show of tools to the evidence file, beside the calls: judging a reply and
writing to a disk take longer than a call may.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from callwright.agent.probing.verdict import build_observation
from callwright.gateway.session.call import CallEnd
from callwright.gateway.session.commands import Failed, Returned, Told
from callwright.gateway.session.record import CallRecord
from callwright.nouns.errors import EvidenceError
from callwright.nouns.types import Tool, ToolOutput, ToolResult
from callwright.tools.evidence import EvidenceStore, Observation
from callwright.tools.mcp.results import output_of

_SECONDS = 1.0
_MOST = 1_000  # calls that wait to be written; what is beyond them is not learned


class EvidenceWriter:
    """Writes what was observed once a second. A file that cannot be written ends nothing:
    ``failed`` is told why, once.
    """

    def __init__(self, store: EvidenceStore, failed: Callable[[str], None]) -> None:
        self._store: EvidenceStore | None = store
        self._failed = failed
        self._waiting: deque[tuple[CallRecord, Tool, Told]] = deque(maxlen=_MOST)

    def note(self, record: CallRecord, end: CallEnd | None) -> None:
        """Keep what a call has shown, until it is written."""
        if self._store is None or end is None or end.offer is None or end.told is None:
            return
        if isinstance(end.told, Returned | Failed):
            self._waiting.append((record, end.offer.tool, end.told))

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await asyncio.sleep(_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        """Write what waits."""
        waiting = list(self._waiting)
        self._waiting.clear()
        if waiting and self._store is not None:
            await asyncio.to_thread(self._write, self._store, waiting)

    def _write(self, store: EvidenceStore, waiting: list[tuple[CallRecord, Tool, Told]]) -> None:
        seen = [made for one in waiting if (made := _build_observation(*one)) is not None]
        try:
            store.record(seen)
        except EvidenceError as error:
            self._store = None
            self._failed(f"nothing is learned of tools: {error.message}")


def _build_observation(record: CallRecord, tool: Tool, told: Told) -> Observation | None:
    output = _read_output(told)
    if output is None:
        return None
    result = ToolResult(
        id=record.id,
        tool=tool.name,
        arguments=record.sent or {},
        content=output.content,
        failure=output.failure,
        seconds=record.seconds,
    )
    return build_observation(result, tool, "")


def _read_output(told: Told) -> ToolOutput | None:
    from mcp_types import CallToolResult
    from pydantic import ValidationError

    if isinstance(told, Failed):
        return ToolOutput(failure=told.failure)
    if not isinstance(told, Returned):
        return None
    try:
        return output_of(CallToolResult.model_validate(told.result, by_name=False))
    except ValidationError:
        return None
