"""A trace loses nothing, keeps texts once, tells no secret, and can be read back."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.errors import TraceError
from callwright.nouns.trace import (
    KINDS,
    VERSION,
    JsonlSink,
    MemorySink,
    Trace,
    collect_blobs,
    read_jsonl,
)

TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates too: models write them
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.tuples(st.sampled_from(KINDS), JSON), max_size=8))
def test_what_is_written_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list
) -> None:
    path = tmp_path_factory.mktemp("trace") / "run.jsonl"
    with JsonlSink(path) as sink:
        trace = Trace((sink,))
        for kind, value in rows:
            trace.add(kind, value=value)
    back = read_jsonl(path)
    assert [(e.kind, e.seq, dict(e.data)) for e in back] == [
        (e.kind, e.seq, dict(e.data)) for e in trace.events
    ]


def test_a_long_text_is_kept_whole_and_once() -> None:
    memory = MemorySink()
    trace = Trace((memory,))
    first, second = trace.blob("x" * 10_000), trace.blob("x" * 10_000)
    assert first == second
    assert len(memory.events) == 1
    assert collect_blobs(memory.events)[first] == "x" * 10_000


def test_a_secret_reaches_no_sink(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with JsonlSink(path) as sink:
        trace = Trace((sink,), secrets=("sk-canary",))
        trace.blob("Authorization: Bearer sk-canary")
        trace.add("result", content={"sk-canary": ["is sk-canary"]})
    assert "sk-canary" not in path.read_text()
    assert all("sk-canary" not in repr(e) for e in trace.events)


def test_a_killed_run_leaves_a_readable_trace(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with JsonlSink(path) as sink:
        trace = Trace((sink,))
        trace.add("note", text="one")
        trace.add("note", text="two")
    whole = path.read_text()
    path.write_text(whole[:-9])
    assert [e.data["text"] for e in read_jsonl(path)] == ["one"]


def test_a_last_line_cut_within_a_letter_is_dropped_and_other_bytes_are_named(
    tmp_path: Path,
) -> None:
    """Before, both were a UnicodeDecodeError: of a run that was killed, no page could be drawn."""
    row = '{"v":1,"seq":0,"at":0,"kind":"note","data":{"text":"Z\u00fc"}}\n'.encode()
    path = tmp_path / "run.jsonl"
    path.write_bytes(row + row[: row.index(b"\xc3") + 1])
    assert [e.data["text"] for e in read_jsonl(path)] == ["Z\u00fc"]
    path.write_bytes(b"\xff\xfe\n" + row)
    with pytest.raises(TraceError, match="line 1 is not a trace event"):
        read_jsonl(path)


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(
        '{"v":1,"seq":0,"at":0,"kind":"note","data":{}}\nnonsense\n{"v":1,"seq":1,"at":0,"kind":"note","data":{}}\n'
    )
    with pytest.raises(TraceError, match="line 2"):
        read_jsonl(path)


def test_a_trace_of_the_first_format_version_stays_readable(tmp_path: Path) -> None:
    """Version 1 as it was first written: whoever changes the format keeps this line readable."""
    path = tmp_path / "v1.jsonl"
    path.write_text(
        json.dumps(
            {"v": 1, "seq": 3, "at": 0.5, "kind": "skip", "data": {"tool": "t", "reason": "r"}}
        )
    )
    (event,) = read_jsonl(path)
    assert (event.kind, event.seq, event.at, event.data["reason"]) == ("skip", 3, 0.5, "r")


def test_a_trace_from_the_future_is_refused_with_its_version(tmp_path: Path) -> None:
    path = tmp_path / "new.jsonl"
    row = json.dumps({"v": VERSION + 1, "seq": 0, "at": 0, "kind": "note", "data": {}})
    path.write_text(row + "\n" + row)
    with pytest.raises(TraceError, match=str(VERSION + 1)):
        read_jsonl(path)


def test_an_unknown_kind_of_event_is_a_developers_error() -> None:
    with pytest.raises(TraceError, match="surprise"):
        Trace().add("surprise")


def test_a_path_that_cannot_be_written_or_read_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceError, match="cannot write"):
        JsonlSink(tmp_path / "file" / "run.jsonl")
    with pytest.raises(TraceError, match="cannot read"):
        read_jsonl(tmp_path / "missing.jsonl")


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
def test_only_its_user_can_read_a_trace(tmp_path: Path) -> None:
    new, old = tmp_path / "new.jsonl", tmp_path / "old.jsonl"
    old.write_text("before")
    old.chmod(0o640)
    for path in (new, old):
        with JsonlSink(path) as sink:
            Trace((sink,)).note("seen")
        assert [event.kind for event in read_jsonl(path)] == ["note"]
    assert [path.stat().st_mode & 0o777 for path in (new, old)] == [0o600, 0o640]
