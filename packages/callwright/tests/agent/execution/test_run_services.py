"""The budget that all calls of a run share, and what is recorded where it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callwright import Limits, Orchestrator
from callwright.agent.journal.ledger import Ledger
from callwright.agent.options import Persistence, Safety
from callwright.nouns.trace import MemorySink
from callwright.nouns.types import READ_LOCAL, Effects
from callwright.testing import FakeTool, ScriptedModel, fake_source
from tests.agent.execution.test_call_runner import TEXT, call, run


async def test_a_refused_unit_of_the_budget_is_recorded_with_whoever_asked() -> None:
    sink = MemorySink()
    tools = [FakeTool(name, {"x": TEXT}, output="ok", effects=READ_LOCAL) for name in ("a", "b")]
    done = await run(
        tools,
        [call("a", x="alpha"), call("b", x="beta")],
        limits=Limits(tool_calls=1),
        persistence=Persistence(sinks=[sink]),
    )
    assert len(done.results) == 1
    [refused] = [e.data for e in sink.events if e.kind == "limit"]
    assert (refused["limit"], refused["purpose"]) == ("tool_calls", "invoke")
    assert refused["actor"]
    assert any("limit of tool calls" in skip.reason for skip in done.skips)
    assert (done.limit, done.status) == ("tool_calls", "partial")


async def test_a_write_that_was_approved_when_the_time_was_over_does_not_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was sent, given a millisecond, and was in doubt."""
    late, clock = [0.0], Ledger.clock
    monkeypatch.setattr(Ledger, "clock", lambda ledger: clock(ledger) + late[0])
    clear = FakeTool("clear", {"x": TEXT}, effects=Effects(read_only=False, destructive=True))
    model = ScriptedModel([{"calls": [{"tool": "clear", "arguments": {"x": "milk"}}]}])

    async def approve(_: Any) -> bool:
        late[0] = 60.0
        return True

    setup = Orchestrator(
        [fake_source(clear)],
        model=model,
        limits=Limits(seconds=59),
        safety=Safety(approve),
        persistence=Persistence(journal=tmp_path),
    )
    done = await setup.run("Clear the list milk.")
    assert (clear.calls, done.in_doubt) == ([], ())
    assert [s.reason for s in done.skips] == ["the run's limit of seconds is reached"]
    assert (await setup.resume(done.id)).skips == done.skips
