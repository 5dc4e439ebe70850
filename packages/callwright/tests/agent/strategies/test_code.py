"""The Python-call agent: programs whose calls go the way of all calls, whatever their results, and
across a crash.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright import Limits, Orchestrator, Run
from callwright.agent.execution.job import Job
from callwright.agent.execution.sandbox import ProgramError
from callwright.agent.journal.resume import find_journal
from callwright.agent.journal.store import Journal, read_journal
from callwright.agent.options import Persistence, Safety
from callwright.agent.strategies.code import Code, bind_call, build_functions, build_reply_schema
from callwright.jsontext import parse_literal
from callwright.nouns.errors import ConfigError, JournalError
from callwright.nouns.protocols import Capabilities, ChatRequest
from callwright.nouns.trace import Event
from callwright.nouns.types import READ, WRITE, Reply, Tool, ToolCall
from callwright.testing import FakeTool, ScriptedModel, fake_source, in_order

TEXT, NUMBER = {"type": "string"}, {"type": "number"}
QUERY = "How warm is it in Oslo and in Rome? Note it."


def program(code: str, thought: str = "I call.") -> str:
    return f"<thought>{thought}</thought>\n<execute>\n```python\n{code}\n```\n</execute>"


def answer(text: str) -> str:
    return f"<thought>Done.</thought>\n<final_answer>{text}</final_answer>"


def tools(**outputs: Any) -> list[FakeTool]:
    degrees = {"Oslo": 12, "Rome": 24}
    usual: dict[str, Any] = {
        "weather": lambda city: {"city": city, "celsius": degrees[city]},
        "note": {"noted": True},
    }
    usual |= outputs
    return [
        FakeTool("weather", {"city": TEXT}, output=usual["weather"], effects=READ),
        FakeTool("note", {"text": TEXT}, output=usual["note"], effects=WRITE),
    ]


def says(*replies: Any, schema: bool = False, **more: Any) -> ScriptedModel:
    script = {"code": [*replies], "repair": "{}", **more}
    return ScriptedModel(script, capabilities=Capabilities(json_schema=schema))


async def run(model: ScriptedModel, offered: Sequence[FakeTool], **options: Any) -> Run:
    return await Orchestrator([fake_source(*offered)], model=model, strategy="code", **options).run(
        QUERY
    )


def shown(model: ScriptedModel, question: int = -1) -> str:
    """What the model was shown of its last program, at a question."""
    return model.requests[question].messages[-1].content


async def test_two_programs_and_an_answer_are_three_questions() -> None:
    model = says(
        program(
            "o = weather(city='Oslo')\nr = weather('Rome')\nprint(o['celsius'] + r['celsius'])"
        ),
        program("print(note(text=f\"{o['celsius']} and {r['celsius']}\"))"),
        answer("It is 12 degrees in Oslo and 24 in Rome."),
    )
    weather, note = offered = tools()
    done = await run(model, offered)
    assert [r.purpose for r in model.requests] == ["code"] * 3
    assert weather.calls == [{"city": "Oslo"}, {"city": "Rome"}]
    assert note.calls == [{"text": "12 and 24"}], "variables stay"
    assert shown(model, 1) == "Observation:\n36"
    assert (done.status, done.answer.text) == (
        "answered",
        "It is 12 degrees in Oslo and 24 in Rome.",
    )
    assert [slot.id for slot in done.plan.slots] == ["weather@1", "weather@2", "note@3"]


async def test_the_models_own_answer_is_checked_against_the_results() -> None:
    done = await run(
        says(program("print(weather(city='Oslo'))"), answer("It is 30 degrees in Oslo.")), tools()
    )
    assert done.answer.text != "It is 30 degrees in Oslo."
    assert [s.support for s in done.answer.statements] != ["supported"]


async def test_models_that_were_trained_are_shown_tools_as_their_rows_show_them() -> None:
    offered, model = tools(), says(answer("It is 12 degrees."))
    setup = Orchestrator([fake_source(*offered)], model=model, strategy="toolmvr")
    await setup.run(QUERY)
    system = model.requests[0].messages[0].content
    listed = parse_literal(system[system.index("[{") :])
    assert [sorted(tool["function"]) for tool in listed] == [
        ["description", "name", "parameters"]
    ] * 2


async def test_giving_up_says_why() -> None:
    done = await run(
        says("<thought>No.</thought><given_up>There is no such tool.</given_up>"), tools()
    )
    assert done.status == "abstained"
    assert "There is no such tool." in done.answer.text


async def test_a_failure_is_handed_to_the_program() -> None:
    model = says(program("x = weather(city='Oslo')\nprint('error' in x, x)"), answer("Nothing."))
    await run(model, tools(weather=in_order()), limits=Limits(repairs=0))
    assert shown(model).startswith("Observation:\nTrue {'error': ")


async def test_a_third_call_of_a_round_is_not_made() -> None:
    model = says(
        program("for c in ['Oslo', 'Rome', 'Oslo']:\n    print(weather(city=c)['celsius'])"),
        answer("12"),
    )
    weather, _ = offered = tools()
    await run(model, offered)
    assert len(weather.calls) == 2
    assert shown(model).startswith("Observation:\n12\n24\n")
    assert "2 calls at most" in shown(model)


async def test_the_same_call_again_is_not_made_and_returns_the_same() -> None:
    model = says(
        program("print(weather(city='Oslo'))"),
        program("print(weather(city='Oslo')['celsius'])"),
        answer("12"),
    )
    weather, _ = offered = tools()
    await run(model, offered)
    assert len(weather.calls) == 1
    assert shown(model) == "Observation:\n12"


async def test_what_the_gate_refuses_or_nobody_allows_never_leaves_and_the_program_is_told() -> (
    None
):
    model = says(program("print(weather(town=1))\nprint(note(text='x'))"), answer("Nothing."))
    weather, note = offered = tools()
    done = await run(model, offered, safety=Safety(dry_run=True), limits=Limits(repairs=0))
    assert weather.calls == note.calls == []
    assert shown(model).count("error") >= 2
    assert len([s for s in done.skips if s.refused]) == 2


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("I do not know what to do.", "neither a program nor a final answer"),
        (program("print(1"), "SyntaxError"),
        (program("x = weather(city='Oslo')"), "printed nothing"),
        (program("while True: pass"), "stopped: it ran longer than 0.3 seconds"),
        (program("print('x' * 10 ** 6)"), "stopped: it printed over"),
        (program("open('/etc/passwd')"), "ask a tool"),
    ],
)
async def test_what_went_wrong_with_a_reply_is_said(reply: str, said: str) -> None:
    model = says(reply, answer("Nothing."))
    await run(model, tools(), limits=Limits(program_seconds=0.3))
    assert said in shown(model)


CUT = "<thought>t</thought>\n<execute>\nfor c in ['Oslo', 'Rome']:\n    print(weather(city=c))"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(CUT, finish_reason="length"),
        Reply(CUT.replace("<execute>", "<execute>\n```python")),
        Reply("```python\nprint(weather(city='Oslo'))"),
    ],
)
async def test_of_a_program_that_was_cut_off_nothing_is_run(reply: Reply) -> None:
    """The lines that are there may not be all that was meant: a loop may lack its end."""
    weather, _ = offered = tools()
    model = says(reply, Reply(CUT), answer("It is 12 degrees in Oslo."))
    done = await run(model, offered)
    assert "cut off in its program" in shown(model, 1)
    assert [r["stop"] for r in (e.data for e in done.events if e.kind == "round")] == [
        "error",
        "",
        "",
    ]
    assert len(weather.calls) == 2, "ended by a stop sequence it is whole"


async def test_who_calls_the_same_again_and_again_is_told_so_and_then_asked_for_the_answer_alone() -> (
    None
):
    same = {
        "thought": "I can answer now.",
        "calls": [{"function": "weather", "arguments": {"city": "Oslo"}}],
    }
    model = says(
        same,
        same,
        same,
        {"thought": "Known.", "final_answer": "It is 12 degrees in Oslo."},
        schema=True,
    )
    weather, _ = offered = tools()
    done = await run(model, offered)
    assert len(weather.calls) == 1
    assert ["known already" in shown(model, at) for at in range(1, 4)] == [False, True, True]
    assert "no more calls" in shown(model, 3)
    schema = model.requests[3].schema
    assert schema is not None
    ways = [set(way["properties"]) - {"thought"} for way in schema["anyOf"]]
    assert ways == [{"final_answer"}, {"given_up"}]
    assert done.answer.text == "It is 12 degrees in Oslo."
    observed = [e.data["shown"] for e in done.events if e.kind == "round" and e.data["shown"]]
    assert not any("known already" in text for text in observed), (
        "what a trajectory keeps is what was printed"
    )


async def test_the_last_of_its_rounds_is_for_the_answer() -> None:
    model = says(
        *[program(f"print(weather(city='{c}'))") for c in ("Oslo", "Rome")], answer("12 and 24")
    )
    done = await run(model, tools(), limits=Limits(turns=3))
    assert ["no more calls" in shown(model, at) for at in range(3)] == [False, False, True]
    assert done.answer.text.startswith("12 and 24")


async def test_who_calls_even_then_is_not_run_and_the_usual_question_follows() -> None:
    model = says(
        *[program("print(1)")] * 2,
        program("print(weather(city='Oslo'))"),
        answer="Nothing was found.",
    )
    weather, _ = offered = tools()
    done = await run(model, offered)
    assert [r.purpose for r in model.requests] == ["code"] * 3
    assert weather.calls == []
    assert any(
        "stopped without an answer" in e.data["text"] for e in done.events if e.kind == "note"
    )


async def test_old_observations_are_shortened_where_there_is_no_room() -> None:
    many = {"rows": ["a row of many"] * 100}
    model = says(
        *[program(f"print(weather(city='{c}'))") for c in ("Oslo", "Rome")], answer("Nothing.")
    )
    await run(model, tools(weather=many), limits=Limits(result_chars=1_000))
    texts = [m.content for m in model.requests[-1].messages if m.role == "user"][1:]
    assert [len(text) < 560 for text in texts] == [True, True]
    assert all("more)" in text or "shortened" in text for text in texts)


async def test_a_constrained_reply_writes_its_calls_as_arguments_or_a_program() -> None:
    call = {"function": "weather", "arguments": {"city": "Oslo"}}
    model = says(
        {"thought": "t", "calls": [call]},
        {"thought": "u", "program": "print(note(text='12'))"},
        {"thought": "v", "final_answer": "It is 12 degrees in Oslo."},
        schema=True,
    )
    weather, note = offered = tools()
    done = await run(model, offered)
    assert (weather.calls, note.calls) == ([{"city": "Oslo"}], [{"text": "12"}])
    rounds = [e.data for e in done.events if e.kind == "round"]
    assert [r["code"] for r in rounds] == [
        "print(weather(city='Oslo'))",
        "print(note(text='12'))",
        None,
    ]
    assert model.requests[0].schema == build_reply_schema(
        [f.shown for f in build_functions([t.tool for t in offered]).values()]
    )


def test_names_that_are_none_of_pythons_are_given_others_and_found_again() -> None:
    odd = Tool(
        "web-search::v2",
        input_schema={"type": "object", "properties": {"from": TEXT, "is it": TEXT}},
    )
    known = build_functions([odd, Tool("class"), Tool("web_search__v2"), Tool("print"), Tool("9")])
    assert [*known] == ["web_search__v2", "class_", "web_search__v2_", "print_", "_9"]
    assert known["web_search__v2"].shown.properties.keys() == {"from_", "is_it"}
    call = bind_call(known["web_search__v2"], ("x",), {"is_it": 1})
    assert (call.tool, call.arguments) == ("web-search::v2", {"from": "x", "is it": 1})


def test_arguments_by_position_take_the_parameters_in_order_and_no_more_than_there_are() -> None:
    known = build_functions([tools()[0].tool])["weather"]
    assert bind_call(known, ("Oslo",), {}).arguments == {"city": "Oslo"}
    assert bind_call(known, ({"city": "Oslo"},), {}).arguments == {"city": "Oslo"}
    with pytest.raises(ProgramError, match="its parameters are: city"):
        bind_call(known, ("Oslo", 1), {})


class FromTheMiddle(Code):
    """Begins after a call that somebody else made, and one that was refused."""

    async def run(self, job: Job) -> None:
        calls = [ToolCall("", "weather", {"city": "Oslo"}), ToolCall("", "weather", {"town": 1})]
        await job.executor.execute(calls, {tool.name for tool in job.tools})
        await super().run(job)


@pytest.mark.parametrize("schema", [True, False])
async def test_what_was_called_before_it_began_is_shown_as_rounds(schema: bool) -> None:
    end = (
        {"thought": "t", "final_answer": "It is 12 degrees in Oslo."}
        if schema
        else answer("It is 12 degrees.")
    )
    model = says(end, schema=schema)
    setup = Orchestrator(
        [fake_source(*tools())], model=model, strategy=FromTheMiddle(), limits=Limits(repairs=0)
    )
    await setup.run(QUERY)
    told = [(m.role, m.content) for m in model.requests[-1].messages[2:]]
    assert [role for role, _ in told] == ["assistant", "user"] * 2
    assert "weather" in told[0][1]
    assert "Oslo" in told[0][1]
    assert told[1][1] == "Observation:\n{'city': 'Oslo', 'celsius': 12}"
    assert "error" in told[3][1]


async def test_a_plan_that_grows_cannot_be_frozen() -> None:
    with pytest.raises(ConfigError, match="--freeze plan"):
        await run(says(), tools(), safety=Safety(freeze="plan"))


class World:
    """What the tools change; it outlives the processes of a run."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def tools(self) -> list[FakeTool]:
        def noted(text: str) -> Any:
            self.done.append(text)
            return {"noted": text}

        dead = FakeTool("rain", {"city": TEXT}, output=in_order(), effects=READ)
        return [*tools(note=noted), dead]


