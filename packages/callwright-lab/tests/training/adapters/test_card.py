"""The card of an adapter, made of what its run left."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if any(find_spec(name) is None for name in ("trl", "transformers", "peft", "gguf")):
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from callwright.models.local import DEFAULT
from callwright.weights import REGISTRY
from callwright_lab.training.adapters.card import build_card
from callwright_lab.training.refiner.settings import TWO_CORES
from callwright_lab.training.refiner.store import write_samples
from callwright_lab.training.refiner.task import split_held_out
from tests.training.refiner_case import samples


def _make_run(run: Path, **changed: Any) -> Path:
    """A run with its samples, a finished warm start, and DAPO; the folder of the result."""
    for work in ("sft-run", "dapo"):
        (run / work / "checkpoint-5").mkdir(parents=True)
        told = asdict(replace(TWO_CORES, **changed))
        (run / work / "settings.json").write_text(json.dumps(told))
    (run / "sft-run" / "finished.json").write_text("{}")
    write_samples(run / "data.jsonl", samples())
    for name in ("sft", "refiner"):
        (run / name).mkdir()
        told = {
            "base_model_name_or_path": DEFAULT,
            "r": 8,
            "lora_alpha": 16,
            "target_modules": ["v_proj", "q_proj"],
        }
        (run / name / "adapter_config.json").write_text(json.dumps(told))
    return run / "refiner"


def _build(folder: Path) -> tuple[str, list[str]]:
    file = folder.parent / "refiner.gguf"
    file.write_bytes(b"x" * 10)
    return build_card(folder, file)


def test_a_card_says_what_the_file_is_and_what_it_learned_from(tmp_path: Path) -> None:
    folder = _make_run(tmp_path)
    (tmp_path / "scores.md").write_text("| refiner | data |\n")
    text, limits = _build(folder)
    assert not limits
    learned = split_held_out(samples())[0]
    count = sum(s.task.source == "nestools" for s in learned)
    for line in (
        "# refiner",
        f"| sha256 | `{hashlib.sha256(b'x' * 10).hexdigest()}` |",
        f"| sha256 of the base | `{REGISTRY[DEFAULT].sha256}` |",
        "| kind | LoRA, rank 8, alpha 16, on q_proj, v_proj |",
        "| trained for | repairing tool calls, prompt `short` |",
        "| may be given away | yes, by the licences below |",
        f"| nestools | {count} | rule | Apache-2.0 (hhan1018/NesTools) | yes |",
        "| sft | 5 | 0.0002 | 8 rows | 448, 160 | 0 | yes |",
        "| dapo | 5 | 1e-05 | 4 prompts x 4 replies | 448, 160 | 0 | no |",
        "It is `sft + dapo`.",
        "| refiner | data |",
        "$ callwright refine --jsonl replies.jsonl --refiner local:+refiner.gguf"
        " --refiner-prompt short",
    ):
        assert line in text.splitlines()
    assert str(tmp_path) not in text


def test_replies_of_the_base_count_as_rows_of_their_source(tmp_path: Path) -> None:
    folder = _make_run(tmp_path)
    own = [replace(s, by="tiny", task=replace(s.task, source="mine")) for s in samples()]
    write_samples(tmp_path / "own.jsonl", own)
    text, (limit,) = _build(folder)
    assert "| tiny | unknown (a user's own file) | unknown |" in text
    assert limit.startswith("Rows of mine are not for weights that are given away.")
    assert "| may be given away | no, see below |" in text
    assert limit in text


def test_what_is_not_there_is_unknown(tmp_path: Path) -> None:
    folder = _make_run(tmp_path)
    lone = tmp_path / "elsewhere" / "refiner"
    lone.parent.mkdir()
    folder.rename(lone)
    text, limits = _build(lone)
    assert limits == [
        "The data that it learned from are unknown.",
        "A run that trained it is unknown.",
    ]
    assert "| trained for | unknown |" in text
    assert "The settings of the run are unknown." in text
    assert "None: it was not measured." in text
    (lone.parent / "data.jsonl").write_text('{"request": "a row of a planner"}\n')
    assert _build(lone)[1] == limits


def test_an_adapter_that_began_from_unknown_weights_has_unknown_data(tmp_path: Path) -> None:
    folder = _make_run(tmp_path, model="runs/other/sft")
    text, (limit,) = _build(folder)
    assert "another model than its base" in limit
    assert limit in text
    (tmp_path / "sft-run" / "settings.json").unlink()
    assert "A run that trained it is unknown." in _build(folder)[1]


def test_a_base_without_a_file_here_has_no_digest(tmp_path: Path) -> None:
    folder = _make_run(tmp_path, model="some/base")
    told = json.loads((folder / "adapter_config.json").read_text())
    told |= {"base_model_name_or_path": "some/base", "target_modules": "all-linear"}
    (folder / "adapter_config.json").write_text(json.dumps(told))
    text, limits = _build(folder)
    assert not limits
    assert "| base model | some/base |\n| sha256 of the base | `unknown` |" in text
    assert "on all-linear |" in text
