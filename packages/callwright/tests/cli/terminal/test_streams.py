"""No text of a stranger steers the terminal, whichever command prints it and wherever that goes."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.cli import main
from callwright.cli.terminal.streams import GuardedStream, guard_streams, unwrap_stream

STEERING = "\x1b\x07\x9b\x9d\x08\x7f\u202e\u2066\u200f\u2028\U000e0041"
HOSTILE = f"a{STEERING}]0;title\r\nerror: forged"


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(STEERING)), st.booleans())
def test_whoever_prints_what_is_printed_is_shown(text: str, failing: bool) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        guard_streams()
        guard_streams()
        print(text, file=sys.stderr if failing else sys.stdout)
        sys.stdout.writelines([text])
        logging.StreamHandler(sys.stderr).emit(logging.makeLogRecord({"msg": text}))
    assert not {*STEERING} & {*out.getvalue()}


def test_the_stream_itself_is_there_for_what_is_ours() -> None:
    inner = io.StringIO()
    stream = GuardedStream(inner)
    assert unwrap_stream(stream) is inner  # type: ignore[arg-type]
    assert unwrap_stream(inner) is inner
    assert stream.write("\x1b") == 1, "as long as what was given"
    assert not stream.isatty()
    with pytest.raises(TypeError):
        stream.write(b"")  # type: ignore[arg-type]


def test_what_an_encoding_cannot_say_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, a reply in Chinese ended a command whose output went into a pipe of Windows."""
    inner = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(inner, encoding="cp1252"))
    guard_streams()
    sys.stdout.write("Z\u00fcrich \u2713 \udcff")
    sys.stdout.flush()
    assert inner.getvalue().splitlines() == [b"Z\xfcrich \\u2713 \\udcff"]


def test_a_closed_standard_input_is_an_empty_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    guard_streams()
    with sys.stdin as stdin:
        assert stdin.read() == ""
        assert not stdin.isatty()


def test_what_is_written_to_a_closed_output_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    guard_streams()
    sys.stdout.write("x")
    assert not sys.stdout.isatty()


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which everything a command may read speaks to the terminal."""
    for name in ("CALLWRIGHT_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    schema = {"type": "object", "properties": {HOSTILE: {"type": "string", "description": HOSTILE}}}
    body = {"content": {"application/json": {"schema": schema}}}
    operation = {
        "operationId": HOSTILE,
        "summary": HOSTILE,
        "description": HOSTILE,
        "responses": {},
        "requestBody": body,
    }
    broken = {
        "operationId": "broken",
        "parameters": [{"name": HOSTILE, "in": HOSTILE, "schema": {"type": HOSTILE}}],
    }
    document = {
        "openapi": "3.0.0",
        "info": {"title": HOSTILE, "version": HOSTILE},
        "servers": [{"url": f"http://127.0.0.1:9/{HOSTILE}"}],
        "paths": {
            f"/x{HOSTILE}": {"post": operation, "get": broken},
            "/y": {"get": {"$ref": HOSTILE}},
        },
    }
    Path("api.json").write_text(json.dumps(document), encoding="utf-8")
    listed = [{"name": HOSTILE, "description": HOSTILE, "input_schema": schema}]
    Path("call.json").write_text(
        json.dumps({"tool": HOSTILE, "tools": listed, "arguments": {HOSTILE: HOSTILE}})
    )
    Path("lines.jsonl").write_text(
        json.dumps({"id": HOSTILE, "tool": HOSTILE, "arguments": {}}) + "\n"
    )
    Path("bad.toml").write_text(f"[{json.dumps(HOSTILE)}]\nmodel = {json.dumps(HOSTILE)}\n")
    Path("model.toml").write_text(
        f"model = {json.dumps(HOSTILE)}\ntools = [{json.dumps(HOSTILE)}]\n"
    )
    Path("trace.jsonl").write_text(
        json.dumps({"v": 1, "kind": HOSTILE, "seq": HOSTILE, "at": 0, "data": {}}) + "\n{}\n"
    )
    return tmp_path


COMMANDS = [
    ["tools", "api.json"],
    ["tools", "api.json", "--json"],
    ["tools", HOSTILE],
    ["tools", "try", HOSTILE, "--tools", "api.json", "--trials", "off", "--no-evidence"],
    ["tools", "health", HOSTILE],
    ["retrieve", f"x {HOSTILE}", "--tools", "api.json"],
    ["plan", f"x {HOSTILE}", "--tools", "api.json"],
    ["plan", f"x {HOSTILE}", "--tools", "api.json", "--format", "mermaid"],
    ["check", "-"],
    ["check", HOSTILE],
    ["check", "--jsonl", "--tools", "api.json"],
    ["check", "--jsonl", HOSTILE],
    ["config", "--config", "bad.toml"],
    ["config", "--config", "model.toml"],
    ["run", HOSTILE, "--config", "model.toml", "--no-journal"],
    [
        "run",
        HOSTILE,
        "--tools",
        "api.json",
        "--model",
        f"http://127.0.0.1:9/v1#{HOSTILE}",
        "--no-journal",
    ],
    ["runs", "--journal", HOSTILE],
    ["resume", HOSTILE],
    ["resolve", HOSTILE, HOSTILE, "--result", HOSTILE],
    ["view", "trace.jsonl"],
    ["view", HOSTILE],
    ["weights", HOSTILE],
    ["doctor", "--upstream", f"http://127.0.0.1:9/{HOSTILE}"],
    ["convert", HOSTILE],
    [HOSTILE],
    ["tools", f"--{HOSTILE}"],
    ["refine", "--rule-groups", HOSTILE],
]


@pytest.mark.parametrize(
    "arguments", COMMANDS, ids=lambda told: "-".join(a.replace(HOSTILE, "x") for a in told[:4])
)
def test_no_command_lets_a_stranger_speak_to_the_terminal(
    arguments: list[str], hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Path("lines.jsonl" if "--jsonl" in arguments else "call.json").read_bytes()
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    monkeypatch.setattr(sys, "argv", ["callwright", *arguments])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(asked), "utf-8"))
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.suppress(SystemExit),
    ):
        main()
    out.flush()
    shown = out.buffer.getvalue().decode()  # type: ignore[attr-defined]
    assert shown or err.getvalue()
    assert not {*STEERING, "\r"} & {*shown, *err.getvalue()}
    assert "Traceback" not in err.getvalue()
    assert not any(line.startswith("error: forged") for line in err.getvalue().splitlines()), (
        "a line of its own"
    )
