"""Runs on a language model with TRL: a supervised warm start, and reinforcement by groups of
replies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from callwright.nouns.errors import ConfigError, MissingExtra
from callwright_lab.training import checkpoints
from callwright_lab.training.finite import FiniteSteps, avoid_cudnn_attention
from callwright_lab.training.processes import count_processes, is_main_process
from callwright_lab.training.refiner.dapo import DapoTrainer
from callwright_lab.training.resumption import (
    Checkpoints,
    cut_curve,
    is_finished,
    keep_settings,
    mark_finished,
    prepare_run,
    read_spent,
    require_same_settings,
)
from callwright_lab.training.tuning_settings import Targets, Tuning, is_gguf

try:
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from trl import GRPOConfig, SFTConfig, SFTTrainer
except ImportError:
    raise MissingExtra("training a language model", "train", "callwright-lab") from None

Chat = list[dict[str, str]]


def learn_only_top(model: Any, layers: int) -> None:
    """Freeze all but the last ``layers`` layers and what follows them, shared embeddings aside; 0:
    nothing frozen.
    """
    if not layers:
        return
    model.requires_grad_(False)
    for part in (*model.model.layers[-layers:], model.model.norm):
        part.requires_grad_(True)


_RECOMPUTE = next(  # its name changed in transformers 5.2x
    n
    for n in ("activation_checkpointing", "gradient_checkpointing")
    if n in GRPOConfig.__dataclass_fields__
)


_TARGETS: Mapping[Targets, str | list[str]] = {
    "linear": "all-linear",
    "attention": ["q_proj", "k_proj", "v_proj", "o_proj"],
}
_OPTIMISERS = {"adamw-8bit": "adamw_8bit", "paged-adamw-8bit": "paged_adamw_8bit"}


def uses_bfloat16(settings: Tuning) -> bool:
    """Return True if a run computes in bfloat16: with ``bf16``, on a machine that has instructions
    for it. Without them float32 is faster.
    """
    return settings.bf16 and checkpoints.supports_bfloat16()


def open_learner(name: str, settings: Tuning) -> tuple[Any, Any]:
    """(model, tokenizer) to be trained by these settings, on the device of this process.

    The base under an adapter is in bfloat16 (:func:`uses_bfloat16`) or in 4 bits; weights that are
    all learned are in float32. What an adapter's folder holds is learned further.
    """
    adapted = settings.adapter != "none"
    return checkpoints.open_model(
        name,
        bf16=adapted and uses_bfloat16(settings),
        four_bits=settings.adapter == "qlora",
        learn=adapted,
    )


def open_measured(name: str, settings: Tuning) -> Any:
    """The model as it is asked: in bfloat16 where a run takes that."""
    return checkpoints.open_model(name, bf16=uses_bfloat16(settings))[0]


def open_given(model: Any, settings: Tuning) -> Any:
    """A model as it is, or opened to be trained where its name is given."""
    return open_learner(model, settings)[0] if isinstance(model, str) else model


def choose_learned(model: Any, settings: Tuning) -> Any:
    """Freeze what is not learned. Returns PEFT's configuration of a new adapter, or None for a
    model that has one or learns without.

    A new adapter is all zeros, so where a run began is the model without it: TRL asks that one for
    the KL reference. Of an adapter that was trained before, TRL keeps a frozen copy for it.
    """
    if settings.adapter == "none" or hasattr(model, "peft_config"):
        learn_only_top(model, settings.top)
        return None
    return LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        target_modules=_TARGETS[settings.targets],
        task_type="CAUSAL_LM",
    )


def learn_in_float32(model: Any) -> None:
    """Widen what is learned: TRL narrows an adapter on a quantised base to bfloat16, which loses
    small steps, and which PEFT undoes where a run goes on.
    """
    for weight in model.parameters():
        if weight.requires_grad:
            weight.data = weight.data.float()


def share_batch(batch: int, micro: int, processes: int = 0) -> tuple[int, int]:
    """(rows of one pass of one process, passes) that make a batch over all ``processes`` (0: as
    many as ``accelerate launch`` started).

    Raises ConfigError for a batch that cannot be shared so.
    """
    processes = processes or count_processes()
    rows = batch // processes
    if not rows or rows * processes != batch:
        raise ConfigError(
            f"a batch of {batch} rows cannot be shared among {processes} processes",
            hint="make it a multiple of them",
        )
    micro = min(micro, rows)
    if rows % micro:
        raise ConfigError(
            f"{rows} rows a process cannot be cut into passes of {micro}",
            hint="set --sft-micro, or --micro of toolmvr",
        )
    return micro, rows // micro


def describe_run(
    settings: Tuning, out: Path, steps: int, rate: float, gpu: bool = False
) -> dict[str, Any]:
    """Return the arguments that all trainers share. Raises MissingExtra for an optimiser in 8 bits
    where there is CUDA and not what computes it.
    """
    cuda = torch.cuda.is_available()
    eight = _OPTIMISERS.get(settings.optimiser) if gpu or cuda else None
    if eight and cuda and find_spec("bitsandbytes") is None:
        raise MissingExtra(f"--optimiser {settings.optimiser}", "qlora", "callwright-lab")
    return {
        "output_dir": str(out),
        "learning_rate": rate,
        "lr_scheduler_type": "constant",
        "max_steps": steps or -1,
        "num_train_epochs": settings.epochs,
        "optim": eight or "adamw_torch",
        "bf16": settings.bf16 if gpu else uses_bfloat16(settings),
        "use_cpu": not cuda,
        _RECOMPUTE: settings.recompute and (gpu or cuda or settings.adapter != "none"),
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "save_strategy": "steps",
        "save_steps": settings.save_every,
        "save_total_limit": 2,
        "report_to": [],
        "seed": settings.seed,
        "disable_tqdm": True,
        "dataloader_pin_memory": False,
    }


def run_stage(
    make: Any, settings: Tuning, work: Path, order: dict[str, float], *, resume: bool,
    result: Path | None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Train by the trainer that ``make`` returns for (checkpoint to go on from, callback).

    The rows of its log. With ``result`` the model is saved there, and a stage that is finished is
    not made again: its log is then empty. Raises ConfigError where the run in ``work`` cannot be
    gone on with by these settings, or may not be because ``resume`` was not asked for.
    """
    if resume:
        require_same_settings(work, settings)
    if resume and result is not None and result.is_dir() and is_finished(work, order):
        return []
    checkpoint = prepare_run(work, resume, order)
    keep_settings(work, settings)
    avoid_cudnn_attention()
    trainer = make(checkpoint, Checkpoints(order, read_spent(checkpoint)))
    trainer.add_callback(FiniteSteps())
    learn_in_float32(trainer.model)
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    if result is not None:
        checkpoints.save_checkpoint(trainer, trainer.processing_class, result)
        if is_main_process():
            mark_finished(work, order)
    return list(trainer.state.log_history)


