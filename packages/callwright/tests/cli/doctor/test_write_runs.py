"""The loop does what an agent does, and the judge counts what went wrong."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.cli.doctor.endpoint import Answered
from callwright.cli.doctor.write_cases import Call, World, WriteCase, read_cases
from callwright.cli.doctor.write_runs import (
    ENDLESS,
    IN_TEXT,
    MISSING,
    REPEATED,
    SILENT,
    TALK,
    UNASKED,
    UNSAID,
    WRONG,
    build_conversation,
    build_record,
    count_faults,
    count_requests,
    judge_case,
    judge_writes,
    run_case,
    run_cases,
    tell_guard,
)
from callwright.models.write_record import WriteRecord
from callwright.nouns.types import ToolCall
from tests.cli.scripted_writes import CASES, Worker

BY_NAME = {case.name: case for case in CASES.values()}


async def test_a_model_that_does_every_job_right_is_trusted() -> None:
    outcomes = await run_cases(Worker().ask)
    assert [outcome.case for outcome in outcomes if outcome.faults] == []
    record = build_record(outcomes)
    assert record is not None
    assert (record.right, record.of) == (len(BY_NAME), count_requests()[0])
    assert record.is_trusted
    finding = judge_writes(outcomes)
    assert finding.verdict == "good"
    assert "only reports" in finding.advice


@pytest.mark.parametrize(
    ("habit", "fault", "verdict"),
    [
        ("repeats", REPEATED, "mended"),
        ("invents", UNASKED, "mended"),
        ("guesses", UNASKED, "mended"),
        ("misses", MISSING, "unclear"),
        ("silent", SILENT, "unclear"),
        ("written", IN_TEXT, "unclear"),
    ],
)
async def test_every_habit_is_seen_and_costs_the_trust(
    habit: str, fault: str, verdict: str
) -> None:
    outcomes = await run_cases(Worker(habit).ask)
    assert count_faults(outcomes)[fault] > 1
    record = build_record(outcomes)
    assert record is not None
    assert not record.is_trusted
    finding = judge_writes(outcomes)
    assert finding.verdict == verdict
    assert fault in finding.said
    assert finding.advice == tell_guard(record)
    assert "acts" in finding.advice


async def test_one_job_done_wrong_is_named_and_costs_no_trust() -> None:
    outcomes = await run_cases(Worker("repeats", only=["once-arabic"]).ask)
    finding = judge_writes(outcomes)
    assert finding.verdict == "good"
    assert finding.said.endswith("small jobs done right; repeated writes (once-arabic)")


async def test_a_model_that_never_ends_is_stopped() -> None:
    worker = Worker("endless")
    assert (await run_case(worker.ask, BY_NAME["thanks-english"])).faults == (ENDLESS,)
    assert (await run_case(worker.ask, BY_NAME["once-english"])).faults == (MISSING, ENDLESS)


async def test_a_case_without_an_answer_is_not_recorded_and_ends_the_run() -> None:
    asked = 0

    async def ask(_: Any, **_more: Any) -> Answered:
        nonlocal asked
        asked += 1
        return Answered(400, problem="status 400: no tools here")

    outcomes = await run_cases(ask)
    assert asked == 1
    assert build_record(outcomes) is None
    finding = judge_writes(outcomes)
    assert finding.verdict == "unclear"
    assert "no tools here" in finding.said
    known = WriteRecord(29, 29, "2026-11-24")
    assert judge_writes(outcomes, known).advice == tell_guard(known), "what is on record holds on"
    assert build_record([]) is None


ORDER = Call("place_order", {"code": "A-100", "quantity": 3})
OTHER = Call("place_order", {"code": "A-100", "quantity": 4})
CASE = WriteCase("x", ("Order.",), writes=(ORDER,))


@pytest.mark.parametrize(
    ("case", "made", "text", "faults"),
    [
        (CASE, [ORDER], "Done.", []),
        (CASE, [OTHER], "Done.", [WRONG]),
        (CASE, [ORDER, OTHER], "Done.", [UNASKED]),
        (CASE, [ORDER, ORDER, ORDER], "Done.", [REPEATED, REPEATED]),
        (CASE, [], "", [MISSING, SILENT]),
        (WriteCase("x", ("a", "b"), before=(ORDER,)), [ORDER], "Done.", [REPEATED]),
        (WriteCase("x", ("a", "b"), writes=(ORDER,), before=(ORDER,)), [ORDER], "Done.", []),
        (WriteCase("x", ("How many?",), says=("420",)), [], "There are 42.", [UNSAID]),
    ],
)
def test_writes_are_compared_one_by_one(
    case: WriteCase, made: list[Call], text: str, faults: list[str]
) -> None:
    assert judge_case(case, made, len(made), text) == faults


def test_small_talk_makes_no_call_not_even_a_read() -> None:
    talk = WriteCase("x", ("Hello!",), talk=True)
    assert judge_case(talk, [], 1, "Hello.") == [TALK]
    assert judge_case(talk, [], 0, "Hello.") == []


def test_what_came_before_stands_in_the_conversation() -> None:
    messages: list[Any] = build_conversation(BY_NAME["one-more-english"], World())
    assert [message["role"] for message in messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"]
    assert "O-501" in messages[2]["content"]


async def test_arguments_that_are_no_object_come_back_as_an_error() -> None:
    seen: list[Any] = []

    async def ask(messages: list[Any], **_more: Any) -> Answered:
        seen[:] = messages
        if len(messages) > 1:
            return Answered(text="I cannot.")
        return Answered(calls=(ToolCall("", "place_order", "{"),))

    outcome = await run_case(ask, BY_NAME["once-english"])
    assert outcome.faults == (MISSING,)
    assert seen[1]["tool_calls"][0]["id"] == seen[2]["tool_call_id"] != ""
    assert "no JSON object" in seen[2]["content"]


def test_the_guard_is_told_in_one_line() -> None:
    assert tell_guard(None).startswith("--guard auto acts: this model's writes")
    assert tell_guard(WriteRecord(10, 29, "")).startswith("--guard auto acts: fewer than 95 %")
    assert tell_guard(WriteRecord(28, 29, "")).startswith("--guard auto only reports")
    assert len(read_cases()[1]) == count_requests()[0]
