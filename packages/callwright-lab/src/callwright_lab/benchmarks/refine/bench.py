"""``callwright bench refine``: recorded replies and spoiled gold calls, read by everyone, scored by
each set's rule.

Every reply goes through every reader (:mod:`.read`): the server's own tool calls, fences and
tags stripped and strictly parsed (the baseline of every figure), json-repair alone, our parser, and
the rule groups and the refiner one above the other. One JSON line per (task, reply, reader) is appended to the
results; started again, only what is missing is run. The configuration's digest covers the code that
is measured and judges: change it and the rows are new ones.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import orjson

import callwright
from callwright.cli.refiner import RefinerSetup
from callwright.models import ModelOptions
from callwright.nouns.errors import CallwrightError, ConfigError, ModelError
from callwright.nouns.types import JsonObject, compute_digest
from callwright.repair.by_model.refiner_settings import MAX_TOKENS
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows
from callwright_lab.benchmarks.refine.acebench import AceBench
from callwright_lab.benchmarks.refine.api_bank import ApiBank
from callwright_lab.benchmarks.refine.bamboogle import BamboogleStar
from callwright_lab.benchmarks.refine.bfcl import Bfcl
from callwright_lab.benchmarks.refine.model import MODEL, make_model_readers
from callwright_lab.benchmarks.refine.nestful import Nestful
from callwright_lab.benchmarks.refine.peers import PEERS
from callwright_lab.benchmarks.refine.proxy import MODE as PROXY
from callwright_lab.benchmarks.refine.proxy import ProxyReader, generate_through
from callwright_lab.benchmarks.refine.read import READERS, Reader, read_timed
from callwright_lab.benchmarks.refine.replies import COT, Pair, generate_replies, read_replies
from callwright_lab.benchmarks.refine.report import render_report
from callwright_lab.benchmarks.refine.spoiled import spoil_gold_replies
from callwright_lab.benchmarks.refine.task import Examination, Found, Recorded, Score, Task
from callwright_lab.parallel import SharedModel, map_in_order
from callwright_lab.training.batched import open_measured_model

EXAMINATIONS: Mapping[str, Callable[[], Examination]] = {
    "bfcl": Bfcl,
    "api_bank": ApiBank,
    "nestful": Nestful,
    "bamboogle": BamboogleStar,
    "acebench": AceBench,
}
VARIANTS = ("api_bank=declared", "bamboogle=FILE", "nestful=FILE")
MEASURED = (
    "repair",
    "dataflow",
    "parsing",
    "schema",
    "jsontext",
    "proxy",
)  # rooms of the core whose code decides a reader's result
JUDGING = (
    "refine/read",
    "refine/model",
    "refine/peers",
    "refine/baml",
    "refine/proxy",
    "refine/score",
    "refine/bfcl",
    "refine/api_bank",
    "refine/bamboogle",
    "refine/nestful",
    "refine/acebench",
    "acebench/checking",
    "acebench/reading",
    "acebench/scoring",
)
"""Files of the benchmarks, by how they begin, that decide it as well: what readers do, and what is
right.
"""


@cache
def code_digest() -> str:
    """Changes whenever the code of a measured room, of a reader or of a scorer does."""
    total = hashlib.sha256()
    for paths in list_deciding_files().values():
        for path in paths:
            total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()[:12]


def list_deciding_files() -> dict[str, list[Path]]:
    """The files of every entry of :data:`MEASURED` and :data:`JUDGING`."""
    core, room = Path(str(callwright.__file__)).parent, Path(__file__).parents[1]
    return {name: sorted((core / name).rglob("*.py")) for name in MEASURED} | {
        start: sorted(room.glob(f"{start}*.py")) for start in JUDGING
    }


def open_examination(spec: str) -> Examination:
    """``bfcl``, ``api_bank``, ``nestful``, ``bamboogle``, ``acebench``; ``nestful=FILE`` for the
    mathematical layout, ``bamboogle=FILE`` for questions of Compositional Celebrities,
    ``api_bank=declared`` with its tools' effects.
    """
    name, _, path = spec.partition("=")
    if spec == "api_bank=declared":
        return ApiBank(declared=True)
    if name == "bamboogle" and path:
        return BamboogleStar(path=Path(path))
    if name == "nestful":
        return Nestful(Path(path) if path else None)
    if name not in EXAMINATIONS or path:
        raise ConfigError(
            f"there is no set {spec!r}", hint=f"sets: {', '.join((*EXAMINATIONS, *VARIANTS))}"
        )
    return EXAMINATIONS[name]()


def get_row_key(row: JsonObject) -> tuple[str, ...]:
    """Return the key that identifies a row."""
    return tuple(row[k] for k in ("set", "task", "upstream", "mode", "reader", "reply", "config"))


def run_missing(
    pairs: Sequence[Pair],
    examinations: Mapping[str, Examination],
    readers: Mapping[str, Reader],
    results: Path,
    *,
    config: str | None = None,
    on_row: Callable[[JsonObject, Task], None] | None = None,
    jobs: int = 1,
) -> int:
    """Read and score what has no row yet, ``jobs`` replies at a time; rows are written reply by
    reply, in the order of the replies. A reading whose model cannot be asked has no row. Returns how
    many rows were made.
    """
    done = {get_row_key(row) for row in read_rows(results)}
    config = config or code_digest()

    def read_missing(pair: Pair) -> list[tuple[JsonObject, Found]]:
        task, reply = pair
        read = []
        for name, reader in readers.items():
            head = _build_row_head(task, reply, name, config)
            if get_row_key(head) not in done:
                try:
                    read.append((head, read_timed(reader, reply, task)))
                except ModelError as error:
                    _print_line(f"{task.id}: {name} was not asked: {error}")
        return read

    made = 0
    for (task, _), read in zip(pairs, map_in_order(read_missing, pairs, jobs), strict=True):
        for head, found in read:
            row = {**head, **build_outcome(found, examinations[task.set].score(task, found))}
            row["refused"] = count_refused(task, found)
            append_row(results, row)
            if on_row is not None:
                on_row(row, task)
        made += len(read)
    return made


def _build_row_head(task: Task, reply: Recorded, reader: str, config: str) -> JsonObject:
    return {
        "set": task.set,
        "task": task.id,
        "category": task.category,
        "upstream": reply.upstream,
        "mode": reply.mode,
        "reader": reader,
        "reply": compute_digest(reply.message),
        "config": config,
    }


def build_outcome(found: Found, score: Score) -> JsonObject:
    """Return the fields of a row that describe one reading."""
    return {
        "right": score.right,
        "error": score.error,
        "detail": score.detail,
        "metrics": dict(score.metrics),
        "calls": found.to_json(),
        "edits": [edit.rule for edit in found.edits],
        "reported": len(found.abstained),
        "confidence": found.confidence,
        "tokens": found.usage.total,
        "seconds": round(found.seconds, 6),
    }


def count_refused(task: Task, found: Found) -> int | None:
    """The objections of the gate; None where no gate was asked, or where no calls are known to be
    right: some tasks want any call at all, so that a refusal may be just.
    """
    return len(found.refused) if found.refused is not None and task.gold else None


def select_current_rows(rows: Iterable[JsonObject], config: str) -> list[JsonObject]:
    """The rows of this configuration, the last of equal ones."""
    return list({get_row_key(row): row for row in rows if row["config"] == config}.values())


class Failures:
    """Writes wrong readings to a file for people: the reply, the calls that were read, and the
    expected calls.
    """

    def __init__(self, path: Path | None, reader: str) -> None:
        self.path, self.reader = path, reader
        self.found: dict[str, list[str]] = {}
        self.texts: dict[tuple[str, str, str], Recorded] = {}

    def see(self, pairs: Iterable[Pair]) -> None:
        self.texts.update({(t.set, t.id, compute_digest(r.message)): r for t, r in pairs})

    def __call__(self, row: JsonObject, task: Task) -> None:
        if self.path is None or row["reader"] != self.reader or row["right"]:
            return
        reply = self.texts[(task.set, task.id, row["reply"])]
        gold = [{"name": c.tool, "arguments": c.arguments} for c in task.gold]
        said = orjson.dumps(reply.message).decode()
        lines = [
            f"- {task.set} {task.id} ({reply.mode})",
            f"  - in: {said[:1500]}",
            f"  - query: {task.query[-600:]!r}",
        ]
        lines += [
            f"  - {k}: {orjson.dumps(v).decode()[:1200]}"
            for k, v in (("got", row["calls"]), ("wanted", gold))
        ]
        lines += [f"  - edits: {', '.join(row['edits'])}; {row['detail']}"]
        self.found.setdefault(f"{row['mode']}: {row['error']}", []).append("\n".join(lines))

    def close(self) -> None:
        if self.path is not None:
            parts = [
                f"## {error} ({len(seen)})\n" + "\n".join(seen)
                for error, seen in sorted(self.found.items())
            ]
            self.path.write_text(
                f"# Not right after {self.reader!r}\n\n" + "\n\n".join(parts) + "\n", "utf-8"
            )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, generate or report."""
    options = _build_parser().parse_args(arguments)
    if options.report:
        sys.stdout.write(
            render_report(
                select_current_rows(read_rows(options.out), options.config or code_digest())
            )
            + "\n"
        )
        return 0
    if options.search:
        from callwright_lab.benchmarks.search.run import run_and_print

        return asyncio.run(run_and_print(options))
    if options.corruption:
        return _run_corruption(options)
    examinations = {e.name: e for e in map(open_examination, options.sets.split(","))}
    if options.generate:
        return asyncio.run(_generate_replies(examinations, options))
    return _measure_readers(examinations, options)


