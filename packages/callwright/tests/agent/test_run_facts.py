"""Facts without I/O: what a policy reads and notes."""

from __future__ import annotations

from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.nouns.types import READ, Skip, Tool, ToolCall, ToolResult

LOOK = Tool("look", effects=READ)


def facts(*results: ToolResult) -> RunFacts:
    made = RunFacts(RunState(Asked("Where is Oslo?"), (LOOK,)))
    made.take_results(results)
    return made


def test_results_are_sources_of_values_until_they_are_superseded() -> None:
    known = facts(ToolResult("r1", "look", {"q": "Oslo"}, {"code": "OSL"}))
    assert known.succeeded == {"look"}
    assert known.sources.holds("OSL")
    known.supersede(["r1"], "r2", "it says better")
    assert (known.results, known.sources.holds("OSL")) == ((), False)


def test_going_back_keeps_what_was_denied() -> None:
    known = facts()
    mark = known.mark()
    known.skip([Skip("look", "not needed")])
    known.deny(ToolCall("r1", "look", {}), "not allowed")
    known.rewind(mark)
    assert known.skips == ()
    assert [skip.reason for skip in known.denied] == ["not allowed"]


def test_results_of_earlier_turns_give_values_and_count_for_no_call() -> None:
    before = ToolResult("r1", "look", {"q": "Oslo"}, {"code": "OSL"})
    known = RunFacts(RunState(Asked("And now?", earlier=(before,)), (LOOK,)))
    assert known.sources.holds("OSL")
    assert known.succeeded == set()


def test_facts_alone_grant_no_recovery() -> None:
    assert facts().granted() is False
