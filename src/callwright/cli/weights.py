"""``callwright weights``, and the progress bar every download has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table

from callwright import weights


@contextmanager
def bars() -> Iterator[weights.Progress]:
    """A progress callback that draws one bar per label."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        tasks: dict[str, TaskID] = {}

        def update(done: int, total: int, label: str) -> None:
            if label not in tasks:
                tasks[label] = progress.add_task(label, total=total or None)
            progress.update(tasks[label], completed=done, total=total or None)

        yield update


def fetch(name: str) -> Path:
    """The file of one weight name, downloaded with a bar where it is not there yet."""
    found = weights.find(name)
    if found is not None:
        return found
    with bars() as update:
        return weights.fetch(name, update)


def show_weights(names: Sequence[str]) -> None:
    """Fetch the named files and print where they are; without names, list what there is."""
    for name in names:
        print(fetch(name))
    if not names:
        table = Table("Name", "Size", "Here", show_edge=False)
        for name, entry in weights.REGISTRY.items():
            table.add_row(name, f"{entry.size / 1e6:.0f} MB", str(weights.find(name) or "no"))
        Console().print(table)
