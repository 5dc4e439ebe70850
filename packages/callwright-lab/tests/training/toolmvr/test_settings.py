"""What a run of Tool-MVR is set to."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import pytest

from callwright.nouns.errors import ConfigError, MissingExtra
from callwright_lab.training.toolmvr.settings import (
    CPU,
    LLAMA,
    QWEN,
    ZERO3,
    build_sharding_options,
)


def test_the_presets_of_7_and_8_billion_are_the_papers() -> None:
    for one in (QWEN, LLAMA):
        assert (one.sft_rate, one.warmup, one.lam, one.ratio, one.top) == (2e-5, 0.04, 1.0, 10.0, 0)
    assert (QWEN.model, LLAMA.model) == (
        "Qwen/Qwen2.5-7B-Instruct",
        "meta-llama/Llama-3.1-8B-Instruct",
    )


def test_processes_share_by_deepspeed_or_fsdp_only_if_asked_for() -> None:
    assert build_sharding_options(QWEN) == {}
    zero = replace(QWEN, sharding="zero3")
    if find_spec("deepspeed") is None:
        with pytest.raises(MissingExtra, match="deepspeed"):
            build_sharding_options(zero)
    else:
        assert build_sharding_options(zero) == {"deepspeed": dict(ZERO3)}
    assert build_sharding_options(replace(QWEN, sharding="fsdp")) == {
        "fsdp": "full_shard auto_wrap"
    }
    assert build_sharding_options(CPU) == {}


@pytest.mark.parametrize(
    "wrong",
    [
        {"sharding": "zero9"},
        {"lam": -1.0},
        {"ratio": -1.0},
        {"adapter": "dora"},
        {"optimiser": "sgd"},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        replace(QWEN, **wrong)  # type: ignore[arg-type]
