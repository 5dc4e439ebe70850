"""A run with an output of a type: what it holds, and that it is kept and resumed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from callwright import Limits, Orchestrator, Persistence, Run, TypedRun
from callwright.agent.journal.store import Journal, list_journals, read_journal
from callwright.agent.options import Interaction
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import ReplyMode
from callwright.nouns.types import READ_LOCAL
from callwright.testing import FakeTool, ScriptedModel, fake_source

QUERY = "How many people live in Oslo?"
CALL = {"calls": [{"tool": "population", "arguments": {"city": "Oslo"}}], "later": []}
SAID = {"statements": [{"text": "717710 people live in Oslo.", "results": ["r1"]}], "missing": []}


@dataclass
class City:
    city: str
    people: int
    country: str | None = None


def population(**more: Any) -> FakeTool:
    output = {"city": "Oslo", "people": 717710}
    given = {"output": output, "effects": READ_LOCAL, **more}
    return FakeTool("population", {"city": {"type": "string"}}, **given)


def setup(*outputs: Any, **options: Any) -> Orchestrator:
    script = {"bind": CALL, "answer": SAID, "answer.output": list(outputs)}
    model = options.pop("model", None) or ScriptedModel(script)
    tools = [fake_source(options.pop("tool", None) or population())]
    return Orchestrator(tools, model=model, **options)


async def test_the_answer_is_filled_into_a_type_besides() -> None:
    found = {"city": "Oslo", "people": "717710", "country": None}
    done = await setup(found).run(QUERY, output_type=City)
    assert isinstance(done, TypedRun)
    assert done.output == City("Oslo", 717710)
    assert (done.status, done.lacking) == ("answered", ())
    assert done.answer.text == "717710 people live in Oslo."
    assert [(e.path, e.rule) for e in done.answer.edits] == [("/output/people", "text_to_number")]
    told = done.to_dict()
    assert told["output"] == {"city": "Oslo", "people": 717710, "country": None}


async def test_a_run_without_a_type_asks_nothing_more() -> None:
    model = ScriptedModel({"bind": CALL, "answer": SAID})
    done = await setup(model=model).run(QUERY)
    assert type(done) is Run
    assert [request.purpose for request in model.requests] == ["bind", "answer"]


async def test_what_the_output_lacks_is_missing_and_the_run_is_partial() -> None:
    empty = {"city": "Oslo", "people": None}
    done = await setup(empty, empty).run(QUERY, output_type=City)
    assert done.output is None
    assert done.lacking == ("/people: no result states a value",)
    assert done.status == "partial"
    assert "output /people: no result states a value" in done.answer.missing
    assert done.answer.text.endswith("- output /people: no result states a value")


async def test_where_nothing_was_found_nobody_is_asked() -> None:
    model = ScriptedModel({"bind": {"later": ["none"], "reason": "no"}, "*": {"calls": []}})
    done = await setup(model=model).run(QUERY, output_type=City)
    assert (done.output, done.status) == (None, "abstained")
    assert done.lacking == ("no result was found to take its values from",)
    assert "output" not in done.answer.text
    assert "answer.output" not in [request.purpose for request in model.requests]


async def test_a_limit_before_the_output_is_said() -> None:
    done = await setup(limits=Limits(model_calls=2)).run(QUERY, output_type=City)
    assert done.output is None
    assert "model_calls" in done.lacking[0]
    assert "717710" in done.answer.text


@pytest.mark.parametrize("strategy", ["react", "dfsdt", "dag"])
@pytest.mark.parametrize("mode", ["schema", "text", "native"])
async def test_every_strategy_can_fill_one(strategy: str, mode: ReplyMode) -> None:
    call = {"thought": "t", "action": CALL["calls"][0]}
    end = {"thought": "t", "action": {"tool": "finish", "reason": "done"}}
    plan = {"steps": [{"id": "1", "tool": "population", "arguments": {"city": "Oslo"}}]}
    binds = {"schema": [call, end, end]}.get(
        mode, ['Action: population\nAction Input: {"city": "Oslo"}', "Finish: done"]
    )
    script = {
        "bind": binds,
        "plan": plan,
        "answer": SAID,
        "answer.output": {"city": "Oslo", "people": 717710},
        "*": "No call: done",
    }
    done = await setup(
        model=ScriptedModel(script), strategy=strategy, interaction=Interaction(mode)
    ).run(QUERY, output_type=City)
    assert done.output == City("Oslo", 717710)


async def test_a_run_that_is_resumed_fills_its_output_as_json(tmp_path: Path) -> None:
    good = {"city": "Oslo", "people": 717710}
    kept = Persistence(journal=tmp_path)
    first = await setup(good, persistence=kept).run(QUERY, output_type=City)
    replayed = await setup(model=ScriptedModel([]), persistence=kept).resume(first.id)
    assert isinstance(replayed, TypedRun)
    assert replayed.output == good
    [path] = list_journals(tmp_path)
    _, events = read_journal(path, every=True)
    answered = next(n for n, e in enumerate(events) if e.kind == "answer")
    last = max(n for n, e in enumerate(events[:answered]) if e.kind == "model")
    path.unlink()
    with Journal.create(tmp_path) as copy:
        for event in events[:last]:
            copy(event)
    model = ScriptedModel({"answer.output": good})
    again = await setup(model=model, persistence=kept).resume(copy.path)
    assert isinstance(again, TypedRun)
    assert again.output == good
    assert [request.purpose for request in model.requests] == ["answer.output"]


async def test_a_type_without_a_json_form_is_refused_before_anything_is_asked() -> None:
    model = ScriptedModel([])
    with pytest.raises(ConfigError, match="the output type cannot be used"):
        await setup(model=model).run(QUERY, output_type=object.__init__)  # type: ignore[call-overload]
    assert not model.requests
