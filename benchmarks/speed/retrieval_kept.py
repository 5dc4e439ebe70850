"""What an index on disk costs whoever uses it; ``python retrieval_kept.py SIZE`` is one such
process.
"""

from __future__ import annotations

import pickle
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from callwright.jsontext import parse, write
from callwright.weights import cache_dir

Made = TypeVar("Made")

COLUMNS = ("load", "first", "resident", "mapped", "updated", "saved")

FOLDER = cache_dir() / "speed-retrieval"


def kept(made: Mapping[int, float]) -> list[str]:
    """A table, medians of three processes each. ``made``: size -> seconds that making the index
    took.
    """
    lines = [
        (
            "| tools | made, s CPU | on disk, MB | load, ms CPU | first query | resident, MB | of"
            " it mapped | 1 % changed, ms CPU | saved |"
        ),
        "|---:" * 9 + "|",
    ]
    for size, seconds in made.items():
        told = [_told(size) for _ in range(3)]
        middle = [statistics.median(each[name] for each in told) for name in COLUMNS]
        disk = sum(path.stat().st_size for path in (FOLDER / str(size)).rglob("*")) / 1e6
        cells = [f"{seconds:.1f}", f"{disk:.0f}", *(f"{value:.0f}" for value in middle)]
        lines.append(f"| {size:,} | {' | '.join(cells)} |")
    return lines


def _told(size: int) -> dict[str, float]:
    said = subprocess.run([sys.executable, __file__, str(size)], check=True, capture_output=True)
    return dict(parse(said.stdout))


def _measured(size: int) -> dict[str, float]:
    from catalogue import queries

    from callwright.models.encoders import open_encoder
    from callwright.retrieval.document import build_document
    from callwright.retrieval.store import load, save

    changed, asked = pickle.loads((FOLDER / f"{size} changed.pickle").read_bytes()), queries(40)
    encoder = open_encoder(cache=FOLDER / "vectors.sqlite")
    encoder.encode(
        [build_document(tool).text for tool in changed] + asked
    )  # remembered: encoding is not what is measured
    before, mapped_before = _held("VmRSS"), _held("RssFile")
    index, loading = timed(lambda: load(FOLDER / str(size), encoder))
    _, first = timed(lambda: index.search(asked[0], mode="single"))
    for query in asked:
        index.search(query, mode="single")
    resident, mapped = _held("VmRSS") - before, _held("RssFile") - mapped_before
    updated, updating = timed(lambda: index.updated(changed))
    other = FOLDER / f"{size} changed"
    shutil.rmtree(other, ignore_errors=True)
    _, saving = timed(lambda: save(updated, other))
    shutil.rmtree(other)
    return {
        "load": loading,
        "first": first,
        "resident": resident,
        "mapped": mapped,
        "updated": updating,
        "saved": saving,
    }


def timed(work: Callable[[], Made]) -> tuple[Made, float]:
    """What the work made, and the milliseconds of CPU that it took."""
    began = time.process_time_ns()
    made = work()
    return made, (time.process_time_ns() - began) / 1e6


def _held(what: str) -> float:
    """Megabytes of this process now."""
    with Path("/proc/self/status").open() as status:
        return next(int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith(what))


if __name__ == "__main__":
    sys.stdout.write(write(_measured(int(sys.argv[1]))).decode())
