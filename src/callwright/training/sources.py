"""The data sources by name: ``load(name)`` gives the examples of one."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from callwright.errors import ConfigError
from callwright.training import data_graphs, data_nested, data_trajectories
from callwright.training.data import PlanExample, Source


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


@cache
def _load(name: str, root: Path) -> tuple[PlanExample, ...]:
    return tuple(sources()[name].read(root))
