"""A stage that was ended goes on as if it had not been."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

import torch
from safetensors.torch import load_file

from callwright.nouns.errors import ConfigError
from callwright_lab.training import tuning
from callwright_lab.training.refiner.runs import build_chat
from callwright_lab.training.resumption import (
    COMPLETE,
    cut_curve,
    is_finished,
    keep_settings,
    mark_finished,
    prepare_run,
    read_spent,
    require_same_settings,
)
from callwright_lab.training.tuning_settings import Tuning
from tests.training.refiner_case import TOY, samples, tiny_model, tiny_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train

ORDER = {"steps": 4, "epochs": 1.0, "seconds": 0.0}


def _checkpoint(work: Path, step: int, **told: Any) -> Path:
    folder = work / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    if told:
        (folder / COMPLETE).write_text(json.dumps({"seconds": 1.5, "order": ORDER, **told}))
    return folder


def test_a_run_goes_on_from_the_last_checkpoint_that_is_complete(tmp_path: Path) -> None:
    assert prepare_run(tmp_path, True, ORDER) is None, "nothing is there: it begins"
    second = _checkpoint(tmp_path, 2, ended=False)
    torn = _checkpoint(tmp_path, 10)
    assert prepare_run(tmp_path, True, ORDER) == second
    assert read_spent(second) == 1.5
    assert not torn.exists()
    with pytest.raises(ConfigError, match="already a run"):
        prepare_run(tmp_path, False, ORDER)


def test_a_checkpoint_at_the_end_serves_a_longer_order_only(tmp_path: Path) -> None:
    second, last = _checkpoint(tmp_path, 2, ended=False), _checkpoint(tmp_path, 4, ended=True)
    assert prepare_run(tmp_path, True, {**ORDER, "steps": 6}) == last
    assert prepare_run(tmp_path, True, ORDER) == second, "its last steps are made again"


def test_a_curve_is_cut_where_the_run_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "curve.jsonl"
    path.write_text('{"step": 1}\n{"step": 2}\n{"step": 3}\n{"st')
    cut_curve(path, tmp_path / "checkpoint-2")
    assert path.read_text() == '{"step": 1}\n{"step": 2}\n'
    cut_curve(path, None)
    assert path.read_text() == ""


def test_a_finished_stage_is_one_of_the_same_order(tmp_path: Path) -> None:
    mark_finished(tmp_path, ORDER)
    assert is_finished(tmp_path, ORDER)
    assert not is_finished(tmp_path, {**ORDER, "seconds": 60.0})
    (tmp_path / "finished.json").write_text("{")
    assert not is_finished(tmp_path, ORDER)


def test_a_run_that_goes_on_keeps_its_settings_but_for_how_long_it_is(tmp_path: Path) -> None:
    begun = Tuning()
    require_same_settings(tmp_path, replace(begun, rate=0.1))  # none are there
    keep_settings(tmp_path, begun)
    require_same_settings(tmp_path, replace(begun, steps=9, micro=2))
    with pytest.raises(ConfigError, match=r"was begun with --rate 1e-06, not 0\.1"):
        require_same_settings(tmp_path, replace(begun, rate=0.1))


def test_a_run_that_is_refused_leaves_the_settings_of_the_one_that_is_there(tmp_path: Path) -> None:
    def run(resume: bool, **changed: Any) -> None:
        tokenizer = tiny_tokenizer()
        settings = replace(TOY, **changed)
        tuning.run_sft(
            tiny_model(tokenizer), tokenizer, PAIRS, settings, tmp_path / "run", steps=1,
            resume=resume, result=tmp_path / "result",
        )  # fmt: skip

    run(False)
    with pytest.raises(ConfigError, match="already a run"):
        run(False, sft_rate=0.5)
    with pytest.raises(ConfigError, match=r"was begun with --sft-rate 0\.001, not 0\.5"):
        run(True, sft_rate=0.5)
    run(True)


class Interrupting:
    """A reward by the reply's tokens; at its call number ``at`` the run is ended."""

    __name__ = "interrupting"

    def __init__(self, at: int = 0) -> None:
        self.at, self.calls = at, 0

    def __call__(self, completion_ids: list[list[int]], **_: Any) -> list[float]:
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return [sum(ids) % 89 / 89 for ids in completion_ids]


ROWS = [{"prompt": build_chat(s, "short")} for s in samples()]
PAIRS = [(build_chat(s, "short"), s.answer) for s in samples()]
WAYS = {
    "all weights": replace(TOY, steps=4, beta=0.1),
    "each prompt once": replace(TOY, steps=4, shared=True),
    "adapter": replace(TOY, steps=4, adapter="lora", rank=4, beta=0.1, rate=1e-2, recompute=True),
    "on two cores": replace(
        TOY, steps=4, adapter="lora", rank=4, rate=1e-2, recompute=True, shared=True
    ),
    "adapter on four bits": replace(TOY, steps=4, adapter="qlora", rank=4, rate=1e-2),
}


