"""Estimates the memory of a training run from its settings and the shape of its model.

It counts what PyTorch and TRL hold: weights and their copy in bfloat16, gradients, the optimiser's
moments, the KL reference, activations with or without recomputation, logits, and the cache of the
replies that are sampled. A tenth and one gigabyte are added for what is not counted: the driver,
workspaces, fragments. The figures are computed, not measured on a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from callwright.jsontext import JsonError, parse
from callwright_lab.training.tuning_settings import Adapter, Targets, Tuning, is_gguf

Kind = Literal["sft", "groups"]
CARDS = (12, 24, 80)
"""Gigabytes of the cards that the documentation's table is about."""
_MARGIN, _FIXED = 1.1, 1.0
_NF4 = 0.516  # bytes a weight: four bits, and a scale for 64 that is itself quantised
_LOGIT = 10  # bytes: in bfloat16, in float32, and the gradient


@dataclass(frozen=True, slots=True)
class Shape:
    """The widths on which memory depends. ``query`` and ``key`` are the widths of all heads together; ``tied``:
    input and output share one table.
    """

    layers: int
    width: int
    inner: int
    query: int
    key: int
    vocabulary: int
    tied: bool = True

    @property
    def linear(self) -> int:
        """Weights of all linear layers but the output."""
        attention = self.width * (self.query + 2 * self.key) + self.query * self.width
        return self.layers * (attention + 3 * self.width * self.inner)

    @property
    def tables(self) -> int:
        """Weights of embedding and output."""
        return self.vocabulary * self.width * (1 if self.tied else 2)

    @property
    def parameters(self) -> int:
        return self.linear + self.tables

    def count_adapter(self, rank: int, targets: Targets = "linear") -> int:
        """Weights of a LoRA on all linear layers but the output, or on those of attention."""
        d, q, k, i = self.width, self.query, self.key, self.inner
        others = 3 * (d + i) if targets == "linear" else 0
        return self.layers * rank * ((d + q) + 2 * (d + k) + (q + d) + others)


_QWEN = 151_936
SHAPES: Mapping[str, Shape] = {
    "smollm2-135m": Shape(30, 576, 1536, 576, 192, 49_152),
    "qwen2.5-coder-1.5b": Shape(28, 1536, 8960, 1536, 256, _QWEN, tied=False),  # as in its file
    "Qwen/Qwen2.5-0.5B-Instruct": Shape(24, 896, 4864, 896, 128, _QWEN),
    "Qwen/Qwen2.5-1.5B-Instruct": Shape(28, 1536, 8960, 1536, 256, _QWEN),
    "Qwen/Qwen2.5-3B-Instruct": Shape(36, 2048, 11_008, 2048, 256, _QWEN),
    "Qwen/Qwen2.5-7B-Instruct": Shape(28, 3584, 18_944, 3584, 512, 152_064, tied=False),
    "Qwen/Qwen3-0.6B": Shape(28, 1024, 3072, 2048, 1024, _QWEN),
    "Qwen/Qwen3-1.7B": Shape(28, 2048, 6144, 2048, 1024, _QWEN),
    "Qwen/Qwen3-4B": Shape(36, 2560, 9728, 4096, 1024, _QWEN),
    "Qwen/Qwen3-8B": Shape(36, 4096, 12_288, 4096, 1024, _QWEN, tied=False),
    "meta-llama/Llama-3.1-8B-Instruct": Shape(32, 4096, 14_336, 4096, 1024, 128_256, tied=False),
}
"""Shapes of the presets' models, from their own ``config.json``."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Gigabytes (10^9 bytes) of one process, by what holds them."""

    weights: float
    copies: float
    gradients: float
    optimiser: float
    reference: float
    activations: float
    logits: float
    rollouts: float

    @property
    def total(self) -> float:
        """The peak. Sampling and learning take turns: the larger of the two counts."""
        kept = self.weights + self.copies + self.gradients + self.optimiser + self.reference
        turns = max(self.activations + self.logits, self.rollouts)
        return (kept + turns) * _MARGIN + _FIXED


def find_shape(model: str) -> Shape | None:
    """The shape of a known model, or of a checkpoint in a folder; None if neither says it."""
    if model in SHAPES:
        return SHAPES[model]
    try:
        told: Any = parse((Path(model) / "config.json").read_text(encoding="utf-8"))
        return _read_shape(told)
    except (OSError, JsonError, KeyError, TypeError):
        return None


def _read_shape(told: Mapping[str, Any]) -> Shape:
    heads = told["num_attention_heads"]
    head = told.get("head_dim") or told["hidden_size"] // heads
    return Shape(
        told["num_hidden_layers"],
        told["hidden_size"],
        told["intermediate_size"],
        heads * head,
        (told.get("num_key_value_heads") or heads) * head,
        told["vocab_size"],
        bool(told.get("tie_word_embeddings")),
    )


def count_learned(settings: Tuning, shape: Shape) -> int:
    """Weights that have gradients."""
    if settings.adapter != "none":
        return shape.count_adapter(settings.rank, settings.targets)
    if settings.top:
        return shape.linear * settings.top // shape.layers
    return shape.parameters


def estimate_memory(
    settings: Tuning, shape: Shape, kind: Kind, *, shards: int = 1, card: float = 0
) -> Memory:
    """The memory of one process: of supervised training or of reinforcement by groups.

    ``shards``: processes that share weights, gradients and moments. ``card``: gigabytes of the GPU,
    of which vLLM takes its share; 0: replies are sampled by transformers.
    """
    learned = count_learned(settings, shape)
    full = settings.adapter == "none"
    number = 2 if settings.bf16 else 4
    tokens, scored = _count_tokens(settings, kind)
    state = 8 if settings.optimiser == "adamw" else 2
    return Memory(
        weights=_count_weights(settings, shape) / shards / 1e9,
        copies=_count_copies(settings, shape, kind) / shards / 1e9,
        gradients=4 * learned / shards / 1e9,
        optimiser=state * learned / shards / 1e9,
        reference=(4 * shape.parameters / shards / 1e9)
        if full and kind == "groups" and settings.beta
        else 0.0,
        activations=_count_activations(settings, shape, tokens) * number / 1e9,
        logits=scored * shape.vocabulary * _LOGIT / 1e9,
        rollouts=_count_rollouts(settings, shape, card) if kind == "groups" else 0.0,
    )


