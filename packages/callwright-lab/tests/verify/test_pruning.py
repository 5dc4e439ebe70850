"""What is taken out of a trajectory because it stood there before, and what stays."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.errors import Failure
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import READ, WRITE, Tool, ToolCall, ToolResult
from callwright_lab.verify.pruning import prune_repeats
from callwright_lab.verify.steps import step_faults

TEXT = {"type": "string"}
FIND = Tool(
    "find", "", {"type": "object", "properties": {"name": TEXT}, "required": ["name"]}, effects=READ
)
NOTE = Tool(
    "note",
    "",
    {"type": "object", "properties": {"text": TEXT}, "required": ["text"]},
    effects=WRITE,
)


def step(number: int, *names: str, came: Any = None, tool: Tool = FIND, code: str = "") -> Step:
    key = next(iter(tool.properties))
    calls = tuple(
        ToolCall(f"c{number}.{n}", tool.name, {key: name}) for n, name in enumerate(names)
    )
    results = tuple(
        ToolResult(c.id, c.tool, c.arguments, None, came)
        if isinstance(came, Failure)
        else ToolResult(c.id, c.tool, c.arguments, came or {"age": len(str(c.arguments))})
        for c in calls
    )
    return Step(f"thought {number}", calls, results, code)


def made(*steps: Step) -> Trajectory:
    return Trajectory("t", "How old are Ada and Bo?", (FIND, NOTE), steps, "17 and 16")


def test_a_round_that_only_repeats_goes_and_the_rest_stays_as_it_was() -> None:
    steps = (step(0, "Ada"), step(1, "Ada"), step(2, "Bo"), step(3, "Bo", "Ada"))
    left, gone = prune_repeats(made(*steps))
    assert (left.steps, gone) == ((steps[0], steps[2]), (1, 3))
    assert (left.answer, left.query) == ("17 and 16", "How old are Ada and Bo?")


def test_a_round_that_calls_something_new_besides_stays() -> None:
    whole = made(step(0, "Ada"), step(1, "Ada", "Bo"))
    assert prune_repeats(whole) == (whole, ())


def test_a_call_that_had_to_be_made_again_stays() -> None:
    busy = Failure("rate_limit", "too many requests", retryable=True)
    changed = made(
        step(0, "Ada", came={"age": 1}), step(1, "x", tool=NOTE), step(2, "Ada", came={"age": 2})
    )
    for whole in (made(step(0, "Ada", came=busy), step(1, "Ada")), changed):
        assert prune_repeats(whole) == (whole, ())


def test_a_program_stays_whose_variable_a_later_one_uses_or_that_cannot_be_read() -> None:
    first, again = step(0, "Ada", code="print(find(name='Ada'))"), "a = find(name='Ada')"
    after = step(2, "Bo", code="print(find(name='Bo')['age'] + a['age'])")
    for code in (again, "a = find("):
        whole = made(first, step(1, "Ada", code=code), after)
        assert prune_repeats(whole) == (whole, ())
    unused = made(
        first, step(1, "Ada", code=again), step(2, "Bo", code="a = 1\nprint(find(name='Bo'))")
    )
    assert prune_repeats(unused)[1] == (1,)


@given(
    st.lists(
        st.lists(st.sampled_from(["Ada", "Bo", "Cy"]), min_size=1, max_size=2, unique=True),
        max_size=6,
    )
)
def test_no_result_is_lost_and_no_round_that_only_repeats_is_left(names: list[list[str]]) -> None:
    whole = made(*(step(n, *row) for n, row in enumerate(names)))
    left, gone = prune_repeats(whole)
    assert len(left.steps) + len(gone) == len(whole.steps)
    told = [{str(r.content) for r in t.results} for t in (whole, left)]
    assert told[0] == told[1]
    repeats = {(f.step, f.call) for f in step_faults(left, ["repeated_call"])}
    assert not any(
        s.calls and all((n, c.id) in repeats for c in s.calls) for n, s in enumerate(left.steps)
    )
