"""The tools of a command: its sources opened, and at once, on stderr, what cannot be opened or laid
over any tool.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from callwright.cli.settings.options import EVERY_SOURCE
from callwright.nouns.control_characters import one_line
from callwright.nouns.types import Tool
from callwright.tools.catalog import Catalog, open_catalog
from callwright.tools.trust import TrustStore


@asynccontextmanager
async def open_sources(
    sources: Sequence[str], *, problems: bool = False, pinned: bool = False
) -> AsyncIterator[Catalog]:
    """The catalogue of these sources, as :func:`callwright.tools.open_catalog` makes it, with what
    the user has confirmed, and without those that cannot be opened; under ``--require-sources`` they
    end the command. ``problems``: all that it could not use as it is, is said, and not only what is
    of overlays and of such sources. ``pinned``: its tools are called, so that their definitions must
    be those of the first use.
    """
    store = TrustStore()
    pins = store if pinned else None
    async with open_catalog(sources, strict=EVERY_SOURCE.get(), trust=store, pins=pins) as catalog:
        said_anyway = (*catalog.unopened, *catalog.unlaid)
        for said in (*said_anyway, *catalog.unconfirmed):
            print(f"warning: {one_line(said)}", file=sys.stderr)
        for said in catalog.problems if problems else ():
            if said not in said_anyway:
                print(one_line(said), file=sys.stderr)
        yield catalog


def load_tools(sources: Sequence[str]) -> tuple[Tool, ...]:
    """The tools of these sources, opened as above and closed again; () where there are none."""

    async def load() -> tuple[Tool, ...]:
        async with open_sources(sources) as catalog:
            return catalog.tools

    return asyncio.run(load()) if sources else ()