def _run_corruption(options: argparse.Namespace) -> int:
    from callwright_lab.benchmarks.refine.corrupt import Plan, measure_and_print
    from callwright_lab.training.refiner.corruption import KINDS

    kinds = tuple(filter(None, options.kinds.split(","))) or tuple(KINDS)
    results = options.out.with_name("corruptions.jsonl")
    plan = Plan(
        kinds,
        options.count,
        options.seed,
        options.read_only,
        results,
        options.failures,
        code_digest(),
    )
    return measure_and_print(plan)


def _measure_readers(examinations: Mapping[str, Examination], options: argparse.Namespace) -> int:
    pairs = [pair for path in options.replies for pair in read_replies(path, examinations)]
    for examination in examinations.values() if options.spoiled else ():
        pairs += spoil_gold_replies(
            examination, options.spoiled.split(","), options.count, options.seed
        )
    if not pairs:
        hint = "--replies FILE; or make them: --generate --model local; or --spoiled right"
        raise ConfigError("there are no replies to read", hint=hint)
    names = options.readers.split(",")
    readers = _select_readers([n for n in names if n != PROXY])
    if PROXY in names:  # what it asks beyond the free replies is among the other rows
        readers[PROXY] = ProxyReader(pairs, examinations)
        pairs = [(task, reply) for task, reply in pairs if reply.mode == "free"]
    failures = Failures(options.failures, MODEL if options.refiner else list(readers)[-1])
    failures.see(pairs)
    setup = _read_setup(options)
    settings = setup.build_settings()
    with ExitStack() as stack:
        if settings is not None:
            opened = open_measured_model(options.refiner, setup.build_options(options.jobs))
            model = stack.enter_context(SharedModel(opened))
            readers |= make_model_readers(model, settings)
        made = run_missing(
            pairs, examinations, readers, options.out, on_row=failures, jobs=options.jobs
        )
    failures.close()
    sys.stderr.write(f"{len(pairs)} replies, {made} new rows, code {code_digest()}\n")
    chosen = {(t.set, t.id, compute_digest(r.message)) for t, r in pairs}
    rows = select_current_rows(read_rows(options.out), code_digest())
    sys.stdout.write(
        render_report([r for r in rows if (r["set"], r["task"], r["reply"]) in chosen]) + "\n"
    )
    return 0


