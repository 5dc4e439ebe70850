"""The journal: a run's events in one SQLite file, committed so that a crash repeats no side effect
and hides none.

The same events as the trace, and before every call that may write an ``intent``, on the disk when
the call leaves. What is recorded between two commits is lost with the process, by design: at most
one commit an effect, one a layer.

One file a run, one writer (write-ahead log, ``synchronous=FULL``), guarded by a lock of the
operating system that dies with its process and that a suspended process keeps: two processes never
own one run. Where the lock file was removed, the journal itself names its living owner; and no
process commits once another one has taken the run over.

Every commit ends in a mark: a digest of all that was recorded so far. What was changed afterwards,
by a disk or by hand, is not replayed: every reader raises JournalError that names the file. Only
its user can read a journal.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
from filelock import FileLock, Timeout

from callwright.agent.journal.owner import is_running, this_process
from callwright.nouns.closing import Closing
from callwright.nouns.errors import JournalError
from callwright.nouns.installation import render_upgrade_hint
from callwright.nouns.trace import VERSION, Event
from callwright.nouns.types import Json
from callwright.nouns.wire_names import current_literal
from callwright.storage.database import make_private, make_private_folder, open_database, state_dir
from callwright.tools.trust import TrustStore, digest_of, normalize_location

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE blob (digest TEXT PRIMARY KEY, text BLOB NOT NULL);
CREATE TABLE event (
    life INTEGER NOT NULL, seq INTEGER NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (life, seq)
) WITHOUT ROWID;
CREATE TABLE mark (
    life INTEGER NOT NULL, seq INTEGER NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (life, seq)
) WITHOUT ROWID;
"""
_ENCODER = json.JSONEncoder(
    default=str
)  # in ASCII: a lone surrogate, which JSON may hold, is no UTF-8
SUFFIX = ".run"
SEGMENTED = VERSION + 1  # the format of a journal with several segments
_HELD: set[str] = (
    set()
)  # the journals that this process owns: among them its own number tells nothing
_OTHERS = "callwright runs lists what there is"
_KEPT: Mapping[str, type | tuple[type, ...]] = {
    "created": (int, float),
    "setup": dict,
    "format": int,
    "life": int,
}

_Row = tuple[int, int, float, str, str]


def runs_dir() -> Path:
    """Return the folder of the journals: CALLWRIGHT_RUNS, else the user's folder for state (XDG
    base directories).
    """
    given = os.environ.get("CALLWRIGHT_RUNS")
    if given:
        return Path(given).expanduser()
    return state_dir() / "runs"


def find_folder(folder: Path | str | None = None) -> Path:
    """The folder that was named, by default :func:`runs_dir`. Raises JournalError for a file of
    that name.
    """
    place = Path(folder or runs_dir()).expanduser()
    if os.path.isfile(place):  # which is False where it may not be looked at
        raise JournalError(
            f"{place} is a file, and journals are kept in a folder",
            hint="--journal FOLDER, or CALLWRIGHT_RUNS; callwright resume FILE goes on with one run",
        )
    return place


