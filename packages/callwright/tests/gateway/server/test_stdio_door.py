from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

BIN = Path(sys.executable).parent


def write_servers(folder: Path, servers: dict[str, Any]) -> Path:
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    return path


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_of_either_era_lists_and_calls_a_server_behind_the_gateway(
    tmp_path: Path, mode: str
) -> None:
    servers = write_servers(
        tmp_path, {"time": {"command": str(BIN / "mcp-server-time"), "trusted": True}}
    )
    started = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "callwright", "gateway", "--servers", str(servers)],
        env=dict(os.environ),
    )
    async with Client(started, mode=mode) as client:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == [
            "time__get_current_time",
            "time__convert_time",
        ]
        right = await client.call_tool("time__get_current_time", {"timezone": "Asia/Tokyo"})
        assert not right.is_error
        assert right.structured_content is not None
        assert right.structured_content["timezone"] == "Asia/Tokyo"
        assert "callwright/gateway" not in (right.meta or {})
        renamed = await client.call_tool("time__get_current_time", {"time_zone": "Asia/Tokyo"})
        assert not renamed.is_error
        assert renamed.meta is not None
        assert renamed.meta["callwright/gateway"]["edits"][0]["rule"] == "rename_key"


MODULE = '''
from callwright import READ, tool

@tool(effects=READ)
def list_names() -> dict[str, str]:
    """List the names of files."""
    return {"one": "caf\\udce9.txt"}

@tool(effects=READ)
def read_name() -> str:
    """Read the name of a file."""
    raise ValueError("caf\\udce9.txt")
'''


async def test_half_a_character_in_a_result_ends_no_connection(tmp_path: Path) -> None:
    """A file name that is no UTF-8 has one; nobody could call anything after it."""
    (tmp_path / "names.py").write_text(MODULE)
    servers = write_servers(tmp_path, {"py": {"python": "names.py"}})
    started = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "callwright", "gateway", "--servers", str(servers)],
        env=dict(os.environ),
    )
    async with Client(started) as client:
        told = await client.call_tool("py__list_names", {})
        assert told.structured_content == {"one": "caf\ufffd.txt"}
        assert (await client.call_tool("py__read_name", {})).is_error
        assert not (await client.call_tool("py__list_names", {})).is_error
