"""ToolBench-V and -R: a record made in their form, and the published samples where they are at hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.transcripts.trajectories import EXAMPLE

from callwright.errors import ConfigError
from callwright.training.sources import data_root
from callwright.trajectory import Step
from callwright.transcripts import FORMATS, Transcript, read_files, read_record, write
from callwright.types import ToolCall, ToolResult

SAMPLES = data_root() / "toolbench_vr"
WRONG = "<thought>\nLook.\n</thought>\n<execute>\n```python\nprint(weather(town='Rome'))\n```\n</execute>"
RIGHT = (
    "<thought>\nIt is called city.\n</thought>\n<execute>\n```python\nprint(weather(city='Rome'))\n```\n</execute>"
)
RECORD = {
    "id": "made@1_reflection",
    "messages": [
        {
            "role": "system",
            "content": "You call APIs.\nNow, you can use the following APIs(functions):\n"
            "[{'type': 'function', 'function': {'name': 'weather', 'parameters': {'properties': {}}}}]\n",
        },
        {"role": "user", "content": "\nNow a task.\nTask:\nThe weather in Rome?\nBegin!\n"},
        {"role": "assistant", "content": WRONG, "no_loss": True},
        {"role": "user", "content": "Observation:\n{'error': 'unknown parameter town', 'response': ''}"},
        {"role": "assistant", "content": RIGHT, "no_loss": False},
    ],
}


def test_a_reflection_record_has_the_wrong_action_as_context_and_loss_on_the_last_round() -> None:
    found = read_record(RECORD)
    t = found.trajectory
    assert (t.id, t.query, [tool.name for tool in t.tools]) == (
        "made@1_reflection",
        "The weather in Rome?",
        ["weather"],
    )
    assert [c.arguments for c in t.calls] == [{"town": "Rome"}, {"city": "Rome"}]
    assert t.results[0].failure is not None
    assert (found.context, t.steps[1].thought, t.steps[1].results) == (frozenset({0}), "It is called city.", ())


def test_two_calls_of_a_round_print_a_line_each() -> None:
    record = write(Transcript(EXAMPLE), FORMATS["toolbench-vr"])
    assert record["messages"][5]["content"] == 'Observation:\n"sunny"\n[1, 2.5]'
    assert "print(weather(city='Rome', day='today'))\nprint(route(" in record["messages"][4]["content"]


def test_a_print_out_that_cannot_be_told_apart_is_kept_as_it_stands() -> None:
    record = write(Transcript(EXAMPLE), FORMATS["toolbench-vr"])
    record["messages"][5] = {"role": "user", "content": "Observation:\nTraceback: boom"}
    step = read_record(record).trajectory.steps[1]
    assert (step.results, step.shown) == ((), "Traceback: boom")


def test_what_python_cannot_say_is_refused() -> None:
    for call in (ToolCall("c", "in-app", {}), ToolCall("c", "f", "torn"), ToolCall("c", "class", {})):
        with pytest.raises(ConfigError, match="cannot be called in Python"):
            write(Transcript(replace(EXAMPLE, steps=(Step("", (call,)),))), FORMATS["toolbench-vr"])
    with pytest.raises(ConfigError, match="</thought>"):
        write(
            Transcript(replace(EXAMPLE, steps=(Step("a</thought>b", (ToolCall("c", "f", {}),)),))),
            FORMATS["toolbench-vr"],
        )
    half = Step("", (ToolCall("a", "f", {}), ToolCall("b", "f", {})), (ToolResult("a", "f", {}, 1),))
    with pytest.raises(ConfigError, match="some calls of a round"):
        write(Transcript(replace(EXAMPLE, steps=(half,))), FORMATS["toolbench-vr"])


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="needs shared data: ToolBench-V and -R")
def test_the_published_samples_read_and_write_as_themselves() -> None:
    found = read_files(Path(SAMPLES))
    assert (len(found.transcripts), found.left_out) == (6, ())
    for _, transcript in found.transcripts:
        t, origin = transcript.trajectory, transcript.origin
        assert origin is not None
        assert t.query
        assert {c.tool for c in t.calls} <= {tool.name for tool in t.tools}
        assert write(transcript, FORMATS["toolbench-vr"]) == origin.record
        last = len(t.steps) - 1
        assert transcript.context == (frozenset(range(last)) if t.id.endswith("_reflection") else frozenset())