class Journal(Closing):
    """The journal of one run, held by this process. A :class:`callwright.nouns.trace.Sink`; made by
    :meth:`create` and :meth:`reopen`. ``life`` counts the processes that carried the run. Raises
    JournalError where it cannot be kept.
    """

    def __init__(
        self, path: Path, lock: FileLock, database: apsw.Connection, life: int, marked: str | None
    ) -> None:
        """``marked``: the digest of the last mark; None for a journal that an older version made,
        without marks.
        """
        self.path = path
        self.run = path.name.removesuffix(SUFFIX)
        self.life = life
        self._lock = lock
        self._database: apsw.Connection | None = database
        self._marked = marked
        self._rows: list[_Row] = []
        self._texts: list[tuple[str, bytes]] = []

    @classmethod
    def create(
        cls, folder: Path | str | None = None, setup: Mapping[str, Json] | None = None
    ) -> Journal:
        """A new run. ``setup`` stands in its meta data: enough to open tools and model again."""
        place = find_folder(folder)
        with _convert_write_errors(place, begun=False):
            make_private_folder(place)
            path = place / f"{_make_name()}{SUFFIX}"
            lock = _acquire_lock(path)
            try:
                made = {"created": time.time(), "setup": dict(setup or {})}
                seal = TrustStore().seal(_build_origin(path, made))
                _create_journal(
                    path,
                    {"format": VERSION, "life": 1, **made, "seal": seal, "owner": this_process()},
                )
                database = open_database(path)
            except BaseException:
                lock.release()
                raise
        _HELD.add(_resolve_key(path))
        return cls(path, lock, database, 1, _compute_first_digest(made))

    @classmethod
    def reopen(cls, path: Path | str) -> Journal:
        """Take over a run that no process owns any more."""
        place = Path(path)
        if not place.is_file():
            raise JournalError(f"there is no run {place}", hint=_OTHERS)
        lock = _acquire_lock(place)
        try:
            with _convert_write_errors(place), _convert_read_errors(place):
                make_private(place)
                database = open_database(place)
                try:
                    life, marked = _take_ownership(database, place)
                except BaseException:
                    database.close()
                    raise
        except BaseException:
            lock.release()
            raise
        _HELD.add(_resolve_key(place))
        return cls(place, lock, database, life, marked)

    def __call__(self, event: Event) -> None:
        """Note an event; it is on the disk after the next :meth:`commit`."""
        data: Any = event.data
        if event.kind == "blob":
            text = data["text"].encode("utf-8", "surrogatepass")
            self._texts.append((data["digest"], text))
            data = {"digest": data["digest"], "sha256": _hash_bytes(text)}
        self._rows.append((self.life, event.seq, event.at, event.kind, _ENCODER.encode(data)))

    def commit(self) -> None:
        """Put everything noted so far on the disk, all of it or nothing.

        Raises JournalError where that fails; the call whose intent was noted last does not leave
        then, so its intent is not put on the disk later either.
        """
        if self._rows:
            self._write()

    def _write(self, last: bool = False) -> None:
        """Put on the disk what was noted; with the ``last`` of it the run has no owner any more."""
        database = self._open()
        marked = self._marked
        try:
            with _convert_write_errors(self.path):
                database.execute("BEGIN IMMEDIATE")
                self._require_owned(database)
                if self._texts:
                    database.executemany("INSERT OR IGNORE INTO blob VALUES (?, ?)", self._texts)
                database.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?)", self._rows)
                if marked is not None and self._rows:
                    marked = _chain_digest(marked, self._rows)
                    database.execute(
                        "INSERT INTO mark VALUES (?, ?, ?)", (*self._rows[-1][:2], marked)
                    )
                if last:
                    database.execute("DELETE FROM meta WHERE key = 'owner'")
                database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                with suppress(apsw.Error):
                    database.execute("ROLLBACK")
            if self._is_written(database):  # and interrupted right after that
                self._written(marked)
            self._rows = [row for row in self._rows if row[3] != "intent"]
            raise
        self._written(marked)

    def _is_written(self, database: apsw.Connection) -> bool:
        """Return True if the last recorded row is on the disk."""
        with suppress(apsw.Error):
            told = "SELECT 1 FROM event WHERE life = ? AND seq = ?"
            return bool(self._rows) and bool(database.execute(told, self._rows[-1][:2]).fetchall())
        return False

    def _written(self, marked: str | None) -> None:
        self._marked = marked
        self._rows.clear()
        self._texts.clear()

    def _require_owned(self, database: apsw.Connection) -> None:
        """Raise JournalError where another process has taken the run over; nothing is noted any
        more then.
        """
        if (life := _read_meta(database, self.path)["life"]) != self.life:
            self._rows.clear()
            self._texts.clear()
            raise JournalError(
                f"another process has taken over the run {self.run} (it is in its life {life}, this"
                f" was {self.life})",
                hint=(
                    f"its lock {_lock_path(self.path)} was removed while it was running; nothing"
                    " more is done here"
                ),
            )

    def begin_segment(self) -> None:
        """Mark the journal as one whose run goes on from facts. Code that knows no segments would
        replay it from its beginning, and refuses it by its format instead.
        """
        with _convert_write_errors(self.path):
            self._open().execute(
                "INSERT OR REPLACE INTO meta VALUES ('format', ?)", (json.dumps(SEGMENTED),)
            )

    def events(self) -> list[Event]:
        """Return the events that all processes of this run recorded, in their order."""
        return _read_events(self._open(), self.path, every=True, texts=True)

    def is_own(self) -> bool:
        """Return True if this user made the journal, at this place. The approvals in it are then
        this user's.
        """
        return is_own(self.path, _read_meta(self._open(), self.path))

    def close(self) -> None:
        """Commit and let go of the run. The lock goes even where the disk refuses the last commit.

        A new run that has recorded nothing (the model could not be reached) leaves no file: nothing
        could be resumed.
        """
        try:
            if self._database is not None:
                self._write(last=True)
        finally:
            try:
                self._let_go()
            finally:
                _HELD.discard(_resolve_key(self.path))
                self._lock.release()

    def _let_go(self) -> None:
        database, self._database = self._database, None
        if database is None:
            return
        empty = False
        with _convert_write_errors(self.path, "write"):
            try:
                alone = _read_meta(database, self.path)["life"] == self.life == 1
                empty = alone and not database.execute("SELECT 1 FROM event LIMIT 1").fetchall()
            finally:
                database.close()
        if empty and not self._rows:
            self.path.unlink()

    def _open(self) -> apsw.Connection:
        if self._database is None:
            raise JournalError(f"the journal {self.path} is closed")
        return self._database


