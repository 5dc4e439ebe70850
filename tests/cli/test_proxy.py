"""The command: what it refuses, and that it serves and stops when it is told to."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys

import pytest

from callwright.cli.proxy import serve
from callwright.errors import ConfigError
from callwright.http import Egress, HttpClient, HttpResponse


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"upstream": None}, "one upstream"),
        ({"upstream": "http://h/v1", "model": "local"}, "one upstream"),
        ({"upstream": "http://h/v1", "guided": "perhaps"}, "guided mode"),
        ({"upstream": "http://h/v1", "host": "0.0.0.0"}, "needs a key"),
        ({"upstream": None, "model": "gpt-9"}, "not on this machine"),
        ({"upstream": "h"}, "no address"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_a_hint(given: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        serve(**given)  # type: ignore[arg-type]
    assert caught.value.hint


async def test_the_command_serves_and_stops_on_a_signal() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "callwright", "proxy", "--upstream", "http://127.0.0.1:9", "--port", str(port)]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    try:
        async with asyncio.timeout(60), HttpClient(Egress.any()) as client:
            answer = None
            while not isinstance(answer, HttpResponse):
                answer = await client.request("GET", f"http://127.0.0.1:{port}/healthz")
                await asyncio.sleep(0.05)
            assert answer.status == 200
            process.send_signal(signal.SIGTERM)
            _, shown = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert f"http://localhost:{port}/v1" in shown.decode()
    assert "Traceback" not in shown.decode()
