"""Errors made by a language model, asked with the paper's prompts (Tool-use Refiner, Appendix C).

Two questions a sample: the task itself, whose reply is the "original answer", right or not; then to spoil that answer
in one way. Shuffled samples need one: gold itself is spoiled. The questions are a generator without I/O.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping, Sequence

from callwright.errors import ModelError
from callwright.prompts import render
from callwright.protocols import ChatModel, ChatRequest
from callwright.training.refiner_data import ERROR_KINDS, Recipe
from callwright.training.refiner_formats import FORMATS
from callwright.training.refiner_task import Kind, Sample, Task
from callwright.types import Message, Reply

PROMPTS = {
    "format": "corrupt_format",
    "name": "corrupt_name",
    "content": "corrupt_content",
    "order": "corrupt_order",
    "steps": "corrupt_steps",
}
Questions = Generator[ChatRequest, Reply, Sample]


def spoil(task: Task, error: str, by: str, max_tokens: int = 1024) -> Questions:
    """Ask for an answer to the task, then for that answer with an error; the sample is returned."""
    if error in ERROR_KINDS:
        asked = (Message("system", task.system), Message("user", task.query))
        original = (yield ChatRequest(asked, "spoil", max_tokens=max_tokens)).text.strip()
    else:
        original = FORMATS[task.format].write(task.gold)
    reply = yield ChatRequest(render(PROMPTS[error], original=original), "spoil", max_tokens=max_tokens)
    kind: Kind = "erroneous"
    if error in ("order", "steps"):
        kind = "shuffled_full" if error == "order" else "shuffled_simplified"
    return Sample(task, kind, error, reply.text.strip(), by)


async def ask(questions: Questions, model: ChatModel) -> Sample:
    """Put the questions to a model. Raises ModelError where it cannot be asked."""
    try:
        request = next(questions)
        while True:
            request = questions.send(await model.complete(request))
    except StopIteration as done:
        sample = done.value
        assert isinstance(sample, Sample)
        return sample


async def spoil_with(
    model: ChatModel, tasks: Mapping[str, Sequence[Task]], recipe: Recipe, seed: int = 0
) -> tuple[list[Sample], int]:
    """One upstream's share of the erroneous samples, and how many replies were of no use (empty, or gold itself)."""
    rng = random.Random(f"spoil {model.name} {seed}")
    made: list[Sample] = []
    useless = 0
    for source in recipe.sources:
        for error in ERROR_KINDS:
            pool = list(tasks[source])
            for task in rng.sample(pool, min(recipe.each, len(pool))):
                try:
                    sample = await ask(spoil(task, error, model.name), model)
                except ModelError as exc:
                    if not exc.retryable:
                        raise
                    useless += 1
                    continue
                if sample.upstream and sample.upstream != sample.answer:
                    made.append(sample)
                else:
                    useless += 1
    return made, useless
