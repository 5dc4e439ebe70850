"""ToolBench-V and -R: a record made in their form, and the published samples where they are at
hand.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.trajectory import Step
from callwright.nouns.types import ToolCall, ToolResult
from callwright_lab.datasets.sources import data_root
from callwright_lab.transcripts import FORMATS, Transcript, read_files, read_record, write
from tests.transcripts.trajectories import EXAMPLE

SAMPLES = data_root() / "toolbench_vr"
WRONG = "<thought>\nLook.\n</thought>\n<execute>\n```python\nprint(weather(town='Rome'))\n```\n</execute>"
RIGHT = (
    "<thought>\nIt is called"
    " city.\n</thought>\n<execute>\n```python\nprint(weather(city='Rome'))\n```\n</execute>"
)
RECORD = {
    "id": "made@1_reflection",
    "messages": [
        {
            "role": "system",
            "content": (
                "You call APIs.\nNow, you can use the following APIs(functions):\n[{'type':"
                " 'function', 'function': {'name': 'weather', 'parameters': {'properties': {}}}}]\n"
            ),
        },
        {"role": "user", "content": "\nNow a task.\nTask:\nThe weather in Rome?\nBegin!\n"},
        {"role": "assistant", "content": WRONG, "no_loss": True},
        {
            "role": "user",
            "content": "Observation:\n{'error': 'unknown parameter town', 'response': ''}",
        },
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
    assert (found.context, t.steps[1].thought, t.steps[1].results) == (
        frozenset({0}),
        "It is called city.",
        (),
    )


def test_two_calls_of_a_round_print_a_line_each() -> None:
    record = write(Transcript(EXAMPLE), FORMATS["toolbench-vr"])
    assert record["messages"][5]["content"] == 'Observation:\n"sunny"\n[1, 2.5]'
    assert (
        "print(weather(city='Rome', day='today'))\nprint(route(" in record["messages"][4]["content"]
    )


def test_a_print_out_that_cannot_be_told_apart_is_kept_as_it_stands() -> None:
    record = write(Transcript(EXAMPLE), FORMATS["toolbench-vr"])
    record["messages"][5] = {"role": "user", "content": "Observation:\nTraceback: boom"}
    step = read_record(record).trajectory.steps[1]
    assert (step.results, step.shown) == ((), "Traceback: boom")


def computed(shown: str) -> Step:
    """A program that passes and prints what it computed."""
    pairs = [("books", {"of": "Rome"}, [{"n": 1}, {"n": 2}]), ("pages", {"n": 2}, {"pages": 90})]
    calls = tuple(ToolCall(f"call_{i}", tool, given) for i, (tool, given, _) in enumerate(pairs, 1))
    results = tuple(
        ToolResult(c.id, c.tool, given, back)
        for c, (_, given, back) in zip(calls, pairs, strict=True)
    )
    code = "n = books(of='Rome')[-1]['n']\nprint(n)\nprint(pages(n=n))"
    return Step("Look.", calls, results, code, shown)


def test_the_observation_is_what_the_program_printed_and_what_was_called_is_kept_beside_it() -> (
    None
):
    made = replace(EXAMPLE, steps=(computed("2\n{'pages': 90}"),))
    record = write(Transcript(made), FORMATS["toolbench-vr"])
    assert record["messages"][3]["content"] == "Observation:\n2\n{'pages': 90}"
    read = read_record(record)
    assert read.trajectory.steps == made.steps
    assert read_record(write(read, FORMATS["openai"])).trajectory.calls == made.calls
    thinned = replace(read, trajectory=replace(read.trajectory, answer="Ninety."))
    assert write(thinned, FORMATS["toolbench-vr"])["messages"][3] == record["messages"][3]


def test_a_call_that_a_stopped_program_never_made_has_no_result() -> None:
    step = Step(
        "", (), (), "x = lost\nprint(weather(city='Rome'))", "NameError: name 'lost' is not defined"
    )
    read = read_record(write(Transcript(replace(EXAMPLE, steps=(step,))), FORMATS["toolbench-vr"]))
    assert read.trajectory.steps == (step,)


def test_what_a_plain_program_printed_needs_no_second_telling() -> None:
    call = ToolCall("call_1", "weather", {"city": "Rome"})
    back = ToolResult("call_1", "weather", {"city": "Rome"}, {"sky": "clear", "rain": None})
    step = Step(
        "", (call,), (back,), "print(weather(city='Rome'))", "{'sky': 'clear', 'rain': None}"
    )
    record = write(Transcript(replace(EXAMPLE, steps=(step,))), FORMATS["toolbench-vr"])
    assert record["messages"][3] == {
        "role": "user",
        "content": "Observation:\n{'sky': 'clear', 'rain': None}",
    }
    assert read_record(record).trajectory.steps == (replace(step, shown=""),)


def _round(code: str, back: str) -> Transcript:
    program = f"<thought>\nI look.\n</thought>\n<execute>\n```python\n{code}\n```\n</execute>"
    opening: list[Any] = RECORD["messages"][:2]  # type: ignore[assignment, index]
    end = "<thought>\nDone.\n</thought>\n<final_answer>\nClear.\n</final_answer>"
    made = [{"role": "assistant", "content": text, "no_loss": False} for text in (program, end)]
    told = {"role": "user", "content": f"Observation:\n{back}"}
    return read_record({"id": "made", "messages": [*opening, made[0], told, made[1]]})


@pytest.mark.parametrize("layout", ["openai", "trl", "sharegpt", "tooleval"])
@pytest.mark.parametrize(
    ("code", "back", "why"),
    [
        (
            "print(weather(city='Rome'))\nprint(weather(city='Oslo'))",
            "Traceback: boom",
            "belongs to no single call",
        ),
        ("print('total', 3)", "total 3", "belongs to no single call"),
        (
            "for c in ['Rome']: print(weather(city=c))",
            "{'sky': 'clear'}",
            "computes what it calls with",
        ),
        ("c = 'Rome'\nprint(weather(city=c))", "{'sky': 'clear'}", "computes what it calls with"),
    ],
)
def test_what_only_a_program_can_say_is_refused_and_not_lost(
    layout: str, code: str, back: str, why: str
) -> None:
    with pytest.raises(ConfigError, match=why):
        write(_round(code, back), FORMATS[layout])


def test_a_text_with_other_ends_of_lines_stays_one_result() -> None:
    code = "print(weather(city='Rome'))\nprint(weather(city='Oslo'))"
    found = _round(code, '"a\u2028b"\n"c\u0085d"').trajectory
    assert [result.content for result in found.results] == ["a\u2028b", "c\u0085d"]


def test_what_python_cannot_say_is_refused() -> None:
    for call in (
        ToolCall("c", "in-app", {}),
        ToolCall("c", "f", "torn"),
        ToolCall("c", "class", {}),
    ):
        with pytest.raises(ConfigError, match="cannot be called in Python"):
            write(Transcript(replace(EXAMPLE, steps=(Step("", (call,)),))), FORMATS["toolbench-vr"])
    with pytest.raises(ConfigError, match="</thought>"):
        write(
            Transcript(replace(EXAMPLE, steps=(Step("a</thought>b", (ToolCall("c", "f", {}),)),))),
            FORMATS["toolbench-vr"],
        )
    half = Step(
        "", (ToolCall("a", "f", {}), ToolCall("b", "f", {})), (ToolResult("a", "f", {}, 1),)
    )
    with pytest.raises(ConfigError, match="some calls of a round"):
        write(Transcript(replace(EXAMPLE, steps=(half,))), FORMATS["toolbench-vr"])


def test_an_empty_text_that_came_back_is_kept() -> None:
    call = ToolCall("call_1", "f", {})
    step = Step("", (call,), (ToolResult("call_1", "f", {}, ""),))
    record = write(Transcript(replace(EXAMPLE, steps=(step,))), FORMATS["toolbench-vr"])
    (back,) = read_record(record).trajectory.results
    assert back.content == ""


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
        assert transcript.context == (
            frozenset(range(last)) if t.id.endswith("_reflection") else frozenset()
        )
