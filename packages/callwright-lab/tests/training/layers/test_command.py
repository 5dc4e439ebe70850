from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="extra 'train' is not installed")

from callwright.nouns.errors import ConfigError, WeightsError  # noqa: E402
from callwright_lab.training.layers.command import main  # noqa: E402


def test_sources_without_a_licence_make_no_weights_to_pass_on(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="trained on complextool_plan must not be passed on"):
        main(
            [
                "--sources",
                "nestools,complextool_plan",
                "--out",
                str(tmp_path),
                "--data",
                str(tmp_path),
            ]
        )


def test_a_source_nobody_knows_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no data source 'nonesuch'"):
        main(["--sources", "nonesuch", "--data", str(tmp_path)])


@pytest.mark.parametrize(
    ("more", "part"),
    [
        (["--private"], "--private weights cannot be shipped"),
        (
            ["--labels", "sequence", "--name", "layers-text"],
            "weights of sequence labels cannot be shipped",
        ),
        ([], "'layers' would lie beside them unread"),
        (["--measure", "folds"], "makes a table and no weights"),
    ],
)
def test_what_must_not_be_shipped_is_refused_before_anything_is_read(
    more: list[str], part: str
) -> None:
    with pytest.raises(ConfigError, match=part):
        main(["--ship", *more, "--data", "nowhere"])


def test_plain_sequences_are_no_dependencies(tmp_path: Path) -> None:
    import json

    folder = tmp_path / "dta_tool"
    folder.mkdir()
    turns = [
        {"from": "system", "value": 'APIs: [{"name": "look"}]'},
        {"from": "user", "value": "look around"},
        {"from": "assistant", "value": 'Function Call: [{"name": "look"}]'},
    ]
    (folder / "dta_tool.json").write_text(
        json.dumps([{"id": "look around", "conversations": turns}])
    )
    with pytest.raises(ConfigError, match="dta_tool holds plain call sequences") as caught:
        main(
            ["--private", "--sources", "dta_tool", "--data", str(tmp_path), "--out", str(tmp_path)]
        )
    assert "--labels sequence" in caught.value.hint


@pytest.fixture
def nestools(tmp_path: Path) -> Path:
    """A handful of rows in the format of NesTools, written for this test."""
    import json

    def row(number: int) -> dict[str, Any]:
        def api(name: str, takes: str, gives: str) -> dict[str, Any]:
            kinds = {takes: {"description": takes, "type": "str"}}
            return {
                "api_name": name,
                "api_description": f"{name} of the shop",
                "parameters": kinds,
                "required": [takes],
                "responses": {gives: {"description": gives, "type": "str"}},
            }

        first, then = (
            api(f"find_{number}", "word", "item_id"),
            api(f"buy_{number}", "item_id", "receipt"),
        )
        calls = [
            {
                "api_name": first["api_name"],
                "parameters": {"word": "pen"},
                "responses": ["API_call_0"],
            },
            {
                "api_name": then["api_name"],
                "parameters": {"item_id": "API_call_0"},
                "responses": ["API_call_1"],
            },
        ]
        return {
            "test_id": number,
            "task": f"Find a pen and buy it, shop {number}",
            "api": [first, then],
            "call": calls,
        }

    folder = tmp_path / "data" / "nestools"
    folder.mkdir(parents=True)
    lines: Sequence[str] = [json.dumps(row(n)) for n in range(24)]
    (folder / "test_data.jsonl").write_text("\n".join(lines))
    return tmp_path / "data"


def test_the_command_trains_writes_and_tabulates(
    nestools: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from callwright import weights
    from callwright.nouns.types import Tool
    from callwright.planning.layers import LayerPredictor

    try:
        weights.fetch("minilm-int8")
    except WeightsError as exc:
        pytest.skip(f"the weights of minilm-int8 cannot be had: {exc.message}")
    shared = [
        "--sources",
        "nestools",
        "--data",
        str(nestools),
        "--cache",
        str(tmp_path / "v.sqlite"),
        "--features",
    ]
    shared += ["--width", "16", "--head-size", "8", "--hidden", "16", "--epochs", "2"]
    scores = tmp_path / "folds.json"
    assert main([*shared, "--measure", "folds", "--json", str(scores)]) == 0
    assert "| macro | 24 |" in capsys.readouterr().out
    assert (
        main([*shared, "--labels", "sequence", "--out", str(tmp_path / "out"), "--name", "order"])
        == 0
    )
    assert LayerPredictor(weights=tmp_path / "out" / "order.npz").card.about["labels"] == "sequence"
    out = tmp_path / "out"
    assert (
        main(
            [
                *shared,
                "--out",
                str(out),
                "--name",
                "mine",
                "--precision",
                "int8",
                "--scores",
                str(scores),
            ]
        )
        == 0
    )
    predictor = LayerPredictor(weights=out / "mine.npz")
    about = predictor.card.about
    assert about["data"][0] | {"digest": ""} == {
        "source": "nestools",
        "examples": 24,
        "licence": "Apache-2.0",
        "digest": "",
    }
    assert about["scores"][0]["title"] == "grouped 5-fold"
    assert about["command"].endswith("--epochs 2 --name mine --precision int8")
    assert str(tmp_path) not in (out / "mine.json").read_text()
    assert predictor.card.shape.heads == 2
    assert len(predictor.plan("Find a pen", [Tool("find"), Tool("buy")]).slots) == 2
    monkeypatch.chdir(tmp_path)
    assert main([*shared, "--checkpoint", str(tmp_path / "run.pt")]) == 0
    assert (tmp_path / "runs" / "layers" / "layers.npz").is_file()
    assert "runs/layers/layers.npz, sha256 " in capsys.readouterr().out
