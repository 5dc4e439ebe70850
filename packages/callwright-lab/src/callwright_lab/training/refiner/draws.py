"""Replies drawn from a refiner for its samples, with their rewards: what it might learn from itself.

Two kinds of training choose from them. DAPO leaves out a prompt whose replies all earn the same;
it meets that prompt once here and not in every batch. Rejection sampling imitates the best reply of
each prompt (RAFT, Dong et al., 2023, arXiv:2304.06767).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callwright.storage import lines
from callwright_lab.training.decoding import continue_prompts
from callwright_lab.training.generation import decode_reply, seed_draws, tokenize_chat
from callwright_lab.training.refiner import store
from callwright_lab.training.refiner.runs import build_chat, build_rewards
from callwright_lab.training.refiner.settings import Settings
from callwright_lab.training.refiner.task import Sample


@dataclass(frozen=True, slots=True)
class Drawn:
    """A sample with the replies that were drawn for it, and the reward of each in [0, 1]."""

    sample: Sample
    replies: tuple[str, ...]
    rewards: tuple[float, ...]

    @property
    def differs(self) -> bool:
        """Return True where the replies did not all earn the same."""
        return max(self.rewards) > min(self.rewards)


def draw_replies(
    model: Any, tokenizer: Any, samples: Sequence[Sample], settings: Settings,
    keep: Callable[[Sequence[Drawn]], object],
) -> None:  # fmt: skip
    """Draw ``settings.group`` replies for every sample, at the temperature of the settings. ``keep``
    gets those of each batch as they come.
    """
    size = max(1, settings.rollouts // settings.group)
    for start in range(0, len(samples), size):
        some = samples[start : start + size]
        seed_draws(f"{settings.seed} {start} {some[0].task.id}")
        made = continue_prompts(
            model, [tokenize_chat(tokenizer, build_chat(s, settings.prompt)) for s in some],
            settings.longest, ends={tokenizer.eos_token_id}, pad=tokenizer.eos_token_id,
            count=settings.group, temperature=settings.temperature,
        )  # fmt: skip
        groups = [made[n : n + settings.group] for n in range(0, len(made), settings.group)]
        keep(
            [
                _grade_draws(sample, [reply.ids for reply in group], tokenizer, settings)
                for sample, group in zip(some, groups, strict=True)
            ]
        )


def _grade_draws(
    sample: Sample, replies: Sequence[list[int]], tokenizer: Any, settings: Settings
) -> Drawn:
    places = [0] * len(replies)
    earned = [
        rate(completion_ids=replies, sample=places)
        for rate in build_rewards([sample], tokenizer, settings)
    ]
    texts = tuple(decode_reply(tokenizer, ids) for ids in replies)
    return Drawn(sample, texts, tuple(map(sum, zip(*earned, strict=True))))


def choose_best(drawn: Sequence[Drawn]) -> list[tuple[Sample, str]]:
    """The first reply of the most reward for each sample that has one of full marks."""
    return [
        (one.sample, one.replies[one.rewards.index(max(one.rewards))])
        for one in drawn
        if max(one.rewards) >= 1
    ]


def append_draws(path: Path, drawn: Sequence[Drawn]) -> None:
    """Add to a file, a line each."""
    lines.append_rows(
        path,
        (
            {**store.to_row(one.sample), "replies": one.replies, "rewards": one.rewards}
            for one in drawn
        ),
    )


def read_draws(path: Path) -> list[Drawn]:
    """Read the draws of a file; none where there is no file. ConfigError names the line that is wrong."""
    if not path.exists():
        return []
    return lines.read_rows(
        path,
        lambda row: Drawn(store.from_row(row), tuple(row["replies"]), tuple(row["rewards"])),
        what="draw", hint="remove the file and run the stage draws again", cut=True,
    )  # fmt: skip
