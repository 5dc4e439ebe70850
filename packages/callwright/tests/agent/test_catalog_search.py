"""A run over many tools is shown a few: those that fit, and that were seen to work; more where
these fall short.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from callwright import Limits, Orchestrator, Run
from callwright.agent.catalog_search import Shortlisting, choose_shortlist
from callwright.agent.journal.store import Journal, list_journals, read_journal
from callwright.agent.options import Persistence, Safety, ToolSelection
from callwright.agent.probing.settings import OWN, TrialSettings
from callwright.nouns.errors import ConfigError, Failure, JournalError
from callwright.nouns.plan import Plan
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.types import (
    DESTRUCTIVE,
    READ_LOCAL,
    WRITE,
    Message,
    Tool,
    ToolCall,
    ToolResult,
)
from callwright.testing import FakeTool, ScriptedModel, fake_source, offered_tools
from callwright.tools.evidence import EvidenceStore, Observation

TEXT = {"type": "string"}
QUERY = "What is the weather in Oslo?"
DEAD = Failure("auth", "401 Unauthorized", status=401)
WORDS = "stamp recipe poem ledger parcel tenant invoice choir garden bridge canoe violin".split()


class EachAlone:
    """Every tool in a layer of its own."""

    name = "each"

    def plan(self, query: str, tools: Any) -> Plan:
        return Plan.from_layers([[t.name] for t in tools])


def noise(count: int) -> list[FakeTool]:
    return [
        FakeTool(
            f"{WORDS[n % len(WORDS)]}_{n}",
            {"id": TEXT},
            output={"n": n},
            description=f"The {WORDS[n % 12]} {n}.",
        )
        for n in range(count)
    ]


def weather(
    name: str = "get_weather",
    output: Any = None,
    about: str = "The weather in a city.",
    **more: Any,
) -> FakeTool:
    return FakeTool(
        name,
        {"city": TEXT},
        output=output or {"sky": "rain", "from": name},
        description=about,
        **more,
    )


def model(*names: str, **more: Any) -> ScriptedModel:
    """Chooses and calls what it is shown of these tools, for Oslo."""

    def reply(request: ChatRequest) -> Any:
        text = request.messages[-1].content
        if request.purpose == "select":
            return {"needed": [n for n in names if f"- {n}:" in text]}
        if request.purpose.startswith("answer"):
            return {
                "statements": [
                    {"text": "It rains.", "results": re.findall(r"\br\d+\b", text)[-1:]}
                ],
                "missing": [],
            }
        shown = offered_tools(request)
        calls = [
            {"tool": n, "arguments": more.get(n, {"city": "Oslo"})} for n in names if n in shown
        ]
        return {"calls": calls} if calls else {"useful": ["none"], "reason": "none of them"}

    return ScriptedModel(reply)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EvidenceStore]:
    with EvidenceStore(tmp_path / "e.db") as made:
        yield made


def setup(tools: list[FakeTool], asked: ScriptedModel, **options: Any) -> Orchestrator:
    selection = ToolSelection(shortlist=3)
    return Orchestrator(
        [fake_source(*tools)],
        model=asked,
        planner=EachAlone(),
        **{"selection": selection, **options},
    )


def events(run: Run, kind: str) -> list[Any]:
    return [e.data for e in run.events if e.kind == kind]


def prompts(asked: ScriptedModel) -> str:
    return "\n".join(m.content for request in asked.requests for m in request.messages)


async def test_a_run_is_shown_what_fits_its_request_and_nothing_else() -> None:
    tools, asked = [*noise(150), weather()], model("get_weather")
    done = await setup(tools, asked).run(QUERY)
    assert [(r.tool, r.ok) for r in done.results] == [("get_weather", True)]
    [found] = events(done, "shortlist")
    assert found["names"][0] == "get_weather"
    assert len(found["names"]) <= 3
    assert not set(re.findall(r"[a-z]+_\d+", prompts(asked))) - set(found["names"])
    assert events(done, "run.start")[0]["tools"] == []


async def test_where_nothing_fits_nothing_is_shown_and_the_run_abstains() -> None:
    done = await setup(noise(30), model()).run("Wie spät ist es?")
    assert (done.status, done.results) == ("abstained", ())


async def test_what_failed_in_earlier_runs_is_not_shown_first_again(store: EvidenceStore) -> None:
    bad, good = weather("weather_alpha", DEAD), weather("weather_beta")
    store.record([Observation(bad.name, bad.tool.digest, "execution_failure", kind="auth")])
    done = await setup(
        [bad, good, *noise(20)],
        model(good.name),
        persistence=Persistence(evidence=store),
        selection=ToolSelection(shortlist=1),
    ).run(QUERY)
    assert [r.tool for r in done.results] == ["weather_beta"]
    assert events(done, "run.start")[0]["known"] == {bad.name: pytest.approx(1 / 3, abs=1e-3)}


async def test_trials_sink_what_does_not_work_before_the_model_sees_it(
    store: EvidenceStore,
) -> None:
    bad, good = weather("weather_alpha", DEAD), weather("weather_beta")
    tools, asked = [bad, good, *noise(20)], model("weather_alpha", "weather_beta")
    done = await setup(
        tools,
        asked,
        selection=ToolSelection(shortlist=1, trials="read-only"),
        persistence=Persistence(evidence=store),
    ).run(QUERY)
    assert [r.tool for r in done.results] == ["weather_beta"]
    assert "weather_alpha" not in prompts(asked)
    assert store.health(bad.tool.digest).kinds == {"auth": 1}
    assert done.cost.calls == len(bad.calls) + len(good.calls)


async def test_trials_make_no_write_unless_it_is_thrown_away() -> None:
    for trials, calls in (("read-only", 0), ("sandbox", 1)):
        post = weather("post_weather", effects=WRITE)
        await setup(
            [post, *noise(20)], model(), selection=ToolSelection(shortlist=3, trials=trials)
        ).run(QUERY)
        assert len(post.calls) == calls
    post = weather("post_weather", effects=WRITE)
    await setup(
        [post, *noise(20)],
        model(),
        selection=ToolSelection(shortlist=3, trials="sandbox"),
        safety=Safety(dry_run=True),
    ).run(QUERY)
    assert post.calls == []


async def test_trials_leave_the_run_at_least_half_of_its_calls() -> None:
    tools = [weather(f"weather_{c}") for c in "abcdefgh"]
    done = await setup(
        tools,
        model("weather_a"),
        selection=ToolSelection(shortlist=3, trials="read-only"),
        limits=Limits(tool_calls=4),
    ).run(QUERY)
    assert sum(len(t.calls) for t in tools) <= 4
    assert any(r.ok for r in done.results)


async def test_trials_leave_the_run_half_of_its_time() -> None:
    hangs = weather("weather_alpha", hold=asyncio.Event())
    done = await setup(
        [hangs, weather(), *noise(5)],
        model("get_weather"),
        selection=ToolSelection(shortlist=2, trials="read-only"),
        limits=Limits(seconds=1.0),
    ).run(QUERY)
    assert [r.tool for r in done.results if r.ok] == ["get_weather"]


async def test_a_dead_tools_twin_is_found_beyond_the_shortlist() -> None:
    bad, good = (
        weather("city_weather", DEAD),
        weather("weather_of_city", about="The weather of a city, from stations."),
    )
    schema = {"type": "object", "properties": {"sky": TEXT, "from": TEXT}}
    for one in (bad, good):
        one.tool = type(one.tool)(**{**vars(one.tool), "output_schema": schema})
    asked = model("city_weather", "weather_of_city")
    done = await setup([bad, good, *noise(40)], asked, selection=ToolSelection(shortlist=1)).run(
        QUERY
    )
    assert [(r.tool, r.ok) for r in done.results] == [
        ("city_weather", False),
        ("weather_of_city", True),
    ]
    assert [e["step"] for e in events(done, "recovery")] == ["substitute"]
    assert len(events(done, "shortlist")) == 2


async def test_what_fits_next_best_is_offered_for_a_dead_tool_that_has_no_twin() -> None:
    bad = weather("weather_now", DEAD)
    other = FakeTool(
        "forecast",
        {"place": TEXT},
        output={"mm": 4},
        description="Rain and weather to come at a place.",
    )
    asked = model("weather_now", "forecast", forecast={"place": "Oslo"})
    done = await setup([bad, other, *noise(40)], asked, selection=ToolSelection(shortlist=1)).run(
        QUERY
    )
    assert [(r.tool, r.ok) for r in done.results] == [("weather_now", False), ("forecast", True)]
    assert [e["step"] for e in events(done, "recovery")] == ["retrieve"]


async def test_where_the_model_finds_nothing_useful_the_catalogue_is_searched_once_more() -> None:
    decoy = FakeTool(
        "weather_words",
        {},
        output={},
        description="Words for the weather: what is the weather in words?",
    )
    asked = model("get_weather")
    done = await setup(
        [decoy, weather(), *noise(40)], asked, selection=ToolSelection(shortlist=1)
    ).run(QUERY)
    assert [r.tool for r in done.results] == ["get_weather"]
    assert [e["offered"][0] for e in events(done, "recovery")] == ["get_weather"]


async def test_no_step_beyond_the_shortlist_is_free() -> None:
    decoy = FakeTool(
        "weather_words",
        {},
        output={},
        description="Words for the weather: what is the weather in words?",
    )
    tools = [decoy, weather(), *noise(40)]
    done = await setup(
        tools, model("get_weather"), selection=ToolSelection(shortlist=1), limits=Limits(repairs=0)
    ).run(QUERY)
    assert done.results == ()


async def test_a_value_that_a_call_lacked_is_looked_for_in_the_whole_catalogue() -> None:
    def at(station_id: str) -> Any:
        return (
            {"sky": "rain"}
            if station_id == "ST77"
            else Failure("tool_error", f"no station {station_id!r}")
        )

    report = FakeTool(
        "weather_report",
        {"station_id": TEXT},
        output=at,
        description="The weather at a station now.",
    )
    finder = FakeTool(
        "find_stations", {"place": TEXT}, output={"station_id": "ST77"}, description="Find a station_id by place.",
        output_schema={"type": "object", "properties": {"station_id": TEXT}},
    )  # fmt: skip

    def reply(request: ChatRequest) -> Any:
        text = request.messages[-1].content
        shown = offered_tools(request)
        if request.purpose.startswith("answer"):
            return {"statements": [{"text": "It rains.", "results": ["r3"]}], "missing": []}
        if request.purpose == "repair":
            return {"tool_calls": []}
        if "find_stations" in shown:
            return {"calls": [{"tool": "find_stations", "arguments": {"place": "Oslo"}}]}
        known = "ST77" if "ST77" in text else "Oslo"
        return {"calls": [{"tool": "weather_report", "arguments": {"station_id": known}}]}

    tools = [report, finder, *noise(40)]
    done = await setup(tools, ScriptedModel(reply), selection=ToolSelection(shortlist=1)).run(
        "What is the weather now in Oslo?"
    )
    assert ("weather_report", True) in [(r.tool, r.ok) for r in done.results]
    assert finder.calls == [{"place": "Oslo"}]


async def test_what_a_tried_tool_needs_first_is_tried_before_it_and_stays_beside_it() -> None:
    gives = {"type": "object", "properties": {"station_id": TEXT}}
    about = {"description": "The weather at a station now."}
    rain = FakeTool("rain_at_station", {"station_id": TEXT}, output={"rain": "weak"}, **about)
    places = FakeTool(
        "list_places",
        {},
        output={"station_id": "s7"},
        output_schema=gives,
        description="All stations.",
    )
    tools = [rain, places, *noise(60)]
    done = await setup(
        tools, model(), selection=ToolSelection(shortlist=1, trials="read-only")
    ).run("Weather at the station in Oslo?")
    assert events(done, "shortlist")[0]["names"] == ["rain_at_station", "list_places"]
    assert rain.calls[0] == {"station_id": "s7"}


@pytest.mark.parametrize("query", [QUERY, "Lösche das weather in Oslo", "删除 Oslo 的 weather"])
async def test_a_destructive_tool_that_nobody_can_approve_is_not_found_either(query: str) -> None:
    wipe = FakeTool(
        "delete_weather",
        {"city": TEXT},
        description="Delete the weather in a city.",
        effects=DESTRUCTIVE,
    )
    asked = model("get_weather")
    done = await setup([wipe, weather(), *noise(20)], asked).run(query)
    assert "delete_weather" not in prompts(asked)
    assert ("delete_weather", True) in [(s.tool, "not shown" in s.reason) for s in done.skips]

    shown = await setup(
        [wipe, weather(), *noise(20)],
        model("get_weather"),
        safety=Safety(lambda proposal: False),
    ).run(query)
    [found] = events(shown, "shortlist")
    assert "delete_weather" in found["names"]
    assert found["kept_back"] == []


async def test_only_the_tools_that_were_named_can_be_found() -> None:
    asked = model("get_weather", "weather_two")
    done = await setup(
        [weather(), weather("weather_two"), *noise(20)],
        asked,
        selection=ToolSelection(shortlist=3, only=["weather_two"]),
    ).run(QUERY)
    assert {r.tool for r in done.results} == {"weather_two"}


class MakesUp:
    """A simulator that asks its model once for each reply."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    async def simulate(
        self, call: ToolCall, tool: Tool, query: str, error: Failure | None
    ) -> ToolResult:
        told = await self._model.complete(
            ChatRequest((Message("user", tool.name),), purpose="simulate")
        )
        content = {"city": "Oslo", "sky": told.text}
        return ToolResult(call.id, tool.name, call.arguments, content, simulated=True)


