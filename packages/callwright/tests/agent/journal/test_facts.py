"""What a journal tells of the calls of a run, whatever was asked for them."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.agent.journal.facts import EarlierCall, fold_facts
from callwright.nouns.errors import Failure
from callwright.nouns.trace import Event
from callwright.nouns.types import READ, WRITE, Effects, to_json

KEYED = Effects(read_only=False, destructive=False, keyed=True)
LOST = Failure("timeout", "timed out", outcome_unknown=True)
REFUSED = Failure("tool_error", "no room left", not_done=True)


def event(kind: str, **data: Any) -> Event:
    return Event(kind, 0, 0.0, data)


def intent(id_: str, effects: Effects = WRITE, attempt: int = 1, **more: Any) -> Event:
    told = {"tool": "book", "arguments": {"guest": "Ann"}, "effects": to_json(effects)}
    return event("intent", id=id_, attempt=attempt, key=f"key of {id_}", **told, **more)


def result(id_: str, failure: Failure | None = None, attempt: int = 1, **more: Any) -> Event:
    told = {"tool": "book", "arguments": {"guest": "Ann"}, "content": None if failure else "B7"}
    said = to_json(failure) if failure else None
    return event("result", id=id_, attempt=attempt, **{**told, "failure": said, **more})


def resolution(id_: str, outcome: str, **more: Any) -> Event:
    return event("resolution", id=id_, attempt=1, outcome=outcome, by="user", **more)


def test_nothing_tells_nothing() -> None:
    facts = fold_facts([])
    assert (facts.results, facts.calls, facts.doubtful, facts.numbered) == ((), (), (), 0)


def test_a_write_that_was_made_stands_for_the_same_call_and_keeps_what_it_returned() -> None:
    facts = fold_facts([intent("r2"), result("r2")])
    assert [(r.id, r.content) for r in facts.results] == [("r2", "B7")]
    [call] = facts.calls
    assert (call.tool, call.arguments, call.key) == ("book", {"guest": "Ann"}, "key of r2")
    assert call.result == facts.results[0]
    assert facts.numbered == 2
    assert not facts.blocked


@pytest.mark.parametrize(("effects", "is_blocked"), [(WRITE, True), (KEYED, True)])
def test_a_write_that_may_have_happened_is_in_doubt_and_its_tool_is_not_called(
    effects: Effects, is_blocked: bool
) -> None:
    facts = fold_facts([intent("r1", effects), result("r1", LOST)])
    assert [r.id for r in facts.doubtful] == ["r1"]
    assert (facts.blocked == {"book": "r1"}) is is_blocked
    [call] = facts.calls
    assert (call.result is None) is effects.may_repeat, "the same call may be sent with its key"


def test_an_idempotent_write_in_doubt_blocks_nothing() -> None:
    effects = Effects(read_only=False, destructive=False, idempotent=True)
    facts = fold_facts([intent("r1", effects), result("r1", LOST)])
    assert [r.id for r in facts.doubtful] == ["r1"]
    assert not facts.blocked


def test_what_certainly_did_nothing_leaves_nothing() -> None:
    facts = fold_facts([intent("r1"), result("r1", REFUSED), result("r2", LOST)])
    assert (facts.results, facts.doubtful, facts.calls) == ((), (), ())
    assert facts.numbered == 2


def test_a_call_whose_process_ended_is_open_under_its_key() -> None:
    facts = fold_facts([intent("r3", KEYED)])
    assert facts.calls == (EarlierCall("r3", "book", {"guest": "Ann"}, "key of r3"),)
    assert [(r.id, r.ok) for r in facts.doubtful] == [("r3", False)]


def test_a_replayed_result_does_not_close_a_later_sending() -> None:
    known = [intent("r1", KEYED), result("r1", REFUSED), intent("r1", KEYED, attempt=2)]
    facts = fold_facts([*known, result("r1", REFUSED)])
    assert [call.id for call in facts.calls] == ["r1"]
    assert fold_facts([*known, result("r1", REFUSED), result("r1", attempt=2)]).results


def test_what_was_said_of_a_call_in_doubt_counts() -> None:
    done = fold_facts([intent("r1"), resolution("r1", "done", content="B9")])
    assert [r.content for r in done.results] == ["B9"]
    failed = fold_facts([intent("r1"), resolution("r1", "failed", message="no room")])
    assert (failed.results, failed.calls) == ((), ())
    assert [skip.reason for skip in failed.skips] == ["r1 failed: no room"]
    assert fold_facts([intent("r1"), resolution("r1", "not_done")]).calls == ()
    assert fold_facts([result("r2"), resolution("r9", "not_done")]).results


def test_results_that_no_longer_count_are_no_results_and_a_write_among_them_stays_made() -> None:
    stale = event("stale", results=["r1", "r2"], written=["r3"], by="r4", reason="newer")
    read = result("r1", tool="find", arguments={})
    facts = fold_facts([read, intent("r2"), result("r2"), intent("r3"), result("r3"), stale])
    assert [r.id for r in facts.results] == ["r3"]
    assert [call.id for call in facts.calls] == ["r2", "r3"]
    assert facts.stale_writes == {"r3"}


def test_a_call_of_a_later_segment_takes_the_place_of_the_one_it_stands_for() -> None:
    first = [intent("r1", KEYED), intent("r2"), result("r2")]
    served = result("r4", earlier="r2", recorded=True)
    facts = fold_facts([*first, intent("r3", KEYED, earlier="r1"), result("r3"), served])
    assert [r.id for r in facts.results] == ["r3", "r4"]
    assert not facts.doubtful
    shown_again = result("r2", earlier="r2", recorded=True)
    assert len(fold_facts([*first, shown_again]).calls) == 2


def test_what_a_sandbox_throws_away_is_in_doubt_nowhere() -> None:
    start = event("run.start", sandbox=True)
    facts = fold_facts([start, intent("r1"), result("r1", LOST), intent("r2")])
    assert (facts.doubtful, facts.calls) == ((), ())


def test_refusals_are_kept_and_those_that_were_made_good_are_not() -> None:
    facts = fold_facts(
        [
            event("approval", id="r1", tool="cancel", granted=False, by="user"),
            event("skip", tool="cancel", reason="not allowed", slot=""),
            event("skip", tool="cancel", reason="the model saw no use", slot=""),
            event("skip", tool="book", reason="not called", slot="", refused=True),
            result("r2"),
        ]
    )
    assert [(s.tool, s.reason) for s in facts.skips] == [("cancel", "not allowed")]


def test_the_last_plan_is_kept() -> None:
    slot = {"id": "a", "tool": "book", "after": [], "reason": "", "probabilities": []}
    facts = fold_facts([event("plan", slots=[slot], revision=3)])
    assert facts.plan is not None
    assert (facts.plan.revision, [s.tool for s in facts.plan.slots]) == (3, ["book"])


def test_what_another_version_stored_beside_is_left_out() -> None:
    strange = {**to_json(LOST), "mood": "bad"}
    effects = {**to_json(WRITE), "colour": "red"}
    odd = event("intent", id="r1", attempt=1, key="k", tool="book", arguments={}, effects=effects)
    told = event("result", id="r1", attempt=1, tool="book", arguments={}, failure=strange, odd=1)
    assert [r.id for r in fold_facts([odd, told]).doubtful] == ["r1"]
    assert fold_facts([event("result", id="r2", tool="t", arguments={}, failure=None)]).results
    assert READ.may_repeat
