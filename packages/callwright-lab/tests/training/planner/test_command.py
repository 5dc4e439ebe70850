"""The command ``callwright train planner``, end to end on a tiny random model."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.training.planner import data as planner_data
from callwright_lab.training.planner.command import main
from callwright_lab.training.planner.curation import Solved, append_solved
from tests.chat_server import ChatServer
from tests.training.planner_case import tasks
from tests.training.refiner_case import (
    count_models,
    save_tiny_model,
    tiny_model,
    tiny_tokenizer,
)

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A file of rows of ours."""
    path = tmp_path / "mine.jsonl"
    planner_data.write_rows(path, {"sft": tasks(60)})
    return path


def test_rows_of_files_are_parted_by_their_gold_tools(
    rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["--sources", str(rows), "--stages", "data", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "| test | mine |" in shown
    assert (out / "data.md").read_text() == shown
    assert sum(len(some) for some in planner_data.read_rows(out / "data.jsonl").values()) == 60


def test_rows_of_two_files_keep_apart_and_what_was_solved_of_others_is_forgotten(
    rows: Path, tmp_path: Path
) -> None:
    out, again = tmp_path / "out", rows.with_name("again.jsonl")
    again.write_bytes(rows.read_bytes())
    out.mkdir()
    append_solved(out / "curated.jsonl", Solved("task-1", 0.5, 0.0, 2))
    assert main(["--sources", f"{rows},{again}", "--stages", "data", "--out", str(out)]) == 0
    ids = [e.id for some in planner_data.read_rows(out / "data.jsonl").values() for e in some]
    assert len(set(ids)) == len(ids) == 120
    assert not (out / "curated.jsonl").exists()


def test_rows_without_a_licence_are_private(tmp_path: Path) -> None:
    command = ["--sources", "complextool_plan", "--stages", "data", "--out", str(tmp_path)]
    with pytest.raises(ConfigError, match="must not be passed on"):
        main(command)
    with pytest.raises(ConfigError, match="complextool_plan"):  # allowed, and not there
        main([*command, "--private", "--data", str(tmp_path)])


def test_rows_are_made_from_a_catalogue_and_every_dropped_draft_has_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = [
        {
            "type": "function",
            "function": {"name": f"tool_{n}", "description": f"Does {n}.", "parameters": {}},
        }
        for n in range(5)
    ]
    (tmp_path / "tools.json").write_text(json.dumps(listed))
    out = tmp_path / "out"
    with ChatServer('{"goal": "g", "query": "Do both.", "intent": "i", "DAG": "1->2"}') as server:
        command = [
            "--tools",
            str(tmp_path / "tools.json"),
            "--teacher",
            f"{server.url}#teacher",
            "--out",
            str(out),
        ]
        command += ["--stages", "data", "--test", "1,0,0", "--sft", "2,0,0"]
        assert main(command) == 0
        asked = server.count
        shown = capsys.readouterr()
        assert main(command) == 0
        assert server.count == asked, "a finished run asks nothing"
    assert "| test | easy | 1 | 1 | 0 |" in shown.out
    assert "| sft | easy | 2 | 0 | 8 |" in shown.out, "the model asks the same every time"
    dropped = [json.loads(line) for line in (out / "dropped.jsonl").read_text().splitlines()]
    assert {row["dropped"] for row in dropped} == {"duplicate: test-easy-00000 asks the same"}
    (kept,) = planner_data.read_rows(out / "data.jsonl")["test"]
    assert (kept.query, kept.source) == ("Do both.", "generated easy")
    assert "sft-easy-00000: planned (" in shown.err


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    for given in ([], ["--tools", "x", "--sources", "y"]):
        with pytest.raises(ConfigError, match="one of --tools and --sources"):
            main([*given, "--stages", "data", "--out", str(tmp_path)])
    for wrong in (["--stages", "sing"], ["--test", "1,2"]):
        with pytest.raises(SystemExit):
            main(wrong)


def test_the_dry_run_says_what_would_be_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "--dry-run",
                "--preset",
                "qwen3-1.7b",
                "--no-bf16",
                "--group",
                "4",
                "--out",
                str(tmp_path / "x"),
            ]
        )
        == 0
    )
    shown = capsys.readouterr().out
    assert "| group | 4 |" in shown
    assert "on an A100" in shown
    assert not (tmp_path / "x").exists()


