from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.types import READ, WRITE, Tool, ToolCall, ToolResult
from callwright.repair.pending import begins_new_jobs, find_follow_up, is_pending


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"status": "pending"}, True),
        ({"state": "IN-PROGRESS"}, True),
        ({"state": "In progress"}, True),
        ({"phase": "Running"}, True),
        ({"done": False}, True),
        ({"done": True}, False),
        ({"status": "completed"}, False),
        ({"status": 202}, False),
        ({"title": "pending"}, False),
        ("pending", False),
        (None, False),
    ],
)
def test_only_states_that_protocols_define_say_that_a_job_goes_on(
    content: Any, expected: bool
) -> None:
    assert is_pending(content) is expected


RUN = Tool("start_report", "", {"properties": {}}, effects=WRITE)
READER = Tool(
    "get_report",
    "",
    {"properties": {"job_id": {"type": "string"}}, "required": ["job_id"]},
    effects=READ,
)


def test_a_job_is_followed_with_the_read_that_takes_what_it_returned() -> None:
    begun = ToolResult("r1", "start_report", {}, {"status": "pending", "job_id": "J-1"})
    assert find_follow_up(begun, [RUN, READER]) == ToolCall("", "get_report", {"job_id": "J-1"})
    read = ToolResult("r2", "get_report", {"job_id": "J-1"}, {"status": "pending"})
    assert find_follow_up(read, [RUN, READER]) == ToolCall("", "get_report", {"job_id": "J-1"})


def test_a_job_is_not_followed_where_nothing_is_declared_or_two_reads_fit() -> None:
    begun = ToolResult("r1", "start_report", {}, {"status": "pending", "job_id": "J-1"})
    undeclared = Tool("get_report", "", READER.input_schema)
    other = Tool("cancel_info", "", READER.input_schema, effects=READ)
    assert find_follow_up(begun, [RUN, undeclared]) is None
    assert find_follow_up(begun, [RUN, READER, other]) is None
    nameless = ToolResult("r1", "start_report", {}, {"status": "pending"})
    assert find_follow_up(nameless, [RUN, READER]) is None
    assert find_follow_up(ToolResult("r1", "start_report", {}, "pending"), [READER]) is None


BY_NUMBER = {"properties": {"job_id": {"type": "integer"}}, "required": ["job_id"]}
START, DETAILS = Tool("start_export"), Tool("export_details", "", BY_NUMBER)


def pending(*told: dict[str, Any], tool: str = "start_export") -> list[ToolResult]:
    return [ToolResult("r", tool, {}, {"status": "pending", **one}) for one in told]


@pytest.mark.parametrize(
    ("told", "tools", "expected"),
    [
        (({"job_id": 1}, {"job_id": 2}), [START, DETAILS], True),
        (({"job_id": 1}, {"job_id": 1}), [START, DETAILS], False),  # it asks for a state
        (({"job_id": 1},), [START, DETAILS], False),  # it may do so
        (({"job_id": 1}, {"job_id": 2}), [START], False),  # it may be no identifier
        (({"done": 10}, {"done": 20}), [START, DETAILS], False),
        (({"job_id": 1}, {"job_id": 2}), [Tool("start_export", "", BY_NUMBER), DETAILS], False),
        (({"job_id": [1]}, {"job_id": [2]}), [START, DETAILS], False),
        ((), [START, DETAILS], False),
    ],
)
def test_equal_calls_that_name_different_jobs_begin_one_each(
    told: tuple[dict[str, Any], ...], tools: list[Tool], expected: bool
) -> None:
    assert begins_new_jobs(pending(*told), tools) is expected


def test_where_a_declared_read_tells_of_a_job_the_call_that_began_it_does_not() -> None:
    start = Tool("start_report")
    assert begins_new_jobs(pending({"job_id": "J-1"}, tool="start_report"), [start, READER])
    assert not begins_new_jobs(pending({"job_id": "J-1"}, tool="get_report"), [start, READER])
