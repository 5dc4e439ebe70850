"""The command ``callwright train refiner``, end to end on a tiny random model."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.training.refiner.command import main
from tests.chat_server import ChatServer
from tests.training.refiner_case import (
    count_models,
    nested_row,
    save_tiny_model,
    tiny_model,
    tiny_tokenizer,
)

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """xLAM and NesTools files in their publishers' layout, written for this test."""
    folder = tmp_path / "data"
    for name in ("xlam", "nestools"):
        (folder / name).mkdir(parents=True)
    rows = [
        {
            "id": n,
            "query": f"Weather in town{n}",
            "tools": json.dumps(
                [{"name": f"weather_{n}", "parameters": {"city": {"type": "str"}}}]
            ),
            "answers": json.dumps([{"name": f"weather_{n}", "arguments": {"city": f"town{n}"}}]),
        }
        for n in range(20)
    ]
    (folder / "xlam" / "xlam_function_calling_60k.json").write_text(json.dumps(rows))
    (folder / "nestools" / "test_data.jsonl").write_text(
        "\n".join(json.dumps(nested_row(n)) for n in range(8))
    )
    return folder


SMALL = [
    "--preset",
    "cpu",
    "--sources",
    "xlam",
    "--each",
    "6",
    "--correct",
    "6",
    "--full",
    "4",
    "--simplified",
    "6",
]
SMALL += ["--held", "8"]


def test_the_data_stage_writes_samples_and_counts(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main([*SMALL, "--data", str(data), "--out", str(out), "--stages", "data"]) == 0
    rows = [json.loads(line) for line in (out / "data.jsonl").read_text().splitlines()]
    text = capsys.readouterr().out
    assert f"| all to learn from | | | {3 * 6 + 6 + 4 + 6} |" in text
    assert len(rows) == 34 + int(text.partition("to measure on | | | ")[2].split()[0])
    assert "| correct | none | xlam | 6 | 6 | rule |" in text
    assert "| xlam | 24 | rule | CC-BY-4.0 (Salesforce) | yes |" in text
    assert (out / "data.md").read_text() == text


def test_an_unknown_stage_and_missing_data_are_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["--stages", "sing"])
    with pytest.raises(ConfigError, match="xlam_function_calling_60k"):
        main([*SMALL, "--data", str(tmp_path), "--out", str(tmp_path / "out"), "--stages", "data"])


def test_the_rows_are_the_last_that_the_data_stage_writes(data: Path, tmp_path: Path) -> None:
    """By them ``--resume`` tells that the stage is finished."""
    out = tmp_path / "out"
    (out / "data.jsonl").mkdir(parents=True)
    with pytest.raises(OSError, match=r"data\.jsonl"):
        main([*SMALL, "--data", str(data), "--out", str(out), "--stages", "data"])
    assert "all to learn from" in (out / "data.md").read_text()


@pytest.mark.skipif(find_spec("trl") is None, reason="extra 'train' is not installed")
def test_one_model_after_the_other_is_measured(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    common = [*SMALL, "--data", str(data), "--out", str(out)]
    assert main([*common, "--stages", "data"]) == 0
    for name in ("sft", "against", "refiner"):
        save_tiny_model(out / name)
    common += ["--model", str(out / "sft"), "--context", "2000", "--longest", "120", "--free", "60"]
    seen = count_models(monkeypatch)
    assert main([*common, "--held", "2", "--stages", "measure"]) == 0
    assert seen == [1, 1, 1]


@pytest.mark.heavy
@pytest.mark.skipif(find_spec("trl") is None, reason="extra 'train' is not installed")
def test_every_stage_runs_and_leaves_its_result(data: Path, tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    start, out = tmp_path / "start", tmp_path / "out"
    tiny_model(tokenizer).save_pretrained(start)
    tokenizer.save_pretrained(start)
    common = [
        *SMALL,
        "--data",
        str(data),
        "--out",
        str(out),
        "--model",
        str(start),
        "--no-bf16",
        "--top",
        "1",
    ]
    common += ["--context", "2000", "--longest", "300", "--free", "200", "--held", "4"]
    assert main([*common, "--steps", "1", "--sft-steps", "2", "--save-every", "1"]) == 0
    for name in ("sft", "refiner", "against"):
        assert (out / name / "model.safetensors").is_file()
    scores = json.loads((out / "scores.json").read_text())
    assert set(scores) == {"upstream", "sft", "sft + dapo", "sft alone, equal time"}
    assert "| sft alone, equal time |" in (out / "scores.md").read_text()
    assert "tokens a reply" in (out / "curve.svg").read_text()
    assert (
        main([*common, "--stages", "dapo", "--resume", "--steps", "2", "--ablate", "simplified"])
        == 0
    )
    assert "| 1-2 |" in (out / "curve.md").read_text()
    assert main([*common, "--stages", "measure", "--ablate", "untrained"]) == 0
    assert set(json.loads((out / "scores.json").read_text())) == {"upstream", "untrained"}
    for more in ("3", "4"):
        assert main([*common, "--stages", "draws", "--resume", "--draws", more]) == 0
        rows = [json.loads(line) for line in (out / "draws.jsonl").read_text().splitlines()]
        assert len(rows) == int(more)
        assert len(rows[0]["rewards"]) == len(rows[0]["replies"]) > 1
    assert main([*common, "--stages", "rejection"]) == 0
    assert not (out / "rejection").exists(), "a random model has no reply of full marks"
    for row in rows:
        row["rewards"][0] = 1.0
    (out / "draws.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    assert main([*common, "--stages", "rejection"]) == 0
    assert (out / "rejection" / "model.safetensors").is_file()
    more_steps = ["--stages", "dapo", "--resume", "--steps", "3"]
    assert main([*common, *more_steps]) == 0, "DAPO learns from what differs alone"
    other = tmp_path / "other"
    with pytest.raises(ConfigError, match="no samples in"):
        main([*common, "--out", str(other), "--stages", "against"])
    (other / "data.jsonl").write_text((out / "data.jsonl").read_text())
    with pytest.raises(ConfigError, match="no DAPO run"):
        main([*common, "--out", str(other), "--stages", "against"])


def test_models_named_as_upstreams_spoil_and_shuffle_and_are_not_asked_twice(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    with ChatServer("spoiled [") as server:
        asked = [
            "--upstream",
            f"{server.url}#one",
            "--upstream",
            f"{server.url}#two",
            "--shuffler",
            f"{server.url}#big",
        ]
        command = [*SMALL, "--data", str(data), "--out", str(out), "--stages", "data", *asked]
        assert main(command) == 0
        text, questions = capsys.readouterr().out, server.count
        assert main(command) == 0
    assert capsys.readouterr().out == text
    assert server.count == questions
    assert (
        "| all to learn from | | | 52 |" in text
    )  # 2 models x 3 errors x 6, 6 right, 4 and 6 shuffled
    makers = {row["by"] for row in map(json.loads, (out / "data.jsonl").read_text().splitlines())}
    assert {m.rpartition("#")[2].rpartition("/")[2] for m in makers} >= {"rule"}
    assert len(makers) == 4
