from __future__ import annotations

import pytest

from callwright.gateway.session.commands import (
    AskClient,
    ClientAnswered,
    Dispatch,
    Failed,
    Returned,
)
from callwright.gateway.session.exchange import MOST_ROUNDS, Unanswered, exchange_rounds
from callwright.nouns.errors import Failure

FIRST = Dispatch("a", "tools/call", {"name": "x"}, 5.0, may_repeat=False)
ASKING = Returned({"resultType": "input_required", "inputRequests": {"k": {}}, "requestState": "s"})


def test_an_answer_ends_it() -> None:
    steps = exchange_rounds(FIRST)
    assert next(steps) == FIRST
    with pytest.raises(StopIteration) as end:
        steps.send(Returned({"content": []}))
    assert end.value.value == Returned({"content": []})


def test_a_server_that_asks_is_sent_the_client_s_answers_with_its_state() -> None:
    steps = exchange_rounds(FIRST)
    next(steps)
    assert steps.send(ASKING) == AskClient({"k": {}}, "s")
    again = steps.send(ClientAnswered({"k": {"action": "accept"}}))
    assert isinstance(again, Dispatch)
    assert (again.params, again.responses, again.state) == (
        FIRST.params,
        {"k": {"action": "accept"}},
        "s",
    )
    with pytest.raises(StopIteration) as end:
        steps.send(Failed(Failure("timeout", "late")))
    assert isinstance(end.value.value, Failed)


def test_a_client_that_does_not_answer_and_a_server_that_never_stops_asking_end_it() -> None:
    steps = exchange_rounds(FIRST)
    next(steps)
    steps.send(ASKING)
    with pytest.raises(StopIteration) as end:
        steps.send(ClientAnswered(refused="no"))
    assert end.value.value == Unanswered("no")
    steps = exchange_rounds(FIRST)
    next(steps)
    for _ in range(MOST_ROUNDS - 1):
        steps.send(ASKING)
        steps.send(ClientAnswered({}))
    steps.send(ASKING)
    with pytest.raises(StopIteration) as last:
        steps.send(ClientAnswered({}))
    assert isinstance(last.value.value, Unanswered)
