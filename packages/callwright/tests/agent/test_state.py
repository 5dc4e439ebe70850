"""The facts of a run: a frozen value, and going back to an earlier one."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest

from callwright.agent.journal.facts import RecordedFacts
from callwright.agent.state import Asked, DeferredCall, DeniedCall, MadeCall, RunState
from callwright.nouns.errors import Failure
from callwright.nouns.types import CheckedCall, Skip, Tool, ToolCall, ToolResult
from callwright.repair.gate import Gate

FIRST, SECOND = ToolResult("r1", "look", {}, "alpha"), ToolResult("r2", "look", {}, "beta")
STATE = RunState(
    Asked("Look."),
    (Tool("look"),),
    (MadeCall(b"a", "r1"), MadeCall(b"b", "r2")),
    (FIRST, SECOND),
)


def test_a_state_is_a_value() -> None:
    with pytest.raises(FrozenInstanceError):
        STATE.results = ()  # type: ignore[misc]
    assert all(not isinstance(getattr(STATE, one.name), list | set) for one in fields(RunState))
    assert is_dataclass(STATE.open)
    assert RunState(Asked("Look."), (Tool("look"),), STATE.made, (FIRST, SECOND)) == STATE


def test_what_is_superseded_no_longer_counts_and_its_call_may_be_made_anew() -> None:
    after = STATE.superseded(["r1"], ["r2"])
    assert after.valid_results == (SECOND,)
    assert after.stale_writes == {"r2"}
    assert after.made == (MadeCall(b"b", "r2"),)
    assert STATE.valid_results == (FIRST, SECOND)


def test_a_retry_takes_the_place_of_the_call_that_it_repeats() -> None:
    repeated = RunState(made=(MadeCall(b"a", "r1"), MadeCall(b"a", "r2")))
    assert repeated.reopened(["r2"]).made == ()
    assert repeated.reopened(["r1"]).made == (MadeCall(b"a", "r2"),)


def test_a_tool_that_is_taught_takes_the_place_of_the_one_it_was() -> None:
    taught = Tool("look", "takes a whole number")
    assert STATE.with_tool(taught).tools == (taught,)
    assert STATE.with_tool(Tool("note")).tools == (Tool("look"), Tool("note"))


def test_what_is_open_is_closed_again() -> None:
    call = Gate([Tool("look")]).check(ToolCall("r3", "look", {}))
    assert isinstance(call, CheckedCall)
    state = STATE.with_lacking("look").with_deferred("look", DeferredCall(call, ("r3",)))
    assert state.open.lacking == {"look": 2}
    assert state.open.deferred == {"look": (DeferredCall(call, ("r3",)),)}
    closed = state.without_lacking(["look"]).without_deferred(["look"])
    assert closed == STATE


def test_what_was_not_done_or_is_in_doubt_is_so_in_every_branch() -> None:
    failed = ToolResult("r3", "pay", {}, failure=Failure("timeout", "no answer"))
    denied = DeniedCall("wipe", "{}", Skip("wipe", "the user said no", refused=True))
    later = STATE.with_skips([denied.skip]).with_denied(denied).with_doubt(failed)
    assert later.skips == (denied.skip,)
    back = later.rewound_to(STATE)
    assert back.skips == ()
    assert back.lasting.denied == (denied,)
    assert back.lasting.doubts == {"r3": failed}
    assert STATE.lasting.denied == ()


def test_what_earlier_segments_leave_in_doubt_holds_in_every_branch() -> None:
    failed = ToolResult("r8", "pay", {}, failure=Failure("timeout", "no answer"))
    kept = ToolResult("r9", "keep", {}, failure=Failure("timeout", "no answer"))
    facts = RecordedFacts(
        doubtful=(failed, kept), blocked={"pay": "r8"}, stale_writes=frozenset(["r2"])
    )
    begun = STATE.with_facts(facts)
    assert begun.results == STATE.results, "results come into view by themselves"
    assert begun.stale_writes == {"r2"}
    lasting = begun.rewound_to(STATE).lasting
    assert (lasting.doubts, lasting.blocked) == ({"r8": failed, "r9": kept}, {"pay": "r8"})


def test_a_tool_is_blocked_by_its_first_doubtful_write_unless_it_may_be_sent_again() -> None:
    first, second = (ToolResult(f"r{n}", "pay", {}) for n in (8, 9))
    state = STATE.with_doubt(first).with_doubt(second)
    assert state.lasting.blocked == {"pay": "r8"}
    assert STATE.with_doubt(first, blocks=False).lasting.blocked == {}


def test_a_call_that_another_stands_for_is_neither_a_result_nor_in_doubt() -> None:
    failed = ToolResult("r8", "pay", {}, failure=Failure("timeout", "no answer"))
    begun = STATE.with_facts(RecordedFacts(doubtful=(failed,), blocked={"pay": "r8"}))
    after = begun.without_calls({"r1", "r8"})
    assert after.results == (SECOND,)
    assert (after.lasting.doubts, after.lasting.blocked) == ({}, {})
