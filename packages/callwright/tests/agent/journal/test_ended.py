"""A run that has ended is told from its journal."""

from __future__ import annotations

from pathlib import Path

from callwright import Orchestrator
from callwright.agent.journal.ended import ended_life, recorded_outcome
from callwright.agent.journal.store import list_journals, read_journal
from callwright.agent.options import Persistence
from callwright.nouns.trace import Event
from callwright.nouns.types import READ_LOCAL
from callwright.testing import FakeTool, ScriptedModel, fake_source

CALLS = {"calls": [{"tool": "population", "arguments": {"iata": "OSL"}}]}
SAID = {
    "statements": [{"text": "7 people live at OSL.", "results": ["r1"]}],
    "missing": ["the weather"],
}


async def test_the_outcome_of_a_run_is_what_its_journal_tells(tmp_path: Path) -> None:
    tool = FakeTool(
        "population", {"iata": {"type": "string"}}, output={"people": 7}, effects=READ_LOCAL
    )
    model = ScriptedModel({"bind": CALLS, "answer": SAID})
    run = await Orchestrator(
        [fake_source(tool)], model=model, persistence=Persistence(journal=tmp_path)
    ).run("How many people live at OSL, and what is the weather?")
    [path] = list_journals(tmp_path)
    life = ended_life(read_journal(path, every=True)[1])
    found = recorded_outcome(life)
    assert life[0].kind == "run.start"
    for name in ("query", "strategy", "status", "answer", "plan", "limit", "in_doubt", "stale"):
        assert found[name] == getattr(run, name), name
    assert [(r.id, r.content) for r in found["results"]] == [("r1", {"people": 7})]
    assert found["cost"]["usage"] == run.cost.usage
    assert found["cost"]["calls"] == 1


def event(kind: str, **data: object) -> Event:
    return Event(kind, 0, 0.0, data)


def test_only_the_last_segment_ends_a_run() -> None:
    start, end = event("run.start"), event("run.end")
    again = event("run.start", segment=2)
    assert ended_life([]) == ()
    assert ended_life([event("note"), start]) == ()
    assert ended_life([start, end, again]) == ()
    assert ended_life([start, again, end, again]) == (again, end)
    assert ended_life([start, end, event("resolution")])[-1].kind == "resolution"
