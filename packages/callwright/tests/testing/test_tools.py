from __future__ import annotations

import asyncio

from callwright.nouns.errors import Failure, ToolError
from callwright.nouns.protocols import ToolSource
from callwright.nouns.types import ToolOutput
from callwright.testing import FakeTool, fake_source, in_order


async def test_a_fake_tool_answers_and_records_its_arguments() -> None:
    tool = FakeTool("weather", {"city": {"type": "string"}}, output={"celsius": 21})
    source: ToolSource = fake_source(tool)
    (listed,) = await source.open()
    assert await source.call(listed, {"city": "Oslo"}) == ToolOutput({"celsius": 21})
    assert tool.calls == [{"city": "Oslo"}]
    assert listed.required == ("city",)


async def test_outputs_in_order_hold_values_failures_and_exceptions() -> None:
    failure = Failure("rate_limit", "slow down", retryable=True)
    tool = FakeTool("t", output=in_order(1, failure, ToolError("no such city")))
    results = [await tool({}) for _ in range(4)]
    assert results[0] == ToolOutput(1)
    assert results[1].failure == failure
    assert [r.failure and r.failure.message for r in results[2:]] == [
        "no such city",
        "the scripted outputs are used up",
    ]


async def test_a_function_becomes_a_tool_and_its_exception_a_failure() -> None:
    def divide(a: int, b: int = 0) -> float:
        """Divides."""
        return a / b

    source = fake_source(divide)
    (tool,) = await source.open()
    assert (tool.name, tool.required, tool.description) == ("divide", ("a",), "Divides.")
    assert (await source.call(tool, {"a": 6, "b": 3})).content == 2.0
    failed = (await source.call(tool, {"a": 1})).failure
    assert failed is not None
    assert failed.kind == "tool_error"
    assert "ZeroDivisionError" in failed.message


async def test_held_calls_run_side_by_side_until_let_go() -> None:
    hold = asyncio.Event()
    tool = FakeTool("slow", output="done", hold=hold)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        tasks = [group.create_task(tool({})) for _ in range(3)]
        await tool.begun(3)
        assert tool.running == 3
        hold.set()
    assert tool.most_running == 3
    assert [t.result().content for t in tasks] == ["done"] * 3


async def test_an_unknown_tool_is_a_failure_not_an_exception() -> None:
    source = fake_source(FakeTool("known"))
    output = await source.call(FakeTool("other").tool, {})
    assert output.failure is not None
    assert output.failure.kind == "not_executable"
