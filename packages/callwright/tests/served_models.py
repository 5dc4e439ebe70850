"""Servers on loopback that list one model as llama.cpp, vLLM and Ollama do, and answer questions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.cli.endpoint import served

Pages = dict[str, Any]

# ggml-org/llama.cpp tools/server/README.md: GET /v1/models, GET /props
LLAMA: Pages = {
    "/v1/models": {
        "object": "list",
        "data": [
            {
                "id": "../models/Qwen2.5-7B-Instruct-Q4_K_M.gguf",
                "object": "model",
                "created": 1735142223,
                "owned_by": "llamacpp",
                "meta": {
                    "vocab_type": 2,
                    "n_vocab": 152_064,
                    "n_ctx_train": 131_072,
                    "n_embd": 3_584,
                    "n_params": 7_615_616_512,
                    "size": 4_677_120_000,
                },
            }
        ],
    },
    "/props": {
        "default_generation_settings": {"id": 0, "n_ctx": 16_384},
        "total_slots": 1,
        "model_path": "../models/Qwen2.5-7B-Instruct-Q4_K_M.gguf",
    },
}
# vllm-project/vllm vllm/entrypoints/openai: ModelCard
VLLM: Pages = {
    "/v1/models": {
        "object": "list",
        "data": [
            {
                "id": "Qwen/Qwen2.5-32B-Instruct",
                "object": "model",
                "created": 1735142223,
                "owned_by": "vllm",
                "root": "Qwen/Qwen2.5-32B-Instruct",
                "parent": None,
                "max_model_len": 32_768,
                "permission": [],
            }
        ],
    }
}
# ollama/ollama docs/openai.md, docs/api.md: Show Model Information, List Running Models
OLLAMA: Pages = {
    "/v1/models": {
        "object": "list",
        "data": [{"id": "llama3.1:latest", "object": "model", "created": 1, "owned_by": "library"}],
    },
    "/api/show": {
        "parameters": 'stop                           "<|eot_id|>"',
        "details": {"family": "llama", "parameter_size": "8.0B", "quantization_level": "Q4_0"},
        "model_info": {
            "general.architecture": "llama",
            "general.parameter_count": 8_030_261_248,
            "llama.context_length": 131_072,
        },
    },
    "/api/ps": {
        "models": [
            {
                "name": "llama3.1:latest",
                "model": "llama3.1:latest",
                "size_vram": 5_137_025_024,
                "context_length": 16_384,
            }
        ]
    },
}


@contextmanager
def serving(
    pages: Pages, replies: Sequence[str] = (), asked: list[str] | None = None
) -> Iterator[str]:
    """Serve these JSON pages; yields the base URL. Chat completions are answered with ``replies``,
    in order. ``asked`` is given the body of every question.
    """
    left = list(replies)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = pages.get(self.path) if self.path != "/api/show" else None
            self._send(404 if found is None else 200, found or {"error": "not found"})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if self.path == "/v1/chat/completions":
                if asked is not None:
                    asked.append(body)
                message = {"role": "assistant", "content": left.pop(0)}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                self._send(200, {"choices": [choice], "model": "m"})
                return
            listed = [row["id"] for row in pages["/v1/models"]["data"]]
            is_known = self.path in pages and json.loads(body)["model"] in listed
            self._send(*((200, pages[self.path]) if is_known else (404, {"error": "not found"})))

        def _send(self, status: int, value: Any) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            pass

    with served(Handler) as url:
        yield url
