"""Journals of an earlier version go on from their facts: no recorded write is sent again.

Every stored run counts as one of another version with other prompts, and is cut at every event. The
world outside counts what the continued run sends. The model answers today's questions from the
beginning, so it writes every call of the recorded run once more.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden import journals, names
from golden.journals import Stored
from golden.record_journals import outcome_of
from golden.scenarios import SCENARIOS
from golden.test_journals import FULL, Case
from golden.world import World

CUTS = {name: range(len(stored.rows)) for name, stored in FULL.items()}
FEW = [(name, kept) for name, cuts in CUTS.items() for kept in cuts if kept % 12 == 5]
OPEN = ("read_only", "idempotent", "keyed")


@contextmanager
def memory() -> Iterator[Path]:
    """Give a folder in memory where the system has one: these runs commit thousands of times."""
    shared = Path("/dev/shm")
    place = shared if os.access(shared, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as made:
        yield Path(made)


def with_start(stored: Stored, **other: Any) -> Stored:
    """Return the journal as it would be, had its run been started with something else."""
    rows = list(stored.rows)
    for place, row in enumerate(rows):
        if row[3] == "run.start":
            rows[place] = (*row[:4], json.dumps({**json.loads(row[4]), **other}))
    marks = [(*rows[-1][:2], journals.marked(stored.meta, rows, []))] if rows else []
    return replace(stored, rows=tuple(rows), marks=tuple(marks))


def with_digests(stored: Stored, digest: str) -> Stored:
    """Return the journal as it would be, had every tool that the run was shown been another."""
    rows = []
    for row in stored.rows:
        data = json.loads(row[4])
        if "digests" in data:
            data["digests"] = dict.fromkeys(data["digests"], digest)
        rows.append((*row[:4], json.dumps(data)))
    marks = [(*rows[-1][:2], journals.marked(stored.meta, rows, []))]
    return replace(stored, rows=tuple(rows), marks=tuple(marks))


def aged(stored: Stored) -> Stored:
    """Return the journal as one of another version with other prompts."""
    return with_start(stored, version="0.0.1", prompts="0123456789abcdef")


def old_case(name: str, kept: int, folder: Path) -> Case:
    """Put the first events of an old journal into a folder."""
    full, path = FULL[name], folder / f"{FULL[name].outcome['run']}.run"
    stored = aged(full.cut(kept))
    journals.restore(stored, path, names.own(path, stored.meta))
    return Case(stored, full, SCENARIOS[full.outcome["scenario"]], path)


async def go_on(case: Case, sinks: tuple[Any, ...] = ()) -> tuple[World, names.Run]:
    """Continue a run with a model that begins from the beginning, in a world that counts."""
    _, known = names.read_journal(case.path)
    world = World(case.scenario.unstable, known)
    setup = case.scenario.setup(
        world, case.scenario.script, approve=case.scenario.approve, sinks=sinks
    )
    return world, await setup.resume(case.path)


def written(event: Any) -> str:
    """Return a write as the world counts it, but for its key."""
    return json.dumps([event["tool"], event["arguments"]], sort_keys=True)


def recorded_writes(events: list[Any]) -> dict[str, dict[str, Any]]:
    """Return what is recorded of each writing call: its last intent, and whether it may be sent.

    ``state`` is ``done``, ``doubtful``, ``open`` or ``undone``.
    """
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        data = event.data
        if event.kind == "intent":
            found.pop(data.get("earlier", ""), None)  # it is sent once more under this id
            found[data["id"]] = {**data, "state": "open"}
        elif event.kind == "result" and data["id"] in found:
            found[data["id"]]["state"] = _state(data["failure"])
        elif event.kind == "resolution":
            outcome = data["outcome"]
            found[data["id"]]["state"] = "done" if outcome == "done" else "undone"
    return found


def _state(failure: dict[str, Any] | None) -> str:
    if failure is None:
        return "done"
    return "undone" if failure["not_done"] else "doubtful"


def require_no_write_again(events: list[Any], world: World, run: names.Run) -> None:
    """What these events record as done is not sent; what they leave in doubt is named."""
    is_sandbox = any(e.data.get("sandbox") for e in events if e.kind == "run.start")
    known, again = recorded_writes(events), written_by(world.sent)
    keys = {key for _, _, key in world.sent if key}
    stands_for = {e.data["earlier"]: e.data["id"] for e in run.events if "earlier" in e.data}
    for id_, told in known.items():
        may_repeat = any(told["effects"][name] for name in OPEN)
        if told["state"] == "done" or (told["state"] == "doubtful" and not may_repeat):
            assert not again[written(told)], f"{id_} was sent again"
        if told["state"] in ("doubtful", "open") and not is_sandbox:
            is_sent = may_repeat and again[written(told)]
            assert is_sent or {id_, stands_for.get(id_)} & {*run.in_doubt}, f"{id_} is not named"
            if is_sent and told["key"] and told["effects"]["keyed"]:
                assert told["key"] in keys, "sent again, and not with its key"


def require_results_kept(events: list[Any], run: names.Run) -> None:
    """Every recorded result that counts is a result of the run; a write only as often as it was
    made.
    """
    stale = {id_ for e in events if e.kind == "stale" for id_ in e.data["results"]}
    done = {
        e.data["id"]: written(e.data)
        for e in events
        if e.kind == "result" and e.data["failure"] is None and e.data["id"] not in stale
    }
    found = Counter(written({"tool": r.tool, "arguments": r.arguments}) for r in run.results)
    assert {*done.values()} <= found.keys()
    writes = Counter(done[id_] for id_ in recorded_writes(events) if id_ in done)
    assert all(found[call] == times for call, times in writes.items()), "a write counts twice"


async def require_continued(name: str, kept: int, folder: Path) -> Case | None:
    """An old journal goes on from wherever it was cut."""
    case = old_case(name, kept, folder)
    if "run.start" not in case.stored.kinds:
        with pytest.raises(names.JournalError, match="before it began"):
            await go_on(case)
        return None
    if doubts := case.doubts:
        world = World()
        with pytest.raises(names.JournalError, match="in doubt") as refused:
            await case.scenario.setup(world, case.scenario.script).resume(case.path)
        assert all(f"{id_} (" in str(refused.value) for id_, _ in doubts), "every doubt is named"
        assert world.sent == []
        case.resolve()
    _, before = names.read_journal(case.path)
    world, done = await go_on(case)
    require_no_write_again(before, world, done)
    require_results_kept(before, done)
    assert not written_by(world.sent) - written_by(case.full.outcome["sent"]), "a new write"
    return case


def written_by(sendings: Any) -> Counter[str]:
    """Count writes as the world does, but for their keys: a call that is made again has its own."""
    return Counter(written({"tool": n, "arguments": a}) for n, a, _ in sendings)


@pytest.mark.heavy
@pytest.mark.parametrize("name", FULL)
async def test_an_old_journal_goes_on_wherever_it_was_cut(name: str) -> None:
    for kept in CUTS[name]:
        with memory() as folder:
            await require_continued(name, kept, folder)


async def killed_after(case: Case, left: int, folder: Path) -> tuple[Case, list[Any]]:
    """Return a continued run whose process ended after so many events of the new segment, and what
    it had sent by then: every write that it was about to send.
    """
    old = len(journals.stored_from(case.path, {}).rows)
    await go_on(case)
    cut = journals.stored_from(case.path, {}).cut(old + left)
    path = folder / case.path.name
    journals.restore(cut, path, names.own(path, cut.meta))
    intents = [cut.data(n) for n in range(old, len(cut.rows)) if cut.kinds[n] == "intent"]
    told = [(i["tool"], i["arguments"], i["key"] if i["effects"]["keyed"] else "") for i in intents]
    return replace(case, stored=cut, path=path), told


def left_of(case: Case) -> Any:
    """Return what the model still says, once the replies of the last segment are replayed."""
    script = case.scenario.script
    if callable(script):
        return script
    _, known = names.read_journal(case.path)
    begun = (n for n, e in enumerate(known) if e.kind == "run.start" and "segment" in e.data)
    replies = {
        (e.data["actor"], e.data["turn"]): e.data["purpose"]
        for e in known[next(begun, len(known)) :]
        if e.kind == "model"
    }
    given_before = Counter(replies.values())
    return {
        purpose: said[given_before[purpose] :] if isinstance(said, list) else said
        for purpose, said in script.items()
    }


def resolve_as_it_was(case: Case, sent: list[Any]) -> None:
    """Say of every write that a killed process left open whether the world has seen it."""
    _, known = names.read_journal(case.path)
    seen = written_by(sent)
    contents = {
        written({"tool": name, "arguments": arguments}): content
        for _, name, arguments, content in case.full.outcome["results"]
    }
    for id_, told in recorded_writes(known).items():
        if told["state"] != "open" or any(told["effects"][name] for name in OPEN):
            continue
        if seen[written(told)]:
            said = json.dumps(contents[written(told)])
            names.resolve_call(str(case.path), id_, result=said)
        else:
            names.resolve_call(str(case.path), id_, not_done=True)


async def require_continued_twice(name: str, kept: int, left: int, folder: Path) -> None:
    """A continued run that is killed goes on by replay of its own segment, and repeats nothing."""
    case = old_case(name, kept, folder)
    if "run.start" not in case.stored.kinds:
        return
    if case.doubts:
        case.resolve()
    _, old = names.read_journal(case.path)
    (folder / "again").mkdir()
    case, first = await killed_after(case, left, folder / "again")
    resolve_as_it_was(case, first)
    _, before = names.read_journal(case.path)
    world = World(case.scenario.unstable, before)
    setup = case.scenario.setup(world, left_of(case), approve=case.scenario.approve)
    done = await setup.resume(case.path)
    require_no_write_again(before, world, done)
    require_results_kept(old, done)
    again = written_by([*first, *world.sent])
    done_before = Counter(
        written(told) for told in recorded_writes(old).values() if told["state"] == "done"
    )
    keyed = {written(told) for told in recorded_writes(before).values() if told["effects"]["keyed"]}
    more = (again + done_before) - written_by(case.full.outcome["sent"])
    assert not {*more} - keyed, "what the killed process wrote is written again"
    keys = {(written({"tool": n, "arguments": a}), k) for n, a, k in (*first, *world.sent)}
    assert len(keys) == len({call for call, _ in keys}), "one write under two keys"


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_continued_run_that_is_killed_goes_on(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(FULL)))
    kept = data.draw(st.sampled_from(CUTS[name]))
    left = data.draw(st.integers(0, len(FULL[name].rows)))
    with memory() as folder:
        asyncio.run(require_continued_twice(name, kept, left, folder))


@pytest.mark.parametrize(("name", "kept"), FEW)
async def test_an_old_journal_goes_on_from_its_facts(name: str, kept: int) -> None:
    with memory() as folder:
        await require_continued(name, kept, folder)


TWICE = [("0.1.0/layered", 36, 35), ("0.1.0/layered", 36, 36), ("0.1.0/dfsdt", 1, 9)]


@pytest.mark.parametrize(("name", "kept", "left"), TWICE)
async def test_a_continued_run_that_is_killed_goes_on_here(name: str, kept: int, left: int) -> None:
    with memory() as folder:
        await require_continued_twice(name, kept, left, folder)


@pytest.mark.heavy
@pytest.mark.parametrize("name", FULL)
async def test_a_continued_run_goes_on_wherever_it_was_killed(name: str) -> None:
    for kept in CUTS[name][3::9]:
        for left in range(0, len(FULL[name].rows) + 12, 4):
            with memory() as folder:
                await require_continued_twice(name, kept, left, folder)


@pytest.mark.parametrize("name", FULL)
async def test_a_finished_old_journal_tells_what_it_came_to_and_asks_nobody(name: str) -> None:
    with memory() as folder:
        case = old_case(name, len(FULL[name].rows), folder)
        _, before = names.read_journal(case.path)
        notes: list[str] = []

        def sink(event: Any) -> None:
            notes.append(event.data["text"])

        world = World()
        setup = case.scenario.setup(world, {}, sinks=(sink,))
        found = json.loads(json.dumps(outcome_of(await setup.resume(case.path))))
        _, after = names.read_journal(case.path)
    full = case.full.outcome
    assert all(found[key] == full[key] for key in ("status", "answer", "in_doubt", "limit"))
    told = [result for result in full["results"] if result[3] is not None]
    assert all(result in found["results"] for result in told)
    assert {tuple(s[:2]) for s in full["skips"]} <= {tuple(s[:2]) for s in found["skips"]}
    assert (world.sent, after) == ([], before)
    assert [note.partition(":")[0].split(",")[0] for note in notes] == ["The run has ended"]


@pytest.mark.parametrize("name", FULL)
async def test_an_old_journal_whose_tools_are_others_is_refused_by_name(name: str) -> None:
    full = FULL[name]
    kinds = [*full.kinds]
    kept = kinds.index("model") + 1
    with memory() as folder:
        case = old_case(name, kept, folder)
        other = with_digests(case.stored, "0" * 16)
        case.path.unlink()
        journals.restore(other, case.path, names.own(case.path, other.meta))
        with pytest.raises(names.JournalError, match="tools other: "):
            await go_on(case)


@pytest.mark.parametrize(("name", "kept"), FEW)
async def test_a_continued_run_says_so_and_asks_no_recorded_question_of_its_own(
    name: str, kept: int
) -> None:
    with memory() as folder:
        case = old_case(name, kept, folder)
        if "run.start" not in case.stored.kinds or case.doubts:
            return
        _, before = names.read_journal(case.path)
        _, done = await go_on(case)
    start = next(e.data for e in done.events if e.kind == "run.start")
    assert (start["segment"], start["resumed"]) == (2, "continue")
    note = next(e.data["text"] for e in done.events if e.kind == "note")
    assert note.startswith("Continue: version was 0.0.1, is ")
    recorded = {e.data["id"] for e in before if "id" in e.data}
    new = {e.data["id"] for e in done.events if e.kind == "intent"}
    assert not recorded & new, "a new call has an id of its own"
    asked = [e for e in done.events if e.kind == "model"]
    assert asked, "today's questions are asked"
    assert not [e for e in asked if e.data["actor"] in recorded - {""}]


@pytest.mark.parametrize("name", FULL)
def test_a_continued_journal_is_listed_and_shown(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = FULL[name].kinds.index("model") + 1
    with memory() as folder:
        case = old_case(name, kept, folder)
        _, done = asyncio.run(go_on(case))
        assert names.print_runs(folder, True) == 0
        listed = json.loads(capsys.readouterr().out)
        assert (listed["id"], listed["status"]) == (case.full.outcome["run"], done.status)
        shown = names.view(case.path)
    assert all(f'id="{result.id}"' in shown for result in done.results)
