"""Retrieval over 2,500, 16,000 and 100,000 tools: what an index costs, and a query beside bm25s and
what it encodes.

Indexes are made once a run and saved; every process that measures loads them. ``retrieval_kept``
measures what loading, holding and updating one costs, ``overlooked`` what the graph over many
vectors misses.
"""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle

from catalogue import Catalogue, queries
from retrieval_kept import FOLDER, kept, timed
from retrieval_missed import missed
from timing import Prepare, Row, Times, measure, median_us, ratio, repeated

from callwright.models.encoders import open_encoder
from callwright.models.encoders.minilm import open_minilm
from callwright.retrieval import Mode, ToolIndex
from callwright.retrieval.clauses import split_clauses
from callwright.retrieval.store import load, save
from callwright.retrieval.terms import query_terms

SIZES = (2_500, 16_000, 100_000)
QUERIES = queries(40)  # one run asks one of them, and all rows the same ones in turn
ASKED = 10  # in a round
MODES: tuple[Mode, ...] = ("lexical", "single", "hybrid", "ranked")
ONCE, EVERY = "encoding the request", "encoding the request and its clauses"
PEERS = ("bm25s, scores and top k", "bm25s, retrieve()")  # in retrieval_peers, at the largest size


def _searching(size: int, mode: Mode) -> Prepare:
    index, asked = load(FOLDER / str(size), open_minilm()), cycle(QUERIES)
    assert len(index) == size
    return repeated(lambda: index.search(next(asked), 10, mode=mode))


def _encoding(texts: Callable[[str], Sequence[str]]) -> Prepare:
    encoder, asked = open_minilm(), cycle(QUERIES)
    return repeated(lambda: encoder.encode(texts(next(asked))))


ROWS = {
    **{f"{mode}, {size:,}": partial(_searching, size, mode) for size in SIZES for mode in MODES},
    ONCE: partial(_encoding, lambda query: (query,)),
    EVERY: partial(_encoding, lambda query: (query, *split_clauses(query))),
}


def table(rounds: int, peers: str | None) -> list[str]:
    """Three tables, in Markdown."""
    found = Catalogue(SIZES[-1])
    made = {size: _made(found, size) for size in SIZES}
    _beside("queries", [" ".join(query_terms(query)) for query in QUERIES])
    os.environ["CALLWRIGHT_SPEED_RETRIEVAL"] = str(FOLDER)
    rows = [Row(name, "retrieval", runs=ASKED) for name in ROWS]
    rows += [Row(name, "retrieval_peers", peers, runs=ASKED) for name in PEERS if peers]
    times = measure(rows, rounds)
    lines = [
        "| a query | ms CPU | to encoding it | with its clauses |"
        + "".join(f" to {p} |" for p in PEERS if peers)
    ]
    lines += [
        "|---" + "|---:" * (3 + len(PEERS if peers else ())) + "|",
        *(_line(row.name, times) for row in rows),
        "",
    ]
    return [*lines, *kept(made), "", *missed(SIZES, queries(60)), ""]


def _line(name: str, times: Times) -> str:
    beside = [other for other in (ONCE, EVERY, *PEERS) if other in times]
    return f"| {name} | {median_us(times, name) / 1000:.2f} |" + "".join(
        f" {ratio(times, name, other):.2f} |" for other in beside
    )


def _made(found: Catalogue, size: int) -> float:
    """Makes what is measured; seconds of CPU for reading the tools, indexing and saving, without
    encoding.
    """
    encoder = open_encoder(cache=FOLDER / "vectors.sqlite")
    documents, reading = timed(lambda: ToolIndex.build(found.tools[:size]).documents)
    index = ToolIndex(documents, encoder, found.vectors(documents, encoder))
    shutil.rmtree(FOLDER / str(size), ignore_errors=True)
    _, saving = timed(lambda: save(index, FOLDER / str(size)))
    (FOLDER / f"{size} changed.pickle").write_bytes(
        pickle.dumps(found.changed(found.tools[:size], 0.01))
    )
    if size == SIZES[-1]:
        _beside("texts", [document.terms for document in documents])
    return (reading + saving) / 1000


def _beside(name: str, lines: Sequence[str]) -> None:
    """A file for the peers, who know nothing of indexes."""
    (FOLDER / name).write_text("\n".join(lines), encoding="utf-8")
