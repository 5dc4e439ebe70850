"""The command ``callwright train toolmvr``, end to end on a tiny random model."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from callwright.nouns.errors import ConfigError
from callwright_lab.training.toolmvr.command import main
from callwright_lab.training.toolmvr.data import build_records, save_records
from tests.training.refiner_case import count_models, save_tiny_model
from tests.training.toolmvr_case import bought
from tests.transcripts.test_gold import CALLS, SPECS

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train

TOY = (
    "--preset",
    "cpu",
    "--steps",
    "2",
    "--sft-batch",
    "2",
    "--micro",
    "1",
    "--context",
    "6000",
    "--top",
    "0",
)


@pytest.mark.heavy
def test_every_stage_runs_and_leaves_its_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_records(tmp_path / "rows.jsonl", build_records(map(bought, range(12)), context=4000))
    out = tmp_path / "run"
    told = [
        *TOY,
        "--model",
        save_tiny_model(tmp_path / "start"),
        "--rows",
        str(tmp_path / "rows.jsonl"),
        "--out",
        str(out),
        "--ratio",
        "1",
        "--longest",
        "8",
    ]
    assert main([*told, "--held", "2"]) == 0
    scores = json.loads((out / "scores.json").read_text())
    assert list(scores) == ["untrained", "V only", "V and R"]
    assert all(len(one["corrected"]) == 2 for one in scores.values())
    said = capsys.readouterr()
    assert "| V and R |" in said.out
    assert "with loss" in said.err
    tables = (out / "scores.md").read_text()
    assert "ECR, objective" in tables
    (out / "scores.md").unlink()
    assert main([*told, "--stages", "report"]) == 0, "no model is asked: scores.json says it all"
    assert (out / "scores.md").read_text() == tables
    with pytest.raises(ConfigError, match="already a run"):
        main([*told, "--stages", "v"])
    assert main([*told, "--stages", "v", "--resume", "--steps", "3"]) == 0


def test_rows_are_made_of_data_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "nestools").mkdir()
    calls = [{"api_name": c["name"], **{k: v for k, v in c.items() if k != "name"}} for c in CALLS]
    row = {"test_id": 7, "api": SPECS, "task": "The price of ink?", "call": calls}
    (tmp_path / "nestools" / "test_data.jsonl").write_text(json.dumps(row), encoding="utf-8")
    out = tmp_path / "run"
    told = ["--stages", "data", "--sources", "nestools", "--data", str(tmp_path), "--out", str(out)]
    assert main(["--preset", "cpu", *told]) == 0
    kinds = [json.loads(line)["kind"] for line in (out / "data.jsonl").read_text().splitlines()]
    assert kinds == ["V", "R"]
    assert "Errors in R" in capsys.readouterr().out


def test_a_dry_run_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--dry-run", "--out", str(tmp_path / "none")]) == 0
    assert "11765 + 1176 rows an epoch" in capsys.readouterr().out
    assert not (tmp_path / "none").exists()


def test_no_row_of_a_kind_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    save_records(
        tmp_path / "rows.jsonl",
        [r for r in build_records(map(bought, range(4)), context=4000) if r["kind"] == "V"],
    )
    told = [
        *TOY,
        "--model",
        save_tiny_model(tmp_path / "start"),
        "--rows",
        str(tmp_path / "rows.jsonl"),
    ]
    with pytest.raises(ConfigError, match="no R row of part train"):
        main([*told, "--out", str(tmp_path / "run"), "--stages", "vr"])


def test_one_model_after_the_other_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_records(tmp_path / "rows.jsonl", build_records(map(bought, range(12)), context=4000))
    out = tmp_path / "run"
    told = [*TOY, "--rows", str(tmp_path / "rows.jsonl"), "--out", str(out), "--longest", "8"]
    told += ["--model", save_tiny_model(out / "v"), "--stages", "measure", "--held", "1"]
    save_tiny_model(out / "vr")
    seen = count_models(monkeypatch)
    assert main(told) == 0
    assert seen == [1, 1, 1]
