"""A tiny language model made from a config, a tokenizer of bytes, and a few refiner samples."""

from __future__ import annotations

import gc
import json
import random
from pathlib import Path
from typing import Any

import pytest

from callwright_lab.training.refiner.data import (
    build_correct_samples,
    build_erroneous_samples,
    build_shuffled_samples,
)
from callwright_lab.training.refiner.settings import Settings
from callwright_lab.training.refiner.sources import SOURCES, iter_tasks, simplify_to_steps
from callwright_lab.training.refiner.task import Sample, Task

TOY = Settings(
    model="",
    rate=1e-3,
    steps=2,
    batch=2,
    group=4,
    attempts=4,
    free=4,
    longest=12,
    context=2000,
    prompt="short",
    micro=8,
    sft_steps=2,
    sft_rate=1e-3,
    sft_batch=2,
    bf16=False,
    vllm=False,
    save_every=1,
    recompute=False,
)


def xlam_tasks(count: int = 6) -> list[Task]:
    """Tasks in xLAM's own layout, written for these tests."""
    rows = [
        {
            "query": f"Weather in town{n} for {n} days",
            "tools": json.dumps(
                [
                    {
                        "name": "weather",
                        "parameters": {"city": {"type": "str"}, "days": {"type": "int"}},
                    },
                    {"name": f"news_{n}", "parameters": {"topic": {"type": "str"}}},
                ]
            ),
            "answers": f'[{{"name": "weather", "arguments": {{"city": "town{n}", "days": {n}}}}}]',
        }
        for n in range(1, count + 1)
    ]
    return list(iter_tasks(SOURCES["xlam"], rows))


def various_tasks(count: int) -> list[Task]:
    """Tasks in xLAM's own layout, each with a tool of its own, so that some are held out and some
    are not.
    """
    rows = [
        {
            "query": f"Weather in town{n} for {n} days",
            "tools": json.dumps(
                [
                    {
                        "name": f"weather_{n}",
                        "parameters": {"city": {"type": "str"}, "days": {"type": "int"}},
                    }
                ]
            ),
            "answers": (
                f'[{{"name": "weather_{n}", "arguments": {{"city": "town{n}", "days": {n}}}}}]'
            ),
        }
        for n in range(1, count + 1)
    ]
    return list(iter_tasks(SOURCES["xlam"], rows))


def nested_row(number: int) -> dict[str, Any]:
    """A row in NesTools' own layout, written for these tests."""

    def api(name: str, takes: str, gives: str) -> dict[str, Any]:
        return {
            "api_name": name,
            "api_description": name,
            "parameters": {takes: {"type": "str", "description": takes}},
            "required": [takes],
            "responses": {gives: {"type": "str", "description": gives}},
        }

    return {
        "task": f"Find pen {number}, look at the weather and buy it",
        "api": [
            api(f"find_{number}", "word", "item"),
            api(f"look_{number}", "place", "sky"),
            api(f"buy_{number}", "item", "receipt"),
        ],
        "call": [
            {
                "api_name": f"find_{number}",
                "parameters": {"word": "pen"},
                "responses": ["API_call_0"],
            },
            {
                "api_name": f"look_{number}",
                "parameters": {"place": "here"},
                "responses": ["API_call_1"],
            },
            {
                "api_name": f"buy_{number}",
                "parameters": {"item": "API_call_0"},
                "responses": ["API_call_2"],
            },
        ],
    }


def nested_tasks(count: int = 4) -> list[Task]:
    return list(iter_tasks(SOURCES["nestools"], [nested_row(n) for n in range(count)]))


def samples() -> list[Sample]:
    """Some of each kind."""
    rng, nested = random.Random(1), nested_tasks()
    return [
        *build_erroneous_samples(xlam_tasks(), "format", 3, rng),
        *build_correct_samples(xlam_tasks(), 2, rng),
        *build_shuffled_samples(nested, "shuffled_full", 2, rng),
        *build_shuffled_samples(
            [simplify_to_steps(t) for t in nested], "shuffled_simplified", 2, rng
        ),
    ]


def tiny_tokenizer() -> Any:
    """Every byte is a token; a chat template of two marks."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|pad|>"
    )
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|endoftext|>"]})
    tokenizer.chat_template = (
        "{% for m in messages %}{{ m['role'] + ':' + m['content'] + '<|im_end|>' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ 'assistant:' }}{% endif %}"
    )
    return tokenizer


def tiny_model(tokenizer: Any, seed: int = 0) -> Any:
    """Two layers of width 32, random."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config)


def save_tiny_model(folder: Path) -> str:
    """A folder with a tiny model and its tokenizer."""
    tokenizer = tiny_tokenizer()
    tiny_model(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def count_models(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that gets, each time that a model writes, the models in memory beside those of now."""
    from transformers import LlamaForCausalLM

    from callwright_lab.training import generation

    def count() -> int:
        return sum(type(one) is LlamaForCausalLM for one in gc.get_objects())

    def continue_prompts(*given: Any, **named: Any) -> Any:
        seen.append(count() - before)
        return write(*given, **named)

    gc.collect()
    before, write = count(), generation.continue_prompts
    seen: list[int] = []
    monkeypatch.setattr(generation, "continue_prompts", continue_prompts)
    return seen
