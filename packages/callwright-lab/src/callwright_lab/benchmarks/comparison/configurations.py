"""Rows of several configurations in one results file: one of each system is shown, and the others
are named.

A row's configuration is a digest of its tasks, prompts, limits and version. Runs that were made
under one are not mixed with those of another; the first of a file keeps the system's plain name, so
that verdicts on it keep theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.comparison.report import name_system

EVERY = "all"


def select_configuration(
    rows: Sequence[JsonObject], wanted: str = ""
) -> tuple[list[JsonObject], list[str]]:
    """The rows of one configuration of each system, each with its name under "system"; and a
    sentence for every system of which others were left out. ``wanted``: a configuration, EVERY, or
    "" for the newest of each.

    Raises ConfigError where no row has the configuration that is wanted.
    """
    rows = [
        row for row in rows if not row.get("error")
    ]  # what was not run is under no configuration
    known: dict[str, list[str]] = {}
    for row in rows:
        found = known.setdefault(name_system(row), [])
        if row["config"] in found:
            found.remove(row["config"])
        found.append(row["config"])  # the newest last
    first = {
        system: next(r["config"] for r in rows if name_system(r) == system) for system in known
    }
    if wanted not in ("", EVERY) and not any(wanted in found for found in known.values()):
        there = ", ".join(dict.fromkeys(config for found in known.values() for config in found))
        raise ConfigError(
            f"no row has the configuration {wanted}",
            hint=f"--config all, or one of: {there or '-'}",
        )
    taken, notes = [], []
    for system, found in known.items():
        if wanted == EVERY:
            shown = found
        elif wanted:
            shown = [wanted]
        else:
            shown = found[-1:]
        if len(found) > 1 and shown != found:
            others = ", ".join(one for one in found if one not in shown)
            notes.append(
                f"{system}: rows of configuration {shown[0]} only, not of {others} (--config all:"
                " each)."
            )
        for row in rows:
            if name_system(row) == system and row["config"] in shown:
                name = (
                    system
                    if row["config"] == first[system]
                    else f"{system}, configuration {row['config']}"
                )
                taken.append({**row, "system": name})
    return taken, notes
