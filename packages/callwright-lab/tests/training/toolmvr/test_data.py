"""The rows of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import READ
from callwright_lab.training.toolmvr.data import (
    assign_part,
    build_records,
    limit_tokens,
    read_rows,
    report_rows,
    save_records,
)
from callwright_lab.transcripts import FORMATS, Transcript, write, write_records
from tests.training.toolmvr_case import bought

RECORDS = list(build_records(map(bought, range(12)), context=4000))


def test_every_trajectory_gives_a_v_and_an_r_record_of_the_same_part(tmp_path: Path) -> None:
    save_records(tmp_path / "data.jsonl", RECORDS)
    rows = read_rows([tmp_path / "data.jsonl"])
    assert [r.kind for r in rows] == ["V", "R"] * 12
    assert all(v.part == r.part for v, r in zip(rows[::2], rows[1::2], strict=True))
    assert {r.part for r in rows} == {"train", "test"}
    assert len({r.error for r in rows if r.kind == "R"}) > 4, "kinds of errors come equally often"
    assert all((len(r.right) == 1) == (r.kind == "R") for r in rows)
    assert "| train | V |" in report_rows(rows)


def test_results_stand_in_rows_as_a_run_of_the_agent_shows_them() -> None:
    run = bought(3)
    shown = [
        m["content"]
        for m in next(build_records([run], context=4000))["messages"]
        if "Observation:" in m["content"]
    ]
    assert shown == [
        f"Observation:\n{result.content}" for step in run.steps for result in step.results
    ]
    assert any("'" in text and '"' not in text for text in shown), "as Python prints them"
    refused = next(
        record
        for record in RECORDS
        if record["kind"] == "R" and record["reflection"]["kind"] == "calling"
    )
    assert refused["messages"][-2]["content"].startswith("Observation:\n{'error': ")


def test_rows_of_anybody_show_tools_as_a_run_does(tmp_path: Path) -> None:
    tools = tuple(
        replace(tool, output_schema={"type": "object"}, effects=READ) for tool in bought(3).tools
    )
    told = replace(bought(3), tools=tools)
    record = write(Transcript(told), FORMATS["toolbench-vr"])
    assert "annotations" in record["messages"][0]["content"]
    write_records(tmp_path / "theirs.json", "list", [("", record)])
    (row,) = read_rows([tmp_path / "theirs.json"])
    assert "annotations" not in row.messages[0]["content"]
    assert "output_schema" not in row.messages[0]["content"]
    assert [m["content"] for m in row.messages[1:]] == [
        m["content"] for m in record["messages"][1:]
    ]
    assert [tool.name for tool in row.tools] == [tool.name for tool in tools]


def test_rows_that_are_too_long_or_that_python_cannot_say_are_left_out() -> None:
    assert list(build_records([bought()], context=100)) == []


def test_so_many_tokens_are_kept_with_whole_trajectories() -> None:
    assert limit_tokens(RECORDS, 0) == RECORDS
    some = limit_tokens(RECORDS, 2000)
    assert 2 <= len(some) < len(RECORDS)
    assert some == RECORDS[: len(some)]
    assert RECORDS[len(some)]["kind"] == "V"


def test_files_of_others_are_read_in_any_layout_and_parted_by_their_request(tmp_path: Path) -> None:
    theirs = write(Transcript(bought(3), context=frozenset({0, 1})), FORMATS["openai"])
    write_records(tmp_path / "theirs.json", "list", [("", theirs)])
    (row,) = read_rows([tmp_path / "theirs.json"])
    assert (row.kind, row.part, row.error) == ("R", assign_part(bought(3)), "")
    assert [m.get("no_loss") for m in row.messages if m["role"] == "assistant"] == [
        True,
        True,
        False,
    ]
    with pytest.raises(ConfigError, match="there are no rows"):
        read_rows([tmp_path / "nothing.jsonl"])


def test_rows_of_two_files_with_the_same_ids_stay_two(tmp_path: Path) -> None:
    for name, number in (("a", 1), ("b", 2)):
        record = {**write(Transcript(bought(number)), FORMATS["openai"]), "id": "1"}
        write_records(tmp_path / f"{name}.jsonl", "lines", [("", record)])
    rows = read_rows([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    assert len({row.id for row in rows}) == 2, "the run finds a row's tokens by its id"
    assert rows[0].messages != rows[1].messages


def test_a_row_that_python_cannot_say_costs_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trajectory = bought(1)
    (step, *steps) = trajectory.steps
    calls = tuple(replace(call, tool="in-app") for call in step.calls)
    other = replace(trajectory, id="odd", steps=(replace(step, calls=calls, code=""), *steps))
    rows = [("", write(Transcript(t), FORMATS["openai"])) for t in (other, bought(2))]
    write_records(tmp_path / "rows.jsonl", "lines", [*rows, ("", {"hello": 1})])
    assert len(read_rows([tmp_path / "rows.jsonl"])) == 1
    said = capsys.readouterr().err
    assert "odd: " in said
    assert "record 3: a record in no known format" in said
    write_records(tmp_path / "odd.jsonl", "lines", rows[:1])
    with pytest.raises(ConfigError, match=r"no row of .* can be used"):
        read_rows([tmp_path / "odd.jsonl"])
