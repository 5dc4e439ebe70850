"""Runs on a language model with TRL: a supervised warm start, and reinforcement by groups of
replies.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from callwright import weights
from callwright.nouns.errors import ConfigError, MissingExtra
from callwright_lab.training.refiner.dapo import DapoTrainer, read_clock
from callwright_lab.training.tuning_settings import Tuning

try:
    import torch
    from accelerate import PartialState
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
    from trl import GRPOConfig, SFTConfig, SFTTrainer
except ImportError:
    raise MissingExtra("training a language model", "train", "callwright-lab") from None

Chat = list[dict[str, str]]


def open_model(name: str) -> tuple[Any, Any]:
    """(model in float32, tokenizer): a folder, a name of ``callwright weights``, or a model hub's
    name.
    """
    if name in weights.REGISTRY:
        path = weights.fetch(name)
        place, extra = str(path.parent), {"gguf_file": path.name}
    else:
        place, extra = name, {}
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, **extra)
        model = AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32, **extra)
    except (OSError, ValueError) as error:
        hint = (
            "a folder with a transformers checkpoint, a name of `callwright weights`, or a name on"
            " the model hub"
        )
        raise ConfigError(
            f"the model {name!r} cannot be opened: {str(error).splitlines()[0]}", hint=hint
        ) from error
    if hasattr(
        model.config, "quantization_config"
    ):  # the weights are whole again, but the model still says it is GGUF
        del model.config.quantization_config
        whole = AutoModelForCausalLM.from_config(model.config, dtype=torch.float32)
        whole.load_state_dict(model.state_dict())
        whole.generation_config = model.generation_config
        model = whole
    return model, tokenizer


def is_main_process() -> bool:
    """Return True if this process is the one that writes, among those that ``accelerate launch``
    started.
    """
    return bool(PartialState().is_main_process)


def save_checkpoint(model: Any, tokenizer: Any, folder: Path) -> None:
    """The model and its tokenizer as a transformers checkpoint; the other processes wait for it."""
    if is_main_process():
        # training turns it off, and who loads the checkpoint means to generate
        model.config.use_cache = True
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    PartialState().wait_for_everyone()


def learn_only_top(model: Any, layers: int) -> None:
    """Freeze all but the last ``layers`` layers and what follows them, shared embeddings aside; 0:
    nothing frozen.
    """
    if not layers:
        return
    model.requires_grad_(False)
    for part in (*model.model.layers[-layers:], model.model.norm):
        part.requires_grad_(True)


class TimeLimit(TrainerCallback):  # type: ignore[misc]
    """Ends a run after so many seconds (0: never), with a checkpoint of what there is."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self._start = seconds, read_clock()

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        self._start = read_clock()

    def on_step_end(self, _args: Any, _state: Any, control: Any, **_: Any) -> None:
        if self.seconds and read_clock() - self._start > self.seconds:
            control.should_training_stop = control.should_save = True


_RECOMPUTE = next(  # its name changed in transformers 5.2x
    n
    for n in ("activation_checkpointing", "gradient_checkpointing")
    if n in GRPOConfig.__dataclass_fields__
)


def describe_run(
    settings: Tuning, out: Path, steps: int, rate: float, gpu: bool = False
) -> dict[str, Any]:
    """Return the arguments that all trainers share."""
    return {
        "output_dir": str(out),
        "learning_rate": rate,
        "lr_scheduler_type": "constant",
        "max_steps": steps or -1,
        "num_train_epochs": settings.epochs,
        "bf16": settings.bf16,
        "use_cpu": not torch.cuda.is_available(),
        _RECOMPUTE: gpu or torch.cuda.is_available(),
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "save_steps": settings.save_every,
        "save_total_limit": 2,
        "report_to": [],
        "seed": settings.seed,
        "disable_tqdm": True,
        "dataloader_pin_memory": False,
    }