def _count_tokens(settings: Tuning, kind: Kind) -> tuple[int, int]:
    """(tokens of one pass, positions of it whose logits are computed)."""
    row = settings.context + settings.longest
    if kind == "sft":
        rows = min(settings.sft_micro, settings.sft_batch)
        return rows * row, rows * row
    if settings.shared:  # a pass is the batch, each prompt with all its replies behind it
        replies = settings.group * settings.longest
        return settings.batch * (settings.context + replies), settings.batch * replies
    return settings.micro * row, settings.micro * settings.longest


def _count_weights(settings: Tuning, shape: Shape) -> float:
    """Bytes of the base and of an adapter beside it."""
    if settings.adapter == "none":
        return 4.0 * shape.parameters
    number = 2 if settings.bf16 else 4
    quantised = settings.adapter == "qlora"
    base = shape.linear * (_NF4 if quantised else number) + shape.tables * number
    return base + 4.0 * shape.count_adapter(settings.rank, settings.targets)


def _count_copies(settings: Tuning, shape: Shape, kind: Kind) -> float:
    """Bytes of copies in bfloat16: what autocast makes of weights that are learned in float32, and
    what samples where each prompt is computed once.
    """
    if settings.adapter != "none" or not settings.bf16:
        return 0.0
    sampling = 1 if kind == "groups" and settings.shared else 0
    return 2.0 * shape.parameters * (1 + sampling)


def _count_activations(settings: Tuning, shape: Shape, tokens: int) -> int:
    """Numbers that are kept for the backward pass: of every layer, or its input and those of one
    layer.
    """
    layer = 3 * shape.inner + 6 * shape.width + 2 * (shape.query + 2 * shape.key)
    kept = shape.layers * shape.width + layer if settings.recompute else shape.layers * layer
    return tokens * kept


def _count_rollouts(settings: Tuning, shape: Shape, card: float) -> float:
    """Gigabytes while replies are sampled: vLLM's share, or the cache of those sampled at once."""
    if _has_vllm(settings) and card:
        return settings.vllm_share * card
    rows = max(settings.group, settings.rollouts)
    cache = rows * (settings.context + settings.longest) * shape.layers * 2 * shape.key
    return cache * (2 if settings.bf16 else 4) / 1e9


def _has_vllm(settings: Tuning) -> bool:
    return settings.vllm and not is_gguf(settings.model)


def _fits(settings: Tuning, shape: Shape, kind: Kind, shards: int, card: float) -> bool:
    """Return True if this card holds the run; vLLM's share has to hold the whole model."""
    sampler = 2.0 * shape.parameters * _MARGIN / 1e9
    if kind == "groups" and _has_vllm(settings) and settings.vllm_share * card < sampler:
        return False
    return estimate_memory(settings, shape, kind, shards=shards, card=card).total <= card


def render_memory(settings: Tuning, kind: Kind, *, shards: int = 1) -> str:
    """One line of what a run needs, on which cards it fits; or that its shape is not known."""
    shape = find_shape(settings.model)
    if shape is None:
        return f"The shape of {settings.model} is not known here: no memory."
    found = estimate_memory(settings, shape, kind, shards=shards)
    parts = ", ".join(
        f"{name} {getattr(found, name):.1f}"
        for name in Memory.__dataclass_fields__
        if getattr(found, name) >= 0.05
    )
    fits = [f"{card} GB" for card in CARDS if _fits(settings, shape, kind, shards, card)]
    where = f"It fits into {', '.join(fits)}." if fits else "No single card of 80 GB holds it."
    return f"{found.total:.0f} GB at the peak ({parts}; a tenth and 1 GB for the rest). {where}"


def render_card_table() -> str:
    """Gigabytes by model and way, and what holds most on each card, as Markdown.

    Of rows of 2,048 tokens, one a pass, with activations recomputed.
    """
    named = {
        "0.5B": "Qwen/Qwen2.5-0.5B-Instruct",
        "1.5B": "qwen2.5-coder-1.5b",
        "3B": "Qwen/Qwen2.5-3B-Instruct",
        "8B": "Qwen/Qwen3-8B",
    }
    lines = [
        "| model | all weights | 8-bit AdamW | LoRA | QLoRA | 12 | 24 | 80 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, model in named.items():
        totals = {way: _estimate_way(model, way) for way in _WAYS}
        cells = [str(math.ceil(total)) for total in totals.values()]
        cells += [next((w for w, t in totals.items() if t <= card), "-") for card in CARDS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


_WAYS: Mapping[str, tuple[Adapter, Literal["adamw", "paged-adamw-8bit"]]] = {
    "all weights": ("none", "adamw"),
    "8-bit AdamW": ("none", "paged-adamw-8bit"),
    "LoRA": ("lora", "adamw"),
    "QLoRA": ("qlora", "paged-adamw-8bit"),
}


def _estimate_way(model: str, way: str) -> float:
    adapter, optimiser = _WAYS[way]
    settings = replace(
        Tuning(), model=model, adapter=adapter, optimiser=optimiser, sft_micro=1, context=1536,
        longest=512,
    )  # fmt: skip
    return estimate_memory(settings, SHAPES[model], "sft").total
