"""Journals that earlier code wrote: today's code lists, shows, resolves and continues them.

Each stored run is cut at every event. What the world did until there is known from the full
recording, and the world counts what a resumed run sends to it.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from golden import journals, names
from golden.journals import Stored
from golden.record_journals import outcome_of
from golden.scenarios import SCENARIOS, Scenario
from golden.world import World, replaying

RECORDED = journals.recorded()
FULL: dict[str, Stored] = {name: journals.load(path) for name, path in RECORDED.items()}
NO_ANSWER: dict[str, Any] = {"tool_calls": [], "statements": [], "missing": [], "calls": []}
SAME = ("status", "results", "skips", "in_doubt", "limit")
CUTS = [(name, kept) for name, stored in FULL.items() for kept in range(len(stored.rows) + 1)]
FEW = [(name, kept) for name, kept in CUTS if kept % 12 == 11 or kept == len(FULL[name].rows)]


def gist(answer: str) -> str:
    """An answer without the fixed words in which it tells of results, which are compared themselves."""
    return answer.split(":")[0] if answer.startswith("I could not answer") else answer


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Give a folder in memory where the system has one: these runs commit thousands of times."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as made:
        yield Path(made)


@dataclass
class Case:
    """A journal that was cut, and what is known of the writes in it."""

    stored: Stored
    full: Stored
    scenario: Scenario
    path: Path
    asks_otherwise: bool = False

    @classmethod
    def of(cls, name: str, kept: int, folder: Path, *, own: bool = True) -> Case:
        """Put the first events of a recording into a folder. ``own``: it counts as this user's."""
        full = FULL[name]
        stored = full.cut(kept)
        path = folder / f"{full.outcome['run']}.run"
        seal = names.own(path, stored.meta) if own else ""
        journals.restore(stored, path, seal)
        other = journals.asks_otherwise(name, FULL)
        return cls(stored, full, SCENARIOS[full.outcome["scenario"]], path, other)

    @property
    def is_former(self) -> bool:
        """Whether its strategy or its questions are no more: the run goes on from its facts, and asks
        anew.
        """
        if self.asks_otherwise:
            return True
        starts = [p for p, kind in enumerate(self.full.kinds) if kind == "run.start"]
        return names.is_former_strategy(self.full.data(starts[0])["strategy"])

    @property
    def open_intents(self) -> dict[tuple[str, int], dict[str, Any]]:
        """The writes that may have left and whose outcome is not recorded."""
        found: dict[tuple[str, int], dict[str, Any]] = {}
        for place, kind in enumerate(self.stored.kinds):
            data = self.stored.data(place)
            if kind == "intent":
                found[data["id"], data["attempt"]] = data
            elif kind in ("result", "resolution"):
                found.pop((data["id"], data["attempt"]), None)
        return found

    @property
    def stored_results(self) -> set[str]:
        """The calls whose results the cut journal holds, without failures and what became stale."""
        told = [(kind, self.stored.data(p)) for p, kind in enumerate(self.stored.kinds)]
        stale = {id_ for kind, data in told if kind == "stale" for id_ in data["results"]}
        good = [data for kind, data in told if kind == "result" and not data.get("failure")]
        return {_make_key(d["tool"], d["arguments"]) for d in good if d["id"] not in stale}

    @property
    def doubts(self) -> dict[tuple[str, int], dict[str, Any]]:
        """The open writes that may not be repeated."""
        safe = ("read_only", "idempotent", "keyed")
        found = self.open_intents
        return {at: d for at, d in found.items() if not any(d["effects"][name] for name in safe)}

    @property
    def may_send(self) -> Counter[str]:
        """The writes of the full run that the journal, as it is now, does not call done."""
        _, events = names.read_journal(self.path)
        done = set()
        for event in events:
            if event.kind == "result" or event.data.get("outcome") in ("done", "failed"):
                done.add((event.data["id"], event.data["attempt"]))
        full = [self.full.data(p) for p, kind in enumerate(self.full.kinds) if kind == "intent"]
        intents = {(data["id"], data["attempt"]): data for data in full}
        return Counter(_sent(data) for at, data in intents.items() if at not in done)

    async def resume(self) -> tuple[World, names.Run]:
        """Continue the run in a world that counts. ``changed``: a later version may do so too.

        Where somebody said that a write failed, and where the strategy or the questions are no more,
        the run asks what was not recorded.
        """
        _, known = names.read_journal(self.path)
        world = World(self.scenario.unstable, known)
        told = any(e.data.get("outcome") == "failed" for e in known)
        otherwise = NO_ANSWER if told or self.is_former else None
        model = replaying(events_of(self.full), known, otherwise)
        setup = self.scenario.setup(world, model, approve=self.scenario.approve)
        try:
            return world, await setup.resume(self.path, changed=not self.asks_otherwise)
        except BaseException:
            assert world.sent == [], "nothing is sent before a resume is refused"
            raise

    def resolve(self) -> None:
        """Say of every write in doubt what the full run recorded of it."""
        results = {
            (data["id"], data["attempt"]): data
            for place, kind in enumerate(self.full.kinds)
            if kind in ("result", "resolution")
            for data in [self.full.data(place)]
        }
        for at in self.doubts:
            told = results[at]
            if told.get("outcome") == "not_done":
                names.resolve_call(str(self.path), at[0], not_done=True)
            elif told.get("failure"):
                names.resolve_call(str(self.path), at[0], failed=told["failure"]["message"])
            else:
                said = json.dumps(told["content"])
                names.resolve_call(str(self.path), at[0], result=said)


