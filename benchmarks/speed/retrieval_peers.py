"""bm25s (Lù 2024) over the same terms and the same queries. Runs in the peers' environment; knows
no Callwright.

``scores and top k`` is what its parts need; ``retrieve()`` what its documentation calls, one query
at a time.
"""

from __future__ import annotations

import os
from itertools import cycle
from pathlib import Path

import bm25s
from bm25s.selection import topk
from timing import Prepare, repeated


def _made() -> tuple[bm25s.BM25, list[list[str]]]:
    folder = Path(os.environ["CALLWRIGHT_SPEED_RETRIEVAL"])
    texts, queries = (
        (folder / name).read_text(encoding="utf-8").split("\n") for name in ("texts", "queries")
    )
    index = bm25s.BM25(method="lucene")
    index.index([text.split() for text in texts], show_progress=False)
    return index, [query.split() for query in queries]


def _parts() -> Prepare:
    index, queries = _made()
    asked = cycle(queries)
    return repeated(lambda: topk(index.get_scores(next(asked)), 10, backend="numpy"))


def _retrieve() -> Prepare:
    index, queries = _made()
    asked = cycle(queries)
    return repeated(lambda: index.retrieve([next(asked)], k=10, show_progress=False))


ROWS = {"bm25s, scores and top k": _parts, "bm25s, retrieve()": _retrieve}