def probing_model(liked: str = "get_weather") -> ScriptedModel:
    """As :func:`model`, and it plans trials, ranks one candidate first and makes up rain."""
    plain = model("get_weather", "weather_two")

    async def reply(request: ChatRequest) -> Any:
        match request.purpose:
            case "trial.plan":
                return {"arguments": {"city": "Oslo"}}
            case "trial.rank":
                shown = re.findall(r"^\[(\d+)\] (\w+)", request.messages[-1].content, re.M)
                return str([int(number) for number, name in shown if name == liked])
            case "simulate":
                return "rain"
        return await plain.complete(request)

    return ScriptedModel(reply)


@pytest.mark.parametrize("liked", ["get_weather", "weather_two"])
async def test_the_trials_of_a_run_ask_its_model_within_its_budget(liked: str) -> None:
    tools = [weather(), weather("weather_two"), *noise(20)]
    asked = probing_model(liked)
    trials = TrialSettings(OWN)
    done = await setup(
        tools,
        asked,
        selection=ToolSelection(shortlist=2, trials="read-only", probing=trials),
    ).run(QUERY)
    purposes = [request.purpose for request in asked.requests]
    assert "trial.plan" in purposes
    assert purposes.count("trial.rank") == 1
    assert {r.max_tokens for r in asked.requests if r.purpose == "trial.plan"} == {512}
    [made] = events(done, "trials")
    assert made["trials"]["model_calls"] == sum(p.startswith("trial") for p in purposes)
    assert done.cost.model_calls == len(purposes), "trials are charged as all questions are"
    assert events(done, "shortlist")[0]["names"][0] == liked, "ranked first by the model"


