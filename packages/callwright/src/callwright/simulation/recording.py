"""Recordings of what tools really answered, kept to be answered again: from traces, journals,
published runs and live calls.

A recording is a trace: a ``run.start`` that holds the tools, and ``result`` events. The trace or
the journal of any run is therefore one, and :class:`RecordingSource` writes one while tools are
called.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from callwright.agent.journal import store as journal
from callwright.nouns.errors import CallwrightError, CatalogError, ConfigError, Failure
from callwright.nouns.installation import LAB, render_install_hint
from callwright.nouns.protocols import ToolSource
from callwright.nouns.trace import Event, Sink, Trace, read_jsonl
from callwright.nouns.types import (
    Effects,
    JsonObject,
    Simulated,
    Tool,
    ToolOutput,
    get_public_fields,
    to_canonical_json,
)
from callwright.simulation.published_runs import Runs, has_readers, read_published_runs
from callwright.tools.wrapped import WrappedSource

_RECORDINGS = (
    "a trace (.jsonl), a journal (.run), ToolBench's runs and answers (.json), or a folder of such"
    " files"
)
_SUFFIXES = (".json", ".jsonl", journal.SUFFIX)
_NAMED = 3  # of the files that were skipped
_LIKE_ENOUGH = 1  # equal arguments that the nearest call must share, where the call has any


@dataclass(frozen=True, slots=True)
class Recorded:
    """One call and what came of it. ``digest`` is the tool's at that time, "" where nobody noted
    it.
    """

    tool: str
    arguments: JsonObject
    output: ToolOutput
    digest: str = ""
    seconds: float = 0.0


class Recording:
    """Calls that were made and their replies. Of several of one call the latest success counts,
    else the latest.

    ``tools`` are those that it describes, by name; ``problems`` say what could not be taken over.
    """

    def __init__(
        self,
        calls: Iterable[Recorded] = (),
        tools: Iterable[Tool] = (),
        problems: Sequence[str] = (),
    ) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.problems = tuple(problems)
        self._calls: dict[str, dict[tuple[str, str], Recorded]] = {}
        for call in calls:
            held = self._calls.setdefault(call.tool, {})
            key = (call.digest, to_canonical_json(call.arguments))
            if (
                key not in held
                or call.output.failure is None
                or held[key].output.failure is not None
            ):
                held[key] = call

    @classmethod
    def read(cls, *paths: Path | str) -> Recording:
        """The recordings in files: traces (``.jsonl``), journals (``.run``), ToolBench's runs
        (``.json``); and in folders of such files, where others and what cannot be read are skipped,
        and counted in ``problems``.

        Raises TraceError, JournalError or ConfigError where a file is none of these, or a folder
        holds none.
        """
        return _merge_recordings([_read_recording(Path(path).expanduser()) for path in paths])

    @classmethod
    def of_events(cls, events: Iterable[Event]) -> Recording:
        """Return the recording of the calls in a trace or a journal. Simulated results stay
        marked.
        """
        tools: dict[str, Tool] = {}
        calls = []
        for event in events:
            if event.kind == "run.start":
                tools |= {tool.name: tool for tool in map(_parse_tool, event.data.get("tools", ()))}
            elif event.kind == "result":
                known = tools.get(event.data["tool"])
                calls.append(_parse_recorded(event.data, known.digest if known else ""))
        return cls(calls, tools.values())

    def __iter__(self) -> Iterator[Recorded]:
        return (call for held in self._calls.values() for call in held.values())

    def __len__(self) -> int:
        return sum(map(len, self._calls.values()))

    def find(self, tool: Tool, arguments: JsonObject) -> ToolOutput | None:
        """The reply to this very call of this very tool (digest), or of its name where no digest
        was noted.
        """
        held = self._calls.get(tool.name, {})
        wanted = to_canonical_json(arguments)
        found = held.get((tool.digest, wanted)) or held.get(("", wanted))
        return _mark_simulated(found.output, "recorded") if found else None

    def nearest(self, tool: Tool, arguments: JsonObject) -> ToolOutput | None:
        """The reply to the recorded call of this tool that shares the most arguments; successes
        come first.

        None where no call shares any: a reply about something else altogether would mislead.
        """
        given = {(key, to_canonical_json(value)) for key, value in arguments.items()}
        ranked = sorted(
            self.examples(tool),
            key=lambda c: (
                -len(given & _get_argument_pairs(c)),
                c.output.failure is not None,
                len(_get_argument_pairs(c)),
            ),
        )
        if not ranked or len(given & _get_argument_pairs(ranked[0])) < min(
            _LIKE_ENOUGH, len(given)
        ):
            return None
        return _mark_simulated(ranked[0].output, "nearest")

    def examples(self, tool: Tool, most: int | None = None) -> list[Recorded]:
        """Recorded calls of this tool as it is now, or of its name where no digest was noted."""
        held = self._calls.get(tool.name, {})
        return [call for (digest, _), call in held.items() if digest in ("", tool.digest)][:most]


class RecordingSource(WrappedSource):
    """A tool source in front of another: passes every call on and keeps what came of it. ``sink``:
    where to.
    """

    def __init__(self, source: ToolSource, sink: Sink) -> None:
        super().__init__(source)
        self._trace = Trace(sinks=(sink,))

    async def open(self) -> Sequence[Tool]:
        tools = await super().open()
        self._trace.secrets = self.secrets
        start_recording(self._trace, tools)
        return tools

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        began = time.monotonic()
        output = await super().call(tool, arguments)
        record_call(self._trace, tool, arguments, output, time.monotonic() - began)
        return output


def start_recording(trace: Trace, tools: Sequence[Tool]) -> None:
    """Begin a recording: the event that says which tools these are."""
    trace.add("run.start", query="", tools=tools)


def record_call(
    trace: Trace, tool: Tool, arguments: JsonObject, output: ToolOutput, seconds: float
) -> None:
    """Keep one call in a recording."""
    trace.add(
        "result",
        id=f"call_{len(trace.events)}",
        tool=tool.name,
        arguments=arguments,
        **get_public_fields(output),
        seconds=round(seconds, 4),
        judged=False,
    )


def _read_recording(path: Path) -> Recording:
    if path.is_dir():
        return _read_folder(path)
    if path.suffix == journal.SUFFIX:
        return Recording.of_events(journal.read_journal(path, every=True, texts=False)[1])
    if path.suffix == ".jsonl":
        return Recording.of_events(read_jsonl(path))
    runs = read_published_runs(path) if path.suffix == ".json" else Runs()
    if not runs.tools:
        raise ConfigError(f"{path} is no recording", hint=_hint())
    return _convert_runs(runs, path)


def _read_folder(folder: Path) -> Recording:
    """Return the recording of the files below a folder. Published folders also hold other files,
    which are skipped.
    """
    found, runs, skipped = [], Runs(), []
    for file in sorted(file for file in folder.rglob("*") if file.suffix in _SUFFIXES):
        more, part = Runs(), Recording()
        try:
            if file.suffix == ".json":
                more = read_published_runs(file)
            else:
                part = _read_recording(file)
        except CallwrightError:  # what it holds is for somebody else
            pass
        runs += more
        if part.tools or len(part):
            found.append(part)
        elif not more.tools:
            skipped.append(str(file.relative_to(folder)))
    if runs.tools:
        found.append(_convert_runs(runs, folder))
    if not found:
        raise ConfigError(f"{folder} holds no recording", hint=_hint())
    named = ", ".join(skipped[:_NAMED]) + (", …" if len(skipped) > _NAMED else "")
    said = f"{folder.name}: {len(skipped)} files skipped that hold no recorded reply ({named})"
    return _merge_recordings(found, [said] if skipped else [])


def _hint() -> str:
    """Return a hint: the forms of a recording, and what to install to read the runs of others."""
    lab = (
        ""
        if has_readers()
        else "; ToolBench's are read by another package: " + render_install_hint(package=LAB)
    )
    return _RECORDINGS + lab


def _convert_runs(runs: Runs, path: Path) -> Recording:
    calls = [Recorded(c.tool, c.arguments, c.output, tool.digest) for c, tool in runs.calls]
    return Recording(calls, runs.tools, [*runs.problems(path.name)])


def _merge_recordings(parts: Sequence[Recording], problems: Sequence[str] = ()) -> Recording:
    calls = [call for part in parts for call in part]
    tools = [tool for part in parts for tool in part.tools.values()]
    return Recording(calls, tools, [*(said for part in parts for said in part.problems), *problems])


def _parse_tool(told: JsonObject) -> Tool:
    try:
        known = {f.name for f in fields(Tool)} - {"effects"}
        effects = Effects(**told.get("effects", {}))
        return Tool(**{key: value for key, value in told.items() if key in known}, effects=effects)
    except TypeError as error:
        raise CatalogError(f"the recording describes a tool that cannot be read: {error}") from None


def _parse_recorded(told: Any, digest: str) -> Recorded:
    failure = (
        None if told.get("judged") or told.get("failure") is None else Failure(**told["failure"])
    )
    output = ToolOutput(told.get("content"), failure, told.get("simulated", ""))
    return Recorded(
        told["tool"], told["arguments"], output, digest, float(told.get("seconds", 0.0))
    )


def _mark_simulated(output: ToolOutput, how: Simulated) -> ToolOutput:
    """A reply as it is answered again. What a model made up remains what a model made up."""
    return ToolOutput(
        output.content, output.failure, "model" if output.simulated == "model" else how
    )


def _get_argument_pairs(call: Recorded) -> set[tuple[str, str]]:
    return {(key, to_canonical_json(value)) for key, value in call.arguments.items()}
