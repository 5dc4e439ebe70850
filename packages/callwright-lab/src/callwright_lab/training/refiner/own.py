"""The base model's own replies as samples: the mistakes that a refiner of the same base meets.

Rules and prompts spoil answers on purpose (:mod:`callwright_lab.training.refiner.data`). Here each
task is put to the model as its upstream would be, greedily, in memory. A right reply becomes a
sample that is to be left alone, a wrong one a sample that is to be corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from callwright_lab.training.generation import Chat, generate_replies, prompt_length
from callwright_lab.training.refiner.settings import Settings
from callwright_lab.training.refiner.spoil import is_flawless
from callwright_lab.training.refiner.task import Kind, Sample, Task

OWN = "own"
"""The error of a sample whose upstream output is the model's own wrong reply."""


def build_own_samples(
    model: Any, tokenizer: Any, tasks: Sequence[Task], settings: Settings, by: str
) -> list[Sample]:
    """A sample of every task whose system prompt and request fit into ``settings.context``.

    A reply ends after ``settings.longest`` tokens. Empty replies give no sample. The samples stand
    in the order of their tasks.
    """
    asked = [(task, _build_task_chat(task)) for task in tasks]
    asked = [(t, c) for t, c in asked if prompt_length(tokenizer, c) <= settings.context]
    chats = [chat for _, chat in asked]
    replies = generate_replies(
        model, tokenizer, chats, settings.longest, size=settings.replies_at_once
    )
    made = (
        build_own_sample(task, text, by) for (task, _), (text,) in zip(asked, replies, strict=True)
    )
    return [sample for sample in made if sample is not None]


def build_own_sample(task: Task, text: str, by: str) -> Sample | None:
    """The sample of a task and a model's reply to it; None for an empty reply."""
    if not text.strip():
        return None
    kind: Kind = "shuffled_full" if task.format == "nestools" else "erroneous"
    sample = Sample(task, kind, OWN, text.strip(), by)
    if not is_flawless(sample):
        return sample
    return replace(sample, error="none", kind="correct" if kind == "erroneous" else kind)


def select_own_tasks(samples: Iterable[Sample], count: int) -> list[Task]:
    """The first ``count`` different tasks of samples that are not in the simplified format."""
    found: dict[str, Task] = {}
    for sample in samples:
        if sample.kind != "shuffled_simplified":
            found.setdefault(sample.task.id, sample.task)
    return list(found.values())[:count]


def _build_task_chat(task: Task) -> Chat:
    return [
        {"role": "system", "content": task.system},
        {"role": "user", "content": task.query},
    ]
