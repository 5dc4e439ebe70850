"""The receivers of a run while it goes on: its journal, the sinks and functions of the user."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from callwright.agent.journal.ledger import Ledger
from callwright.agent.journal.store import Journal
from callwright.agent.probing.verdict import build_observation
from callwright.agent.run_events import EventReader, Watch
from callwright.agent.running.setup import Setup
from callwright.nouns.errors import CallwrightError
from callwright.nouns.trace import Sink, Trace
from callwright.nouns.types import to_json
from callwright.tools.catalog import Catalog
from callwright.tools.evidence import Recorder

_LOG = logging.getLogger("callwright.agent")
T = TypeVar("T")


def open_trace(
    sinks: tuple[Sink, ...], secrets: tuple[str, ...], ledger: Ledger, watch: Watch | None
) -> Trace:
    """The trace of a run; what it records and announces is told to ``watch``."""
    if watch is None:
        return Trace(sinks, secrets, ledger.clock, started=ledger.began)
    reader = EventReader(watch)
    sinks = (*sinks, reader)
    return Trace(sinks, secrets, ledger.clock, started=ledger.began, watch=reader.announce)


def is_withheld(trace: Trace, *said: Any) -> bool:
    """Return True if what was said to a run holds a secret, which its record does not."""
    told = to_json(said)
    return bool(trace.secrets) and trace.redact(told) != told


def collect_sinks(
    setup: Setup,
    catalog: Catalog,
    query: str,
    journal: Journal | None,
    lost: list[str],
) -> tuple[Sink, ...]:
    """Return the receivers of the run's events. The journal comes first, and it alone may end the
    run. The last one stores what the calls show of their tools, read as in tool probing. What is
    not kept is told to ``lost``.
    """
    kept = setup.options.persistence
    others = (drop_broken("a sink gets no more events", sink, lost) for sink in kept.sinks)
    sinks = (*([journal] if journal else ()), *others)
    if kept.evidence is None:
        return sinks
    return (
        *sinks,
        Recorder(
            kept.evidence,
            lambda r: build_observation(r, catalog[r.tool], query),
            lambda e: lost.append(f"what this run shows of its tools is not kept: {e.message}"),
        ),
    )


def drop_broken(what: str, receive: Callable[[T], None], lost: list[str]) -> Callable[[T], None]:
    """A receiver of the user until it raises an exception: then it gets no more, and the run goes
    on.
    """
    is_broken = False

    def take(given: T) -> None:
        nonlocal is_broken
        if is_broken:
            return
        try:
            receive(given)
        except Exception as error:
            is_broken = True
            told = error.message if isinstance(error, CallwrightError) else repr(error)
            lost.append(f"warning: {what} of this run: {told}")
            _LOG.warning(lost[-1])

    return take
