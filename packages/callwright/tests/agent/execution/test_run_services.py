"""The budget that all calls of a run share, and what is recorded where it ends."""

from __future__ import annotations

from callwright import Limits
from callwright.agent.options import Persistence
from callwright.nouns.trace import MemorySink
from callwright.nouns.types import READ_LOCAL
from callwright.testing import FakeTool
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
