"""``callwright view``: a trace becomes a page."""

from __future__ import annotations

from pathlib import Path

from callwright.nouns.errors import TraceError, convert_errors
from callwright.nouns.trace import TRACE_HINT, read_jsonl
from callwright.viewer import page


def write_page(trace: Path, html: Path | None) -> None:
    """Write the page of a trace and print where it is. Raises TraceError."""
    target = html or trace.with_suffix(".html")
    write_html(draw_page(trace), target)
    print(target)


def draw_page(trace: Path, *, live: bool = False) -> str:
    """The page of a trace; ``live``: one that is served. Raises TraceError, also for events that
    say other things than a run's do.
    """
    events = read_jsonl(trace)
    if not live and not any(event.kind == "run.start" for event in events):
        raise TraceError(f"{trace} holds no run", hint=TRACE_HINT)
    with convert_errors(TraceError, f"{trace} is not the trace of a run", hint=TRACE_HINT):
        return page(events, live=live)


def write_html(text: str, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(
            text, encoding="utf-8", errors="replace"
        )  # a reply may hold lone surrogates
    except OSError as exc:
        raise TraceError(
            f"cannot write the page {target}: {exc.strerror}", hint="choose another --html"
        ) from exc
