"""Recorded answers are handed out by actor and turn, once each, and the clock goes on where they
stopped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from callwright.agent.journal.ledger import Ledger, build_doubt_error
from callwright.nouns.errors import JournalError
from callwright.nouns.trace import Event
from callwright.nouns.types import WRITE, to_json


def event(kind: str, actor: str, turn: int, at: float = 0.0, **data: Any) -> Event:
    return Event(kind, 0, at, {"actor": actor, "turn": turn, **data})


def test_answers_come_by_actor_and_turn_whatever_their_order() -> None:
    ledger = Ledger(
        [event("result", "r2", 0, v=2), event("model", "", 0, v=0), event("result", "r1", 0, v=1)]
    )
    assert [
        ledger.next(actor, kind)
        for actor, kind in (("r1", "result"), ("", "model"), ("r2", "result"))
    ] == [
        {"actor": "r1", "turn": 0, "v": 1},
        {"actor": "", "turn": 0, "v": 0},
        {"actor": "r2", "turn": 0, "v": 2},
    ]
    assert ledger.next("r1", "result") is None
    assert ledger.turn("r1") == 1


def test_an_answer_of_another_kind_is_left_and_recording_over_it_is_an_error() -> None:
    ledger = Ledger([event("model", "", 0)])
    assert ledger.next("", "plan") is None
    assert ledger.ahead("")
    with pytest.raises(JournalError, match="the strategy goes another way at its answer 1"):
        ledger.turn("")


def test_the_first_record_of_an_answer_counts() -> None:
    ledger = Ledger([event("model", "", 0, v="first"), event("model", "", 0, v="again")])
    told = ledger.next("", "model")
    assert told is not None
    assert told["v"] == "first"


def test_an_empty_ledger_numbers_answers() -> None:
    ledger = Ledger()
    assert [ledger.turn("r1"), ledger.turn(""), ledger.turn("r1")] == [0, 0, 1]
    assert ledger.start is None


def test_time_spent_before_the_crash_counts_and_the_time_between_does_not() -> None:
    now = [1000.0]
    ledger = Ledger(
        [event("model", "", 0, at=5.0), event("model", "", 1, at=9.0)], clock=lambda: now[0]
    )
    assert ledger.clock() == 0
    ledger.next("", "model")
    assert ledger.clock() == 5
    now[0] += 2
    ledger.next("", "model")
    assert ledger.clock() == 9
    now[0] += 1
    assert ledger.clock() == 10


def test_an_intent_without_a_result_is_in_doubt_until_it_is_resolved() -> None:
    write = to_json(WRITE)
    intents = [
        Event("intent", 0, 0.0, {"id": name, "attempt": 1, "effects": write})
        for name in ("r1", "r2", "r3")
    ]
    intents.append(
        Event(
            "intent",
            0,
            0.0,
            {"id": "r4", "attempt": 1, "effects": to_json(replace(WRITE, keyed=True))},
        )
    )
    done = event("result", "r1", 0, id="r1", attempt=1)
    said = Event("resolution", 0, 0.0, {"id": "r3", "attempt": 1, "outcome": "not_done"})
    ledger = Ledger([*intents, done, said])
    assert [d["id"] for d in ledger.doubts] == ["r2"]
    assert [d["id"] for d in ledger.unanswered] == ["r2", "r4"]
    assert ledger.intended("r3", 1)
    assert not ledger.intended("r1", 1)
    ledger.resolve({"id": "r2", "attempt": 1, "outcome": "done"})
    assert ledger.doubts == ()
    assert ledger.resolution("r2", 1) == {"id": "r2", "attempt": 1, "outcome": "done"}


def test_a_call_that_was_sent_once_more_after_its_resolution_is_in_doubt_again() -> None:
    intent = Event("intent", 0, 0.0, {"id": "r1", "attempt": 1, "effects": to_json(WRITE)})
    said = Event("resolution", 0, 0.0, {"id": "r1", "attempt": 1, "outcome": "not_done"})
    assert [d["id"] for d in Ledger([intent, said, intent]).doubts] == ["r1"]


def test_texts_are_found_by_digest_and_a_missing_one_is_named() -> None:
    ledger = Ledger([Event("blob", 0, 0.0, {"digest": "d", "text": "t"})])
    assert ledger.text("d") == "t"
    with pytest.raises(JournalError, match="lacks the text x"):
        ledger.text("x")


def test_the_error_of_a_doubt_says_what_to_do() -> None:
    assert "callwright resolve R CALL" in str(build_doubt_error(["r1"], "R"))


def _write(id_: str, **more: Any) -> Event:
    effects = to_json(replace(WRITE, keyed=True))
    told = {"tool": "book", "arguments": {"guest": "Ann"}, "effects": effects, "key": f"k{id_}"}
    return Event("intent", 0, 0.0, {"id": id_, "attempt": 1, **told, **more})


def _result(id_: str, **more: Any) -> Event:
    told = {"tool": "book", "arguments": {"guest": "Ann"}, "content": "B7", "failure": None}
    return event("result", id_, 0, id=id_, attempt=1, **told, **more)


def _start(**more: Any) -> Event:
    return Event("run.start", 0, 0.0, {"run": "first", **more})


ANN = ("book", lambda arguments: arguments == {"guest": "Ann"})


def test_a_run_that_continues_replays_nothing_and_knows_what_was_done() -> None:
    known = [_start(), event("model", "", 0), _write("r1"), _result("r1")]
    ledger = Ledger(known, run="copy", continuing=True)
    assert (ledger.segment, ledger.origin, ledger.is_new_segment) == (2, "first", True)
    assert ledger.start is not None
    assert ledger.next("", "model") is None
    assert [r.id for r in ledger.facts.results] == ["r1"]
    taken = ledger.take_earlier("r2", 1, *ANN)
    assert taken is not None
    assert (taken.id, taken.key) == ("r1", "kr1")
    assert ledger.take_earlier("r3", 1, *ANN) is None, "it stands for one call, not for two"
    assert ledger.untaken == ()


def test_a_continued_run_is_replayed_from_its_own_segment() -> None:
    first = [_start(), event("model", "", 0, v="old"), _write("r1"), _result("r1")]
    second = [_start(segment=2), event("model", "", 0, v="new"), _result("r3", earlier="r1")]
    ledger = Ledger([*first, *second])
    assert (ledger.segment, ledger.is_new_segment) == (2, False)
    told = ledger.next("", "model")
    assert told is not None
    assert told["v"] == "new"
    assert ledger.take_earlier("r2", 1, *ANN) is None, "it was given to r3 before"
    found = ledger.take_earlier("r3", 1, *ANN)
    assert found is not None
    assert found.id == "r1"


def test_an_open_call_may_be_sent_again_by_the_call_that_stands_for_it() -> None:
    known = [_start(), _write("r1")]
    ledger = Ledger(known, continuing=True)
    assert ledger.facts.blocked == {"book": "r1"}
    assert ledger.may_send_again("r2", *ANN)
    assert not ledger.may_send_again("r2", "book", lambda _: False)
    again = Ledger([*known, _start(segment=2), _write("r2", earlier="r1")])
    assert [d["id"] for d in again.unanswered] == ["r2"], "r1 is on its way as r2"
    assert again.facts.blocked == {"book": "r1"}
    assert again.may_send_again("r2", *ANN)
    assert not again.may_send_again("r3", *ANN)
    assert not Ledger(known).may_send_again("r1", *ANN)


def test_what_is_said_before_a_segment_answers_counts_among_its_facts() -> None:
    said = {"id": "r1", "attempt": 1, "outcome": "done", "content": "B8", "by": "user"}
    known = [_start(), _write("r1"), _start(segment=2), Event("resolution", 0, 0.0, said)]
    assert [r.content for r in Ledger(known).facts.results] == ["B8"]
    fresh = Ledger(known[:2], continuing=True)
    fresh.resolve(said)
    assert [r.content for r in fresh.facts.results] == ["B8"]
    late = [*known[:3], event("model", "", 0), known[3]]
    assert not Ledger(late).facts.results, "what a segment has seen does not change"