def _make_key(tool: str, arguments: dict[str, Any]) -> str:
    return json.dumps([tool, arguments], sort_keys=True)


def _sent(intent: dict[str, Any]) -> str:
    key = intent["key"] if intent["effects"]["keyed"] else ""
    return json.dumps([intent["tool"], intent["arguments"], key], sort_keys=True)


def events_of(stored: Stored) -> list[Any]:
    """Return the events of a stored journal, texts included."""

    @dataclass
    class Told:
        kind: str
        data: dict[str, Any]

    made = [Told(kind, stored.data(place)) for place, kind in enumerate(stored.kinds)]
    for event in made:
        if event.kind == "blob":
            event.data["text"] = stored.texts[event.data["digest"]]
    return made


def sent(world: World) -> Counter[str]:
    """Return what the world was sent, as the intents name it."""
    return Counter(json.dumps([n, a, k], sort_keys=True) for n, a, k in world.sent)


async def require_continued(name: str, kept: int, folder: Path) -> None:
    """A cut journal goes on to the recorded end, and no write that is recorded is sent again."""
    case = Case.of(name, kept, folder)
    if "run.start" not in case.stored.kinds:
        with pytest.raises(names.JournalError, match="before it began"):
            await case.resume()
        return
    if case.doubts:
        with pytest.raises(names.JournalError, match="in doubt"):
            await case.resume()
        case.resolve()
    allowed = case.may_send
    world, done = await case.resume()
    assert not sent(world) - allowed, "a write that was recorded is sent again"
    _, events = names.read_journal(case.path)
    failed = [e for e in events if e.kind == "resolution" and e.data["outcome"] == "failed"]
    if case.is_former and case.stored.kinds[-1] != "run.end":
        kept = {_make_key(result.tool, result.arguments) for result in done.results}
        assert case.stored_results <= kept, "what is recorded is kept"
    elif case.is_former:
        found = json.loads(json.dumps(outcome_of(done)))
        assert (found["answer"], found["status"]) == (
            case.full.outcome["answer"],
            case.full.outcome["status"],
        )
    elif not failed:  # a failure that somebody told differs from the one that was met
        found = json.loads(json.dumps(outcome_of(done)))
        assert {k: found[k] for k in SAME} == {k: case.full.outcome[k] for k in SAME}
        assert gist(found["answer"]) == gist(case.full.outcome["answer"])


@pytest.mark.parametrize(("name", "kept"), FEW)
async def test_a_journal_goes_on_where_it_was_cut(name: str, kept: int, folder: Path) -> None:
    await require_continued(name, kept, folder)


@pytest.mark.heavy
@pytest.mark.parametrize("name", FULL)
async def test_a_journal_goes_on_wherever_it_was_cut(name: str, folder: Path) -> None:
    for kept in range(len(FULL[name].rows)):
        place = folder / str(kept)
        place.mkdir()
        await require_continued(name, kept, place)


@pytest.mark.parametrize("name", FULL)
def test_a_stored_journal_is_read_as_it_was_written(name: str, tmp_path: Path) -> None:
    case = Case.of(name, len(FULL[name].rows), tmp_path)
    meta, events = names.read_journal(case.path)
    assert meta == {**case.full.meta, "seal": meta["seal"]}
    assert [(e.kind, e.seq, e.at) for e in events] == [(r[3], r[1], r[2]) for r in case.full.rows]
    for event, wanted in zip(events, events_of(case.full), strict=True):
        assert event.data == {k: v for k, v in wanted.data.items() if k != "sha256"}


def test_the_stored_journals_hold_every_strategy_and_every_kind_of_event() -> None:
    kinds = {kind for stored in FULL.values() for kind in stored.kinds}
    assert kinds == set(names.event_kinds())
    assert {f"{names.version()}/{name}" for name in SCENARIOS} <= set(FULL)
    assert any(name.startswith(f"{journals.GENERATION}/") for name in FULL)


