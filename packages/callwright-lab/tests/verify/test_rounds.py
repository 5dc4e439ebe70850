"""A run of the Python-call agent as a trajectory, under the names that its programs use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callwright import Orchestrator, Run
from callwright.agent.options import Safety
from callwright.nouns.limits import Limits
from callwright.nouns.protocols import Capabilities
from callwright.nouns.types import READ, WRITE
from callwright.testing import FakeTool, ScriptedModel, fake_source, in_order
from callwright_lab.transcripts import FORMATS, Transcript, read_record, write
from callwright_lab.verify.rounds import build_trajectory
from callwright_lab.verify.trajectories import find_faults

TEXT = {"type": "string"}
FIND = FakeTool("find-place", {"in": TEXT}, output={"latitude": 59.9}, effects=READ)
NOTE = FakeTool("note", {"text": TEXT}, output={"noted": True}, effects=WRITE)
DEAD = FakeTool("dead", {"x": TEXT}, output=in_order(), effects=READ)


async def run(
    *replies: str, offered: Sequence[FakeTool] = (FIND, NOTE, DEAD), **options: Any
) -> Run:
    model = ScriptedModel({"code": [*replies], "repair": "{}"}, capabilities=Capabilities())
    setup = Orchestrator(
        [fake_source(*offered)], model=model, strategy="code", limits=Limits(repairs=0), **options
    )
    return await setup.run("Where is Oslo?")


def code(thought: str, program: str) -> str:
    return f"<thought>{thought}</thought><execute>{program}</execute>"


END = "<thought>Done.</thought><final_answer>Oslo is at latitude 59.9.</final_answer>"


async def test_a_run_is_its_rounds_with_what_was_called_and_what_came_back() -> None:
    tools = [t.tool for t in (FIND, NOTE, DEAD)]
    made = build_trajectory(
        (await run(code("I look.", "print(find_place(in_='Oslo'))"), END)).events, tools, "r1"
    )
    assert (made.id, made.query, made.answer, made.given_up) == (
        "r1", "Where is Oslo?", "Oslo is at latitude 59.9.", False,
    )  # fmt: skip
    assert [tool.name for tool in made.tools] == ["find_place", "note", "dead"]
    first, last = made.steps
    assert (first.thought, first.code, first.shown) == (
        "I look.",
        "print(find_place(in_='Oslo'))",
        "{'latitude': 59.9}",
    )
    assert [(c.tool, c.arguments, r and r.content) for c, r in first.pairs] == [
        ("find_place", {"in_": "Oslo"}, {"latitude": 59.9})
    ]
    assert (last.thought, last.calls) == ("Done.", ())
    assert find_faults(made) == ()


async def test_failures_refusals_and_repetitions_keep_what_the_program_was_told() -> None:
    done = await run(
        code("a", "print(dead(x='1'))\nprint(note(text='hi'))"),
        code("b", "print(find_place(in_='Oslo'))\nprint(find_place(in_='Oslo'))"),
        "<thought>c</thought><given_up>It cannot be done.</given_up>",
        safety=Safety(dry_run=True),
    )
    made = build_trajectory(done.events, [t.tool for t in (FIND, NOTE, DEAD)])
    results = [r for s in made.steps for _, r in s.pairs if r is not None]
    assert [r.ok for r in results] == [False, False, True, True]
    assert results[2].content == results[3].content
    assert (made.answer, made.given_up) == ("It cannot be done.", True)
    assert {"given_up", "repeated_call", "failed_call"} <= {
        fault.kind for fault in find_faults(made)
    }


async def test_what_is_kept_is_written_in_the_papers_form_and_read_back() -> None:
    made = build_trajectory(
        (await run(code("I look.", "print(find_place(in_='Oslo'))"), END)).events,
        [t.tool for t in (FIND, NOTE, DEAD)],
        "r1",
    )
    record = write(Transcript(made), FORMATS["toolbench-vr"])
    again = read_record(record).trajectory
    assert [(c.tool, c.arguments) for c in again.calls] == [("find_place", {"in_": "Oslo"})]
    assert again.answer == made.answer
    assert find_faults(again) == ()
