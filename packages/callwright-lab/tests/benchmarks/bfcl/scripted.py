"""An OpenAI-compatible endpoint that knows what each of BFCL's cases is answered with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject, ToolCall
from callwright_lab.benchmarks.bfcl.harness import prepare_python
from callwright_lab.benchmarks.bfcl.sample import MULTI_TURN
from callwright_lab.benchmarks.multi_turn.worlds import list_offered_tools, parse_gold_calls
from callwright_lab.benchmarks.refine.bfcl import (
    build_gold_call,
    read_ground_truths,
    read_lines,
    unpack_folder,
)
from tests.cli.endpoint import served

MORE_TOOLS = "What about now?"  # the suite's words for tools that come later end so


@dataclass(frozen=True)
class Script:
    """The requests of a case and the calls that answer each. After them, and for a turn without
    calls, comes a word.
    """

    requests: tuple[str, ...]
    calls: tuple[tuple[ToolCall, ...], ...]

    def reply(self, messages: Sequence[JsonObject]) -> tuple[ToolCall, ...]:
        """The calls for what was asked last, none where they were made already."""
        turn, answered = -1, False
        for message in messages:
            following = self.requests[turn + 1] if turn + 1 < len(self.requests) else None
            said = str(message.get("content"))
            if message["role"] == "user" and following is not None:
                if said == following or (not following and said.endswith(MORE_TOOLS)):
                    turn, answered = turn + 1, False
                    continue
            answered = answered or message["role"] == "assistant"
        return () if answered else self.calls[turn]


def python_of_suite() -> str:
    """The suite's interpreter; the test is skipped where pip cannot reach an index."""
    try:
        return str(prepare_python())
    except ConfigError as error:
        pytest.skip(f"could not be fetched here: bfcl-eval ({error.message[:200]})")


def read_row(category: str, case: str) -> tuple[JsonObject, list[Any]]:
    """A case of the suite and its gold."""
    data = unpack_folder() / "bfcl_eval" / "data"
    row = next(r for r in read_lines(data / f"BFCL_v4_{category}.json") if r["id"] == case)
    gold = read_ground_truths(data / "possible_answer" / f"BFCL_v4_{category}.json")
    return row, gold[case]


def build_script(category: str, case: str) -> Script:
    """What gold answers: the calls under the names that the suite documents."""
    row, gold = read_row(category, case)
    requests = tuple(turn[0]["content"] if turn else "" for turn in row["question"])
    if category in MULTI_TURN:
        tools = list_offered_tools(row)
        return Script(requests, tuple(parse_gold_calls(turn, tools) for turn in gold))
    required = {f["name"]: tuple(f["parameters"].get("required") or ()) for f in row["function"]}
    calls = [build_gold_call(n, answer, required) for n, answer in enumerate(gold, 1)]
    named = [ToolCall(c.id, next(iter(a)), c.arguments) for c, a in zip(calls, gold, strict=True)]
    return Script(requests, (tuple(named),))


@contextmanager
def scripted(scripts: Sequence[Script], asked: list[JsonObject] | None = None) -> Iterator[str]:
    """Serves these cases; yields the base URL. Offered tools are called as such, else in the text,
    as the suite's prompt demands. ``asked`` is given every question.
    """
    by_request = {script.requests[0]: script for script in scripts}
    assert len(by_request) == len(scripts), "two cases begin alike"

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if asked is not None:
                asked.append(body)
            first = next((m["content"] for m in body["messages"] if m["role"] == "user"), "")
            script = by_request.get(first)
            calls = script.reply(body["messages"]) if script else ()
            self._send(_build_message(calls, native=bool(body.get("tools"))))

        def do_GET(self) -> None:
            self._send_json({"data": [{"id": "m"}]})

        def _send(self, message: JsonObject) -> None:
            usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
            reason = "tool_calls" if "tool_calls" in message else "stop"
            choice = {"index": 0, "message": message, "finish_reason": reason}
            head = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
            self._send_json({**head, "choices": [choice], "usage": usage})

        def _send_json(self, value: Mapping[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            pass

    with served(Handler) as url:
        yield url


def _build_message(calls: Sequence[ToolCall], *, native: bool) -> JsonObject:
    if not calls:
        return {"role": "assistant", "content": "That is done."}
    if not native:
        written = ", ".join(_write_call(call) for call in calls)
        return {"role": "assistant", "content": f"[{written}]"}
    made = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": call.tool.replace(".", "_"),
                "arguments": json.dumps(call.arguments),
            },
        }
        for number, call in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def _write_call(call: ToolCall) -> str:
    assert isinstance(call.arguments, dict)
    return f"{call.tool}({', '.join(f'{k}={v!r}' for k, v in call.arguments.items())})"
