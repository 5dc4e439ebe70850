"""An OpenAI-compatible endpoint that plays a script: the pictures and the blocks of the
documentation run the real command line against it, without a model.

    python checks/scripted_endpoint.py --port 9001
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CALL = {"useful": ["stock"], "calls": [{"tool": "stock", "arguments": {"Article": "hammer"}}]}
ANSWER = {
    "statements": [{"text": "There are 4 hammers in the warehouse.", "results": ["r1"]}],
    "missing": [],
}


def reply(question: dict[str, Any]) -> str:
    """The scripted reply: a call of ``stock`` with a misspelt key, or the answer from its result."""
    asked = json.dumps(question.get("response_format") or "")
    return json.dumps(ANSWER if '"statements"' in asked else CALL)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = reply(question)
        message = {"role": "assistant", "content": text}
        if question.get("stream"):
            chunk = {"choices": [{"index": 0, "delta": message, "finish_reason": "stop"}]}
            self.send(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n", "text/event-stream")
        else:
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self.send(json.dumps({"choices": [choice]}), "application/json")

    def send(self, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def start_endpoint(port: int = 0) -> ThreadingHTTPServer:
    """The endpoint, serving in a thread of its own; its port is ``server_port``."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=9001)
    ThreadingHTTPServer(("127.0.0.1", parser.parse_args(arguments).port), Handler).serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
