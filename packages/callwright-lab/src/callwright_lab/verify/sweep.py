"""One stage of verification over many rows: several at once, each kept when it is judged, within a
budget.

A row's key is the digest of all that its finding depends on: what has been judged under the same
key and the same settings is not judged again, so a sweep that was ended goes on where it stood, in
the middle of a row too.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from filelock import FileLock, Timeout

from callwright.nouns.errors import CallwrightError, ConfigError, ModelError
from callwright.nouns.types import JsonObject, Usage, compute_digest, to_json
from callwright.storage import lines
from callwright_lab.verify.budget import Account, Budget, BudgetSpent, Cost, Meter
from callwright_lab.verify.memory import Memory, RowMemory

T = TypeVar("T")

VERSION = 1  # of the journal's format
PATIENCE = 3  # rows in a row for which no model answered, until nothing more is asked


@dataclass(frozen=True, slots=True)
class Row(Generic[T]):
    """Item to be judged. ``id`` is for people, ``key`` is the digest of all that the finding
    depends on.
    """

    id: str
    key: str
    item: T


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding on one row. ``category`` is what the report counts by ("" for a kept row without
    one). ``why`` is one line for people, ``found`` holds the stage's own facts as JSON. A finding
    that is not ``lasting`` (nothing was tried, or it failed for the moment) is not recorded: the
    next sweep judges the row again.
    """

    kept: bool
    category: str = ""
    why: str = ""
    found: JsonObject = field(default_factory=dict)
    id: str = ""
    key: str = ""
    cost: Cost = field(default_factory=Cost)
    lasting: bool = True


Judge = Callable[[T, Meter], Awaitable[Finding]]
"""Judges one row and charges what it spends to the meter. Raises BudgetSpent where there is no more
to spend, and ModelError where no model answers (not in an exception group): the row is then left
for another time.
"""

Progress = Callable[[Finding, int, Cost], None]
"""Told of each finding, how many rows are judged, and what the sweep cost until then."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Result of a sweep. ``findings`` are in the order of the rows; ``left`` are ids of rows that
    were not judged, ``stopped`` is the reason. ``again`` counts findings from earlier sweeps;
    ``cost`` is that of this sweep.
    """

    findings: tuple[Finding, ...]
    left: tuple[str, ...] = ()
    stopped: str = ""
    again: int = 0
    cost: Cost = field(default_factory=Cost)

    @property
    def kept(self) -> tuple[Finding, ...]:
        return tuple(one for one in self.findings if one.kept)

    @property
    def dropped(self) -> tuple[Finding, ...]:
        return tuple(one for one in self.findings if not one.kept)


Levels = Callable[[Sequence[Row[T]]], Generator[Sequence[Row[T]], Sweep, None]]
"""Which rows are judged first: yields some of them, is sent what was found of these, and yields
more.
"""


