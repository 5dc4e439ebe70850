"""Against a real HTTP server on the loopback interface that speaks the embeddings protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import numpy as np
import pytest

from callwright.models.encoders import open_encoder
from callwright.models.encoders.endpoint import EndpointEncoder
from callwright.nouns.errors import ConfigError, ModelError


class Endpoint:
    """What the server answers, and what it was asked."""

    def __init__(self) -> None:
        self.status = 200
        self.body: Any = None
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.url = ""

    def answer(self, asked: dict[str, Any]) -> Any:
        if self.body is not None:
            return self.body
        rows = [
            {"index": i, "embedding": [3.0 * len(t), 4.0 * len(t)]}
            for i, t in enumerate(asked["input"])
        ]
        return {"object": "list", "data": rows[::-1]}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    state = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            state.asked.append({"path": self.path, **asked})
            state.keys.append(self.headers.get("authorization"))
            data = json.dumps(state.answer(asked)).encode()
            self.send_response(state.status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def test_vectors_come_back_in_order_and_of_unit_length(endpoint: Endpoint) -> None:
    encoder = EndpointEncoder(endpoint.url, "embedder", batch=2, key="secret")
    found = encoder.encode(["a", "bb", "ccc"])
    assert np.allclose(found, [[0.6, 0.8]] * 3)
    assert [(a["path"], a["model"], a["input"]) for a in endpoint.asked] == [
        ("/v1/embeddings", "embedder", ["a", "bb"]),
        ("/v1/embeddings", "embedder", ["ccc"]),
    ]
    assert endpoint.keys == ["Bearer secret"] * 2


async def test_it_also_answers_inside_a_running_event_loop(endpoint: Endpoint) -> None:
    encoder = EndpointEncoder(endpoint.url, "embedder")
    assert encoder.encode(["a"]).shape == (1, 2)
    assert (await encoder.encode_async(["a", "b"])).shape == (2, 2)


def test_a_spec_opens_it_and_its_width_is_asked_for(endpoint: Endpoint) -> None:
    encoder = open_encoder(f"{endpoint.url}#embedder")
    assert endpoint.asked == []
    assert encoder.width == 2
    assert encoder.name == f"embedder@{endpoint.url.split('/')[2]}"


@pytest.mark.parametrize(
    "body",
    [
        {"data": []},
        {"data": [{"embedding": ["x"]}]},
        {"error": "no"},
        [1],
        {"data": [{"embedding": [1e400]}]},
    ],
    ids=str,
)
def test_nonsense_is_a_model_error(endpoint: Endpoint, body: Any) -> None:
    endpoint.body = body
    with pytest.raises(ModelError, match="embedder"):
        EndpointEncoder(endpoint.url, "embedder").encode(["a"])


def test_a_refusal_names_the_status_and_what_to_set(endpoint: Endpoint) -> None:
    endpoint.status = 401
    with pytest.raises(ModelError, match="CALLWRIGHT_EMBEDDINGS_KEY") as caught:
        EndpointEncoder(endpoint.url, "embedder").encode(["a"])
    assert caught.value.status == 401
    assert not caught.value.retryable


def test_a_width_that_changes_is_noticed(endpoint: Endpoint) -> None:
    encoder = EndpointEncoder(endpoint.url, "embedder", width=3)
    with pytest.raises(ModelError, match="width 2, not 3"):
        encoder.encode(["a"])


def test_an_endpoint_nobody_listens_at_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="embeddings endpoint"):
        EndpointEncoder("http://127.0.0.1:9/v1", "embedder", seconds=0.3).encode(["a"])


def test_a_model_must_be_named() -> None:
    with pytest.raises(ConfigError, match="#"):
        open_encoder("http://127.0.0.1:9/v1")
