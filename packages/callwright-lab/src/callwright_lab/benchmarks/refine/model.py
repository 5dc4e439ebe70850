"""The refiner as a reader: rules and sequence first, then one question to a model about what is
left.
"""

from __future__ import annotations

from dataclasses import replace

from callwright.cli.refiner import RefinerSetup
from callwright.models.dialogue import BlockingModel
from callwright.nouns.protocols import ChatModel
from callwright.nouns.types import Message
from callwright.repair.by_model.refiner import Asking, ask
from callwright.repair.by_model.refiner_settings import RefinerSettings
from callwright_lab.benchmarks.refine.api_bank import REFINER_FORM
from callwright_lab.benchmarks.refine.read import gather_native_calls, make_refiner_reader
from callwright_lab.benchmarks.refine.task import Found, Recorded, Task

FORMS = dict.fromkeys(
    ("api_bank", "api_bank_declared"), REFINER_FORM
)  # sets whose answer has a format of its own


class ModelReader:
    """Reads a reply with every rule group and the model; raises ModelError where the model cannot
    be asked.

    A context manager: one event loop lives as long as the model does. Each reply names its upstream,
    unless the settings do.
    """

    def __init__(self, model: ChatModel, settings: RefinerSettings | None = None) -> None:
        self._model = BlockingModel(model)
        self._settings = settings or RefinerSettings()
        self._below = make_refiner_reader("rules", "sequence")

    def __enter__(self) -> ModelReader:
        return self

    def __exit__(self, *raised: object) -> None:
        self._model.close()

    def __call__(self, reply: Recorded, task: Task) -> Found:
        below = self._below(reply, task)
        asked = self._model.converse(self._asking(reply, task, below))
        made = asked.value
        reported = below.abstained + tuple(a.reason for a in made.abstained)
        edits = below.edits + made.edits
        return Found(made.calls, "", edits, reported, made.confidence, asked.usage, asked.seconds)

    def _asking(self, reply: Recorded, task: Task, below: Found) -> Asking:
        said = reply.text or "\n".join(
            f"{c.tool}({c.arguments})" for c in gather_native_calls(reply)
        )
        thought = str(reply.message.get("reasoning_content") or "")
        system, form = _join_system_messages(task.messages), FORMS.get(task.set, "")
        settings = self._settings
        if not settings.upstream:
            settings = replace(settings, upstream=reply.upstream)
        return ask(
            said, below.calls, task.tools, task.query, thought, system=system, form=form,
            settings=settings,
        )  # fmt: skip


def _join_system_messages(messages: tuple[Message, ...]) -> str:
    return "\n".join(m.content for m in messages if m.role == "system")


def open_model_reader(setup: RefinerSetup) -> ModelReader:
    """The reader with the model that options name. Raises ConfigError."""
    return ModelReader(setup.open_model(), setup.build_settings())
