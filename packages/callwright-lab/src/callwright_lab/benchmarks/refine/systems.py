"""The table of the paper's question, over rows of ``callwright bench refine``: what rules, a
refiner after them, and a refiner without them make of the same replies, and of which right ones
they make wrong ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from callwright_lab.benchmarks.comparison.paired import wilson_interval
from callwright_lab.benchmarks.comparison.report import format_percent, render_table
from callwright_lab.benchmarks.refine.model import ADAPTER, MODEL
from callwright_lab.benchmarks.refine.read import BASELINE
from callwright_lab.benchmarks.refine.replies import COT

Row = Mapping[str, Any]
ByTask = Mapping[str, Row]
FREE = "free"
RAW, THINKING = "raw", "CoT"
SYSTEMS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (RAW, FREE, (BASELINE,)),
    (THINKING, COT, (BASELINE,)),
    ("rules", FREE, ("sequence", "rules")),
    ("rules + adapter", FREE, (MODEL,)),
    ("adapter alone", FREE, (ADAPTER,)),
)
"""Name, mode of the replies, and readers, the first of which that has rows counts."""
_HEAD = ["system", "replies", "right (95 % interval)", "harm", "false refusals"]


def render_systems(rows: Iterable[Row]) -> str:
    """One table for each set and upstream with raw replies. The systems that read the raw replies are
    compared on those that all of them read, and CoT on the same tasks, as far as it has them.

    Harm: of the tasks that raw has right, those that the system has wrong. False refusals: of the
    same tasks, those where the gate has something against the calls; "–" where no gate is asked, or
    no task has gold calls.
    """
    found: dict[tuple[str, str], dict[str, dict[str, Row]]] = {}
    for row in rows:
        modes = found.setdefault((row["set"], row["upstream"]), {})
        modes.setdefault(f"{row['mode']} {row['reader']}", {})[row["task"]] = row
    parts = [_render_set(names, kept) for names, kept in sorted(found.items())]
    return "\n\n".join(part for part in parts if part)


def _render_set(names: Sequence[str], kept: Mapping[str, ByTask]) -> str:
    systems: dict[str, ByTask] = {}
    for name, mode, readers in SYSTEMS:
        held = (kept[f"{mode} {reader}"] for reader in readers if f"{mode} {reader}" in kept)
        if (chosen := next(held, None)) is not None:
            systems[name] = chosen
    if RAW not in systems or len(systems) < 2:
        return ""
    shared = set.intersection(*(set(s) for name, s in systems.items() if name != THINKING))
    raw = {task: row for task, row in systems[RAW].items() if task in shared}
    lines = [_HEAD, *(_render_system(name, s, raw) for name, s in systems.items())]
    return f"**{' '.join(names)}: systems**, {len(shared)} tasks\n\n{render_table(lines)}"


def _render_system(name: str, rows: ByTask, raw: ByTask) -> list[str]:
    chosen = {task: row for task, row in rows.items() if task in raw}
    was = {task: row for task, row in chosen.items() if raw[task]["right"]}
    right = sum(row["right"] for row in chosen.values())
    harm = "–" if name == RAW else _format_share(sum(not r["right"] for r in was.values()), was)
    checked = [row for row in was.values() if row.get("refused") is not None]
    refused = _format_share(sum(bool(r["refused"]) for r in checked), checked) if checked else "–"
    return [name, str(len(chosen)), _format_share(right, chosen), harm, refused]


def _format_share(count: int, of: Sequence[Row] | ByTask) -> str:
    """A count with its share's interval of Wilson."""
    if not of:
        return "0 of 0"
    share = wilson_interval(count, len(of))
    percents = [format_percent(value) for value in (share.value, share.low, share.high)]
    return f"{count} of {len(of)}: {percents[0]} ({percents[1]} – {percents[2]})"
