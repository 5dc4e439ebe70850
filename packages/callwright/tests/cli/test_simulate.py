"""The command: what it refuses, and that another agent's catalogue is answered by it, live,
recorded and again.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from callwright.cli.proxy import ProxySetup
from callwright.cli.simulate import Served, serve_simulator
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import ToolOutput
from callwright.serving.sockets import open_socket
from callwright.tools.catalog import open_catalog

TOOLS = '''
from callwright import READ, WRITE, tool

@tool(effects=READ)
def weather(city: str) -> dict:
    """Weather of a city."""
    return {"city": city, "celsius": 7}

@tool(effects=WRITE)
def report(city: str) -> str:
    """Report the weather of a city."""
    return "reported"

TOOLS = [weather, report]
'''


def _hears_interrupts() -> None:
    """As in a terminal: whatever a shell runs in the background ignores them, and so would what we
    start there.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@asynccontextmanager
async def serving(*options: str) -> AsyncIterator[str]:
    """The command in a process of its own; the address of what it serves."""
    command = (sys.executable, "-P", "-m", "callwright", "simulate", "--port", "0", *options)
    process = await asyncio.create_subprocess_exec(
        *command, stderr=asyncio.subprocess.PIPE, preexec_fn=_hears_interrupts
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(60):
            while "serving:" not in (line := (await process.stderr.readline()).decode()):
                assert line, "the command ended"
        yield line.split()[1]
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        said = await process.stderr.read()
        assert (await process.wait(), said) == (130, b"")


def test_what_makes_no_sense_is_refused_with_a_hint() -> None:
    for given, said in (
        ({}, "nothing to serve"),
        ({"tools": ["x"], "live": True, "model": "local"}, "--live"),
    ):
        with pytest.raises(ConfigError, match=said) as caught:
            Served(**given)  # type: ignore[arg-type]
        assert caught.value.hint


def test_tools_are_not_served_to_others_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALLWRIGHT_SIMULATE_KEY", raising=False)
    with pytest.raises(ConfigError, match="needs a key of 16"):
        serve_simulator(Served(tools=["x"]), host="0.0.0.0")


def test_a_port_that_is_taken_is_said_with_another() -> None:
    """The default is not the proxy's, so that both run side by side."""
    with open_socket("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port} of 127.0.0.1 is taken") as caught:
            serve_simulator(Served(tools=["x"]), port=port)
    assert "is a simulator running already?" in str(caught.value.hint)
    default = inspect.signature(serve_simulator).parameters["port"].default
    assert default != ProxySetup().port


async def test_live_tools_are_served_and_recorded_and_the_recording_is_served_without_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    calls = tmp_path / "calls.jsonl"
    async with (
        serving("--tools", str(tmp_path / "tools.py"), "--live", "--record", str(calls)) as url,
        open_catalog([url]) as catalog,
    ):
        assert await catalog.call("weather", {"city": "Oslo"}) == ToolOutput(
            {"city": "Oslo", "celsius": 7}
        )
        refused = await catalog.call("report", {"city": "Oslo"})
        assert refused.failure is not None
        assert (refused.failure.kind, "--allow report" in refused.failure.message) == ("auth", True)
    os.remove(tmp_path / "tools.py")
    async with serving("--recorded", str(calls)) as url, open_catalog([url]) as catalog:
        assert {tool.name for tool in catalog.tools} == {"weather", "report"}
        again = await catalog.call("weather", {"city": "Oslo"})
        assert again == ToolOutput({"city": "Oslo", "celsius": 7}, simulated="recorded")
        unknown = await catalog.call("weather", {"city": "Rome"})
        assert unknown.failure is not None
        assert (unknown.failure.status, bool(unknown.simulated)) == (501, True)
