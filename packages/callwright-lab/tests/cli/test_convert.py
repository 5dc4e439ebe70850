"""The command that writes trajectories in another layout."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from callwright.cli.app import app
from callwright_lab.cli.convert import Written
from callwright_lab.transcripts import (
    FORMATS,
    WRITTEN,
    Transcript,
    read_files,
    write,
    write_records,
)
from tests.transcripts.trajectories import EXAMPLE

RUN = CliRunner()


def test_the_layouts_it_offers_are_those_that_can_be_written() -> None:
    assert tuple(Written) == WRITTEN


def test_a_file_is_converted_and_what_cannot_be_is_named(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out" / "rows.json"
    good = write(Transcript(EXAMPLE), FORMATS["openai"])
    odd = {
        **good,
        "id": "odd",
        "messages": [good["messages"][0], {"role": "assistant", "content": "</thought>"}],
    }
    write_records(source, "lines", [("", good), ("", {"hello": 1}), ("", odd)])
    said = RUN.invoke(app, ["convert", str(source), "--to", "toolbench-vr", "--out", str(out)])
    assert said.exit_code == 0, said.output
    assert "1 of 3 records written" in said.output
    assert "in no known format" in said.stderr
    assert "</thought>" in said.stderr
    ((_, found),) = read_files(out).transcripts
    assert (found.format, found.trajectory.calls) == ("toolbench-vr", EXAMPLE.calls)


def test_answer_files_are_a_map_from_ids(tmp_path: Path) -> None:
    write_records(
        tmp_path / "in.json", "list", [("", write(Transcript(EXAMPLE), FORMATS["sharegpt"]))]
    )
    out = tmp_path / "answers.json"
    assert (
        RUN.invoke(
            app, ["convert", str(tmp_path / "in.json"), "--to", "tooleval", "--out", str(out)]
        ).exit_code
        == 0
    )
    assert out.read_text(encoding="utf-8").startswith('{\n  "t-1"')


def test_records_of_one_name_stay_as_many_as_they_were(tmp_path: Path) -> None:
    write_records(
        tmp_path / "in.jsonl", "lines", [("", write(Transcript(EXAMPLE), FORMATS["sharegpt"]))] * 2
    )
    out = tmp_path / "answers.json"
    said = RUN.invoke(
        app, ["convert", str(tmp_path / "in.jsonl"), "--to", "tooleval", "--out", str(out)]
    )
    assert "2 of 2 records written" in said.output
    assert len(read_files(out).transcripts) == 2
