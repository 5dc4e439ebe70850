"""The answer appears in the terminal while the model still writes it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event

import pytest

from callwright.agent.run_events import AnswerDelta, AnswerRestarted, HeldForApproval, RunEvent
from callwright.cli.terminal.answer import AnswerPrinter
from callwright.cli.terminal.live import Live
from tests.cli.endpoint import served
from tests.cli.terminal import in_a_terminal
from tests.cli.test_app import CALLS, TOOLS

FIRST = '{"statements": [{"text": "There are 4 pieces of the hammer.", "results": ["r1"]}'
REST = ', {"text": "The 4 pieces are hammers.", "results": ["r1"]}], "missing": []}'


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX terminal")
def test_the_first_statement_is_there_before_the_second_is_written(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    is_seen = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            if "Write the final answer" not in asked:
                self._say(CALLS)
            else:
                self._say(FIRST)
                assert is_seen.wait(30)
                self._say(REST)
            self.wfile.write(b"data: [DONE]\n\n")

        def _say(self, text: str) -> None:
            choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
            self.wfile.write(b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n")
            self.wfile.flush()

        def log_message(self, *args: object) -> None:
            pass

    def look(shown: bytes) -> bytes:
        if b"There are 4 pieces of the hammer." in shown:
            is_seen.set()
        return b""

    with served(Handler) as url:
        told = ["run", "How many hammers?", "--tools", str(tmp_path / "tools.py"), "--only", "stock",
                "--model", f"{url}#m", "--mode", "schema", "--no-journal"]  # fmt: skip
        code, shown = in_a_terminal(told, look)
    assert code == 0, shown
    said = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert said.count("There are 4 pieces of the hammer.") == 1
    assert "There are 4 pieces of the hammer. The 4 pieces are hammers.\r\n" in said
    assert said.rstrip().endswith("repeats 0")


async def test_a_question_and_another_answer_stand_on_lines_of_their_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def events() -> AsyncIterator[RunEvent]:
        told: list[RunEvent] = [
            AnswerDelta("It is 4."),
            HeldForApproval("r2", "order", {}, "it writes"),
            AnswerRestarted(),
            AnswerDelta("It is 5."),
        ]
        for event in told:
            yield event

    with (
        Live() as live,
        AnswerPrinter(live) as printer,
        pytest.raises(AssertionError, match="ends with RunFinished"),
    ):
        await printer.show(events())
    assert capsys.readouterr().out == (
        "It is 4.\n\n\n(more was found; the answer again)\nIt is 5.\n"
    )
