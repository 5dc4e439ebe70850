"""Every real call of a run says something of its tool; what a model did wrong does not, and a
replay says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callwright import Orchestrator
from callwright.agent.options import Persistence
from callwright.nouns.errors import Failure
from callwright.nouns.plan import Plan
from callwright.nouns.types import READ_LOCAL, Effects, ToolOutput
from callwright.testing import FakeTool, ScriptedModel, fake_source, in_order
from callwright.testing.faults import TIMED_OUT, UNAVAILABLE, FaultySource
from callwright.tools.evidence import EvidenceStore, Health

TEXT = {"type": "string"}
ANSWER = {"statements": [], "missing": ["everything"]}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EvidenceStore]:
    with EvidenceStore(tmp_path / "e.db") as made:
        yield made


class OneLayer:
    name = "one"

    def plan(self, query: str, tools: Any) -> Plan:
        return Plan.from_layers([[t.name for t in tools]])


def script(city: str = "Oslo") -> ScriptedModel:
    wanted = {"calls": [{"tool": "people", "arguments": {"city": city}}]}
    return ScriptedModel(lambda r: ANSWER if r.purpose.startswith("answer") else wanted)


def people(output: Any, effects: Effects = READ_LOCAL) -> FakeTool:
    return FakeTool("people", {"city": TEXT}, output=output, effects=effects)


async def run(
    store: EvidenceStore, *tools: FakeTool, faults: Any = None, journal: Any = False, **options: Any
) -> tuple[Health, Orchestrator]:
    source: Any = fake_source(*tools)
    if faults:
        source = FaultySource(source, faults)
    made = Orchestrator(
        [source],
        model=script(),
        planner=OneLayer(),
        persistence=Persistence(journal, store),
        **options,
    )
    await made.run("How many people live in Oslo?")
    return store.health(tools[0].tool.digest), made


async def test_a_call_that_worked_is_kept_with_its_arguments_and_its_reply(
    store: EvidenceStore,
) -> None:
    found, _ = await run(store, people({"people": 709_037}))
    assert found.counts == {"functional_success": 1}
    [seen] = found.worked
    assert (seen.arguments, seen.reply, seen.origin) == (
        {"city": "Oslo"},
        '{"people":709037}',
        "run",
    )
    assert found.seconds is not None


async def test_an_outage_is_the_tools_fault_each_time_and_recovery_counts_too(
    store: EvidenceStore,
) -> None:
    found, _ = await run(store, people({"people": 7}), faults={"people": [TIMED_OUT, UNAVAILABLE]})
    assert found.counts == {"functional_success": 1, "execution_failure": 2}
    assert found.kinds == {"timeout": 1, "unavailable": 1}
    assert found.failed[0].proof


@pytest.mark.parametrize(
    "output",
    [
        Failure("tool_error", "no such city: Oslo", status=400),
        {"error": "city must be a code of three letters"},
    ],
)
async def test_what_a_tool_refuses_is_not_held_against_it(
    store: EvidenceStore, output: Any
) -> None:
    found, _ = await run(store, people(output))
    assert found.counts
    assert found.rate.success == 0.5


async def test_a_tool_that_wants_what_its_documentation_does_not_name_has_failed_itself(
    store: EvidenceStore,
) -> None:
    found, _ = await run(
        store, people(Failure("tool_error", "the parameter 'tenant' is required", status=400))
    )
    assert set(found.kinds or {}) == {"undocumented"}
    assert found.rate.success < 0.5


async def test_nothing_in_a_reply_counts_against_the_tool(store: EvidenceStore) -> None:
    found, _ = await run(store, people([]))
    assert found.counts == {"semantic_mismatch": 1}
    assert found.kinds == {"empty": 1}
    assert found.rate.success < 0.5


async def test_a_reply_that_only_looks_like_one_is_nothing(store: EvidenceStore) -> None:
    found, _ = await run(store, people({"count": 0, "results": []}))
    assert found.kinds == {"empty": 1}


async def test_a_simulated_reply_is_not_kept(store: EvidenceStore) -> None:
    found, _ = await run(store, people(ToolOutput({"people": 7}, simulated="model")))
    assert found.last is None


async def test_a_resumed_run_does_not_count_what_it_replays(
    store: EvidenceStore, tmp_path: Path
) -> None:
    tool = people(in_order({"people": 7}, {"people": 8}))
    found, made = await run(store, tool, journal=tmp_path / "runs")
    [journal] = (tmp_path / "runs").glob("*.run")
    await made.resume(journal)
    assert store.health(tool.tool.digest).counts == found.counts == {"functional_success": 1}


async def test_two_runs_without_a_journal_are_two(store: EvidenceStore) -> None:
    await run(store, people({"people": 7}))
    found, _ = await run(store, people({"people": 7}))
    assert found.counts == {"functional_success": 2}


async def test_a_store_that_cannot_be_written_ends_no_run_and_is_named(
    store: EvidenceStore,
) -> None:
    store.close()
    tool = people({"people": 7})
    made = Orchestrator(
        [fake_source(tool)],
        model=script(),
        planner=OneLayer(),
        persistence=Persistence(evidence=store),
    )
    done = await made.run("How many people live in Oslo?")
    assert [r.content for r in done.results] == [{"people": 7}]
    assert any("is not kept" in str(e.data.get("text")) for e in done.events)
