"""The runs of a refiner: supervised warm start and DAPO."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callwright.nouns.errors import ConfigError
from callwright.repair.by_model.refiner_settings import Prompt
from callwright_lab.training import tuning
from callwright_lab.training.generation import decode_reply
from callwright_lab.training.refiner.dapo import OverlongPenalty
from callwright_lab.training.refiner.rewards import Variant, reward
from callwright_lab.training.refiner.settings import Settings
from callwright_lab.training.refiner.task import Sample


class RefinerReward:
    """The rule-based reward of a reply, in [0, 1], as TRL calls it. Rows name their sample by
    place.
    """

    __name__ = "refiner"

    def __init__(
        self, samples: Sequence[Sample], tokenizer: Any, variant: Variant = "paper"
    ) -> None:
        self.samples = samples
        self.tokenizer = tokenizer
        self.variant: Variant = variant

    def __call__(self, completion_ids: list[list[int]], sample: list[int], **_: Any) -> list[float]:
        found = []
        for ids, i in zip(completion_ids, sample, strict=True):
            s = self.samples[i]
            text = decode_reply(self.tokenizer, ids)
            found.append(
                reward(text, s.upstream, s.task.gold, s.kind, s.format, self.variant).value
            )
        return found


def build_chat(sample: Sample, prompt: Prompt) -> list[dict[str, str]]:
    return [{"role": m.role, "content": m.content} for m in sample.messages(prompt)]


def select_fitting(samples: Sequence[Sample], tokenizer: Any, settings: Settings) -> list[Sample]:
    """Samples whose prompt and gold answer are within the lengths of the settings."""
    found = []
    for s in samples:
        ids = tokenizer.apply_chat_template(
            build_chat(s, settings.prompt),
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
        )["input_ids"]
        if (
            len(ids) <= settings.context
            and len(tokenizer(s.answer)["input_ids"]) < settings.longest
        ):
            found.append(s)
    return found


def leave_out_long(samples: Sequence[Sample], tokenizer: Any, settings: Settings) -> list[Sample]:
    """Samples whose right answer is not punished for its length."""
    return [s for s in samples if len(tokenizer(s.answer)["input_ids"]) < settings.free]


def run_sft(
    model: Any, tokenizer: Any, samples: Sequence[Sample], settings: Settings, out: Path,
    seconds: float = 0, resume: bool = False, result: Path | None = None,
) -> list[float]:  # fmt: skip
    """Learn to write the gold answer: the warm start, and the run DAPO is held against. The loss of
    every step.
    """
    rows = [(build_chat(s, settings.prompt), s.answer) for s in samples]
    # what DAPO is held against has its time, however many steps
    steps = 10**6 if seconds else settings.sft_steps
    return tuning.run_sft(
        model, tokenizer, rows, settings, out, steps=steps, epochs=settings.epochs,
        seconds=seconds, resume=resume, result=result,
    )  # fmt: skip


def run_rejection(
    model: Any, tokenizer: Any, best: Sequence[tuple[Sample, str]], settings: Settings, out: Path,
    resume: bool = False, result: Path | None = None,
) -> list[float]:  # fmt: skip
    """Learn to write the best replies that were drawn, each once. The loss of every step.

    ConfigError where there are none.
    """
    if not best:
        raise ConfigError(
            "there is no drawn reply of full marks to learn from",
            hint="run the stage draws with --draws, for more samples or at another --temperature",
        )
    rows = [(build_chat(sample, settings.prompt), text) for sample, text in best]
    return tuning.run_sft(model, tokenizer, rows, settings, out, resume=resume, result=result)


def build_rewards(samples: Sequence[Sample], tokenizer: Any, settings: Settings) -> list[Any]:
    """Build what TRL calls to reward replies; a reply's reward is their sum."""
    found: list[Any] = [RefinerReward(samples, tokenizer, settings.variant)]
    if settings.overlong:
        found.append(OverlongPenalty(settings.free, settings.longest))
    return found


def run_dapo(
    model: Any, tokenizer: Any, samples: Sequence[Sample], settings: Settings, out: Path,
    seconds: float = 0, resume: bool = False, result: Path | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Train by DAPO; the curve, a row a step, also in ``out/curve.jsonl``.

    ConfigError without ``resume`` where there is a run: it is never written over.
    """
    rows = [{"prompt": build_chat(s, settings.prompt), "sample": i} for i, s in enumerate(samples)]
    rewards = build_rewards(samples, tokenizer, settings)
    return tuning.run_grpo(model, tokenizer, rows, rewards, settings, out, seconds, resume, result)
