"""Questions of a part that has a model of its own count in the run's budget."""

from __future__ import annotations

import pytest

from callwright.agent.probing.charged_model import ChargedModel
from callwright.nouns.errors import ModelError
from callwright.nouns.limits import Budget, Limits
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message
from callwright.testing import ScriptedModel

ASKED = ChatRequest((Message("user", "What?"),))


async def test_each_question_is_charged_and_one_is_left_for_the_answer() -> None:
    budget = Budget(Limits(model_calls=3))
    inner = ScriptedModel(lambda request: "that")
    model = ChargedModel(inner, budget)
    assert (await model.complete(ASKED)).text == "that"
    await model.complete(ASKED)
    with pytest.raises(ModelError, match="model_calls"):
        await model.complete(ASKED)
    assert (budget.model_calls, len(inner.requests)) == (2, 2)
    budget = Budget(Limits(model_calls=24))
    part = ChargedModel(inner, budget, 1)
    await part.complete(ASKED)
    with pytest.raises(ModelError, match="its part of it"):
        await part.complete(ASKED)
    assert budget.model_calls == 1
    assert (model.name, await model.capabilities()) == (inner.name, await inner.capabilities())
