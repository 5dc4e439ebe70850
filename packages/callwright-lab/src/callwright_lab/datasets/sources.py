"""The data sources by name: ``load(name)`` gives the examples of one."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

from callwright.nouns.errors import ConfigError
from callwright_lab.datasets import (
    graphs as data_graphs,
)
from callwright_lab.datasets import (
    nested as data_nested,
)
from callwright_lab.datasets import (
    trajectories as data_trajectories,
)
from callwright_lab.datasets.examples import Kind, PlanExample, Source, to_sequence
from callwright_lab.datasets.files import describe_left_out, read_plans


def data_root() -> Path:
    """Return the folder of the data sets: ``$CALLWRIGHT_DATA``, else ``../shared/data`` beside the
    checkout.
    """
    return Path(os.environ.get("CALLWRIGHT_DATA", "../shared/data"))


@cache
def list_sources() -> dict[str, Source]:
    """Every known source by name."""
    return {
        s.name: s for s in (*data_nested.SOURCES, *data_graphs.SOURCES, *data_trajectories.SOURCES)
    }


def load_examples(name: str, root: Path | None = None) -> tuple[PlanExample, ...]:
    """The examples of one source, or of a file of plans (:mod:`callwright_lab.datasets.files`)
    where one is named.

    ``root``: the folder that holds the data sets (default :func:`data_root`). How many rows of a
    file are left out, and why the first one is, goes to standard error.
    """
    known = list_sources()
    if name in known:
        return _load_source(name, root or data_root())
    path = Path(name)
    if path.suffix not in (".json", ".jsonl") and not path.is_dir():
        raise ConfigError(
            f"there is no data source {name!r}",
            hint="sources: " + ", ".join(known) + "; or a .json or .jsonl file of plans",
        )
    found, left_out = read_plans(path)
    if left_out:
        sys.stderr.write(f"{name}: {describe_left_out(left_out, len(found) + len(left_out))}\n")
    return tuple(found)


def load_labelled(name: str, labels: Kind, root: Path | None = None) -> tuple[PlanExample, ...]:
    """The examples of one source with the labels asked for: what needs what, or plain execution
    order.

    ConfigError where the source does not say: from a sequence nobody can tell what was needed, and
    a graph of needs does not tell in which order independent tools were called.
    """
    found = load_examples(name, root)
    if labels == "sequence":
        made = tuple(e for e in map(to_sequence, found) if e is not None)
        if found and not made:
            raise ConfigError(
                f"{name} does not say in which order its tools were called",
                hint="leave it out of --sources",
            )
        return made
    if any(e.kind != labels for e in found):
        raise ConfigError(
            f"{name} holds plain call sequences: what was called later need not have needed what"
            " came before",
            hint="leave it out of --sources, or train on execution order: --labels sequence",
        )
    return found


@cache
def _load_source(name: str, root: Path) -> tuple[PlanExample, ...]:
    return tuple(list_sources()[name].read(root))
