"""The refiner of commands: what rules and sequence left of a reply is put to a model, trained for it
or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from callwright.http import Retry
from callwright.models import ModelOptions, ModelSpec, open_model
from callwright.models.dialogue import BlockingModel
from callwright.models.identity import identify_model
from callwright.nouns.closing import Closing
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import ChatModel
from callwright.nouns.types import Tool
from callwright.repair.by_model.harm_bound import read_bound
from callwright.repair.by_model.refiner import ask
from callwright.repair.by_model.refiner_settings import MAX_TOKENS, Prompt, RefinerSettings
from callwright.repair.result import Refinement

REFINER_KEY = "CALLWRIGHT_REFINER_KEY"
_CONTEXT = 8_192  # tokens of a question with its answer, where that is short


@dataclass(frozen=True, slots=True)
class RefinerSetup:
    """A refiner as options name it; ``model`` "": there is none. ``bound`` is the path of a harm
    bound. JSON-ready.
    """

    model: str = ""
    prompt: str = "paper"
    max_tokens: int = MAX_TOKENS
    upstream: str = ""
    bound: str = ""
    is_guarded: bool = True

    def build_settings(self) -> RefinerSettings | None:
        """The settings; None without a model. Raises ConfigError."""
        if not self.model:
            if self.bound or not self.is_guarded:
                raise ConfigError("there is no refiner to guard", hint="--refiner names the model")
            return None
        return RefinerSettings(
            find_prompt(self.prompt),
            self.max_tokens,
            self._identify() if self.bound else "",
            self.upstream,
            read_bound(Path(self.bound).expanduser()) if self.bound else None,
            self.is_guarded,
        )

    def open_model(self, at_once: int = 1) -> ChatModel:
        """The model, with room for its longest answers. Raises ConfigError."""
        return open_model(self.model, self.build_options(at_once))

    def build_options(self, at_once: int = 1) -> ModelOptions:
        """The options that :meth:`open_model` opens it with."""
        return ModelOptions(self._find_context(), at_once=at_once)

    def open_served(self) -> ChatModel:
        """The model as a server asks it: once, for a client waits, and with a key of its own. That
        in CALLWRIGHT_API_KEY is for the upstream. Raises ConfigError.
        """
        is_local = self.model.partition(":")[0] == "local"
        options = None if is_local else ModelOptions(retry=Retry(attempts=1))
        spec = ModelSpec(self.model, REFINER_KEY)
        return open_model(spec, options, context=self._find_context())

    def _find_context(self) -> int | None:
        return _CONTEXT + self.max_tokens if self.max_tokens > MAX_TOKENS else None

    def _identify(self) -> str:
        try:
            return identify_model(self.model)
        except OSError as error:
            raise ConfigError(f"{self.model} cannot be read: {error.strerror}") from None


def list_warnings(settings: RefinerSettings | None, *, knows_upstream: bool = False) -> list[str]:
    """Return what a user should know of these settings. ``knows_upstream``: each request names it."""
    if settings is None:
        return []
    if not settings.is_guarded:
        return [
            "the refiner has no guard: whatever it answers replaces the calls, right or wrong, and it"
            " may add writes"
        ]
    if knows_upstream and settings.bound is not None and not settings.upstream:
        settings = replace(settings, upstream=settings.bound.measured.upstream)
    unused = settings.explain_unused()
    return [unused] if unused else []


def find_prompt(name: str) -> Prompt:
    """The refiner's prompt of that name. Raises ConfigError."""
    found: Prompt | None = next((p for p in get_args(Prompt) if p == name), None)
    if found is None:
        raise ConfigError(
            f"there is no refiner prompt {name!r}", hint=f"prompts: {', '.join(get_args(Prompt))}"
        )
    return found


class BlockingRefiner(Closing):
    """One question to the model for each reply; a context manager, for one event loop lives as long
    as the model.

    Raises ModelError where the model cannot be asked.
    """

    def __init__(self, model: ChatModel, settings: RefinerSettings | None = None) -> None:
        self.settings = settings or RefinerSettings()
        self._model = BlockingModel(model)

    def close(self) -> None:
        self._model.close()

    def refine(
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
        settings = self.settings
        asking = ask(said, found.calls, tools, query, thoughts, system=system, settings=settings)
        made = self._model.converse(asking).value
        return replace(
            found,
            calls=made.calls,
            edits=found.edits + made.edits,
            violations=() if made.edits else found.violations,
            abstained=found.abstained + made.abstained,
            confidence=min(found.confidence, made.confidence),
        )
