"""What a run would cost."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

import callwright_lab.training
from callwright.nouns.errors import ConfigError
from callwright_lab.training.toolmvr.command import main
from callwright_lab.training.toolmvr.data import build_records, read_rows, save_records
from callwright_lab.training.toolmvr.dry import estimate_cost, report_dry_run
from callwright_lab.training.toolmvr.settings import CPU, GOES_BY, PRESETS, QWEN, Settings
from tests.training.toolmvr_case import bought

SOURCES = [
    Path(callwright_lab.training.__path__[0], "toolmvr", f"{name}.py")
    for name in ("command", "runs", "dry")
]


def test_the_papers_run_in_rows_tokens_hours_and_memory() -> None:
    text = "\n".join(estimate_cost(QWEN, None))
    assert "11765 + 1176 rows an epoch (of 3625 R rows; ratio 10)" in text
    assert "for V and R on an A100" in text
    assert "No single card of 80 GB holds it" in text
    assert "sharding: none, processes: 1" in text
    short = "\n".join(estimate_cost(PRESETS["two-cores"], None))
    assert "x 512 tokens, 125 steps of 4: 0.26 M tokens" in short, "as many as it has steps"
    assert "11765 + 3625 rows" in "\n".join(estimate_cost(replace(QWEN, ratio=0.0), None))
    assert "No rows are here yet, so the counts are the paper's" in text


def test_what_would_be_learned_from_is_counted_and_not_what_is_held_out_or_too_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.jsonl"
    save_records(path, build_records(map(bought, range(12)), context=4000))
    rows = read_rows([path])
    fits = sorted(row.tokens for row in rows if row.part == "train")
    context = fits[len(fits) // 2]
    learned = [row for row in rows if row.part == "train" and row.tokens <= context]
    assert 0 < len(learned) < len(fits)
    told = [
        "--preset",
        "cpu",
        "--ratio",
        "0",
        "--context",
        str(context),
        "--dry-run",
        "--rows",
        str(path),
    ]
    assert main([*told, "--out", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().out
    counts = [sum(row.kind == kind for row in learned) for kind in ("V", "R")]
    assert f"V and R: {counts[0]} + {counts[1]} rows an epoch" in said
    assert (
        f"Of {len(rows)} rows {len(learned)} are learned from:"
        f" {sum(r.part == 'test' for r in rows)} are held" in said
    )
    assert "11765" not in said


def test_the_rows_at_hand_are_counted_and_what_trl_is_told_is_shown(tmp_path: Path) -> None:
    save_records(tmp_path / "data.jsonl", build_records(map(bought, range(12)), context=4000))
    rows = read_rows([tmp_path / "data.jsonl"])
    text = report_dry_run(CPU, rows, tmp_path)
    verified = sum(r.kind == "V" and r.part == "train" for r in rows)
    assert f"{verified} + {round(verified / 10)} rows an epoch" in text
    assert "| ratio | 10.0 |" in text
    assert "| sft_rate | 0.0002 |" in text
    assert "| rate |" not in text, "that of reinforcement, which this run has none of"
    assert "no hours" in "\n".join(estimate_cost(replace(CPU, model="mine"), rows))


def test_rows_of_a_users_own_are_counted_before_anything_learns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    save_records(rows, build_records(map(bought, range(4)), context=4000))
    told = ["--preset", "cpu", "--stages", "data", "--out", str(tmp_path / "run")]
    assert main([*told, "--rows", str(rows)]) == 0
    assert "| train | V |" in capsys.readouterr().out
    for stage in (told, ["--dry-run"]):
        with pytest.raises(ConfigError, match="there are no rows in"):
            main([*stage, "--rows", str(tmp_path / "row.jsonl")])


def test_a_setting_that_the_run_does_not_go_by_is_no_option(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["--dry-run", "--rate", "2e-5"])
    assert "--rate" in capsys.readouterr().err
    read = set(re.findall(r"settings\.(\w+)", "".join(p.read_text() for p in SOURCES)))
    assert read & {f.name for f in fields(Settings)} <= set(GOES_BY)
