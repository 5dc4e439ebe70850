"""Replies of a model that is held in memory, and how likely it finds given ones."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

from callwright.nouns.errors import MissingExtra
from callwright.nouns.types import JsonObject

try:
    import torch
    from transformers import DynamicCache, GenerationConfig
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
    model.eval()
    found: list[list[str]] = [[] for _ in chats]
    asked = [_apply_template(tokenizer, chat) for chat in chats]
    order = sorted(range(len(chats)), key=lambda n: len(asked[n]["input_ids"]))  # to pad less
    for start in range(0, len(order), size):
        places = order[start : start + size]
        rows = [asked[n] for n in places]
        given = tokenizer.pad(rows, padding_side="left", return_tensors="pt").to(model.device)
        with torch.no_grad():
            out = model.generate(
                **given,
                max_new_tokens=longest,
                pad_token_id=tokenizer.pad_token_id,
                do_sample=False,
                cache_implementation="static",  # one that grows is copied for each token
                disable_compile=True,  # every batch has another length
            )
        replies = out[:, given["input_ids"].size(1) :].tolist()
        for n, row in zip(places, replies, strict=True):
            found[n] = [_decode_until_end(tokenizer, row)]
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
    """Replies drawn from the whole distribution, the prompt computed once for all of them."""
    config = GenerationConfig(
        do_sample=True, temperature=temperature, top_k=0, top_p=1.0, max_new_tokens=longest,
        pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    prompt = _apply_template(tokenizer, chat)["input_ids"]
    found = sample_continuations(model, [prompt], samples, config, {tokenizer.eos_token_id})
    return [decode_reply(tokenizer, ids) for ids in found]


def sample_continuations(
    model: Any, prompts: Sequence[Sequence[int]], count: int, config: Any, ends: Container[int]
) -> list[list[int]]:
    """``count`` replies to each of some prompts, all at once, those of one prompt together.

    The keys and values of a prompt are computed once for all its replies. Each reply ends with one
    of ``ends``.
    """
    training, device = model.training, model.device
    model.eval()
    longest = max(map(len, prompts))
    rows = [[config.pad_token_id] * (longest - len(prompt)) + [*prompt] for prompt in prompts]
    ids = torch.tensor(rows, device=device)
    mask = torch.tensor(
        [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts], device=device
    )
    with torch.no_grad():
        cache = DynamicCache(config=model.config)
        model(
            ids[:, :-1],
            attention_mask=mask[:, :-1],
            # where padding counts for nothing, as in what is generated behind it
            position_ids=(mask.cumsum(-1) - 1).clamp(min=0)[:, :-1],
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        cache.batch_repeat_interleave(count)
        out = model.generate(
            input_ids=ids.repeat_interleave(count, 0),
            attention_mask=mask.repeat_interleave(count, 0),
            past_key_values=cache,
            generation_config=config,
        )
    model.train(training)
    found = []
    for row in out[:, longest:].tolist():
        end = next((i + 1 for i, token in enumerate(row) if token in ends), len(row))
        found.append(row[:end])
    return found


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


def _apply_template(tokenizer: Any, chat: Chat | ToolChat) -> dict[str, Any]:
    messages, tools = chat if isinstance(chat, ToolChat) else (chat, None)
    asked = tokenizer.apply_chat_template(
        messages, tools=tools, add_generation_prompt=True, tokenize=True, return_dict=True
    )
    return {"input_ids": asked["input_ids"], "attention_mask": asked["attention_mask"]}


def _decode_until_end(tokenizer: Any, row: list[int]) -> str:
    ends = [
        i
        for i, token in enumerate(row)
        if token in (tokenizer.eos_token_id, tokenizer.pad_token_id)
    ]
    return decode_reply(tokenizer, row[: ends[0]] if ends else row)


def prompt_length(tokenizer: Any, chat: Chat | ToolChat) -> int:
    """Tokens of a chat with the opening of the reply."""
    return len(_apply_template(tokenizer, chat)["input_ids"])


def negative_log_likelihood(model: Any, tokenizer: Any, rows: Sequence[tuple[Chat, str]]) -> float:
    """Mean over all tokens of the second of each row, end of turn included, of -log P(token | what is before it)."""
    model.eval()
    total, count = 0.0, 0
    for chat, answer in rows:
        before = _apply_template(tokenizer, chat)["input_ids"]
        after = [*tokenizer(answer, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
        with torch.no_grad():
            logits = model(torch.tensor([[*before, *after]], device=model.device)).logits[
                0, len(before) - 1 : -1
            ]
        wanted = torch.tensor(after, device=logits.device)
        total += torch.nn.functional.cross_entropy(logits.float(), wanted, reduction="sum").item()
        count += len(after)
    return total / count
