"""The model rung as a reader: rules and sequence first, then one question to a model about what is left."""

from __future__ import annotations

import asyncio

from callwright.benchmarks.api_bank import REFINER_FORM
from callwright.benchmarks.refine_read import delivered, rungs
from callwright.benchmarks.refine_task import Found, Recorded, Task
from callwright.models import open_model
from callwright.protocols import ChatModel
from callwright.refine.model import ask
from callwright.refine.result import Refinement
from callwright.types import Message, Reply, Usage

FORMS = dict.fromkeys(("api_bank", "api_bank_declared"), REFINER_FORM)  # sets whose answer has a format of its own


class ModelReader:
    """Reads a reply with every rung, the model's included; raises ModelError where the model cannot be asked.

    A context manager: one event loop lives as long as the model does.
    """

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self._below = rungs("rules", "sequence")
        self._runner = asyncio.Runner()

    def __enter__(self) -> ModelReader:
        return self

    def __exit__(self, *raised: object) -> None:
        self._runner.run(self.model.aclose())
        self._runner.close()

    def __call__(self, reply: Recorded, task: Task) -> Found:
        below = self._below(reply, task)
        made, spent, waited = self._runner.run(self._asked(reply, task, below))
        reported = below.abstained + tuple(a.reason for a in made.abstained)
        return Found(made.calls, "", below.edits + made.edits, reported, made.confidence, spent, waited)

    async def _asked(self, reply: Recorded, task: Task, below: Found) -> tuple[Refinement, Usage, float]:
        said = reply.text or "\n".join(f"{c.tool}({c.arguments})" for c in delivered(reply))
        thought = str(reply.message.get("reasoning_content") or "")
        system, form = _system(task.messages), FORMS.get(task.set, "")
        asking = ask(said, below.calls, task.tools, task.query, thought, system=system, form=form)
        spent, waited = Usage(), 0.0
        answer: Reply | None = None
        while True:
            try:
                request = asking.send(answer) if answer is not None else next(asking)
            except StopIteration as done:
                found: Refinement = done.value
                return found, spent, waited
            answer = await self.model.complete(request)
            spent, waited = spent + answer.usage, waited + answer.seconds


def _system(messages: tuple[Message, ...]) -> str:
    return "\n".join(m.content for m in messages if m.role == "system")


def model_reader(spec: str) -> ModelReader:
    """The rung asked of the model that ``spec`` names: local, local:PATH, or URL#MODEL."""
    return ModelReader(open_model(spec))
