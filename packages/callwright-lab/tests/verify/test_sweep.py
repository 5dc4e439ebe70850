"""A sweep that is ended goes on where it stood, spends no more than it may, and leaves in good
order what it cannot judge.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.errors import ConfigError, ModelError
from callwright_lab.verify.budget import Budget, Meter
from callwright_lab.verify.sweep import (
    PATIENCE,
    Finding,
    Journal,
    Row,
    make_row_key,
    open_journal,
    run_sweep,
)


def numbers(*some: int) -> list[Row[int]]:
    return [Row(f"row-{n}", make_row_key(n), n) for n in some]


async def even(number: int, meter: Meter) -> Finding:
    meter.call()
    await asyncio.sleep(0)
    return Finding(
        number % 2 == 0,
        "" if number % 2 == 0 else "odd",
        f"{number} was looked at",
        {"half": number / 2},
    )


class Counting:
    """A judge that knows what it was asked."""

    def __init__(self, dead: Sequence[int] = ()) -> None:
        self.asked: list[int] = []
        self.dead = dead

    async def __call__(self, number: int, meter: Meter) -> Finding:
        self.asked.append(number)
        if number in self.dead:
            raise ModelError("no answer")
        return await even(number, meter)


@given(some=st.lists(st.integers(0, 9), max_size=12), concurrency=st.integers(1, 5))
async def test_findings_stand_as_the_rows_did_and_what_is_the_same_is_judged_once(
    some: list[int], concurrency: int
) -> None:
    judge = Counting()
    made = await run_sweep(numbers(*some), judge, Journal(None, {}), concurrency=concurrency)
    assert [one.id for one in made.findings] == [f"row-{n}" for n in some]
    assert [one.kept for one in made.findings] == [n % 2 == 0 for n in some]
    assert sorted(judge.asked) == sorted(set(some))
    assert (len(made.kept) + len(made.dropped), made.left, made.stopped) == (len(some), (), "")
    assert made.cost.calls == len(set(some))


async def test_what_is_on_record_is_not_judged_again_and_reads_the_same(tmp_path: Path) -> None:
    path, rows = tmp_path / "deep" / "journal.jsonl", numbers(1, 2, 3, 4)
    with open_journal(path, {"stage": "test"}) as journal:
        first = await run_sweep(rows, even, journal, budget=Budget(calls=2), concurrency=1)
    assert [one.id for one in first.findings] == ["row-1", "row-2"]
    assert first.left == ("row-3", "row-4")
    assert first.stopped == "the budget of 2 calls is spent"
    with path.open("a") as file:
        file.write('{"key": "cut o')  # the process was ended in a line
    judge = Counting()
    with open_journal(path, {"stage": "test"}) as journal:
        again = await run_sweep(rows, judge, journal)
    assert sorted(judge.asked) == [3, 4]
    assert (again.findings[:2], again.again, again.cost.calls) == (first.findings, 2, 2)
    with open_journal(path, {"stage": "test"}, anew=True) as journal:
        whole = await run_sweep(rows, even, journal)
    assert whole.again == 0
    assert [f.found for f in whole.findings] == [f.found for f in again.findings]


async def test_a_journal_of_other_settings_is_refused_and_names_them(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with open_journal(path, {"stage": "test", "least": 8}) as journal:
        await run_sweep(numbers(1), even, journal)
    before = path.read_text()
    with (
        pytest.raises(ConfigError, match="other settings: least"),
        open_journal(path, {"stage": "test", "least": 9}),
    ):
        pass
    assert path.read_text() == before, "nothing is lost"
    path.write_text(before + '{"kept": true}\n')
    with (
        pytest.raises(ConfigError, match="no finding"),
        open_journal(path, {"stage": "test", "least": 8}),
    ):
        pass


async def test_one_process_at_a_time_owns_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with open_journal(path, {}), pytest.raises(ConfigError, match="in use"), open_journal(path, {}):
        pass
    with open_journal(path, {}):
        pass


async def test_a_journal_that_cannot_be_written_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "file" / "journal"):
        with (
            pytest.raises(ConfigError, match=f"the journal {place} cannot be written"),
            open_journal(place, {}),
        ):
            pass
    with open_journal(tmp_path / "journal", {}) as journal:
        (tmp_path / "journal").unlink()
        (tmp_path / "journal").mkdir()
        with pytest.raises(ConfigError, match="cannot be written"):
            await run_sweep(numbers(1, 2, 3), even, journal, concurrency=3)


async def test_a_row_for_which_no_model_answers_waits_and_a_dead_model_ends_the_sweep() -> None:
    made = await run_sweep(numbers(1, 2, 3), Counting(dead=[2]), Journal(None, {}), concurrency=1)
    assert made.left == ("row-2",)
    assert "row-2: no answer" in made.stopped
    dead = Counting(dead=range(100))
    with pytest.raises(ModelError, match="no answer"):
        await run_sweep(numbers(*range(20)), dead, Journal(None, {}), concurrency=1)
    assert len(dead.asked) == PATIENCE
    with pytest.raises(ModelError, match="no answer"):
        await run_sweep(numbers(1), Counting(dead=[1]), Journal(None, {}))


async def test_what_a_broken_judge_raises_is_raised_and_what_was_found_is_kept(
    tmp_path: Path,
) -> None:
    async def broken(number: int, meter: Meter) -> Finding:
        if number == 2:
            raise ValueError("a mistake of ours")
        return await even(number, meter)

    path = tmp_path / "journal.jsonl"
    with open_journal(path, {}) as journal, pytest.RaisesGroup(ValueError):
        await run_sweep(numbers(1, 2), broken, journal, concurrency=1)
    with open_journal(path, {}) as journal:
        assert [one.id for one in journal.findings.values()] == ["row-1"]


async def test_progress_counts_rows_and_cost() -> None:
    told: list[tuple[str, int, int]] = []
    await run_sweep(
        numbers(1, 2, 3),
        even,
        Journal(None, {}),
        concurrency=1,
        progress=lambda finding, done, cost: told.append((finding.id, done, cost.calls)),
    )
    assert told == [("row-1", 1, 1), ("row-2", 2, 2), ("row-3", 3, 3)]


@pytest.mark.parametrize(
    "text", ['{"id": "q1", "query": "Whic', '{"query": "Which?"}\n', "notes", "\x00\x01"]
)
@pytest.mark.parametrize("anew", [False, True])
def test_a_file_that_is_no_journal_is_left_as_it_is(tmp_path: Path, text: str, anew: bool) -> None:
    path = tmp_path / "asked.jsonl"
    path.write_text(text)
    with (
        pytest.raises(ConfigError, match="is no journal"),
        open_journal(path, {"stage": "test"}, anew=anew),
    ):
        pass
    assert path.read_text() == text