def run_sft(
    model: Any, tokenizer: Any, rows: Sequence[tuple[Chat, str]], settings: Tuning, out: Path,
    *, steps: int = 0, epochs: float = 1.0, seconds: float = 0, checkpoints: bool = False, resume: bool = False,
) -> list[float]:  # fmt: skip
    """Learn to write the second of each row after the first: the mean negative log-likelihood of
    its tokens.

    The loss of every step. It ends after ``steps`` (0: as many as the epochs have), or sooner by
    ``seconds``. With ``checkpoints`` the run can be gone on with; see :func:`prepare_run`.
    """
    resume = prepare_run(out, resume) if checkpoints else False
    learn_only_top(model, settings.top)
    pairs = [
        {"prompt": chat, "completion": [{"role": "assistant", "content": answer}]}
        for chat, answer in rows
    ]
    common = describe_run(settings, out, steps, settings.sft_rate)
    config = SFTConfig(
        **{**common, "num_train_epochs": epochs},
        per_device_train_batch_size=settings.sft_batch,
        max_length=settings.context + settings.longest,
        save_strategy="steps" if checkpoints else "no",
    )
    trainer = SFTTrainer(model, args=config, train_dataset=Dataset.from_list(pairs), processing_class=tokenizer,
                         callbacks=[TimeLimit(seconds)])  # fmt: skip
    trainer.train(resume_from_checkpoint=resume or None)
    return [row["loss"] for row in trainer.state.log_history if "loss" in row]


def prepare_run(out: Path, resume: bool) -> bool:
    """Return True if the run in this folder continues from its last checkpoint.

    Raises ConfigError if ``resume`` finds no checkpoint, or if there is one without ``resume``: a
    run is never overwritten.
    """
    out.mkdir(parents=True, exist_ok=True)
    found = any(out.glob("checkpoint-*"))
    if resume and not found:
        raise ConfigError(
            f"there is no checkpoint in {out} to go on from", hint="leave out --resume"
        )
    if found and not resume:
        raise ConfigError(
            f"there is already a run in {out}", hint="go on with --resume, or choose another --out"
        )
    return resume


def group_config(settings: Tuning, out: Path, gpu: bool = False, processes: int = 0) -> Any:
    """TRL's settings for reinforcement by groups; see :class:`Tuning`.

    A batch is shared among the ``processes`` (0: as many as ``accelerate launch`` started).
    ``gpu``: as on a machine with CUDA and vLLM, to look at, whatever this one is.
    """
    vllm = settings.vllm and (gpu or (torch.cuda.is_available() and find_spec("vllm") is not None))
    processes = processes or int(os.environ.get("WORLD_SIZE", "1"))
    rows = settings.batch * settings.group // processes
    if rows * processes != settings.batch * settings.group or rows % settings.group:
        raise ConfigError(
            f"a batch of {settings.batch} prompts cannot be shared among {processes} processes",
            hint="make --batch a multiple of them",
        )
    micro = rows if settings.shared else settings.micro
    if rows % micro:
        raise ConfigError(
            f"{rows} replies a process cannot be cut into passes of {micro}", hint="set --micro"
        )
    extra = {
        "use_vllm": True,
        "vllm_mode": "colocate",
        "vllm_max_model_length": settings.context + settings.longest,
    }
    return GRPOConfig(
        **describe_run(settings, out, settings.steps, settings.rate, gpu),
        loss_type=settings.loss,
        epsilon=settings.low,
        epsilon_high=settings.high,
        beta=settings.beta,
        scale_rewards="group",
        num_generations=settings.group,
        per_device_train_batch_size=micro,
        gradient_accumulation_steps=rows // micro,
        max_completion_length=settings.longest,
        temperature=settings.temperature,
        mask_truncated_completions=False,  # they are punished instead
        remove_unused_columns=False,
        save_strategy="steps",
        **(extra if vllm else {}),
    )


def run_grpo(
    model: Any, tokenizer: Any, rows: Sequence[Mapping[str, Any]], rewards: Sequence[Any], settings: Tuning,
    out: Path, seconds: float = 0, resume: bool = False,
) -> list[dict[str, Any]]:  # fmt: skip
    """Train on ``rows`` (a ``prompt`` each, and columns the rewards read); the curve, a row a step.

    It is also in ``out/curve.jsonl``. ``resume``: from the last checkpoint, see :func:`prepare_run`.
    """
    resume = prepare_run(out, resume)
    (out / "curve.jsonl").open(
        "a" if resume else "w"
    ).close()  # what a run without a checkpoint left is gone
    learn_only_top(model, settings.top)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    trainer = DapoTrainer(
        model,
        list(rewards),
        args=group_config(settings, out),
        train_dataset=Dataset.from_list([dict(row) for row in rows]),
        processing_class=tokenizer,
        callbacks=[TimeLimit(seconds)],
        attempts=settings.attempts,
        shared=settings.shared,
        curve=out / "curve.jsonl",
    )
    trainer.train(resume_from_checkpoint=resume or None)
    return [row for row in trainer.state.log_history if "reward" in row]
