"""The evidence file of a command: opened where it was said, gone without where the default one
cannot be had.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from callwright.nouns.errors import EvidenceError
from callwright.tools.evidence import EvidenceStore


@contextmanager
def open_evidence(where: bool | Path) -> Iterator[EvidenceStore | None]:
    """The store for as long as the block lasts: of a file, of the default one (True), or none.

    Raises EvidenceError for a file that was named. Without the default one a command goes on, and
    says so.
    """
    if where is False:
        yield None
        return
    try:
        store = EvidenceStore(None if where is True else where)
    except EvidenceError as error:
        if where is not True:
            raise
        print(f"nothing is learned of tools: {error.message}", file=sys.stderr)
        yield None
        return
    with store:
        yield store
