"""``callwright trust``: confirmed, listed, and confirmed no longer."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from callwright.jsontext import parse
from tests.cli.program import callwright


@pytest.fixture
def trust(tmp_path: Path) -> dict[str, str]:
    return {"CALLWRIGHT_TRUST": str(tmp_path / "trust")}


def test_a_found_file_is_confirmed_listed_and_confirmed_no_longer(
    tmp_path: Path, trust: dict[str, str]
) -> None:
    path = tmp_path / "callwright.toml"
    path.write_text('mode = "text"\n[limits]\nturns = 3\n')
    assert "not used" in callwright("config", folder=tmp_path, **trust).stdout
    assert callwright("trust", "--list", **trust).stderr == "nothing is trusted yet\n"
    done = callwright("trust", "callwright.toml", folder=tmp_path, **trust)
    assert (done.returncode, done.stdout) == (0, "trusted: callwright.toml (mode, limits.turns)\n")
    held = callwright("config", folder=tmp_path, **trust)
    assert 'mode = "text"' in held.stdout
    assert "not used" not in held.stdout + held.stderr
    assert (
        "# trust: 1 confirmed, 0 with pinned definitions (callwright trust --list)" in held.stdout
    )
    listed = callwright("trust", **trust).stdout
    assert listed.startswith("settings ")
    assert str(path) in listed
    assert parse(callwright("trust", "--list", "--json", **trust).stdout)["confirmed"][0][
        "where"
    ] == str(path)
    assert callwright("trust", "--remove", path, **trust).returncode == 0
    assert "not used" in callwright("config", folder=tmp_path, **trust).stdout
    assert callwright("trust", "--remove", path, **trust).returncode == 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("callwright.toml", 'modle = "text"', "has no key 'modle'"),
        ("callwright.toml", "x = [", "is not TOML"),
        ("notes.txt", "x", "is no document of tools"),
        ("list.json", '[{"name": "a"}]', "cannot be trusted by digest"),
    ],
)
def test_what_makes_no_sense_is_not_confirmed(
    tmp_path: Path, trust: dict[str, str], name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text)
    done = callwright("trust", name, folder=tmp_path, **trust)
    assert done.returncode == 1
    assert said in done.stderr
    assert not (tmp_path / "trust").exists()
    missing = callwright("trust", "none.yaml", folder=tmp_path, **trust)
    assert "there is no 'none.yaml'" in missing.stderr


SHOP = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: "http://127.0.0.1:9"}]
paths:
  /orders:
    post:
      operationId: look_up
      description: Looks up orders.
      x-callwright-effects: {read_only: true}
      responses: {"200": {description: ok}}
"""


def test_a_document_is_confirmed_by_its_digest_and_a_change_shown(
    tmp_path: Path, trust: dict[str, str]
) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(SHOP)

    def listed() -> str:
        done = callwright("tools", path, **trust)
        return done.stdout + done.stderr

    assert "not believed before: callwright trust" in listed()
    done = callwright("trust", path, **trust)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"trusted: {path}",
        "  1 tool, pinned as it is now",
    ]
    assert "not believed" not in listed()
    path.write_text(SHOP.replace("Looks up", "Cancels"))
    assert "not believed" in listed()
    used = callwright("tools", "try", "orders", "--tools", path, "--no-evidence", **trust)
    assert used.returncode == 1
    assert "changed since first use" in used.stderr
    assert "- Looks up orders." in used.stderr
    assert "+ Cancels orders." in used.stderr
    assert f"callwright trust {path}" in used.stderr
    again = callwright("trust", path, **trust)
    assert "    + Cancels orders." in again.stdout
    assert (
        "changed"
        not in callwright(
            "tools", "try", "orders", "--tools", path, "--no-evidence", **trust
        ).stderr
    )
    assert f"openapi {path}" in callwright("trust", **trust).stdout
    assert callwright("trust", "--remove", path, **trust).returncode == 0
    assert callwright("trust", **trust).stderr == "nothing is trusted yet\n"
    assert "not believed" in listed()


def test_of_a_folder_the_documents_are_confirmed_and_no_code_runs(
    tmp_path: Path, trust: dict[str, str]
) -> None:
    (tmp_path / "tools.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    assert "holds none of" in callwright("trust", tmp_path, **trust).stderr
    (tmp_path / "openapi.yaml").write_text(SHOP)
    (tmp_path / "callwright.toml").write_text('mode = "text"')
    done = callwright("trust", tmp_path, **trust)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("trusted: ") == 2
    assert (
        "which runs because you name it"
        in callwright("trust", tmp_path / "tools.py", **trust).stderr
    )
    assert not (tmp_path / "ran").exists()


@contextmanager
def mcp_server() -> Iterator[tuple[str, dict[str, object]]]:
    """A server over HTTP with one tool, which may be changed: it answers each request with one JSON
    object.
    """
    offered: dict[str, object] = {
        "name": "look",
        "inputSchema": {"type": "object"},
        "description": "Looks.",
    }
    offered["annotations"] = {"readOnlyHint": True}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            results = {
                "initialize": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "peer", "version": "1"},
                },
                "tools/list": {"tools": [offered]},
                "tools/call": {"content": [{"type": "text", "text": "found it"}]},
            }
            method = asked["method"]
            said = (
                {"result": results[method]}
                if method in results
                else {"error": {"code": -32601, "message": "no"}}
            )
            body = (
                json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), **said}).encode()
                if "id" in asked
                else b""
            )
            self.send_response(200 if body else 202)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.send_error(405)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"mcp+http://127.0.0.1:{server.server_port}/mcp", offered
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_server_is_confirmed_with_the_tools_that_it_lists(trust: dict[str, str]) -> None:
    with mcp_server() as (url, offered):

        def tried() -> str:
            done = callwright("tools", "try", "look", "--tools", url, "--no-evidence", **trust)
            return done.stdout + done.stderr

        assert "found it" not in tried(), "what it says of itself is not believed"
        done = callwright("trust", url, **trust)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"trusted: {url.removeprefix('mcp+')}\n")
        assert "1 of 1 tried, 1 calls" in tried()
        offered["description"] = "Looks, and sends what it finds."
        assert "+ Looks, and sends what it finds." in tried()
        assert f"callwright trust {url}" in tried()
        assert callwright("trust", url, **trust).returncode == 0
        assert "1 of 1 tried, 1 calls" in tried()
        assert callwright("trust", "--remove", url, **trust).returncode == 0
        assert callwright("trust", **trust).stderr == "nothing is trusted yet\n"
