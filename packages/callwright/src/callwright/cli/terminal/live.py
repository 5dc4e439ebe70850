"""A run as it happens, in the terminal: one line per event, and a moving line while the model
writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from callwright.cli.terminal.console import build_console as our_console
from callwright.cli.terminal.console import format_count
from callwright.nouns.control_characters import escape_controls
from callwright.nouns.trace import Event, recovery_text, round_text, shortlist_text, stale_text
from callwright.nouns.types import to_canonical_json

_WIDTH = 150


class Live:
    """A trace sink that prints. On a pipe the same lines come without colour and without the moving
    line.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or our_console(stderr=True)
        if not self._console.is_terminal:
            self._console.width = _WIDTH + 20  # a log file has no edge to fold at
        self._status = Status("starting", console=self._console)
        self._written = 0
        self._waiting: list[Event] | None = None
        self.run = ""  # the id of the run in its journal, if it has one

    def __enter__(self) -> Live:
        self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._status.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While somebody reads a question and types: what happens meanwhile is shown afterwards."""
        self._status.stop()
        self._waiting = []
        try:
            yield
        finally:
            waiting, self._waiting = self._waiting, None
            for event in waiting:
                self(event)
            self._status.start()

    def on_text(self, piece: str) -> None:
        """Called with each piece of a reply while the model writes it."""
        self._written += len(piece)
        if self._waiting is None:
            self._status.update(f"the model writes … {self._written} characters")

    def __call__(self, event: Event) -> None:
        if self._waiting is not None:
            self._waiting.append(event)
            return
        show = getattr(self, "_on_" + event.kind.replace(".", "_"), None)
        if show is not None:
            show(event.data)

    def _line(self, text: str) -> None:
        self._console.print(escape_controls(text), overflow="ellipsis", no_wrap=True, crop=True)

    def _on_run_start(self, data: Mapping[str, Any]) -> None:
        self.run = data["run"]
        tools = (
            f"{format_count(data['offered'], 'tool')} to find some in"
            if data.get("shortlist")
            else format_count(len(data["tools"]), "tool")
        )
        self._line(
            f"[dim]{escape(data['model'])} · {data['strategy']} · {tools} · {data['mode']}"
            f" replies · {data['model_profile']} profile[/]"
        )
        self._status.update("the model reads the request …")

    def _on_trials(self, data: Mapping[str, Any]) -> None:
        for one in data["trials"]["ranking"]:
            self._line(
                "  [dim]tried[/]"
                f" {escape(_shorten_value(one['name'] + ': ' + (one['justification'] or 'not tried')))}"
            )

    def _on_shortlist(self, data: Mapping[str, Any]) -> None:
        self._line(f"[dim]{escape(shortlist_text(data))}[/]")

    def _on_plan(self, data: Mapping[str, Any]) -> None:
        tool = {slot["id"]: slot["tool"] for slot in data["slots"]}
        for index, layer in enumerate(data["layers"], 1):
            self._line(f"[dim]plan {index}:[/] " + escape(", ".join(tool[slot] for slot in layer)))

    def _on_layer(self, data: Mapping[str, Any]) -> None:
        self._line(f"[bold]Layer {data['index']}/{data['total']}[/]")
        self._status.update(f"layer {data['index']}: the model reads …")

    def _on_dispatch(self, data: Mapping[str, Any]) -> None:
        if data["slots"]:
            self._line(f"[bold]On their way[/] {escape(_shorten_value(', '.join(data['slots'])))}")

    def _on_model(self, data: Mapping[str, Any]) -> None:
        self._written = 0
        usage = data["usage"]
        self._line(
            f"  [dim]{data['purpose']}: {usage['prompt_tokens']} tokens in,"
            f" {usage['completion_tokens']} out, {data['seconds']:.1f} s[/]"
        )
        if data.get("discarded"):
            self._line(f"  [yellow]cut off[/] {escape(_shorten_value(data['discarded']))}")

    def _on_call_refused(self, data: Mapping[str, Any]) -> None:
        for violation in data["violations"][:2]:
            self._line(
                f"  [yellow]✗ gate[/] {data['id']} {escape(_shorten_value(violation['message']))}"
            )

    def _on_call_checked(self, data: Mapping[str, Any]) -> None:
        self._edits(data["edits"])

    def _on_call_repair(self, data: Mapping[str, Any]) -> None:
        self._line(f"  [yellow]repaired[/] {data['id']} {escape(_shorten_value(data['after']))}")

    def _on_reflection(self, data: Mapping[str, Any]) -> None:
        for part in ("analysis", "strategy"):
            if data[part]:
                self._line(f"  [yellow]{part}[/] {data['id']} {escape(_shorten_value(data[part]))}")

    def _edits(self, edits: list[Mapping[str, Any]]) -> None:
        for edit in edits:
            before, after = (
                _shorten_value(to_canonical_json(edit[key]), 40) for key in ("before", "after")
            )
            change = f"{edit['path'] or '/'}: {before} → {after} ({edit['rule']})"
            self._line(f"  [yellow]edit[/] {escape(change)}")

    def _on_result(self, data: Mapping[str, Any]) -> None:
        given = (f"{key}={to_canonical_json(value)}" for key, value in data["arguments"].items())
        call = f"{data['tool']}({', '.join(given)})"
        if data["failure"]:
            outcome = (
                f"[red]{escape(data['failure']['kind'])}:"
                f" {escape(_shorten_value(data['failure']['message']))}[/]"
            )
        else:
            outcome = escape(_shorten_value(data["content"]))
        mark = "[red]✗[/]" if data["failure"] else "[green]✓[/]"
        self._line(f"  {mark} [bold]{data['id']}[/] {escape(_shorten_value(call))}")
        self._line(f"      → {outcome}")

    def _on_skip(self, data: Mapping[str, Any]) -> None:
        self._line(f"  [dim]– {escape(data['tool'])}: {escape(_shorten_value(data['reason']))}[/]")

    def _on_round(self, data: Mapping[str, Any]) -> None:
        if said := round_text(data):
            self._line(f"  [dim]{escape(_shorten_value(said))}[/]")

    def _on_recovery(self, data: Mapping[str, Any]) -> None:
        self._line(f"  [yellow]{escape(_shorten_value(recovery_text(data)))}[/]")

    def _on_stale(self, data: Mapping[str, Any]) -> None:
        self._line(f"  [yellow]{escape(_shorten_value(stale_text(data)))}[/]")

    def _on_limit(self, data: Mapping[str, Any]) -> None:
        self._line(f"  [yellow]limit[/] {data['limit']} reached")

    def _on_note(self, data: Mapping[str, Any]) -> None:
        self._console.print(escape_controls(f"  [dim]{escape(data['text'])}[/]"), soft_wrap=True)


def _shorten_value(value: Any, length: int = _WIDTH) -> str:
    text = value if isinstance(value, str) else to_canonical_json(value)
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"
