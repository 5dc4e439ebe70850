"""A run's file: what is committed stays, what is not is gone as a whole, and one process owns
it.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from random import Random

import apsw
import pytest

from callwright import Orchestrator
from callwright.agent.journal.resume import find_journal
from callwright.agent.journal.store import (
    Journal,
    is_own,
    is_owned,
    list_journals,
    read_journal,
    runs_dir,
)
from callwright.agent.options import Persistence
from callwright.nouns.errors import JournalError
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.trace import Event, Trace
from callwright.nouns.types import READ_LOCAL, WRITE
from callwright.testing import FakeTool, FixedPlan, ScriptedModel, fake_source, offered_tools

_NUMBERS = count()
LONE = "half a pair: \ud83d"


def note(journal: Journal, *texts: str) -> None:
    for text in texts:
        journal(Event("note", next(_NUMBERS), 0.0, {"text": text}))


def notes(path: Path) -> list[str]:
    return [e.data["text"] for e in read_journal(path, every=True)[1] if e.kind == "note"]


def test_what_was_committed_is_read_back_and_what_was_not_is_gone(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, {"tools": ["a"]})
    note(journal, "kept")
    journal.commit()
    journal(Event("note", 99, 1.0, {"text": "not yet"}))
    assert notes(journal.path) == ["kept"]
    assert read_journal(journal.path)[0]["setup"] == {"tools": ["a"]}
    journal.close()
    assert notes(journal.path) == ["kept", "not yet"]  # closing commits


def test_texts_are_kept_once_and_come_back_in_their_events(tmp_path: Path) -> None:
    with Journal.create(tmp_path) as journal:
        trace = Trace((journal,))
        trace.add("model", prompt=trace.blob("Long question"), reply=trace.blob(LONE))
        journal.commit()
        found = journal.events()
    assert [e.data.get("text") for e in found] == ["Long question", LONE, None]
    assert found == trace.events


def test_every_process_writes_a_life_of_its_own(tmp_path: Path) -> None:
    with Journal.create(tmp_path) as first:
        Trace((first,)).add("run.start", query="1")
    with Journal.reopen(first.path) as second:
        assert second.life == 2
        Trace((second,)).add("run.start", query="2")
    assert [e.data["query"] for e in read_journal(first.path)[1]] == ["2"]
    assert [e.data["query"] for e in read_journal(first.path, every=True)[1]] == ["1", "2"]


def test_an_owned_run_is_refused_here_and_elsewhere_and_free_after_the_owner_is_killed(
    tmp_path: Path,
) -> None:
    program = (
        "import sys, time; from callwright.agent.journal.store import Journal\n"
        "j = Journal.create(sys.argv[1]); print(j.path, flush=True); sys.stdin.read()"
    )
    owner = subprocess.Popen(
        [sys.executable, "-P", "-c", program, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    path = Path(owner.stdout.readline().strip())
    try:
        assert is_owned(path)
        with pytest.raises(JournalError, match="owned by another process"):
            Journal.reopen(path)
        if hasattr(signal, "SIGSTOP"):
            os.kill(owner.pid, signal.SIGSTOP)
            assert is_owned(path), "a suspended process may wake up again"
    finally:
        owner.kill()
        owner.communicate()
    assert not is_owned(path)
    Journal.reopen(path).close()


def test_two_journals_of_one_run_in_one_process_are_refused_too(tmp_path: Path) -> None:
    with Journal.create(tmp_path) as journal, pytest.raises(JournalError, match="owned"):
        Journal.reopen(journal.path)
    assert not is_owned(journal.path)


def test_a_run_that_recorded_nothing_leaves_no_file(tmp_path: Path) -> None:
    Journal.create(tmp_path).close()
    assert list_journals(tmp_path) == []


def test_a_closed_journal_says_so(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path)
    journal.close()
    journal.close()
    note(journal, "late")
    with pytest.raises(JournalError, match="is closed"):
        journal.commit()


@pytest.mark.parametrize("content", [b"", b"not a database, but long enough to be looked at" * 40])
def test_a_file_that_is_no_journal_gets_a_clear_error_and_stays_as_it_is(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "x.run"
    path.write_bytes(content)
    with pytest.raises(JournalError, match=r"no journal|not a database"):
        read_journal(path)
    with pytest.raises(JournalError, match="is no journal") as caught:
        Journal.reopen(path)
    assert "make room" not in caught.value.hint
    assert not is_owned(path)


def test_a_missing_run_and_a_newer_format_are_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="there is no run"):
        read_journal(tmp_path / "none.run")
    with Journal.create(tmp_path) as journal:
        note(journal, "a")
    database = apsw.Connection(str(journal.path))
    database.execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    database.close()
    with pytest.raises(JournalError, match="format 99"):
        read_journal(journal.path)


def test_runs_are_listed_oldest_first_and_kept_from_other_users(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    made = []
    for _ in range(3):
        with Journal.create(folder) as journal:
            note(journal, "a")
            made.append(journal.path)
    assert sorted(made) == list_journals(folder)
    assert sys.platform == "win32" or folder.stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_made_offers_no_run_to_resume(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JournalError) as caught:
        Journal.create(tmp_path / "file" / "runs")
    assert "--no-journal" in caught.value.hint
    assert "resume" not in caught.value.hint


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    """It was told as "[Errno 17] File exists", or as a folder without a run."""
    (tmp_path / "a.run").touch()
    for use in (Journal.create, list_journals, partial(find_journal, "7")):
        with pytest.raises(JournalError, match=r"a\.run is a file, and journals") as caught:
            use(tmp_path / "a.run")
        assert "--journal FOLDER" in caught.value.hint


def test_the_folder_of_runs_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CALLWRIGHT_RUNS", str(tmp_path / "here"))
    assert runs_dir() == tmp_path / "here"


# A disk that fails: every write and sync of SQLite in turn.


class FailingFile(apsw.VFSFile):
    def __init__(self, disk: FailingDisk, name: object, flags: list[int]) -> None:
        super().__init__(disk.real, name, flags)  # type: ignore[arg-type]
        self.disk = disk

    def xWrite(self, data: bytes, offset: int) -> None:
        self.disk.count()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self.disk.synced += 1
        self.disk.count()
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:
        self.disk.count()
        super().xTruncate(size)


class FailingDisk(apsw.VFS):
    """SQLite's file system, failing from the nth operation on for ``times`` operations."""

    def __init__(self) -> None:
        self.real = apsw.vfs_names()[0]
        super().__init__("failing", base=self.real, makedefault=True)
        self.left, self.times, self.seen, self.synced = -1, 0, 0, 0
        self.error: type[Exception] = apsw.FullError

    def xOpen(self, name: object, flags: list[int]) -> FailingFile:
        return FailingFile(self, name, flags)

    def count(self) -> None:
        self.seen += 1
        self.left -= 1
        if self.left < 0 and self.times > 0:
            self.times -= 1
            raise self.error("injected")