def read_journal(
    path: Path | str, *, every: bool = False, texts: bool = True
) -> tuple[dict[str, Json], list[Event]]:
    """Meta data and events of a journal, without owning the run: of its last process, or of every
    one. Without ``texts``, prompts and replies (the ``blob`` events) are left on the disk.
    """
    place = Path(path)
    if not place.is_file():
        raise JournalError(f"there is no run {place}", hint=_OTHERS)
    with _convert_write_errors(place, "read"):
        database = apsw.Connection(str(place), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            database.set_busy_timeout(5_000)
            with database:  # one moment of it: its owner may write meanwhile
                found = _read_meta(database, place), _read_events(database, place, every, texts)
        finally:
            database.close()
    return found


def is_own(path: Path | str, meta: Mapping[str, Json]) -> bool:
    """Return True if this user made the journal with this meta data at this place, rather than
    another user or by hand.

    Raises TrustError if that cannot be determined.
    """
    return TrustStore().is_sealed(_build_origin(Path(path), meta), meta.get("seal"))


def describe_origin(path: Path | str, meta: Mapping[str, Json]) -> tuple[str, str]:
    """The place of a journal and the digest of what it names (tools, model, folder): what a user
    may confirm.
    """
    return normalize_location(path), digest_of(_build_origin(Path(path), meta))


def _build_origin(path: Path, meta: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "where": normalize_location(path),
        "created": meta.get("created"),
        "setup": meta.get("setup"),
    }


def is_owned(path: Path | str) -> bool:
    """Return True if a living process owns this run now. False if there is no readable run."""
    place = Path(path)
    if Path(_lock_path(place)).exists():
        lock = _make_lock(place)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        lock.release()
    try:
        return _has_live_owner(place, read_journal(place, texts=False)[0])
    except JournalError:
        return False


def _has_live_owner(path: Path, meta: Mapping[str, Json]) -> bool:
    """Return True if the owner that a journal names is alive and still holds it."""
    owner = meta.get("owner")
    if not is_running(owner):
        return False
    return _resolve_key(path) in _HELD if owner == this_process() else True


def _resolve_key(path: Path) -> str:
    return str(path.absolute().parent.resolve() / path.name)


def list_journals(folder: Path | str | None = None) -> list[Path]:
    """The journals in a folder, oldest first. Raises JournalError as :func:`find_folder`."""
    return sorted(find_folder(folder).glob(f"*{SUFFIX}"))


def _create_journal(path: Path, meta: Mapping[str, Json]) -> None:
    """Put an empty journal into its place, whole: a process killed meanwhile leaves none."""
    new = path.with_suffix(".new")
    make_private(new)
    database = apsw.Connection(str(new))
    try:
        database.execute("BEGIN IMMEDIATE;" + _TABLES)
        database.executemany(
            "INSERT INTO meta VALUES (?, ?)", [(k, json.dumps(v)) for k, v in meta.items()]
        )
        database.execute("COMMIT")
    finally:
        database.close()
    new.replace(path)


def _take_ownership(database: apsw.Connection, path: Path) -> tuple[int, str | None]:
    """Make this process the owner of a run: the number of its life, and the digest of the last
    mark.
    """
    database.execute("BEGIN IMMEDIATE")
    try:
        meta = _read_meta(database, path)
        if _has_live_owner(path, meta):
            raise _build_owned_error(path, f"process {meta['owner']['pid']}")
        rows, marked = _read_checked_rows(database, path, meta)
        life = max(meta["life"], rows[-1][0] if rows else 0) + 1
        for key, value in {"life": life, "owner": this_process()}.items():
            database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise
    return life, marked


def _read_events(database: apsw.Connection, path: Path, every: bool, texts: bool) -> list[Event]:
    rows, _ = _read_checked_rows(database, path, _read_meta(database, path))
    if not every:
        last = max((life for life, _, _, kind, _ in rows if kind == "run.start"), default=0)
        rows = [row for row in rows if row[0] == last]
    with _convert_read_errors(path):
        stored = database.execute("SELECT digest, text FROM blob") if texts else ()
        held = {digest: bytes(text).decode("utf-8", "surrogatepass") for digest, text in stored}
        made = [
            Event(current_literal("event kinds", kind), seq, at, json.loads(data))
            for _, seq, at, kind, data in rows
            if texts or kind != "blob"
        ]
        return [_restore_text(event, held) if event.kind == "blob" else event for event in made]


def _restore_text(event: Event, held: Mapping[str, str]) -> Event:
    """The event of a text with the text in it. Raises ValueError where that is not the one that was
    recorded.
    """
    data = dict(event.data)
    text, known = held[data["digest"]], data.pop("sha256", None)
    if known is not None and known != _hash_bytes(text.encode("utf-8", "surrogatepass")):
        raise ValueError(f"the text {data['digest']} is not the one that was recorded")
    return Event(event.kind, event.seq, event.at, {**data, "text": text})


def _read_checked_rows(
    database: apsw.Connection, path: Path, meta: Mapping[str, Json]
) -> tuple[list[_Row], str | None]:
    """All rows of events, in their order, once their marks are found to be right; and the last
    mark's digest.
    """
    with _convert_read_errors(path):
        found = database.execute(
            "SELECT life, seq, at, kind, data FROM event ORDER BY life, seq"
        ).fetchall()
        rows: list[_Row] = [
            (life, seq, at, str(kind), str(data))  # type: ignore[misc]
            for life, seq, at, kind, data in found
        ]
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'mark'").fetchall():
            return rows, None  # of an older version
        marks = database.execute("SELECT life, seq, digest FROM mark ORDER BY life, seq").fetchall()
        marked, begin = _compute_first_digest(meta), 0
        for life, seq, digest in marks:
            end = next((n for n in range(begin, len(rows)) if rows[n][:2] == (life, seq)), -1) + 1
            marked = _chain_digest(marked, rows[begin:end])
            if not end or marked != digest:
                raise ValueError("what is recorded is not what was written")
            begin = end
        if begin != len(rows):
            raise ValueError("what is recorded was not written as a whole")
        return rows, marked


def _compute_first_digest(meta: Mapping[str, Json]) -> str:
    """The digest before the first commit: what the journal was made with."""
    return _hash_bytes(json.dumps([meta["created"], meta["setup"]], sort_keys=True).encode())


def _chain_digest(before: str, rows: list[_Row]) -> str:
    """The digest after a commit, from the one before it and what it added."""
    lines = [before, *(f"{life} {seq} {at!r} {kind} {data}" for life, seq, at, kind, data in rows)]
    return _hash_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))


