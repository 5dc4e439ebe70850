"""Errors made by a language model, asked with the paper's prompts (Tool-use Refiner, Appendix C).

Two questions a sample: the task itself, whose reply is the "original answer", right or not; then to
spoil that answer in one way. Shuffled samples need one: gold itself is spoiled. The questions are a
generator without I/O.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field

from callwright.models.dialogue import run_dialogue
from callwright.nouns.errors import ModelError
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.types import Message, Reply
from callwright_lab.prompts import render
from callwright_lab.training.refiner.data import ERROR_KINDS, Recipe, Tasks
from callwright_lab.training.refiner.formats import FORMATS
from callwright_lab.training.refiner.rewards import grade_reading
from callwright_lab.training.refiner.sources import simplify_to_steps
from callwright_lab.training.refiner.task import Kind, Sample, Task

PROMPTS = {
    "format": "corrupt_format",
    "name": "corrupt_name",
    "content": "corrupt_content",
    "order": "corrupt_order",
    "steps": "corrupt_steps",
}
Questions = Generator[ChatRequest, Reply, Sample]
_TRIES = 4  # tasks tried at most for each sample wanted


def ask_spoiled_sample(task: Task, error: str, by: str, max_tokens: int = 1024) -> Questions:
    """Ask for an answer to the task, then for that answer with an error; the sample is returned.

    Its ``error`` is the one that was asked for; for an order ("order", "steps") it is what the
    reply came to be, since the paper keeps right and malformed ones among them.
    """
    if error in ERROR_KINDS:
        asked = (Message("system", task.system), Message("user", task.query))
        original = (yield ChatRequest(asked, "spoil", max_tokens=max_tokens)).text.strip()
    else:
        original = FORMATS[task.format].write(task.gold)
    reply = yield ChatRequest(
        render(PROMPTS[error], original=original), "spoil", max_tokens=max_tokens
    )
    text = reply.text.strip()
    if error in ERROR_KINDS:
        return Sample(task, "erroneous", error, text, by)
    kind: Kind = "shuffled_full" if error == "order" else "shuffled_simplified"
    right = FORMATS[task.format].read(text).right
    if not right:
        found = "order and format"
    elif is_flawless(Sample(task, kind, "", text)):
        found = "none"
    else:
        found = "order"
    return Sample(task, kind, found, text, by)


def is_flawless(sample: Sample) -> bool:
    """Return True if the upstream's output is already right, by the reward of its kind."""
    return (
        grade_reading(sample.format.read(sample.upstream), sample.task.gold, sample.kind).value == 1
    )


async def run_questions(questions: Questions, model: ChatModel) -> Sample:
    """Put the questions to a model. Raises ModelError where it cannot be asked."""
    return await run_dialogue(questions, model.complete)


@dataclass
class Spoiling:
    """One model at work. ``known``: samples it made before, not asked for again; ``keep`` is handed
    each new one.

    ``useless`` counts replies that gave no sample: none, an empty one or, of erroneous ones, a
    flawless one.
    """

    model: ChatModel
    known: Iterable[Sample] = ()
    keep: Callable[[Sample], None] = lambda _: None
    seed: int = 0
    useless: int = 0
    made: list[Sample] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known = [s for s in self.known if s.by == self.model.name]

    async def erroneous(self, recipe: Recipe, tasks: Tasks) -> None:
        """One upstream's share of the erroneous samples: ``each`` of every error kind and
        source.
        """
        for source in recipe.sources:
            for error in ERROR_KINDS:
                before = [s for s in self.known if (s.kind, s.error) == ("erroneous", error)]
                await self._some(tasks.get(source, ()), error, recipe.each, before)

    async def shuffled(self, recipe: Recipe, tasks: Tasks) -> None:
        """The shuffled samples of both formats (C.2); tasks come again where there are too few."""
        nested = [t for t in tasks.get(recipe.nested, ()) if len(t.gold) > 1]
        full = [s for s in self.known if s.kind == "shuffled_full"]
        await self._some(nested, "order", recipe.full, full, again=True)
        simple = [s for s in self.known if s.kind == "shuffled_simplified"]
        await self._some(
            [simplify_to_steps(t) for t in nested], "steps", recipe.simplified, simple, again=True
        )

    async def _some(
        self,
        tasks: Sequence[Task],
        error: str,
        count: int,
        before: Sequence[Sample],
        again: bool = False,
    ) -> None:
        """``count`` samples of these tasks, those from ``before`` among them; fewer where the tasks
        run out.
        """
        ids = {t.id for t in tasks}
        found = [s for s in before if s.task.id in ids][:count]
        self.made += found
        left, have, used = count - len(found), len(found), {s.task.id for s in found}
        rng = random.Random(f"spoil {self.model.name} {self.seed} {error} {len(tasks)} {have}")
        order = rng.sample(list(tasks), len(tasks))
        order = [t for t in order if t.id not in used] + (
            order * (count // max(1, len(order)) + 1) if again else []
        )
        for task in order[: _TRIES * left]:
            if left == 0:
                return
            sample = await self._one(task, error)
            if sample is None:
                self.useless += 1
                continue
            self.keep(sample)
            self.made.append(sample)
            left -= 1

    async def _one(self, task: Task, error: str) -> Sample | None:
        try:
            sample = await run_questions(
                ask_spoiled_sample(task, error, self.model.name), self.model
            )
        except ModelError as exc:
            if not exc.retryable:
                raise
            return None
        wrong = sample.kind != "erroneous" or not is_flawless(sample)
        return sample if sample.upstream and wrong else None
