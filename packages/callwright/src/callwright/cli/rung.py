"""The model rung for commands: what rules and sequence left of a reply is put to a model, trained
for it or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from callwright.models.dialogue import BlockingModel
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import ChatModel
from callwright.nouns.types import Tool
from callwright.repair.by_model.refiner import ask
from callwright.repair.by_model.refiner_settings import Prompt
from callwright.repair.result import Refinement


def find_prompt(name: str) -> Prompt:
    """The refiner's prompt of that name. Raises ConfigError."""
    found: Prompt | None = next((p for p in get_args(Prompt) if p == name), None)
    if found is None:
        raise ConfigError(
            f"there is no refiner prompt {name!r}", hint=f"prompts: {', '.join(get_args(Prompt))}"
        )
    return found


class ModelRung:
    """One question to the model for each reply; a context manager, for one event loop lives as long
    as the model.

    Raises ModelError where the model cannot be asked.
    """

    def __init__(self, model: ChatModel, prompt: Prompt = "paper") -> None:
        self.prompt = prompt
        self._model = BlockingModel(model)

    def __enter__(self) -> ModelRung:
        return self

    def __exit__(self, *raised: object) -> None:
        self._model.close()

    def refined(
        self,
        found: Refinement,
        said: str,
        tools: Sequence[Tool],
        query: str,
        *,
        system: str = "",
        thoughts: str = "",
    ) -> Refinement:
        """Return the pipeline's result, refined by the model; ``said`` is the reply as written, ""
        for mere calls.
        """
        asking = ask(said, found.calls, tools, query, thoughts, system=system, prompt=self.prompt)
        made = self._model.converse(asking).value
        return replace(
            found,
            calls=made.calls,
            edits=found.edits + made.edits,
            violations=() if made.edits else found.violations,
            abstained=found.abstained + made.abstained,
            confidence=min(found.confidence, made.confidence),
        )