@pytest.fixture
def disk() -> Iterator[FailingDisk]:
    made = FailingDisk()
    yield made
    made.unregister()


@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError])
@pytest.mark.parametrize("times", [1, 10_000])
def test_a_full_or_broken_disk_never_leaves_a_broken_journal_and_loses_nothing_acknowledged(
    tmp_path: Path, disk: FailingDisk, error: type[Exception], times: int
) -> None:
    hints: set[str] = set()
    for broken_at in range(24):
        disk.left, disk.times, disk.error, disk.seen = 10**9, 0, error, 0
        journal = Journal.create(tmp_path / f"{error.__name__}-{times}-{broken_at}")
        disk.left, disk.times = broken_at, times
        acknowledged: list[str] = []
        try:
            for number in range(8):
                note(journal, f"event {number} " + "x" * 3_000)
                journal.commit()
                acknowledged.append(f"event {number}")
        except JournalError as failure:
            hints.add(failure.hint)
        disk.times = 0
        with suppress(JournalError):
            journal.close()
        check = apsw.Connection(str(journal.path))
        assert check.pragma("integrity_check") == "ok"
        check.close()
        kept = [text.split(" x")[0] for text in notes(journal.path)]
        assert kept[: len(acknowledged)] == acknowledged
        assert len(kept) == len(set(kept)), "an event is never written twice"
    assert len(hints) == 1
    assert "make room" in hints.pop()


def synced_by(disk: FailingDisk, folder: Path, *layers: list[str]) -> int:
    """How often a run with one call of each of these tools waits for the disk; a name in capitals
    writes.
    """
    names = [name for layer in layers for name in layer]
    tools = [
        FakeTool(n, {}, output={"ok": n}, effects=WRITE if n.isupper() else READ_LOCAL)
        for n in names
    ]
    binds = [{"calls": [{"tool": name, "arguments": {}} for name in layer]} for layer in layers]
    said = {"statements": [{"text": "ok", "results": ["r1"]}], "missing": []}
    model = ScriptedModel({"select": {"needed": names}, "bind": binds, "*": said})
    disk.left, before = 10**9, disk.synced
    setup = Orchestrator(
        [fake_source(*tools)],
        model=model,
        planner=FixedPlan(*layers),
        persistence=Persistence(journal=folder),
    )
    assert len(setup.run_sync("Do it.").results) == len(names)
    return disk.synced - before


