"""A chat as a user has it: the real program, a real endpoint, a real terminal."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.cli.endpoint import replying
from tests.cli.program import callwright
from tests.cli.terminal import in_a_terminal

TOOLS = '''
from callwright import READ, WRITE, tool

@tool(effects=READ)
def stock(article: str) -> dict[str, int]:
    """How many pieces of an article are in the warehouse."""
    return {"pieces": 4}

@tool(effects=WRITE)
def order(article: str, pieces: int) -> dict[str, str]:
    """Order pieces of an article."""
    open(__file__ + ".orders", "a").write(f"{article} {pieces}\\n")
    return {"number": "A-17"}
'''
FIRST, SECOND = "How many hammers are there?", "Order as many hammers as there are"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    return tmp_path


def told(home: Path, url: str, *more: str) -> list[str]:
    return [
        "chat", "--tools", str(home / "tools.py"), "--model", f"{url}#m", "--mode", "schema",
        "--planner", "schema", "--journal", str(home / "runs"), *more,
    ]  # fmt: skip


def scripted(seen: list[str]) -> Callable[[str], str]:
    """A model that looks up what is there, orders as many, and answers each from its result."""

    def reply(asked: str) -> str:
        seen.append(asked)
        ordering = SECOND in asked
        if "Write the final answer" in asked:
            said = ("It is order A-17.", "r2") if ordering else ("There are 4 hammers.", "r1")
            return json.dumps(
                {"statements": [{"text": said[0], "results": [said[1]]}], "missing": []}
            )
        arguments: dict[str, Any] = {"article": "hammer", **({"pieces": 4} if ordering else {})}
        call = {"tool": "order" if ordering else "stock", "arguments": arguments}
        return json.dumps({"calls": [call], "later": []})

    return reply


def test_piped_lines_are_answered_on_stdout_and_a_follow_up_uses_an_earlier_result(
    home: Path,
) -> None:
    typed = f"{FIRST}\n\n/tools\n/help\n/nothing\n{SECOND}\n/exit\nnot read\n"
    with replying(scripted([])) as url:
        done = callwright(*told(home, url), stdin=typed)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "There are 4 hammers.\nIt is order A-17.\n"
    assert (home / "tools.py.orders").read_text() == "hammer 4\n"
    assert "assumed" not in done.stderr
    assert "order\tOrder pieces of an article." in done.stderr
    assert "/exit   end the chat" in done.stderr
    assert "there is no command /nothing" in done.stderr
    assert "> " not in done.stderr


def test_a_session_goes_on_in_another_process(home: Path) -> None:
    file, seen = home / "session.jsonl", list[str]()
    with replying(scripted(seen)) as url:
        first = callwright(*told(home, url, "--session", str(file)), stdin=f"{FIRST}\n")
        before = len(seen)
        second = callwright(*told(home, url, "--session", str(file)), stdin=f"{SECOND}\n")
    assert (first.stdout, second.stdout) == ("There are 4 hammers.\n", "It is order A-17.\n")
    assert "the session has 1 earlier turns" in second.stderr
    assert all(FIRST in asked for asked in seen[before:])
    assert "r2 order" in second.stderr
    roles = [json.loads(line)["role"] for line in file.read_text().splitlines()]
    assert roles == ["user", "assistant", "tool", "assistant"] * 2


def test_a_broken_session_is_named_before_anything_is_opened(home: Path) -> None:
    (home / "session.jsonl").write_text('{"role": "user"\n')
    more = ("--session", str(home / "session.jsonl"))
    done = callwright(*told(home, "http://127.0.0.1:9/v1", *more), stdin="Hello\n")
    assert done.returncode == 1
    assert re.search(r"error: the session \S+ is broken: line 1: ", done.stderr)
    assert (home / "session.jsonl").read_text() == '{"role": "user"\n'


def test_an_error_ends_its_turn_and_the_chat_goes_on(home: Path) -> None:
    done = callwright(*told(home, "http://127.0.0.1:9/v1"), stdin=f"{FIRST}\n/help\n")
    assert done.returncode == 1, "no turn was carried out"
    assert done.stderr.count("error: ") == 1
    assert "/exit   end the chat" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_tools_are_one_message(home: Path) -> None:
    done = callwright("chat", stdin="", folder=home)
    assert done.returncode == 1
    assert "error: chat needs at least one tool source" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX terminal")
def test_ctrl_c_stops_the_turn_and_at_the_prompt_the_chat(home: Path) -> None:
    asked, over = Event(), Event()
    answer = scripted([])

    def reply(body: str) -> str:
        if not asked.is_set():
            asked.set()
            over.wait(60)
        return answer(body)

    steps: list[tuple[Callable[[str], bool], bytes]] = [
        (lambda said: said.endswith("> "), FIRST.encode() + b"\r"),
        (lambda said: asked.is_set(), b"\x03"),
        (lambda said: "stopped" in said and said.endswith("> "), FIRST.encode() + b"\r"),
        # readline sees a signal that came just before it waited once the line ends
        (lambda said: "repeats 0" in said and said.endswith("> "), b"\x03\r"),
    ]

    def typed(shown: bytes) -> bytes:
        said = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode(errors="replace"))
        return steps.pop(0)[1] if steps and steps[0][0](said) else b""

    with replying(reply) as url:
        code, shown = in_a_terminal(told(home, url), typed)
        over.set()
    said = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert code == 130, shown
    assert not steps
    assert len(re.findall(r"stopped; callwright resume \S+ --journal \S+ goes on", said)) == 1
    assert "There are 4 hammers.\r\n" in said
    assert "Traceback" not in said
