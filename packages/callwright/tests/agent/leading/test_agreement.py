"""The share of a yes, as a mean over two orders."""

from __future__ import annotations

import pytest

from callwright.agent.leading.agreement import ask_agreement
from callwright.agent.step import Ask, Replied, ask
from callwright.nouns.types import Reply


@pytest.mark.parametrize(
    ("likely", "share"), [([(0.9, 0.1), (0.3, 0.7)], 0.8), ([(0.2, 0.8), (0.9, 0.1)], 0.15)]
)
def test_a_yes_is_asked_for_in_both_orders(likely: list[tuple[float, float]], share: float) -> None:
    steps = ask_agreement("Shall I?", "No.", lambda request: ask(request, None))
    first, second = (Replied(Reply("A", first_token={"A": a, "B": b})) for a, b in likely)
    actions = next(steps), steps.send(first)
    with pytest.raises(StopIteration) as end:
        steps.send(second)
    assert end.value.value == pytest.approx(share)
    texts = [one.request.messages[-1].content for one in actions if isinstance(one, Ask)]
    assert ["A) yes" in text for text in texts] == [True, False]


def test_a_model_without_probabilities_tells_nothing() -> None:
    steps = ask_agreement("Shall I?", "No.", lambda request: ask(request, None))
    next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send(Replied(Reply("A")))
    assert end.value.value is None