def test_a_run_waits_for_the_disk_once_an_effect_and_once_a_layer_at_most(
    disk: FailingDisk, tmp_path: Path
) -> None:
    one = synced_by(disk, tmp_path, ["a"])
    assert synced_by(disk, tmp_path, ["a", "b", "c", "d"]) == one, (
        "what only reads costs nothing beyond its layer"
    )
    assert synced_by(disk, tmp_path, ["a"], ["b"], ["c"]) == one + 2
    written = synced_by(disk, tmp_path, ["A", "B", "C", "D"])
    assert one < written <= one + 4, "an intent is synced before its call leaves"


@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError])
def test_a_write_whose_intent_cannot_be_put_on_the_disk_does_not_leave_and_is_made_once_there_is_room(
    disk: FailingDisk, tmp_path: Path, error: type[Exception]
) -> None:
    full = True

    def told(request: ChatRequest) -> object:
        if request.purpose != "bind":
            return {"statements": [{"text": "ok", "results": ["r1"]}], "missing": []}
        if "look" in offered_tools(request):
            return {"calls": [{"tool": "look", "arguments": {}}]}
        if full:
            disk.left, disk.times, disk.error = 0, 10_000, error
        return {"calls": [{"tool": "BOOK", "arguments": {}}]}

    look = FakeTool("look", {}, output={"ok": True}, effects=READ_LOCAL)
    book = FakeTool("BOOK", {}, output={"ok": True}, effects=WRITE)
    layers = FixedPlan(["look"], ["BOOK"])
    setup = Orchestrator(
        [fake_source(look, book)],
        model=ScriptedModel(told),
        planner=layers,
        persistence=Persistence(journal=tmp_path),
    )
    disk.left = 10**9
    with pytest.raises(JournalError, match="cannot write the journal"):
        setup.run_sync("Book it.")
    assert (len(look.calls), len(book.calls)) == (1, 0)
    full, disk.left, disk.times = False, 10**9, 0
    (path,) = list_journals(tmp_path)
    assert setup.resume_sync(path).status == "answered"
    assert (len(look.calls), len(book.calls)) == (1, 1)


def test_a_journal_is_the_users_own_only_where_it_was_made_and_as_it_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Journal.create(tmp_path, {"tools": ["a.py"], "model": "local"}) as journal:
        note(journal, "x")
        assert journal.is_own()
    meta, _ = read_journal(journal.path)
    assert is_own(journal.path, meta)
    assert not is_own(tmp_path / "sent" / journal.path.name, meta), (
        "a copy at another place may have been changed"
    )
    for changed in (
        {"setup": {"tools": ["evil.py"], "model": "local"}},
        {"created": 0},
        {"seal": ""},
        {"seal": None},
    ):
        assert not is_own(journal.path, {**meta, **changed})
    assert not is_own(journal.path, {k: v for k, v in meta.items() if k != "seal"})
    monkeypatch.setenv("CALLWRIGHT_TRUST", str(tmp_path / "of somebody else"))
    assert not is_own(journal.path, meta)


def test_where_no_key_can_be_kept_a_run_is_kept_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CALLWRIGHT_TRUST", str(tmp_path / "file" / "below"))
    with Journal.create(tmp_path) as journal:
        note(journal, "x")
        assert not journal.is_own()


posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX file modes, signals and locks")


def modes(folder: Path) -> dict[str, int]:
    """The mode of every file in a folder, by the end of its name."""
    return {path.name.partition(".")[2]: path.stat().st_mode & 0o777 for path in folder.iterdir()}


