"""A server over stdio whose one write is counted, and which breaks off where a call says so.

Standard library only, so that it starts at once. ``gateway_writer.py FILE``: every call of ``write``
that is carried out is a line of FILE: its argument ``id``. The argument ``cut`` of a call,
``{"way": WAY, "at": N, "how": HOW}``, says where its connection ends:

* ``there``: after N bytes of the request; the rest is never read
* ``before``: the request has arrived, and nothing was done
* ``after``: it was done, and nothing is answered
* ``back``: after N bytes of the answer
* ``stall``: it was done, and nothing more is said, while the process stays

``how``: ``exit`` ends the process, ``kill`` as SIGKILL does, ``close`` closes stdout alone.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from typing import Any

CUT = re.compile(rb'"cut":\s*\{"way":\s*"(\w+)",\s*"at":\s*(\d+),\s*"how":\s*"(\w+)"\}')
ID = re.compile(rb'"id":\s*"([\w-]+)"')
TOOLS = [
    {
        "name": "write",
        "description": "Writes one line.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "cut": {"type": "object"},
                "pad": {"type": "string"},
            },
            "required": ["id"],
        },
    },
    {
        "name": "look",
        "description": "Reads nothing.",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    },
]
VERSION = "2025-11-25"


def count(path: str, number: bytes) -> None:
    """One write, which survives whatever happens to this process."""
    to = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(to, number + b"\n")
    os.close(to)


def end(how: str) -> None:
    """Break the connection off."""
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "close":
        os.close(1)
        time.sleep(3600)
    os._exit(0)


def say(number: Any, result: dict[str, Any], most: int | None = None) -> None:
    told = json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode() + b"\n"
    left = told if most is None else told[:most]
    while left:
        left = left[os.write(1, left) :]


def answer(line: bytes, path: str) -> None:
    """Answer one message. A call with a cut comes here when all of it has arrived."""
    cut = CUT.search(line[:400])
    message = json.loads(line)  # noqa: TID251 -- stands alone, so that it starts at once
    number, method = message.get("id"), message.get("method")
    if method == "initialize":
        capabilities: dict[str, Any] = {"tools": {}}
        info = {"name": "writer", "version": "1"}
        begun = {"protocolVersion": VERSION, "capabilities": capabilities, "serverInfo": info}
        say(number, begun)
    elif method == "tools/list":
        say(number, {"tools": TOOLS})
    elif method == "tools/call":
        done: dict[str, Any] = {"content": [{"type": "text", "text": "done"}]}
        if message["params"]["name"] == "look":
            return say(number, done)
        way, at, how = (cut[1].decode(), int(cut[2]), cut[3].decode()) if cut else ("", 0, "")
        if way == "before":
            end(how)
        count(path, message["params"]["arguments"]["id"].encode())
        if way == "after":
            end(how)
        if way == "stall":
            time.sleep(3600)
        say(number, done, at if way == "back" else None)
        if way == "back":
            end(how)
    elif number is not None:
        error = {"code": -32601, "message": "Method not found"}
        told = json.dumps({"jsonrpc": "2.0", "id": number, "error": error})
        os.write(1, told.encode() + b"\n")
    return None


def main() -> None:
    path, kept = sys.argv[1], b""
    while chunk := os.read(0, 4096):
        kept += chunk
        while kept:
            cut = CUT.search(kept[:400])
            if cut and cut[1] == b"there" and len(kept) >= int(cut[2]):
                end(cut[3].decode())
            line, found, rest = kept.partition(b"\n")
            if not found:
                break
            kept = rest
            answer(line, path)


if __name__ == "__main__":
    main()
