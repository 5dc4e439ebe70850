"""A model whose questions count in the budget of a run."""

from __future__ import annotations

from callwright.nouns.errors import ModelError
from callwright.nouns.limits import Budget
from callwright.nouns.protocols import Capabilities, ChatModel, ChatRequest, Watcher
from callwright.nouns.types import Reply


class ChargedModel:
    """A ChatModel in front of another. It raises ModelError for a question that the budget forbids;
    one is always left for the answer, and of all at most ``most`` are its own (None: any number).
    It does not close the other.
    """

    def __init__(self, model: ChatModel, budget: Budget, most: int | None = None) -> None:
        self._model = model
        self._budget = budget
        self._own = budget.limits.model_calls if most is None else most  # questions that are left
        self._open = 0  # questions on their way

    @property
    def name(self) -> str:
        return self._model.name

    async def capabilities(self) -> Capabilities:
        return await self._model.capabilities()

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
        left = self._budget.limits.model_calls - self._budget.model_calls - self._open
        limit = self._budget.exhausted() or ("model_calls" if min(left - 1, self._own) < 1 else "")
        if limit:
            raise ModelError(f"the run's limit of {limit}, or its part of it, is reached")
        self._open += 1
        self._own -= 1
        try:
            reply = await self._model.complete(request, watch)
        finally:
            self._open -= 1
        self._budget.charge(reply.usage)
        return reply

    async def aclose(self) -> None:
        """Nothing: who opened the model closes it."""
