"""What is known of one candidate: its standing, and the words for it."""

from __future__ import annotations

from typing import Any

from callwright.agent.probing.attempt import Attempt
from callwright.agent.probing.candidate import Candidate
from callwright.testing import FakeTool
from callwright.tools.evidence import Observation

TOOL = FakeTool("search").tool


def attempt(
    outcome: Any = "functional_success",
    *,
    proves: bool = True,
    simulated: bool = False,
    **more: Any,
) -> Attempt:
    seen = Observation(
        "search",
        TOOL.digest,
        outcome,
        {"q": "x"},
        proof="as seen",
        simulated=simulated,
        seconds=0.5,
    )
    return Attempt(seen, content={"n": 1}, whole=True, proves=proves, **more)


def candidate(*attempts: Attempt, closed: bool = True) -> Candidate:
    return Candidate(TOOL, 3, 0.5, list(attempts), closed)


def test_a_candidate_is_open_until_it_is_closed() -> None:
    assert candidate(attempt("execution_failure"), closed=False).standing == "open"
    assert candidate().standing == "kept"


def test_one_proof_fails_it_and_one_doubt_keeps_it() -> None:
    failed, guess = (
        attempt("semantic_mismatch", blames_arguments=True),
        attempt("parameter_mismatch", proves=False),
    )
    assert candidate(failed).standing == "failed"
    assert candidate(guess, failed).standing == "kept"
    assert candidate(guess, attempt("execution_failure")).standing == "failed", (
        "that is no matter of arguments"
    )


def test_one_success_outweighs_what_failed_before() -> None:
    one = candidate(attempt("parameter_mismatch"), attempt())
    assert (one.standing, one.works) == ("kept", True)
    assert one.ranked().outcome == "functional_success"
    assert one.ranked().justification.startswith("SUCCESS: as seen in 0.50 s")


def test_a_simulated_success_is_marked_and_feeds_nobody() -> None:
    one = candidate(attempt(simulated=True))
    shown = one.ranked()
    assert (shown.simulated, shown.works, shown.seconds, one.result) == (True, False, None, None)
    assert shown.justification.startswith("SIMULATED")


def test_what_proved_nothing_has_no_outcome_and_says_why() -> None:
    shown = candidate(attempt("semantic_mismatch", proves=False)).ranked()
    assert shown.outcome is None
    assert shown.justification == "nothing proved: as seen"


def test_where_it_comes_from_is_told() -> None:
    one = candidate(attempt(remembered=True))
    one.fed_by = ("find_user",)
    assert one.ranked().justification.endswith("(after find_user) (remembered)")


def test_what_was_not_tried_says_why_too() -> None:
    assert (
        candidate().ranked().justification == "not tried: the first places were settled without it"
    )
