"""The command ``callwright train adapter``."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

if any(find_spec(name) is None for name in ("trl", "transformers", "peft", "gguf", "xllamacpp")):
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from callwright.nouns.errors import ConfigError
from callwright_lab.training import tuning
from callwright_lab.training.adapters import command
from callwright_lab.training.adapters.command import main
from callwright_lab.training.checkpoints import open_model
from callwright_lab.training.refiner.store import write_samples
from tests.training.gguf_case import make_adapter, qwen_model, qwen_tokenizer, write_gguf
from tests.training.refiner_case import TOY, samples

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


def test_a_trained_folder_becomes_a_file_that_agrees(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizer = qwen_tokenizer()
    base = write_gguf(qwen_model(tokenizer), tokenizer, tmp_path / "base.gguf")
    model, _ = open_model(str(base))
    make_adapter(model).save_pretrained(tmp_path / "trained")
    text = tmp_path / "text.txt"
    text.write_text("Which calls were meant, and in which order? " * 4)
    given = [str(tmp_path / "trained"), "--check", "--text", str(text), "--positions", "130"]
    assert main(given) == 0
    shown = capsys.readouterr().out
    assert "trained.gguf: " in shown
    assert "| base | 130 |" in shown
    assert "| base + adapter | 130 |" in shown
    assert "The data that it learned from are unknown." in shown
    assert "| may be given away | no, see below |" in (tmp_path / "trained.md").read_text()
    with pytest.raises(ConfigError, match=r"trained\.gguf is not to be given away: The data"):
        main([*given[:1], "--ship"])
    with pytest.raises(ConfigError, match="there is no adapter in"):
        main([str(tmp_path)])


@pytest.mark.heavy
def test_what_a_stage_trains_on_a_gguf_file_is_written_for_that_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = qwen_tokenizer()
    base = write_gguf(qwen_model(tokenizer), tokenizer, tmp_path / "base.gguf")
    settings = replace(TOY, model=str(base), adapter="lora", rank=4, sft_rate=1e-2)
    settings = replace(settings, targets="attention")
    pairs = [([{"role": "user", "content": "Rain in Bergen?"}], "Yes.")] * 4
    tuning.run_sft(
        settings.model, tokenizer, pairs, settings, tmp_path / "sft-run", steps=3,
        result=tmp_path / "sft",
    )  # fmt: skip
    write_samples(tmp_path / "data.jsonl", samples())
    before = base.read_bytes()
    assert main([str(tmp_path / "sft"), "--ship", "--check", "--positions", "60"]) == 0
    assert "| base + adapter | 60 |" in capsys.readouterr().out
    card = (tmp_path / "sft.md").read_text()
    assert "on k_proj, o_proj, q_proj, v_proj |" in card
    assert f"| sha256 of the base | `{hashlib.sha256(before).hexdigest()}` |" in card
    assert "| sft | 3 | 0.01 | 2 rows |" in card
    assert "--refiner local:base.gguf+sft.gguf --refiner-prompt short" in card
    assert base.read_bytes() == before
    monkeypatch.setattr(command, "LARGEST", 1000)
    with pytest.raises(ConfigError, match=r"sft\.gguf is not to be given away: It has"):
        main([str(tmp_path / "sft"), "--ship"])
