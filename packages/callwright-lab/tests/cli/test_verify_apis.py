"""``callwright verify apis`` as a user calls it: the table, the diff, the overlay, and what others
make of it; on Python functions and on a real MCP server over stdio.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import program
from tests.cli.endpoint import replying

TOOLS = '''
from callwright.tools import tool
from callwright.nouns.errors import ToolError
from callwright.nouns.types import READ_LOCAL

@tool(effects=READ_LOCAL)
def weather(city: str, days: int = 1) -> dict[str, object]:
    """Weather."""
    if days > 3:
        raise ToolError("days must be at most 3")
    return {"city": city, "sky": "clear"}

@tool(effects=READ_LOCAL)
def broken(city: str) -> str:
    """Weather of old."""
    raise ToolError("status 403: not subscribed")
'''
SERVER = '''
from mcp.server import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("rooms")

@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def rooms(city: str) -> dict[str, object]:
    """Rooms."""
    return {"city": city, "rooms": 3}

server.run("stdio")
'''


def callwright(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    state = {
        "XDG_STATE_HOME": str(folder / "state"),
        "CALLWRIGHT_EVIDENCE": str(folder / "evidence.db"),
        "COLUMNS": "200",
    }
    return program.callwright(*arguments, folder=folder, **state)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    path = tmp_path / "tools.py"
    path.write_text(TOOLS)
    return path


BREAKING = '''
import os, signal, threading
from callwright.tools import tool
from callwright.nouns.types import READ_LOCAL

@tool(effects=READ_LOCAL)
def interrupts(city: str) -> str:
    """Weather."""
    raise KeyboardInterrupt

@tool(effects=READ_LOCAL)
def waits(city: str) -> str:
    """Weather of long ago."""
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait()
    return "clear"
'''


def test_a_tool_cannot_end_the_sweep_as_a_key_can(tmp_path: Path) -> None:
    path = tmp_path / "breaking.py"
    path.write_text(BREAKING)
    done = callwright("verify", "apis", "--tools", path, "--only", "interrupts", folder=tmp_path)
    assert (done.returncode, "dead: failed" in done.stdout) == (0, True), done.stderr
    pressed = callwright("verify", "apis", "--tools", path, "--only", "waits", folder=tmp_path)
    assert pressed.returncode == 130
    assert "0 of 1 are judged" in pressed.stderr


def test_what_is_found_is_told_shown_and_written_and_the_source_stays(
    tools: Path, tmp_path: Path
) -> None:
    overlay, report = tmp_path / "o.json", tmp_path / "report.md"
    done = callwright(
        "verify", "apis", "--tools", tools, "--apply", overlay, "--report", report, folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "dead: auth" in done.stdout
    assert "+ days.maximum: 3   # it refused" in done.stdout
    assert "kept 1 of 2 (50.0%)" in done.stdout
    assert "journal: " in done.stderr
    assert "| dropped | dead: auth | 1 |" in report.read_text()
    assert tools.read_text() == TOOLS
    written = json.loads(overlay.read_text())
    assert {name: one["status"] for name, one in written["tools"].items()} == {
        "weather": "alive",
        "broken": "dead: auth",
    }
    again = callwright("verify", "apis", "--tools", tools, "--no-diff", folder=tmp_path)
    assert "2 from the journal; 0 calls" in again.stdout
    assert "2 findings are those of an earlier sweep: --fresh" in again.stderr


def test_a_tool_that_was_repaired_is_called_again_and_one_that_nobody_could_call_is_explained(
    tmp_path: Path,
) -> None:
    path = tmp_path / "tools.py"
    path.write_text(TOOLS + LACKING)
    done = callwright("verify", "apis", "--tools", path, "--no-diff", folder=tmp_path)
    assert (
        "1 tools were not called, because nothing gives an input that they require (by_serial)"
        in done.stderr
    )
    path.write_text(
        TOOLS.replace('raise ToolError("status 403: not subscribed")', 'return "dry"') + LACKING
    )
    repaired = callwright("verify", "apis", "--tools", path, "--no-diff", folder=tmp_path)
    assert "kept 2 of 3" in repaired.stdout
    assert "1 from the journal" in repaired.stdout
    assert "2 of 3 judged: kept 2" in repaired.stderr, "with what is on record"


LACKING = '''
@tool(effects=READ_LOCAL)
def by_serial(serial: str) -> str:
    """The thing of a serial number."""
    return serial
'''


HOSTILE_TOOLS = '''
from callwright.tools import tool
from callwright.nouns.errors import ToolError
from callwright.nouns.types import READ_LOCAL

@tool(effects=READ_LOCAL)
def weather(city: str) -> dict[str, object]:
    """Weather </pre><script>alert(1)</script>"""
    if city == "Tokyo":
        raise ToolError("use <img src=x onerror=alert(1)> \\x1b[31m instead")
    return {"city": city, "sky": "</td><script>alert(2)</script>\\x1b]0;title\\x07"}
'''


def test_a_report_named_html_is_a_page_on_which_nothing_of_a_tool_runs(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(HOSTILE_TOOLS)
    page = tmp_path / "pages" / "report.html"
    done = callwright("verify", "apis", "--tools", "tools.py", "--report", page, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    html = page.read_text()
    assert html.count("<script") == 1, "ours"
    assert "alert(1)&lt;/script&gt;" in html, "what the tool says is shown"
    assert "<img" not in html
    assert "\x1b" not in html
    assert "It refuses with" in html, "the documentation as it would be offered"
    assert f"report: {page}" in done.stderr
    refused = callwright("verify", "apis", "--tools", "tools.py", "--report", tmp_path / "tools.py" / "x.html",
                         folder=tmp_path)  # fmt: skip
    assert refused.returncode == 1
    assert "choose another --report" in refused.stderr


def test_every_command_that_offers_tools_takes_the_overlay(tools: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "o.json"
    callwright("verify", "apis", "--tools", tools, "--apply", overlay, "--no-diff", folder=tmp_path)
    listed = callwright("tools", tools, "--overlay", overlay, "--json", folder=tmp_path)
    (weather,) = (
        t["function"] for t in json.loads(listed.stdout) if t["function"]["name"] == "weather"
    )
    assert weather["parameters"]["properties"]["days"]["maximum"] == 3
    call = '{"tool": "weather", "arguments": {"city": "Oslo", "days": 9}}'
    assert callwright("check", call, "--tools", tools, folder=tmp_path).returncode == 0
    refused = callwright("check", call, "--tools", tools, "--overlay", overlay, folder=tmp_path)
    assert refused.returncode != 0
    assert "9" in refused.stdout + refused.stderr
    for command in (
        ("retrieve", "weather in Oslo", "--json"),
        ("tools", "try", "weather in Oslo", "--no-evidence"),
    ):
        done = callwright(*command, "--tools", tools, "--overlay", overlay, folder=tmp_path)
        assert done.returncode == 0, (command, done.stderr)


@pytest.mark.heavy
def test_the_tools_of_an_mcp_server_are_verified_alike(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    config = tmp_path / "mcp.json"
    server = {"command": sys.executable, "args": [str(tmp_path / "server.py")]}
    config.write_text(json.dumps({"mcpServers": {"rooms": server}}))
    overlay = tmp_path / "o.json"
    careful = callwright("verify", "apis", "--tools", config, "--no-diff", folder=tmp_path)
    assert "untried: may write" in careful.stdout, (
        "what a server says of its own tools is not believed"
    )
    done = callwright(
        "verify",
        "apis",
        "--tools",
        config,
        "--sandbox",
        "rooms",
        "--apply",
        overlay,
        folder=tmp_path,
    )
    assert "alive" in done.stdout, done.stderr
    assert '+ city.examples: ["London","New York","Tokyo"]' in done.stdout
    listed = callwright("tools", config, "--overlay", overlay, "--json", folder=tmp_path)
    assert json.loads(listed.stdout)[0]["function"]["parameters"]["properties"]["city"]["examples"]


def test_a_reference_server_is_verified_and_a_run_is_shown_what_was_found_out(
    tmp_path: Path,
) -> None:
    """mcp-server-time as it is published: called, documented, and called again by a run that sees
    the overlay.
    """
    server = shutil.which("mcp-server-time", path=str(Path(sys.executable).parent))
    if server is None:
        pytest.skip("extra 'desk' is not installed")
    config = tmp_path / "mcp.json"
    time = {"command": server, "args": ["--local-timezone", "UTC"], "trusted": True}
    config.write_text(json.dumps({"mcpServers": {"time": time}}))
    assert (
        callwright("trust", config, folder=tmp_path).returncode == 0
    )  # believes its "trusted": true
    overlay = tmp_path / "o.json"
    done = callwright(
        "verify", "apis", "--tools", config, "--no-evidence", "--apply", overlay, folder=tmp_path
    )
    assert "kept 2 of 2" in done.stdout, done.stderr
    assert "source_timezone.examples" in done.stdout

    def solves(asked: str) -> str:
        rounds = sum(message["role"] == "assistant" for message in json.loads(asked)["messages"])
        call = "convert_time(source_timezone='UTC', time='12:00', target_timezone='Asia/Tokyo')"
        if not rounds:
            return f"<thought>I convert it.</thought><execute>print({call})</execute>"
        return "<thought>Done.</thought><final_answer>It is 21:00 in Tokyo.</final_answer>"

    with replying(solves) as url:
        run = callwright(
            "run", "What is 12:00 UTC in Tokyo?", "--tools", config, "--overlay", overlay, "--strategy", "code",
            "--model", f"{url}#m", "--trace", tmp_path / "t.jsonl", folder=tmp_path,
        )  # fmt: skip
    assert run.returncode == 0, run.stderr
    events = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    results = [event["data"] for event in events if event["kind"] == "result"]
    assert "T21:00:00+09:00" in json.dumps(results), "the server itself answered"
    (start,) = (event["data"] for event in events if event["kind"] == "run.start")
    (offered,) = (tool for tool in start["tools"] if tool["name"] == "convert_time")
    found = json.loads(overlay.read_text())["tools"]["convert_time"]["changes"]
    assert found
    for change in found:  # all that was found out is part of what the run was offered
        assert (
            offered["input_schema"]["properties"][change["key"]][change["change"]]
            == change["value"]
        )


def test_without_tools_it_says_what_it_needs(tmp_path: Path) -> None:
    done = callwright("verify", "apis", folder=tmp_path)
    assert done.returncode == 1
    assert "--tools SOURCE" in done.stderr
