"""The journal: a run's events in one SQLite file, committed so that a crash repeats no side effect and hides none.

The same events as the trace, and before every call that may write an ``intent``, on the disk when the call leaves.
What is recorded between two commits is lost with the process, by design: at most one commit an effect, one a layer.

One file a run, one writer (write-ahead log, ``synchronous=FULL``), guarded by a lock of the operating system that
dies with its process and that a suspended process keeps: two processes never own one run.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import apsw
from filelock import FileLock, Timeout

from callwright.database import opened, state_dir
from callwright.errors import JournalError
from callwright.trace import VERSION, Event
from callwright.trust import TrustStore, digest_of, location
from callwright.types import Json

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE blob (digest TEXT PRIMARY KEY, text BLOB NOT NULL);
CREATE TABLE event (
    life INTEGER NOT NULL, seq INTEGER NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (life, seq)
) WITHOUT ROWID;
"""
_ENCODER = json.JSONEncoder(default=str)  # in ASCII: half a surrogate pair, which JSON may hold, is no UTF-8
SUFFIX = ".run"


def runs_dir() -> Path:
    """Where journals are kept: CALLWRIGHT_RUNS, else the user's folder for state (XDG base directories)."""
    given = os.environ.get("CALLWRIGHT_RUNS")
    if given:
        return Path(given).expanduser()
    return state_dir() / "runs"


class Journal:
    """The journal of one run, held by this process. A :class:`callwright.trace.Sink`; made by :meth:`create` and
    :meth:`reopen`. ``life`` counts the processes that carried the run. Raises JournalError where it cannot be kept.
    """

    def __init__(self, path: Path, lock: FileLock, database: apsw.Connection, life: int) -> None:
        self.path = path
        self.run = path.name.removesuffix(SUFFIX)
        self.life = life
        self._lock = lock
        self._database: apsw.Connection | None = database
        self._rows: list[tuple[int, int, float, str, str]] = []
        self._texts: list[tuple[str, bytes]] = []

    @classmethod
    def create(cls, folder: Path | str | None = None, setup: Mapping[str, Json] | None = None) -> Journal:
        """A new run. ``setup`` is what :meth:`setup` gives back: enough to open tools and model again."""
        place = Path(folder or runs_dir()).expanduser()
        with _writing(place, begun=False):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = place / f"{_new_name()}{SUFFIX}"
            lock = _locked(path)
            try:
                made = {"created": time.time(), "setup": dict(setup or {})}
                seal = TrustStore().seal(_origin(path, made))
                _make(path, {"format": VERSION, "life": 1, **made, "seal": seal})
                database = opened(path)
            except BaseException:
                lock.release()
                raise
        return cls(path, lock, database, 1)

    @classmethod
    def reopen(cls, path: Path | str) -> Journal:
        """Take over a run that no process owns any more."""
        place = Path(path)
        if not place.is_file():
            raise JournalError(f"there is no run {place}", hint="callwright runs lists what there is")
        lock = _locked(place)
        try:
            with _writing(place):
                database = opened(place)
                life = int(_meta(database)["life"]) + 1
                database.execute("UPDATE meta SET value = ? WHERE key = 'life'", (json.dumps(life),))
        except BaseException:
            lock.release()
            raise
        return cls(place, lock, database, life)

    def __call__(self, event: Event) -> None:
        """Note an event; it is on the disk after the next :meth:`commit`."""
        data: Any = event.data
        if event.kind == "blob":
            self._texts.append((data["digest"], data["text"].encode("utf-8", "surrogatepass")))
            data = {"digest": data["digest"]}
        self._rows.append((self.life, event.seq, event.at, event.kind, _ENCODER.encode(data)))

    def commit(self) -> None:
        """Put everything noted so far on the disk, all of it or nothing."""
        if not self._rows:
            return
        with _writing(self.path):
            database = self._open()
            database.execute("BEGIN IMMEDIATE")
            try:
                if self._texts:
                    database.executemany("INSERT OR IGNORE INTO blob VALUES (?, ?)", self._texts)
                database.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?)", self._rows)
                database.execute("COMMIT")
            except BaseException:
                if database.in_transaction:
                    database.execute("ROLLBACK")
                raise
        self._rows.clear()
        self._texts.clear()

    def events(self) -> list[Event]:
        """What all processes of this run recorded, in their order."""
        return _events(self._open(), every=True, texts=True)

    def is_own(self) -> bool:
        """Whether this user made it, at this place: what it says of approvals was said here."""
        return is_own(self.path, _meta(self._open()))

    def setup(self) -> dict[str, Json]:
        """What :meth:`create` was given."""
        found: dict[str, Json] = _meta(self._open())["setup"]
        return found

    def close(self) -> None:
        """Commit and let go of the run. The lock goes even where the disk refuses the last commit.

        A new run that has recorded nothing (the model could not be reached) leaves no file: nothing could be resumed.
        """
        try:
            if self._database is not None:
                self.commit()
        finally:
            try:
                self._let_go()
            finally:
                self._lock.release()

    def _let_go(self) -> None:
        database, self._database = self._database, None
        if database is None:
            return
        empty = False
        with _writing(self.path, "write"):
            try:
                empty = self.life == 1 and not database.execute("SELECT 1 FROM event LIMIT 1").fetchall()
            finally:
                database.close()
        if empty and not self._rows:
            self.path.unlink()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> apsw.Connection:
        if self._database is None:
            raise JournalError(f"the journal {self.path} is closed")
        return self._database


