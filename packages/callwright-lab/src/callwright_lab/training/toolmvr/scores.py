"""Scores a model on unseen rows: the loss of both kinds, and the corrections it writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callwright.nouns.errors import MissingExtra
from callwright_lab.training import generation
from callwright_lab.training.toolmvr.data import Row
from callwright_lab.training.toolmvr.mask import IGNORED, Tokens
from callwright_lab.training.toolmvr.report import Corrected, grade_correction

try:
    import torch
except ImportError:
    raise MissingExtra("scoring a language model", "train", "callwright-lab") from None


def measure_loss(model: Any, rows: Sequence[Tokens]) -> float:
    """The mean over the learned tokens of all rows; 0 where there are none."""
    model.eval()
    total, count = 0.0, 0
    for row in rows:
        target = torch.tensor(row.labels[1:])
        places = (target != IGNORED).nonzero().squeeze(-1)
        with torch.no_grad():
            made = model(
                torch.tensor([row.ids], device=model.device), logits_to_keep=places.to(model.device)
            )
        wanted = target[places].to(made.logits.device)
        total += torch.nn.functional.cross_entropy(
            made.logits[0].float(), wanted, reduction="sum"
        ).item()
        count += len(places)
    return total / count if count else 0.0


def generate_corrections(
    model: Any, tokenizer: Any, rows: Sequence[Row], longest: int
) -> tuple[Corrected, ...]:
    """Greedy replies to R rows, each given all but its last message."""
    chats = [
        [{"role": m["role"], "content": m["content"]} for m in row.messages[:-1]] for row in rows
    ]
    texts = generation.generate_replies(model, tokenizer, chats, longest, size=4)
    return tuple(grade_correction(row, text) for row, (text,) in zip(rows, texts, strict=True))
