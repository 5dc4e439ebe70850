"""The command ``callwright train refiner``, end to end on a tiny random model."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.training.refiner_case import nested_row, tiny_model, tiny_tokenizer

from callwright.errors import ConfigError
from callwright.training.refiner import main


@pytest.fixture(autouse=True)
def _others_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


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
            "tools": json.dumps([{"name": f"weather_{n}", "parameters": {"city": {"type": "str"}}}]),
            "answers": json.dumps([{"name": f"weather_{n}", "arguments": {"city": f"town{n}"}}]),
        }
        for n in range(20)
    ]
    (folder / "xlam" / "xlam_function_calling_60k.json").write_text(json.dumps(rows))
    (folder / "nestools" / "test_data.jsonl").write_text("\n".join(json.dumps(nested_row(n)) for n in range(8)))
    return folder


SMALL = ["--preset", "cpu", "--sources", "xlam", "--each", "6", "--correct", "6", "--full", "4", "--simplified", "6"]


def test_the_data_stage_writes_samples_and_counts(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main([*SMALL, "--data", str(data), "--out", str(out), "--stages", "data"]) == 0
    rows = [json.loads(line) for line in (out / "data.jsonl").read_text().splitlines()]
    assert len(rows) == 3 * 6 + 6 + 4 + 6
    assert "| correct | none | xlam | 6 | 6 | rule |" in capsys.readouterr().out
    no_simple = tmp_path / "ablated"
    main([*SMALL, "--data", str(data), "--out", str(no_simple), "--stages", "data", "--ablate", "simplified"])
    assert "shuffled_simplified" not in (no_simple / "data.md").read_text()


def test_an_unknown_stage_and_missing_data_are_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["--stages", "sing"])
    with pytest.raises(ConfigError, match="xlam_function_calling_60k"):
        main([*SMALL, "--data", str(tmp_path), "--out", str(tmp_path / "out"), "--stages", "data"])


@pytest.mark.skipif(find_spec("trl") is None, reason="extra 'train' is not installed")
def test_every_stage_runs_and_leaves_its_result(data: Path, tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    start, out = tmp_path / "start", tmp_path / "out"
    tiny_model(tokenizer).save_pretrained(start)
    tokenizer.save_pretrained(start)
    common = [*SMALL, "--data", str(data), "--out", str(out), "--model", str(start), "--no-bf16", "--top", "1"]
    common += ["--context", "2000", "--longest", "300", "--free", "200", "--held", "4"]
    assert main([*common, "--steps", "1", "--sft-steps", "2"]) == 0
    for name in ("sft", "refiner", "against"):
        assert (out / name / "model.safetensors").is_file()
    scores = json.loads((out / "scores.json").read_text())
    assert set(scores) == {"upstream", "sft", "sft + dapo", "sft alone, equal time"}
    assert json.loads((out / "seconds.json").read_text())["dapo"] > 0
    assert "tokens a reply" in (out / "curve.svg").read_text()
    assert main([*common, "--stages", "measure", "--ablate", "untrained"]) == 0
    assert set(json.loads((out / "scores.json").read_text())) == {"upstream", "untrained"}
    with pytest.raises(ConfigError, match="no DAPO run"):
        main([*common, "--out", str(tmp_path / "other"), "--stages", "against"])