def read(path: Path | str, *, every: bool = False, texts: bool = True) -> tuple[dict[str, Json], list[Event]]:
    """Meta data and events of a journal, without owning the run: of its last process, or of every one. Without
    ``texts``, prompts and replies (the ``blob`` events) are left on the disk."""
    place = Path(path)
    if not place.is_file():
        raise JournalError(f"there is no run {place}", hint="callwright runs lists what there is")
    with _writing(place, "read"):
        database = apsw.Connection(str(place), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            database.set_busy_timeout(5_000)
            return _meta(database), _events(database, every, texts)
        finally:
            database.close()


def is_own(path: Path | str, meta: Mapping[str, Json]) -> bool:
    """Whether a journal with this meta data was made by this user at this place, and not by somebody else or by hand.

    Raises TrustError where that cannot be told.
    """
    return TrustStore().is_sealed(_origin(Path(path), meta), meta.get("seal"))


def confirmable(path: Path | str, meta: Mapping[str, Json]) -> tuple[str, str]:
    """The place of a journal and the digest of what it names (tools, model, folder): what a user may confirm."""
    return location(path), digest_of(_origin(Path(path), meta))


def _origin(path: Path, meta: Mapping[str, Json]) -> dict[str, Json]:
    return {"where": location(path), "created": meta.get("created"), "setup": meta.get("setup")}


def owned(path: Path | str) -> bool:
    """Whether a living process owns this run now."""
    lock = FileLock(_lock_path(Path(path)), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


def journals(folder: Path | str | None = None) -> list[Path]:
    """The journals in a folder, oldest first."""
    return sorted(Path(folder or runs_dir()).expanduser().glob(f"*{SUFFIX}"))


def _make(path: Path, meta: Mapping[str, Json]) -> None:
    """Put an empty journal into its place, whole: a process killed meanwhile leaves none."""
    new = path.with_suffix(".new")
    database = apsw.Connection(str(new))
    try:
        database.execute("BEGIN IMMEDIATE;" + _TABLES)
        database.executemany("INSERT INTO meta VALUES (?, ?)", [(k, json.dumps(v)) for k, v in meta.items()])
        database.execute("COMMIT")
    finally:
        database.close()
    new.replace(path)


def _events(database: apsw.Connection, every: bool, texts: bool) -> list[Event]:
    where = "TRUE" if every else "life = (SELECT max(life) FROM event WHERE kind = 'run.start')"
    if not texts:
        where += " AND kind != 'blob'"
    stored = database.execute("SELECT digest, text FROM blob") if texts else ()
    held = {digest: bytes(text).decode("utf-8", "surrogatepass") for digest, text in stored}
    rows = database.execute(f"SELECT seq, at, kind, data FROM event WHERE {where} ORDER BY life, seq")
    return [Event(kind, seq, at, _data(kind, json.loads(data), held)) for seq, at, kind, data in rows]


def _data(kind: str, data: dict[str, Json], texts: Mapping[str, str]) -> dict[str, Json]:
    return {**data, "text": texts[data["digest"]]} if kind == "blob" else data


def _meta(database: apsw.Connection) -> dict[str, Json]:
    try:
        found = {key: json.loads(value) for key, value in database.execute("SELECT key, value FROM meta")}
    except (apsw.SQLError, apsw.NotADBError):
        raise JournalError("the file is no journal", hint="callwright runs lists what there is") from None
    if found.get("format", 0) > VERSION:
        raise JournalError(f"the journal has format {found['format']}, this Callwright reads up to {VERSION}")
    return found


def _new_name() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"


def _lock_path(path: Path) -> str:
    return str(path.with_suffix(".lock"))


def _locked(path: Path) -> FileLock:
    lock = FileLock(_lock_path(path), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise JournalError(
            f"the run {path.name.removesuffix(SUFFIX)} is owned by another process",
            hint="wait for it to end, or stop it; a process that was only suspended still owns its run",
        ) from None
    return lock


@contextmanager
def _writing(path: Path, verb: str = "write", *, begun: bool = True) -> Iterator[None]:
    try:
        yield
    except (apsw.Error, OSError) as exc:
        then = ", then: callwright resume RUN" if begun else "; --no-journal keeps none"
        raise JournalError(
            f"cannot {verb} the journal {path}: {exc}",
            hint=f"make room or choose another folder (CALLWRIGHT_RUNS, --journal){then}",
        ) from exc