async def test_the_trials_of_a_run_have_its_profile() -> None:
    asked = probing_model()
    selection = ToolSelection(shortlist=2, trials="read-only", probing=TrialSettings(OWN))
    tools = [weather(about="word " * 900), *noise(20)]
    await setup(tools, asked, selection=selection, model_profile="large").run(QUERY)
    plan = next(r for r in asked.requests if r.purpose == "trial.plan")
    rank = next(r for r in asked.requests if r.purpose == "trial.rank")
    assert plan.max_tokens == 2_048
    assert plan.messages[-1].content.count("word") == 2_400 // 5
    assert rank.messages[-1].content.count("word") == 800 // 5


async def test_a_dead_tool_of_a_run_gets_a_simulated_reply_which_proves_nothing() -> None:
    slow = Failure("timeout", "no answer in time", retryable=True)
    tools = [weather("weather_alpha", slow), weather(), *noise(5)]
    asked = probing_model()
    trials = TrialSettings(OWN, "transient")
    done = await setup(
        tools,
        asked,
        selection=ToolSelection(shortlist=2, trials="read-only", probing=trials, simulator=MakesUp),
    ).run(QUERY)
    [made] = events(done, "trials")
    found = {one["name"]: one for one in made["trials"]["ranking"]}
    assert found["weather_alpha"]["simulated"]
    assert not found["get_weather"]["simulated"]
    assert found["get_weather"]["outcome"] == "functional_success"
    assert done.cost.model_calls == len(asked.requests)


