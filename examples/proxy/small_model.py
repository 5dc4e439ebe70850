"""An endpoint that does with tools what small open models do: it means the right call and writes it
into the text.

    python examples/proxy/small_model.py --port 9000

It has no model and needs nothing but Python. Asked with tools it picks the one that the request
names, else one that can read the file that the request names (``notes.txt``, or what is in double
quotes), and leaves the call in the text, in the shape that its model's name ends with:
``small-fence``, ``small-hermes``, … (see ``STYLES``). Given a tool's result it repeats it in plain
words. It speaks chat completions and, so that a client can be pointed at it without a proxy,
Anthropic's messages, OpenAI's Responses and Ollama's chat, with its text only.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Json = Any
Call = tuple[str, dict[str, Any]]

READERS = r"read.*file|.*file.*read|read|view|cat"
SHELLS = r"bash|shell.*|exec.*|run.*command|.*terminal.*"
PIECE = 5  # characters a chunk: about what a token is


# what the model means


def meant(tools: Mapping[str, Json], said: str) -> Call | None:
    """The call of one of the offered tools (name -> schema) that does what was said."""
    quoted = re.findall(r'"([^"\n]+)"|([\w./-]*\w\.txt)\b', said)
    wanted = "".join(quoted[-1]) if quoted else "notes.txt"
    words = "|".join(re.escape(word) for word in set(re.findall(r"\w+_\w+", said)))
    for pattern in (f".*({words})" if words else "(?!)", READERS, SHELLS, ".*"):
        for name, schema in tools.items():
            if re.fullmatch(pattern, name, re.I):
                return name, arguments(schema or {}, wanted)
    return None


def arguments(schema: Json, wanted: str) -> dict[str, Any]:
    """A value for each parameter that is required, and for the one that says what to read."""
    offered = schema.get("properties") or {}
    made = {key: value(key, offered.get(key) or {}, wanted) for key in schema.get("required") or ()}
    if wanted not in json.dumps(made):
        telling = [
            k for k in offered if re.search("path|file|cmd|command|city|query|text", k, re.I)
        ]
        made |= {key: value(key, offered[key], wanted) for key in telling[:1]}
    return made


def value(key: str, schema: Json, wanted: str) -> Json:
    kind = schema.get("type")
    kind = next((k for k in kind if k != "null"), None) if isinstance(kind, list) else kind
    if schema.get("enum"):
        return schema["enum"][0]
    if kind == "array":
        items = schema.get("items") or {}
        command = re.search("command|cmd", key, re.I) and items.get("type") == "string"
        return ["cat", wanted] if command else [value(key, items, wanted)]
    if kind == "object":
        return arguments(schema, wanted)
    if kind in ("integer", "number"):
        return schema.get("minimum") or 1
    if kind == "boolean":
        return True
    return f"cat {wanted}" if re.search("command|cmd", key, re.I) else wanted


# how it writes it down


def camel(text: str) -> str:
    head, *rest = text.split("_")
    return head + "".join(part.capitalize() for part in rest)


def drifted(call: Call) -> Call:
    """Other case in the name and the keys, numbers and booleans as text."""
    name, given = call
    other = name.lower() if name != name.lower() else camel(name)
    told = {k: json.dumps(v) if isinstance(v, bool | int | float) else v for k, v in given.items()}
    return other, {camel(k): v for k, v in told.items()}


def written(call: Call) -> str:
    return json.dumps({"name": call[0], "arguments": call[1]}, ensure_ascii=False)


def qwen_xml(call: Call) -> str:
    given = "".join(
        f"<parameter={k}>\n{v if isinstance(v, str) else json.dumps(v)}\n</parameter>\n"
        for k, v in call[1].items()
    )
    return f"<tool_call>\n<function={call[0]}>\n{given}</function>\n</tool_call>"


STYLES: dict[str, Callable[[Call], str]] = {
    "fence": lambda call: f"I will look.\n\n```json\n{written(call)}\n```",
    "hermes": lambda call: f"<tool_call>\n{written(call)}\n</tool_call>",
    "bare": written,
    "drift": lambda call: f"```json\n{written(drifted(call))}\n```",
    "think": lambda call: (
        f"<think>\nThe file must be read.\n</think>\n\n<tool_call>\n{written(call)}\n</tool_call>"
    ),
    "reasoning": lambda call: (
        f"<think>The file must be read.</think>{written(call)}"
    ),  # thought kept apart
    "python": lambda call: (
        "[" + call[0] + "(" + ", ".join(f"{k}={v!r}" for k, v in call[1].items()) + ")]"
    ),
    "qwen-xml": qwen_xml,
    "mistral": lambda call: f"[TOOL_CALLS]{call[0]}[ARGS]{json.dumps(call[1])}",
    "lmstudio": lambda call: f"[TOOL_REQUEST]{written(call)}[END_TOOL_REQUEST]",
}


def reply(turns: list[tuple[str, str]], tools: Mapping[str, Json], style: str) -> str:
    """What the model says: ``turns`` are (role, text), roles user, assistant, tool."""
    asked = max((n for n, (role, _) in enumerate(turns) if role == "user"), default=-1)
    result = next((text for role, text in reversed(turns) if role == "tool"), None)
    if result is not None and (
        turns[-1][0] == "tool" or any(r == "tool" for r, _ in turns[asked:])
    ):
        return f"The tool says: {result.strip()[:400]}"
    said = turns[asked][1] if turns else ""
    if said.startswith("Repeat the text below"):
        return said.partition("\n\n")[2]
    call = meant(tools, said)
    return "Hello. I have no tools." if call is None else STYLES[style](call)


# the APIs, read down to turns and tools


def text_of(content: Json) -> str:
    if isinstance(content, list):
        return "\n".join(text_of(p) for p in content)
    if isinstance(content, Mapping):
        return str(content.get("text") or text_of(content.get("content") or ""))
    return str(content or "")


def turns_of(body: Json) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    given = body.get("messages", body.get("input"))
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given or ():
        if str(item.get("type", "")).endswith("call_output"):
            found.append(("tool", text_of(item.get("output"))))
            continue
        content = item.get("content")
        blocks = content if isinstance(content, list) else []
        results = [b for b in blocks if isinstance(b, Mapping) and b.get("type") == "tool_result"]
        found += [("tool", text_of(b.get("content"))) for b in results]
        if not results and item.get("role"):
            found.append((str(item["role"]), text_of(content)))
    return found


def tools_of(body: Json) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for tool in body.get("tools") or ():
        about = tool.get("function") or tool
        if about.get("name"):
            found[about["name"]] = about.get("parameters") or about.get("input_schema")
    return found


# the answers


def pieces(text: str) -> Iterator[str]:
    return (text[n : n + PIECE] for n in range(0, len(text), PIECE))


def event(data: Json, kind: str = "") -> bytes:
    name = f"event: {kind}\n" if kind else ""
    return f"{name}data: {json.dumps(data)}\n\n".encode()


def apart(model: str, text: str) -> tuple[str, str]:
    """Thought and text; the first is sent in ``reasoning_content`` by servers that have a reasoning
    parser.
    """
    parsed = (
        re.fullmatch(r"<think>(.*)</think>(.*)", text, re.S)
        if model.endswith("reasoning")
        else None
    )
    return (parsed[1], parsed[2]) if parsed else ("", text)


def chat_whole(model: str, text: str) -> Json:
    thought, text = apart(model, text)
    message = {
        "role": "assistant",
        "content": text,
        **({"reasoning_content": thought} if thought else {}),
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": len(text) // 4,
        "total_tokens": 10 + len(text) // 4,
    }
    head = {
        "id": "chatcmpl-small",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
    }
    return {**head, "choices": [choice], "usage": usage}


def chat_stream(model: str, text: str) -> Iterator[bytes]:
    head = {
        "id": "chatcmpl-small",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": model,
    }
    thought, text = apart(model, text)
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": p} for p in pieces(thought)] + [
        {"content": p} for p in pieces(text)
    ]
    for delta in deltas:
        yield event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": len(text) // 4,
        "total_tokens": 10 + len(text) // 4,
    }
    yield event({**head, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def messages_whole(model: str, text: str) -> Json:
    head = {"id": "msg_small", "type": "message", "role": "assistant", "model": model}
    usage = {"input_tokens": 10, "output_tokens": len(text) // 4}
    ending = {"stop_reason": "end_turn", "stop_sequence": None, "usage": usage}
    return {**head, "content": [{"type": "text", "text": text}], **ending}


def messages_stream(model: str, text: str) -> Iterator[bytes]:
    begun = {**messages_whole(model, ""), "content": [], "stop_reason": None}
    block = {"type": "text", "text": ""}
    yield event({"type": "message_start", "message": begun}, "message_start")
    yield event(
        {"type": "content_block_start", "index": 0, "content_block": block}, "content_block_start"
    )
    for piece in pieces(text):
        delta = {"type": "text_delta", "text": piece}
        yield event(
            {"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta"
        )
    yield event({"type": "content_block_stop", "index": 0}, "content_block_stop")
    ending = {"stop_reason": "end_turn", "stop_sequence": None}
    yield event(
        {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 9}}, "message_delta"
    )
    yield event({"type": "message_stop"}, "message_stop")


def responses_whole(model: str, text: str) -> Json:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {
        "id": "msg_small",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    usage = {"input_tokens": 10, "output_tokens": 9, "total_tokens": 19}
    head = {
        "id": "resp_small",
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
    }
    return {**head, "model": model, "output": [item], "usage": usage, "error": None, "tools": []}


def responses_stream(model: str, text: str) -> Iterator[bytes]:
    done = responses_whole(model, text)
    item = done["output"][0]
    where = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    begun = {**done, "status": "in_progress", "output": [], "usage": None}
    yield event({"type": "response.created", "response": begun}, "response.created")
    opened = {**item, "status": "in_progress", "content": []}
    added = {"type": "response.output_item.added", "output_index": 0, "item": opened}
    yield event(added, "response.output_item.added")
    part = {"type": "output_text", "text": "", "annotations": []}
    yield event(
        {"type": "response.content_part.added", **where, "part": part},
        "response.content_part.added",
    )
    for piece in pieces(text):
        given = {"type": "response.output_text.delta", **where, "delta": piece}
        yield event(given, "response.output_text.delta")
    ended = {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield event(ended, "response.output_item.done")
    yield event({"type": "response.completed", "response": done}, "response.completed")


def lines_whole(model: str, text: str) -> Json:
    head = {"model": model, "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    counts = {"done_reason": "stop", "prompt_eval_count": 10, "eval_count": len(text) // 4}
    return {**head, "message": {"role": "assistant", "content": text}, "done": True, **counts}


def lines_stream(model: str, text: str) -> Iterator[bytes]:
    for piece in pieces(text):
        line = {**lines_whole(model, piece), "done": False}
        yield (
            json.dumps({k: line[k] for k in ("model", "created_at", "message", "done")}).encode()
            + b"\n"
        )
    yield json.dumps(lines_whole(model, "")).encode() + b"\n"


APIS = {
    "/chat/completions": (chat_whole, chat_stream, "text/event-stream"),
    "/messages": (messages_whole, messages_stream, "text/event-stream"),
    "/responses": (responses_whole, responses_stream, "text/event-stream"),
    "/api/chat": (lines_whole, lines_stream, "application/x-ndjson"),
}


class Handler(BaseHTTPRequestHandler):
    """One connection. ``log`` is set by ``serve``."""

    protocol_version = "HTTP/1.1"
    log: Path | None = None

    def do_GET(self) -> None:
        listed = [
            {"id": f"small-{style}", "object": "model", "created": 1, "owned_by": "here"}
            for style in STYLES
        ]
        self._whole({"object": "list", "data": listed})

    def do_HEAD(self) -> None:
        self._whole({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw or b"{}")
        path = self.path.partition("?")[0]
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(
                    json.dumps({"path": self.path, "headers": dict(self.headers), "body": body})
                    + "\n"
                )
        api = next((made for ending, made in APIS.items() if path.endswith(ending)), None)
        if api is None:
            self._whole({"error": {"message": f"{path} is not here"}}, 404)
            return
        whole, stream, kind = api
        model = str(body.get("model") or "small")
        style = next((s for s in STYLES if model.endswith(s)), "fence")
        text = reply(turns_of(body), tools_of(body), style)
        if body.get("stream", path == "/api/chat"):
            self._stream(stream(model, text), kind)
        else:
            self._whole(whole(model, text))

    def _whole(self, answer: Json, status: int = 200) -> None:
        raw = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw)

    def _stream(self, parts: Iterator[bytes], kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for part in parts:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Silent: what came is in the log file, if one was asked for."""


def serve(port: int, log: Path | None = None) -> ThreadingHTTPServer:
    """A server on loopback, not yet running."""
    return ThreadingHTTPServer(("127.0.0.1", port), type("Logging", (Handler,), {"log": log}))


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--port", type=int, default=9000)
    options.add_argument("--log", type=Path, help="write what comes here, a JSON line a request")
    given = options.parse_args()
    try:
        serving = serve(given.port, given.log)
    except (OSError, OverflowError) as error:
        sys.exit(
            f"error: cannot listen on port {given.port}: {error}; take another one: --port"
            f" {given.port + 1}"
        )
    print(
        f"http://127.0.0.1:{serving.server_port}/v1, models: {', '.join(f'small-{s}' for s in STYLES)}",
        flush=True,
    )
    with suppress(KeyboardInterrupt):
        serving.serve_forever()
