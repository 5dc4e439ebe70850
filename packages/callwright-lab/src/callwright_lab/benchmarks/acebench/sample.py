"""Samples of rows, drawn by a digest of their ids and stated in a file before any row is run; and
the ledger of when the final half was opened.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path

import orjson

from callwright.jsontext import parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows
from callwright_lab.datasets.acebench import AceRow, Half, Language, iter_rows


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows of one half by language and category, each in the order of its digest."""

    half: Half
    per_category: int
    rows: Mapping[tuple[Language, str], Sequence[AceRow]]

    @property
    def digest(self) -> str:
        """Sixteen digits of a digest over what is stated."""
        return hashlib.sha256(orjson.dumps(self.to_dict())).hexdigest()[:16]

    def to_dict(self) -> JsonObject:
        """The sample as its file holds it."""
        ids: JsonObject = {}
        for (language, category), rows in self.rows.items():
            ids.setdefault(language, {})[category] = [row.id for row in rows]
        return {"half": self.half, "per_category": self.per_category, "ids": ids}

    def iter_rows(self) -> Iterator[AceRow]:
        """The first row of every category, then the second of every category, and so on: what was
        run before a bench ends is spread over all of them.
        """
        for rank in zip_longest(*self.rows.values()):
            yield from (row for row in rank if row is not None)

    def render_lines(self) -> str:
        """The text that is printed before any row is run."""
        lines = [f"half {self.half}, at most {self.per_category} rows a category: {self.digest}"]
        for (language, category), rows in self.rows.items():
            numbers = [row.id.removeprefix(category + "_") for row in rows]
            lines.append(f"{language} {category} ({len(rows)}): {' '.join(numbers)}")
        return "\n".join(lines)


def draw_sample(
    root: Path,
    languages: Sequence[Language],
    categories: Sequence[str],
    half: Half,
    per_category: int,
) -> Sample:
    """The first rows of each category in one half, ordered by their digests. ConfigError without
    the data.
    """
    rows: dict[tuple[Language, str], Sequence[AceRow]] = {}
    for language in languages:
        for category in categories:
            found = [row for row in iter_rows(root, language, category) if row.half == half]
            found.sort(key=lambda row: row.id_digest)
            rows[language, category] = found[:per_category]
    return Sample(half, per_category, rows)


def state_sample(path: Path, sample: Sample) -> None:
    """Write the sample down. ConfigError where the file states another one: results of two samples
    must not stand in one file.
    """
    if path.exists():
        if parse(path.read_bytes()) != sample.to_dict():
            raise ConfigError(
                f"{path} states another sample", hint="write to other --results, or draw as before"
            )
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(sample.to_dict(), option=orjson.OPT_INDENT_2))


def open_final(ledger: Path, sample: Sample, model: str, ways: Sequence[str]) -> JsonObject:
    """Note in the ledger that the final half is opened, and for what. ConfigError where it was
    opened with another sample.
    """
    before = read_rows(ledger)
    if others := [row for row in before if row["sample"] != sample.digest]:
        raise ConfigError(
            f"the final half was opened with another sample on {others[0]['opened']}: {ledger}",
            hint="it is opened once; run the sample that was stated then",
        )
    entry: JsonObject = {
        "opened": datetime.now(UTC).isoformat(timespec="seconds"),
        "sample": sample.digest,
        "per_category": sample.per_category,
        "model": model,
        "ways": list(ways),
        "times_before": len(before),
    }
    append_row(ledger, entry)
    return entry
