"""Writes a LoRA adapter as the GGUF file that llama.cpp loads beside its base.

The layout is that of llama.cpp's ``convert_lora_to_gguf.py``: ``general.type`` is ``adapter``,
``adapter.type`` is ``lora``, ``adapter.lora.alpha`` is divided by the rank to scale the update, and
each adapted tensor has ``NAME.lora_a`` (rank, inputs) and ``NAME.lora_b`` (outputs, rank). An
activated LoRA (Greenewald et al., 2025) also has ``adapter.alora.invocation_tokens``: it acts from
the last place where these tokens stand in the prompt, so what is before keeps the base's cache.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from callwright.nouns.errors import ConfigError, MissingExtra

try:
    import gguf
    import torch
except ImportError:
    raise MissingExtra("writing an adapter as GGUF", "train", "callwright-lab") from None

Number = Literal["f16", "f32"]
ARCHITECTURES = ("llama", "qwen2", "qwen3")
"""Types of models whose tensors are mapped here; of a llama's, rows of queries and keys move."""

_PREFIX = "base_model.model."
_SIDES = {".lora_A.weight": ".lora_a", ".lora_B.weight": ".lora_b"}


def write_gguf_adapter(
    model: Any, path: Path, *, number: Number = "f16", name: str = "default"
) -> Path:
    """Write the adapter ``name`` of a PEFT model to ``path``, and return the path.

    A file that is there is replaced when the new one is whole. Raises ConfigError for an adapter
    that llama.cpp cannot load: other than LoRA, with learned biases, whole modules or magnitudes,
    or of an architecture that is not in ARCHITECTURES.
    """
    config = model.peft_config[name]
    shape = model.get_base_model().config
    _require_plain_lora(config)
    tensors = map_tensors(_read_tensors(model, name), shape)
    part = path.with_name(path.name + ".part")
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(part, shape.model_type)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, _read_alpha(config))
    if invoked := list(getattr(config, "alora_invocation_tokens", None) or ()):
        writer.add_key_value(
            gguf.Keys.Adapter.ALORA_INVOCATION_TOKENS,
            [int(i) for i in invoked],
            gguf.GGUFValueType.ARRAY,
            gguf.GGUFValueType.UINT32,
        )
    kind = torch.float16 if number == "f16" else torch.float32
    writer.add_file_type(
        gguf.LlamaFileType.MOSTLY_F16 if number == "f16" else gguf.LlamaFileType.ALL_F32
    )
    for key, tensor in tensors.items():
        writer.add_tensor(key, tensor.detach().to("cpu", kind).contiguous().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(part, path)
    return path


def map_tensors(state: Mapping[str, Any], config: Any) -> dict[str, Any]:
    """PEFT's tensors under llama.cpp's names, for a base with this configuration.

    Raises ConfigError for a tensor that llama.cpp has no place for.
    """
    kind = str(config.model_type)
    if kind not in ARCHITECTURES:
        raise ConfigError(
            f"adapters of {kind!r} models cannot be written as GGUF here",
            hint=(
                f"models: {', '.join(ARCHITECTURES)}; for others, merge the adapter and convert"
                " the whole model"
            ),
        )
    names = gguf.get_tensor_name_map(_find_architecture(kind), config.num_hidden_layers)
    found: dict[str, Any] = {}
    for key, tensor in state.items():
        side = next((s for s in _SIDES if key.endswith(s)), None)
        module = key.removeprefix(_PREFIX).removesuffix(side or "")
        place = names.get_name(module) if side else None
        if side is None or place is None:
            raise ConfigError(
                f"llama.cpp has no place for the adapter's tensor {key!r}",
                hint="adapt linear layers only (peft: target_modules='all-linear')",
            )
        if kind == "llama" and side == ".lora_B.weight":
            tensor = _permute_rows(tensor, module, config)
        found[f"{place}.weight{_SIDES[side]}"] = tensor
    return found


def _permute_rows(tensor: Any, module: str, config: Any) -> Any:
    """The outputs of a llama's queries and keys in the order of its GGUF: halves interleaved."""
    heads = {
        "q_proj": config.num_attention_heads,
        "k_proj": getattr(config, "num_key_value_heads", None) or config.num_attention_heads,
    }.get(module.rpartition(".")[2])
    if heads is None:
        return tensor
    rows, rank = tensor.shape
    return tensor.reshape(heads, 2, rows // heads // 2, rank).swapaxes(1, 2).reshape(rows, rank)


def _find_architecture(kind: str) -> Any:
    return next(a for a, name in gguf.MODEL_ARCH_NAMES.items() if name == kind)


def _read_tensors(model: Any, name: str) -> dict[str, Any]:
    from peft import get_peft_model_state_dict

    return dict(get_peft_model_state_dict(model, adapter_name=name, save_embedding_layers=False))


def _read_alpha(config: Any) -> float:
    """Alpha as llama.cpp divides it: by the rank, where rank-stabilised LoRA takes its root."""
    alpha = float(config.lora_alpha)
    return alpha * float(config.r) ** 0.5 if getattr(config, "use_rslora", False) else alpha


def _require_plain_lora(config: Any) -> None:
    wrong = [
        what
        for what, there in (
            (f"it is {config.peft_type}", str(config.peft_type).rpartition(".")[2] != "LORA"),
            ("magnitudes (DoRA)", getattr(config, "use_dora", False)),
            ("biases", getattr(config, "bias", "none") != "none"),
            ("whole modules", bool(getattr(config, "modules_to_save", None))),
            ("ranks by module", bool(getattr(config, "rank_pattern", None))),
            ("alphas by module", bool(getattr(config, "alpha_pattern", None))),
        )
        if there
    ]
    if wrong:
        raise ConfigError(
            f"llama.cpp cannot load this adapter: {', '.join(wrong)}",
            hint="train a plain LoRA (--adapter lora), or merge it and convert the whole model",
        )
