"""What an index on disk costs whoever uses it; ``python retrieval_kept.py SIZE`` is one such process."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from callwright.jsontext import parse, write
from callwright.weights import cache_dir

FOLDER = cache_dir() / "speed-retrieval"


def kept(made: Mapping[int, float]) -> list[str]:
    """A table, medians of five processes each. ``made``: size -> seconds that making the index took."""
    lines = [
        "| tools | made, s CPU | on disk, MB | load, ms CPU | first query | resident, MB | of it mapped "
        "| 1 % changed, ms CPU | saved |",
        "|---:" * 9 + "|",
    ]
    for size, seconds in made.items():
        told = [_told(size) for _ in range(5)]
        middle = {name: statistics.median(each[name] for each in told) for name in told[0]}
        disk = sum(path.stat().st_size for path in (FOLDER / str(size)).rglob("*")) / 1e6
        cells = [f"{seconds:.1f}", f"{disk:.0f}", *(f"{value:.0f}" for value in middle.values())]
        lines.append(f"| {size:,} | {' | '.join(cells)} |")
    return lines


def _told(size: int) -> dict[str, float]:
    said = subprocess.run([sys.executable, __file__, str(size)], check=True, capture_output=True)
    return dict(parse(said.stdout))


def _measured(size: int) -> dict[str, float]:
    from catalogue import Catalogue, queries

    from callwright.encoders import open_encoder
    from callwright.encoders.cached import CachedEncoder
    from callwright.retrieval import ToolIndex
    from callwright.retrieval.store import load, save

    found, asked = Catalogue(size), queries(40)
    changed = found.changed(0.01)
    encoder = CachedEncoder(found.encoder(open_encoder(cache=FOLDER / "vectors.sqlite")))
    ToolIndex.build(changed, encoder)  # remembered from here on: encoding is not what is measured
    before, mapped_before = _held("VmRSS"), _held("RssFile")
    index, loading = _timed(lambda: load(FOLDER / str(size), encoder))
    encoder.encode(asked[:1])
    _, first = _timed(lambda: index.search(asked[0], mode="single"))
    for query in asked:
        index.search(query)
    resident, mapped = _held("VmRSS") - before, _held("RssFile") - mapped_before
    updated, updating = _timed(lambda: index.updated(changed))
    other = FOLDER / f"{size} changed"
    shutil.rmtree(other, ignore_errors=True)
    _, saving = _timed(lambda: save(updated, other))
    shutil.rmtree(other)
    return {
        "load": loading,
        "first": first,
        "resident": resident,
        "mapped": mapped,
        "updated": updating,
        "saved": saving,
    }


def _timed(work: Callable[[], object]) -> tuple[object, float]:
    began = time.process_time_ns()
    made = work()
    return made, (time.process_time_ns() - began) / 1e6


def _held(what: str) -> float:
    """Megabytes of this process now."""
    with Path("/proc/self/status").open() as status:
        return next(int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith(what))


if __name__ == "__main__":
    sys.stdout.write(write(_measured(int(sys.argv[1]))).decode())
