"""An MCP server that does what no server should. Standard library only, so it starts at once.

``--calls FILE``: every call that arrives is a line there. ``--at-start WHAT``: hang, die, noise,
stderr. ``--mute-lists``: it says that it has resources, and never lists them.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

OBJECT = {"type": "object"}
NAMES = ("fine", "slow", "flood", "long", "die", "garbage", "silent", "progress", "close", "deep")


def get_option(name: str) -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else ""


CALLS = get_option("--calls")


def write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def answer(number: Any, result: dict[str, Any]) -> None:
    write(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}))


def say(number: Any, text: str) -> None:
    answer(number, {"content": [{"type": "text", "text": text}]})


def list_tools(params: dict[str, Any]) -> dict[str, Any]:
    if "--endless" in sys.argv:
        page = int(params.get("cursor") or 0)
        tools = [{"name": f"t{page}", "inputSchema": OBJECT}]
        return {"tools": tools, "nextCursor": str(page + 1)}
    return {"tools": [{"name": name, "inputSchema": OBJECT} for name in NAMES]}


def call(number: Any, name: str) -> None:
    if CALLS:
        with Path(CALLS).open("a") as file:
            file.write(f"{name}\n")
    match name:
        case "fine":
            say(number, "fine")
        case "slow":
            time.sleep(3600)
        case "flood":
            say(number, "x" * 10_000_000)
        case "long":
            for _ in range(50):
                sys.stdout.write("y" * 1_000_000)
            write("")
        case "die":
            os._exit(3)
        case "garbage":
            write("\x00\xff no json {")
            say(number, "after the garbage")
        case "silent":
            pass
        case "progress":
            for done in range(20_000):
                params = {"progressToken": number, "progress": done}
                write(
                    json.dumps(
                        {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
                    )
                )
            say(number, "after the progress")
        case "close":
            sys.stdout.close()
            os._exit(0)
        case "deep":
            deep = "[" * 100_000 + "]" * 100_000
            result = f'"result": {{"content": {deep}}}'
            write(f'{{"jsonrpc": "2.0", "id": {number}, {result}}}')


def main() -> None:
    at_start = get_option("--at-start")
    if at_start == "die":
        sys.exit("I will not start")
    if at_start == "hang":
        time.sleep(3600)
    if at_start == "noise":
        write("{not json}\n\x1b[31mhello\n[]\nnull")
    if at_start == "stderr":
        for _ in range(200):
            sys.stderr.write("e" * 100_000)
    for line in sys.stdin:
        message = json.loads(line)
        params = message.get("params") or {}
        match message.get("method"):
            case "initialize":
                info = {"name": "hostile", "version": "1"}
                capabilities: dict[str, Any] = {"tools": {}}
                if "--mute-lists" in sys.argv:
                    capabilities["resources"] = {}
                answer(
                    message["id"],
                    {
                        "protocolVersion": "2025-06-18",
                        "capabilities": capabilities,
                        "serverInfo": info,
                    },
                )
            case "tools/list":
                answer(message["id"], list_tools(params))
            case "resources/list" | "resources/templates/list" if "--mute-lists" in sys.argv:
                pass
            case "tools/call":
                call(message["id"], params["name"])
            case _ if "id" in message:
                error = {"code": -32601, "message": "Method not found"}
                write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}))


if __name__ == "__main__":
    main()
