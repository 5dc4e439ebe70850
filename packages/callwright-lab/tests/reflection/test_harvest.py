"""Runs as they are kept hold errors that were put right: each is a row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from callwright import Orchestrator
from callwright.agent.journal.resume import find_journal
from callwright.agent.journal.store import read_journal
from callwright.agent.options import Persistence
from callwright.nouns.trace import JsonlSink, read_jsonl
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import READ_LOCAL, to_canonical_json
from callwright.testing import FakeTool, ScriptedModel, fake_source
from callwright.testing.tools import in_order
from callwright_lab.reflection.harvest import (
    drop_conversation_prefixes,
    harvest_conversation,
    harvest_run,
)
from callwright_lab.reflection.row import Reflected, parse_row, record, row_of, serialize_row
from callwright_lab.reflection.sourced import explain_unsourced
from callwright_lab.transcripts import read_record
from tests.reflection.runs import BUSY, ENGM, GONE, NO, NONE, REFLECTED, SAID, bound, made, weather


def harvested(folder: Path, run: str) -> list[Reflected]:
    """As the command line does it: from the file."""
    rows = harvest_run(read_journal(find_journal(run, folder))[1], run)
    assert all(row_of(record(row)).reflection == row.reflection for row in rows)
    return rows


async def test_a_repaired_call_is_a_row_with_the_failure_and_the_call_that_succeeded(
    tmp_path: Path,
) -> None:
    script = {"bind": [bound("OSL"), NONE], "repair": {"station": "ENGM"}}
    run = await made(tmp_path, {"weather": [NO]}, script)
    (row,) = harvested(tmp_path, run.id)
    assert (row.kind, row.error, row.by) == ("calling", "mended", "rule")
    assert row.wrong.calls[0].arguments == {"station": "OSL"}
    assert [call.arguments for call in row.right] == [{"station": "ENGM"}]
    assert "give the longer one" in row.reflection
    assert row.before.steps == ()
    assert explain_unsourced(row) == ""


async def test_what_the_model_thought_while_it_ran_is_the_reflection(tmp_path: Path) -> None:
    script = {"bind": [bound("OSL"), NONE], "reflect": REFLECTED}
    run = await made(tmp_path, {"weather": [NO]}, script, strategy="layered+reflect")
    (row,) = harvested(tmp_path, run.id)
    assert (row.reflection, row.by) == ("The code OSL is too short here. I give ENGM.", "run")
    assert explain_unsourced(row) == ""


async def test_every_attempt_before_the_one_that_succeeded_is_a_row_and_later_ones_see_the_earlier(
    tmp_path: Path,
) -> None:
    wrong = {**REFLECTED, "tool_calls": [{"name": "weather", "arguments": {"station": "Oslo"}}]}
    script = {"bind": [bound("OSL"), NONE], "reflect": [wrong, REFLECTED]}
    run = await made(tmp_path, {"weather": [NO, NO]}, script, strategy="layered+reflect")
    first, second = harvested(tmp_path, run.id)
    assert [row.wrong.calls[0].arguments for row in (first, second)] == [
        {"station": "OSL"},
        {"station": "Oslo"},
    ]
    assert [len(row.before.steps) for row in (first, second)] == [0, 1]
    assert {str(call.arguments) for row in (first, second) for call in row.right} == {
        str(ENGM["arguments"])
    }


async def test_a_call_that_was_refused_before_it_left_and_repaired_is_a_row(tmp_path: Path) -> None:
    script = {"bind": [bound("OSL"), NONE], "repair": {"station": "ENGM"}}
    run = await made(tmp_path, {}, script, weather(minLength=4))
    (row,) = harvested(tmp_path, run.id)
    assert (row.kind, row.error) == ("calling", "mended, refused")
    assert "station" in row.reflection
    assert row.wrong.results[0].failure is not None


async def test_a_retry_of_the_same_call_is_told_apart(tmp_path: Path) -> None:
    run = await made(tmp_path, {"weather": [BUSY]}, {"bind": [bound("OSL"), NONE], "*": NONE})
    (row,) = harvested(tmp_path, run.id)
    assert row.error == "made again"
    assert "once more" in row.reflection


async def test_a_substitute_is_the_right_call_in_place_of_the_dead_one(tmp_path: Path) -> None:
    tools = (weather(), weather("weather_v2"))
    script = {"bind": [bound("OSL"), bound("OSL", "weather_v2"), NONE], "repair": "no", "*": NONE}
    run = await made(tmp_path, {"weather": [GONE]}, script, *tools)
    (row,) = harvested(tmp_path, run.id)
    assert (row.error, row.wrong.calls[0].tool, row.right[0].tool) == (
        "substituted",
        "weather",
        "weather_v2",
    )
    assert "renamed" in row.reflection
    assert explain_unsourced(row) == ""


async def test_a_model_that_corrects_itself_in_a_later_round_gives_a_row_as_well(
    tmp_path: Path,
) -> None:
    def act(station: str) -> dict[str, object]:
        return {"thought": "next", "action": {"tool": "weather", "arguments": {"station": station}}}

    finished = {"thought": "", "action": {"tool": "finish", "reason": "done"}}
    output = in_order(
        ValueError("this code is not understood: give the longer one"), {"sky": "rain"}
    )
    tool = FakeTool("weather", {"station": {"type": "string"}}, output=output)
    model = ScriptedModel(
        {"bind": [act("OSLO1"), act("ENGM"), finished], "repair": "no", "*": SAID}
    )
    with JsonlSink(tmp_path / "trace.jsonl") as sink:
        setup = Orchestrator(
            [fake_source(tool)],
            model=model,
            strategy="react",
            persistence=Persistence(sinks=[sink]),
        )
        await setup.run("Weather at ENGM?")
    (row,) = harvest_run(read_jsonl(tmp_path / "trace.jsonl"), "t")
    assert (row.error, row.right[0].arguments) == ("corrected", {"station": "ENGM"})


async def test_a_correction_of_which_nobody_took_anything_is_no_row(tmp_path: Path) -> None:
    tool = weather()
    other = FakeTool(
        "news", {"city": {"type": "string"}}, output={"title": "Fjord opens"}, effects=READ_LOCAL
    )
    calls = [*bound("OSL")["calls"], {"tool": "news", "arguments": {"city": "Oslo"}}]
    script = {"bind": [{"calls": calls}, NONE], "repair": {"station": "ENGM"},
              "select": {"needed": ["weather", "news"]},
              "answer": {"statements": [{"text": "Fjord opens.", "results": ["r2"]}], "missing": []}}  # fmt: skip
    run = await made(tmp_path, {"weather": [NO]}, script, tool, other, layer=["weather", "news"])
    assert tool.calls == [{"station": "ENGM"}], "it was repaired all the same"
    assert harvested(tmp_path, run.id) == []


async def test_a_run_in_which_nothing_failed_or_nothing_helped_gives_none(tmp_path: Path) -> None:
    good = await made(tmp_path, {}, {"bind": [bound("OSL"), NONE], "*": NONE})
    assert harvested(tmp_path, good.id) == []
    bad = await made(
        tmp_path, {"weather": [NO] * 9}, {"bind": [bound("OSL"), NONE], "repair": "no", "*": NONE}
    )
    assert harvested(tmp_path, bad.id) == []
    assert harvest_run([]) == []


def said(name: str, id: str, **arguments: object) -> dict[str, object]:
    function = {"name": name, "arguments": to_canonical_json(arguments)}
    return {
        "role": "assistant",
        "tool_calls": [{"id": id, "type": "function", "function": function}],
    }


def came(id: str, content: str) -> dict[str, object]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def conversation(
    *middle: dict[str, object], answer: str = "In Bergen (ENBR) it rains."
) -> Trajectory:
    schema = {"type": "object", "properties": {"station": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": schema}}]
    asked = {"role": "user", "content": "Weather at Bergen?"}
    messages = [asked, *middle, {"role": "assistant", "content": answer}]
    return read_record({"messages": messages, "tools": tools}).trajectory


def test_a_conversation_that_a_client_kept_gives_rows_where_its_model_corrected_itself() -> None:
    bad = [
        said("get_weather", "a", station="Bergen"),
        came("a", "Error: no station Bergen; did you mean ENBR?"),
    ]
    good = [said("get_weather", "b", station="ENBR"), came("b", '{"sky": "rain"}')]
    (row,) = harvest_conversation(conversation(*bad, *good))
    assert (row.kind, row.error) == ("calling", "corrected")
    assert (row.wrong.calls[0].arguments, row.right[0].arguments) == (
        {"station": "Bergen"},
        {"station": "ENBR"},
    )
    assert "did you mean ENBR" in row.reflection
    assert explain_unsourced(row) == ""
    assert harvest_conversation(conversation(*good)) == []
    assert harvest_conversation(conversation(*bad)) == []
    assert harvest_conversation(conversation(*bad, *good, answer="I do not know.")) == [], (
        "nothing was taken of it"
    )


def test_what_was_taken_in_an_earlier_turn_was_taken() -> None:
    """A conversation that goes on after its answer: later ones need nothing of the result."""
    bad = [
        said("get_weather", "a", station="Bergen"),
        came("a", "Error: no station Bergen; did you mean ENBR?"),
    ]
    good = [said("get_weather", "b", station="ENBR"), came("b", '{"sky": "rain"}')]
    turn = [
        {"role": "assistant", "content": "It rains."},
        {"role": "user", "content": "Thank you."},
    ]
    (row,) = harvest_conversation(conversation(*bad, *good, *turn, answer="You are welcome."))
    assert row.right[0].arguments == {"station": "ENBR"}
    turn[0]["content"] = "I do not know."
    assert harvest_conversation(conversation(*bad, *good, *turn, answer="You are welcome.")) == []


def test_of_a_conversation_that_was_kept_with_every_request_the_last_is_taken() -> None:
    one = [said("get_weather", "a", station="ENBR"), came("a", '{"sky": "rain"}')]
    two = [said("get_weather", "b", station="ENGM"), came("b", '{"sky": "sun"}')]
    other = [said("get_weather", "a", station="ENBR"), came("a", '{"sky": "snow"}')]
    asked = [
        conversation(*one, said("get_weather", "b", station="ENGM"), answer=None),
        conversation(*one, *two),
    ]
    assert drop_conversation_prefixes([conversation(), *asked, conversation(*other), asked[1]]) == [
        asked[1],
        conversation(*other),
    ]
    assert drop_conversation_prefixes([]) == []


async def test_a_row_says_that_its_run_was_simulated(tmp_path: Path) -> None:
    run = await made(
        tmp_path, {"weather": [NO]}, {"bind": [bound("OSL"), NONE], "repair": {"station": "ENGM"}}
    )
    events = read_journal(find_journal(run.id, tmp_path))[1]
    assert "simulated" not in record(harvest_run(events, run.id)[0])["reflection"]
    results = [event for event in events if event.kind == "result"]
    for some in (results[:1], results[1:]):  # the failed attempt, and the one that succeeded
        marked = [
            replace(e, data={**e.data, "simulated": "model"}) if e in some else e for e in events
        ]
        (row,) = harvest_run(marked, run.id)
        assert record(row)["reflection"]["simulated"] == ["model"]
        assert record(parse_row(serialize_row(row))) == record(row)