async def test_made_up_replies_leave_the_run_half_of_its_questions() -> None:
    dead = [weather(f"weather_{i}", Failure("unavailable", "503", status=503)) for i in range(9)]
    asked = probing_model()
    trials = TrialSettings(OWN, "every")
    await setup(
        [*dead, weather()],
        asked,
        selection=ToolSelection(shortlist=8, trials="read-only", probing=trials, simulator=MakesUp),
        limits=Limits(model_calls=16),
    ).run(QUERY)
    purposes = [request.purpose for request in asked.requests]
    assert purposes.count("simulate") == 4
    assert sum(p.startswith("trial") or p == "simulate" for p in purposes) <= 8


async def test_what_a_trial_costs_is_spent_from_its_money_and_no_more() -> None:
    for money, calls in ((0.0, 0), (1.0, 1)):
        first, second = weather(), weather("weather_two")
        trials = TrialSettings(prices=(("*weather*", 0.8),), money=money)
        done = await setup(
            [first, second, *noise(5)],
            model("get_weather"),
            selection=ToolSelection(shortlist=2, trials="read-only", probing=trials),
        ).run(QUERY)
        [made] = events(done, "trials")
        assert made["trials"]["calls"] == calls
        assert any("is left for trials" in problem for problem in made["trials"]["problems"])


