"""The data sources by name: ``load(name)`` gives the examples of one."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from callwright.errors import ConfigError
from callwright.training import data_graphs, data_nested, data_trajectories
from callwright.training.data import Kind, PlanExample, Source, sequenced


def data_root() -> Path:
    """Where data sets are looked for: ``$CALLWRIGHT_DATA``, else ``../shared/data`` beside the checkout."""
    return Path(os.environ.get("CALLWRIGHT_DATA", "../shared/data"))


@cache
def sources() -> dict[str, Source]:
    """Every known source by name."""
    return {s.name: s for s in (*data_nested.SOURCES, *data_graphs.SOURCES, *data_trajectories.SOURCES)}


def load(name: str, root: Path | None = None) -> tuple[PlanExample, ...]:
    """The examples of one source. ``root``: the folder that holds the data sets (default :func:`data_root`)."""
    known = sources()
    if name not in known:
        raise ConfigError(f"there is no data source {name!r}", hint="sources: " + ", ".join(known))
    return _load(name, root or data_root())


def load_labelled(name: str, labels: Kind, root: Path | None = None) -> tuple[PlanExample, ...]:
    """The examples of one source with the labels asked for: what needs what, or plain execution order.

    ConfigError where the source does not say: from a sequence nobody can tell what was needed, and a graph of
    needs does not tell in which order independent tools were called.
    """
    found = load(name, root)
    if labels == "sequence":
        made = tuple(e for e in map(sequenced, found) if e is not None)
        if found and not made:
            raise ConfigError(
                f"{name} does not say in which order its tools were called", hint="leave it out of --sources"
            )
        return made
    if any(e.kind != labels for e in found):
        raise ConfigError(
            f"{name} holds plain call sequences: what was called later need not have needed what came before",
            hint="leave it out of --sources, or train on execution order: --labels sequence",
        )
    return found


@cache
def _load(name: str, root: Path) -> tuple[PlanExample, ...]:
    return tuple(sources()[name].read(root))
