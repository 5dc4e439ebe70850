"""Replies of a model in memory and the likelihood of given ones, on a tiny random model."""

from __future__ import annotations

import json
import math
from importlib.util import find_spec

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

import torch

from callwright_lab.training.generation import (
    ToolChat,
    generate_replies,
    negative_log_likelihood,
    prompt_length,
)
from tests.training.refiner_case import tiny_model, tiny_tokenizer

CHATS = [[{"role": "user", "content": text}] for text in ("one", "a longer question", "two")]


def test_a_greedy_reply_does_not_depend_on_what_else_is_asked() -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    together = generate_replies(model, tokenizer, CHATS, 6)
    assert together == [generate_replies(model, tokenizer, [chat], 6)[0] for chat in CHATS]
    assert [len(some) for some in together] == [1, 1, 1]


def test_the_template_shows_the_tools_of_a_chat_that_has_some() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = (
        "{% if tools %}{{ tools | tojson }}{% endif %}" + tokenizer.chat_template
    )
    tools = [{"type": "function", "function": {"name": "rain", "parameters": {}}}]
    more = prompt_length(tokenizer, ToolChat(CHATS[0], tools)) - prompt_length(tokenizer, CHATS[0])
    assert more == len(tokenizer(json.dumps(tools))["input_ids"])
    model = tiny_model(tokenizer)
    with_tools, without = generate_replies(
        model, tokenizer, [ToolChat(CHATS[0], tools), CHATS[0]], 6
    )
    assert with_tools == generate_replies(model, tokenizer, [ToolChat(CHATS[0], tools)], 6)[0]
    assert with_tools != without


def test_several_replies_are_drawn_for_each_chat_in_order() -> None:
    tokenizer = tiny_tokenizer()
    torch.manual_seed(0)
    found = generate_replies(tiny_model(tokenizer), tokenizer, CHATS, 6, samples=4, temperature=1.0)
    assert [len(some) for some in found] == [4, 4, 4]
    assert len({text for some in found for text in some}) > 6, "replies are drawn, not repeated"


def test_the_likelihood_is_that_of_the_answers_tokens_alone() -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    rows = [(CHATS[0], "abc"), (CHATS[1], "d")]
    assert negative_log_likelihood(model, tokenizer, rows) == pytest.approx(
        math.log(len(tokenizer)), rel=1e-4
    )


def test_a_prompt_is_counted_with_the_opening_of_the_reply() -> None:
    tokenizer = tiny_tokenizer()
    assert prompt_length(tokenizer, CHATS[0]) == len(
        tokenizer("user:one<|im_end|>assistant:")["input_ids"]
    )
