"""What holds of every format that is written: nothing is lost in either direction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import ToolCall, ToolResult
from callwright_lab.transcripts import (
    FORMATS,
    WRITTEN,
    Transcript,
    normalize_trajectory,
    read_record,
    write,
)
from callwright_lab.transcripts.transcript import parse_result, render_result
from tests.transcripts.trajectories import EXAMPLE, trajectories, values

ONE_CALL = ("tooleval",)  # a node of a chain is one call
CODE = ("toolbench-vr",)
MEMBERS = st.dictionaries(st.sampled_from(["source", "meta", "score", "split"]), values, max_size=3)


def _said(name: str, trajectory: Trajectory) -> Trajectory:
    return normalize_trajectory(trajectory, code=name in CODE)


@pytest.mark.parametrize("name", WRITTEN)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_what_is_written_of_a_trajectory_reads_as_the_same_trajectory(
    name: str, data: st.DataObject
) -> None:
    trajectory = _said(name, data.draw(trajectories(1 if name in ONE_CALL else 2)))
    record = write(Transcript(trajectory), FORMATS[name])
    assert FORMATS[name].recognises(record) or not trajectory.steps
    back = read_record(record, format=name, id=trajectory.id).trajectory
    assert replace(back, tools=()) == replace(trajectory, tools=())
    assert [t.name for t in back.tools] == [t.name for t in trajectory.tools]
    assert [t.input_schema for t in back.tools] == [t.input_schema for t in trajectory.tools]


@pytest.mark.parametrize("name", WRITTEN)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_record_that_is_read_and_written_is_the_same_record_unknown_members_included(
    name: str, data: st.DataObject
) -> None:
    trajectory = _said(name, data.draw(trajectories(1 if name in ONE_CALL else 2)))
    made = {
        **write(Transcript(trajectory), FORMATS[name]),
        **{f"x_{k}": v for k, v in data.draw(MEMBERS).items()},
    }
    assert write(read_record(made, format=name), FORMATS[name]) == made


@pytest.mark.parametrize("name", WRITTEN)
def test_a_round_that_is_taken_out_takes_its_messages_and_leaves_all_others_as_they_stood(
    name: str,
) -> None:
    trajectory = _said(name, EXAMPLE if name not in ONE_CALL else _one_by_one(EXAMPLE))
    record = {"x_source": "a shelf", **write(Transcript(trajectory), FORMATS[name])}
    transcript = read_record(record, format=name)
    fewer = replace(transcript.trajectory, steps=transcript.trajectory.steps[1:])
    written = write(replace(transcript, trajectory=fewer), FORMATS[name])
    again = read_record(written, format=name).trajectory
    assert [s.thought for s in again.steps] == [s.thought for s in fewer.steps]
    assert again.answer == EXAMPLE.answer
    assert written["x_source"] == "a shelf"
    assert "no such day" in str(record)
    assert "no such day" not in str(written)


@pytest.mark.parametrize("name", WRITTEN)
def test_loss_taken_from_the_first_rounds_is_kept_where_the_format_can_say_so(name: str) -> None:
    trajectory = _said(name, EXAMPLE if name not in ONE_CALL else _one_by_one(EXAMPLE))
    record = write(Transcript(trajectory, context=frozenset({0})), FORMATS[name])
    expected = frozenset() if name == "tooleval" else frozenset({0})
    assert read_record(record, format=name).context == expected


@pytest.mark.parametrize("source", WRITTEN)
@pytest.mark.parametrize("target", WRITTEN)
def test_every_written_format_converts_into_every_other(source: str, target: str) -> None:
    trajectory = _one_by_one(EXAMPLE)
    first = read_record(write(Transcript(trajectory), FORMATS[source]), id="t-1")
    second = read_record(write(first, FORMATS[target]), id="t-1")
    assert normalize_trajectory(second.trajectory).steps == normalize_trajectory(trajectory).steps
    assert (second.trajectory.query, second.trajectory.answer) == (
        trajectory.query,
        trajectory.answer,
    )


@pytest.mark.parametrize("source", WRITTEN)
@pytest.mark.parametrize("target", WRITTEN)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_any_trajectory_survives_every_pair_of_formats_there_and_back(
    source: str, target: str, data: st.DataObject
) -> None:
    most = 1 if {source, target} & set(ONE_CALL) else 2
    trajectory = normalize_trajectory(
        data.draw(trajectories(most)), code=bool({source, target} & set(CODE))
    )
    first = read_record(write(Transcript(trajectory), FORMATS[source]), format=source, id="t-1")
    there = read_record(write(first, FORMATS[target]), format=target, id="t-1")
    back = read_record(write(there, FORMATS[source]), format=source, id="t-1")
    for found in (there.trajectory, back.trajectory):
        assert replace(normalize_trajectory(found), tools=()) == replace(
            normalize_trajectory(trajectory), tools=()
        )
        assert [(tool.name, tool.input_schema) for tool in found.tools] == [
            (tool.name, tool.input_schema) for tool in trajectory.tools
        ]


@given(values)
def test_the_text_of_a_result_says_the_same_content(content: Any) -> None:
    assert parse_result("r", render_result(ToolResult("r", "t", {}, content))).content == content


def test_a_failure_without_content_is_told_in_words_that_read_as_a_failure() -> None:
    failed = ToolResult("r", "t", {}, failure=Failure("timeout", "took too long"))
    assert parse_result("r", render_result(failed)).failure == Failure(
        "tool_error", "took too long"
    )


def test_what_is_spoken_can_be_spoken_again() -> None:
    for code in (False, True):
        once = normalize_trajectory(EXAMPLE, code=code)
        assert normalize_trajectory(once, code=code) == once


@pytest.mark.parametrize(
    "call", [ToolCall("c", "a-b", {"x": 1}), ToolCall("c", "class", {}), ToolCall("c", "f", "x=")]
)
def test_what_python_cannot_say_gets_no_program_and_is_refused_by_name(call: ToolCall) -> None:
    for calls in ((call,), (ToolCall("d", "day", {}), call)):
        coded = normalize_trajectory(
            Trajectory("t", "q", (), (Step("Look.", calls),), "Done."), code=True
        )
        assert coded.steps[0].code == ""
        with pytest.raises(ConfigError, match=f"{call.tool!r} cannot be called in Python"):
            write(Transcript(coded), FORMATS["toolbench-vr"])


def test_a_last_thought_without_a_call_is_the_answer() -> None:
    assert (
        normalize_trajectory(Trajectory("t", "q", (), (Step("It is four."),))).answer
        == "It is four."
    )


def test_a_record_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="toolbench-vr"):
        read_record({"messages": [{"content": "hi"}]}, format="toolbench-vr")


def _one_by_one(trajectory: Trajectory) -> Trajectory:
    """The same with one call a round."""
    made = []
    for step in trajectory.steps:
        for at, (call, result) in enumerate(step.pairs):
            results = (result,) if result else ()
            made.append(Step(step.thought if at == 0 else "", (call,), results))
    return replace(trajectory, steps=tuple(made))


def test_calls_that_share_an_id_in_different_rounds_get_ids_of_their_own() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    rounds = [
        [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": str(i)},
        ]
        for i in range(2)
    ]
    record = {"messages": [{"role": "user", "content": "q"}, *rounds[0], *rounds[1]]}
    found = read_record(record).trajectory
    assert len({c.id for c in found.calls}) == 2
    assert [r.content for s in found.steps for _, r in s.pairs if r] == [0, 1]


def test_unread_arguments_stay_the_text_they_are() -> None:
    made = Trajectory("t", "q", (), (Step("", (ToolCall("call_1", "f", '{"a": '),)),))
    for name in ("openai", "trl", "sharegpt", "tooleval"):
        back = read_record(write(Transcript(made), FORMATS[name]), format=name).trajectory
        assert back.calls[0].arguments == '{"a": ', name
