"""What real agents sent through the proxy, both turns of it, shortened: requests recorded from
Claude Code 2.1.197, Codex 0.169.0, Cline 3.0.65 (its command line), Continue 1.5.47 (``cn``) and
Open WebUI 0.12.4, asked what notes.txt says, with the small model of ``examples/proxy`` behind.
"""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from callwright.http import Egress, HttpClient, HttpResponse
from callwright.proxy.session.answers.sse import EventSplitter, extract_data
from tests.places import EXAMPLES
from tests.proxy.upstream import Asked, Reply, proxy, upstream

CLIENTS = Path(__file__).parent / "clients"
SCRIPT = EXAMPLES / "proxy" / "small_model.py"
_spec = importlib.util.spec_from_file_location("small_model", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
small_model = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(small_model)

SAID = {"claude_code": "Read", "codex": "exec_command", "cline": "read_files", "continue": "Read"}
SAID["open_webui"] = "read_notes"


def recorded(client: str) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = json.loads(
        (CLIENTS / f"{client}.json").read_text(encoding="utf-8")
    )
    return made


def answering(asked: Asked) -> Reply:
    """As the example's server does."""
    body = asked.json
    style = next(s for s in small_model.STYLES if body["model"].endswith(s))
    text = small_model.reply(small_model.turns_of(body), small_model.tools_of(body), style)
    return Reply([*small_model.chat_stream(body["model"], text)])


def events(body: bytes) -> Iterator[Any]:
    splitter = EventSplitter()
    for event in [*splitter.feed(body), splitter.close()]:
        data = extract_data(event)
        if data and data != b"[DONE]":
            yield json.loads(data)


def of_chat(body: bytes) -> tuple[list[Any], str]:
    choices = [e["choices"][0] for e in events(body) if e["choices"]]
    pieces = [p["function"] for c in choices for p in c["delta"].get("tool_calls", ())]
    text = "".join(c["delta"].get("content") or "" for c in choices)
    named = [p["name"] for p in pieces if p.get("name")]
    return (
        [(named[0], json.loads("".join(p["arguments"] for p in pieces)))] if named else []
    ), text


def of_messages(body: bytes) -> tuple[list[Any], str]:
    seen = list(events(body))
    blocks = [e["content_block"] for e in seen if e["type"] == "content_block_start"]
    deltas = [e["delta"] for e in seen if e["type"] == "content_block_delta"]
    given = "".join(d.get("partial_json", "") for d in deltas)
    calls = [(b["name"], json.loads(given)) for b in blocks if b["type"] == "tool_use"]
    return calls, "".join(d.get("text", "") for d in deltas)


def of_responses(body: bytes) -> tuple[list[Any], str]:
    items = next(e["response"]["output"] for e in events(body) if e["type"] == "response.completed")
    calls = [(i["name"], json.loads(i["arguments"])) for i in items if i["type"] == "function_call"]
    return calls, "".join(p["text"] for i in items if i["type"] == "message" for p in i["content"])


READ: dict[str, Callable[[bytes], tuple[list[Any], str]]] = {
    "/v1/chat/completions": of_chat,
    "/v1/messages": of_messages,
    "/v1/responses": of_responses,
}


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    async with HttpClient(Egress.any()) as client:
        yield client


@pytest.mark.parametrize("style", sorted(small_model.STYLES))
@pytest.mark.parametrize("client", sorted(SAID))
async def test_the_call_that_was_written_arrives_and_the_loop_ends_in_words(
    client: str, style: str, http: HttpClient
) -> None:
    first, second = recorded(client)
    async with upstream(answering) as up, proxy(up.url) as (address, _):
        answers = []
        for turn in (first, second):
            turn["body"]["model"] = f"small-{style}"
            given = await http.request(
                "POST", address + turn["path"], headers=turn["headers"], json=turn["body"]
            )
            assert isinstance(given, HttpResponse)
            assert given.status == 200, given.text
            answers.append(READ[turn["path"].partition("?")[0]](given.body))
    (calls, _), (no_calls, said) = answers
    (made,) = calls
    assert made[0] == SAID[client]
    assert "notes.txt" in json.dumps(made[1])
    assert not no_calls
    assert "The lamp in the hall is green." in said
    for asked in up.asked:
        roles = [m["role"] for m in asked.json["messages"]]
        assert "system" not in roles[1:], "strict templates refuse that"
        assert asked.path == "/v1/chat/completions", "another API's query is not passed on"


async def test_without_the_proxy_the_client_gets_text() -> None:
    body = recorded("cline")[0]["body"]
    reply = answering(Asked("POST", "/v1/chat/completions", {}, json.dumps(body).encode()))
    calls, text = of_chat(b"".join(reply.pieces))
    assert not calls
    assert '"name": "readFiles"' in text


async def test_what_a_vendors_server_runs_is_left_out_and_mcp_tools_are_not(
    http: HttpClient,
) -> None:
    first = recorded("codex")[0]
    kinds = {t["type"] for t in first["body"]["tools"]}
    assert kinds == {"function", "namespace", "web_search"}
    async with upstream(answering) as up, proxy(up.url) as (address, _):
        await http.request(
            "POST", address + first["path"], headers=first["headers"], json=first["body"]
        )
    offered = [t["function"]["name"] for t in up.asked[0].json["tools"]]
    assert "multi_agent_v1__close_agent" in offered
    assert not [n for n in offered if "web_search" in n]


@pytest.mark.parametrize("port", ["taken", "99999"])
def test_the_example_on_a_port_it_cannot_have_ends_with_one_sentence(port: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        given = str(taken.getsockname()[1]) if port == "taken" else port
        command = [sys.executable, "-P", str(SCRIPT), "--port", given]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: cannot listen on port {given}: ")
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)


@pytest.fixture
def example() -> Iterator[str]:
    """The example's server, on a port of its own."""
    serving = small_model.serve(0)
    running = threading.Thread(target=serving.serve_forever)
    running.start()
    yield f"http://127.0.0.1:{serving.server_port}"
    serving.shutdown()
    running.join()
    serving.server_close()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "path", ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/api/chat"]
)
async def test_the_example_speaks_the_apis_of_all_clients(
    example: str, http: HttpClient, path: str, stream: bool
) -> None:
    body = {
        "model": "small-hermes",
        "messages": [{"role": "user", "content": "What is in notes.txt?"}],
    }
    given = await http.request("POST", example + path, json={**body, "stream": stream})
    assert isinstance(given, HttpResponse)
    assert given.status == 200
    assert "Hello" in given.text