LONG = [
    program("o = weather(city='Oslo')\nseen = [o['celsius']]\nprint(o)"),
    "I am not sure.",
    program(
        "print(note(text=f\"Oslo {o['celsius']}\"))\nr ="
        " weather('Rome')\nseen.append(r['celsius'])\nprint(seen)"
    ),
    program("print(rain(city='Oslo'))\nprint(weather(city='Oslo')['celsius'])"),
    program("note(text=f'Both {seen}')\nwhile True:\n    pass"),
    program("print(seen)"),
    program("r = weather(city='Rome')\nprint(note(text=f\"Rome {r['celsius']}\"))"),
    answer("It is 12 degrees in Oslo and 24 in Rome."),
]


def speaks(request: ChatRequest) -> str:
    """A model that answers by how far the conversation is."""
    said = sum(message.role == "assistant" for message in request.messages)
    return LONG[said] if request.purpose == "code" else "{}"


def long_run(folder: Path, world: World) -> Orchestrator:
    model = ScriptedModel(speaks, capabilities=Capabilities())
    limits = Limits(program_seconds=0.15)
    return Orchestrator(
        [fake_source(*world.tools())],
        model=model,
        strategy="code",
        persistence=Persistence(journal=folder),
        limits=limits,
    )


def cut(path: Path, folder: Path, kept: int) -> Path:
    """The journal of the same run as it stood after so many events."""
    with Journal.create(folder) as copy:
        for event in read_journal(path, every=True)[1][:kept]:
            copy(event)
    return copy.path.rename(folder / path.name)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    """One run of programs with variables, a failure, a call that is not made again, and a session
    that is lost.
    """
    folder = tmp_path_factory.mktemp("runs")
    world = World()
    done = asyncio.run(long_run(folder, world).run(QUERY))
    assert world.done == ["Oslo 12", "Both [12, 24]", "Rome 24"]
    stops = [e.data["stop"] for e in done.events if e.kind == "round"]
    assert stops == ["", "error", "", "", "time", "error", "", ""]
    return done, find_journal(done.id, folder)


