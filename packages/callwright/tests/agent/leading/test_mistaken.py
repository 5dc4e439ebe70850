"""The tool that a request asks for in the place of the called one, as letters tell."""

from __future__ import annotations

import pytest

from callwright.agent.leading.mistaken import find_asked
from callwright.agent.step import Ask, Replied, Steps, ask
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import WRITE, Reply, Tool

ADD, MOVE = Tool("add", "Adds one.", effects=WRITE), Tool("move", "Moves one.", effects=WRITE)
DROP = Tool("drop", "Drops one.", effects=WRITE)
TOOLS = (ADD, MOVE, DROP)


def find(
    shares: dict[str, float], *wishes: str, wished: str = "", tools: tuple[Tool, ...] = TOOLS
) -> tuple[Tool | None, int]:
    """The tool, and how many questions it took. ``wished``: what each wish is for."""
    asked: list[str] = []

    def put(request: ChatRequest) -> Steps[Reply]:
        return (yield from ask(request, None))

    steps = find_asked(ADD, tools, "move it", wishes, put)
    try:
        action = next(steps)
        while True:
            assert isinstance(action, Ask)
            text = action.request.messages[-1].content
            asked.append(text)
            names = [line[3:].partition(":")[0] for line in text.splitlines() if line[1:2] == ")"]
            told = {wished: 0.95} if "move it" not in text else shares
            likely = {chr(65 + at): told.get(name, 0.01) for at, name in enumerate(names)}
            action = steps.send(Replied(Reply("A", first_token=likely if told else {})))
    except StopIteration as done:
        found: Tool | None = done.value
        return found, len(asked)


@pytest.mark.parametrize(
    ("shares", "expected", "questions"),
    [
        ({"move": 0.9, "add": 0.05, "drop": 0.05}, MOVE, 2),
        ({"move": 0.55, "add": 0.15, "drop": 0.3}, None, 2),
        ({"move": 0.7, "add": 0.3}, None, 2),
        ({"add": 0.9, "move": 0.1}, None, 1),
        ({}, None, 1),
    ],
)
def test_another_tool_is_found_where_the_letters_are_sure(
    shares: dict[str, float], expected: Tool | None, questions: int
) -> None:
    assert find(shares) == (expected, questions)


def test_what_one_of_several_wishes_is_for_stays() -> None:
    shares = {"move": 0.9, "add": 0.05, "drop": 0.05}
    assert find(shares, "one", "two", wished="add")[0] is None
    assert find(shares, "one", "two", wished="move")[0] is MOVE
    assert find(shares, "one", wished="add") == (MOVE, 2), "a single wish is the request itself"


def test_a_tool_that_is_alone_is_not_asked_about() -> None:
    assert find({"add": 0.1}, tools=(ADD,)) == (None, 0)
