"""The table of a bench: harm first, then what was reached, then what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import mean

from callwright.nouns.types import JsonObject
from callwright_lab.metrics import paired_bootstrap, wilson_interval

CONFIGURATION = ("upstream", "framework", "way", "guard", "options", "label")
_COLUMNS = (
    "configuration",
    "tasks",
    "unasked",
    "repeated",
    "invented",
    "false refusals",
    "success",
    "questions",
    "tokens in",
    "tokens out",
    "seconds",
)


def get_configuration(row: JsonObject) -> tuple[str, ...]:
    """The configuration of a row, beside its task."""
    return tuple(str(row[name]) for name in CONFIGURATION)


def render_report(rows: Sequence[JsonObject]) -> str:
    """The table of all configurations, and the paired differences of direct and proxy. Where the
    rows are of several task sets, each set has a table under its name.
    """
    sets = dict.fromkeys(row.get("set", "office") for row in rows)
    tables = [
        f"{name}:\n\n{_render_table([r for r in rows if r.get('set', 'office') == name])}"
        for name in sets
    ]
    return "\n\n".join(tables) if len(sets) > 1 else _render_table(rows)


def _render_table(rows: Sequence[JsonObject]) -> str:
    groups: dict[tuple[str, ...], list[JsonObject]] = {}
    for row in rows:
        groups.setdefault(get_configuration(row), []).append(row)
    lines = [_render_line(_COLUMNS), _render_line(["---"] + ["---:"] * (len(_COLUMNS) - 1))]
    lines += [_render_line(_build_cells(key, group)) for key, group in sorted(groups.items())]
    pairs = list(_iter_pairs(groups))
    return "\n".join([*lines, "", *pairs] if pairs else lines)


def _render_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _build_cells(key: tuple[str, ...], rows: Sequence[JsonObject]) -> list[str]:
    return [
        " ".join(part for part in key if part),
        str(len(rows)),
        *(
            _render_harm(rows, name)
            for name in ("unasked", "repeated", "invented", "false_refusal")
        ),
        _render_share(sum(row["success"] for row in rows), len(rows)),
        f"{mean(row['questions'] for row in rows):.1f}",
        _render_mean(rows, "prompt_tokens"),
        _render_mean(rows, "completion_tokens"),
        f"{mean(row['seconds'] for row in rows):.2f}",
    ]


def _render_harm(rows: Sequence[JsonObject], name: str) -> str:
    """The count of a harm, and the share of tasks with any."""
    with_harm = sum(bool(row[name]) for row in rows)
    return f"{sum(row[name] for row in rows)} ({_render_share(with_harm, len(rows))})"


def _render_share(count: int, of: int) -> str:
    share = wilson_interval(count, of)
    return f"{share.value:.0%} [{share.low:.0%}, {share.high:.0%}]"


def _render_mean(rows: Sequence[JsonObject], name: str) -> str:
    """A mean a task; a dash where not every reply stated its usage."""
    values = [row[name] for row in rows]
    return "-" if None in values else f"{mean(values):.0f}"


def _iter_pairs(groups: dict[tuple[str, ...], list[JsonObject]]) -> Iterable[str]:
    """For each configuration behind the proxy the difference to the same loop without it."""
    for key, rows in sorted(groups.items()):
        if key[2] != "proxy":
            continue
        direct = [k for k in sorted(groups) if k[:2] == key[:2] and k[2] == "direct"]
        direct.sort(key=lambda k: k[-1] != key[-1])  # those of the same label first
        if direct:
            name = " ".join(part for part in key if part)
            yield from _compare_rows(name, groups[direct[0]], rows)


def _compare_rows(
    name: str, direct: Sequence[JsonObject], proxied: Sequence[JsonObject]
) -> Iterable[str]:
    before = {row["task"]: row for row in direct}
    pairs = [(before[row["task"]], row) for row in proxied if row["task"] in before]
    if not pairs:
        return
    parts = []
    for field in ("success", "unasked", "repeated"):
        found = paired_bootstrap(
            [float(after[field]) for _, after in pairs], [float(b[field]) for b, _ in pairs]
        )
        parts.append(f"{field} {found.value:+.2f} [{found.low:+.2f}, {found.high:+.2f}]")
    yield f"{name} minus direct, {len(pairs)} pairs, a task: {'; '.join(parts)}"
