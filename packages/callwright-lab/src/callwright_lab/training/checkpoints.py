"""Opens and saves language models: checkpoints, GGUF files and adapters on either."""

from __future__ import annotations

import gc
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from callwright import weights
from callwright.nouns.errors import ConfigError, MissingExtra
from callwright_lab.training.processes import is_main_process
from callwright_lab.training.tuning_settings import is_gguf

try:
    import gguf  # noqa: F401 - transformers reads GGUF files by it
    import torch
    from accelerate import PartialState
    from peft import PeftConfig, PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer
except ImportError:
    raise MissingExtra("training a language model", "train", "callwright-lab") from None

ADAPTER = "adapter_config.json"  # what makes a folder an adapter's
_GGUF_MARKS = ("is_quantized", "quantization_method", "hf_quantizer")


def open_model(
    name: str, *, bf16: bool = False, four_bits: bool = False, learn: bool = False
) -> tuple[Any, Any]:
    """(model, tokenizer) on the device of this process.

    ``name``: a folder with a checkpoint or an adapter, a GGUF file, a name of ``callwright
    weights``, or a model hub's name. A GGUF file is dequantised. An adapter is put on the base that
    it names; ``learn`` makes its weights learnable, in float32. The type is float32, or bfloat16 with
    ``bf16``; with ``four_bits`` the base is quantised to NF4 as it is loaded.

    Raises ConfigError for a name that cannot be opened, MissingExtra for what is not installed.
    """
    gc.collect()  # trainers hold their models in circles, and two need not fit into memory
    folder = Path(name)
    if (folder / ADAPTER).is_file():
        return _open_adapter(folder, bf16=bf16, four_bits=four_bits, learn=learn)
    tokenizer = open_tokenizer(name)
    kind = torch.bfloat16 if bf16 else torch.float32
    try:
        model = _load_in_four_bits(name, kind) if four_bits else _load(name, kind)
    except (OSError, ValueError) as error:
        raise _build_error(name, error) from error
    if is_gguf(name):
        # PEFT would ask the model hub for the base of every adapter that it saves
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    model.name_or_path = name
    model.get_output_embeddings().register_forward_pre_hook(_join_rows)
    return model if four_bits else model.to(find_device()), tokenizer


def _join_rows(_: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The last states of several prompts are a slice, and of a matrix that is not learned,
    ``torch.matmul`` then makes a copy for each: half a gigabyte a prompt for the head of a 1.5B.
    """
    return given[0].contiguous(), *given[1:]


def open_tokenizer(name: str) -> Any:
    """The tokenizer of what :func:`open_model` takes. Raises ConfigError as it does."""
    place, extra = find_weights(name)
    try:
        return AutoTokenizer.from_pretrained(place, **extra)
    except (OSError, ValueError) as error:
        raise _build_error(name, error) from error


def _build_error(name: str, error: Exception) -> ConfigError:
    return ConfigError(
        f"the model {name!r} cannot be opened: {str(error).splitlines()[0]}",
        hint=(
            "a folder with a transformers checkpoint or an adapter, a GGUF file, a name of"
            " `callwright weights`, or a name on the model hub"
        ),
    )


def find_weights(name: str) -> tuple[str, dict[str, Any]]:
    """(what transformers is asked for, its ``gguf_file``) of a registered name, a path or a hub's
    name.
    """
    if not is_gguf(name):
        return name, {}
    known = name in weights.REGISTRY
    path = weights.fetch(name) if known else Path(name).expanduser()
    return str(path.parent), {"gguf_file": path.name}


def find_device() -> Any:
    """The device where this process trains: its GPU with CUDA, or the CPU."""
    return PartialState().device if torch.cuda.is_available() else torch.device("cpu")


def supports_bfloat16() -> bool:
    """Return True with CUDA, and on a processor that has instructions for bfloat16: others are
    faster in float32.
    """
    if torch.cuda.is_available():
        return True
    known = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return any(known.get(name) for name in ("amx_bf16", "avx512_bf16", "bf16"))


def save_checkpoint(trainer: Any, tokenizer: Any, folder: Path) -> None:
    """Save a trainer's model and tokenizer; the processes gather what is shared among them.

    All processes call it. The folder is there when it is whole: a killed process leaves none, or
    the one before. An adapter is saved alone, with the name of its base.
    """
    part = folder.with_name(folder.name + ".part")
    if is_main_process():
        shutil.rmtree(part, ignore_errors=True)
    PartialState().wait_for_everyone()
    model = trainer.accelerator.unwrap_model(trainer.model)
    state = trainer.accelerator.get_state_dict(trainer.model_wrapped)  # collective
    if is_main_process():
        # training turns it off, and who loads the checkpoint means to generate
        model.config.use_cache = True
        # of an adapter not the copy from which reinforcement began
        adapted = hasattr(model, "peft_config")
        chosen = {"selected_adapters": ["default"], "save_embedding_layers": False}
        model.save_pretrained(part, state_dict=state, **(chosen if adapted else {}))
        tokenizer.save_pretrained(part)
        _replace_folder(part, folder)
    PartialState().wait_for_everyone()


def _replace_folder(part: Path, folder: Path) -> None:
    old = folder.with_name(folder.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        os.replace(folder, old)
    os.replace(part, folder)
    shutil.rmtree(old, ignore_errors=True)


def _open_adapter(folder: Path, *, bf16: bool, four_bits: bool, learn: bool) -> tuple[Any, Any]:
    base = PeftConfig.from_pretrained(str(folder)).base_model_name_or_path
    model, tokenizer = open_model(str(base), bf16=bf16, four_bits=four_bits)
    # PEFT keeps adapters in float32 for who learns; who answers would convert every state for it
    made = PeftModel.from_pretrained(
        model, str(folder), is_trainable=learn, autocast_adapter_dtype=learn
    )
    return made, tokenizer


def _forget_blocks(model: Any) -> None:
    """The weights are whole, but the model still says that they are GGUF's blocks, which nobody
    may train.
    """
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    for mark in _GGUF_MARKS:
        if mark in vars(model):
            delattr(model, mark)


def _load(name: str, kind: Any) -> Any:
    place, extra = find_weights(name)
    if not extra:
        return AutoModelForCausalLM.from_pretrained(place, dtype=kind)
    whole = AutoModelForCausalLM.from_pretrained(place, dtype=kind, **extra, **_ask_for_whole())
    _forget_blocks(whole)
    return whole


def _load_in_four_bits(name: str, kind: Any) -> Any:
    """The model in NF4. transformers quantises checkpoints only: a GGUF file becomes one first."""
    try:
        import bitsandbytes  # noqa: F401
    except ImportError:
        raise MissingExtra("QLoRA", "qlora", "callwright-lab") from None
    from transformers import BitsAndBytesConfig

    asked = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
    more = {"dtype": kind, "quantization_config": asked, "device_map": {"": find_device()}}
    if not is_gguf(name):
        return AutoModelForCausalLM.from_pretrained(name, **more)
    with TemporaryDirectory() as folder:
        _load(name, torch.bfloat16).save_pretrained(folder)
        return AutoModelForCausalLM.from_pretrained(folder, **more)


def _ask_for_whole() -> dict[str, Any]:
    """Ask for whole weights of a GGUF file, where transformers would keep its blocks otherwise."""
    import transformers

    kept = getattr(transformers, "GgufConfig", None)  # from 5.2x on
    return {"quantization_config": kept(dequantize=True)} if kept else {}
