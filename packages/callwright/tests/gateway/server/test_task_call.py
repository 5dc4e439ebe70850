"""Tools of older servers that run as tasks: clients see calls like any other."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError

from tests.gateway.doors import HERE, build_gateway, connect


def entry(log: Path, **more: Any) -> dict[str, Any]:
    return {
        "command": sys.executable,
        "args": ["-P", str(HERE / "task_server.py"), str(log)],
        **more,
    }


def read_log(log: Path) -> list[str]:
    return log.read_text().split() if log.exists() else []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_tool_that_runs_as_a_task_is_called_and_its_result_waited_for(
    mode: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    gateway = build_gateway({"old": entry(log)}, consent="client")
    async with gateway.running(), connect(gateway, mode) as client:
        listed = (await client.list_tools()).tools
        assert {tool.name for tool in listed} >= {"old__report"}
        assert all(not (tool.model_extra or {}).get("execution") for tool in listed)
        result = await client.call_tool("old__report", {})
    assert not result.is_error
    assert [part.text for part in result.content] == ["the report"]  # type: ignore[union-attr]
    assert (result.meta or {}).get("kept") == 1
    assert "io.modelcontextprotocol/related-task" not in (result.meta or {})
    assert read_log(log) == ["tools/call", "tasks/result"]


async def test_a_server_that_answers_at_once_all_the_same_is_taken_at_its_word(
    tmp_path: Path,
) -> None:
    gateway = build_gateway({"old": entry(tmp_path / "log")}, consent="client")
    async with gateway.running(), connect(gateway) as client:
        result = await client.call_tool("old__plain", {})
    assert [part.text for part in result.content] == ["at once"]  # type: ignore[union-attr]


async def test_the_error_of_a_task_is_the_server_s_own(tmp_path: Path) -> None:
    gateway = build_gateway({"old": entry(tmp_path / "log")}, consent="client")
    async with gateway.running(), connect(gateway) as client:
        with pytest.raises(MCPError, match="no paper left"):
            await client.call_tool("old__fails", {})


async def test_a_task_that_takes_too_long_is_cancelled_and_its_outcome_unknown(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    gateway = build_gateway({"old": entry(log, seconds=2.0)}, consent="client")
    async with gateway.running(), connect(gateway) as client:
        result = await client.call_tool("old__endless", {})
        assert (result.meta or {})["callwright/gateway"] == {"outcome": "unknown"}
        async with asyncio.timeout(20):
            while "tasks/cancel" not in read_log(log):
                await client.list_tools()
    assert read_log(log) == ["tools/call", "tasks/result", "tasks/cancel"]


async def test_a_task_whose_server_dies_is_of_unknown_outcome_and_not_begun_again(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    gateway = build_gateway({"old": entry(log)}, consent="client")
    async with gateway.running(), connect(gateway) as client:
        result = await client.call_tool("old__dies", {})
    assert (result.meta or {})["callwright/gateway"] == {"outcome": "unknown"}
    assert read_log(log) == ["tools/call", "tasks/result"]
