"""A trace is sorted for a reader without losing or misplacing anything."""

from __future__ import annotations

from callwright.nouns.errors import Failure
from callwright.nouns.trace import Event, Trace
from callwright.nouns.types import Edit, Skip, ToolResult, to_json
from callwright.viewer.story import Stage, read_story


def _result(id_: str, failure: Failure | None = None, attempt: int = 1) -> dict[str, object]:
    found: dict[str, object] = to_json(
        ToolResult(id_, "t", {}, 1, failure, slot="t", attempt=attempt)
    )
    return found


def layered() -> list[Event]:
    trace = Trace()
    trace.add("run.start", query="q", tools=[])
    trace.add("layer", index=1, total=2, slots=["t"])
    trace.add("model", purpose="bind")
    trace.add("call.raw", id="r1", tool="t", arguments={}, slot="t")
    trace.add("call.checked", id="r1", arguments={}, edits=[Edit("/a", 1, 2, "x")])
    trace.add("result", **_result("r1", Failure("timeout", "slow")))
    trace.add(
        "call.repair",
        id="r1",
        tier=2,
        before={},
        after={},
        edits=[Edit("/a", 1, 2, "x"), Edit("/b", 1, 2, "y")],
    )
    trace.add("result", **_result("r1", attempt=2))
    trace.add("layer", index=2, total=2, slots=["u"])
    trace.add("skip", **to_json(Skip("u", "no need", "u")))
    trace.add("limit", limit="repairs")
    trace.add("model", purpose="answer")
    return trace.events


def notes(stage: Stage) -> list[str]:
    return [note.text for note in stage.notes]


def test_calls_belong_to_their_layer_and_keep_their_history() -> None:
    story = read_story(layered())
    first, second = story.stages
    assert [c.id for c in first.calls] == ["r1"]
    assert [r.data["attempt"] for r in first.calls[0].results] == [1, 2]
    assert [e["rule"] for e in first.calls[0].edits] == ["x", "y"]
    assert first.calls[0].state == "ok"
    assert second.skips[0].data["reason"] == "no need"
    assert notes(second) == ["limit reached: repairs"]
    assert len(story.closing) == 1


def test_a_slot_is_as_good_as_its_best_call() -> None:
    assert read_story(layered()).states == {"t": "ok", "u": "skipped"}


def test_a_run_without_layers_has_one_stage_per_question() -> None:
    trace = Trace()
    for number in (1, 2):
        trace.add("model", purpose="bind")
        trace.add("call.raw", id=f"r{number}", tool="t", arguments={})
    story = read_story(trace.events)
    assert [(s.title, [c.id for c in s.calls]) for s in story.stages] == [
        ("Turn 1", ["r1"]),
        ("Turn 2", ["r2"]),
    ]


def test_what_no_longer_counts_and_what_was_asked_stand_at_their_calls() -> None:
    trace = Trace()
    trace.add("layer", index=1, total=1, slots=[])
    for number in (1, 2):
        trace.add("call.raw", id=f"r{number}", tool="t", arguments={}, slot="t")
        trace.add("result", **_result(f"r{number}"))
    trace.add("stale", results=["r1", "gone"], by="r2", reason="it says something else", written=[])
    trace.add(
        "approval",
        id="r2",
        tool="t",
        arguments={},
        why="it may write",
        origins={},
        granted=True,
        by="user",
    )
    trace.add("resolution", id="r2", attempt=1, outcome="done", by="user")
    trace.add("model", purpose="answer")
    trace.add("model", purpose="answer.restate")
    story = read_story(trace.events)
    first, second = story.stages[0].calls
    assert (first.stale, second.stale) == ("since r2: it says something else", "")
    assert first.asked is None
    assert second.asked is not None
    assert "r2 was in doubt: done, said the user" in notes(story.stages[0])
    assert len(story.closing) == 2, "a statement put again belongs to the answer"


def test_each_program_of_the_model_is_a_turn_with_what_it_printed() -> None:
    trace = Trace()
    trace.add("run.start", query="q", tools=[])
    ends = {"answer": None, "given_up": None, "thought": "", "calls": []}
    for number, stop in enumerate(("", "time")):
        trace.add("model", purpose="code")
        trace.add("call.raw", id=f"r{number}", tool="t", arguments={}, slot="t")
        trace.add("round", **ends, code="print(t())", shown="1", stop=stop)
    trace.add("model", purpose="code")
    trace.add("round", **{**ends, "given_up": "no tool"}, code=None, shown="", stop="")
    first, second, last = read_story(trace.events).stages
    assert ([c.id for c in first.calls], notes(first)) == (["r0"], ["printed: 1"])
    assert ([c.id for c in second.calls], notes(second)) == (["r1"], ["printed: 1 (stopped: time)"])
    assert notes(last) == ["the model gave up: no tool"]
