"""Opening and saving: GGUF files, adapters, whole folders."""

from __future__ import annotations

import gc
import sys
import weakref
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

if any(find_spec(name) is None for name in ("torch", "transformers", "peft", "gguf")):
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

import torch

from callwright.nouns.errors import ConfigError, MissingExtra
from callwright_lab.training import checkpoints
from callwright_lab.training.checkpoints import find_weights, open_model, supports_bfloat16
from tests.training.gguf_case import make_adapter, qwen_model, qwen_tokenizer, write_gguf
from tests.training.refiner_case import save_tiny_model, tiny_model, tiny_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


def test_a_gguf_file_is_opened_whole_and_learnable(tmp_path: Path) -> None:
    tokenizer = qwen_tokenizer()
    source = qwen_model(tokenizer)
    path = write_gguf(source, tokenizer, tmp_path / "tiny.gguf")
    model, opened = open_model(str(path))
    ids = opened("some words")["input_ids"]
    assert ids == tokenizer("some words")["input_ids"]
    there, here = (m(torch.tensor([ids])).logits for m in (source, model))
    assert torch.allclose(there, here, atol=1e-5)
    assert not getattr(model, "is_quantized", False), "trainers refuse to train quantised weights"
    assert model.dtype == torch.float32
    assert open_model(str(path), bf16=True)[0].dtype == torch.bfloat16


@pytest.mark.parametrize("name", ["amx_bf16", "avx512_bf16", "bf16"])
def test_a_processor_supports_bfloat16_if_it_says_so(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {name: True}, raising=False)
    assert supports_bfloat16()
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {name: False})
    assert not supports_bfloat16()
    monkeypatch.delattr(torch.cpu, "get_capabilities")
    assert not supports_bfloat16()


def test_an_adapter_is_opened_on_the_base_that_it_names(tmp_path: Path) -> None:
    tokenizer = qwen_tokenizer()
    path = write_gguf(qwen_model(tokenizer), tokenizer, tmp_path / "tiny.gguf")
    adapted = make_adapter(open_model(str(path))[0])
    adapted.save_pretrained(tmp_path / "adapter")
    ids = torch.tensor([tokenizer("some words")["input_ids"]])
    for learn in (False, True):
        model, _ = open_model(str(tmp_path / "adapter"), learn=learn)
        assert torch.allclose(model(ids).logits, adapted(ids).logits, atol=1e-5)
        assert any(p.requires_grad for p in model.parameters()) is learn
        halved, _ = open_model(str(tmp_path / "adapter"), bf16=True, learn=learn)
        types = {p.dtype for name, p in halved.named_parameters() if "lora_" in name}
        assert types == {torch.float32 if learn else torch.bfloat16}


def test_the_head_sees_rows_that_lie_together(tmp_path: Path) -> None:
    """A slice of several prompts' last states cost a copy of the whole head for each."""
    model, _ = open_model(save_tiny_model(tmp_path))
    seen: list[bool] = []
    head = model.get_output_embeddings()
    head.register_forward_pre_hook(lambda _, given: seen.append(given[0].is_contiguous()))
    model.generate(torch.tensor([[5, 6, 7], [8, 9, 10]]), max_new_tokens=3, do_sample=False)
    assert seen == [True] * 3


def test_a_gguf_file_is_quantised_to_four_bits_with_an_adapter_beside_it(tmp_path: Path) -> None:
    """transformers refuses to quantise what it reads from a GGUF file."""
    pytest.importorskip("bitsandbytes", reason="extra 'qlora' is not installed")
    tokenizer = qwen_tokenizer()
    path = write_gguf(qwen_model(tokenizer), tokenizer, tmp_path / "tiny.gguf")
    make_adapter(open_model(str(path))[0]).save_pretrained(tmp_path / "adapter")
    model, _ = open_model(str(tmp_path / "adapter"), bf16=True, four_bits=True, learn=True)
    layer = model.get_base_model().model.layers[0].mlp.up_proj
    assert type(layer.base_layer).__name__ == "Linear4bit"
    assert layer.lora_B["default"].weight.requires_grad
    weight = open_model(str(path))[0].model.layers[0].mlp.up_proj.weight
    found = layer.base_layer(torch.eye(64, dtype=torch.bfloat16)).float().T
    assert torch.corrcoef(torch.stack([weight.flatten(), found.flatten()]))[0, 1] > 0.98


def test_what_cannot_be_opened_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be opened"):
        open_model(str(tmp_path))
    assert find_weights("some/name") == ("some/name", {})


@pytest.mark.parametrize("library", ["gguf", "peft"])
def test_what_is_not_installed_is_said(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but this extra has these two, and a library would say it deep inside of a run."""
    monkeypatch.setitem(sys.modules, library, None)
    spec = spec_from_file_location("again", checkpoints.__file__)
    assert spec is not None
    assert spec.loader is not None
    with pytest.raises(MissingExtra, match="training a language model needs") as raised:
        spec.loader.exec_module(module_from_spec(spec))
    assert "train" in raised.value.hint


def test_a_model_that_only_holds_itself_is_gone_before_another_is_opened(tmp_path: Path) -> None:
    """Two models of 7 GB do not fit beside each other into the memory of a small machine."""
    place = save_tiny_model(tmp_path)
    gc.collect()
    gc.disable()
    try:
        model = tiny_model(tiny_tokenizer())
        model.held = [model]
        seen = weakref.ref(model)
        del model
        assert seen() is not None
        open_model(place)
        assert seen() is None
    finally:
        gc.enable()
