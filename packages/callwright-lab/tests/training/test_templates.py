"""Templates that append turns are kept, others are exchanged or refused."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

import trl

from callwright.nouns.errors import ConfigError
from callwright_lab.training.templates import appends_turns, use_training_template
from tests.training.refiner_case import tiny_tokenizer

TEMPLATES = Path(trl.__file__).parent / "chat_templates"


def test_a_template_that_appends_turns_is_kept() -> None:
    for name in ("qwen2_5", "llama3_1", "qwen3_instruct_2507"):
        tokenizer = tiny_tokenizer()
        tokenizer.chat_template = text = (TEMPLATES / f"{name}.jinja").read_text(encoding="utf-8")
        use_training_template(tokenizer)
        assert tokenizer.chat_template == text


def test_qwen3s_is_exchanged_for_one_that_appends_turns_and_opens_them_alike() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = (TEMPLATES / "qwen3.jinja").read_text(encoding="utf-8")
    asked = [{"role": "user", "content": "Rain?"}]
    before = tokenizer.apply_chat_template(asked, add_generation_prompt=True, tokenize=False)
    assert not appends_turns(tokenizer)
    use_training_template(tokenizer)
    assert appends_turns(tokenizer)
    assert "generation %}" not in tokenizer.chat_template
    after = tokenizer.apply_chat_template(asked, add_generation_prompt=True, tokenize=False)
    assert after == before


def test_an_unknown_template_that_rewrites_turns_is_refused() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = (
        "{% for m in messages %}{{ m['role'] if loop.last else '' }}{{ m['content'] }}{% endfor %}"
    )
    with pytest.raises(ConfigError, match="writes a turn otherwise"):
        use_training_template(tokenizer)