@posix
def test_nobody_else_reads_a_journal_whatever_folder_it_is_in(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    before = os.umask(0o022)
    try:
        with Journal.create(tmp_path / "made" / "here") as journal:
            note(journal, "x")
            journal.commit()
            assert modes(journal.path.parent) == dict.fromkeys(
                ("run", "run-wal", "run-shm", "lock"), 0o600
            )
        assert {(tmp_path / name).stat().st_mode & 0o777 for name in ("made", "made/here")} == {
            0o700
        }
        with Journal.create(tmp_path) as journal:
            note(journal, "x")
    finally:
        os.umask(before)
    assert modes(tmp_path) == {"": 0o700, "run": 0o600, "lock": 0o600}
    journal.path.chmod(0o644)  # as an older version made it
    Journal.reopen(journal.path).close()
    assert modes(tmp_path)["run"] == 0o600


def test_runs_of_one_second_have_names_that_nobody_can_guess_and_that_sort_by_time(
    tmp_path: Path,
) -> None:
    made = [Journal.create(tmp_path) for _ in range(100)]
    for journal in made:
        note(journal, "x")
        journal.close()
    names = [journal.run for journal in made]
    assert all(re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{16}", name) for name in names)
    assert len({name[16:] for name in names}) == 100
    assert sorted({name[:15] for name in names}) == list(dict.fromkeys(name[:15] for name in names))


# Damage: what a journal holds is what was written, or it is refused by name.


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal of two lives, with results, texts and an intent."""
    folder = tmp_path_factory.mktemp("whole")
    with Journal.create(folder, {"tools": ["a.py"], "model": "local"}) as journal:
        trace = Trace((journal,))
        trace.add("run.start", query="Book it.", run=journal.run)
        trace.add("model", prompt=trace.blob("A question"), reply=trace.blob("A reply"))
        journal.commit()
        trace.add(
            "intent",
            id="r1",
            attempt=1,
            tool="book",
            arguments={"guest": "Ann"},
            effects=WRITE,
            key="k",
        )
        journal.commit()
        trace.add(
            "result", id="r1", attempt=1, tool="book", content={"booking": "B7"}, actor="r1", turn=0
        )
    with Journal.reopen(journal.path) as second:
        trace = Trace((second,))
        trace.add("run.start", query="Book it.", run=journal.run)
        trace.add("run.end", status="answered")
    return journal.path


def test_no_bit_that_changes_and_nothing_that_is_cut_off_is_read_as_if_it_had_been_written(
    whole: Path, tmp_path: Path
) -> None:
    content, right = whole.read_bytes(), read_journal(whole, every=True)
    random = Random(7)
    path = tmp_path / whole.name

    def damaged() -> Iterator[bytes]:
        for _ in range(150):
            at = random.randrange(len(content))
            yield content[:at] + bytes([content[at] ^ 1 << random.randrange(8)]) + content[at + 1 :]
        for _ in range(50):
            at = random.randrange(len(content) - 64)
            yield content[:at] + random.randbytes(64) + content[at + 64 :]
        for _ in range(30):
            yield content[: random.randrange(len(content))]
        yield bytes(len(content))

    refused = 0
    for damage in damaged():
        for left in tmp_path.iterdir():
            left.unlink()
        path.write_bytes(damage)
        try:
            meta, events = read_journal(path, every=True)
        except JournalError as error:
            refused += str(path) in error.message and bool(error.hint)
        else:
            assert events == right[1]
            assert all(meta[key] == right[0][key] for key in ("created", "setup"))
        with suppress(JournalError):
            Journal.reopen(path).close()
    assert refused > 30


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM event WHERE kind = 'result'",
        "DELETE FROM event WHERE kind = 'intent'",
        "DELETE FROM event WHERE kind = 'run.end'",
        "DELETE FROM event",
        "UPDATE event SET data = '{}' WHERE kind = 'result'",
        "UPDATE event SET data = '{' WHERE kind = 'result'",
        "UPDATE event SET at = 5 WHERE kind = 'result'",
        "UPDATE blob SET text = 'Another reply'",
        "DELETE FROM blob",
        "DROP TABLE event",
        "DROP TABLE meta",
        "DELETE FROM mark",
        "UPDATE meta SET value = '{}' WHERE key = 'setup'",
        "UPDATE meta SET value = 'null' WHERE key = 'life'",
        """UPDATE meta SET value = '"x"' WHERE key = 'format'""",
        "DELETE FROM meta WHERE key = 'format'",
    ],
)
def test_what_was_changed_by_hand_is_refused_by_every_reader(
    whole: Path, tmp_path: Path, sql: str
) -> None:
    path = tmp_path / whole.name
    path.write_bytes(whole.read_bytes())
    database = apsw.Connection(str(path))
    database.execute(sql)
    database.close()
    with pytest.raises(JournalError, match=r"is damaged|is no journal") as caught:
        read_journal(path, every=True)
    assert str(path) in caught.value.message
    assert "move it away" in caught.value.hint

    def reopened() -> None:
        with Journal.reopen(path) as journal:
            journal.events()

    with pytest.raises(JournalError, match=r"is damaged|is no journal"):
        reopened()


def test_a_journal_without_marks_is_of_an_older_version_and_goes_on_without(
    whole: Path, tmp_path: Path
) -> None:
    path = tmp_path / whole.name
    path.write_bytes(whole.read_bytes())
    database = apsw.Connection(str(path))
    database.execute("DROP TABLE mark")
    database.close()
    with Journal.reopen(path) as journal:
        note(journal, "more")
    assert notes(path) == ["more"]


# The lock file is taken away under its owner.


@posix
def test_a_run_whose_lock_was_removed_has_its_owner_still(tmp_path: Path) -> None:
    with Journal.create(tmp_path) as journal:
        note(journal, "first")
        journal.commit()
        journal.path.with_suffix(".lock").unlink()
        assert is_owned(journal.path)
        with pytest.raises(JournalError, match=rf"owned by process {os.getpid()}"):
            Journal.reopen(journal.path)
        note(journal, "second")
    assert not is_owned(journal.path)
    Journal.reopen(journal.path).close()
    assert notes(journal.path) == ["first", "second"]


@posix
@pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are told apart by /proc"
)
def test_the_owner_that_a_journal_names_counts_as_long_as_it_lives(tmp_path: Path) -> None:
    program = (
        "import sys; from callwright.agent.journal.store import Journal\n"
        "j = Journal.create(sys.argv[1]); print(j.path, flush=True); sys.stdin.read()"
    )
    told = [sys.executable, "-P", "-c", program, str(tmp_path)]
    with subprocess.Popen(told, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        path = Path(owner.stdout.readline().strip())
        path.with_suffix(".lock").unlink()
        assert is_owned(path)
        with pytest.raises(JournalError, match=f"owned by process {owner.pid}"):
            Journal.reopen(path)
        owner.kill()
    assert not is_owned(path)
    Journal.reopen(path).close()


def test_who_was_taken_over_all_the_same_puts_nothing_on_the_disk_any_more(tmp_path: Path) -> None:
    """Where no living owner can be told: on another machine, or without /proc."""
    with Journal.create(tmp_path) as first:
        note(first, "first")
        first.commit()
        first.path.with_suffix(".lock").unlink()
        database = apsw.Connection(str(first.path))
        database.execute("DELETE FROM meta WHERE key = 'owner'")
        database.close()
        with Journal.reopen(first.path) as second:
            note(second, "second")
        note(first, "late")
        with pytest.raises(JournalError, match="another process has taken over"):
            first.commit()
        with suppress(JournalError):
            first.close()
    assert notes(first.path) == ["first", "second"]


@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError])
def test_an_intent_that_the_disk_refused_is_not_put_there_later_as_if_its_call_had_left(
    disk: FailingDisk, tmp_path: Path, error: type[Exception]
) -> None:
    for broken_at in range(6):  # the write, the sync: whatever is refused first
        folder = tmp_path / str(broken_at)
        disk.left, disk.times, disk.error = 10**9, 0, error
        left = False
        with suppress(JournalError), Journal.create(folder) as journal:
            trace = Trace((journal,))
            trace.add("run.start", query="Book it.")
            journal.commit()
            trace.add("call.checked", id="r1", arguments={})
            trace.add(
                "intent", id="r1", attempt=1, tool="book", arguments={}, effects=WRITE, key="k"
            )
            disk.left, disk.times = broken_at, 1
            journal.commit()
            left = True  # nothing was refused so far: the call leaves
        disk.times = 0
        (path,) = list_journals(folder)
        kinds = [event.kind for event in read_journal(path, every=True)[1]]
        assert kinds == ["run.start", "call.checked", *(["intent"] if left else [])]


def test_a_journal_that_is_written_while_it_is_read_is_not_taken_for_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of one moment were held against marks of the next."""
    journal, later = Journal.create(tmp_path), ["b"]
    note(journal, "a")
    journal.commit()

    def meanwhile(_cursor: object, sql: str, _bindings: object) -> bool:
        if "sqlite_master" in sql and later:
            note(journal, later.pop())
            journal.commit()
        return True

    hook = [lambda made: setattr(made, "exec_trace", meanwhile)]
    monkeypatch.setattr(apsw, "connection_hooks", hook)
    assert notes(journal.path) == ["a"]
    assert notes(journal.path) == ["a", "b"]
    journal.close()