async def test_a_resumed_run_tries_as_it_was_told_to() -> None:
    trials = TrialSettings(OWN, "every", (("*", 0.0),), 1.0)
    listing = Shortlisting(2, "read-only", probing=trials)
    told = orjson.loads(orjson.dumps({"shortlist": listing.stated}))
    assert Shortlisting.of(told) == listing
    assert Shortlisting(2).stated == {"size": 2, "trials": "off", "mode": None}, "as ever"


def test_what_makes_no_sense_is_refused() -> None:
    for wrong in (
        {"size": 0},
        {"size": True},
        {"trials": "all"},
        {"probing": TrialSettings(money=1.0)},
    ):
        with pytest.raises(ConfigError):
            Shortlisting(**wrong)
    assert Shortlisting.of({}) is None
    assert Shortlisting.of(
        {"shortlist": {"size": 2, "trials": "off", "mode": None}}
    ) == Shortlisting(2)


def scene() -> tuple[list[FakeTool], ScriptedModel]:
    """A dead tool, a decoy, a twin beyond the shortlist: trials, a shortlist and a second
    search.
    """
    bad = weather("weather_alpha", DEAD)
    report = FakeTool(
        "weather_summary",
        {"city": TEXT},
        output=DEAD,
        description="A summary of weather in a city.",
    )
    good = FakeTool(
        "sky_today",
        {"city": TEXT},
        output={"sky": "rain"},
        description="The sky over a city: weather.",
    )
    return [bad, report, good, *noise(20)], model("weather_summary", "weather_alpha", "sky_today")


