"""The command: what it refuses, and that it serves and stops when it is told to."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from callwright.cli.proxy import ProxySetup, serve
from callwright.http import Egress, HttpClient, HttpResponse
from callwright.nouns.errors import ConfigError, MissingExtra
from callwright.serving.sockets import open_socket
from tests.chat_server import ChatServer
from tests.cli.endpoint import keyed


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"upstream": []}, "needs an upstream"),
        ({"upstream": ["http://h/v1"], "model": "local"}, "needs an upstream"),
        ({"upstream": ["http://h/v1"], "guided": "perhaps"}, "guided mode"),
        ({"upstream": ["http://h/v1"], "model_profile": "huge"}, "no model profile"),
        ({"upstream": ["http://h/v1"], "host": "0.0.0.0"}, "needs a key"),
        ({"upstream": [], "model": "gpt-9"}, "not on this machine"),
        ({"upstream": ["h"]}, "no address"),
        ({"upstream": ["http://localhost:8787/v1"]}, "the proxy's own address"),
        ({"upstream": ["http://h/v1"], "keep": "/"}, "nothing can be kept in /"),
        ({"upstream": ["http://h/v1"], "refiner": {"model": "local", "prompt": "x"}}, "no refiner"),
        ({"upstream": ["http://h/v1"], "refiner": {"is_guarded": False}}, "no refiner to guard"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_a_hint(
    given: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        serve(ProxySetup(**given))  # type: ignore[arg-type]
    assert caught.value.hint


def test_without_the_engine_of_the_embedded_model_no_weights_are_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtra, match="the embedded model"):
        serve(ProxySetup(model="local"))


def test_a_port_that_is_taken_is_said_before_anything_starts() -> None:
    with open_socket("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port} of 127.0.0.1 is taken") as caught:
            serve(ProxySetup(["http://127.0.0.1:9"], port=port))
    assert f"--port {port + 10}" in str(caught.value.hint)


async def test_no_file_of_the_working_folder_is_imported(tmp_path: Path) -> None:
    """The command starts over, and other modules than before are loaded then."""
    for name in (
        "uvicorn",
        "asyncio",
        "json",
        "orjson",
        "httptools",
        "uvloop",
        "callwright",
        "sitecustomize",
    ):
        said = f"import os\nopen({str(tmp_path / 'imported')!r}, 'w').close()\nos._exit(7)\n"
        (tmp_path / f"{name}.py").write_text(said)
    command = [
        sys.executable,
        "-P",
        "-m",
        "callwright",
        "proxy",
        "--upstream",
        "http://127.0.0.1:9",
        "--port",
        "0",
    ]
    process = await asyncio.create_subprocess_exec(
        *command, cwd=tmp_path, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(60):
            while b"page:" not in (line := await process.stderr.readline()):
                assert line, "the command ended"
            process.send_signal(signal.SIGTERM)
            await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize("flags", [["-I"], ["-E", "-s", "-B"], ["-S"], []])
def test_a_process_that_starts_over_keeps_what_restricts_it(flags: list[str]) -> None:
    path = "import sys; sys.path.extend(sys.argv[1].split(':'));"
    code = f"{path} from callwright.proxy.server.lane import list_python_options as options"
    code += "; print(*options())"
    command = [sys.executable, *flags, "-P", "-c", code, ":".join(sys.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={})
    assert set(flags) <= set(done.stdout.split())


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
async def test_the_command_serves_and_stops_on_a_signal(stop: signal.Signals) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-P",
        "-m",
        "callwright",
        "proxy",
        "--upstream",
        "http://127.0.0.1:9",
        "--port",
        str(port),
    ]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    try:
        async with asyncio.timeout(60), HttpClient(Egress.any()) as client:
            answer = None
            while not isinstance(answer, HttpResponse):
                answer = await client.request("GET", f"http://127.0.0.1:{port}/healthz")
                await asyncio.sleep(0.05)
            assert answer.status == 200
            process.send_signal(stop)
            _, shown = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert f"http://localhost:{port}/v1" in shown.decode()
    assert "warning:  nothing answers there now" in shown.decode()
    assert "Traceback" not in shown.decode()
    assert "GET /healthz 200" in shown.decode()


async def test_a_quiet_proxy_writes_no_line_for_a_request() -> None:
    command = [
        sys.executable,
        "-P",
        "-m",
        "callwright",
        "proxy",
        "--upstream",
        "http://127.0.0.1:9",
        "--quiet",
    ]
    process = await asyncio.create_subprocess_exec(
        *command, "--port", "0", stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(60), HttpClient(Egress.any()) as client:
            address = (await process.stderr.readline()).decode().split()[1].removesuffix("/v1")
            answer = await client.request("GET", f"{address}/healthz")
            assert isinstance(answer, HttpResponse)
            process.send_signal(signal.SIGTERM)
            _, shown = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert "healthz" not in shown.decode()


def test_the_key_of_a_file_goes_upstream_and_stands_in_no_command_line(tmp_path: Path) -> None:
    config, keys = tmp_path / "callwright.toml", list[str]()
    config.write_text('api_key_env = "A_KEY"\n')
    environment = {**os.environ, "A_KEY": "s3cret", "CALLWRIGHT_API_KEY": ""}
    with keyed(["hello"] * 20, keys) as url:
        told = ["proxy", "--upstream", url, "--port", "0", "--config", str(config)]
        command = [sys.executable, "-P", "-m", "callwright", *told]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as made:
            try:
                assert made.stderr is not None
                said = next(line for line in made.stderr if line.startswith("proxy:"))
                address = said.split()[1].replace("localhost", "127.0.0.1")
                given = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
                asked = urllib.request.Request(
                    f"{address}/chat/completions",
                    json.dumps(given).encode(),
                    {"Content-Type": "application/json"},
                )
                with urllib.request.urlopen(asked, timeout=20) as answer:
                    assert b"hello" in answer.read()
                shown = Path(f"/proc/{made.pid}/cmdline")
                assert not shown.exists() or b"s3cret" not in shown.read_bytes()
            finally:
                made.terminate()
    assert keys
    assert set(keys) == {"Bearer s3cret"}


def test_a_mode_that_does_not_exist_is_told_with_those_that_do() -> None:
    with pytest.raises(ConfigError) as caught:
        serve(ProxySetup(["http://h/v1"], guided="perhaps"))
    assert caught.value.hint == "auto, native, text, on, off"


def test_a_refiner_of_the_command_line_repairs_the_calls_of_an_upstream() -> None:
    call = {"name": "get_weather", "arguments": {"town": 5, "place": 7}}
    meant = call | {"arguments": {"city": "Paris"}}
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    given = {
        "model": "m",
        "messages": [{"role": "user", "content": "Paris or Oslo: the weather in the former?"}],
        "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": schema}}],
    }
    with (
        ChatServer(f"<tool_call>{json.dumps(call)}</tool_call>") as upstream,
        ChatServer(f"<func_call>{json.dumps([meant])}</func_call>") as refiner,
    ):
        told = ["--refiner", f"{refiner.url}#mine", "--no-refiner-guard", "--guided", "off"]
        command = [sys.executable, "-P", "-m", "callwright", "proxy", "--upstream", upstream.url]
        with subprocess.Popen(
            [*command, *told, "--port", "0", "--reasks", "0"], stderr=subprocess.PIPE, text=True
        ) as made:
            try:
                assert made.stderr is not None
                said = next(line for line in made.stderr if line.startswith("proxy:"))
                _, _, warning = (next(iter(made.stderr)) for _ in range(3))
                assert warning.startswith("warning:  the refiner has no guard")
                address = said.split()[1].replace("localhost", "127.0.0.1")
                asked = urllib.request.Request(
                    f"{address}/chat/completions",
                    json.dumps(given).encode(),
                    {"Content-Type": "application/json"},
                )
                with urllib.request.urlopen(asked, timeout=30) as answer:
                    (choice,) = json.loads(answer.read())["choices"]
            finally:
                made.terminate()
    (found,) = choice["message"]["tool_calls"]
    assert json.loads(found["function"]["arguments"]) == {"city": "Paris"}
    assert refiner.count == 1
