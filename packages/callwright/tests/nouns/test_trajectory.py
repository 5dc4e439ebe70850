"""Trajectories: calls keep their results, and what came before a round says nothing of what came
after.
"""

from callwright import Tool
from callwright.nouns.errors import Failure
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import ToolCall, ToolResult


def result(call, failure=None):
    return ToolResult(
        call.id, call.tool, call.arguments, None if failure else {"ok": True}, failure
    )


FIND = ToolCall("1", "find", {"name": "Luke"})
READ = ToolCall("2", "read", {"id": 7})
FAILED = Failure("tool_error", "no such id")
TRAJECTORY = Trajectory(
    "G1@1",
    "Read Luke.",
    (Tool("find"), Tool("read")),
    (
        Step("first", (FIND,), (result(FIND),)),
        Step("then", (READ, FIND), (result(FIND), result(READ, FAILED))),
    ),
    answer="Nothing.",
)


def test_every_call_has_its_own_result_whatever_their_order():
    assert [(at, call.tool, found.ok) for at, call, found in TRAJECTORY.pairs()] == [
        (0, "find", True),
        (1, "read", False),
        (1, "find", True),
    ]


def test_a_call_that_was_never_carried_out_has_no_result():
    step = Step(calls=(FIND, READ), results=(result(FIND),))
    assert step.pairs == ((FIND, result(FIND)), (READ, None))
    assert not step.ok


def test_a_round_is_well_only_where_something_was_called_and_all_of_it_came_back_well():
    assert TRAJECTORY.steps[0].ok
    assert not TRAJECTORY.steps[1].ok
    assert not Step("only thought").ok


def test_what_came_before_a_round_holds_neither_that_round_nor_the_answer():
    before = TRAJECTORY.before(1)
    assert before.steps == TRAJECTORY.steps[:1]
    assert before.answer is None
    assert before.query == TRAJECTORY.query


def test_the_key_is_that_of_request_and_tools_in_any_order():
    turned = Trajectory("other", "Read Luke.", (Tool("read"), Tool("find")))
    assert turned.key == TRAJECTORY.key != Trajectory("other", "Read Mark.", turned.tools).key


def test_a_tool_nobody_offered_is_none():
    assert TRAJECTORY.tool("find") == Tool("find")
    assert TRAJECTORY.tool("seek") is None
