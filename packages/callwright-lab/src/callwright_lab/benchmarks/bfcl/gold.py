"""A scripted model that answers every case as gold does: it shows what the harness, and the proxy,
make of right replies. No language model takes part.

In the multi-turn categories it makes one call at a time, because a later call may name what an
earlier one returns; elsewhere it makes all calls in one reply.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from callwright.jsontext import parse, write
from callwright.nouns.types import JsonObject, ToolCall
from callwright_lab.benchmarks.bfcl.endpoints import Endpoint
from callwright_lab.benchmarks.bfcl.sample import MULTI_TURN
from callwright_lab.benchmarks.multi_turn.worlds import list_offered_tools, parse_gold_calls
from callwright_lab.benchmarks.refine.bfcl import (
    build_gold_call,
    read_ground_truths,
    read_lines,
    remove_dots,
    unpack_folder,
)

GOLD = "gold"
MORE_TOOLS = "What about now?"  # how the suite's words for tools that come later end
LAST_WORD = "That is done."


@dataclass(frozen=True, slots=True)
class Script:
    """The requests of a case ("": more tools came) and the replies to each: the calls of one each.
    After them comes a word.
    """

    requests: tuple[str, ...]
    replies: tuple[tuple[tuple[ToolCall, ...], ...], ...]

    def find_reply(self, messages: Sequence[JsonObject]) -> tuple[ToolCall, ...]:
        """The next calls for what was asked last, none where all were made."""
        turn, given = -1, 0
        for message in messages:
            if self._asks(turn + 1, message):
                turn, given = turn + 1, 0
            else:
                given += message["role"] == "assistant"
        replies = self.replies[turn] if turn >= 0 else ()
        return replies[given] if given < len(replies) else ()

    def _asks(self, turn: int, message: JsonObject) -> bool:
        """Return True if the message is the request of this turn."""
        if message["role"] != "user" or turn >= len(self.requests):
            return False
        said, request = str(message["content"]), self.requests[turn]
        return said == request if request else said.endswith(MORE_TOOLS)


def build_script(category: str, case: str) -> Script:
    """Gold's replies, with the names of tools as the suite documents them."""
    row, gold = _read_category(category)[case]
    requests = tuple(turn[0]["content"] if turn else "" for turn in row["question"])
    if category in MULTI_TURN:
        tools = list_offered_tools(row)
        turns = [parse_gold_calls(turn, tools) for turn in gold]
        return Script(requests, tuple(tuple((call,) for call in turn) for turn in turns))
    required = {f["name"]: tuple(f["parameters"].get("required") or ()) for f in row["function"]}
    calls = [build_gold_call(number, answer, required) for number, answer in enumerate(gold, 1)]
    names = [next(iter(answer)) for answer in gold]
    dotted = [ToolCall(c.id, name, c.arguments) for c, name in zip(calls, names, strict=True)]
    return Script(requests, ((tuple(dotted),),))


@cache
def _read_category(category: str) -> dict[str, tuple[JsonObject, list[Any]]]:
    data = unpack_folder() / "bfcl_eval" / "data"
    gold = read_ground_truths(data / "possible_answer" / f"BFCL_v4_{category}.json")
    return {r["id"]: (r, gold[r["id"]]) for r in read_lines(data / f"BFCL_v4_{category}.json")}


@dataclass
class GoldModel:
    """The model's endpoint. ``script`` is what it answers by; :meth:`prepare` sets the next one.

    ``asked`` are the bodies of all questions. What the proxy asks on its own is answered with a
    word: a conversation that does not begin as the script does, or one with native calls in which
    no tools are offered any more.
    """

    build: Callable[[str, str], Script] = build_script
    endpoint: Endpoint = field(default_factory=lambda: Endpoint(""))
    script: Script = field(default_factory=lambda: Script((), ()))
    asked: list[JsonObject] = field(default_factory=list)

    def prepare(self, category: str, case: str) -> None:
        """Answer by this case from now on."""
        self.script = self.build(category, case)

    def answer(self, body: JsonObject) -> JsonObject:
        """The completion of one question: offered tools are called as such, else in the text, as
        the suite's prompt demands.
        """
        self.asked.append(body)
        native = any(message.get("tool_calls") for message in body["messages"])
        may_call = bool(body.get("tools")) or not native
        calls = self.script.find_reply(body["messages"]) if may_call else ()
        message = _build_message(calls, native=bool(body.get("tools")))
        reason = "tool_calls" if "tool_calls" in message else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        head = {"id": "gold", "object": "chat.completion", "created": 0, "model": GOLD}
        return {**head, "choices": [choice], "usage": usage}


@contextmanager
def serve_gold(build: Callable[[str, str], Script] = build_script) -> Iterator[GoldModel]:
    """The model behind a server on loopback, for the length of the block."""
    model = GoldModel(build)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = parse(self.rfile.read(int(self.headers["Content-Length"])))
            self._send(model.answer(body))

        def do_GET(self) -> None:
            self._send({"object": "list", "data": [{"id": GOLD, "object": "model"}]})

        def _send(self, value: JsonObject) -> None:
            data = write(value)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        model.endpoint = Endpoint(f"http://127.0.0.1:{server.server_port}/v1")
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _build_message(calls: Sequence[ToolCall], *, native: bool) -> JsonObject:
    if not calls:
        return {"role": "assistant", "content": LAST_WORD}
    if not native:
        written = ", ".join(_render_call(call) for call in calls)
        return {"role": "assistant", "content": f"[{written}]"}
    made = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": remove_dots(call.tool),
                "arguments": write(call.arguments).decode(),
            },
        }
        for number, call in enumerate(calls, 1)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def _render_call(call: ToolCall) -> str:
    arguments = call.arguments if isinstance(call.arguments, dict) else {}
    return f"{call.tool}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
