from __future__ import annotations

import pytest

from callwright.nouns.errors import ModelError
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message
from callwright.testing import (
    LOST,
    RATE_LIMITED,
    FakeTool,
    FaultyModel,
    FaultySource,
    ScriptedModel,
    cut_off,
    fake_source,
    wrapped,
)

QUESTION = ChatRequest((Message("user", "?"),))


async def test_faults_hit_the_chosen_calls_and_then_everything_passes() -> None:
    tool = FakeTool("t", output=1)
    source = FaultySource(fake_source(tool), {"t": [RATE_LIMITED, None]})
    outputs = [await source.call(tool.tool, {}) for _ in range(3)]
    assert [o.failure.kind if o.failure else "ok" for o in outputs] == ["rate_limit", "ok", "ok"]
    assert len(tool.calls) == 2


async def test_a_lost_answer_leaves_its_effect_behind() -> None:
    tool = FakeTool("t", output=1)
    output = await FaultySource(fake_source(tool), {"t": [LOST]}).call(tool.tool, {"n": 1})
    assert output.failure is not None
    assert output.failure.outcome_unknown
    assert tool.calls == [{"n": 1}]


async def test_a_faulty_model_raises_cuts_and_chatters() -> None:
    model = FaultyModel(
        ScriptedModel(["{}", "{}", "{}"]),
        [ModelError("x"), cut_off(1), wrapped("Sure: ", "!"), None],
    )
    with pytest.raises(ModelError):
        await model.complete(QUESTION)
    replies = [await model.complete(QUESTION) for _ in range(3)]
    assert [r.text for r in replies] == ["{", "Sure: {}!", "{}"]
    assert replies[0].finish_reason == "length"
