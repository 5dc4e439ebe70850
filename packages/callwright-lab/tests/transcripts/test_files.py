"""Files and folders of records."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.trajectory import Trajectory
from callwright_lab.transcripts import (
    FORMATS,
    WRITTEN,
    Transcript,
    normalize_trajectory,
    open_records,
    read_files,
    read_record,
    write,
    write_records,
)
from callwright_lab.transcripts.files import Shape
from tests.places import DATA
from tests.transcripts.trajectories import EXAMPLE

ROW = write(Transcript(EXAMPLE), FORMATS["openai"])
EVAL = write(Transcript(EXAMPLE), FORMATS["tooleval"])


@pytest.mark.parametrize(
    ("shape", "rows"),
    [
        ("list", [("", ROW), ("", ROW)]),
        ("lines", [("", ROW), ("", ROW)]),
        ("map", [("7", EVAL)]),
        ("one", [("", ROW)]),
    ],
)
def test_a_file_is_written_as_it_was_read(
    tmp_path: Path, shape: Shape, rows: list[tuple[str, dict[str, object]]]
) -> None:
    path = tmp_path / "deep" / ("a.jsonl" if shape == "lines" else "a.json")
    write_records(path, shape, rows)
    found = open_records(path)
    assert (found.shape, list(found.rows)) == (shape, rows)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("text", ["\u2028", "\u0085", "\x0b", "\x1c", "\r", "\ufeff"])
@pytest.mark.parametrize("shape", ["list", "lines"])
def test_only_the_end_of_a_line_ends_one(tmp_path: Path, shape: Shape, text: str) -> None:
    rows = [("", {**ROW, "source": f"a{text}b"})] * 2
    write_records(tmp_path / "a.jsonl", shape, rows)
    assert list(open_records(tmp_path / "a.jsonl").rows) == rows


def test_files_of_other_machines_are_read_and_what_no_file_can_hold_is_written(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + (json.dumps(ROW) + "\r\n").encode() * 2)
    assert [row for _, row in open_records(path).rows] == [ROW, ROW]
    write_records(path, "lines", [("", {**ROW, "source": "half \ud800 of a pair"})])
    assert open_records(path).rows[0][1]["source"] == "half ? of a pair"  # type: ignore[index, call-overload]
    with pytest.raises(ConfigError, match="cannot be written"):
        write_records(path / "below.jsonl", "lines", [("", ROW)])


def test_a_transcript_without_an_id_is_called_after_its_place(tmp_path: Path) -> None:
    write_records(tmp_path / "runs.json", "map", [("7", EVAL)])
    write_records(
        tmp_path / "rows.jsonl", "lines", [("", {k: v for k, v in ROW.items() if k != "id"})]
    )
    assert [t.trajectory.id for _, t in read_files(tmp_path).transcripts] == ["rows-1", "runs-7"]


def test_records_that_cannot_be_read_are_left_out_with_a_reason(tmp_path: Path) -> None:
    write_records(tmp_path / "a.json", "list", [("", ROW), ("", {"hello": 1}), ("", [1])])
    found = read_files(tmp_path / "a.json")
    assert [place for place, _ in found.transcripts] == [(0, 0)]
    assert [text.split(":")[0] for text in found.left_out] == [
        "a.json, record 2",
        "a.json, record 3",
    ]
    assert "in no known format" in found.left_out[0]


def test_a_last_line_that_was_not_written_to_its_end_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{json.dumps(ROW)}\n{{"messages": [', encoding="utf-8")
    found = read_files(path)
    assert [place for place, _ in found.transcripts] == [(0, 0)]
    assert found.left_out == ("a.jsonl, record 2: a record is an object, not '{\"messages\": ['",)
    path.write_text('{"messages": [', encoding="utf-8")
    with pytest.raises(ConfigError, match="line 1 is not JSON"):
        read_files(path)


def test_a_file_without_one_readable_record_is_refused(tmp_path: Path) -> None:
    write_records(tmp_path / "a.json", "list", [("", {"hello": 1})])
    with pytest.raises(ConfigError, match="in no known format"):
        read_files(tmp_path / "a.json")
    (tmp_path / "b.jsonl").write_text('{"a": 1}\n{"a": \n', encoding="utf-8")
    with pytest.raises(ConfigError, match="line 2 is not JSON"):
        read_files(tmp_path / "b.jsonl")
    with pytest.raises(ConfigError, match="cannot read"):
        read_files(tmp_path / "c.json")


def test_seal_tools_are_read_with_the_catalogue_beside_them(tmp_path: Path) -> None:
    spec = {
        "api_name": "find",
        "api_description": "",
        "parameters": {},
        "required": [],
        "responses": {"id": {}},
    }
    write_records(tmp_path / "tool.jsonl", "lines", [("", spec)])
    row = {
        "id": "1",
        "query": "q",
        "calling": [{"api": "find", "parameters": {}, "responses": ["API_call_0"]}],
    }
    (tmp_path / "dev.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    ((_, found),) = read_files(tmp_path).transcripts
    assert [t.name for t in found.trajectory.tools] == ["find"]


PUBLISHED = ("toolbench_vr", "stabletoolbench/gpt35_react_runs", "toolbench_example/answer", "nestools",
             "seal_tools/dev.jsonl", "api_bank")  # fmt: skip


@pytest.mark.parametrize("folder", PUBLISHED)
def test_published_rows_are_written_as_they_were_read_and_survive_every_other_layout(
    folder: str,
) -> None:
    if not (DATA / folder).exists():
        pytest.skip(f"data: {folder} is not there")
    found = [transcript for _, transcript in read_files(DATA / folder).transcripts]
    for transcript in Random(folder).sample(found, min(12, len(found))):
        origin = transcript.origin
        assert origin is not None
        if origin.format in WRITTEN:
            assert json.dumps(write(transcript, FORMATS[origin.format])) == json.dumps(
                origin.record
            )
        _survives(transcript)


def _survives(transcript: Transcript) -> None:
    """Whatever a layout does not refuse reads as the same calls and the same answer; two layouts
    refuse nothing.
    """
    plain = normalize_trajectory(transcript.trajectory)
    for target in WRITTEN:
        try:
            record = write(replace(transcript, context=frozenset(), origin=None), FORMATS[target])
        except ConfigError:
            assert target not in ("openai", "sharegpt"), "they can say everything"
            continue
        back = normalize_trajectory(read_record(record, format=target, id=plain.id).trajectory)
        assert [[(c.tool, c.arguments) for c in s.calls] for s in back.steps] == [
            [(c.tool, c.arguments) for c in s.calls] for s in _said(plain, target).steps
        ], target
        assert (back.answer or "").strip() == (plain.answer or "").strip()


def _said(trajectory: Trajectory, target: str) -> Trajectory:
    """ToolEval knows one call a round."""
    if target != "tooleval":
        return trajectory
    steps = [replace(s, calls=(c,)) for s in trajectory.steps for c in s.calls] + [
        s for s in trajectory.steps if not s.calls
    ]
    return replace(trajectory, steps=tuple(steps))
