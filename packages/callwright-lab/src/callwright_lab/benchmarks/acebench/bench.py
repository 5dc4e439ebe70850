"""``callwright bench acebench``: ACEBench's normal and special rows, in English and Chinese.

Three ways: ``raw``, the model as the suite prompts it, its calls read and checked by the suite's
rules; ``direct``, the same model with native ``tools`` and a prompt of two sentences; ``proxy``,
that client behind ``callwright proxy``. Rows are drawn by a digest of their ids and stated in a
file before any is run; rows of odd digests are the final half, which ``--open-final`` opens and a
ledger notes. ``--agree CHECKOUT`` compares our checker with the suite's own.
"""

from __future__ import annotations

import argparse
import asyncio
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import callwright
from callwright.http import Egress, HttpClient, HttpResponse, Timeout
from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.acebench.agreement import SPOILED, SuiteChecker, compare_checkers
from callwright_lab.benchmarks.acebench.asking import (
    RAW,
    WAYS,
    build_body,
    compute_prompt_digest,
    read_native_calls,
)
from callwright_lab.benchmarks.acebench.endpoints import Endpoint, Upstreams, open_endpoint
from callwright_lab.benchmarks.acebench.report import render_report
from callwright_lab.benchmarks.acebench.sample import (
    Sample,
    draw_sample,
    open_final,
    state_sample,
)
from callwright_lab.benchmarks.acebench.scoring import Score, score_calls, score_text
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows
from callwright_lab.datasets.acebench import CATEGORIES, LANGUAGES, AceRow, Half, iter_rows
from callwright_lab.datasets.sources import data_root

LEDGER = "acebench-ledger.jsonl"
_PASSING = frozenset({408, 409, 425, 429})  # refusals that another time may not meet
_MARKS = ("x-callwright-outcome", "x-callwright-edits", "x-callwright-questions")


