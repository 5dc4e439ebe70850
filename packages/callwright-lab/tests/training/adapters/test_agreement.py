"""What PyTorch and llama.cpp find most likely, on a tiny random model in float32."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

if any(find_spec(name) is None for name in ("torch", "transformers", "peft", "gguf", "xllamacpp")):
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from callwright.models.engine import Engine
from callwright_lab.training.adapters.agreement import (
    END,
    Agreement,
    find_ends,
    find_llama_tokens,
    find_top_tokens,
    measure_agreement,
    render_agreement,
)
from callwright_lab.training.adapters.gguf_file import write_gguf_adapter
from callwright_lab.training.checkpoints import open_model
from tests.training.gguf_case import make_adapter, qwen_model, qwen_tokenizer, write_gguf

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train

TEXT = "Call the weather tool for Bergen, then book a table at half past seven. " * 3


def test_base_and_adapter_agree_and_the_wrong_adapter_does_not(tmp_path: Path) -> None:
    tokenizer = qwen_tokenizer()
    base = write_gguf(qwen_model(tokenizer), tokenizer, tmp_path / "base.gguf")
    model, tokenizer = open_model(str(base))
    adapted = make_adapter(model)
    path = write_gguf_adapter(adapted, tmp_path / "adapter.gguf", number="f32")
    rows = [tokenizer(TEXT)["input_ids"][:101], tokenizer(TEXT)["input_ids"][5:106]]
    engine = Engine(base, 512, 1)
    engine.adapters = [path]
    engine.load()
    with adapted.disable_adapter():
        plain = measure_agreement(adapted, tokenizer, engine, rows, None)
    mine = measure_agreement(adapted, tokenizer, engine, rows, path)
    engine.unload()
    assert len(mine.torch) == len(plain.torch) == 200
    assert plain.share >= 0.99
    assert mine.share >= 0.99
    crossed = Agreement(mine.torch, plain.llama)
    assert crossed.share < 0.5, "the adapter changes so little that nothing was tested"
    shown = render_agreement(plain, mine)
    assert f"| base + adapter | 200 | {mine.same} |" in shown
    assert "changes the first token at" in shown


def test_a_token_that_ends_a_turn_is_the_same_whichever_it_is(tmp_path: Path) -> None:
    import torch

    tokenizer = qwen_tokenizer()
    model = qwen_model(tokenizer)
    with torch.no_grad():
        model.lm_head.weight.zero_()
        model.lm_head.weight[tokenizer.eos_token_id] = torch.randn(64)
        model.lm_head.weight[38] = -model.lm_head.weight[tokenizer.eos_token_id]
    row = tokenizer("ends at once, or never")["input_ids"]
    ends = find_ends(tokenizer)
    found = find_top_tokens(model, [row], ends)
    base = write_gguf(model, tokenizer, tmp_path / "base.gguf")
    engine = Engine(base, 512, 1)
    engine.load()
    assert find_llama_tokens(engine, [row], ends) == found
    engine.unload()
    assert set(found) == {END, 38}
