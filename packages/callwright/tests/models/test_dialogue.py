"""A dialogue is answered to its end, what it cost is counted, and what goes wrong ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Generator

import pytest

from callwright.models.dialogue import BlockingModel, run_dialogue
from callwright.nouns.errors import ModelError
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message, Reply, Usage
from callwright.testing import ScriptedModel


def asking(ended: list[str], *questions: str) -> Generator[ChatRequest, Reply, list[str]]:
    said = []
    try:
        for question in questions:
            reply = yield ChatRequest((Message("user", question),))
            said.append(reply.text)
    finally:
        ended.append("ended")
    return said


def test_every_question_is_answered_and_the_value_comes_back() -> None:
    model = ScriptedModel(["one", "two"])
    assert asyncio.run(run_dialogue(asking([], "1?", "2?"), model.complete)) == ["one", "two"]
    assert asyncio.run(run_dialogue(asking([]), model.complete)) == []


def test_what_the_model_raises_ends_the_dialogue() -> None:
    ended: list[str] = []
    with pytest.raises(ModelError):
        asyncio.run(run_dialogue(asking(ended, "1?"), ScriptedModel([]).complete))
    assert ended == ["ended"]


def test_without_an_event_loop_one_loop_serves_all_and_the_cost_of_each_is_told() -> None:
    replies = [
        Reply("one", usage=Usage(3, 1), seconds=0.5),
        Reply("two", usage=Usage(4, 2), seconds=0.25),
    ]
    model = ScriptedModel([*replies, "three"])
    with BlockingModel(model) as blocking:
        found = blocking.converse(asking([], "1?", "2?"))
        assert (found.value, found.usage, found.seconds) == (["one", "two"], Usage(7, 3), 0.75)
        assert blocking.converse(asking([], "3?")).value == ["three"]
    assert model.closed