def _hash_bytes(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read_meta(database: apsw.Connection, path: Path) -> dict[str, Json]:
    with _convert_read_errors(path):
        found = {
            key: json.loads(value) for key, value in database.execute("SELECT key, value FROM meta")
        }
        if isinstance(found.get("format"), int) and found["format"] > SEGMENTED:
            raise JournalError(
                f"the journal {path} has format {found['format']}, this Callwright reads up to"
                f" {SEGMENTED}",
                hint=render_upgrade_hint(),
            )
        for key, kind in _KEPT.items():
            if not isinstance(found.get(key), kind) or isinstance(found[key], bool):
                raise ValueError(f"it does not say its {key}")
    return found


def _make_name() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(8)}"


def _lock_path(path: Path) -> str:
    return str(path.with_suffix(".lock"))


def _make_lock(path: Path) -> FileLock:
    return FileLock(_lock_path(path), mode=0o600, thread_local=False)


def _acquire_lock(path: Path) -> FileLock:
    lock = _make_lock(path)
    try:
        with _convert_write_errors(path):
            lock.acquire(timeout=0)
    except Timeout:
        raise _build_owned_error(path, "another process") from None
    return lock


def _build_owned_error(path: Path, whom: str) -> JournalError:
    return JournalError(
        f"the run {path.name.removesuffix(SUFFIX)} is owned by {whom}",
        hint="wait for it to end, or stop it; a process that was only suspended still owns its run",
    )


@contextmanager
def _convert_read_errors(path: Path) -> Iterator[None]:
    """Whatever is wrong with what a journal holds, in one sentence that names the file."""
    try:
        yield
    except (
        apsw.CorruptError,
        apsw.NotADBError,
        apsw.SQLError,
        ValueError,
        TypeError,
        LookupError,
        RecursionError,
    ) as exc:
        no_journal = isinstance(exc, apsw.NotADBError | apsw.SQLError)
        raise JournalError(
            (
                f"{path} is no journal: {exc}"
                if no_journal
                else f"the journal {path} is damaged: {exc}"
            ),
            hint=(
                "put back a copy of it, or move it away; other runs are not concerned: callwright"
                " runs lists them"
            ),
        ) from exc


@contextmanager
def _convert_write_errors(path: Path, verb: str = "write", *, begun: bool = True) -> Iterator[None]:
    try:
        yield
    except Timeout:
        raise
    except (apsw.Error, OSError) as exc:
        then = ", then: callwright resume RUN" if begun else "; --no-journal keeps none"
        raise JournalError(
            f"cannot {verb} the journal {path}: {exc}",
            hint=f"make room or choose another folder (CALLWRIGHT_RUNS, --journal){then}",
        ) from exc
