"""``callwright chat``: each line is a turn of one conversation, over tools and a model that stay
open.
"""

from __future__ import annotations

import io
import re
import sys
from contextlib import suppress
from pathlib import Path

from callwright.agent.orchestrator import Orchestrator, Run
from callwright.agent.run import read_turn
from callwright.cli.chat.session import Session
from callwright.cli.chat.turns import Turns
from callwright.cli.evidence import open_evidence
from callwright.cli.run import (
    RunRequest,
    build_orchestrator,
    prepare_request,
    print_run,
    report_resume_hint,
)
from callwright.cli.terminal.answer import AnswerPrinter
from callwright.cli.terminal.consent import make_terminal_approval
from callwright.cli.terminal.console import build_console, print_table, shorten_text
from callwright.cli.terminal.ending import print_error
from callwright.cli.terminal.live import Live
from callwright.cli.terminal.streams import unwrap_stream
from callwright.nouns.errors import CallwrightError
from callwright.nouns.trace import MemorySink

_HELP = """Each line is a request; it may speak of earlier ones and of their results.
  /tools  list the tools
  /help   show this
  /exit   end the chat, as the end of input does
Ctrl-C stops a turn; at the prompt it ends the chat."""
_PROMPT = "> "
_COMMAND = re.compile(r"/[a-z]+")


def run_chat(request: RunRequest, path: Path | None) -> int:
    """Answer the lines of standard input one after the other, until it ends. 1 where there were
    turns and none of them was carried out.
    """
    session = Session(path)
    planner = prepare_request(request, "chat")
    live, events = Live(), MemorySink()
    with open_evidence(request.evidence) as evidence:
        approve = make_terminal_approval(live, lambda: turns.ask())
        orchestrator = build_orchestrator(request, planner, live, evidence, [live, events], approve)
        turns = Turns(orchestrator)
        with turns:
            chat = Chat(request, orchestrator, turns, session, live, events)
            return chat.read_lines()


class Chat:
    """A conversation over open tools."""

    def __init__(
        self,
        request: RunRequest,
        orchestrator: Orchestrator,
        turns: Turns,
        session: Session,
        live: Live,
        events: MemorySink,
    ) -> None:
        self._request = request
        self._orchestrator = orchestrator
        self._turns = turns
        self._session = session
        self._live = live
        self._events = events
        self._failed = self._ended = 0  # turns

    def read_lines(self) -> int:
        """Carry out line after line. Returns the exit code."""
        self._greet()
        while (line := _read_line()) is not None:
            line = line.strip()
            if line == "/exit":
                break
            if _COMMAND.fullmatch(line):
                self._obey(line)
            elif line:
                self._take_turn(line)
        return int(0 < self._failed == self._ended)

    def _greet(self) -> None:
        if self._session.turns:
            print(f"the session has {self._session.turns} earlier turns", file=sys.stderr)
        if sys.stdin.isatty():
            with suppress(ImportError):
                import readline  # noqa: F401  # lines can be edited, and found again
            print("/help lists the commands; Ctrl-D ends the chat", file=sys.stderr)

    def _obey(self, command: str) -> None:
        if command == "/tools":
            rows = [
                (tool.name, shorten_text(tool.description)) for tool in self._orchestrator.tools
            ]
            print_table(("tool", "what it does"), rows, out=build_console(stderr=True))
        else:
            known = command == "/help"
            print(_HELP if known else f"there is no command {command}; /help", file=sys.stderr)

    def _take_turn(self, line: str) -> None:
        """Carry out one turn; its errors are printed."""
        self._events.events.clear()
        self._live.run = ""
        self._ended += 1
        try:
            with report_resume_hint(self._live, self._request.journal):
                run = self._carry_out(line)
            print_run(run, False, is_told=True)
        except CallwrightError as error:
            self._failed += 1
            print_error(error)
        except KeyboardInterrupt:
            pass  # the turn is stopped, and said to be
        self._keep()

    def _carry_out(self, line: str) -> Run:
        stream = self._orchestrator.stream(line, self._session.messages)
        with self._live, AnswerPrinter(self._live) as printer:
            return self._turns.carry_out(lambda: printer.show(stream))

    def _keep(self) -> None:
        try:
            self._session.add(read_turn(self._events.events))
        except CallwrightError as error:
            print_error(error)


def _read_line() -> str | None:
    """The next line; None at the end of input. In a terminal there is a prompt."""
    if not sys.stdin.isatty():
        stdin = unwrap_stream(sys.stdin)
        if isinstance(stdin, io.TextIOWrapper) and stdin.errors == "strict":
            stdin.reconfigure(errors="replace")
        return sys.stdin.readline() or None
    try:
        if sys.stdout.isatty():
            return input(_PROMPT)
        print(_PROMPT, end="", file=sys.stderr, flush=True)
        return input()
    except EOFError:
        print(file=sys.stderr)
        return None
