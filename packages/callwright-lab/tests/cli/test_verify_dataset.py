"""The command that scores a data set and cleans it."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from callwright.cli.app import app
from callwright_lab.transcripts import FORMATS, open_records, write, write_records
from tests.verify.rows import FOUND, GOOD, row, step

RUN = CliRunner()
GOOD_ROW = {
    **write(row(step("find_flight", GOOD, FOUND)), FORMATS["openai"]),
    "id": "good",
    "x_kept": [1, 2],
}
BAD_ROW = {**write(row(step("fly", {}, FOUND)), FORMATS["openai"]), "id": "bad"}


def test_a_set_is_scored_and_its_clean_rows_are_written_as_they_stood(tmp_path: Path) -> None:
    source, clean, report = (
        tmp_path / "rows.jsonl",
        tmp_path / "clean.jsonl",
        tmp_path / "report.md",
    )
    write_records(source, "lines", [("", GOOD_ROW), ("", BAD_ROW), ("", {"hello": 1})])
    command = ["verify", "dataset", str(source), "--clean", str(clean), "--report", str(report)]
    said = RUN.invoke(app, [*command, "--journal", str(tmp_path / "j.jsonl")])
    assert said.exit_code == 0, said.output
    assert "in no known format" in said.stderr
    assert "| unknown_tool | 1 | 50.0% | alignment | defect |" in said.stdout
    assert [r for _, r in open_records(clean).rows] == [GOOD_ROW]
    assert "| rows | 2 |" in report.read_text(encoding="utf-8")
    page = tmp_path / "report.html"
    said = RUN.invoke(app, [*command[:-1], str(page), "--journal", str(tmp_path / "j.jsonl")])
    assert said.exit_code == 0, said.output
    html = page.read_text(encoding="utf-8")
    assert "unknown_tool (defect)" in html
    assert html.count("<h4>The row</h4>") == 2


def test_a_repeated_row_is_dropped_once_and_not_where_nothing_repeats_it(tmp_path: Path) -> None:
    twice, once, clean = (tmp_path / f"{name}.jsonl" for name in ("twice", "once", "clean"))
    write_records(twice, "lines", [("", GOOD_ROW), ("", GOOD_ROW), ("", GOOD_ROW | {"id": "b"})])
    write_records(once, "lines", [("", GOOD_ROW | {"id": "b"})])
    journal = ["--strict", "--clean", str(clean), "--journal", str(tmp_path / "j.jsonl")]
    for source, kept in ((twice, "good"), (once, "b")):
        said = RUN.invoke(app, ["verify", "dataset", str(source), *journal])
        assert said.exit_code == 0, said.output
        assert [r["id"] for _, r in open_records(clean).rows] == [kept]


def test_a_folder_is_cleaned_file_for_file(tmp_path: Path) -> None:
    write_records(tmp_path / "set" / "a" / "x.json", "list", [("", GOOD_ROW), ("", BAD_ROW)])
    write_records(tmp_path / "set" / "y.json", "list", [("", BAD_ROW)])
    out = tmp_path / "clean"
    command = [
        "verify",
        "dataset",
        str(tmp_path / "set"),
        "--clean",
        str(out),
        "--journal",
        str(tmp_path / "j.jsonl"),
    ]
    assert RUN.invoke(app, command).exit_code == 0
    assert [str(p.relative_to(out)) for p in out.rglob("*.json")] == ["a/x.json"]
    assert [r for _, r in open_records(out / "a" / "x.json").rows] == [GOOD_ROW]