def _weights(folder: Path) -> dict[str, Any]:
    (path,) = folder.glob("*.safetensors")
    return dict(load_file(path))


def _same(one: Path, other: Path) -> bool:
    a, b = _weights(one), _weights(other)
    return a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)


@pytest.mark.heavy
@pytest.mark.parametrize("way", WAYS)
def test_reinforcement_that_was_interrupted_ends_with_the_same_weights(
    way: str, tmp_path: Path
) -> None:
    settings, tokenizer = WAYS[way], tiny_tokenizer()
    if settings.adapter == "qlora":
        pytest.importorskip("bitsandbytes", reason="extra 'qlora' is not installed")
    start = tmp_path / "start"
    tiny_model(tokenizer).save_pretrained(start)
    tokenizer.save_pretrained(start)

    def run(name: str, reward: Any, resume: bool) -> Sequence[Any]:
        model = str(start)
        work, result = tmp_path / name, tmp_path / f"{name}-result"
        return tuning.run_grpo(
            model, tokenizer, ROWS, [reward], settings, work, resume=resume, result=result
        )

    run("whole", Interrupting(), False)
    with pytest.raises(KeyboardInterrupt):
        run("torn", Interrupting(at=4), True)
    assert not (tmp_path / "torn-result").exists()
    run("torn", Interrupting(), True)
    assert _same(tmp_path / "whole-result", tmp_path / "torn-result")
    begun = tiny_model(tokenizer).state_dict()
    learned = _weights(tmp_path / "whole-result")
    if settings.adapter == "none":
        assert any(not torch.equal(learned[k], begun[k]) for k in learned)
    else:
        assert any("lora_B" in k and v.abs().max() > 0 for k, v in learned.items())
    curves = [(tmp_path / n / "curve.jsonl").read_text().splitlines() for n in ("whole", "torn")]
    rewards = [[r["reward"] for r in map(json.loads, c) if "reward" in r] for c in curves]
    assert rewards[0] == rewards[1]
    assert len(rewards[0]) == 4
    assert run("torn", Interrupting(at=1), True) == [], "what is finished is not made again"


def test_a_reference_is_loaded_a_second_time_which_a_gguf_file_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / "base.gguf"
    path.write_bytes(b"GGUF")
    settings = replace(TOY, beta=0.1)
    with pytest.raises(ConfigError, match="KL reference") as raised:
        tuning.run_grpo(str(path), tiny_tokenizer(), ROWS, [], settings, tmp_path / "run")
    assert "--adapter lora" in raised.value.hint


def test_an_adapters_checkpoint_holds_what_a_run_goes_on_by_and_no_tokenizer(
    tmp_path: Path,
) -> None:
    settings, tokenizer = (
        replace(TOY, adapter="lora", rank=4, targets="attention"),
        tiny_tokenizer(),
    )

    def run(name: str, steps: int) -> Path:
        work = tmp_path / name
        model = tiny_model(tokenizer)
        tuning.run_sft(model, tokenizer, PAIRS, settings, work, steps=steps, resume=True)
        return work / f"checkpoint-{steps}"

    assert {path.name for path in run("torn", 1).iterdir()} == {
        "adapter_config.json",
        "adapter_model.safetensors",
        "complete.json",
        "optimizer.pt",
        "rng_state.pth",
        "scheduler.pt",
        "trainer_state.json",
        "training_args.bin",
    }
    assert _same(run("torn", 2), run("whole", 2))


@pytest.mark.heavy
@pytest.mark.parametrize("adapter", ["none", "lora"])
def test_supervised_training_goes_on_with_the_same_weights(adapter: str, tmp_path: Path) -> None:
    settings, tokenizer = replace(TOY, adapter=adapter, sft_batch=2, sft_micro=1), tiny_tokenizer()

    def run(name: str, steps: int) -> None:
        model = tiny_model(tokenizer)
        work, result = tmp_path / name, tmp_path / f"{name}-result"
        tuning.run_sft(
            model, tokenizer, PAIRS, settings, work, steps=steps, resume=True, result=result
        )

    run("whole", 6)
    run("torn", 3)
    assert not _same(tmp_path / "whole-result", tmp_path / "torn-result")
    run("torn", 6)
    assert _same(tmp_path / "whole-result", tmp_path / "torn-result")
