"""The data file of control tokens: each family has its source, and no token is ordinary text."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from callwright.parsing.template_tokens import load_template_tokens

TEMPLATES = tomllib.loads(
    (files("callwright.parsing") / "data" / "template_tokens.toml").read_text("utf-8")
)["templates"]
NAMED = (
    "<tool_response>",
    "</tool_call>",
    "<|im_end|>",
    "<|im_start|>assistant",
    "[/INST]",
    "<|eot_id|>",
    "<|python_tag|>",
    "<end_of_turn>",
    "<｜tool▁calls▁begin｜>",
    "<|observation|>",
    "<|return|>",
)


def test_the_known_families_are_there_each_with_its_source() -> None:
    assert len({one["name"] for one in TEMPLATES}) == len(TEMPLATES)
    assert all(one["source"].strip() for one in TEMPLATES)
    assert load_template_tokens().words.issuperset(NAMED)


def test_every_token_stands_in_brackets_of_its_own_and_is_no_reasoning_tag() -> None:
    for word in load_template_tokens().words:
        assert word[0] in "<[]", word
        assert "think" not in word.lower(), word


def test_a_turn_is_either_the_models_or_somebody_elses() -> None:
    tokens = load_template_tokens()
    assert not tokens.own_turn & tokens.other_turn
    assert tokens.own_turn | tokens.other_turn | tokens.at_end < tokens.words
    assert tokens.result < tokens.words - tokens.own_turn


def test_each_token_is_found_where_it_stands() -> None:
    tokens = load_template_tokens()
    for word in tokens.words:
        assert tokens.marks.search(f"ab{word}", 0, ended=True) == (2, word)
