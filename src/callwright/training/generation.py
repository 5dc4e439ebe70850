"""Replies of a model that is held in memory, and how likely it finds given ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callwright.errors import MissingExtra
from callwright.training.dapo import decoded

try:
    import torch
except ImportError:
    raise MissingExtra("asking a model in memory", "train") from None

Chat = list[dict[str, str]]


def replies(
    model: Any, tokenizer: Any, chats: Sequence[Chat], longest: int,
    *, size: int = 8, samples: int = 1, temperature: float = 0.0,
) -> list[list[str]]:  # fmt: skip
    """``samples`` replies to every chat of at most ``longest`` tokens; greedy at temperature 0."""
    model.eval()
    found: list[list[str]] = []
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    how: dict[str, Any] = {"do_sample": False}
    if temperature:
        how = {
            "do_sample": True,
            "temperature": temperature,
            "top_k": 0,
            "top_p": 1.0,
            "num_return_sequences": samples,
        }
    for start in range(0, len(chats), size):
        rows = [_templated(tokenizer, chat) for chat in chats[start : start + size]]
        given = tokenizer.pad(rows, padding_side="left", return_tensors="pt").to(model.device)
        with torch.no_grad():
            out = model.generate(
                **given, max_new_tokens=longest, pad_token_id=tokenizer.pad_token_id, use_cache=True, **how
            )
        texts = [_ended(tokenizer, row) for row in out[:, given["input_ids"].size(1) :].tolist()]
        each = len(texts) // len(rows)
        found += [texts[i * each : (i + 1) * each] for i in range(len(rows))]
    return found


def _templated(tokenizer: Any, chat: Chat) -> dict[str, Any]:
    asked = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=True, return_dict=True)
    return {"input_ids": asked["input_ids"], "attention_mask": asked["attention_mask"]}


def _ended(tokenizer: Any, row: list[int]) -> str:
    ends = [i for i, token in enumerate(row) if token in (tokenizer.eos_token_id, tokenizer.pad_token_id)]
    return decoded(tokenizer, row[: ends[0]] if ends else row)


def prompt_length(tokenizer: Any, chat: Chat) -> int:
    """Tokens of a chat with the opening of the reply."""
    return len(_templated(tokenizer, chat)["input_ids"])


def negative_log_likelihood(model: Any, tokenizer: Any, rows: Sequence[tuple[Chat, str]]) -> float:
    """Mean over all tokens of the second of each row, end of turn included, of -log P(token | what is before it)."""
    model.eval()
    total, count = 0.0, 0
    for chat, answer in rows:
        before = _templated(tokenizer, chat)["input_ids"]
        after = [*tokenizer(answer, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
        with torch.no_grad():
            logits = model(torch.tensor([[*before, *after]], device=model.device)).logits[0, len(before) - 1 : -1]
        wanted = torch.tensor(after, device=logits.device)
        total += torch.nn.functional.cross_entropy(logits.float(), wanted, reduction="sum").item()
        count += len(after)
    return total / count
