"""Adapters as GGUF files, loaded by llama.cpp beside one base."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if any(find_spec(name) is None for name in ("torch", "transformers", "peft", "gguf", "xllamacpp")):
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

import gguf
import torch

from callwright.models import LocalModel, open_model
from callwright.models import engine as engines
from callwright.models.engine import Engine
from callwright.nouns.errors import ConfigError, ModelError
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message
from callwright_lab.training.adapters.gguf_file import map_tensors, write_gguf_adapter
from tests.training.gguf_case import make_adapter, qwen_model, qwen_tokenizer, write_gguf
from tests.training.refiner_case import tiny_model, tiny_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


@pytest.fixture
def base(tmp_path: Path) -> Path:
    tokenizer = qwen_tokenizer()
    return write_gguf(qwen_model(tokenizer), tokenizer, tmp_path / "base.gguf")


def _adapter(path: Path, seed: int = 1, **settings: Any) -> Path:
    return write_gguf_adapter(make_adapter(qwen_model(qwen_tokenizer()), seed, **settings), path)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
    reader = gguf.GGUFReader(path)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    return fields, {t.name: tuple(t.data.shape) for t in reader.tensors}


def test_the_file_says_that_it_is_a_lora_and_names_tensors_as_llama_cpp_does(
    tmp_path: Path,
) -> None:
    fields, tensors = _read(_adapter(tmp_path / "a.gguf", r=4, lora_alpha=6))
    assert fields["general.type"] == "adapter"
    assert fields["general.architecture"] == "qwen2"
    assert fields["adapter.type"] == "lora"
    assert fields["adapter.lora.alpha"] == 6
    assert tensors["blk.0.attn_q.weight.lora_a"] == (4, 64)
    assert tensors["blk.1.ffn_down.weight.lora_b"] == (64, 4)
    assert len(tensors) == 2 * 7 * 2
    assert not list(tmp_path.glob("*.part"))


def test_alpha_of_a_rank_stabilised_adapter_is_what_llama_cpp_divides_by_the_rank(
    tmp_path: Path,
) -> None:
    fields, _ = _read(_adapter(tmp_path / "a.gguf", r=4, lora_alpha=6, use_rslora=True))
    assert fields["adapter.lora.alpha"] == 12


def test_an_activated_adapter_names_the_tokens_that_invoke_it(tmp_path: Path, base: Path) -> None:
    path = _adapter(tmp_path / "a.gguf", alora_invocation_tokens=[3, 4])
    assert _read(path)[0]["adapter.alora.invocation_tokens"] == [3, 4]
    engine = Engine(base, 512, 1)
    engine.adapters = [path]
    engine.load()
    engine.unload()


def test_a_llamas_queries_and_keys_are_in_the_order_of_its_gguf() -> None:
    config = tiny_model(tiny_tokenizer()).config
    rows = torch.arange(32.0)[:, None]  # four heads of eight
    key = "base_model.model.model.layers.0.self_attn.{}_proj.lora_B.weight"
    made = map_tensors({key.format("q"): rows, key.format("v"): rows}, config)
    assert made["blk.0.attn_q.weight.lora_b"][:8, 0].tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    assert torch.equal(made["blk.0.attn_v.weight.lora_b"], rows)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"use_dora": True}, "DoRA"),
        ({"bias": "all"}, "biases"),
        ({"rank_pattern": {"q_proj": 2}}, "ranks by module"),
    ],
)
def test_what_llama_cpp_cannot_load_is_refused(
    settings: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=said):
        _adapter(tmp_path / "a.gguf", **settings)
    assert not list(tmp_path.iterdir())


def test_a_model_or_tensor_without_a_place_is_refused() -> None:
    config = tiny_model(tiny_tokenizer()).config
    with pytest.raises(ConfigError, match=r"no place for the adapter's tensor 'base_model\.x"):
        map_tensors({"base_model.x.lora_A.weight": torch.zeros(1, 1)}, config)
    config.model_type = "mamba"
    with pytest.raises(ConfigError, match="'mamba' models cannot be written"):
        map_tensors({}, config)


def _ask(text: str) -> ChatRequest:
    said = (Message("system", "Answer."), Message("user", text))
    return ChatRequest(said, "test", max_tokens=12, temperature=0.0)


async def test_models_with_and_without_adapters_share_one_file_and_never_each_others_prompts(
    tmp_path: Path, base: Path
) -> None:
    """llama.cpp's cache of earlier prompts gave what one adapter computed to another."""
    paths = [_adapter(tmp_path / f"{seed}.gguf", seed) for seed in (1, 2)]
    plain = LocalModel(base, context=1024, threads=1)
    one, two = (LocalModel(base, context=1024, threads=1, adapter=path) for path in paths)
    questions = [f"{n} " + "words that all three are asked about " * 4 for n in range(3)]
    fresh: dict[tuple[int, str], str] = {}
    for at, model in enumerate((plain, one, two)):
        for question in questions:
            fresh[at, question] = (await model.complete(_ask(question))).text
            await model.aclose()
    assert len(set(fresh.values())) > 5, "the replies are so alike that nothing was tested"
    for _ in range(2):
        for question in questions:
            for at, model in enumerate((plain, one, two)):
                reply = await model.complete(_ask(question))
                assert reply.text == fresh[at, question]
    assert reply.usage.cached_tokens > 0, "each keeps its own prompts"
    assert one.name == "base+1"
    for model in (plain, one, two):
        await model.aclose()
    assert base.name not in {path.name for path in engines._loaded}


