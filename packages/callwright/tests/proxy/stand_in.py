"""Ollama, LM Studio, vLLM and llama.cpp's server on their own default ports, in the shapes of
``servers``, with ``examples/proxy/small_model.py`` in place of a model. For the recipes of the
documentation, where the servers themselves cannot be had:

    python -m tests.proxy.stand_in ollama [--port 11434]

Each leaves its calls in the text in its own way. ``vllm`` refuses requests that offer tools, as it
does without a tool parser, and follows JSON schemas; ``vllm-parser`` takes them and its parser
misses what the model writes.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from typing import Any

from tests.places import EXAMPLES
from tests.proxy.servers import REFUSED, SERVERS, Server

SCRIPT = EXAMPLES / "proxy" / "small_model.py"
_spec = importlib.util.spec_from_file_location("small_model", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
small_model = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(small_model)


@dataclass(frozen=True)
class StandIn:
    """``listed``: the paths it answers to GET; ``style``: how its model writes calls
    (``small_model.STYLES``).
    """

    server: Server
    port: int
    model: str
    style: str
    listed: tuple[str, ...] = ("/v1/models",)
    refuses: bool = False

    def says(self, body: dict[str, Any]) -> str:
        turns, schema = (
            small_model.turns_of(body),
            body.get("response_format", {}).get("json_schema", {}),
        )
        if schema:
            return _by_schema(turns, schema["schema"])
        told: str = small_model.reply(turns, small_model.tools_of(body), self.style)
        return told


STAND_INS = {
    "ollama": StandIn(SERVERS["ollama"], 11434, "qwen3:32b", "drift", ("/v1/models", "/api/tags")),
    "lmstudio": StandIn(
        SERVERS["lmstudio"], 1234, "gemma-2-2b-it", "lmstudio", ("/v1/models", "/api/v0/models")
    ),
    "vllm": StandIn(SERVERS["vllm"], 8000, "granite-4.1-8b", "hermes", refuses=True),
    "vllm-parser": StandIn(SERVERS["vllm"], 8000, "granite-4.1-8b", "mistral"),
    "llamacpp": StandIn(SERVERS["llamacpp"], 8080, "qwen2.5-coder", "qwen-xml"),
}


def _by_schema(turns: list[tuple[str, str]], schema: dict[str, Any]) -> str:
    """The reply of a server that follows schemas to a question of the proxy, or to a probe."""
    some = next(
        (s for s in schema.get("anyOf", [schema]) if "calls" in s.get("properties", {})), None
    )
    if "final_answer" in schema.get("properties", {}):
        result = next(text for role, text in reversed(turns) if role == "tool")
        said = f"The tool says: {' '.join(result.split())}"
        return json.dumps({"final_answer": said, "missing": []})
    if "needed" in schema.get("properties", {}):
        return json.dumps({"needed": schema["properties"]["needed"]["items"]["enum"]})
    if some is None:
        return json.dumps(
            {k: v.get("enum", ["x"])[0] for k, v in schema.get("properties", {}).items()}
        )
    if "tool" in [role for role, _ in turns[-2:]]:
        return json.dumps({"no_call": "It is known already."})
    one = some["properties"]["calls"]["items"]
    offered = [s["properties"] for s in one.get("anyOf", [one])]
    tools = {p["name"].get("const") or p["name"]["enum"][0]: p["arguments"] for p in offered}
    said = [text for role, text in turns if role == "user"][-1]
    name, arguments = small_model.meant(tools, said)
    return json.dumps({"wishes": [said[-90:]], "calls": [{"name": name, "arguments": arguments}]})


class Handler(small_model.Handler):  # type: ignore[misc]  # an example is no module of the package
    stand_in: StandIn

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/api/tags":
            self._whole(
                {
                    "models": [
                        {"name": self.stand_in.model, "model": self.stand_in.model, "details": {}}
                    ]
                }
            )
        elif path in self.stand_in.listed:
            self._whole(
                {
                    "object": "list",
                    "data": [{"id": self.stand_in.model, "object": "model", "created": 1}],
                }
            )
        else:
            self._whole({"error": {"message": f"{path} is not here"}}, 404)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if self.path.partition("?")[0] != "/v1/chat/completions":
            return self._whole({"error": {"message": f"{self.path} is not here"}}, 404)
        if self.stand_in.refuses and body.get("tools"):
            return self._whole(REFUSED, 400)
        return self._said(self.stand_in.says(body), bool(body.get("stream")))

    def _said(self, text: str, streamed: bool) -> None:
        server = self.stand_in.server
        if streamed:
            return self._stream(_pieces(server, text), "text/event-stream")
        return self._whole(json.loads(server.answer(text)))


def _pieces(server: Server, text: str) -> Iterator[bytes]:
    yield from server.stream(*small_model.pieces(text))


def serve(name: str, port: int | None = None) -> ThreadingHTTPServer:
    """A server on loopback, not yet running; on its default port unless another is named."""
    made = STAND_INS[name]
    handler = type("Standing", (Handler,), {"stand_in": made})
    return ThreadingHTTPServer(("127.0.0.1", made.port if port is None else port), handler)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="A stand-in for a server that cannot be had.")
    options.add_argument("name", choices=STAND_INS)
    options.add_argument("--port", type=int)
    given = options.parse_args()
    with suppress(KeyboardInterrupt):
        serve(given.name, given.port).serve_forever()
