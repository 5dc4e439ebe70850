"""The refiner as a reader, by two ways: ``model`` after rules and sequence, and ``adapter``, the
same refiner asked about the reply as it was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from callwright.nouns.types import Message
from callwright.repair.by_model.refiner import Asking, ask
from callwright.repair.by_model.refiner_settings import RefinerSettings
from callwright_lab.benchmarks.refine.api_bank import REFINER_FORM
from callwright_lab.benchmarks.refine.read import (
    Reader,
    make_refiner_reader,
    read_stripped_json,
)
from callwright_lab.benchmarks.refine.task import Found, Recorded, Task
from callwright_lab.parallel import SharedModel

MODEL, ADAPTER = "model", "adapter"
FORMS = dict.fromkeys(
    ("api_bank", "api_bank_declared"), REFINER_FORM
)  # sets whose answer has a format of its own


class ModelReader:
    """Reads a reply with the reader ``below``, then asks the model once about what it found; raises
    ModelError where the model cannot be asked.

    The model sees calls as ``below`` has them where the server handed calls over or there is no
    text, as behind the proxy, and the reply's text otherwise. Each reply names its upstream, unless
    the settings do.
    """

    def __init__(self, model: SharedModel, settings: RefinerSettings, below: Reader) -> None:
        self._model, self._settings, self._below = model, settings, below

    def __call__(self, reply: Recorded, task: Task) -> Found:
        below = self._below(reply, task)
        asked = self._model.converse(self._asking(reply, task, below))
        made = asked.value
        return Found(
            made.calls,
            "",
            below.edits + made.edits,
            below.abstained + tuple(a.reason for a in made.abstained),
            made.confidence,
            asked.usage,
            asked.seconds,
            () if made.edits and below.refused else below.refused,
        )

    def _asking(self, reply: Recorded, task: Task, below: Found) -> Asking:
        said = "" if reply.message.get("tool_calls") and below.calls else reply.text
        thought = str(reply.message.get("reasoning_content") or "")
        system, form = _join_system_messages(task.messages), FORMS.get(task.set, "")
        settings = self._settings
        if not settings.upstream:
            settings = replace(settings, upstream=reply.upstream)
        return ask(
            said, below.calls, task.tools, join_conversation(task), thought, system=system,
            form=form, settings=settings,
        )  # fmt: skip


def join_conversation(task: Task) -> str:
    """The request as the proxy shows it to a refiner: all that was said, each turn by its role; the
    user's words alone where that is all.
    """
    said = [m for m in task.messages if m.role != "system" and m.content.strip()]
    if len(said) <= 1:
        return task.query
    return "\n".join(f"{m.role.upper()}: {m.content}" for m in said)


def _join_system_messages(messages: Sequence[Message]) -> str:
    return "\n".join(m.content for m in messages if m.role == "system")


def make_model_readers(model: SharedModel, settings: RefinerSettings) -> dict[str, Reader]:
    """Both readers. ``adapter`` has no guard and no bound, as the paper's refiner: its answer is
    sent if it can be read, and the plainly parsed calls of the reply otherwise.
    """
    alone = replace(settings, bound=None, is_guarded=False)
    return {
        MODEL: ModelReader(model, settings, make_refiner_reader("rules", "sequence")),
        ADAPTER: ModelReader(model, alone, read_stripped_json),
    }
