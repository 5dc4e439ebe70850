"""Facts without I/O: what a policy reads and notes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.nouns.types import READ, WRITE, Skip, Tool, ToolCall, ToolResult

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


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("Open two tickets about the screen.", True),
        ("Open a ticket about the screen.", False),
        ("Open 5 tickets about the screen, 5 in all.", True),
    ],
)
def test_a_write_that_was_not_made_again_is_told_where_it_may_be_meant(
    query: str, told: bool
) -> None:
    tools = (Tool("open_ticket", effects=WRITE), LOOK)
    made = RunFacts(RunState(Asked(query), tools))
    made.take_results(
        [ToolResult("r1", "open_ticket", {"about": "screen"}), ToolResult("r2", "look", {})]
    )
    for id_, name in (("r1", "open_ticket"), ("r1", "open_ticket"), ("r2", "look")):
        made.state = made.state.with_skips([Skip(name, "the same")], id_)
    assert [skip.tool for skip in made.not_repeated] == ["open_ticket"] * told
    made.state = replace(made.state, repeated=())
    assert made.not_repeated == ()


@pytest.mark.parametrize(
    ("reason", "is_question"),
    [
        ("How many pieces of A-100 should I order?", True),
        ("¿Para qué día quieres el recordatorio?", True),
        ("要存多少钱？", True),
        ("The quantity is missing.", False),
        ("I have cancelled it. Anything else?", False),
        ("done", False),
    ],
)
def test_a_reason_that_is_one_question_is_asked_of_the_user(reason: str, is_question: bool) -> None:
    made = facts()
    made.take_reason(f" {reason} ")
    assert made.asked_back == (reason if is_question else "")