async def run_scene(
    tools: list[FakeTool], asked: ScriptedModel, folder: Path, **options: Any
) -> Orchestrator:
    return setup(
        tools,
        asked,
        selection=ToolSelection(shortlist=1, trials="read-only"),
        persistence=Persistence(journal=folder),
        **options,
    )


async def test_a_run_killed_anywhere_goes_on_with_the_shortlist_it_had(tmp_path: Path) -> None:
    tools, asked = scene()
    whole = await (await run_scene(tools, asked, tmp_path / "whole")).run(QUERY)
    [path] = list_journals(tmp_path / "whole")
    _, recorded = read_journal(path, every=True)
    assert {"trials", "shortlist", "result"} <= {e.kind for e in recorded}
    for kept in range(1, len(recorded) + 1):
        folder = tmp_path / str(kept)
        with Journal.create(folder) as copy:
            for event in recorded[:kept]:
                copy(event)
        tools, asked = scene()
        done = await (await run_scene(tools, asked, folder)).resume(copy.path)
        assert [(r.tool, r.arguments, r.content) for r in done.results] == [
            (r.tool, r.arguments, r.content) for r in whole.results
        ]
        assert [e["names"] for e in events(done, "shortlist")] == [
            e["names"] for e in events(whole, "shortlist")
        ]
        had = {e.kind for e in recorded[:kept]}
        if "trials" in had:
            assert not [
                t for t in tools if t.calls and t.name not in {r.tool for r in whole.results}
            ]
        assert done.cost.calls == whole.cost.calls


async def test_a_run_killed_within_its_trials_asks_their_model_nothing_twice(
    tmp_path: Path,
) -> None:
    def begin(folder: Path) -> tuple[ScriptedModel, Orchestrator]:
        asked = probing_model("weather_two")
        tools = [weather("weather_alpha", DEAD), weather(), weather("weather_two"), *noise(5)]
        selection = ToolSelection(shortlist=2, trials="read-only", probing=TrialSettings(OWN))
        persistence = Persistence(journal=folder)
        return asked, setup(tools, asked, selection=selection, persistence=persistence)

    first, orchestrator = begin(tmp_path / "whole")
    whole = await orchestrator.run(QUERY)
    [path] = list_journals(tmp_path / "whole")
    _, recorded = read_journal(path, every=True)
    for kept in range(1, len(recorded) + 1):
        with Journal.create(tmp_path / str(kept)) as copy:
            for event in recorded[:kept]:
                copy(event)
        again, orchestrator = begin(tmp_path / str(kept))
        done = await orchestrator.resume(copy.path)
        answered = sum(event.kind == "model" for event in recorded[:kept])
        assert len(again.requests) == len(first.requests) - answered
        assert events(done, "shortlist")[0]["names"] == events(whole, "shortlist")[0]["names"]
        assert (done.cost.model_calls, done.cost.usage) == (
            whole.cost.model_calls,
            whole.cost.usage,
        ), kept


async def test_evidence_that_came_since_changes_no_run_that_goes_on(
    tmp_path: Path, store: EvidenceStore
) -> None:
    one, two = weather("weather_alpha"), weather("weather_beta")
    tools, asked = [one, two, *noise(20)], model("weather_alpha", "weather_beta")
    before = setup(
        tools,
        asked,
        selection=ToolSelection(shortlist=1),
        persistence=Persistence(evidence=store, journal=tmp_path / "runs"),
    )
    first = await before.run(QUERY)
    [path] = list_journals(tmp_path / "runs")
    _, recorded = read_journal(path, every=True)
    with Journal.create(tmp_path / "cut") as copy:
        for event in recorded[: [e.kind for e in recorded].index("shortlist")]:
            copy(event)
    shown = {one.name: one, two.name: two}[first.results[0].tool]
    store.record([Observation(shown.name, shown.tool.digest, "execution_failure")] * 9)
    again = await before.resume(copy.path)
    assert [r.tool for r in again.results] == [shown.name]


