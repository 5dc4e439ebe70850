"""The gateway between parts that others wrote: the reference servers of npm and PyPI, FastMCP as a
server and as a client, the TypeScript SDK, and Claude Code.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.gateway.files import write_servers
from tests.peers import installed, node, run

NPM = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
    "@modelcontextprotocol/sdk@1.32.2",
)
CLAUDE_CODE = "@anthropic-ai/claude-code@2.1.197"
FASTMCP = "fastmcp==4.2.3"
BIN = Path(sys.executable).parent
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def packages() -> Path:
    _, npm = node()
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    pin = " ".join(NPM)
    return installed(
        "gateway-npm",
        pin,
        lambda folder: run(*npm, "install", "--prefix", str(folder), *options, *NPM),
    )


@pytest.fixture(scope="module")
def fastmcp() -> Path:
    pip = (sys.executable, "-P", "-m", "pip", "install", "--quiet", "--target")
    return installed("fastmcp", FASTMCP, lambda folder: run(*pip, str(folder), FASTMCP))


def script(packages: Path, name: str) -> str:
    return str(packages / "node_modules" / "@modelcontextprotocol" / name / "dist" / "index.js")


def reference_servers(packages: Path, folder: Path) -> dict[str, Any]:
    """Five reference servers, by other names than they give themselves."""
    files, repository = folder / "files", folder / "repository"
    for made in (files, repository):
        made.mkdir()
    (files / "a.txt").write_text("one")
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    own = node()[0]
    memory = {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    return {
        "all": {"command": own, "args": [script(packages, "server-everything")]},
        "disk": {"command": own, "args": [script(packages, "server-filesystem"), str(files)]},
        "notes": {"command": own, "args": [script(packages, "server-memory")], "env": memory},
        "clock": {"command": str(BIN / "mcp-server-time")},
        "git": {"command": str(BIN / "mcp-server-git"), "args": ["-r", str(repository)]},
    }


def environment(folder: Path, *more: Path) -> dict[str, str]:
    path = os.pathsep.join([*map(str, more), str(ROOT), *filter(None, sys.path)])
    state = str(folder / "state")
    own = {"CALLWRIGHT_TRUST": f"{state}/trust", "XDG_STATE_HOME": state, "PYTHONPATH": path}
    return {**os.environ, **own}


def gateway_command(servers: Path, *options: str) -> list[str]:
    command = ["-P", "-m", "callwright", "gateway", "--servers", str(servers), "--no-evidence"]
    return [*command, "--consent", "client", *options]


def start(servers: Path, folder: Path, *options: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=gateway_command(servers, *options),
        env=environment(folder),
    )


async def test_five_reference_servers_are_listed_searched_and_called(
    packages: Path, tmp_path: Path
) -> None:
    servers = write_servers(tmp_path, reference_servers(packages, tmp_path))
    async with Client(start(servers, tmp_path, "--expose", "all")) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert {name.split("__")[0] for name in listed} == {"all", "disk", "notes", "clock", "git"}
        read: Any = await client.call_tool(
            "disk__read_text_file", {"path": str(tmp_path / "files" / "a.txt")}
        )
        assert read.content[0].text == "one"
        echoed: Any = await client.call_tool("all__echo", {"message": "hello"})
        assert "hello" in echoed.content[0].text
        task: Any = await client.call_tool("all__simulate-research-query", {"topic": "ducks"})
        assert "ducks" in task.content[0].text  # a tool that runs as a task alone
        entity = {"name": "Ann", "entityType": "person", "observations": ["sings"]}
        await client.call_tool("notes__create_entities", {"entities": json.dumps([entity])})
        known: Any = await client.call_tool("notes__search_nodes", {"query": "Ann"})
        assert "sings" in str(known.content)
        repository = str(tmp_path / "repository")
        status: Any = await client.call_tool("git__git_status", {"repo_path": repository})
        assert not status.is_error
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        assert any(name.startswith("all__") for name in prompts)
        assert (await client.list_resources()).resources
    async with Client(start(servers, tmp_path, "--expose-limit", "10")) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["search_tools", "call_tool"]
        found: Any = await client.call_tool("search_tools", {"query": "what time is it in Tokyo"})
        best = json.loads(found.content[0].text)["tools"][0]["name"]
        assert best.startswith("clock__")
        through = {"name": "clock__get_current_time", "arguments": {"timezone": "Asia/Tokyo"}}
        answer: Any = await client.call_tool("call_tool", through)
        assert "Asia/Tokyo" in answer.content[0].text


async def test_300_tools_are_two_for_the_client_and_each_is_found(tmp_path: Path) -> None:
    program = tmp_path / "many.py"
    program.write_text(
        "from mcp.server.mcpserver import MCPServer\n"
        "server = MCPServer('many')\n"
        "def add(number):\n"
        "    def tool(count: int) -> str:\n"
        "        return f'{number} x {count}'\n"
        "    server.add_tool(tool, name=f'order_item_{number}', description=f'Order item {number}')\n"
        "for number in range(300):\n"
        "    add(number)\n"
        "server.run('stdio')\n"
    )
    entry = {"command": sys.executable, "args": ["-P", str(program)]}
    servers = write_servers(tmp_path, {"shop": entry})
    async with Client(start(servers, tmp_path)) as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == ["search_tools", "call_tool"]
        assert "300 tools" in str(listed[0].description)
        for number in (7, 123, 299):
            found: Any = await client.call_tool("search_tools", {"query": f"order item {number}"})
            rows = json.loads(found.content[0].text)["tools"]
            assert f"shop__order_item_{number}" in [row["name"] for row in rows]
        call = {"name": "shop__order_item_123", "arguments": {"count": "4"}}
        answer: Any = await client.call_tool("call_tool", call)
        assert answer.content[0].text == "123 x 4"
        assert answer.meta["callwright/gateway"]["edits"]


async def test_fastmcp_is_behind_the_gateway_and_in_front_of_it(
    fastmcp: Path, tmp_path: Path
) -> None:
    server = tmp_path / "server.py"
    server.write_text(
        "from fastmcp import FastMCP\n"
        "server = FastMCP('sums')\n"
        "@server.tool\n"
        "def add(a: int, b: int) -> int:\n"
        "    '''Add two numbers.'''\n"
        "    return a + b\n"
        "server.run(show_banner=False)\n"
    )
    theirs = {"PYTHONPATH": str(fastmcp)}
    entry = {"command": sys.executable, "args": ["-P", str(server)], "env": theirs}
    servers = write_servers(tmp_path, {"math": entry})
    client = tmp_path / "client.py"
    client.write_text(
        "import asyncio, json, sys\n"
        "from fastmcp import Client\n"
        "from fastmcp.client.transports import StdioTransport\n"
        "command, args, env = json.loads(sys.argv[1])\n"
        "async def main():\n"
        "    async with Client(StdioTransport(command, args, env=env)) as client:\n"
        "        print([tool.name for tool in await client.list_tools()])\n"
        "        print((await client.call_tool('math__add', {'a': '2', 'b': 3})).data)\n"
        "asyncio.run(main())\n"
    )
    started = json.dumps([sys.executable, gateway_command(servers), environment(tmp_path)])
    done = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", str(client), started),
        env={**os.environ, **theirs},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(120):
        out, err = await done.communicate()
    assert out.decode().split("\n")[:2] == ["['math__add']", "5"], err.decode()[-2_000:]


async def test_the_typescript_sdk_lists_and_calls(packages: Path, tmp_path: Path) -> None:
    servers = write_servers(tmp_path, {"clock": {"command": str(BIN / "mcp-server-time")}})
    (tmp_path / "node_modules").symlink_to(packages / "node_modules")
    program = tmp_path / "client.mjs"
    program.write_text(
        'import { Client } from "@modelcontextprotocol/sdk/client/index.js";\n'
        'import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";\n'
        "const [command, args, env] = JSON.parse(process.argv[2]);\n"
        'const client = new Client({ name: "typescript", version: "1.0.0" });\n'
        "await client.connect(new StdioClientTransport({ command, args, env }));\n"
        "const { tools } = await client.listTools();\n"
        "console.log(tools.map((tool) => tool.name).join(' '));\n"
        'const call = { name: "clock__get_current_time", arguments: { time_zone: "Asia/Tokyo" } };\n'
        "const result = await client.callTool(call);\n"
        "console.log(result.isError ?? false, result.structuredContent.timezone);\n"
        "console.log(result._meta['callwright/gateway'].edits[0].rule);\n"
        "await client.close();\n"
    )
    started = json.dumps([sys.executable, gateway_command(servers), environment(tmp_path)])
    done = await asyncio.create_subprocess_exec(
        *(node()[0], str(program), started),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(120):
        out, err = await done.communicate()
    assert out.decode().splitlines() == [
        "clock__get_current_time clock__convert_time",
        "false Asia/Tokyo",
        "rename_key",
    ], err.decode()[-2_000:]


async def test_claude_code_connects_and_its_own_file_is_imported(tmp_path: Path) -> None:
    """``claude mcp`` needs no account; a conversation would."""
    _, npm = node()
    folder = installed(
        "claude-code",
        CLAUDE_CODE,
        lambda made: run(
            *npm, "install", "--prefix", str(made), "--no-audit", "--no-fund", CLAUDE_CODE
        ),
    )
    home = tmp_path / "home"
    home.mkdir()
    quiet = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    alone = {**environment(tmp_path), **quiet, "HOME": str(home)}

    async def claude(*arguments: str) -> str:
        done = await asyncio.create_subprocess_exec(
            *(str(folder / "node_modules" / ".bin" / "claude"), *arguments),
            cwd=tmp_path,
            env=alone,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        async with asyncio.timeout(180):
            said, _ = await done.communicate()
        return said.decode()

    if "Claude Code" not in await claude("--version"):
        pytest.skip("could not be fetched here: Claude Code's program for this machine")
    servers = write_servers(tmp_path, {"clock": {"command": str(BIN / "mcp-server-time")}})
    command = [sys.executable, *gateway_command(servers)]
    passed = ("-e", f"PYTHONPATH={alone['PYTHONPATH']}")
    added = await claude("mcp", "add", "--scope", "user", "gate", *passed, "--", *command)
    assert "Added" in added
    assert "Connected" in await claude("mcp", "list")
    await claude("mcp", "add", "--scope", "user", "clock", "--", str(BIN / "mcp-server-time"))

    from callwright.gateway.clients import read_server_list

    document = json.loads((home / ".claude.json").read_text())
    found = read_server_list(document, "claude-code", home=home)
    assert found.servers == {"clock": {"command": str(BIN / "mcp-server-time")}}
    assert any("it is this gateway" in note for note in found.notes)