def _read_setup(options: argparse.Namespace) -> RefinerSetup:
    bound = str(options.harm_bound) if options.harm_bound else ""
    return RefinerSetup(
        options.refiner, options.refiner_prompt, options.refiner_tokens, options.upstream_model, bound,
        not options.no_guard,
    )  # fmt: skip


def _add_refiner_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--refiner",
        default="",
        help="also ask this model to repair replies (local, URL#MODEL, or trained:FOLDER, in memory),"
        " with the rules and alone; another model or setting needs another --out",
    )
    parser.add_argument(
        "--refiner-prompt", default="paper", help="its prompt: paper or short (%(default)s)"
    )
    parser.add_argument(
        "--refiner-tokens", type=int, default=MAX_TOKENS, help="of its answer (%(default)s)"
    )
    parser.add_argument("--harm-bound", type=Path, default=None, help="of train harm-bound")
    parser.add_argument(
        "--upstream-model", default="", help="name in --harm-bound (default: as the replies say)"
    )
    parser.add_argument("--no-guard", action="store_true", help="as in the paper")


def _select_readers(names: Sequence[str]) -> dict[str, Reader]:
    """The named readers, "peers" for all libraries; raises ConfigError for an unknown one."""
    known = {**READERS, **PEERS}
    wanted = [n for name in names for n in (PEERS if name == "peers" else [name])]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ConfigError(
            f"there is no reader {unknown[0]!r}",
            hint=f"readers: {', '.join(known)}, or all peers: peers",
        )
    return {name: known[name] for name in wanted}


