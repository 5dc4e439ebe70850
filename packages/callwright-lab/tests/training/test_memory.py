"""Memory by settings and shape; the table of the documentation is what the code says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from callwright_lab.training.memory import (
    SHAPES,
    Memory,
    count_learned,
    estimate_memory,
    find_shape,
    render_card_table,
    render_memory,
)
from callwright_lab.training.tuning_settings import Tuning

QWEN = SHAPES["Qwen/Qwen2.5-1.5B-Instruct"]
ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.parametrize(
    ("model", "billions"),
    [
        ("smollm2-135m", 0.1345),
        ("Qwen/Qwen2.5-0.5B-Instruct", 0.494),
        ("Qwen/Qwen2.5-1.5B-Instruct", 1.544),
        ("Qwen/Qwen2.5-3B-Instruct", 3.086),
        ("Qwen/Qwen2.5-7B-Instruct", 7.616),
        ("Qwen/Qwen3-0.6B", 0.596),
        ("Qwen/Qwen3-1.7B", 1.721),
        ("Qwen/Qwen3-4B", 4.022),
        ("Qwen/Qwen3-8B", 8.191),
        ("meta-llama/Llama-3.1-8B-Instruct", 8.030),
    ],
)
def test_shapes_count_the_published_sizes(model: str, billions: float) -> None:
    assert SHAPES[model].parameters / 1e9 == pytest.approx(billions, rel=0.003)


def test_an_adapter_of_rank_16_on_1_5_billion_has_18_million_weights() -> None:
    assert QWEN.count_adapter(16) == 18_464_768


def test_an_adapter_of_attention_alone_has_a_quarter_of_the_weights() -> None:
    assert QWEN.count_adapter(8) == 9_232_384
    assert QWEN.count_adapter(8, "attention") == 2_179_072
    settings = replace(Tuning(), adapter="lora", rank=8, targets="attention")
    assert count_learned(settings, QWEN) == 2_179_072
    found = estimate_memory(settings, QWEN, "sft")
    assert found.gradients + found.optimiser == pytest.approx(12 * 2_179_072 / 1e9)
    whole = estimate_memory(replace(settings, targets="linear"), QWEN, "sft")
    assert whole.weights - found.weights == pytest.approx(4 * (9_232_384 - 2_179_072) / 1e9)


def _total(kind: str = "sft", **changed: object) -> float:
    settings = replace(Tuning(), context=1024, longest=256, **changed)  # type: ignore[arg-type]
    return estimate_memory(settings, QWEN, kind).total  # type: ignore[arg-type]


def test_every_setting_that_saves_memory_saves_it() -> None:
    full = _total()
    assert full > _total(optimiser="paged-adamw-8bit") > _total(adapter="lora")
    assert _total(adapter="lora") > _total(adapter="qlora")
    assert _total(recompute=False) > full
    assert _total(sft_micro=4) > full
    assert _total(adapter="lora", bf16=False) > _total(adapter="lora")


def test_a_reference_is_a_second_model_unless_an_adapter_can_be_left_out() -> None:
    base = replace(Tuning(), beta=0.04)
    whole = estimate_memory(base, QWEN, "groups")
    assert whole.reference == pytest.approx(4 * QWEN.parameters / 1e9)
    assert estimate_memory(replace(base, adapter="lora"), QWEN, "groups").reference == 0
    assert estimate_memory(base, QWEN, "sft").reference == 0


def test_vllm_takes_its_share_while_the_learner_waits() -> None:
    found = estimate_memory(replace(Tuning(), adapter="lora"), QWEN, "groups", card=24)
    assert found.rollouts == pytest.approx(0.3 * 24)
    one = Memory(1, 0, 1, 1, 1, activations=5, logits=1, rollouts=4)
    assert one.total == pytest.approx(10 * 1.1 + 1)


def test_vllms_share_has_to_hold_the_model_and_a_gguf_file_is_sampled_without_it() -> None:
    lora = replace(Tuning(), model="Qwen/Qwen3-8B", adapter="lora", context=512, longest=256)
    assert "It fits into 80 GB" in render_memory(lora, "groups"), "0.3 x 24 GB is less than 16 GB"
    assert "It fits into 24 GB" in render_memory(replace(lora, vllm=False, micro=1), "groups")
    embedded = replace(lora, model="qwen2.5-coder-1.5b")
    found = estimate_memory(embedded, SHAPES[embedded.model], "groups", card=80)
    assert found.rollouts < 1


def test_weights_that_are_learned_have_a_copy_in_bfloat16() -> None:
    copies = 2 * QWEN.parameters / 1e9
    assert estimate_memory(Tuning(), QWEN, "sft").copies == pytest.approx(copies)
    assert estimate_memory(replace(Tuning(), bf16=False), QWEN, "sft").copies == 0
    assert estimate_memory(replace(Tuning(), adapter="lora"), QWEN, "groups").copies == 0
    sampling = estimate_memory(replace(Tuning(), shared=True), QWEN, "groups")
    assert sampling.copies == pytest.approx(2 * copies)


def test_a_pass_in_which_prompts_are_computed_once_is_the_whole_batch() -> None:
    one = replace(Tuning(), shared=True, batch=1, group=4, attempts=4, context=320, longest=160)
    a, b = (estimate_memory(s, QWEN, "groups") for s in (one, replace(one, batch=4)))
    assert b.activations == pytest.approx(4 * a.activations)
    assert b.logits == pytest.approx(4 * a.logits)
    assert b.rollouts == a.rollouts


def test_lora_on_two_cores_takes_what_was_measured() -> None:
    """9.6 GB: rank 16 on all linear layers of the embedded model in float32, rows of 300 tokens."""
    settings = replace(
        Tuning(), model="qwen2.5-coder-1.5b", adapter="lora", bf16=False, context=240, longest=60,
    )  # fmt: skip
    assert estimate_memory(settings, SHAPES[settings.model], "sft").total == pytest.approx(9.6, 0.1)


def test_shards_divide_what_is_shared_and_not_activations() -> None:
    one, eight = (estimate_memory(Tuning(), QWEN, "sft", shards=n) for n in (1, 8))
    assert eight.weights == one.weights / 8
    assert eight.activations == one.activations


def test_a_folder_says_its_shape(tmp_path: Path) -> None:
    told = {
        "num_hidden_layers": 28, "hidden_size": 1536, "intermediate_size": 8960, "vocab_size": 151936,
        "num_attention_heads": 12, "num_key_value_heads": 2, "tie_word_embeddings": True,
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(told))
    assert find_shape(str(tmp_path)) == QWEN
    assert find_shape(str(tmp_path / "none")) is None
    assert "not known here" in render_memory(replace(Tuning(), model="mine"), "sft")
    known = render_memory(replace(Tuning(), model=str(tmp_path), adapter="lora"), "sft")
    assert "It fits into" in known


def test_the_documentation_holds_the_table() -> None:
    page = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    assert render_card_table() in page
