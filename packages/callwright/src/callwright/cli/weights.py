"""``callwright weights``, and the progress bar every download has."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from callwright import weights
from callwright.cli.terminal.console import build_console, print_table


@contextmanager
def show_progress() -> Iterator[weights.Progress]:
    """A progress callback that draws one bar per file."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=build_console(stderr=True)) as progress:
        tasks: dict[str, TaskID] = {}

        def update(done: int, total: int, label: str) -> None:
            name = label.partition(":")[0]  # "name: package 3 of 22": one bar, its text moves on
            if name not in tasks:
                tasks[name] = progress.add_task(label, total=total or None)
            progress.update(tasks[name], completed=done, total=total or None, description=label)

        yield update


def fetch_weights(name: str) -> Path:
    """The file of one weight name, downloaded with a bar where it is not there yet."""
    found = weights.find(name)
    if found is not None:
        return found
    size = weights.REGISTRY[name].size / 1e6 if name in weights.REGISTRY else 0.0
    print(
        f"fetching {name} once: {size:.0f} MB; Ctrl-C stops it, and the next call goes on from"
        " there",
        file=sys.stderr,
    )
    with show_progress() as update:
        return weights.fetch(name, update)


def show_weights(names: Sequence[str]) -> None:
    """Fetch the named files and print where they are; without names, list what there is."""
    for name in names:
        print(fetch_weights(name))
    if not names:
        print_table(
            ("Name", "Size", "Here"),
            (
                (name, f"{entry.size / 1e6:.0f} MB", str(weights.find(name) or "no"))
                for name, entry in weights.REGISTRY.items()
            ),
        )
