"""The blocks of the documentation that start the proxy and point clients at it are run as they are
written, with free ports in place of theirs. Upstreams are stand-ins on what are the servers' own
ports (``stand_in``), clients what was recorded of them (``clients/``), sent to the address that the
page has the client use.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from callwright.http import Egress, HttpClient, HttpResponse
from callwright.jsontext import parse
from tests.places import ROOT
from tests.proxy.stand_in import STAND_INS, serve
from tests.proxy.test_clients import READ, SAID, recorded

PAGES = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "docs/proxy.md", "docs/recipes.md")
}
RECIPES = PAGES["docs/recipes.md"]
PROXY = "http://localhost:8787"


def section(page: str, heading: str) -> str:
    return page.split(f"\n{heading}\n", 1)[1].split("\n## ", 1)[0]


def block(text: str, kind: str) -> str:
    found = re.search(rf"^```{kind}\n(.*?)^```$", text, re.S | re.M)
    assert found is not None, f"there is no block of {kind}"
    return found[1]


def typed(console: str) -> list[str]:
    """What a reader types of a console block: the lines behind ``$``, each with the text it feeds
    in.
    """
    lines: list[str] = []
    ending = ""
    for line in console.splitlines():
        if ending:
            lines[-1] += f"\n{line}"
            ending = "" if line == ending else ending
        elif line.startswith("$ "):
            lines.append(line[2:])
            fed = re.search(r"<<'(\w+)'", line)
            ending = fed[1] if fed else ""
    return lines


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port: int = held.getsockname()[1]
    return port


@contextmanager
def standing(name: str) -> Iterator[int]:
    """A stand-in on a free port."""
    serving = serve(name, 0)
    running = threading.Thread(target=serving.serve_forever)
    running.start()
    try:
        yield serving.server_port
    finally:
        serving.shutdown()
        running.join()
        serving.server_close()


@contextmanager
def started(command: str, memory: Path) -> Iterator[str]:
    """The proxy that a command of the page starts, on a free port; its address."""
    words = [sys.executable, "-P", "-m", *command.split(), "--port", "0"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(memory)}
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stderr is not None
        said = re.search(r"http://localhost:\d+", process.stderr.readline())
        assert said is not None
        yield said[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


BASES = {  # what the page has each client call, behind which the client puts its own path
    "claude_code": (
        re.findall(r"ANTHROPIC_BASE_URL=(\S+)", section(RECIPES, "## Claude Code"))[0] + "/v1"
    ),
    "codex": tomllib.loads(block(section(RECIPES, "## Codex"), "toml"))["model_providers"][
        "callwright"
    ]["base_url"],
    "cline": re.findall(r"-b (\S+)", section(RECIPES, "## Cline"))[0],
    "continue": yaml.safe_load(block(section(RECIPES, "## Continue"), "yaml"))["models"][0][
        "apiBase"
    ],
    "open_webui": re.findall(r"OPENAI_API_BASE_URL=(\S+)", section(RECIPES, "## Open WebUI"))[0],
}
STARTS = re.findall(r"\| `(callwright proxy --upstream http://localhost:(\d+)/v1)` \|", RECIPES)


def test_the_page_starts_the_proxy_before_each_server_on_the_servers_own_port() -> None:
    assert {int(port) for _, port in STARTS} == {made.port for made in STAND_INS.values()}
    assert all(base.startswith(PROXY) for base in BASES.values())


@pytest.mark.parametrize(
    "name",
    [
        name if name in ("llamacpp", "ollama") else pytest.param(name, marks=pytest.mark.heavy)
        for name in STAND_INS
    ],
)
async def test_each_client_gets_its_call_and_its_answer_before_each_server(
    name: str, tmp_path: Path
) -> None:
    (command,) = [c for c, port in STARTS if int(port) == STAND_INS[name].port]
    with (
        standing(name) as port,
        started(command.replace(str(STAND_INS[name].port), str(port)), tmp_path) as address,
    ):
        async with HttpClient(Egress.any()) as http:
            for client, tool in SAID.items():
                for turn, wanted in zip(recorded(client), (tool, ""), strict=True):
                    path = turn["path"].partition("?")[0]
                    url = BASES[client].replace(PROXY, address) + path.removeprefix("/v1")
                    given = await http.request(
                        "POST", url, headers=turn["headers"], json=turn["body"]
                    )
                    assert isinstance(given, HttpResponse)
                    calls, said = READ[path](given.body)
                    assert [made for made, _ in calls] == ([wanted] if wanted else []), client
                assert "The lamp in the hall is green." in said


def starting(lines: list[str]) -> list[str]:
    """Those that start the example's server and the proxy, without their comments."""
    return [
        x.partition("&")[0].strip()
        for x in lines
        if "small_model.py" in x or "callwright proxy" in x
    ]


def test_the_readme_and_the_recipes_start_what_the_proxys_page_starts() -> None:
    ours = starting(typed(block(section(PAGES["docs/proxy.md"], "## Before and after"), "console")))
    assert len(ours) == 2
    assert starting(typed(block(section(RECIPES, "## Try it in two minutes"), "console"))) == ours
    readme = section(PAGES["README.md"], "## The proxy in 30 seconds")
    assert starting(typed(block(readme, "console"))) == ours


@pytest.mark.skipif(
    not (shutil.which("bash") and shutil.which("curl")), reason="needs bash and curl"
)
@pytest.mark.parametrize(
    ("page", "heading"),
    [("docs/proxy.md", "## Before and after"), ("README.md", "## The proxy in 30 seconds")],
)
def test_before_and_after(page: str, heading: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    script = "\n".join(typed(block(section(PAGES[page], heading), "console")))
    upstream, ours = str(free_port()), str(free_port())
    script = re.sub(r"(localhost:|--port )9000\b", rf"\g<1>{upstream}", script).replace(
        "localhost:8787", f"localhost:{ours}"
    )
    script = re.sub(
        "callwright (proxy [^&]*)", rf"'{sys.executable}' -m callwright \1 --port {ours} ", script
    )
    script = script.replace("python examples", f"'{sys.executable}' examples")
    done = subprocess.run(
        ["bash", "-c", f"trap 'kill $(jobs -p)' EXIT\n{script}\n"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    before, after = [
        parse(text)["choices"][0] for text in re.split(r'(?<!\[)(?=\{"id":)', done.stdout)[1:]
    ]
    assert (before["finish_reason"], before["message"].get("tool_calls")) == ("stop", None)
    assert (
        '"name": "getWeather", "arguments": {"city": "Paris", "days": "1"}'
        in before["message"]["content"]
    )
    (call,) = after["message"]["tool_calls"]
    assert (call["function"]["name"], parse(call["function"]["arguments"])) == (
        "get_weather",
        {"city": "Paris", "days": 1},
    )
    assert after["finish_reason"] == "tool_calls"