@settings(max_examples=30)
@given(part=st.floats(0, 1))
def test_wherever_a_run_of_programs_ended_it_goes_on_and_no_write_is_repeated(
    part: float, whole: tuple[Run, Path], tmp_path_factory: Any
) -> None:
    first, journal = whole
    events = read_journal(journal)[1]
    kept = max(1, int(part * len(events)))
    world = World()
    world.done = [e.data["arguments"]["text"] for e in events[:kept] if e.kind == "intent"]
    folder = tmp_path_factory.mktemp("cut")
    path, setup = cut(journal, folder, kept), long_run(folder, world)
    known = {e.data["id"] for e in events[:kept] if e.kind == "result"}
    doubts = {e.data["id"]: e.data["arguments"] for e in events[:kept] if e.kind == "intent"}
    if doubts := {id_: given for id_, given in doubts.items() if id_ not in known}:
        with pytest.raises(JournalError, match="in doubt"):
            asyncio.run(setup.resume(path))
        with Journal.reopen(path) as reopened:
            for number, (id_, given_) in enumerate(doubts.items()):
                content = {"noted": given_["text"]}
                said = {
                    "id": id_,
                    "attempt": 1,
                    "by": "user",
                    "outcome": "done",
                    "content": content,
                }
                reopened(Event("resolution", number, 0.0, said))
    done = asyncio.run(setup.resume(path))
    assert done.answer == first.answer
    assert done.plan == first.plan
    assert [(r.id, r.tool, r.content) for r in done.results] == [
        (r.id, r.tool, r.content) for r in first.results
    ]
    rounds = [[e.data for e in one.events if e.kind == "round"] for one in (done, first)]
    assert [r["shown"] for r in rounds[0]] == [r["shown"] for r in rounds[1]]
    assert world.done == ["Oslo 12", "Both [12, 24]", "Rome 24"]


async def test_an_answer_that_only_asks_is_put_to_the_user() -> None:
    offered = tools()
    done = await run(says(answer("In which room?")), offered)
    assert (done.answer.text, done.status) == ("In which room?", "abstained")
    told = await run(says(answer("I noted it. What else?")), offered)
    assert "What else?" not in told.answer.text