async def _generate_replies(
    examinations: Mapping[str, Examination], options: argparse.Namespace
) -> int:
    model = open_measured_model(options.model or "local", ModelOptions(at_once=options.jobs))
    try:
        for examination in examinations.values():
            chosen = _select_tasks(
                examination.tasks(), options.categories, options.skip, options.limit
            )
            more: dict[str, Any] = {
                "limit_seconds": options.limit_seconds,
                "jobs": options.jobs,
                "say": _print_line,
            }
            if options.mode == PROXY:
                left = await generate_through(
                    examination, chosen, model, options.replies_out, **more
                )
            else:
                left = await generate_replies(
                    examination, chosen, model, options.replies_out, mode=options.mode, **more
                )
            sys.stderr.write(
                f"{examination.name}: {left} are missing; the same command goes on\n"
                if left
                else ""
            )
    finally:
        await model.aclose()
    return 0


def _print_line(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _select_tasks(tasks: Sequence[Task], categories: str, skip: int, limit: int) -> list[Task]:
    """Tasks of the categories in the order of their ids' digests, so that a longer run holds a
    shorter one and the first and the next so many are two halves.
    """
    names = set(filter(None, categories.split(",")))
    unknown = names - {t.category for t in tasks}
    if unknown:
        raise ConfigError(f"there is no category {', '.join(sorted(unknown))}")
    kept: dict[str, list[Task]] = {}
    for task in sorted(tasks, key=lambda t: compute_digest(t.id)):
        if not names or task.category in names:
            kept.setdefault(task.category, []).append(task)
    return [
        task for found in kept.values() for task in found[skip : skip + limit if limit else None]
    ]


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="callwright bench refine", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--sets", default="bfcl,api_bank", help="sets with commas between (%(default)s)"
    )
    parser.add_argument(
        "--replies", type=Path, nargs="*", default=[], help="files of recorded replies"
    )
    parser.add_argument(
        "--readers",
        default=",".join(READERS),
        help="readers with commas between; peers: all libraries (%(default)s)",
    )
    _add_refiner_options(parser)
    parser.add_argument(
        "--out", type=Path, default=Path("runs/refine/results.jsonl"), help="results (%(default)s)"
    )
    parser.add_argument(
        "--failures", type=Path, default=None, help="write what is not right after the last reader"
    )
    parser.add_argument(
        "--report", action="store_true", help="only print the tables of the results so far"
    )
    parser.add_argument(
        "--config", default="", help="report this configuration instead of the present code's"
    )
    parser.add_argument(
        "--corruption", action="store_true", help="BFCL's gold calls in every corruption class"
    )
    parser.add_argument(
        "--spoiled", default="", help="read the sets' gold calls spoiled in these classes, or right"
    )
    parser.add_argument(
        "--count", type=int, default=1000, help="calls a corruption class (%(default)s)"
    )
    parser.add_argument(
        "--kinds", default="", help="only these corruption classes, with commas between"
    )
    parser.add_argument(
        "--read-only", action="store_true", help="corruptions: as if every tool only read"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the corruptions")
    parser.add_argument(
        "--search", action="store_true", help="the search protocol, asked of --model"
    )
    parser.add_argument(
        "--corpus",
        type=Path,
        default=None,
        help="passages (JSON lines); default: the invented people",
    )
    parser.add_argument(
        "--questions", type=Path, default=None, help="questions with answers (Bamboogle's form)"
    )
    parser.add_argument(
        "--generate",
        action="store_true",
        help="ask --model the sets' questions, into --replies-out",
    )
    parser.add_argument(
        "--model",
        default=None,
        help="local (default), local:PATH, trained:NAME in memory, or an endpoint as URL#MODEL",
    )
    parser.add_argument(
        "--mode",
        choices=("free", "guided", COT, PROXY),
        default="free",
        help="how to ask (%(default)s)",
    )
    parser.add_argument(
        "--jobs", type=int, default=1, help="questions to a model at a time (%(default)s)"
    )
    parser.add_argument("--categories", default="", help="only these categories of the sets")
    parser.add_argument("--limit", type=int, default=0, help="at most so many questions a category")
    parser.add_argument(
        "--skip", type=int, default=0, help="leave out the first so many of a category"
    )
    parser.add_argument(
        "--limit-seconds", type=float, default=0.0, help="begin nothing after this time"
    )
    parser.add_argument(
        "--replies-out", type=Path, default=Path("runs/refine/replies.jsonl"), help="(%(default)s)"
    )
    return parser


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CallwrightError as error:
        sys.exit(f"{error}")
