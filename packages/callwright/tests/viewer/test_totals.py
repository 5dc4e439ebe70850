"""The figures of a run, ended or not."""

from __future__ import annotations

from callwright.nouns.errors import Failure
from callwright.nouns.trace import Trace
from callwright.nouns.types import ToolResult, to_json
from callwright.viewer.story import read_story
from callwright.viewer.totals import RunTotals


def unfinished() -> Trace:
    now = [0.0]
    trace = Trace(clock=lambda: now[0])
    trace.add("run.start", query="q", tools=[])
    trace.add("layer", index=1, total=1, slots=[])
    trace.add("model", purpose="bind", usage={"prompt_tokens": 5, "completion_tokens": 2})
    trace.add("model", purpose="repair", usage={"prompt_tokens": 7, "completion_tokens": "?"})
    for id_ in ("r1", "r2", "r3"):
        trace.add("call.raw", id=id_, tool="t", arguments={}, slot="t")
    trace.add("intent", id="r1", attempt=1, tool="t", arguments={})
    trace.add("result", **to_json(ToolResult("r1", "t", {}, 1, slot="t")))
    failed = ToolResult("r2", "t", {}, failure=Failure("timeout", "slow"), slot="t")
    trace.add("result", **to_json(failed))
    trace.add("approval", id="r3", why="it may write", origins={}, granted=False, by="nobody")
    now[0] = 2.5
    trace.note("a note")
    return trace


def test_the_figures_of_a_run_without_an_end_are_counted() -> None:
    totals = RunTotals.of(read_story(unfinished().events))
    assert (totals.status, totals.seconds) == ("unfinished", 2.5)
    assert (totals.questions, totals.calls, totals.tokens) == (2, 2, ("12", "2"))
    assert (totals.writes, totals.held) == (1, 1)
    assert [call.id for call in totals.failed] == ["r2"]


def test_the_end_of_a_run_says_what_it_cost() -> None:
    trace = unfinished()
    cost = {
        "seconds": 9.0,
        "model_calls": 4,
        "calls": 3,
        "usage": {"prompt_tokens": 100, "completion_tokens": 20},
        "repairs": {"tier1": 1, "tier2": 2, "repeat": 3, "recovery": 4},
    }
    trace.add("run.end", status="answered", limit="", cost=cost)
    totals = RunTotals.of(read_story(trace.events))
    assert (totals.seconds, totals.questions, totals.calls) == (9.0, 4, 3)
    assert (totals.tokens, totals.repairs) == (("100", "20"), ("1", "2", "3", "4"))