@pytest.mark.parametrize(("name", "kept"), FEW)
def test_a_cut_journal_is_listed_and_shown(
    name: str, kept: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = Case.of(name, kept, tmp_path)
    assert names.print_runs(tmp_path, True) == 0
    listed = json.loads(capsys.readouterr().out)
    ended = case.stored.kinds[-1] == "run.end"
    wanted = case.full.outcome["status"] if ended else "in doubt" if case.doubts else "interrupted"
    assert (listed["id"], listed["status"]) == (case.full.outcome["run"], wanted)
    if not ended:
        assert len(listed["in_doubt"]) == len(case.doubts)
    shown = names.view(case.path)
    assert all(f">{tool}<" in shown or tool in shown for tool in _tools_called(case.stored))


def _tools_called(stored: Stored) -> set[str]:
    """The tools whose results the last process of a run recorded."""
    life = stored.meta["life"]
    rows = [(p, row) for p, row in enumerate(stored.rows) if row[0] == life and row[3] == "result"]
    return {stored.data(place)["tool"] for place, _ in rows}


def places(kind: str) -> list[tuple[str, int]]:
    """Return where each stored journal first holds an event of this kind: the cut just after it."""
    return [(n, s.kinds.index(kind) + 1) for n, s in FULL.items() if kind in s.kinds]


@pytest.mark.parametrize(("name", "kept"), places("intent"))
async def test_a_write_in_doubt_that_was_not_done_is_sent_once(
    name: str, kept: int, tmp_path: Path
) -> None:
    case = Case.of(name, kept, tmp_path)
    for call, _ in case.doubts:
        names.resolve_call(str(case.path), call, not_done=True)
    allowed, wanted = case.may_send, Counter(map(_sent, case.open_intents.values()))
    world, _ = await case.resume()
    assert not sent(world) - allowed
    if not case.is_former:  # there the model is asked anew, and wants nothing
        assert not wanted - sent(world), "what was not done is done now"


@pytest.mark.parametrize(("name", "kept"), places("intent"))
def test_a_call_that_is_not_in_doubt_is_not_resolved(name: str, kept: int, tmp_path: Path) -> None:
    case = Case.of(name, kept, tmp_path)
    with pytest.raises(names.JournalError, match="not in doubt"):
        names.resolve_call(str(case.path), "nobody", not_done=True)


@pytest.mark.parametrize(
    ("name", "kept"),
    [place for place in places("approval") if not journals.asks_otherwise(place[0], FULL)],
)
async def test_what_was_approved_is_asked_again_only_in_a_foreign_journal(
    name: str, kept: int, tmp_path: Path
) -> None:
    for own, answers in ((True, 1), (False, 2)):
        folder = tmp_path / str(own)
        folder.mkdir()
        case = Case.of(name, kept, folder, own=own)
        asked: list[str] = []

        def approve(proposal: Any, asked: list[str] = asked, case: Case = case) -> bool:
            asked.append(proposal.call.arguments["order_id"])
            assert case.scenario.approve is not None
            return case.scenario.approve(proposal)

        _, known = names.read_journal(case.path)
        world = World(known=known)
        model = replaying(events_of(case.full), known)
        await case.scenario.setup(world, model, approve=approve).resume(case.path, changed=True)
        assert len(asked) == answers
        assert [arguments for _, arguments, _ in world.sent] == [{"order_id": "B1"}]


@pytest.mark.parametrize("name", FULL)
async def test_a_finished_journal_comes_to_its_recorded_end_whatever_the_version(
    name: str, tmp_path: Path
) -> None:
    case = Case.of(name, len(FULL[name].rows), tmp_path)
    _, known = names.read_journal(case.path)
    world = World(case.scenario.unstable, known)
    setup = case.scenario.setup(world, replaying(events_of(case.full), known))
    done = await setup.resume(case.path)
    assert (done.status, done.answer.text) == (
        case.full.outcome["status"],
        case.full.outcome["answer"],
    )
    assert world.sent == []


@pytest.mark.parametrize("name", FULL)
def test_a_changed_row_is_noticed(name: str, tmp_path: Path) -> None:
    stored = FULL[name]
    place = len(stored.rows) // 2
    life, seq, at, kind, data = stored.rows[place]
    rows = (*stored.rows[:place], (life, seq, at, kind, data + " "), *stored.rows[place + 1 :])
    changed = Stored(stored.schema, stored.meta, stored.texts, rows, stored.marks, stored.outcome)
    path = journals.restore(changed, tmp_path / "changed.run")
    with pytest.raises(names.JournalError, match="damaged"):
        names.read_journal(path)