@dataclass
class Bench:
    """One run: what is asked of whom, and where its rows go. ``say`` is given lines; ``parallel``
    rows are asked at once.
    """

    sample: Sample
    upstreams: Upstreams
    results: Path
    name: str = ""
    limit_seconds: float = 0.0
    parallel: int = 1
    say: Callable[[str], Any] = sys.stderr.write

    async def run_missing(self, ways: Sequence[str]) -> int:
        """Run what is missing, way by way, and append it row by row. Returns how many rows are
        still missing: the time was over, or an endpoint did not answer.
        """
        missing, ends = 0, time.monotonic() + (self.limit_seconds or float("inf"))
        for way in ways:
            wanted = self._list_missing(way)
            if not wanted:
                continue
            async with (
                open_endpoint(way, self.upstreams) as endpoint,
                HttpClient(Egress.any(), timeout=Timeout(10.0, 1800.0, 3600.0)) as client,
            ):
                missing += await self._run_rows(client, endpoint, way, wanted, ends)
        return missing

    async def _run_rows(
        self,
        client: HttpClient,
        endpoint: Endpoint,
        way: str,
        wanted: Sequence[AceRow],
        ends: float,
    ) -> int:
        """Run rows of one way until ``ends``, of the monotonic clock; return how many are missing."""
        missing, left = 0, iter(enumerate(wanted, 1))

        async def work() -> None:
            nonlocal missing
            for number, row in left:
                done = time.monotonic() < ends and await self._run_row(client, endpoint, way, row)
                missing += not done
                if done and number % 15 == 0:
                    self.say(f"{way}: {number} of {len(wanted)}\n")

        async with asyncio.TaskGroup() as workers:
            for _ in range(max(1, self.parallel)):
                workers.create_task(work())
        return missing

    def _list_missing(self, way: str) -> list[AceRow]:
        digest = compute_prompt_digest()
        held = {
            (row["language"], row["id"])
            for row in read_rows(self.results)
            if (row["prompts"], row["model"], row["way"]) == (digest, self.name, way)
        }
        return [row for row in self.sample.iter_rows() if (row.language, row.id) not in held]

    async def _run_row(self, client: HttpClient, endpoint: Endpoint, way: str, row: AceRow) -> bool:
        """Ask, score and append one row. False where no answer came that a row can be made of."""
        model = "" if self.upstreams.is_local else self.upstreams.model
        headers = {"authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        started = time.monotonic()
        answer = await client.request(
            "POST",
            endpoint.url.rstrip("/") + "/chat/completions",
            headers=headers,
            json=build_body(row, way, model),
        )
        seconds = round(time.monotonic() - started, 2)
        if not isinstance(answer, HttpResponse):
            self.say(f"{way} {row.id}: not asked: {answer.message}\n")
            return False
        if answer.status >= 500 or answer.status in _PASSING:
            self.say(f"{way} {row.id}: not asked: status {answer.status}: {answer.text[:200]}\n")
            return False
        found = read_answer(row, way, answer)
        head = self._describe(way, row)
        append_row(self.results, {**head, **found, "seconds": seconds})
        return True

    def _describe(self, way: str, row: AceRow) -> JsonObject:
        return {
            "prompts": compute_prompt_digest(),
            "model": self.name,
            **({"parallel": self.parallel} if self.parallel > 1 else {}),
            "version": callwright.__version__,
            "way": way,
            "language": row.language,
            "id": row.id,
            "conversation": row.conversation_id,
            "category": row.category,
            "half": row.half,
        }


def read_answer(row: AceRow, way: str, answer: HttpResponse) -> JsonObject:
    """An answer as fields of a row: its score, its text and calls, its tokens. A
    refusal of the endpoint (a prompt too long, a tool that it cannot take) is a wrong row.
    """
    value = _parse_object(answer)
    message = ((value.get("choices") or [{}])[0].get("message") or {}) if answer.ok else {}
    text, usage = str(message.get("content") or ""), value.get("usage") or {}
    if not answer.ok:
        score = Score(f"refused with status {answer.status}: {answer.text[:200]}")
    elif way == RAW:
        score = score_text(row, text)
    else:
        score = score_calls(row, read_native_calls(row, message), text)
    marks = {name: answer.headers[name] for name in _MARKS if name in answer.headers}
    return {
        **score.to_dict(),
        "text": text,
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        **({"marks": marks} if marks else {}),
    }


def _parse_object(answer: HttpResponse) -> JsonObject:
    try:
        value = parse(answer.body)
    except JsonError:
        return {}
    return value if isinstance(value, dict) else {}


def _build_parser() -> argparse.ArgumentParser:
    known = argparse.ArgumentParser(
        "callwright bench acebench", description=(__doc__ or "").split("\n")[0]
    )
    known.add_argument("--upstream", default="", help="the model's endpoint: http://host:8000/v1")
    known.add_argument(
        "--model", default="", help="the name that the endpoint knows, or local or local:PATH"
    )
    known.add_argument("--name", default="", help="what rows call the model [its --model]")
    known.add_argument(
        "--proxy", default="", help="a proxy that runs already [one is started for the rows]"
    )
    known.add_argument(
        "--proxy-options", default="", help="options for the proxy that is started, in one text"
    )
    ways = "; ".join(f"{name}: {text}" for name, text in WAYS.items())
    known.add_argument("--ways", default=",".join(WAYS), help=ways)
    known.add_argument("--languages", default=",".join(LANGUAGES))
    known.add_argument("--categories", default=",".join(CATEGORIES))
    known.add_argument("--per-category", type=int, default=15, help="rows of each category")
    known.add_argument("--open-final", action="store_true", help="the final half, not dev")
    known.add_argument("--ledger", type=Path, help=f"[docs/results/{LEDGER}, or beside results]")
    known.add_argument("--results", type=Path, default=Path("runs/acebench/results.jsonl"))
    known.add_argument("--limit-seconds", type=float, default=0.0)
    known.add_argument(
        "--parallel",
        type=int,
        default=1,
        help="rows asked at once; their seconds hold the waiting [1]",
    )
    known.add_argument("--report", action="store_true", help="only print the tables")
    known.add_argument("--sample", action="store_true", help="only print and write the sample")
    known.add_argument(
        "--agree", type=Path, metavar="CHECKOUT", help="compare our checker with the suite's own"
    )
    known.add_argument("--spoiled", type=int, default=SPOILED, help="with --agree, a language")
    return known


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing and print the tables. Returns 1 where rows are missing or checkers
    differ.
    """
    given: Any = _build_parser().parse_args(arguments)
    languages = _split_known(given.languages, LANGUAGES, "language")
    categories = _split_known(given.categories, CATEGORIES, "category")
    if given.agree:
        return _compare_by_language(given.agree, languages, categories, given.spoiled)
    missing = 0
    if not given.report:
        half: Half = "final" if given.open_final else "dev"
        sample = draw_sample(data_root(), languages, categories, half, given.per_category)
        missing = _run_sample(given, sample)
    if not given.sample:
        sys.stdout.write(render_report(read_rows(given.results)))
    return 1 if missing else 0


def _split_known(text: str, known: Sequence[Any], what: str) -> list[Any]:
    names = [name for name in text.split(",") if name]
    if unknown := [name for name in names if name not in known]:
        raise ConfigError(f"there is no {what} {unknown[0]!r}", hint=", ".join(known))
    return names


def _run_sample(given: Any, sample: Sample) -> int:
    ways = _split_known(given.ways, [*WAYS], "way")
    log = given.results.with_suffix(".proxy.log")
    options = shlex.split(given.proxy_options)
    upstreams = Upstreams(given.upstream, given.model, given.proxy, options, log)
    name = given.name or given.model or given.upstream or given.proxy
    if not given.sample:
        upstreams.check_ways(ways)
    state_sample(given.results.with_suffix(".sample.json"), sample)
    sys.stdout.write(sample.render_lines() + "\n")
    sys.stdout.flush()
    if given.sample:
        return 0
    if sample.half == "final":
        entry = open_final(given.ledger or _choose_ledger(given.results), sample, name, ways)
        sys.stdout.write(f"the final half is opened: {entry['opened']}\n")
    bench = Bench(
        sample, upstreams, given.results, name, given.limit_seconds, parallel=given.parallel
    )
    missing = asyncio.run(bench.run_missing(ways))
    if missing:
        sys.stderr.write(f"{missing} rows are missing: run the same command again\n")
    return missing


def _choose_ledger(results: Path) -> Path:
    """In a checkout of ours the ledger stands with the results that are kept."""
    kept = Path("docs/results")
    return (kept if kept.is_dir() else results.parent) / LEDGER


def _compare_by_language(
    checkout: Path, languages: Sequence[Any], categories: Any, spoiled: int
) -> int:
    apart = 0
    with SuiteChecker(checkout) as checker:
        for language in languages:
            rows = [r for name in categories for r in iter_rows(data_root(), language, name)]
            found = compare_checkers(checker, rows, spoiled)
            sys.stdout.write(
                "\n".join([f"{language}: {found.render_summary()}", *found.apart]) + "\n"
            )
            apart += len(found.apart)
    return 1 if apart else 0


if __name__ == "__main__":
    sys.exit(main())
