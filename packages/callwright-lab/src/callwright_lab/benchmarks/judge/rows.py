"""Judging many items: one JSON line a verdict, appended as soon as it is known; the same command
goes on.

A row is known by what was judged (its digest, so that a changed run is judged again), the measure,
the judge, how it is asked, and which repetition it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from callwright.models.dialogue import run_dialogue
from callwright.nouns.errors import ConfigError, ModelError
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import JsonObject, Reply, Usage, compute_digest
from callwright_lab import prompts
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows
from callwright_lab.benchmarks.judge.questions import (
    FIRST,
    PROMPTS,
    SECOND,
    SOLVED,
    TIE,
    UNSOLVED,
    UNSURE,
    JudgeVerdict,
    Judging,
    Way,
    ask_better_run,
    ask_pass,
    ask_solvable_pass,
    ask_winner,
)
from callwright_lab.benchmarks.judge.text import CHARS

RUNS = 3  # StableToolBench, RETO: every verdict three times
_REFUSED = (400, 413, 422)


@dataclass(frozen=True)
class Item:
    """Something to judge once: ``key`` names it among the items of a measure, ``content`` is what
    was judged.

    ``head`` goes into the row as it is (system, group …); ``ask`` makes the questions for a way of
    asking.
    """

    measure: str
    key: str
    content: str
    ask: Callable[[Way], Judging]
    head: Mapping[str, object]


@dataclass(frozen=True)
class Judge:
    """A model that judges. ``temperature`` 0 as in the papers: then a deterministic model repeats
    itself.
    """

    model: ChatModel
    temperature: float = 0.0
    constrained: bool = True
    chars: int = CHARS

    @classmethod
    async def of(cls, model: ChatModel, temperature: float = 0.0, chars: int = CHARS) -> Judge:
        """A judge whose replies are held to a schema where the model can do that. Raises
        ModelError.
        """
        return cls(model, temperature, (await model.capabilities()).json_schema, chars)

    @cached_property
    def config(self) -> str:
        texts = {name: prompts.load(name) for name in PROMPTS}
        return compute_digest([texts, self.temperature, self.constrained, self.chars])

    def way(self, run: int) -> Way:
        return Way(run, self.temperature, self.constrained, self.chars)


async def judge_missing(
    judge: Judge,
    items: Sequence[Item],
    path: Path,
    *,
    runs: int = RUNS,
    limit_seconds: float = 0.0,
    on_row: Callable[[JsonObject, int], None] | None = None,
) -> int:
    """Judge what is missing of ``runs`` repetitions, one repetition of all items after the other.

    Starts no question once ``limit_seconds`` have passed; returns how many verdicts are missing.
    Raises ModelError where the judge cannot be asked at all, ConfigError where there is nothing to
    judge.
    """
    if not items:
        raise ConfigError(
            "there is no run to judge",
            hint="run the same command without a judge first, or --answers",
        )
    started = time.monotonic()
    done = {_get_row_key(row) for row in read_rows(path)}
    left = [
        (item, run)
        for run in range(runs)
        for item in items
        if _get_item_key(judge, item, run) not in done
    ]
    while left and not (limit_seconds and time.monotonic() - started >= limit_seconds):
        item, run = left.pop(0)
        row = await judge_item(judge, item, run)
        append_row(path, row)
        if on_row is not None:
            on_row(row, len(left))
    return len(left)


async def judge_in_turn(
    judge: Judge,
    stages: Sequence[Callable[[Sequence[JsonObject]], Sequence[Item]]],
    path: Path,
    *,
    runs: int = RUNS,
    limit_seconds: float = 0.0,
    on_row: Callable[[JsonObject, int], None] | None = None,
) -> int:
    """:func:`judge_missing`, one stage after the other: each makes its items of all verdicts so
    far, and begins when those before it are complete. A stage may have no items; raises ConfigError
    where none has any.
    """
    started, left, some = time.monotonic(), 0, False
    for stage in stages:
        items = stage(read_rows(path))
        spent = time.monotonic() - started
        if left:  # not begun
            left += len(items) * runs
        elif items:
            limit = max(limit_seconds - spent, 1e-9) if limit_seconds else 0.0
            left = await judge_missing(
                judge, items, path, runs=runs, limit_seconds=limit, on_row=on_row
            )
        some = some or bool(items)
    return left if some else await judge_missing(judge, (), path)


async def judge_item(judge: Judge, item: Item, run: int) -> JsonObject:
    """One verdict as a row. A question that is too long for the model, or that it refuses as such
    (400, 413, 422), is no verdict, with its reason. Raises ModelError for anything else.
    """
    spent: list[Usage] = []
    began = time.monotonic()

    async def ask(request: ChatRequest) -> Reply:
        reply = await judge.model.complete(request)
        spent.append(reply.usage)
        return reply

    try:
        verdict = await run_dialogue(item.ask(judge.way(run)), ask)
    except ModelError as error:
        if error.status not in _REFUSED:
            raise
        verdict = JudgeVerdict("", error.message)
    names = ("measure", "item", "content", "judge", "config", "run")
    return {
        **dict(zip(names, _get_item_key(judge, item, run), strict=True)),
        **item.head,
        "verdict": verdict.value,
        "more": verdict.more,
        "reason": verdict.reason,
        "asked": len(spent),
        "tokens": sum(usage.total for usage in spent),
        "seconds": round(time.monotonic() - began, 2),
    }


def keep_latest_rows(rows: Iterable[JsonObject]) -> list[JsonObject]:
    """The last row of each repetition of an item: a run that has changed was judged again, and its
    old verdict is not one of it.
    """
    names = ("measure", "item", "judge", "config", "run")
    return list({tuple(row[name] for name in names): row for row in rows}.values())


def group_verdicts(rows: Iterable[JsonObject], measure: str) -> dict[str, dict[int, str]]:
    """Item -> run -> verdict of one measure; of several rows of one run the last."""
    found: dict[str, dict[int, str]] = {}
    for row in rows:
        if row["measure"] == measure:
            found.setdefault(row["item"], {})[row["run"]] = row["verdict"]
    return found


def build_pass_item(measure: str, key: str, run: Trajectory, **head: object) -> Item:
    """``sopr`` (StableToolBench) or ``pr`` (Tool-MVR, Table 5) of one run."""
    ask = {"sopr": ask_solvable_pass, "pr": ask_pass}[measure]
    return Item(measure, key, digest_run(run), lambda way: ask(run, way), head)


def build_win_item(
    measure: str,
    key: str,
    run: Trajectory,
    reference: Trajectory,
    statuses: tuple[str, str] = ("", ""),
    *,
    swapped: bool | None = None,
    **head: object,
) -> Item:
    """``sowr`` (StableToolBench) or ``wr`` (Tool-MVR, Table 6): win, lose or tie of a run against a
    reference.

    For ``sowr`` the solved one of two wins, then the unsure one; only alike ones are compared
    (``statuses`` are their verdicts of solvable_pass). Which of them is shown first takes turns
    over the repetitions and begins by the key, so that a judge who likes the first place cannot
    favour one side; ``swapped`` fixes it.
    """

    def ask(way: Way) -> Judging:
        if measure == "sowr" and (said := _compare_status(*statuses)):
            return JudgeVerdict(said, "by what the answers solve", asked=False)
        turned = (
            bool((int(compute_digest(key)[:2], 16) + way.seed) % 2) if swapped is None else swapped
        )
        first, second = (reference, run) if turned else (run, reference)
        verdict = yield from (ask_better_run if measure == "sowr" else ask_winner)(
            first, second, way
        )
        return JudgeVerdict(
            _convert_verdict(verdict.value, turned),
            verdict.reason,
            "swapped" if turned else "",
            verdict.asked,
        )

    content = compute_digest(
        [digest_run(run), digest_run(reference), statuses if measure == "sowr" else (), swapped]
    )
    return Item(measure, key, content, ask, head)


def digest_run(run: Trajectory) -> str:
    """The digest of what a judge reads of a run."""
    return compute_digest([run.query, run.steps, run.answer, run.given_up])


_STANDING = {SOLVED: 2, UNSURE: 1, UNSOLVED: 0}


def _compare_status(ours: str, theirs: str) -> str:
    """ToolEval: the one that solves, then the one that may; "" where both stand alike or were not
    judged.
    """
    if ours not in _STANDING or theirs not in _STANDING or ours == theirs:
        return ""
    return "win" if _STANDING[ours] > _STANDING[theirs] else "lose"


def _convert_verdict(value: str, turned: bool) -> str:
    if value in ("", TIE):
        return value
    if (value == FIRST) != turned:
        return "win"
    if value in (FIRST, SECOND):
        return "lose"
    return ""


def _get_item_key(judge: Judge, item: Item, run: int) -> tuple[str, str, str, str, str, int]:
    return item.measure, item.key, item.content, judge.model.name, judge.config, run


def _get_row_key(row: JsonObject) -> tuple[str, str, str, str, str, int]:
    return row["measure"], row["item"], row["content"], row["judge"], row["config"], row["run"]