async def test_kept_prompts_give_way_where_the_context_is_full(tmp_path: Path, base: Path) -> None:
    """Four slots share one context, each prompt fills half of it."""
    path = _adapter(tmp_path / "a.gguf")
    plain = LocalModel(base, context=512, threads=1)
    adapted = LocalModel(base, context=512, threads=1, adapter=path)
    for n in range(3):
        for model in (plain, adapted):
            said = (Message("system", f"Kind {n}."), Message("user", "word " * 55))
            request = ChatRequest(said, "test", max_tokens=12, temperature=0.0)
            reply = await model.complete(request)
            assert reply.usage.prompt_tokens > 256
    for model in (plain, adapted):
        await model.aclose()


async def test_an_adapter_that_joins_a_loaded_model_is_loaded_and_a_wrong_one_leaves_it_usable(
    tmp_path: Path, base: Path
) -> None:
    plain = LocalModel(base, context=512, threads=1)
    before = (await plain.complete(_ask("first"))).text
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"GGUF no more")
    with pytest.raises(ModelError, match="with the adapter"):
        await LocalModel(base, context=512, threads=1, adapter=wrong).load()
    assert (await plain.complete(_ask("first"))).text == before
    joined = LocalModel(base, context=512, threads=1, adapter=_adapter(tmp_path / "a.gguf"))
    assert (await joined.complete(_ask("first"))).text != before
    assert (await plain.complete(_ask("first"))).text == before
    with pytest.raises(ModelError, match="over HTTP the base answers"):
        await joined.endpoint()
    await plain.endpoint()
    late = LocalModel(base, context=512, threads=1, adapter=_adapter(tmp_path / "b.gguf", 2))
    with pytest.raises(ModelError, match="is served without the adapter"):
        await late.load()
    for model in (plain, joined):
        await model.aclose()


async def test_the_spec_names_base_and_adapter(tmp_path: Path, base: Path) -> None:
    path = _adapter(tmp_path / "a.gguf")
    model = open_model(f"local:{base}+{path}", context=512)
    assert model.name == "base+a"
    assert (await model.complete(_ask("x"))).text
    await model.aclose()
    with pytest.raises(ModelError, match="there is no adapter"):
        await LocalModel(base, adapter=tmp_path / "none.gguf").load()
