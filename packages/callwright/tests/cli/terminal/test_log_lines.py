"""The JSON lines of a run: every one parses, and none holds what was said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from callwright import Orchestrator, tool
from callwright.agent.options import Persistence
from callwright.cli.terminal.log_lines import LogLines, select_fields
from callwright.nouns.errors import Failure, ToolError
from callwright.nouns.trace import Event
from callwright.nouns.types import READ
from callwright.testing import ScriptedModel
from tests.cli.program import callwright

SAID = "canary-of-the-user"


@tool(effects=READ)
def find_price(article: str, count: int) -> dict[str, Any]:
    """The price of an article."""
    if article == "nothing":
        raise ToolError("canary-of-the-tool")
    return {"price": 7, "note": "canary-of-the-result"}


def run_logged(with_contents: bool) -> list[dict[str, Any]]:
    lines: list[str] = []
    log = LogLines(lines.append, with_contents=with_contents, now=lambda: 1.5)
    call = {"tool": "find_price", "arguments": {"article": SAID, "count": "2"}}
    said = {"statements": [{"text": "It is 7.", "results": ["r1"]}], "missing": []}
    model = ScriptedModel({"bind": {"calls": [call]}, "answer": said})
    with log:
        Orchestrator(
            [find_price], model=model, persistence=Persistence(False, None, [log])
        ).run_sync(f"How much is {SAID}?")
    return [json.loads(line) for line in lines]


def test_a_run_is_logged_without_what_was_said() -> None:
    events = run_logged(with_contents=False)
    kinds = [event["event"] for event in events]
    assert (kinds[0], kinds[-1]) == ("run.start", "run.end")
    assert {"call.checked", "result", "answer", "model"} <= set(kinds)
    assert "canary" not in json.dumps(events)
    (checked,) = [event for event in events if event["event"] == "call.checked"]
    assert checked["edits"] == {"text_to_number": 1}
    (result,) = [event for event in events if event["event"] == "result"]
    assert (result["tool"], result["level"]) == ("find_price", "info")
    assert "seconds" in result
    end = events[-1]
    assert end["calls"] == 1
    assert end["status"]
    assert all(event["time"] == "1970-01-01T00:00:01.500Z" for event in events)


def test_contents_are_told_where_they_are_wanted() -> None:
    told = json.dumps(run_logged(with_contents=True))
    assert "canary-of-the-user" in told
    assert "canary-of-the-result" in told


def test_a_failure_is_told_by_its_kind() -> None:
    failure = Failure("timeout", "canary", detail={"body": "canary"}).to_dict()
    lines: list[str] = []
    LogLines(lines.append)(Event("result", 1, 0.5, {"tool": "t", "failure": failure}))
    made = json.loads(lines[0])
    assert (made["failure"], made["level"]) == ("timeout", "warning")
    assert "canary" not in lines[0]


def test_no_member_that_may_hold_a_text_is_selected() -> None:
    """Whatever a later event holds: only known names pass."""
    data = dict.fromkeys(("text", "query", "reason", "arguments", "content", "new"), "canary")
    assert "canary" not in json.dumps(select_fields(data))


def test_the_command_writes_nothing_but_json_on_stderr(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("def f(x: int) -> int:\n    '''F.'''\n    return x\n")
    given = ["run", "x", "--tools", "t.py", "--model", "http://127.0.0.1:9/v1#m", "--no-journal"]
    done = callwright(*given, "--log-format", "json", folder=tmp_path)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    events = [json.loads(line) for line in lines if line.startswith("{")]
    rest = [line for line in lines if not line.startswith("{")]
    assert rest[0].startswith("error:"), "only the error that ends the command is text"
    assert all(event["event"] for event in events)
    refused = callwright(*given, "--log-contents", folder=tmp_path)
    assert "--log-contents needs --log-format json" in refused.stderr
