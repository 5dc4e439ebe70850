"""The question before a call that may destroy something, in a real terminal."""

from __future__ import annotations

import asyncio
import io
import json
import queue
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from callwright import Orchestrator
from callwright.agent.safety.consent import Approve, Proposal
from callwright.cli.run import print_run
from callwright.cli.terminal.consent import make_terminal_approval, render_proposal
from callwright.cli.terminal.live import Live
from callwright.nouns.trace import Trace
from callwright.nouns.types import WRITE, CheckedCall, Skip, Tool, ToolCall, to_json
from callwright.repair.gate import Gate
from callwright.testing import FakeTool, FixedPlan, ScriptedModel, fake_source
from tests.cli.endpoint import endpoint
from tests.cli.program import callwright
from tests.cli.terminal import in_a_terminal

TOOLS = '''
import pathlib
from callwright import DESTRUCTIVE, READ, tool
HERE = pathlib.Path(__file__).parent

@tool(effects=READ)
def find_note(about: str) -> dict[str, str]:
    """The id of the note about something."""
    return {"note": "N-4711"}

@tool(effects=DESTRUCTIVE)
def delete_note(note: str, reason: str) -> str:
    """Delete a note."""
    (HERE / "deleted").write_text(note)
    return "deleted"
'''
FIND = json.dumps({"calls": [{"tool": "find_note", "arguments": {"about": "Oslo"}}]})
DELETE = json.dumps(
    {"calls": [{"tool": "delete_note", "arguments": {"note": "N-4711", "reason": "old"}}]}
)
ANSWER = json.dumps(
    {"statements": [{"text": "The note is N-4711.", "results": ["r1"]}], "missing": []}
)
QUERY = "Delete the old note about Oslo."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    return tmp_path


def arguments(home: Path, url: str) -> list[str]:
    told = [
        "run",
        QUERY,
        "--tools",
        str(home / "tools.py"),
        "--model",
        f"{url}#m",
        "--mode",
        "schema",
    ]
    return [*told, "--no-journal", "--planner", "schema"]


@pytest.mark.parametrize(
    ("more", "deleted", "said"),
    [
        ([], False, "nobody can approve calls of destructive tools"),
        (["--allow", "delete_*"], True, "r2 delete_note"),
        (["--dry-run"], False, "dry run"),
        (["--dry-run", "--allow", "*"], False, "dry run"),
    ],
)
def test_without_a_terminal_what_may_destroy_is_refused_unless_allowed(
    home: Path, more: list[str], deleted: bool, said: str
) -> None:
    with endpoint([FIND, DELETE, ANSWER, ANSWER]) as url:
        done = callwright(*arguments(home, url), *more)
    assert (home / "deleted").exists() is deleted, done.stderr
    assert said in done.stderr


def test_a_dry_run_prints_what_would_be_called_with_its_arguments(home: Path) -> None:
    with endpoint([FIND, DELETE, ANSWER, ANSWER]) as url:
        done = callwright(*arguments(home, url), "--dry-run")
    assert 'these would be called:\n  delete_note {"note":"N-4711","reason":"old"}\n' in done.stdout


def test_what_nobody_could_be_asked_about_is_named_with_the_option_that_allows_it(
    home: Path,
) -> None:
    with endpoint([FIND, DELETE, ANSWER, ANSWER]) as url:
        done = callwright(*arguments(home, url))
    assert f"to show them: --allow {home.name}:delete_note" in " ".join(done.stderr.split())
    assert f"allowing {home.name}:delete_note" in done.stdout, "the answer names it as missing"
    with endpoint([FIND, DELETE, ANSWER, ANSWER]) as url:
        allowed = callwright(*arguments(home, url), "--allow", f"{home.name}:delete_note")
    assert "nobody can approve" not in allowed.stderr
    assert (home / "deleted").exists()


async def test_a_write_that_nobody_could_be_asked_about_is_named_with_its_option(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sends = FakeTool("send_mail", {"to": {"type": "string"}}, effects=WRITE)
    sends.tool = replace(sends.tool, trusted=False)
    script = {"bind": {"calls": [{"tool": "send_mail", "arguments": {"to": "Ann"}}]}}
    model = ScriptedModel({**script, "*": {"statements": [], "missing": ["the mail"]}})
    planner = FixedPlan(["send_mail"])
    run = await Orchestrator([fake_source(sends)], model=model, planner=planner).run("Mail Ann.")
    print_run(run, as_json=False)
    assert sends.calls == []
    assert "to approve it beforehand: --allow fake:send_mail" in capsys.readouterr().err


def test_what_a_source_says_cannot_steer_the_terminal_or_push_the_question_away() -> None:
    tool = Tool("send\x1b[2J\nmail", input_schema={"type": "object"})
    arguments = {"a\n\x1b[8m": "x\u202etxt.exe", "text": "y" * 5_000}
    call = Gate([tool]).check(ToolCall("r1", tool.name, arguments))
    assert isinstance(call, CheckedCall)
    text = render_proposal(Proposal(call, "it may destroy something"))
    assert not {"\x1b", "\u202e"} & {*text}
    assert len(text.strip().splitlines()) == 4
    assert len(text) < 1_500
    assert "4002 more characters" in text


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX terminal")
@pytest.mark.parametrize(("typed", "deleted"), [("y", True), ("n", False), ("what?\nalways", True)])
def test_in_a_terminal_the_user_is_asked_and_sees_where_arguments_come_from(
    home: Path, typed: str, deleted: bool
) -> None:
    answers = [line.encode() + b"\n" for line in typed.split("\n")]

    def answered(shown: bytes) -> bytes:
        asked = shown.count(b"for this tool:") > len(typed.split("\n")) - len(answers)
        return answers.pop(0) if answers and asked else b""

    with endpoint([FIND, DELETE, ANSWER, ANSWER]) as url:
        _, text = in_a_terminal(arguments(home, url), answered)
    assert "it may destroy something" in text
    assert 'note = "N-4711"   <- not in your request: from r1 of find_note' in text
    assert 'reason = "old"\r\n' in text
    assert (home / "deleted").exists() is deleted


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


async def test_one_question_stands_on_the_screen_at_a_time_and_no_event_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stderr", screen)
    typed: queue.Queue[str] = queue.Queue()
    asked = threading.Semaphore(0)

    def read() -> str:
        asked.release()
        return typed.get(timeout=10)

    tools = [Tool(name, input_schema={"type": "object"}) for name in ("first_tool", "second_tool")]
    calls = [Gate([tool]).check(ToolCall("r1", tool.name, {})) for tool in tools]
    with Live(Console(file=screen, width=100, color_system=None)) as live:
        trace = Trace((live,))
        approve = make_terminal_approval(live, read)
        assert approve is not None
        proposals = [
            Proposal(call, "it may write") for call in calls if isinstance(call, CheckedCall)
        ]
        async with asyncio.TaskGroup() as group:
            answers = [group.create_task(_asked(approve, proposal)) for proposal in proposals]
            await asyncio.to_thread(asked.acquire, timeout=10)
            trace.add("skip", **to_json(Skip("meanwhile", "not needed")))
            assert "second_tool" not in screen.getvalue()
            assert screen.getvalue().endswith("for this tool: ")
            typed.put("y")
            await asyncio.to_thread(asked.acquire, timeout=10)
            assert screen.getvalue().index("meanwhile") < screen.getvalue().index("second_tool")
            typed.put("n")
    assert [answer.result() for answer in answers] == [True, False]


async def _asked(approve: Approve, proposal: Proposal) -> bool:
    said = approve(proposal)
    return said if isinstance(said, bool) else await said
