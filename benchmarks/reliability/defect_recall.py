"""How many of the defects that are put into rows does ``verify dataset`` find, and how often does
it cry for nothing?

Carriers are rows of the data sets, drawn by a fixed seed, less those whose findings were read when
the rules were written (``docs/results/dataset_precision.jsonl``); ComplexFuncBench and the desk's
tasks were never looked at for a rule. Each planted row is judged beside its untouched twin: a class
that speaks of the twin already is no finding of what was planted, and an alarm (which may be right:
the sets have defects of their own; the desk's rows have none).

    python benchmarks/reliability/defect_recall.py --data DATA --out recall.jsonl
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from right_trajectories import right

from callwright.storage import lines
from callwright_lab.benchmarks.comparison.paired import wilson_interval
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.planted.defects import plant_defect
from callwright_lab.training.toolmvr.sources import SOURCES
from callwright_lab.transcripts import Transcript, read_files
from callwright_lab.verify.budget import Meter
from callwright_lab.verify.dataset.account import DefectKind
from callwright_lab.verify.dataset.precision import is_defect
from callwright_lab.verify.dataset.rows import DatasetVerifier
from callwright_lab.verify.dataset.rules import CRITERIA, find_defects

FILES = {
    "nestools": "nestools/test_data.jsonl",
    "seal_tools": "seal_tools/test_in_domain.jsonl",
    "api_bank": "api_bank",
    "toolbench_runs": "stabletoolbench/gpt35_react_runs",
    "toolbench": "toolbench_example/answer",
}


async def carriers(data: Path, precision: Path, each: int) -> dict[str, list[Transcript]]:
    """Rows by data set, in the order in which they are drawn."""
    read = {row["id"] for row in read_rows(precision)}
    found = {
        name: [t for _, t in read_files(data / path).transcripts] for name, path in FILES.items()
    }
    found["complexfuncbench"] = list(SOURCES["complexfuncbench"](data))
    made = {}
    for name, rows in found.items():
        fresh = [t for t in rows if t.trajectory.id not in read and t.trajectory.query.strip()]
        made[name] = Random(f"carriers {name}").sample(fresh, min(each, len(fresh)))
    made["desk"] = [Transcript(t) async for t in right()]
    return made


def spoken(row: Transcript) -> set[DefectKind]:
    """The classes of which something is found."""
    return {d.kind for d in find_defects(row)}


async def again(first: Transcript, second: Transcript) -> set[DefectKind]:
    """The classes that are found of a row in a data set that holds another one before it."""
    verifier = DatasetVerifier([first, second])
    finding = await verifier.judge(verifier.rows()[-1].item, Meter())
    return {one["kind"] for one in finding.found["findings"]}


async def planted(
    kind: DefectKind, rows: dict[str, list[Transcript]], most: int
) -> list[dict[str, Any]]:
    """One class: every planted row with what was found in it."""
    rng = Random(f"plant {kind}")
    made: list[dict[str, Any]] = []
    queues = {name: list(enumerate(some)) for name, some in rows.items()}
    while any(queues.values()) and len(made) < most:
        for name in [n for n in queues if queues[n]]:
            _, row = queues[name].pop(0)
            one = plant_defect(kind, row, rng, rows[name])
            if one is None:
                continue
            before = spoken(row)
            after = (
                await again(row, one.transcript)
                if kind == "repeated_request"
                else spoken(one.transcript)
            )
            facts = {"kind": kind, "set": name, "id": row.trajectory.id, "how": one.how}
            made.append(
                {
                    **facts,
                    "twin": kind in before,
                    "found": kind in after,
                    "else": sorted(after - before - {kind}),
                }
            )
    return made[:most]


def table(made: Sequence[dict[str, Any]]) -> str:
    """Recall by class as Markdown."""
    told = [
        "| class | counts as | planted | found | 95 % | as any class | missed, by the way it was"
        " put in |"
    ]
    told += ["|---|---|---:|---:|---|---:|---|"]
    by_kind: dict[DefectKind, list[dict[str, Any]]] = defaultdict(list)
    for one in made:
        if not one["twin"]:
            by_kind[one["kind"]].append(one)
    for kind, some in by_kind.items():
        hits, any_hit = (
            sum(bool(one["found"] or (other and one["else"])) for one in some)
            for other in (False, True)
        )
        missed = Counter(str(one["how"]) for one in some if not one["found"])
        span = wilson_interval(hits, len(some))
        cells = [
            kind,
            "defect" if is_defect(kind) else "suspicion",
            str(len(some)),
            f"{hits / len(some):.0%}",
        ]
        cells += [f"{span.low:.0%} – {span.high:.0%}", f"{any_hit / len(some):.0%}"]
        cells.append(", ".join(f"{how} {n}" for how, n in missed.most_common(8)))
        told.append(f"| {' | '.join(cells)} |")
    return "\n".join(told)


def alarms(rows: dict[str, list[Transcript]]) -> str:
    """What is found in untouched rows, by data set."""
    told = [
        "| untouched rows of | rows | with a defect | with a suspicion only | classes |",
        "|---|---:|---:|---:|---|",
    ]
    for name, some in rows.items():
        found = [spoken(row) for row in some]
        sure = sum(any(is_defect(kind) for kind in one) for one in found)
        kinds = Counter(kind for one in found for kind in one)
        listed = ", ".join(f"{kind} {n}" for kind, n in kinds.most_common())
        told.append(
            f"| {name} | {len(some)} | {sure} | {sum(map(bool, found)) - sure} | {listed} |"
        )
    return "\n".join(told)


async def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--data", type=Path, required=True, help="the folder that holds the data sets"
    )
    parser.add_argument(
        "--precision", type=Path, default=Path("docs/results/dataset_precision.jsonl")
    )
    parser.add_argument(
        "--out", type=Path, default=Path("recall.jsonl"), help="every planted row (%(default)s)"
    )
    parser.add_argument(
        "--each", type=int, default=60, help="carriers of each data set (%(default)s)"
    )
    parser.add_argument(
        "--most", type=int, default=50, help="planted rows of each class (%(default)s)"
    )
    parser.add_argument("--only", default="", help="classes, by comma")
    args = parser.parse_args()
    rows = await carriers(args.data, args.precision, args.each)
    kinds = [k for k in CRITERIA if not args.only or k in args.only.split(",")]
    made: list[dict[str, Any]] = []
    lines.write_rows(args.out, made)
    for kind in kinds:
        some = await planted(kind, rows, args.most)
        lines.append_rows(args.out, some)  # what was made before a stop is not lost
        made += some
    bare = set(kinds) - {one["kind"] for one in made}
    print(f"{table(made)}\n\n{alarms(rows)}\n\nno carrier: {', '.join(sorted(bare)) or 'none'}")


if __name__ == "__main__":
    asyncio.run(main())
