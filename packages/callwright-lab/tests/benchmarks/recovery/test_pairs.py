"""Requests for single calls, written by a scripted model; the calls are carried out."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.errors import Failure
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import READ, WRITE, Effects
from callwright.testing import FakeTool, ScriptedModel, fake_source
from callwright.tools.catalog import open_catalog
from callwright_lab.benchmarks.recovery.live import LiveTools, live_world
from callwright_lab.benchmarks.recovery.pairs import (
    NoPair,
    Pair,
    iter_pairs,
    list_unstated_arguments,
)


def told(*cities: str, output: Any = None, effects: Effects = READ) -> FakeTool:
    """A weather tool whose documentation names these cities."""
    known = {"type": "string", **({"examples": [*cities]} if cities else {})}
    return FakeTool(
        "get_weather", {"city": known}, output=output or {"sky": "rain"}, effects=effects
    )


async def made_of(tool: FakeTool, script: Any, each: int = 1) -> tuple[list[Pair], ScriptedModel]:
    model = ScriptedModel(script)
    async with open_catalog(LiveTools((fake_source(tool),)).answering()) as catalog:
        return [
            one async for one in iter_pairs(catalog.tools, live_world(catalog), model, each)
        ], model


async def test_documented_calls_that_work_become_requests_with_one_right_call() -> None:
    script = {"generate": [{"query": "Will it rain in Oslo?"}, {"query": "And in Rome?"}]}
    made, model = await made_of(told("Oslo", "Rome"), script, each=2)
    assert all(isinstance(one, Trajectory) for one in made)
    runs = [one for one in made if isinstance(one, Trajectory)]
    assert [run.query for run in runs] == ["Will it rain in Oslo?", "And in Rome?"]
    assert [run.calls[0].arguments for run in runs] == [{"city": "Oslo"}, {"city": "Rome"}]
    assert [run.results[0].content for run in runs] == [{"sky": "rain"}] * 2
    assert [[tool.name for tool in run.tools] for run in runs] == [["get_weather"]] * 2
    assert '{"city":"Oslo"}' in model.requests[0].messages[-1].content


async def test_where_the_documentation_names_no_value_the_model_proposes_the_call() -> None:
    script = {
        "verify.examples": {"calls": [{"city": "Oslo"}]},
        "generate": {"query": "Rain in Oslo?"},
    }
    (made,), _ = await made_of(told(), script)
    assert isinstance(made, Trajectory)
    assert made.calls[0].arguments == {"city": "Oslo"}


@pytest.mark.parametrize(
    ("tool", "script", "reason"),
    [
        (told(), {"verify.examples": {"calls": []}}, "nothing says how it is called"),
        (
            told("Oslo", output=Failure("tool_error", "closed")),
            {},
            "the right call brings nothing here",
        ),
        (told("Oslo", effects=WRITE), {}, "it may write: --sandbox"),
        (told("Oslo"), {"generate": {"query": "Will it rain?"}}, "the request does not say city"),
        (
            told("Oslo"),
            {"generate": {"query": "Call get_weather for Oslo"}},
            "no request: leak: it names the tool",
        ),
    ],
)
async def test_what_gives_no_case_says_why(tool: FakeTool, script: Any, reason: str) -> None:
    (made,), _ = await made_of(tool, script)
    assert isinstance(made, NoPair)
    assert made.reason.startswith(reason)


def test_every_value_must_stand_in_the_request_but_for_yes_and_no() -> None:
    arguments = {
        "city": "Oslo",
        "days": 2,
        "metric": True,
        "near": {"km": 5, "of": ["Harbour"]},
        "note": None,
    }
    assert (
        list_unstated_arguments(arguments, "The next 2 days in OSLO, within 5 km of the harbour")
        == []
    )
    assert list_unstated_arguments(arguments, "The next days in Oslo, within 5 km of the sea") == [
        "days",
        "near",
    ]
