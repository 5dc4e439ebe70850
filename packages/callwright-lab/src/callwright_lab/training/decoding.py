"""Continuations of prompts by a model in memory, many at a time.

Prompts are read a few at a time, since reading takes memory; their replies are written together,
since a step of writing reads all weights, for one reply as for a hundred. Replies that have ended
leave the batch. The keys and values of a prompt are computed once for all replies to it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

from callwright.nouns.errors import MissingExtra

try:
    import torch
    from transformers import DynamicCache, StaticCache
except ImportError:
    raise MissingExtra("asking a model in memory", "train", "callwright-lab") from None

_READ_AT_ONCE = 8_192  # tokens, padding counted: some 3 GB of activations on a 1.5B model
_KEPT = 0.75  # a batch is made smaller when fewer of its replies go on: that copies what is cached


class Continuation(NamedTuple):
    """``ids`` of a reply, with the token that ends it unless it was cut; ``logprobs``: the log of the
    probability of each, at temperature 1.
    """

    ids: list[int]
    logprobs: list[float]


def continue_prompts(
    model: Any, prompts: Sequence[Sequence[int]], longest: int, *, ends: Container[int], pad: int,
    count: int = 1, temperature: float = 0.0,
) -> list[Continuation]:  # fmt: skip
    """``count`` replies of at most ``longest`` tokens to each prompt, those of one prompt together.

    Temperature 0 is greedy; else replies are drawn from the whole distribution. A reply ends with
    one of ``ends``.
    """
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            order = sorted(range(len(prompts)), key=lambda n: len(prompts[n]))  # to pad less
            made = _continue(
                model, [prompts[n] for n in order], longest, ends, pad, count, temperature
            )
            groups = {n: made[k * count : (k + 1) * count] for k, n in enumerate(order)}
            return [reply for n in range(len(prompts)) for reply in groups[n]]
    finally:
        model.train(training)


def _continue(
    model: Any, prompts: Sequence[Sequence[int]], longest: int, ends: Container[int], pad: int,
    count: int, temperature: float,
) -> list[Continuation]:  # fmt: skip
    width = max(map(len, prompts))
    rows = [[pad] * (width - len(prompt)) + [*prompt] for prompt in prompts]
    ids = torch.tensor(rows, device=model.device)
    mask = torch.ones_like(ids)
    for row, prompt in enumerate(prompts):
        mask[row, : width - len(prompt)] = 0
    logits, cache = _read_prompts(model, ids, mask, longest, count)
    mask = mask.repeat_interleave(count, 0)
    found = [Continuation([], []) for _ in range(len(prompts) * count)]
    going = list(range(len(found)))  # the reply of each row; -1: it has ended
    for step in range(longest):
        tokens, logprobs = _choose_tokens(logits, temperature)
        for row, (reply, token) in enumerate(zip(going, tokens.tolist(), strict=True)):
            if reply >= 0:
                found[reply].ids.append(token)
                found[reply].logprobs.append(logprobs[row].item())
                going[row] = -1 if token in ends else reply
        left = [row for row, reply in enumerate(going) if reply >= 0]
        if not left or step + 1 == longest:
            break
        if len(left) < _KEPT * len(going):
            keep = torch.tensor(left, device=model.device)
            cache.reorder_cache(keep)
            tokens, mask, going = tokens[keep], mask[keep], [going[row] for row in left]
        mask = torch.nn.functional.pad(mask, (0, 1), value=1)
        logits = model(
            tokens[:, None],
            attention_mask=mask,
            position_ids=mask.sum(1, keepdim=True) - 1,
            past_key_values=cache,
            use_cache=True,
        ).logits[:, -1]
    return found


def _choose_tokens(logits: torch.Tensor, temperature: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The next token of each row, and the log of its probability."""
    known = torch.log_softmax(logits.float(), -1)
    if temperature:
        tokens = torch.multinomial(torch.softmax(known / temperature, -1), 1)
    else:
        tokens = known.argmax(-1, keepdim=True)
    return tokens[:, 0], known.gather(1, tokens)[:, 0]


def _read_prompts(
    model: Any, ids: torch.Tensor, mask: torch.Tensor, longest: int, count: int
) -> tuple[torch.Tensor, Any]:
    """The logits behind each prompt, and a cache with room for ``longest`` tokens more, of ``count``
    rows a prompt.
    """
    read = list(_iter_read(model, ids, mask))
    logits = torch.cat([last for last, _, _ in read]).repeat_interleave(count, 0)
    # a cache that grows is copied for each token
    cache = StaticCache(config=model.config, max_cache_len=ids.size(1) + longest)
    for place in range(len(cache.layers)):
        parts = [(part.layers[place], (0, 0, unread, 0)) for _, part, unread in read]
        keys, values = (
            torch.cat(
                [torch.nn.functional.pad(getattr(part, name), before) for part, before in parts]
            )
            for name in ("keys", "values")
        )
        cache.update(keys.repeat_interleave(count, 0), values.repeat_interleave(count, 0), place)
        for part, _ in parts:
            part.keys = part.values = None
    return logits, cache


def _iter_read(
    model: Any, ids: torch.Tensor, mask: torch.Tensor
) -> Iterator[tuple[torch.Tensor, Any, int]]:
    """The logits behind the prompts of some rows, their cache, and the columns of padding that all
    of these rows begin with, which are in no cache.
    """
    # where padding counts for nothing, as in what is generated behind it
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    padding = (mask == 0).sum(1).tolist()
    start = 0
    while start < len(ids):
        size = len(ids) - start
        while size > 1 and size * (ids.size(1) - padding[start + size - 1]) > _READ_AT_ONCE:
            size -= 1
        unread = padding[start + size - 1]  # of the longest: they stand by length
        some = (slice(start, start + size), slice(unread, None))
        cache = DynamicCache()
        out = model(
            ids[some],
            attention_mask=mask[some],
            position_ids=positions[some],
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        yield out.logits[:, -1], cache, unread
        start += size
