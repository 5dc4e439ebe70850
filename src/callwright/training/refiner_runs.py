"""The runs of a refiner: supervised warm start, DAPO, and the score on tasks it never saw."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from callwright import weights
from callwright.errors import ConfigError, MissingExtra
from callwright.training.refiner_dapo import DapoTrainer, OverlongPenalty, RefinerReward, decoded
from callwright.training.refiner_settings import Settings
from callwright.training.refiner_task import KINDS, Prompt, Sample
from callwright.training.rewards import reward

try:
    import torch
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
    from trl import GRPOConfig, SFTConfig, SFTTrainer
except ImportError:
    raise MissingExtra("training the refiner", "train") from None


def open_model(name: str) -> tuple[Any, Any]:
    """(model in float32, tokenizer): a folder, a name of ``callwright weights``, or a model hub's name."""
    if name in weights.REGISTRY:
        path = weights.fetch(name)
        place, extra = str(path.parent), {"gguf_file": path.name}
    else:
        place, extra = name, {}
    tokenizer = AutoTokenizer.from_pretrained(place, **extra)
    model = AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32, **extra)
    if hasattr(
        model.config, "quantization_config"
    ):  # the weights are whole again, but the model still says it is GGUF
        del model.config.quantization_config
        whole = AutoModelForCausalLM.from_config(model.config, dtype=torch.float32)
        whole.load_state_dict(model.state_dict())
        whole.generation_config = model.generation_config
        model = whole
    return model, tokenizer


def learn_only_top(model: Any, layers: int) -> None:
    """Freeze all but the last ``layers`` layers and what follows them, shared embeddings aside; 0: nothing frozen."""
    if not layers:
        return
    model.requires_grad_(False)
    for part in (*model.model.layers[-layers:], model.model.norm):
        part.requires_grad_(True)


def clock() -> float:
    """On a CPU the seconds this process worked, whoever else uses the machine; with a GPU those of the wall."""
    return time.monotonic() if torch.cuda.is_available() else time.process_time()


def chat(sample: Sample, prompt: Prompt) -> list[dict[str, str]]:
    return [{"role": m.role, "content": m.content} for m in sample.messages(prompt)]


def fitting(samples: Sequence[Sample], tokenizer: Any, settings: Settings) -> list[Sample]:
    """Samples whose prompt and gold answer are within the lengths of the settings."""
    found = []
    for s in samples:
        ids = tokenizer.apply_chat_template(
            chat(s, settings.prompt), add_generation_prompt=True, tokenize=True, return_dict=True
        )["input_ids"]
        if len(ids) <= settings.context and len(tokenizer(s.answer)["input_ids"]) < settings.longest:
            found.append(s)
    return found


class TimeLimit(TrainerCallback):  # type: ignore[misc]
    """Ends a run after so many seconds (0: never), with a checkpoint of what there is."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self._start = seconds, clock()

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        self._start = clock()

    def on_step_end(self, _args: Any, _state: Any, control: Any, **_: Any) -> None:
        if self.seconds and clock() - self._start > self.seconds:
            control.should_training_stop = control.should_save = True


def _shared(settings: Settings, out: Path, steps: int, rate: float) -> dict[str, Any]:
    """What both trainers are told."""
    return {
        "output_dir": str(out),
        "learning_rate": rate,
        "lr_scheduler_type": "constant",
        "max_steps": steps or -1,
        "num_train_epochs": settings.epochs,
        "bf16": settings.bf16,
        "use_cpu": not torch.cuda.is_available(),
        **({"gradient_checkpointing": True} if torch.cuda.is_available() else {}),
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "save_steps": settings.save_every,
        "save_total_limit": 2,
        "report_to": [],
        "seed": settings.seed,
        "disable_tqdm": True,
        "dataloader_pin_memory": False,
    }


def sft(
    model: Any, tokenizer: Any, samples: Sequence[Sample], settings: Settings, out: Path, seconds: float = 0
) -> list[float]:
    """Learn to write the gold answer: the warm start, and the run DAPO is held against. The loss of every step."""
    learn_only_top(model, settings.top)
    rows = [
        {"prompt": chat(s, settings.prompt), "completion": [{"role": "assistant", "content": s.answer}]}
        for s in samples
    ]
    steps = settings.sft_steps if not seconds else 10**6
    config = SFTConfig(
        **_shared(settings, out, steps, settings.sft_rate),
        per_device_train_batch_size=settings.sft_batch,
        max_length=settings.context + settings.longest,
        save_strategy="no",
    )
    trainer = SFTTrainer(model, args=config, train_dataset=Dataset.from_list(rows), processing_class=tokenizer,
                         callbacks=[TimeLimit(seconds)])  # fmt: skip
    trainer.train()
    return [row["loss"] for row in trainer.state.log_history if "loss" in row]


def dapo_config(settings: Settings, out: Path) -> Any:
    """TRL's settings for DAPO as the paper ran it; see :class:`Settings`."""
    vllm = settings.vllm and torch.cuda.is_available() and find_spec("vllm") is not None
    rows = settings.batch * settings.group
    micro = rows if settings.shared else settings.micro
    extra = {"use_vllm": True, "vllm_mode": "colocate", "vllm_max_model_length": settings.context + settings.longest}
    return GRPOConfig(
        **_shared(settings, out, settings.steps, settings.rate),
        loss_type="dapo",
        epsilon=settings.low,
        epsilon_high=settings.high,
        beta=0.0,
        scale_rewards="group",
        num_generations=settings.group,
        per_device_train_batch_size=micro,
        gradient_accumulation_steps=rows // micro,
        max_completion_length=settings.longest,
        temperature=settings.temperature,
        mask_truncated_completions=False,  # they are punished, softly, instead
        remove_unused_columns=False,
        save_strategy="steps",
        **(extra if vllm else {}),
    )


