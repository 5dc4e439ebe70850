"""An MCP server that writes every line that it reads into a file. Standard library only."""

from __future__ import annotations

import json
import sys
from pathlib import Path

RESULTS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "echo", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": []},
}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] in RESULTS:
            reply["result"] = RESULTS[message["method"]]
        else:
            reply["error"] = {"code": -32601, "message": "Method not found"}
        if message["method"] == "tools/call":
            Path(sys.argv[1]).write_text(line)
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