class Journal:
    """The findings of a sweep on disk, a line each behind a head that says what they are of; and,
    of rows that are being judged, what they were told (:mod:`callwright_lab.verify.memory`).
    ``shared`` is what all of them were told. One process owns it.

    Without a path it only remembers. Made by :func:`open_journal`.
    """

    def __init__(self, path: Path | None, about: JsonObject) -> None:
        self.path = path
        self.findings: dict[str, Finding] = {}
        self._told: dict[
            str, list[JsonObject]
        ] = {}  # row's key -> notes, of rows that have no finding yet
        self.shared = RowMemory()
        if path is None:
            return
        head = {"verify": VERSION, "about": to_json(about)}
        found = (
            lines.read_rows(path, dict, what="line of a journal", hint=_ANEW, cut=True)
            if path.exists()
            else []
        )
        if found and found[0] != head:
            raise ConfigError(
                f"{path} was begun with other settings{_describe_setting_changes(found[0], head)}",
                hint=_ANEW,
            )
        for line in found[1:]:
            self._read(line)
        told = [
            note for key, notes in self._told.items() if key not in self.findings for note in notes
        ]
        self.shared = RowMemory(
            self._told.pop(_ALL, ()), lambda note: self._append({"of": _ALL, **note})
        )
        lines.write_rows(path, [head, *map(to_json, self.findings.values()), *told])

    def _read(self, line: JsonObject) -> None:
        if "asked" in line:
            self._told.setdefault(line["of"], []).append(line)
        elif "forget" in line:
            self._told.pop(line["forget"], None)
        else:
            finding = _from_json(line)
            self.findings[finding.key] = finding

    def keep(self, finding: Finding) -> None:
        """Remember a finding; it is on disk when this returns. One that does not last is only known
        now, and what led to it is forgotten: the next sweep asks again.
        """
        self.findings[finding.key] = finding
        self._told.pop(finding.key, None)
        self._append(to_json(finding) if finding.lasting else {"forget": finding.key})

    def _append(self, line: JsonObject) -> None:
        if self.path is not None:
            with _report_journal_errors(self.path):
                lines.append_rows(self.path, [line], synced="begun" in line)

    def memory(self, key: str) -> Memory:
        """Return the memory of a row: answers from an earlier unfinished sweep, and the place for
        new ones.
        """
        return Memory(self._told.get(key, ()), lambda note: self._append({"of": key, **note}))


_ALL = ""  # in place of a row's key
_ANEW = "choose another --journal, or --fresh to judge everything again"


@contextmanager
def open_journal(path: Path | None, about: JsonObject, *, anew: bool = False) -> Iterator[Journal]:
    """The journal of a sweep for as long as the block lasts. ``about``: the stage and all settings
    that findings depend on; ``anew`` forgets what is on record. Raises ConfigError for one of other
    settings, or that is in use.
    """
    if path is None:
        yield Journal(None, about)
        return
    lock = FileLock(f"{path}.lock")
    try:
        with _report_journal_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=0)
    except Timeout:
        raise ConfigError(
            f"{path} is in use by another process", hint="wait for it, or choose another --journal"
        ) from None
    try:
        with _report_journal_errors(path):
            _require_journal_file(path)
            if anew:
                path.unlink(missing_ok=True)
            journal = Journal(path, about)
        yield journal
    finally:
        lock.release()


def _require_journal_file(path: Path) -> None:
    """ConfigError for a file that is no journal: it is somebody's, and neither begun again nor gone
    on with.
    """
    begun = b'{"verify"'
    if path.is_file():
        with path.open("rb") as file:
            first = file.read(len(begun))
        if not begun.startswith(first):
            raise ConfigError(
                f"{path} is no journal of a sweep",
                hint="choose another --journal; it is left as it is",
            )


@contextmanager
def _report_journal_errors(path: Path) -> Iterator[None]:
    """A journal that cannot be read or written is said in a sentence."""
    try:
        yield
    except Timeout:
        raise
    except OSError as error:
        said = f"the journal {path} cannot be written: {error.strerror}"
        raise ConfigError(
            said, hint="make room, or choose another --journal; what is in it is kept"
        ) from None


async def run_sweep(
    rows: Sequence[Row[T]],
    judge: Judge[T],
    journal: Journal,
    *,
    levels: Levels[T] | None = None,
    budget: Budget | None = None,
    concurrency: int = 4,
    progress: Progress = lambda *_: None,
) -> Sweep:
    """Judge the rows that are not on record, ``concurrency`` at a time; with ``levels`` one level
    after the other.

    A budget that is spent ends the sweep in good order. Raises ModelError when no model answers for
    several rows in succession, the first CallwrightError of a judge or of the journal, and whatever
    else the judge raises (in an exception group); what was found before is in the journal.
    """
    again = sum(row.key in journal.findings for row in rows)
    known_before = len({row.key for row in rows} & journal.findings.keys())
    work = _RowWork(journal, judge, Account(budget or Budget()), progress, known_before)
    told = levels(rows) if levels is not None else _yield_rows_at_once(rows)
    level = next(told, None)
    while level is not None:
        try:
            await work.all(level, concurrency)
        except BaseExceptionGroup as group:
            ours, others = group.split(CallwrightError)
            if ours is None or others is not None:
                raise
            raise _find_first_exception(ours) from None
        made = _collect_result(level, work, 0)
        if made.left:
            break
        try:
            level = told.send(made)
        except StopIteration:
            break
    told.close()
    if work.error is not None and (work.silent >= PATIENCE or work.done == known_before):
        raise work.error
    return _collect_result(rows, work, again)