def run_sft(
    model: Any, tokenizer: Any, rows: Sequence[tuple[Chat, str]], settings: Tuning, out: Path,
    *, steps: int = 0, epochs: float = 1.0, seconds: float = 0, resume: bool = False,
    result: Path | None = None,
) -> list[float]:  # fmt: skip
    """Learn to write the second of each row after the first: the mean negative log-likelihood of
    its tokens. ``model`` is one, or the name of one that is opened if the stage is not finished.

    The loss of every step. It ends after ``steps`` (0: as many as the epochs have), or sooner by
    ``seconds``. ``resume`` and ``result``: see :func:`run_stage`.
    """
    pairs = [
        {"prompt": chat, "completion": [{"role": "assistant", "content": answer}]}
        for chat, answer in rows
    ]
    micro, passes = share_batch(settings.sft_batch, settings.sft_micro)
    config = SFTConfig(
        **{**describe_run(settings, out, steps, settings.sft_rate), "num_train_epochs": epochs},
        per_device_train_batch_size=micro,
        gradient_accumulation_steps=passes,
        max_length=settings.context + settings.longest,
    )

    def make(_: Path | None, callback: Checkpoints) -> Any:
        opened = open_given(model, settings)
        return SFTTrainer(
            opened, args=config, train_dataset=Dataset.from_list(pairs),
            processing_class=tokenizer, callbacks=[callback],
            peft_config=choose_learned(opened, settings),
        )  # fmt: skip

    order = {"steps": steps, "epochs": epochs, "seconds": seconds}
    log = run_stage(make, settings, out, order, resume=resume, result=result)
    return [row["loss"] for row in log if "loss" in row]


def group_config(settings: Tuning, out: Path, gpu: bool = False, processes: int = 0) -> Any:
    """TRL's settings for reinforcement by groups; see :class:`Tuning`.

    A batch is shared among the ``processes`` (0: as many as ``accelerate launch`` started).
    ``gpu``: as on a machine with CUDA and vLLM, to look at, whatever this one is.
    """
    there = gpu or (torch.cuda.is_available() and find_spec("vllm") is not None)
    vllm = settings.vllm and there and not is_gguf(settings.model)
    processes = processes or count_processes()
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
        "vllm_gpu_memory_utilization": settings.vllm_share,
        "vllm_enable_sleep_mode": True,  # its share of the memory is the learner's meanwhile
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
        **(extra if vllm else {}),
    )


def _require_reference(model: Any, settings: Tuning) -> None:
    """Raise ConfigError if TRL could not load the KL reference: a second model, by its name."""
    if settings.adapter != "none" or not settings.beta or not isinstance(model, str):
        return
    if is_gguf(model):
        raise ConfigError(
            f"the KL reference of {model!r} cannot be loaded: it is a GGUF file",
            hint="--adapter lora takes the base as its reference; or --beta 0; or a checkpoint",
        )


def run_grpo(
    model: Any, tokenizer: Any, rows: Sequence[Mapping[str, Any]], rewards: Sequence[Any], settings: Tuning,
    out: Path, seconds: float = 0, resume: bool = False, result: Path | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Train on ``rows`` (a ``prompt`` each, and columns the rewards read); the curve, a row a step.

    It is also in ``out/curve.jsonl``. ``resume`` and ``result``: see :func:`run_stage`. Raises
    ConfigError for fewer rows than a batch has prompts: TRL would take no step.
    """
    _require_reference(model, settings)
    if len(rows) < settings.batch:
        raise ConfigError(
            f"{len(rows)} rows cannot fill a batch of {settings.batch} prompts",
            hint="add rows, or lower --batch",
        )
    curve = out / "curve.jsonl"
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token

    def make(checkpoint: Path | None, callback: Checkpoints) -> DapoTrainer:
        cut_curve(curve, checkpoint)
        opened = open_given(model, settings)
        return DapoTrainer(
            opened,
            list(rewards),
            args=group_config(settings, out),
            train_dataset=Dataset.from_list([dict(row) for row in rows]),
            processing_class=tokenizer,
            callbacks=[callback],
            peft_config=choose_learned(opened, settings),
            attempts=settings.attempts,
            shared=settings.shared,
            rollouts=settings.rollouts,
            curve=curve,
        )

    order = {"steps": settings.steps, "epochs": settings.epochs, "seconds": seconds}
    log = run_stage(make, settings, out, order, resume=resume, result=result)
    return [row for row in log if "reward" in row]
