"""Exploring: which of a learner's actions are errors, what is kept of them, and why the others are
not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callwright.agent.probing import TrialPolicy
from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.protocols import Capabilities, ChatRequest
from callwright.nouns.trajectory import Step
from callwright.nouns.types import READ_LOCAL, JsonObject, ToolCall, ToolOutput
from callwright.testing import FakeTool, ScriptedModel, fake_source
from callwright.tools.catalog import open_catalog
from callwright_lab.reflection.attempts import Trying
from callwright_lab.reflection.exploration import (
    Explorer,
    Harvested,
    Sampling,
    collect_rows,
    split_by_action,
)
from callwright_lab.reflection.harvest import harvest_run
from callwright_lab.reflection.learner import Point
from callwright_lab.reflection.row import record, row_of
from callwright_lab.transcripts import FORMATS, Transcript, read_record, write
from callwright_lab.verify.budget import Budget, Meter
from callwright_lab.verify.memory import Memory
from callwright_lab.verify.sweep import Finding, Sweep, open_journal, run_sweep
from tests.reflection.conftest import TEXT, result

SECOND = 1  # the round that asks for the forecast
RIGHT = {"iata": "OSL", "day": "2024-12-25"}


class Killed(BaseException):
    """Ends the process, as far as the test goes."""


def act(tool: str, **arguments: Any) -> JsonObject:
    return {"thought": "next", "action": {"tool": tool, "arguments": arguments}}


def forecast(**arguments: Any) -> JsonObject:
    return act("forecast", **{**RIGHT, **arguments})


async def explored(
    world: Any,
    actions: Sequence[Any],
    at: int = SECOND,
    sandbox: tuple[str, ...] = (),
    **models: Any,
) -> list[JsonObject]:
    """What was made of these samples at a point."""
    async with open_catalog([fake_source(*world.tools)]) as catalog:
        trying = Trying(catalog.call, TrialPolicy(sandbox=sandbox))
        learner = ScriptedModel(list(actions), name="learner")
        explorer = Explorer(
            learner, trying, catalog.tools, Sampling(samples=len(actions)), **models
        )
        finding = await explorer.judge(Point(world.trajectory, at), Meter())
    found: list[JsonObject] = finding.found["actions"]
    assert finding.kept == any(one["row"] for one in found)
    return found


@pytest.mark.parametrize(
    ("action", "category"),
    [
        (act("forecast", iata="OSL"), "calling: missing argument"),
        (forecast(day={"y": 2024}), "calling: wrong type"),
        (forecast(unit="kelvin"), "calling: value not allowed"),
        (act("forecast", airport="OSL", day="2024-12-25"), "calling: missing argument"),
        (forecast(colour="red"), "calling: wrong argument name"),
        (act("weather_report", city="Oslo"), "calling: unknown tool"),
        (forecast(iata="Oslo"), "calling: execution failure"),
        (forecast(iata="FCO"), "planning: other argument values"),
        (forecast(day="1999-01-01"), "planning: nothing found"),
        (act("news", city="Oslo"), "planning: another tool"),
        (forecast(), "right"),
        (forecast(unit="celsius"), "as good"),
        (forecast(unit="fahrenheit"), "as good"),
        ({"thought": "", "action": {"tool": "finish", "reason": "done"}}, "no call"),
        (act("book", city="Oslo"), "not carried out"),
    ],
)
async def test_every_action_is_an_error_of_its_kind_or_none(
    world: Any, action: JsonObject, category: str
) -> None:
    (one,) = await explored(world, [action])
    assert one["category"] == category
    assert (one["row"] is not None) == category.startswith(("calling", "planning"))


async def test_a_kept_error_is_a_row_with_feedback_reflection_and_the_verified_call(
    world: Any,
) -> None:
    found = await explored(world, [forecast(iata="Oslo")])
    assert found[0]["row"] is not None
    (row,) = collect_rows([finding(found)])
    assert row.before.steps[0].calls[0].tool == "find_airport"
    assert (row.wrong.calls[0].arguments, row.right[0].arguments) == (
        {**RIGHT, "iata": "Oslo"},
        RIGHT,
    )
    assert "there is no station Oslo" in row.reflection
    assert "IATA code of the airport" in row.reflection
    assert "OSL" in row.reflection
    assert (row.kind, row.by) == ("calling", "rule")


def finding(actions: list[JsonObject]) -> Finding:
    return Finding(True, found={"actions": actions})


async def test_samples_that_are_one_action_are_tried_once_and_counted(world: Any) -> None:
    found = await explored(world, [forecast(iata="FCO"), forecast(iata="FCO"), forecast()])
    assert [(one["category"], one["times"]) for one in found] == [
        ("planning: other argument values", 2),
        ("right", 1),
    ]
    assert len(world.forecast.calls) == 2, "the action, and the verified call as a control"


async def test_an_action_that_failed_for_another_reason_is_no_error(world: Any) -> None:
    down = Failure("unavailable", "the server is down", retryable=True, status=503)
    world.tools[2] = FakeTool(
        "news", {"city": {"type": "string"}}, output=down, effects=world.news.tool.effects
    )
    (one,) = await explored(world, [act("news", city="Oslo")])
    assert one["category"] == "failed for another reason"
    assert "the server is down" in one["why"]


@pytest.mark.parametrize("now", [ValueError("closed for good"), {"sky": "fog", "high": 3}])
async def test_nothing_is_an_error_where_the_verified_call_does_otherwise_now(
    world: Any, now: Any
) -> None:
    def changed(**arguments: Any) -> Any:
        if isinstance(now, Exception):
            raise now
        return now

    tool = world.forecast.tool
    world.tools[1] = FakeTool(
        "forecast", input_schema=tool.input_schema, output=changed, effects=tool.effects
    )
    (one,) = await explored(world, [forecast(iata="FCO")])
    assert one["category"] == "the verified call does otherwise now"
    assert one["row"] is None


async def test_what_may_write_is_tried_only_in_a_declared_sandbox(world: Any) -> None:
    (held,) = await explored(world, [act("book", city="Oslo")])
    assert (held["category"], world.book.calls) == ("not carried out", [])
    (tried,) = await explored(world, [act("book", city="Oslo")], sandbox=("book",))
    assert (tried["category"], len(world.book.calls)) == ("planning: another tool", 1)


async def test_where_the_rule_cannot_tell_a_model_may_and_without_one_nothing_is_kept(
    world: Any,
) -> None:
    class Untold:
        tools = world.tools
        trajectory = replace(world.trajectory, answer="It is cold.")

    (one,) = await explored(Untold, [forecast(iata="FCO")])
    assert one["category"] == "cannot be told"
    for said, category in (
        ("no", "planning: other argument values"),
        ("yes", "as good"),
        ("?", "cannot be told"),
    ):
        judge = ScriptedModel([{"why": "w", "serves": said}])
        (one,) = await explored(Untold, [forecast(iata="FCO")], judge_model=judge)
        assert one["category"] == category


async def test_a_model_writes_the_reflection_from_feedback_and_documentation(world: Any) -> None:
    said = {
        "analysis": "There is no station Oslo.",
        "strategy": "The code OSL came back before: I give it.",
    }
    model = ScriptedModel([said], name="writer")
    found = await explored(world, [forecast(iata="Oslo")], reflector=model)
    (row,) = collect_rows([finding(found)])
    assert (row.reflection, row.by) == (f"{said['analysis']} {said['strategy']}", "writer")
    asked = model.requests[0].messages[-1].content
    for part in (
        "forecast(iata='OSL'",
        "there is no station Oslo",
        "IATA code of the airport",
        "find_airport",
    ):
        assert part in asked


@pytest.mark.parametrize(
    ("said", "category"),
    [
        (
            {"analysis": "Station Oslo is closed since 1998.", "strategy": "I give OSL."},
            "unsourced",
        ),
        ({"analysis": "Wrong.", "strategy": "The code is 'ENGM'."}, "unsourced"),
        (
            {"analysis": "It is not the call of the reference.", "strategy": "I give OSL."},
            "unsourced",
        ),
        ("I do not know.", "no reflection"),
        ({"analysis": "Only this."}, "no reflection"),
    ],
)
async def test_a_reflection_of_which_not_all_was_known_is_dropped(
    world: Any, said: Any, category: str
) -> None:
    (one,) = await explored(world, [forecast(iata="Oslo")], reflector=ScriptedModel([said] * 2))
    assert (one["category"], one["row"]) == (category, None)
    assert one["why"]


async def test_a_reflection_that_cannot_be_read_is_asked_for_once_more(world: Any) -> None:
    good = {
        "analysis": "There is no station Oslo.",
        "strategy": "The code OSL came back before: I give it.",
    }
    model = ScriptedModel(['{"analysis": "There is no st', good])
    (one,) = await explored(world, [forecast(iata="Oslo")], reflector=model)
    assert one["row"] is not None, one
    assert len({(asked.seed, asked.temperature) for asked in model.requests}) == 2, (
        "not the same question again"
    )


async def test_a_right_call_that_could_only_be_guessed_is_not_taught(world: Any) -> None:
    found = await explored(world, [act("news", city="Oslo")], at=0)
    assert found[0]["category"] in ("planning: another tool", "cannot be told")
    bare = replace(
        world.trajectory, query="What is the weather at the airport: sky and temperature?"
    )
    async with open_catalog([fake_source(*world.tools)]) as catalog:
        learner = ScriptedModel([act("news", city="Rome")])
        explorer = Explorer(
            learner, Trying(catalog.call, TrialPolicy()), catalog.tools, Sampling(samples=1)
        )
        made = await explorer.judge(Point(bare, 0), Meter())
    (one,) = made.found["actions"]
    assert one["category"] == "unsourced"
    assert '"Oslo"' in one["why"]


async def test_an_exploration_that_was_ended_goes_on_and_the_report_counts_samples(
    world: Any, tmp_path: Path
) -> None:
    def wrong(request: ChatRequest) -> JsonObject:
        return forecast(iata="Oslo") if request.seed % 2 else forecast()

    async def run(budget: Budget, script: Callable[[ChatRequest], Any]) -> Any:
        async with open_catalog([fake_source(*world.tools)]) as catalog:
            learner = ScriptedModel(script)
            explorer = Explorer(
                learner, Trying(catalog.call, TrialPolicy()), catalog.tools, Sampling(2, 4)
            )
            rows = explorer.rows([world.trajectory])
            with open_journal(tmp_path / "j.jsonl", {"stage": "explore"}) as journal:
                return (
                    await run_sweep(rows, explorer.judge, journal, budget=budget, concurrency=1),
                    learner,
                )

    first, _ = await run(Budget(model_calls=5), wrong)
    assert (len(first.findings), len(first.left)) == (1, 1)
    whole, learner = await run(Budget(), wrong)
    assert len(learner.requests) == 3, (
        "the first point is on record, and the first sample of the second"
    )
    assert {r.seed for r in learner.requests} == {1, 2, 3}
    assert {r.temperature for r in learner.requests} == {1.0}
    told = split_by_action(whole).findings
    assert [f"{one.category}" for one in told if one.id.startswith("t1@2")] == [
        "right", "right", "calling: execution failure",
    ], "every sample that was none, and each error once"  # fmt: skip
    assert collect_rows(whole.findings)


async def test_a_learner_of_programs_is_asked_as_the_rows_it_was_trained_on(world: Any) -> None:
    steps = tuple(
        replace(
            step,
            code=(
                f"print({call.tool}({', '.join(f'{k}={v!r}' for k, v in call.arguments.items())}))"
            ),
        )
        for step in world.trajectory.steps
        for call in step.calls
    )

    class Coded:
        tools = world.tools
        trajectory = replace(world.trajectory, steps=steps)

    program = (
        "<thought>next</thought>\n<execute>\nprint(forecast(iata='Oslo',"
        " day='2024-12-25'))\n</execute>"
    )
    computed = (
        "<thought>n</thought>\n<execute>\nprint(forecast(iata=code['iata'],"
        " day='2024-12-25'))\n</execute>"
    )
    ended = "<thought>n</thought>\n<final_answer>Cold.</final_answer>"
    found = await explored(Coded, [program, computed, ended, "Let me think."])
    assert [one["category"] for one in found] == [
        "calling: execution failure", "calling: program: NameError", "no call", "no call",
    ]  # fmt: skip
    row, _ = collect_rows([finding(found)])
    again = record(row)
    assert again["messages"][-1]["no_loss"] is False
    assert "<execute>" in again["messages"][-1]["content"]
    assert [m["no_loss"] for m in again["messages"] if m["role"] == "assistant"] == [
        True,
        True,
        False,
    ]


class Coded:
    """The world of a Python-call agent: round one leaves a variable."""

    def __init__(
        self, world: Any, second: str = "print(forecast(iata='OSL', day='2024-12-25'))"
    ) -> None:
        codes = ("x = find_airport(city='Oslo')\nprint(x)", second)
        steps = zip(world.trajectory.steps, codes, strict=True)
        self.world, self.tools = world, world.tools
        self.trajectory = replace(
            world.trajectory, steps=tuple(replace(s, code=code) for s, code in steps)
        )


def program(*lines: str) -> str:
    return "<thought>next</thought>\n<execute>\n" + "\n".join(lines) + "\n</execute>"


DAY = "day='2024-12-25'"


@pytest.mark.parametrize(
    ("code", "category"),
    [
        (f"y = x['iata']\nprint(forecast(iata=y, {DAY}))", "right"),
        (f"print(forecast(iata=x['code'], {DAY}))", "calling: program: KeyError"),
        (f"print(forecast(iata=code, {DAY}))", "calling: program: NameError"),
        (f"y = forecast(iata='Os' + 'lo', {DAY})\nprint(y)", "calling: execution failure"),
        (f"y = forecast(iata='Os' + 'lo', {DAY})\nprint(y['high'])", "calling: program: KeyError"),
        (f"y = forecast(iata='Os' + 'lo', {DAY})", "cannot be told"),
        (f"print(forecast(iata='FC' + 'O', {DAY}))", "planning: other argument values"),
        ("for d in ['1', '2', '3']:\n    print(forecast(iata='OSL', day=d))", "calling: too many calls"),
        (f"y = forecast(iata='Oslo', {DAY})\nif 'error' in y:\n    y = forecast(iata=x['iata'], {DAY})\nprint(y)",
         "as good"),
        (f"y = forecast(iata=x['iata'], {DAY})\nprint(y['wind'])", "right, and stumbled"),
        ("print(x['iata'])", "no call"),
        ("print(book(city=x['iata']))", "not carried out"),
        ("while True:\n    x = 1", "not carried out"),
    ],
)  # fmt: skip
async def test_a_program_that_computes_its_arguments_is_run_and_judged_by_what_it_called(
    world: Any, code: str, category: str
) -> None:
    (one,) = await explored(Coded(world), [program(code)])
    assert one["category"] == category, one["why"]
    assert (one["row"] is not None) == category.startswith(("calling", "planning"))
    assert one["error"] == (category if one["row"] else "")


async def test_the_wrong_program_is_kept_as_written_with_what_the_sandbox_gave_back(
    world: Any,
) -> None:
    code = f"y = x['code']\nprint(forecast(iata=y, {DAY}))"
    (row,) = collect_rows([finding(await explored(Coded(world), [program(code)]))])
    assert (row.wrong.code, row.wrong.calls) == (code, ())
    assert "KeyError: code" in row.reflection
    assert row.right[0].arguments == RIGHT
    written = record(row)["messages"]
    assert code in written[-3]["content"]
    assert written[-2]["content"].startswith("Observation:\nTraceback (most recent call last):")
    assert "KeyError: code" in written[-2]["content"]
    assert [m["no_loss"] for m in written if m["role"] == "assistant"] == [True, True, False]
    assert row_of(record(row)).wrong.code == code
    with pytest.raises(ConfigError, match="the error is the program's own"):
        record(row, "openai")


async def test_of_a_failure_that_was_not_printed_the_row_says_only_what_was_seen(
    world: Any,
) -> None:
    code = f"y = forecast(iata='Os' + 'lo', {DAY})\nprint(y['high'])"
    (row,) = collect_rows([finding(await explored(Coded(world), [program(code)]))])
    assert "KeyError: high" in row.reflection
    assert "no station" not in row.reflection


async def test_a_verified_program_that_computes_stays_the_program_it_is(world: Any) -> None:
    right = f"print(forecast(iata=x['iata'], {DAY}))"
    coded = Coded(world, right)
    (row,) = collect_rows(
        [finding(await explored(coded, [program(f"print(forecast(iata='Oslo', {DAY}))")]))]
    )
    assert (row.program, row.right[0].arguments) == (right, RIGHT)
    assert "iata taken from what came before" in row.reflection
    last = record(row)["messages"][-1]["content"]
    assert right in last
    assert row_of(record(row)).program == right
    with pytest.raises(ConfigError, match="computes its arguments"):
        record(row, "trl")


async def test_a_verified_program_of_which_only_the_print_out_is_known_is_run_first(
    world: Any,
) -> None:
    right = f"y = x['iata']\nprint(forecast(iata=y, {DAY}))"
    coded = Coded(world, right)
    bare = read_record(write(Transcript(coded.trajectory), FORMATS["toolbench-vr"])).trajectory
    assert bare.steps[1].calls[0].arguments == {
        "iata": "y",
        "day": "2024-12-25",
    }, "what is written, not what is called"
    coded.trajectory = bare
    wrong = program(f"print(forecast(iata='Oslo', {DAY}))")
    found = await explored(
        coded, [wrong, program(f"z = x['iata']\nprint(forecast(iata=z, {DAY}))")]
    )
    assert [one["category"] for one in found] == ["calling: execution failure", "right"]
    (row,) = collect_rows([finding(found)])
    assert (row.program, row.right[0].arguments) == (right, RIGHT)


async def test_where_the_verified_program_fails_now_nothing_is_asked(world: Any) -> None:
    coded = Coded(world, f"print(forecast(iata=nowhere['iata'], {DAY}))")
    coded.trajectory = read_record(
        write(Transcript(coded.trajectory), FORMATS["toolbench-vr"])
    ).trajectory
    learner = ScriptedModel([], name="learner")
    async with open_catalog([fake_source(*world.tools)]) as catalog:
        explorer = Explorer(
            learner, Trying(catalog.call, TrialPolicy()), catalog.tools, Sampling(samples=1)
        )
        made = await explorer.judge(Point(coded.trajectory, SECOND), Meter())
    assert (made.category, made.found["actions"]) == ("the verified call does otherwise now", [])
    assert "nowhere" in made.why
    (line,) = split_by_action(Sweep((made,))).findings
    assert (line.category, line.kept) == (
        made.category,
        False,
    ), "the report says that nothing was sampled there"


async def test_where_the_gate_refuses_the_verified_call_now_its_refusals_speak_against_nobody(
    world: Any,
) -> None:
    """The tool wants an argument more than when the trajectory was made: the learner knows the old
    documentation.
    """
    stricter = FakeTool(
        "forecast", dict.fromkeys(("iata", "day", "unit"), TEXT), effects=READ_LOCAL
    )
    learner = ScriptedModel([], name="learner")
    async with open_catalog([fake_source(world.airport, stricter)]) as catalog:
        explorer = Explorer(
            learner, Trying(catalog.call, TrialPolicy()), catalog.tools, Sampling(samples=1)
        )
        made = await explorer.judge(Point(world.trajectory, SECOND), Meter())
    assert (made.category, made.found["actions"]) == ("the verified call does otherwise now", [])
    assert "unit" in made.why
    assert learner.requests == [], "and nothing is asked"


async def test_a_verified_write_in_doubt_is_named_with_every_action_that_needs_it(
    world: Any,
) -> None:
    """The control may be a write in the sandbox; what it reads before is made once."""
    read, write = (
        ToolCall(f"c{n}", tool, {"city": "Oslo"}) for n, tool in enumerate(("news", "book"))
    )
    came = (result(read, {"title": "Nothing new"}), result(write, {"booking": "B7"}))
    verified = replace(
        world.trajectory, steps=(Step("I book.", (read, write), came),), answer="Booked as B7."
    )
    notes: list[JsonObject] = []

    async def dies(name: str, arguments: JsonObject) -> ToolOutput:
        if name == "book":
            raise Killed
        return ToolOutput("")

    made: list[str] = []

    async def caller(name: str, arguments: JsonObject) -> ToolOutput:
        made.append(name)
        return ToolOutput("")

    actions = [act("news", city="Rome"), act("news", city="Bari")]
    for call in (dies, caller):
        trying = Trying(call, TrialPolicy(sandbox=("book",)))
        explorer = Explorer(
            ScriptedModel(actions), trying, [t.tool for t in world.tools], Sampling(samples=2)
        )
        with suppress(Killed, BaseExceptionGroup):
            found = await explorer.judge(
                Point(verified, 0), Meter(memory=Memory(list(notes), notes.append))
            )
    assert [one["category"] for one in found.found["actions"]] == ["in doubt", "in doubt"]
    assert all('book({"city":"Oslo"})' in one["why"] for one in found.found["actions"])
    assert made == ["news"], "Bari alone: Rome and the control's own are on record"


async def test_harvested_rows_are_judged_alike_and_a_model_rewrites_what_the_rule_wrote(
    world: Any,
) -> None:
    assert Harvested().rows([]) == []
    assert harvest_run([]) == []
    found = await explored(world, [forecast(iata="Oslo")])
    (row,) = collect_rows([finding(found)])
    judged = Harvested()
    one, *rest = judged.rows([row, row])
    assert rest == []
    made = await judged.judge(one.item, Meter())
    assert collect_rows([made]) == [row]
    said = {"analysis": "There is no such station.", "strategy": "I give OSL."}
    writer = ScriptedModel([said], name="writer", capabilities=Capabilities())
    made = await Harvested(writer).judge(row, Meter())
    assert collect_rows([made])[0].by == "writer"
    assert writer.requests[0].schema is None