def _find_first_exception(group: BaseExceptionGroup[CallwrightError]) -> CallwrightError:
    found = group.exceptions[0]
    return _find_first_exception(found) if isinstance(found, BaseExceptionGroup) else found


def _yield_rows_at_once(rows: Sequence[Row[T]]) -> Generator[Sequence[Row[T]], Sweep, None]:
    yield rows


def _collect_result(rows: Sequence[Row[T]], work: _RowWork[T], again: int) -> Sweep:
    known = work.journal.findings
    found = tuple(replace(known[row.key], id=row.id) for row in rows if row.key in known)
    left = tuple(row.id for row in rows if row.key not in known)
    return Sweep(found, left, work.stopped, again, work.cost)


@dataclass
class _RowWork(Generic[T]):
    journal: Journal
    judge: Judge[T]
    account: Account
    progress: Progress
    done: int
    cost: Cost = field(default_factory=Cost)
    stopped: str = ""
    spent: bool = False
    silent: int = 0
    error: ModelError | None = None

    async def all(self, rows: Sequence[Row[T]], concurrency: int) -> None:
        todo = deque(
            {row.key: row for row in rows if row.key not in self.journal.findings}.values()
        )
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(todo))):
                group.create_task(self.through(todo))

    async def through(self, todo: deque[Row[T]]) -> None:
        while todo and self.silent < PATIENCE and not self.spent:
            row = todo.popleft()
            meter = Meter(self.account, self.journal.memory(row.key), self.journal.shared)
            try:
                finding = await self._judged(row, meter)
            finally:
                self.cost = self.cost + meter.spent
            if finding is not None:
                self.silent = 0
                self.done += 1
                self.journal.keep(replace(finding, id=row.id, key=row.key, cost=meter.cost))
                self.progress(self.journal.findings[row.key], self.done, self.cost)

    async def _judged(self, row: Row[T], meter: Meter) -> Finding | None:
        """The finding; None where the row must wait for more to spend, or for a model that
        answers.
        """
        try:
            self.account.require_time()
            return await self.judge(row.item, meter)
        except BudgetSpent as spent:
            self.spent, self.stopped = True, str(spent)
        except ModelError as error:
            self.silent += 1
            self.error, self.stopped = (
                error,
                self.stopped or f"no model answered for {row.id}: {error.message}",
            )
        return None


def make_row_key(*parts: Any) -> str:
    """The key of a row from all that its finding depends on."""
    return compute_digest(list(parts))


def _describe_setting_changes(before: Any, now: JsonObject) -> str:
    """Return the names of the settings that differ, for the error message."""
    old = before.get("about") if isinstance(before, dict) else None
    if not isinstance(old, dict):
        return ""
    new = now["about"]
    return ": " + ", ".join(sorted(key for key in {*old, *new} if old.get(key) != new.get(key)))


def _from_json(row: JsonObject) -> Finding:
    try:
        cost = row["cost"]
        spent = Cost(
            cost["calls"],
            cost["model_calls"],
            Usage(**cost["usage"]),
            cost["seconds"],
            cost.get("repeats", 0),
        )
        return Finding(**{**row, "cost": spent})
    except (KeyError, TypeError) as error:
        raise ConfigError(
            f"the journal holds a line that is no finding ({error})", hint=_ANEW
        ) from None
