"""Replies of a model that is held in memory, and how likely it finds given ones."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from callwright.nouns.errors import MissingExtra
from callwright.nouns.types import JsonObject
from callwright_lab.training.decoding import continue_prompts

try:
    import torch
except ImportError:
    raise MissingExtra("asking a model in memory", "train", "callwright-lab") from None

Chat = list[dict[str, str]]


class ToolChat(NamedTuple):
    """A chat with the tools on offer, as the API of OpenAI has them: the template shows them."""

    messages: Chat
    tools: list[JsonObject]


def seed_draws(text: str) -> None:
    """Begin the draws of replies anew, from a seed of this text."""
    torch.manual_seed(zlib.crc32(text.encode()))


def generate_replies(
    model: Any, tokenizer: Any, chats: Sequence[Chat | ToolChat], longest: int,
    *, size: int = 8, samples: int = 1, temperature: float = 0.0,
    on_batch: Callable[[int], object] = int,
) -> list[list[str]]:  # fmt: skip
    """``samples`` replies to every chat of at most ``longest`` tokens, in the order of the chats; at
    temperature 0 one, the greedy one, of ``size`` chats alike in length at a time. ``on_batch``
    is called after each of these batches with the number of chats that have a reply.
    """
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    if temperature:
        return [
            _sample_replies(model, tokenizer, chat, longest, samples, temperature) for chat in chats
        ]
    found: list[list[str]] = [[] for _ in chats]
    asked = [tokenize_chat(tokenizer, chat) for chat in chats]
    order = sorted(range(len(chats)), key=lambda n: len(asked[n]))  # to pad less
    for start in range(0, len(order), size):
        places = order[start : start + size]
        replies = continue_prompts(
            model, [asked[n] for n in places], longest,
            ends={tokenizer.eos_token_id, tokenizer.pad_token_id}, pad=tokenizer.pad_token_id,
        )  # fmt: skip
        for n, reply in zip(places, replies, strict=True):
            found[n] = [decode_until_end(tokenizer, reply.ids)]
        on_batch(start + len(places))
    return found


def _sample_replies(
    model: Any,
    tokenizer: Any,
    chat: Chat | ToolChat,
    longest: int,
    samples: int,
    temperature: float,
) -> list[str]:
    found = continue_prompts(
        model, [tokenize_chat(tokenizer, chat)], longest, ends={tokenizer.eos_token_id},
        pad=tokenizer.pad_token_id, count=samples, temperature=temperature,
    )  # fmt: skip
    return [decode_reply(tokenizer, reply.ids) for reply in found]


def decode_reply(tokenizer: Any, ids: Sequence[int]) -> str:
    """The text of a reply without its end-of-turn token. Other special tokens stay: Glaive's format
    ends in one.
    """
    ends = {tokenizer.eos_token_id, tokenizer.pad_token_id} - {
        tokenizer.convert_tokens_to_ids("<|endoftext|>")
    }
    kept = list(ids)
    while kept and kept[-1] in ends:
        kept.pop()
    return str(tokenizer.decode(kept, skip_special_tokens=False)).strip()


def tokenize_chat(tokenizer: Any, chat: Chat | ToolChat) -> list[int]:
    """The ids of a chat with the opening of the reply."""
    messages, tools = chat if isinstance(chat, ToolChat) else (chat, None)
    asked = tokenizer.apply_chat_template(
        messages, tools=tools or None, add_generation_prompt=True, tokenize=True, return_dict=True
    )
    return list(asked["input_ids"])


def decode_until_end(tokenizer: Any, ids: Sequence[int]) -> str:
    """The text of a reply up to its end of turn, or to padding."""
    ends = [
        i
        for i, token in enumerate(ids)
        if token in (tokenizer.eos_token_id, tokenizer.pad_token_id)
    ]
    return decode_reply(tokenizer, ids[: ends[0]] if ends else ids)


def prompt_length(tokenizer: Any, chat: Chat | ToolChat) -> int:
    """Tokens of a chat with the opening of the reply."""
    return len(tokenize_chat(tokenizer, chat))


def negative_log_likelihood(model: Any, tokenizer: Any, rows: Sequence[tuple[Chat, str]]) -> float:
    """Mean over all tokens of the second of each row, end of turn included, of -log P(token | what is before it)."""
    model.eval()
    total, count = 0.0, 0
    for chat, answer in rows:
        before = tokenize_chat(tokenizer, chat)
        after = [*tokenizer(answer, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
        with torch.no_grad():
            logits = model(torch.tensor([[*before, *after]], device=model.device)).logits[
                0, len(before) - 1 : -1
            ]
        wanted = torch.tensor(after, device=logits.device)
        total += torch.nn.functional.cross_entropy(logits.float(), wanted, reduction="sum").item()
        count += len(after)
    return total / count