async def test_a_tool_that_was_shown_and_changed_stops_the_resume_and_another_does_not(
    tmp_path: Path,
) -> None:
    tools, asked = [weather(), *noise(20)], model("get_weather")
    await setup(
        tools,
        asked,
        selection=ToolSelection(shortlist=1),
        persistence=Persistence(journal=tmp_path),
    ).run(QUERY)
    [path] = list_journals(tmp_path)
    fewer = [weather(), *noise(5)]
    done = await setup(
        fewer,
        asked,
        selection=ToolSelection(shortlist=1),
        persistence=Persistence(journal=tmp_path),
    ).resume(path)
    assert done.status == "answered"
    other = [weather(about="The weather in a town."), *noise(5)]
    with pytest.raises(JournalError, match="other: get_weather"):
        await setup(
            other,
            asked,
            selection=ToolSelection(shortlist=1),
            persistence=Persistence(journal=tmp_path),
        ).resume(path)
    with pytest.raises(JournalError, match="get_weather, which no source offers"):
        await setup(
            noise(5),
            asked,
            selection=ToolSelection(shortlist=1),
            persistence=Persistence(journal=tmp_path),
        ).resume(path, changed=True)


async def test_the_other_strategies_work_with_a_shortlist_too() -> None:
    for strategy in ("react", "dfsdt"):
        asked = ScriptedModel(
            {
                "bind": [
                    {"call": {"tool": "get_weather", "arguments": {"city": "Oslo"}}},
                    {"finish": True},
                ],
                "answer": [
                    {"statements": [{"text": "It rains.", "results": ["r1"]}], "missing": []}
                ],
            }
        )
        done = await setup([weather(), *noise(60)], asked, strategy=strategy).run(QUERY)
        assert len(events(done, "shortlist")[0]["names"]) <= 3


async def test_effects_decide_what_may_be_tried() -> None:
    read_tool = weather("weather_alpha", effects=READ_LOCAL)
    await setup(
        [read_tool, *noise(20)],
        model("weather_alpha"),
        selection=ToolSelection(shortlist=3, trials="read-only"),
    ).run(QUERY)
    assert read_tool.calls[0] == {"city": "Oslo"}


def test_tools_are_chosen_for_a_request_without_a_run() -> None:
    asked = "The hourly rain and wind forecast, please"
    best = weather("forecast_rain_wind", about="The hourly forecast of rain and wind.")
    other = weather(
        "get_tide",
        about="High and low water at a harbour; the swell, the moon and the wind as well.",
    )
    tools = [made.tool for made in (*noise(20), best, other)]
    found = choose_shortlist(asked, tools, None, "lexical")
    assert [tool.name for tool in found.tools] == ["forecast_rain_wind"], (
        "the other one only mentions a word of it"
    )
    assert [tool.name for tool in choose_shortlist(asked, tools, 2, "lexical").tools] == [
        "forecast_rain_wind",
        "get_tide",
    ]
    assert choose_shortlist(asked, tools[:5], None, "lexical").tools == tuple(tools[:5]), (
        "so few are all planned"
    )
    with pytest.raises(ConfigError, match="at least one"):
        choose_shortlist(asked, tools, 0, "lexical")


def test_what_destroys_is_chosen_after_the_others_unless_the_request_speaks_of_it() -> None:
    gone = weather("delete_weather", about="Delete the weather of a city.", effects=DESTRUCTIVE)
    tools = [made.tool for made in (*noise(20), weather(), gone)]
    assert [tool.name for tool in choose_shortlist(QUERY, tools, 8, "lexical").tools] == [
        "get_weather",
        "delete_weather",
    ]
    assert [tool.name for tool in choose_shortlist(QUERY, tools, 1, "lexical").tools] == [
        "get_weather"
    ]
    asked = choose_shortlist("Delete the weather of Oslo", tools, 1, "lexical")
    assert [tool.name for tool in asked.tools] == ["delete_weather"]
