"""The shapes in which four servers answer chat completions, field for field as their own sources
and documentation have them; none of them was run. The model's text is put in, nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

END = b"data: [DONE]\n\n"
REFUSED = {  # vllm-project/vllm@040a2cc2 …/openai/engine/protocol.py (ErrorResponse), @003fe593 …/serving_chat.py
    "error": {
        "message": (
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
        ),
        "type": "BadRequestError",
        "param": None,
        "code": 400,
    }
}


@dataclass(frozen=True)
class Server:
    """``first``, ``delta`` and ``last`` are its chunks, ``usage`` is the one without choices (None
    where it sends none); ``thought`` is what it calls reasoning; ``opening`` is the delta it begins
    with.
    """

    source: str
    whole: dict[str, Any]
    first: dict[str, Any]
    delta: dict[str, Any]
    last: dict[str, Any]
    usage: dict[str, Any] | None
    thought: str = "reasoning_content"
    beside: dict[str, Any] | None = None  # what each delta holds beside its text

    def answer(self, text: str, thoughts: str = "", calls: Sequence[dict[str, Any]] = ()) -> bytes:
        document: dict[str, Any] = json.loads(json.dumps(self.whole))
        (choice,) = document["choices"]
        choice["message"]["content"] = text
        if thoughts:
            choice["message"][self.thought] = thoughts
        if calls:
            choice["message"]["tool_calls"], choice["finish_reason"] = list(calls), "tool_calls"
        return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()

    def stream(self, *texts: str, thoughts: Sequence[str] = ()) -> list[bytes]:
        """One event an entry, ``[DONE]`` at the end."""
        deltas = [{self.thought: t, **({"content": ""} if self.beside else {})} for t in thoughts]
        deltas += [{"content": t} for t in texts]
        made = [
            self.first,
            *({**self.delta, "choices": [self._choice(d)]} for d in deltas),
            self.last,
        ]
        made += [self.usage] if self.usage else []
        return [
            b"data: " + json.dumps(m, separators=(",", ":"), ensure_ascii=False).encode() + b"\n\n"
            for m in made
        ] + [END]

    def _choice(self, delta: dict[str, Any]) -> dict[str, Any]:
        (choice,) = self.delta["choices"]
        return {
            k: {**(self.beside or {}), **delta} if k == "delta" else v for k, v in choice.items()
        }


def _chunk(like: dict[str, Any], choice: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    return {**like, "choices": [] if choice is None else [choice], **more}


_OLLAMA = {
    "id": "chatcmpl-774",
    "created": 1768062791,
    "model": "qwen3:32b",
    "system_fingerprint": "fp_ollama",
}
_OLLAMA_CHUNK = {**_OLLAMA, "object": "chat.completion.chunk"}
_OLLAMA_USAGE = {"prompt_tokens": 22, "completion_tokens": 73, "total_tokens": 95}
_SAYS = {"role": "assistant", "content": ""}
OLLAMA = Server(
    "ollama/ollama@00988753 openai/openai.go (Message, ToChatCompletion, ToChunk), @077a50ba"
    " middleware/openai.go",
    {
        **_OLLAMA,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": dict(_SAYS), "finish_reason": "stop"}],
        "usage": _OLLAMA_USAGE,
    },
    _chunk(_OLLAMA_CHUNK, {"index": 0, "delta": _SAYS, "finish_reason": None}),
    _chunk(_OLLAMA_CHUNK, {"index": 0, "delta": {}, "finish_reason": None}),
    _chunk(_OLLAMA_CHUNK, {"index": 0, "delta": _SAYS, "finish_reason": "stop"}),
    _chunk(_OLLAMA_CHUNK, None, usage=_OLLAMA_USAGE),
    "reasoning",
    {"role": "assistant"},
)

_LMSTUDIO = {"id": "chatcmpl-um3b2l9t12bzrtha63q8", "created": 1747835957, "model": "gemma-2-2b-it"}
_LMSTUDIO_CHUNK = {
    **_LMSTUDIO,
    "object": "chat.completion.chunk",
    "system_fingerprint": "gemma-2-2b-it",
}
LMSTUDIO = Server(
    "https://lmstudio.ai/docs/developer/openai-compat/tools (system_fingerprint), its API changelog"
    " 0.3.9 (reasoning_content), lmstudio-bug-tracker#601 (stats), #676 (chunks), #1318"
    " (tool_calls)",
    {
        **_LMSTUDIO,
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {**_SAYS, "reasoning_content": "", "tool_calls": []},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 148,
            "completion_tokens": 21,
            "total_tokens": 169,
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
        "stats": {},
        "system_fingerprint": "gemma-2-2b-it",
    },
    _chunk(_LMSTUDIO_CHUNK, {"index": 0, "delta": _SAYS, "logprobs": None, "finish_reason": None}),
    _chunk(_LMSTUDIO_CHUNK, {"index": 0, "delta": {}, "logprobs": None, "finish_reason": None}),
    _chunk(_LMSTUDIO_CHUNK, {"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"}),
    None,
    beside={"role": "assistant"},
)
LMSTUDIO_REST = {  # lmstudio-ai/docs@4694b138 0_app/4_api/2_rest/v0.md, POST /api/v0/chat/completions
    **_LMSTUDIO,
    "object": "chat.completion",
    "choices": [
        {
            "index": 0,
            "logprobs": None,
            "finish_reason": "stop",
            "message": {
                "role": "assistant",
                "content": "Greetings, I'm a helpful AI, here to assist.",
            },
        }
    ],
    "usage": {"prompt_tokens": 24, "completion_tokens": 53, "total_tokens": 77},
    "stats": {
        "tokens_per_second": 51.43709529007664,
        "time_to_first_token": 0.111,
        "generation_time": 0.954,
        "stop_reason": "eosFound",
    },
    "model_info": {
        "arch": "granite",
        "quant": "Q4_K_M",
        "format": "gguf",
        "context_length": 4096,
    },
    "runtime": {
        "name": "llama.cpp-mac-arm64-apple-metal-advsimd",
        "version": "1.3.0",
        "supported_formats": ["gguf"],
    },
}

_VLLM = {"id": "chatcmpl-a1", "created": 1786304610, "model": "granite-4.1-8b"}
_VLLM_CHUNK = {**_VLLM, "object": "chat.completion.chunk"}
_VLLM_DELTA = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": None}
_VLLM_USAGE = {
    "prompt_tokens": 17,
    "total_tokens": 26,
    "completion_tokens": 9,
    "prompt_tokens_details": None,
}


def _vllm(
    source: str, message: dict[str, Any], ids: dict[str, Any], document: dict[str, Any]
) -> Server:
    """Versions differ in ``message``, in the fields of token ids, of a choice and of a document,
    and in ``document``'s fingerprint, which streams carry at their end if at all.
    """
    refusal = {"refusal": None, "annotations": None, "audio": None, "function_call": None}
    prompt = {f"prompt_{k}": v for k, v in ids.items()}
    ending = {"finish_reason": "stop", "stop_reason": None, **ids}
    choice = {"index": 0, "message": {**_SAYS, **refusal, **message}, "logprobs": None, **ending}
    return Server(
        source,
        {
            **_VLLM,
            "object": "chat.completion",
            "choices": [choice],
            "service_tier": None,
            "system_fingerprint": document.get("system_fingerprint"),
            "usage": _VLLM_USAGE,
            "prompt_logprobs": None,
            **prompt,
            "kv_transfer_params": None,
        },
        _chunk(_VLLM_CHUNK, {**_VLLM_DELTA, "delta": _SAYS}, **prompt),
        _chunk(_VLLM_CHUNK, {**_VLLM_DELTA, **ids}),
        _chunk(_VLLM_CHUNK, {**_VLLM_DELTA, "delta": {"content": ""}, **ending}),
        _chunk(_VLLM_CHUNK, None, usage=_VLLM_USAGE, **document),
        next(iter(message)),
    )


_LLAMA = {
    "created": 1785448607,
    "id": "chatcmpl-zwksN84YFlRuJk31X4rVCZ4aMRLGShAU",
    "model": "qwen2.5-coder",
    "system_fingerprint": "b9952-2ed3c1abb",
}
_LLAMA_CHUNK = {**_LLAMA, "object": "chat.completion.chunk"}
_LLAMA_USAGE = {
    "completion_tokens": 10,
    "prompt_tokens": 11,
    "total_tokens": 21,
    "prompt_tokens_details": {"cached_tokens": 7},
}
_TIMINGS = {
    "cache_n": 7,
    "prompt_n": 23,
    "prompt_ms": 258.248,
    "prompt_per_token_ms": 11.228173913043477,
    "prompt_per_second": 89.0616771475481,
    "predicted_n": 10,
    "predicted_ms": 824.103,
    "predicted_per_token_ms": 82.41029999999999,
    "predicted_per_second": 12.134405529405912,
}
LLAMACPP = Server(
    "ggml-org/llama.cpp@00efb3e1 tools/server/server-task.cpp (to_json_oaicompat_chat, …_stream,"
    " result_timings)",
    {
        "choices": [{"finish_reason": "stop", "index": 0, "message": dict(_SAYS)}],
        **_LLAMA,
        "object": "chat.completion",
        "usage": _LLAMA_USAGE,
        "timings": _TIMINGS,
    },
    _chunk(
        _LLAMA_CHUNK,
        {"finish_reason": None, "index": 0, "delta": {"role": "assistant", "content": None}},
    ),
    _chunk(_LLAMA_CHUNK, {"finish_reason": None, "index": 0, "delta": {}}),
    _chunk(_LLAMA_CHUNK, {"finish_reason": "stop", "index": 0, "delta": {}}),
    _chunk(_LLAMA_CHUNK, None, usage=_LLAMA_USAGE, timings=_TIMINGS),
)

SERVERS = {
    "ollama": OLLAMA,
    "lmstudio": LMSTUDIO,
    "vllm": _vllm(
        "vllm-project/vllm@002032ee vllm/entrypoints/openai/chat_completion/protocol.py"
        " (ChatMessage, ChatCompletionResponse, ChatCompletionStreamResponse)",
        {"reasoning": None},
        {"token_ids": None},
        {"system_fingerprint": "vllm-0.26.0-77852039"},
    ),
    "vllm_before": _vllm(
        "vllm-project/vllm@0052bed3 vllm/entrypoints/openai/protocol.py (the same); docs/features/"
        "reasoning_outputs.md: `reasoning` used to be called `reasoning_content`",
        {"reasoning_content": None, "tool_calls": []},
        {},
        {},
    ),
    "llamacpp": LLAMACPP,
}
