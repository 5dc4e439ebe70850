"""What a request is for, as its question words and one letter tell."""

from __future__ import annotations

import pytest

from callwright.agent.leading.aim import LEAST_DEED, ask_aim, asks_to_know
from callwright.agent.step import Ask, Replied, Steps, ask
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Reply


def play(steps: Steps[float | bool | None], deed: float | None) -> tuple[object, int]:
    """What the steps end with, and how many letters they took."""
    asked = 0
    try:
        action = next(steps)
        while True:
            assert isinstance(action, Ask)
            asked += 1
            is_first = "A) to know" in action.request.messages[-1].content
            told = {} if deed is None else {"A": deed, "B": 1 - deed}
            told = dict(zip(told, [*told.values()][::-1], strict=True)) if is_first else told
            action = steps.send(Replied(Reply("A", first_token=told)))
    except StopIteration as done:
        return done.value, asked


def put(request: ChatRequest) -> Steps[Reply]:
    return (yield from ask(request, None))


def test_the_share_is_a_mean_over_two_orders() -> None:
    share, asked = play(ask_aim("Switch it off", put), 0.7)
    assert share == pytest.approx(0.7)
    assert asked == 2
    assert play(ask_aim("Switch it off", put), None) == (None, 1)


@pytest.mark.parametrize(
    ("query", "deed", "expected", "letters"),
    [
        ("Which lamps are on?", 0.9, True, 0),
        ("Is the lamp on?", LEAST_DEED - 0.1, True, 2),
        ("Is the lamp on?", LEAST_DEED + 0.1, False, 2),
        ("Ist die Lampe an? Und die im Flur?", 0.2, True, 2),
        ("Is the lamp on?", None, False, 1),
        ("Switch it off.", 0.1, False, 0),
        ("Is it on? Switch it off.", 0.1, False, 0),
    ],
)
def test_only_questions_ask_to_know(
    query: str, deed: float | None, expected: bool, letters: int
) -> None:
    assert play(asks_to_know(query, put), deed) == (expected, letters)
