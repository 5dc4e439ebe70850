"""The generator: full parts, every reason, nothing asked twice, and the same rows after a stop at
any question.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import ConfigError, ModelError
from callwright.nouns.protocols import ChatRequest
from callwright_lab.training.planner.drafts import Draft
from callwright_lab.training.planner.generator import (
    PAPER,
    Recipe,
    Run,
    build_recipe,
    report_drafts,
    select_drafts,
)
from tests.training.plan_case import by_rule, catalogue, chain, numbers, planning_model, stage_of

SMALL = build_recipe((4, 0, 0), (3, 2, 0), (2, 0, 1))


async def made(
    folder: Path, model: Any, wanted: Recipe = SMALL, concurrency: int = 3
) -> tuple[list[Draft], list[Draft]]:
    return await Run(wanted, catalogue(), folder).finish(model, concurrency)


def ids(drafts: list[Draft]) -> list[str]:
    return [d.id for d in drafts]


def test_the_papers_sizes() -> None:
    parts = {
        part: sum(n for (p, _), n in PAPER.counts.items() if p == part)
        for part in ("sft", "test", "rl")
    }
    assert (parts["sft"], parts["test"]) == (3000, 1000)
    assert PAPER.counts["test", "easy"] == PAPER.counts["test", "hard"] == 500


async def test_every_part_is_filled_and_every_other_draft_has_its_reason(tmp_path: Path) -> None:
    kept, dropped = await made(tmp_path, planning_model())
    counts: dict[tuple[str, str], int] = {}
    for d in kept:
        counts[d.part, d.difficulty] = counts.get((d.part, d.difficulty), 0) + 1
    assert counts == dict(SMALL.counts)
    assert all(d.dropped for d in dropped)
    assert len({d.query for d in kept}) == len(kept)
    tested = {d.combination for d in kept if d.part == "test"}
    assert not any(d.combination in tested for d in kept if d.part != "test")


async def test_a_finished_run_asks_nothing_and_a_raised_count_asks_only_for_more(
    tmp_path: Path,
) -> None:
    first = await made(tmp_path, planning_model())
    again = planning_model()
    assert await made(tmp_path, again) == first
    assert again.requests == []
    more = planning_model()
    kept, _ = await made(tmp_path, more, build_recipe((4, 0, 0), (4, 2, 0), (2, 0, 1)))
    assert len(kept) == len(first[0]) + 1
    assert 3 <= len(more.requests) <= 3 * 4


async def test_a_run_that_was_ended_at_any_question_ends_with_the_same_rows(tmp_path: Path) -> None:
    whole = await made(tmp_path / "whole", planning_model(), concurrency=1)
    total = 0
    for stop in (1, 4, 8, 17):
        model = planning_model()
        left = stop

        def answer(request: ChatRequest) -> Any:
            nonlocal left
            left -= 1
            return by_rule(request) if left > 0 else ModelError("the endpoint died")

        folder = tmp_path / f"stop-{stop}"
        with pytest.raises(ModelError, match="died"):
            await made(folder, planning_model(answer), concurrency=1)
        journal = folder / "drafts.jsonl"
        if journal.exists():
            text = journal.read_text()
            journal.write_text(
                text + text.splitlines()[-1][: len(text) // 3 % 90 + 5]
            )  # killed in the middle of a line
        model = planning_model()
        assert await made(folder, model, concurrency=1) == whole
        total += len(model.requests)
        questions = sum(3 - (d.workflow is None) * 2 for d in (*whole[0], *whole[1]))
        assert len(model.requests) <= questions - (stop - 1), "what was answered is not asked again"
    assert total


async def test_drafts_that_come_to_nothing_are_replaced_until_the_tries_are_spent(
    tmp_path: Path,
) -> None:
    def cyclic(request: ChatRequest) -> Any:
        return (
            {"goal": "", "DAG": "1->2, 2->1"}
            if stage_of(request) == "workflow"
            else by_rule(request)
        )

    kept, dropped = await made(
        tmp_path, planning_model(cyclic), build_recipe((0, 0, 0), (2, 0, 0), (0, 0, 0))
    )
    assert kept == []
    assert len(dropped) == 2 * 4
    assert {d.dropped.split(" these")[0] for d in dropped} == {"workflow: cycle:"}
    assert "| sft | easy | 2 | 0 | 8 |" in report_drafts(
        kept, dropped, build_recipe((0, 0, 0), (2, 0, 0), (0, 0, 0))
    )
    assert "| workflow: cycle | 8 |" in report_drafts(kept, dropped, SMALL)


async def test_labels_that_kept_too_little_of_the_workflow_are_dropped_where_agreement_is_asked(
    tmp_path: Path,
) -> None:
    def turned(request: ChatRequest) -> Any:
        if stage_of(request) != "plan":
            return by_rule(request)
        return {
            "intent": "",
            "DAG": chain(numbers(request)[1::-1]),
        }  # the same two tools the other way round

    loose = build_recipe((0, 0, 0), (3, 0, 0), (0, 0, 0), agreement=0.0)
    kept, _ = await made(tmp_path, planning_model(turned), loose)
    assert len(kept) == 3
    assert "| 2.00 | 1.00 | 1.00 | 0.00 |" in report_drafts(kept, [], loose)
    strict = build_recipe((0, 0, 0), (3, 0, 0), (0, 0, 0), agreement=0.5)
    none, dropped = select_drafts(kept, strict)
    assert (none, {d.dropped for d in dropped}) == (
        [],
        {"agreement: node F1 1.00, edge F1 0.00, asked 0.50"},
    )


async def test_a_request_asked_twice_counts_once(tmp_path: Path) -> None:
    def same(request: ChatRequest) -> Any:
        return {"query": "Do it!"} if stage_of(request) == "query" else by_rule(request)

    kept, dropped = await made(
        tmp_path, planning_model(same), build_recipe((0, 0, 0), (2, 0, 0), (0, 0, 0))
    )
    assert ids(kept) == ["sft-easy-00000"]
    assert {d.dropped for d in dropped} == {"duplicate: sft-easy-00000 asks the same"}


async def test_nothing_to_learn_from_has_the_tools_of_a_test_row(tmp_path: Path) -> None:
    kept, _ = await made(tmp_path, planning_model(), build_recipe((20, 0, 0), (0, 0, 0), (0, 0, 0)))
    row = kept[0]
    twin = [d.id for d in kept if d.combination == row.combination][-1]
    other = Draft(
        "sft-easy-00000",
        "sft",
        "easy",
        row.tools,
        2,
        workflow=row.workflow,
        query="other",
        plan=row.plan,
    )
    _, dropped = select_drafts([*kept, other], build_recipe((20, 0, 0), (5, 0, 0), (0, 0, 0)))
    assert [d.dropped for d in dropped] == [f"tested: the test row {twin} needs the same tools"]
    _, surplus = select_drafts(kept, build_recipe((19, 0, 0), (0, 0, 0), (0, 0, 0)))
    assert [d.dropped for d in surplus] == ["surplus: its part is full"]


async def test_a_journal_belongs_to_one_catalogue_and_seed(tmp_path: Path) -> None:
    await made(tmp_path, planning_model())
    with pytest.raises(ConfigError, match="other tools or another seed"):
        Run(SMALL, catalogue()[:-1], tmp_path)
    with pytest.raises(ConfigError, match="other tools or another seed"):
        Run(build_recipe((1, 0, 0), (0, 0, 0), (0, 0, 0), seed=5), catalogue(), tmp_path)


async def test_several_drafts_are_asked_about_at_once(tmp_path: Path) -> None:
    import asyncio

    waiting, most, gate = 0, 0, asyncio.Event()

    async def slow(request: ChatRequest) -> Any:
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        if most == 3:
            gate.set()
        await gate.wait()
        waiting -= 1
        return by_rule(request)

    await made(tmp_path, planning_model(slow), concurrency=3)
    assert most == 3
