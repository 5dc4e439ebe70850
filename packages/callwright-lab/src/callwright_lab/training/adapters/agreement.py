"""Compares a model in PyTorch with the same model in llama.cpp, position by position.

What is trained on dequantised weights is used on quantised ones: llama.cpp also rounds what goes
into each product. *Agreement* is the share of positions at which both find the same token most
likely, each given the same tokens before. The base's own agreement stands beside an adapter's, for
an adapter cannot agree better than its base.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callwright.models.engine import Engine
from callwright.nouns.errors import MissingExtra

try:
    import torch
except ImportError:
    raise MissingExtra("comparing a model with llama.cpp", "train", "callwright-lab") from None

END = -1
"""Stands for every token that ends a turn: llama.cpp does not always say which one it was."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The most likely token at each position, in PyTorch and in llama.cpp."""

    torch: tuple[int, ...]
    llama: tuple[int, ...]

    @property
    def same(self) -> int:
        return sum(a == b for a, b in zip(self.torch, self.llama, strict=True))

    @property
    def share(self) -> float:
        return self.same / len(self.torch)


def find_top_tokens(model: Any, rows: Sequence[Sequence[int]], ends: frozenset[int]) -> list[int]:
    """The most likely token after every position of every row but its last, in PyTorch."""
    found: list[int] = []
    for row in rows:
        with torch.no_grad():
            ids = torch.tensor([list(row)], device=model.device)
            best = model(input_ids=ids, use_cache=False).logits[0, :-1].argmax(-1)
        found += [END if token in ends else token for token in best.tolist()]
    return found


def find_llama_tokens(
    engine: Engine,
    rows: Sequence[Sequence[int]],
    ends: frozenset[int],
    adapter: Path | None = None,
) -> list[int]:
    """The same in llama.cpp: one token is asked for after every position. The engine is loaded."""
    found: list[int] = []
    for row in rows:
        for end in range(1, len(row)):
            reply = engine.complete(
                {
                    "prompt": list(row[:end]),
                    "n_predict": 1,
                    "n_probs": 1,
                    "temperature": 0,
                    "cache_prompt": True,
                    **engine.choose_adapter(adapter, "agreement"),
                }
            )
            token = _read_token(reply)
            found.append(END if token in ends else token)
    return found


def _read_token(reply: Any) -> int:
    content = (reply["choices"][0]["logprobs"] or {}).get("content")
    return int(content[0]["id"]) if content else END


def find_ends(tokenizer: Any) -> frozenset[int]:
    """The tokens that end a turn, as llama.cpp knows them for ChatML and Llama 3."""
    named = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|eom_id|>")
    known = tokenizer.get_vocab()
    return frozenset({known[n] for n in named if n in known} | {tokenizer.eos_token_id})


def measure_agreement(
    model: Any, tokenizer: Any, engine: Engine, rows: Sequence[Sequence[int]], adapter: Path | None
) -> Agreement:
    """The agreement of a model that PyTorch holds with the engine's, with its ``adapter``."""
    ends = find_ends(tokenizer)
    return Agreement(
        tuple(find_top_tokens(model, rows, ends)),
        tuple(find_llama_tokens(engine, rows, ends, adapter)),
    )


def render_agreement(base: Agreement, adapted: Agreement | None) -> str:
    """Both agreements as Markdown, and at how many positions the adapter changes the base."""
    lines = ["| model | positions | the same token first | share |", "|---|---|---|---|"]
    pairs = [("base", base), *([("base + adapter", adapted)] if adapted else [])]
    for name, one in pairs:
        lines.append(f"| {name} | {len(one.torch)} | {one.same} | {one.share:.1%} |")
    if adapted:
        changed = sum(a != b for a, b in zip(base.torch, adapted.torch, strict=True))
        lines += ["", f"The adapter changes the first token at {changed} positions."]
    return "\n".join(lines)
