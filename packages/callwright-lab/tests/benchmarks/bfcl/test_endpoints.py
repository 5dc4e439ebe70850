"""Where questions go: named endpoints, and a proxy of the command's own."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import ToolCall
from callwright_lab.benchmarks.bfcl.endpoints import (
    Endpoint,
    is_embedded,
    open_proxy,
    open_upstream,
)
from callwright_lab.benchmarks.bfcl.gold import Script, serve_gold


def test_an_endpoint_is_used_with_the_key_that_the_proxy_would_send(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CALLWRIGHT_API_KEY", "secret")
    with open_upstream("http://localhost:9/v1", "m", 1024) as found:
        assert found == Endpoint("http://localhost:9/v1", "secret")


def test_a_model_without_an_endpoint_must_be_the_embedded_one() -> None:
    assert is_embedded("local")
    assert is_embedded("local:model.gguf")
    assert not is_embedded("localmodel")
    with (
        pytest.raises(ConfigError, match="no endpoint is known for 'qwen'"),
        open_upstream(None, "qwen", 1024),
    ):
        pass


def test_a_proxy_stands_before_the_upstream_for_the_length_of_the_block(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="extra 'proxy' is not installed")
    script = Script(("Sum?",), (((ToolCall("", "add", {"a": 1}),),),))
    body = {"model": "gold", "messages": [{"role": "user", "content": "Sum? 1"}]}
    log = tmp_path / "proxy.log"
    with serve_gold(lambda *case: script) as model, open_proxy(model.endpoint, (), log) as proxy:
        model.prepare("any", "case")
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(f"{proxy.url}/chat/completions", json.dumps(body).encode()) as reply:
            found = json.loads(reply.read())
    assert found["choices"][0]["message"]["role"] == "assistant"
    assert "POST /v1/chat/completions 200" in log.read_text()


def test_a_proxy_that_does_not_start_says_why(tmp_path: Path) -> None:
    nowhere = Endpoint("http://127.0.0.1:9/v1")
    with (
        pytest.raises(ConfigError, match="did not start"),
        open_proxy(nowhere, ["--guided", "perhaps"], tmp_path / "proxy.log"),
    ):
        raise AssertionError("it started")