@pytest.mark.skipif(find_spec("trl") is None, reason="extra 'train' is not installed")
def test_one_model_after_the_other_is_measured(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    common = ["--preset", "cpu", "--out", str(out), "--sources", str(rows), "--context", "4000"]
    common += ["--model", save_tiny_model(out / "sft"), "--longest", "100"]
    save_tiny_model(out / "planner")
    assert main([*common, "--stages", "data"]) == 0
    seen = count_models(monkeypatch)
    assert main([*common, "--held", "1", "--stages", "measure"]) == 0
    assert seen == [1, 1, 1]


def test_the_rows_are_the_last_that_the_data_stage_writes(rows: Path, tmp_path: Path) -> None:
    """By them ``--resume`` tells that the stage is finished."""
    out = tmp_path / "out"
    (out / "data.jsonl").mkdir(parents=True)
    with pytest.raises(OSError, match=r"data\.jsonl"):
        main(["--sources", str(rows), "--stages", "data", "--out", str(out)])
    assert "| test | mine |" in (out / "data.md").read_text()


@pytest.mark.heavy
@pytest.mark.skipif(find_spec("trl") is None, reason="extra 'train' is not installed")
def test_every_stage_runs_and_leaves_its_result(
    rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizer = tiny_tokenizer()
    start, out = tmp_path / "start", tmp_path / "out"
    tiny_model(tokenizer).save_pretrained(start)
    tokenizer.save_pretrained(start)
    common = [
        "--preset",
        "cpu",
        "--model",
        str(start),
        "--out",
        str(out),
        "--sources",
        str(rows),
        "--top",
        "1",
    ]
    common += [
        "--context",
        "4000",
        "--longest",
        "30",
        "--samples",
        "2",
        "--save-every",
        "1",
        "--sft-steps",
        "2",
    ]
    common += ["--steps", "1", "--held", "3"]
    assert main([*common, "--stages", "data,sft,curate"]) == 0
    assert "| never solved |" in (out / "curated.md").read_text(), "a random model solves nothing"
    first = (out / "curated.jsonl").read_text()
    assert main([*common, "--stages", "curate"]) == 0
    assert (out / "curated.jsonl").read_text() == first, "what is known is not asked again"
    begun = first.splitlines(keepends=True)[:2]
    (out / "curated.jsonl").write_text("".join(begun) + "{")  # killed in the third task
    assert main([*common, "--stages", "curate"]) == 0
    assert (out / "curated.jsonl").read_text() == first, "each task has draws of its own"
    with pytest.raises(ConfigError, match="no row of part rl"):
        main([*common, "--stages", "grpo"])
    (out / "curated.jsonl").unlink()  # without curation all of part rl is reinforced on
    assert main([*common, "--stages", "grpo,measure"]) == 0
    for name in ("sft", "planner"):
        assert (out / name / "model.safetensors").is_file()
    assert (
        "| steps | reward" in (out / "curve.md").read_text()
        or "syntax" in (out / "curve.md").read_text()
    )
    assert set(json.loads((out / "scores.json").read_text())["test"]) == {
        "untrained",
        "SFT",
        "SFT+RL",
    }
    assert "| SFT+RL | 3 |" in capsys.readouterr().out
    for example in planner_data.read_rows(out / "data.jsonl")[
        "rl"
    ]:  # as if the model solved each every other time
        append_solved(out / "curated.jsonl", Solved(example.id, 0.5, 0.0, 2))
    assert main([*common, "--stages", "measure"]) == 0
    assert "watched:" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="already a run"):
        main([*common, "--stages", "sft"])
