"""The tools of a command: its sources opened, and what of an overlay fits none of them said at once, on stderr."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from callwright.catalog import Catalog, open_catalog
from callwright.controls import one_line


@asynccontextmanager
async def opened(sources: Sequence[str], *, problems: bool = False) -> AsyncIterator[Catalog]:
    """The catalogue of these sources, as :func:`callwright.catalog.open_catalog` makes it. ``problems``: all that it
    could not use as it is, is said, and not only what is of overlays."""
    async with open_catalog(sources) as catalog:
        for said in catalog.unlaid:
            print(f"warning: {one_line(said)}", file=sys.stderr)
        for said in catalog.problems if problems else ():
            if said not in catalog.unlaid:
                print(one_line(said), file=sys.stderr)
        yield catalog
