"""An MCP server of 2025-11-25 over stdio whose tools run as tasks and in no other way. Everything that
it is asked about tasks is a line of the file in ``sys.argv``.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

RELATED = "io.modelcontextprotocol/related-task"
TOOLS = ("report", "endless", "dies", "fails", "plain")


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result, or the error; None where there is none."""
    match method:
        case "initialize":
            calls = {"requests": {"tools": {"call": {}}}, "cancel": {}}
            return {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}, "tasks": calls},
                "serverInfo": {"name": "tasks", "version": "1"},
            }
        case "tools/list":
            run = {"taskSupport": "required"}
            schema = {"type": "object"}
            listed = [{"name": name, "inputSchema": schema, "execution": run} for name in TOOLS]
            return {"tools": listed}
        case "tools/call" if "task" not in params:
            return {"code": -32601, "message": "it runs as a task"}
        case "tools/call" if params["name"] == "plain":
            return {"content": [{"type": "text", "text": "at once"}]}
        case "tools/call":
            now = "2026-01-01T00:00:00Z"
            task = {"taskId": params["name"], "status": "working", "ttl": None}
            return {"task": {**task, "createdAt": now, "lastUpdatedAt": now}}
        case "tasks/result" if params["taskId"] == "report":
            related = {RELATED: {"taskId": "report"}, "kept": 1}
            return {"content": [{"type": "text", "text": "the report"}], "_meta": related}
        case "tasks/result" if params["taskId"] == "fails":
            return {"code": -32603, "message": "no paper left"}
        case "tasks/result" if params["taskId"] == "dies":
            os._exit(1)
        case "tasks/result":
            return None
        case "tasks/cancel":
            return {"taskId": params["taskId"], "status": "cancelled"}
    return {"code": -32601, "message": "Method not found"}


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        params = asked.get("params") or {}
        if "task" in asked["method"] or "task" in params:
            with open(sys.argv[1], "a", encoding="utf-8") as log:
                log.write(f"{asked['method']}\n")
        if "id" not in asked:
            continue
        told = answer(asked["method"], params)
        if told is not None:
            kind = "error" if "code" in told else "result"
            sent = json.dumps({"jsonrpc": "2.0", "id": asked["id"], kind: told})
            sys.stdout.write(f"{sent}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
