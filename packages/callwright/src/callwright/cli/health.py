"""``callwright tools health``: what is known of each tool, from trials and runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from callwright.cli.terminal.console import print_table
from callwright.nouns.control_characters import one_line
from callwright.nouns.types import to_canonical_json, to_json
from callwright.tools.evidence import EvidenceStore, Health, Observation, evidence_file

_SHORT = {
    "functional_success": "worked",
    "execution_failure": "failed",
    "semantic_mismatch": "nothing of use",
    "parameter_mismatch": "refused",
}
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))
_LINE = 160  # characters of an example


def show_health(names: Sequence[str], file: Path | None, as_json: bool) -> None:
    """Print it: a table, with names also their examples; or one JSON object a tool."""
    path = file or evidence_file()
    found: list[Health] = []
    if path.is_file():
        with EvidenceStore(path) as store:
            found = [h for h in store.healths() if not names or h.tool in names]
    if as_json:
        import orjson

        for one in found:
            print(orjson.dumps({**to_json(one), "success": round(one.rate.success, 4)}).decode())
    else:
        _print_health(found, bool(names))
    for name in names:
        if name not in {h.tool for h in found}:
            print(f"nothing is known of {one_line(name)} ({path})", file=sys.stderr)
    if not found and not names:
        print(f"nothing is known of any tool yet ({path})", file=sys.stderr)


def _print_health(found: Sequence[Health], examples: bool) -> None:
    if not found:
        return
    now = time.time()
    heads = ("Tool", "Success", "Seen", "Latency", "Failures", "Last", "Definition")
    print_table(heads, (_build_row(one, now) for one in found))
    if examples:
        for one in found:
            for line in _iter_examples(one):
                print(one_line(line))


def _build_row(one: Health, now: float) -> tuple[str, ...]:
    told = one.rate.weight > 0
    return (
        one.tool,
        f"{one.rate.success:.0%} of {one.rate.weight:.1f}" if told else "unknown",
        _format_counts(
            {_SHORT[k]: n for k, n in (one.counts or {}).items()} | _count_simulated(one)
        ),
        "" if one.seconds is None else f"{one.seconds:.2f} s",
        _format_counts(one.kinds or {}),
        "" if one.last is None else _format_age(now - one.last),
        one.digest,
    )


def _count_simulated(one: Health) -> dict[str, int]:
    return {"simulated": one.simulated} if one.simulated else {}


def _format_counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in numbers.items())


def _format_age(seconds: float) -> str:
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:.0f} {unit} ago"
    return "now"


def _iter_examples(one: Health) -> Iterator[str]:
    for seen in (*one.worked, *one.failed):
        yield f"  {one.tool}({to_canonical_json(seen.arguments)[1:-1][:_LINE]}) -> {_render_example(seen)}"


def _render_example(seen: Observation) -> str:
    what = seen.reply if seen.outcome == "functional_success" else seen.proof or seen.reply
    return " ".join(what.split())[:_LINE]
