"""The upstreams over HTTP: scripted, streamed, and passed on with its cost counted."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from callwright_lab.benchmarks.agents.tasks import load_tasks
from callwright_lab.benchmarks.agents.upstream import (
    Meter,
    RelayUpstream,
    ScriptedUpstream,
    serve_upstream,
)

TASK = next(task for task in load_tasks() if task.id == "en-write-1")
TOOLS = [{"type": "function", "function": {"name": name}} for name in TASK.tools]
BODY = {"messages": [{"role": "user", "content": TASK.request}], "tools": TOOLS}


def post(url: str, body: Any) -> str:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}/chat/completions", data, method="POST")
    with urllib.request.urlopen(request, timeout=30) as response:
        return str(response.read().decode())


def test_a_scripted_upstream_answers_and_counts() -> None:
    upstream = ScriptedUpstream("right")
    with serve_upstream(upstream) as url:
        upstream.begin(TASK)
        choice = json.loads(post(url, BODY))["choices"][0]
        with urllib.request.urlopen(f"{url}/models", timeout=30) as response:
            assert json.loads(response.read())["data"][0]["id"] == "scripted"
    made = choice["message"]["tool_calls"][0]["function"]
    assert (choice["finish_reason"], made["name"]) == ("tool_calls", "create_order")
    assert json.loads(made["arguments"]) == {"part_code": "A-100", "quantity": 5}
    assert upstream.meter.questions == 1
    assert upstream.meter.prompt > upstream.meter.completion > 0


def test_a_stream_says_the_same_and_its_usage_where_asked() -> None:
    upstream = ScriptedUpstream("right")
    with serve_upstream(upstream) as url:
        upstream.begin(TASK)
        plain = post(url, {**BODY, "stream": True})
        counted = post(url, {**BODY, "stream": True, "stream_options": {"include_usage": True}})
    assert plain.endswith("data: [DONE]\n\n")
    assert '"create_order"' in plain
    assert '"usage"' not in plain
    assert '"usage"' in counted


@pytest.mark.parametrize("body", [b"{not json", b"[1]"])
def test_what_is_no_request_is_refused(body: bytes) -> None:
    upstream = ScriptedUpstream("right")
    upstream.begin(TASK)
    with serve_upstream(upstream) as url, pytest.raises(urllib.error.HTTPError) as caught:
        post(url, body)
    caught.value.close()
    assert caught.value.code == 400


def test_a_relay_passes_on_and_counts_whole_and_streamed_replies() -> None:
    behind = ScriptedUpstream("right")
    with serve_upstream(behind) as target:
        behind.begin(TASK)
        relay = RelayUpstream(target, key="secret")
        with serve_upstream(relay) as url:
            relay.begin(TASK)
            whole = json.loads(post(url, BODY))
            wanted = {"include_usage": True}
            streamed = post(url, {**BODY, "stream": True, "stream_options": wanted})
            post(url, {**BODY, "stream": True})
            with urllib.request.urlopen(f"{url}/models", timeout=30) as response:
                assert json.loads(response.read())["data"][0]["id"] == "scripted"
    assert whole["choices"][0]["message"]["tool_calls"]
    assert streamed.endswith("data: [DONE]\n\n")
    assert relay.meter.questions == behind.meter.questions == 3
    assert relay.meter.unknown == 1
    assert (
        relay.meter.prompt
        == whole["usage"]["prompt_tokens"]
        + json.loads(streamed.split("data: ")[-2])["usage"]["prompt_tokens"]
    )


def test_a_relay_says_that_nothing_answers() -> None:
    with serve_upstream(ScriptedUpstream("right")) as gone:
        pass
    relay = RelayUpstream(gone)
    with serve_upstream(relay) as url, pytest.raises(urllib.error.HTTPError) as caught:
        post(url, BODY)
    caught.value.close()
    assert caught.value.code == 502


def test_with_the_next_task_a_relay_gives_up_what_an_ended_loop_still_waits_for() -> None:
    """A reply that does not end held the only slot of a model, and with it every later task."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(30)
        relay = RelayUpstream(f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
        with serve_upstream(relay) as url, ThreadPoolExecutor(1) as loop:
            asked = loop.submit(post, url, BODY)
            connection, _ = silent.accept()
            with connection:
                connection.settimeout(30)
                while b"messages" not in connection.recv(1 << 16):
                    pass
                relay.begin(TASK)
                while connection.recv(1 << 16):
                    pass
            error = asked.exception(timeout=30)
    assert isinstance(error, urllib.error.HTTPError)
    error.close()
    assert error.code == 502


def test_usage_that_is_not_stated_is_counted_as_unknown() -> None:
    meter = Meter()
    meter.add_usage(None)
    meter.add_usage({"prompt_tokens": 7, "completion_tokens": 2})
    assert (meter.questions, meter.prompt, meter.completion, meter.unknown) == (2, 7, 2, 1)