def dapo(
    model: Any, tokenizer: Any, samples: Sequence[Sample], settings: Settings, out: Path,
    seconds: float = 0, resume: bool = False,
) -> list[dict[str, Any]]:  # fmt: skip
    """Train by DAPO; the curve, a row a step, also in ``out/curve.jsonl``. ``resume``: from the last checkpoint."""
    out.mkdir(parents=True, exist_ok=True)
    learn_only_top(model, settings.top)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    rows = [{"prompt": chat(s, settings.prompt), "sample": i} for i, s in enumerate(samples)]
    rewards: list[Any] = [RefinerReward(samples, tokenizer, settings.variant)]
    if settings.overlong:
        rewards.append(OverlongPenalty(settings.free, settings.longest))
    trainer = DapoTrainer(
        model,
        rewards,
        args=dapo_config(settings, out),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        callbacks=[TimeLimit(seconds)],
        attempts=settings.attempts,
        shared=settings.shared,
        curve=out / "curve.jsonl",
    )
    if resume and not any(out.glob("checkpoint-*")):
        raise ConfigError(f"there is no checkpoint in {out} to go on from", hint="leave out --resume")
    trainer.train(resume_from_checkpoint=resume or None)
    return [row for row in trainer.state.log_history if "reward" in row]


@dataclass(frozen=True, slots=True)
class Score:
    """Mean reward, share of replies with full marks, and share worse than the upstream's, over ``count`` samples."""

    count: int
    reward: float
    full: float
    worse: float


def measure(
    model: Any, tokenizer: Any, samples: Sequence[Sample], settings: Settings, size: int = 8
) -> dict[str, Score]:
    """Greedy replies, by the paper's reward, per kind and over all; without a model, the upstream's own outputs."""
    texts = [s.upstream for s in samples] if model is None else replies(model, tokenizer, samples, settings, size)
    found: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for s, text in zip(samples, texts, strict=True):
        got = reward(text, s.upstream, s.task.gold, s.kind, s.format)
        found[s.kind].append((got.value, got.regressed))
        found["all"].append((got.value, got.regressed))
    return {
        kind: Score(
            len(v), sum(r for r, _ in v) / len(v), sum(r == 1 for r, _ in v) / len(v), sum(w for _, w in v) / len(v)
        )
        for kind in (*KINDS, "all")
        if (v := found.get(kind))
    }


def replies(model: Any, tokenizer: Any, samples: Sequence[Sample], settings: Settings, size: int) -> list[str]:
    """The greedy reply to every sample."""
    model.eval()
    found: list[str] = []
    pad_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    for start in range(0, len(samples), size):
        chats = [chat(s, settings.prompt) for s in samples[start : start + size]]
        given = tokenizer.apply_chat_template(
            chats, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt", padding=True,
            padding_side="left",
        ).to(model.device)  # fmt: skip
        with torch.no_grad():
            out = model.generate(**given, max_new_tokens=settings.longest, do_sample=False, pad_token_id=pad_id)
        for row in out[:, given["input_ids"].size(1) :].tolist():
            ends = [i for i, token in enumerate(row) if token in (tokenizer.eos_token_id, pad_id)]
            found.append(decoded(tokenizer, row[: ends[0]] if ends else row))
    return found


def table(scores: dict[str, dict[str, Score]]) -> str:
    """Scores by name and kind, as Markdown."""
    lines = ["| refiner | data | samples | reward | full marks | worse than upstream |", "|---|---|---|---|---|---|"]
    for name, found in scores.items():
        for kind, s in found.items():
            lines.append(f"| {name} | {kind} | {s.count} | {s.reward:.3f} | {s.full:.3f} | {s.worse:.3f} |")
    return "\n".join(lines)
