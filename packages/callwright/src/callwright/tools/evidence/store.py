"""The evidence file: observations of tools in SQLite, read and written by several processes,
bounded in size and age.

Every write is one transaction with a write-ahead log: a process that dies leaves all of it or
nothing, and readers never wait. What is kept: of one tool the last :attr:`Retention.per_tool`
observations, of all of them what is younger than :attr:`Retention.seconds` and fits into
:attr:`Retention.megabytes`. Secrets are gone before anything is written.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from callwright.jsontext import JsonError, parse
from callwright.language.credentials import mask_secrets
from callwright.nouns.closing import Closing
from callwright.nouns.errors import EvidenceError
from callwright.nouns.types import Json, JsonObject, compute_digest, to_canonical_json
from callwright.storage.database import make_private_folder, open_database, state_dir
from callwright.tools.evidence.health import HALF_LIFE, Health, Rate, compute_health, compute_rate
from callwright.tools.evidence.observation import AGAINST, REPLY, SILENT, Observation, make_excerpt

FORMAT = 1
_ARGUMENTS = 2_000  # characters of a call's arguments; longer ones are known by their digest only
_PROOF = 300  # characters
_BATCH = 256  # rows deleted at once where the file is too large
_TABLES = """
CREATE TABLE IF NOT EXISTS observation (
    id INTEGER PRIMARY KEY, digest TEXT NOT NULL, tool TEXT NOT NULL, outcome TEXT NOT NULL, arguments TEXT NOT NULL,
    key TEXT NOT NULL, reply TEXT NOT NULL, kind TEXT NOT NULL, proof TEXT NOT NULL, seconds REAL NOT NULL,
    simulated INTEGER NOT NULL, origin TEXT NOT NULL, at REAL NOT NULL, ref TEXT UNIQUE
);
CREATE INDEX IF NOT EXISTS of_tool ON observation (digest, at);
CREATE INDEX IF NOT EXISTS of_call ON observation (key, digest, at) WHERE key != '';
CREATE INDEX IF NOT EXISTS by_age ON observation (at);
"""
_COLUMNS = (
    "digest, tool, outcome, arguments, key, reply, kind, proof, seconds, simulated, origin, at, ref"
)
_SPEAKS = (
    f"simulated = 0 AND kind != '{SILENT}' AND "
    f"(outcome IN ('functional_success', 'execution_failure') OR kind IN {AGAINST})"
)


def evidence_file() -> Path:
    """Return the path of the evidence file: CALLWRIGHT_EVIDENCE, else in the user's folder for
    state.
    """
    given = os.environ.get("CALLWRIGHT_EVIDENCE")
    return Path(given).expanduser() if given else state_dir() / "evidence.db"


@dataclass(frozen=True, slots=True)
class Retention:
    """Limits of an evidence file; the oldest observations are removed first. ``megabytes`` limits
    the file without its log.
    """

    per_tool: int = 200
    seconds: float = 90 * 86_400.0
    megabytes: float = 64.0


class EvidenceStore(Closing):
    """Observations of tools, by the tools' digests. Usable from several processes, in each from one
    thread at a time.

    ``secrets`` (see :func:`callwright.nouns.redaction.select_redactable`) are taken out of whatever
    is recorded, and so is what only looks like one. Raises EvidenceError where the file cannot be
    read or written.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        secrets: Sequence[str] = (),
        retention: Retention | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = Path(path).expanduser() if path is not None else evidence_file()
        self.secrets = tuple(secrets)
        self._retention = retention or Retention()
        self._clock = clock
        with self._using("open"):
            make_private_folder(self.path.parent)
            self._database = _open_evidence(self.path)

    def record(self, observations: Iterable[Observation]) -> None:
        """Keep these, all or none, and let go of what is too old or too much."""
        rows = [self._row(o) for o in observations]
        if not rows:
            return
        marks = ", ".join("?" * len(rows[0]))
        with self._using("write"), self._transaction() as database:
            database.executemany(
                f"INSERT INTO observation ({_COLUMNS}) VALUES ({marks}) ON CONFLICT (ref) DO"
                " NOTHING",
                rows,
            )
            self._let_go({row[0] for row in rows})

    def remembered(
        self, digest: str, arguments: JsonObject, newest_after: float
    ) -> Observation | None:
        """The last observation of this very call that is younger than this Unix time, a real one
        before a simulated.

        A call whose arguments held a secret is never remembered: with another key it is another
        call.
        """
        where = "digest = ? AND key = ? AND at > ? ORDER BY simulated, at DESC, id DESC LIMIT 1"
        return next(
            iter(self._select(where, (digest, _digest_arguments(arguments), newest_after))), None
        )

    def health(self, digest: str, now: float | None = None) -> Health:
        """Return the health of the tool with this digest; a Health without counts if nothing is
        known.
        """
        seen = self._select("digest = ? ORDER BY at DESC, id DESC", (digest,))
        return compute_health(seen[0].tool if seen else "", digest, seen, self._now(now))

    def healths(self, now: float | None = None) -> list[Health]:
        """Return the health of every known tool, sorted by name; for equal names, the one seen last
        comes first.
        """
        with self._using("read"):
            known = [
                row[0] for row in self._database.execute("SELECT DISTINCT digest FROM observation")
            ]
        return sorted(
            (self.health(d, now) for d in known), key=lambda h: (h.tool, -(h.last or 0.0))
        )

    def rates(
        self, now: float | None = None, digests: Collection[str] | None = None
    ) -> dict[str, Rate]:
        """Digest -> success rate of the tools that anything is known of; all, or of these."""
        weight = f"pow(2.0, -max(0.0, ? - at) / {HALF_LIFE})"
        query = (
            f"SELECT digest, sum({weight} * (outcome = 'functional_success')), sum({weight}) FROM"
            f" observation WHERE {_SPEAKS} GROUP BY digest"
        )
        at = self._now(now)
        with self._using("read"):
            found = {
                d: compute_rate(good, seen)
                for d, good, seen in self._database.execute(query, (at, at))
            }
        return found if digests is None else {d: found[d] for d in digests if d in found}

    def close(self) -> None:
        """Let go of the file. Closing twice does nothing."""
        with self._using("close"):
            self._database.close()

    def _now(self, given: float | None) -> float:
        return self._clock() if given is None else given

    def _row(self, o: Observation) -> tuple[Json, ...]:
        safe = mask_secrets(o.arguments, self.secrets)
        text = str(_to_storable(to_canonical_json(safe)))
        key = _digest_arguments(o.arguments) if safe == o.arguments else ""
        reply, proof = (
            make_excerpt(o.reply, self.secrets, REPLY),
            make_excerpt(o.proof, self.secrets, _PROOF),
        )
        told = (
            o.digest,
            o.tool,
            o.outcome,
            _normalize_arguments(text),
            key,
            reply,
            o.kind,
            proof,
            o.seconds,
            o.simulated,
            o.origin,
        )
        return tuple(_to_storable(v) for v in (*told, o.at or self._clock(), o.ref or None))

    def _select(self, where: str, values: Sequence[Json]) -> list[Observation]:
        with self._using("read"):
            rows = self._database.execute(
                f"SELECT {_COLUMNS} FROM observation WHERE {where}", tuple(values)
            )
            return [_build_observation(row) for row in rows]

    def _let_go(self, digests: Collection[str]) -> None:
        database, kept = self._database, self._retention
        database.execute("DELETE FROM observation WHERE at < ?", (self._clock() - kept.seconds,))
        for one in digests:
            database.execute(
                "DELETE FROM observation WHERE id IN (SELECT id FROM observation WHERE digest = ?"
                " ORDER BY at DESC, id DESC LIMIT -1 OFFSET ?)",
                (one, kept.per_tool),
            )
        while self._bytes() > kept.megabytes * 1_000_000 and self._count() > 1:
            half = min(_BATCH, self._count() // 2)
            database.execute(
                "DELETE FROM observation WHERE id IN (SELECT id FROM observation ORDER BY at, id"
                " LIMIT ?)",
                (half,),
            )

    def _bytes(self) -> int:
        pages = self._database.pragma("page_count") - self._database.pragma("freelist_count")
        return int(pages * self._database.pragma("page_size"))

    def _count(self) -> int:
        found: Any = self._database.execute("SELECT count(*) FROM observation").fetchall()
        return int(found[0][0])

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        """All or nothing; the lock for writing is taken first, so that nobody has to begin
        again.
        """
        database = self._database
        database.execute("BEGIN IMMEDIATE")
        try:
            yield database
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise

    @contextmanager
    def _using(self, verb: str) -> Iterator[None]:
        try:
            yield
        except (apsw.NotADBError, apsw.CorruptError) as exc:
            raise EvidenceError(
                f"{self.path} is no evidence file, or a damaged one: {exc}",
                hint="name another file, or delete it",
            ) from exc
        except (apsw.Error, OSError) as exc:
            raise EvidenceError(
                f"cannot {verb} the evidence file {self.path}: {exc}",
                hint=(
                    "make room or name another file (--evidence, CALLWRIGHT_EVIDENCE);"
                    " --no-evidence goes without"
                ),
            ) from exc


def _open_evidence(path: Path) -> apsw.Connection:
    database = open_database(path, "NORMAL")
    try:
        found = database.pragma("user_version")
        if found > FORMAT:
            raise EvidenceError(
                f"{path} has format {found}, this Callwright reads up to {FORMAT}",
                hint="name another file",
            )
        if found < FORMAT:
            database.execute(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {FORMAT}; COMMIT")
    except BaseException:
        database.close()
        raise
    return database


def _digest_arguments(arguments: JsonObject) -> str:
    return compute_digest(arguments)


def _normalize_arguments(arguments: str) -> str:
    """Arguments as they can be read back: not what is too long, nested without end or no number."""
    try:
        return to_canonical_json(parse(arguments)) if len(arguments) <= _ARGUMENTS else "{}"
    except JsonError:
        return "{}"


def _to_storable(value: Json) -> Json:
    """A lone surrogate, which JSON may hold, is no UTF-8."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _build_observation(row: tuple[Any, ...]) -> Observation:
    (
        digest_,
        tool,
        outcome,
        arguments,
        _,
        reply,
        kind,
        proof,
        seconds,
        simulated,
        origin,
        at,
        ref,
    ) = row
    return Observation(
        tool=tool,
        digest=digest_,
        outcome=outcome,
        arguments=parse(arguments),
        reply=reply,
        kind=kind,
        proof=proof,
        seconds=seconds,
        simulated=bool(simulated),
        origin=origin,
        at=at,
        ref=ref or "",
    )
