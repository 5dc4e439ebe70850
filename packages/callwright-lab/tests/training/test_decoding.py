"""Continuations of prompts by a model in memory, on a tiny random one."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright_lab.training import decoding
from callwright_lab.training.decoding import Continuation, continue_prompts
from tests.training.refiner_case import tiny_model, tiny_tokenizer

TOKENIZER = tiny_tokenizer()
MODEL: Any = tiny_model(TOKENIZER)
prompts = st.lists(
    st.lists(st.integers(3, len(TOKENIZER) - 1), min_size=1, max_size=9), min_size=1, max_size=6
)


def write(some: list[list[int]], **more: Any) -> list[Continuation]:
    return continue_prompts(MODEL, some, 8, **{"ends": {1}, "pad": 0, **more})


def read_logprobs(prompt: list[int], reply: list[int]) -> list[float]:
    with torch.no_grad():
        logits = MODEL(torch.tensor([[*prompt, *reply]])).logits[0, len(prompt) - 1 : -1]
    known = torch.log_softmax(logits.float(), -1)
    return [known[n, token].item() for n, token in enumerate(reply)]


@settings(deadline=None, max_examples=25)
@given(prompts, st.sets(st.integers(3, len(TOKENIZER) - 1), max_size=20))
def test_replies_are_those_that_each_prompt_has_alone(
    some: list[list[int]], ends: set[int]
) -> None:
    """Whatever ends early, and whatever else is in the batch."""
    for prompt, reply in zip(some, write(some, ends=ends), strict=True):
        (alone,) = write([prompt], ends=ends)
        assert reply.ids == alone.ids
        assert all(token not in ends for token in reply.ids[:-1])
        assert reply.ids[-1] in ends or len(reply.ids) == 8
        assert reply.logprobs == pytest.approx(read_logprobs(prompt, reply.ids), abs=1e-4)


def test_a_greedy_reply_is_that_of_transformers() -> None:
    for prompt in ([5, 6, 7], [9]):
        ids = torch.tensor([prompt])
        out = MODEL.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=8, do_sample=False,
            pad_token_id=0, eos_token_id=1,
        )  # fmt: skip
        assert write([prompt])[0].ids == out[0, len(prompt) :].tolist()


def test_prompts_are_read_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    some = [[5, 6, 7], [9], [4, 4], [8, 3, 3, 5]]
    together = write(some, count=2)
    monkeypatch.setattr(decoding, "_READ_AT_ONCE", 3)
    assert [reply.ids for reply in write(some, count=2)] == [reply.ids for reply in together]
    assert [together[n].ids for n in (0, 2)] == [reply.ids for reply in write(some[:2])]


def test_draws_of_one_prompt_stand_together_and_differ() -> None:
    torch.manual_seed(0)
    found = write([[5, 6], [9, 4, 3]], count=6, temperature=1.0)
    assert len(found) == 12
    assert len({tuple(reply.ids) for reply in found}) > 6
    for prompt, part in (([5, 6], found[:6]), ([9, 4, 3], found[6:])):
        for reply in part:
            assert reply.logprobs == pytest.approx(read_logprobs(prompt, reply.ids), abs=1e-4)


def test_a_model_that_was_learning_learns_on() -> None:
    MODEL.train()
    try:
        write([[5]])
        assert MODEL.training
    finally:
        MODEL.eval()
