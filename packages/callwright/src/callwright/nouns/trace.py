"""The one event type and its sinks. A trace is a list of events; a JSONL file holds one a line.

Long texts (prompts, raw replies) are kept whole and once: an event of kind ``blob`` carries the
text under its digest, later events name the digest. Format version 1; :func:`read_jsonl` migrates
older versions.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TextIO

from callwright.nouns.closing import Closing
from callwright.nouns.errors import TraceError
from callwright.nouns.redaction import redact_secrets
from callwright.nouns.types import PLAIN, to_json
from callwright.nouns.wire_names import WIRE_NAMES, current_literal

VERSION = 1

KINDS = tuple(WIRE_NAMES["event kinds"].values())  # what each holds stands in that table
_KNOWN = frozenset(KINDS)
TRACE_HINT = "a trace is what --trace wrote"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a run. ``seq`` orders events; ``at`` is seconds since the run
    began.
    """

    kind: str
    seq: int
    at: float
    data: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return {
            "v": VERSION,
            "seq": self.seq,
            "at": round(self.at, 4),
            "kind": self.kind,
            "data": self.data,
        }


class Sink(Protocol):
    """Protocol of a receiver of events. Called in order, once per event, from one thread."""

    def __call__(self, event: Event) -> None: ...


class MemorySink:
    """Keeps the events in a list."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)


class JsonlSink(Closing):
    """Appends each event to a file as one JSON line, flushed, so that a killed run leaves a
    readable trace. Only its user can read a file that is made here.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        with self._writing():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch(mode=0o600)
            self._file: TextIO = self.path.open(
                "w", encoding="utf-8", errors="surrogatepass", newline="\n"
            )

    def __call__(self, event: Event) -> None:
        with self._writing():
            self._file.write(json.dumps(event.to_dict(), ensure_ascii=False, default=str) + "\n")
            self._file.flush()

    def close(self) -> None:
        with self._writing():
            self._file.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as exc:
            said = f"cannot write the trace {self.path}: {exc.strerror}"
            raise TraceError(said, hint="make room, or choose another --trace") from exc


@dataclass
class Trace:
    """Records a run. Every secret in ``secrets`` is replaced before any sink sees an event.

    ``started``: what the clock showed when the run began; by default what it shows at the first
    event.
    """

    sinks: tuple[Sink, ...] = ()
    secrets: tuple[str, ...] = ()
    clock: Callable[[], float] = time.monotonic
    events: list[Event] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    started: float | None = None
    watch: Callable[[str, Mapping[str, Any]], None] | None = None  # told what is about to happen

    def announce(self, kind: str, **data: Any) -> None:
        """Tell the watcher, if there is one, what is about to happen. Nothing is recorded."""
        if self.watch is not None:
            self.watch(kind, self.redact(to_json(data)))

    def add(self, kind: str, **data: Any) -> Event:
        """Record one event and hand it to every sink."""
        if kind not in _KNOWN:
            raise TraceError(
                f"unknown event kind {kind!r}",
                hint="the kinds are listed in callwright.nouns.trace.KINDS",
            )
        now = self.clock()
        if self.started is None:
            self.started = now
        for name, value in data.items():
            if type(value) not in PLAIN:
                data[name] = to_json(value)
        event = Event(kind, len(self.events), now - self.started, self.redact(data))
        self.events.append(event)
        for sink in self.sinks:
            sink(event)
        return event

    def note(self, *texts: str) -> None:
        """Add notes for the reader of the run, one event each."""
        for text in texts:
            self.add("note", text=text)

    def blob(self, text: str) -> str:
        """Keep a text whole, once; returns the digest by which events name it."""
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        if key not in self._seen:
            self._seen.add(key)
            self.add("blob", digest=key, text=text)
        return key

    def redact(self, value: Any) -> Any:
        """A JSON value with every secret replaced, keys included."""
        return redact_secrets(value, self.secrets)


def round_text(data: Mapping[str, Any]) -> str:
    """Return one line that describes a ``round`` event; "" if the answer already says it."""
    if data["given_up"] is not None:
        return f"the model gave up: {data['given_up']}"
    stopped = f" (stopped: {data['stop']})" if data["stop"] else ""
    return f"printed: {data['shown']}{stopped}" if data["answer"] is None else ""


def recovery_text(data: Mapping[str, Any]) -> str:
    """A ``recovery`` event as one line: what is tried, and for which call."""
    how = {
        "retry": f"{data.get('producer')} gave an argument of it and is asked again",
        "substitute": f"{', '.join(data.get('offered') or ())} may replace it",
        "retrieve": (
            f"the catalogue is searched again: {', '.join(data.get('offered') or ())} may do"
        ),
        "plan": (
            "the rest is planned again; blocked:"
            f" {', '.join(data.get('blocked') or ()) or 'nothing'}"
        ),
        "replan": (
            "the rest is layered again; "
            + "; ".join(
                f"{tool} after {', '.join(names)}"
                for tool, names in (data.get("waits") or {}).items()
            )
        ),
    }
    whom = f" for {data['failed']} {data['tool']}" if data["failed"] else ""
    return f"recovery: {data['step']}{whom}: {how.get(data['step'], '')}"


def shortlist_text(data: Mapping[str, Any]) -> str:
    """A ``shortlist`` event as one line: which tools were found."""
    return f"found for the request: {', '.join(data['names']) or 'no tool that fits'}"


def stale_text(data: Mapping[str, Any]) -> str:
    """A ``stale`` event as one line: which results no longer count, and which writes stay all the
    same.
    """
    written = ", ".join(data["written"])
    stays = f"; {written} rested on it, was written and stays" if written else ""
    return f"stale since {data['by']}: {', '.join(data['results'])} ({data['reason']}){stays}"


def collect_blobs(events: Iterable[Event]) -> dict[str, str]:
    """digest -> text of every blob in a trace."""
    return {e.data["digest"]: e.data["text"] for e in events if e.kind == "blob"}


def read_jsonl(path: Path | str) -> list[Event]:
    """The events of a JSONL trace, migrated to the current version. A half-written last line is
    dropped.
    """
    try:
        lines = Path(path).read_bytes().rstrip(b"\n").split(b"\n")
    except OSError as exc:
        said = f"cannot read the trace {path}: {exc.strerror}"
        raise TraceError(said, hint=TRACE_HINT) from exc
    events = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            events.append(_parse_event(json.loads(line.decode(errors="surrogatepass"))))
        except (ValueError, KeyError, TypeError) as exc:
            if number == len(lines):
                break  # the process was killed while writing
            said = f"{path}, line {number} is not a trace event: {exc}"
            raise TraceError(said, hint=TRACE_HINT) from exc
    return events


def _parse_event(row: dict[str, Any]) -> Event:
    if row["v"] > VERSION:
        raise TraceError(
            f"the trace has format version {row['v']}, this Callwright reads up to {VERSION}"
        )
    kind = current_literal("event kinds", row["kind"])
    return Event(kind, int(row["seq"]), float(row["at"]), row["data"])
