"""What trials came to, as a value, as JSON and as a table."""

from __future__ import annotations

import json

from callwright.agent.probing import Ranked, Trials

CASE = Trials(
    (
        Ranked(
            "kayak",
            2,
            1,
            "functional_success",
            justification="SUCCESS: called with from=SFO, to=JFK",
        ),
        Ranked("skyscanner", 3, 2, "functional_success", True, "SIMULATED"),
        Ranked("send", 4, 3, None, justification="not tried: it may write"),
        Ranked("pro", 1, 4, "parameter_mismatch", justification="missing mandatory 'carrier_code'"),
    ),
    calls=3,
)


def test_the_shortlist_leaves_out_what_was_shown_not_to_serve() -> None:
    assert CASE.names == ("kayak", "skyscanner", "send", "pro")
    assert CASE.shortlist(10) == ("kayak", "skyscanner", "send")
    assert CASE.shortlist(1) == ("kayak",)


def test_only_a_real_success_works() -> None:
    assert [one.works for one in CASE.ranking] == [True, False, False, False]
    assert [one.failed for one in CASE.ranking] == [False, False, False, True]


def test_trials_are_json() -> None:
    made = json.loads(json.dumps(CASE.to_dict()))
    assert made["ranking"][0]["name"] == "kayak"
    assert made["calls"] == 3


def test_the_case_study_has_both_ranks_and_the_justification() -> None:
    lines = CASE.case_study().splitlines()
    assert lines[0] == "| Initial | Final | Tool | Trial result |"
    assert lines[2] == "| 2 | 1 | kayak | SUCCESS: called with from=SFO, to=JFK |"
    assert lines[5] == "| 1 | n/a | pro | missing mandatory 'carrier_code' |"
    assert len(CASE.case_study(2).splitlines()) == 4


def test_what_a_tool_said_cannot_break_the_table() -> None:
    said = Trials((Ranked("a", 1, 1, "functional_success", justification="one | two\nthree"),))
    assert said.case_study().splitlines()[2] == "| 1 | 1 | a | one \\| two three |"
