"""The refiner's nouns: a task with its gold calls, and a sample: the task with what another model
made of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from callwright.nouns.types import Message, Tool, ToolCall
from callwright.prompts import render
from callwright.repair.by_model.guard import Upstream
from callwright.repair.by_model.refiner import FORMS, build_question, render_signature
from callwright.repair.by_model.refiner_settings import Prompt
from callwright_lab.datasets.splits import FOLDS, SEED
from callwright_lab.training.refiner.formats import FORMATS, Format, Invocation

Kind = Literal["erroneous", "correct", "shuffled_full", "shuffled_simplified"]
RULE = "rule"  # who spoiled a sample, where no model did
KINDS: tuple[Kind, ...] = ("erroneous", "correct", "shuffled_full", "shuffled_simplified")

_FORMS = {
    "glaive": '<functioncall> {"name": NAME, "arguments": {KEY: VALUE}} <|endoftext|>',
    "toolace": "<function_list>[NAME(KEY=VALUE)]</function_list>",
    **FORMS,
    "order": '<order_func>[{"step": 1, "tool_list": [NAME]}]</order_func>',
}


@dataclass(frozen=True, slots=True)
class Task:
    """One request of a data set. ``system`` is the prompt its answers were made for, tools
    included.
    """

    id: str
    source: str
    format: str
    system: str
    query: str
    tools: tuple[Tool, ...]
    gold: tuple[Invocation, ...]

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Gold as tool calls; a call's id is its place."""
        return tuple(ToolCall(f"call_{i}", c.name, c.arguments) for i, c in enumerate(self.gold))

    @property
    def held_out(self) -> bool:
        """Return True if the task is used only for measuring, never for training: one fifth, by the
        set of gold tools.
        """
        combination = "\n".join(sorted({c.name for c in self.gold}))
        value = hashlib.sha256(f"{SEED}\0{combination}".encode()).digest()
        return int.from_bytes(value[:8], "big") % FOLDS == 0


@dataclass(frozen=True, slots=True)
class Sample:
    """(original task, upstream output, correct invocation), section 3.2. ``error``: what was done
    to the output.

    ``by`` is who spoiled it: a model's name, or ``rule``.
    """

    task: Task
    kind: Kind
    error: str
    upstream: str
    by: str = RULE

    @property
    def format(self) -> Format:
        return FORMATS[self.task.format]

    @property
    def answer(self) -> str:
        """The gold calls as the format writes them: what supervised learning imitates."""
        return self.format.write(self.task.gold)

    def messages(self, prompt: Prompt = "paper") -> tuple[Message, ...]:
        """Return the messages for the refiner: the paper's prompt (Appendix A), or a short one for
        small models.

        It is the prompt of :mod:`callwright.repair.by_model.refiner`. In xLAM's format, which the
        pipeline asks for, it is the pipeline's own question; else tools and format stand in the
        task's system prompt.
        """
        task = self.task
        if prompt == "paper" and task.format == "xlam":
            asked = build_question(Upstream(self.upstream, (), task.tools, task.query)).messages
            return tuple(replace(m, content=m.content.strip()) for m in asked)
        if prompt == "paper":
            asked = render(
                "refine",
                system=task.system,
                tools="",
                query=task.query,
                upstream=self.upstream,
                format="",
            )
            return tuple(replace(m, content=m.content.strip()) for m in asked)
        tools = "\n".join(render_signature(t) for t in task.tools)
        return render(
            "refiner_short",
            tools=tools,
            form=_FORMS[task.format],
            query=task.query,
            upstream=self.upstream,
        )


def split_held_out(samples: Sequence[Sample]) -> tuple[list[Sample], list[Sample]]:
    """(learned from, measured on). What is measured on calls no tool that is learned from."""
    learned = [s for s in samples if not s.task.held_out]
    known = {call.name for s in learned for call in s.task.gold}
    return learned, [
        s for s in samples if s.task.held_out and known.isdisjoint(c.name for c in s.task.gold)
    ]
