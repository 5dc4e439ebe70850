"""The generator of planning tasks (Beyond ReAct, ComplexTool-Plan), from any catalogue and with any
model.

Drafts go through the stages of :mod:`callwright_lab.training.planner.stages`, several at once, and
every step of every draft is in the journal before the next question is asked: a run that was ended
goes on, asks only what is left, and ends with the rows it would have had. More drafts are drawn
until every part of the recipe is full or the tries are spent.

Differs from the paper in: 1) what the label keeps of the workflow is measured, and ``agreement``
drops rows that keep less (0 is the paper's); 2) a request asked twice counts once; 3) no row to
learn from has the tools of a test row; 4) medium, and how many rows are offered to RL curation, are
ours.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

from callwright.models.dialogue import run_dialogue
from callwright.nouns.errors import CallwrightError, ConfigError
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.types import Reply, Tool, compute_digest
from callwright.storage import lines
from callwright_lab.training.planner.drafts import (
    DIFFICULTIES,
    Difficulty,
    Draft,
    drawn,
    from_json,
    to_json,
)
from callwright_lab.training.planner.stages import Stage, adapt_schemas, next_stage

Group = tuple[str, Difficulty]
PARTS = ("test", "sft", "rl")  # in this order they are made: what is tested on comes first
TRIES = 4  # drafts drawn at most for each row wanted


@dataclass(frozen=True, slots=True)
class Recipe:
    """Number of rows by part and difficulty. ``agreement``: minimum node F1 and edge F1 of label
    and workflow.
    """

    counts: Mapping[Group, int]
    agreement: float = 0.5
    seed: int = 0


def build_recipe(
    test: Sequence[int],
    sft: Sequence[int],
    rl: Sequence[int],
    agreement: float = 0.5,
    seed: int = 0,
) -> Recipe:
    """A recipe from the counts of easy, medium and hard rows of each part."""
    counts = {
        (part, difficulty): count
        for part, some in zip(PARTS, (test, sft, rl), strict=True)
        for difficulty, count in zip(DIFFICULTIES, some, strict=True)
        if count
    }
    return Recipe(counts, agreement, seed)


PAPER = build_recipe((500, 0, 500), (1000, 1000, 1000), (800, 800, 800))
"""3,000 rows for SFT and 500 + 500 to test on, as in the paper; 2,400 for curation, which there
leaves 787.
"""


# ---------------------------------------------------------------- what is kept


def select_drafts(drafts: Iterable[Draft], recipe: Recipe) -> tuple[list[Draft], list[Draft]]:
    """(kept, dropped with the reason) of finished drafts, in the order of parts and numbers;
    pure.
    """
    kept: list[Draft] = []
    dropped: list[Draft] = []
    full: Counter[Group] = Counter()
    asked: dict[str, str] = {}
    tested: dict[frozenset[str], str] = {}
    for draft in sorted(drafts, key=lambda d: (PARTS.index(d.part), d.id)):
        group = (draft.part, draft.difficulty)
        why = draft.dropped or _explain_rejection(draft, recipe, asked, tested)
        if not why and full[group] >= recipe.counts.get(group, 0):
            why = "surplus: its part is full"
        if why:
            dropped.append(replace(draft, dropped=why))
            continue
        kept.append(draft)
        full[group] += 1
        asked[_normalize_query(draft.query)] = draft.id
        if draft.part == "test":
            tested[draft.combination] = draft.id
    return kept, dropped


def _explain_rejection(
    draft: Draft, recipe: Recipe, asked: Mapping[str, str], tested: Mapping[frozenset[str], str]
) -> str:
    found = draft.agreement
    if found is not None and min(found.nodes.f1, found.edges.f1) < recipe.agreement:
        return (
            f"agreement: node F1 {found.nodes.f1:.2f}, edge F1 {found.edges.f1:.2f}, asked"
            f" {recipe.agreement:.2f}"
        )
    if same := asked.get(_normalize_query(draft.query)):
        return f"duplicate: {same} asks the same"
    if draft.part != "test" and (same := tested.get(draft.combination)):
        return f"tested: the test row {same} needs the same tools"
    return ""


def _normalize_query(query: str) -> str:
    return "".join(c for c in query.lower() if c.isalnum())


# ---------------------------------------------------------------- the run


@dataclass
class Run:
    """One run over a folder: ``drafts.jsonl`` is the journal, a line for every step of every
    draft.
    """

    recipe: Recipe
    catalogue: Sequence[Tool]
    folder: Path
    progress: Callable[[str], None] = lambda _: None
    drafts: dict[str, Draft] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._journal = self.folder / "drafts.jsonl"
        self._require_same()
        if self._journal.exists():
            known = lines.read_rows(
                self._journal, from_json, what="draft", hint="delete it to start again", cut=True
            )
            self.drafts = {d.id: d for d in known}
            lines.write_rows(self._journal, map(to_json, self.drafts.values()))
        self._running: set[str] = set()
        self._alive: Counter[Group] = Counter()

    def _require_same(self) -> None:
        """A journal belongs to one catalogue and seed: rows of two would be told apart by
        nobody.
        """
        path, key = (
            self.folder / "drafts.key",
            compute_digest([self.recipe.seed, sorted(t.digest for t in self.catalogue)]),
        )
        if path.exists() and path.read_text(encoding="utf-8") != key:
            raise ConfigError(
                f"{self.folder} was begun with other tools or another seed",
                hint="name the same, choose another --out, or delete drafts.jsonl and drafts.key",
            )
        path.write_text(key, encoding="utf-8")

    async def finish(
        self, model: ChatModel, concurrency: int = 4
    ) -> tuple[list[Draft], list[Draft]]:
        """Ask until the recipe is full or the tries are spent; (kept, dropped). Raises what the
        model raises.

        What was asked before an error is kept. Fewer rows than asked for are no error: the report
        says so.
        """
        while True:
            kept, dropped = select_drafts(
                (d for d in self.drafts.values() if d.finished), self.recipe
            )
            self._alive = Counter((d.part, d.difficulty) for d in kept)
            if self._next() is None:
                return kept, dropped
            await self._round(model, concurrency)

    async def _round(self, model: ChatModel, concurrency: int) -> None:
        changed = asyncio.Condition()

        async def work() -> None:
            while True:
                async with changed:
                    while (draft := self._next()) is None and self._running:
                        await changed.wait()
                    if draft is None:
                        return
                    self._running.add(draft.id)
                done = await self._through(draft, model)
                async with changed:
                    self._running.discard(draft.id)
                    self._alive[done.part, done.difficulty] += not _is_rejected(done, self.recipe)
                    changed.notify_all()

        failed: CallwrightError | None = None
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(concurrency):
                    group.create_task(work())
        except* CallwrightError as errors:  # one dead endpoint is one error
            failed = next(e for e in errors.exceptions if isinstance(e, CallwrightError))
        finally:
            self._running.clear()
        if failed is not None:
            raise failed

    def _next(self) -> Draft | None:
        """The draft to work on next, an unfinished one first; None while nothing more is needed."""
        for group, count in sorted(self.recipe.counts.items(), key=lambda g: PARTS.index(g[0][0])):
            at_work = sum(id.startswith(_make_id_prefix(group)) for id in self._running)
            if self._alive[group] + at_work >= count:
                continue
            for number in range(count * TRIES):
                id = f"{_make_id_prefix(group)}{number:05}"
                known = self.drafts.get(id)
                if id not in self._running and (known is None or not known.finished):
                    return known or drawn(self.catalogue, *group, number, self.recipe.seed)
        return None

    async def _through(self, draft: Draft, model: ChatModel) -> Draft:
        while stage := next_stage(draft):
            draft = await ask_stage(stage, draft, model)
            self.drafts[draft.id] = draft
            lines.append_rows(self._journal, [to_json(draft)])
        done = sum(d.finished for d in self.drafts.values())
        self.progress(f"{draft.id}: {draft.dropped or 'planned'} ({done} drafts done)")
        return draft


def _make_id_prefix(group: Group) -> str:
    return f"{group[0]}-{group[1]}-"


def _is_rejected(draft: Draft, recipe: Recipe) -> bool:
    return bool(draft.dropped or _explain_rejection(draft, recipe, {}, {}))


async def ask_stage(stage: Stage, draft: Draft, model: ChatModel) -> Draft:
    """One stage asked of a model, its tokens counted. Raises ModelError where it cannot be
    asked.
    """
    tokens, schemas = draft.tokens, (await model.capabilities()).json_schema

    async def ask(request: ChatRequest) -> Reply:
        nonlocal tokens
        reply = await model.complete(request)
        tokens += reply.usage.total
        return reply

    done = await run_dialogue(adapt_schemas(stage(draft), schemas), ask)
    return replace(done, tokens=tokens, by=model.name)


# ---------------------------------------------------------------- report


def report_drafts(kept: Sequence[Draft], dropped: Sequence[Draft], recipe: Recipe) -> str:
    """Return a Markdown report of the kept and dropped drafts, with reasons."""
    head = (
        "| part | difficulty | asked for | kept | dropped | offered | used | edges | node F1 | edge"
        " F1 |"
    )
    body = [
        _render_group_row(group, count, kept, dropped) for group, count in recipe.counts.items()
    ]
    tokens = sum(d.tokens for d in (*kept, *dropped))
    reasons = Counter(_extract_reason_group(d.dropped) for d in dropped)
    why = [
        "| dropped because of | drafts |",
        "|---|---|",
        *(f"| {name} | {n} |" for name, n in reasons.most_common()),
    ]
    note = (
        "Node and edge F1: the label, re-solved from the request alone, against the workflow the"
        f" request was written from; rows under {recipe.agreement:.2f} in either are dropped."
        f" {tokens:,} tokens."
    )
    return "\n".join([head, "|---" * 10 + "|", *body, "", note, "", *why])


def _render_group_row(
    group: Group, count: int, kept: Sequence[Draft], dropped: Sequence[Draft]
) -> str:
    mine, gone = ([d for d in some if (d.part, d.difficulty) == group] for some in (kept, dropped))
    scores = [s for d in mine if (s := d.agreement) is not None]
    plans = [d.plan for d in mine if d.plan is not None]
    means = (
        _render_mean(len(d.tools) for d in mine),
        _render_mean(len(p.slots) for p in plans),
        _render_mean(len(p.edges) for p in plans),
        _render_mean(s.nodes.f1 for s in scores),
        _render_mean(s.edges.f1 for s in scores),
    )
    return f"| {' | '.join([*group, str(count), str(len(mine)), str(len(gone)), *means])} |"


def _render_mean(values: Iterator[float] | Iterable[float]) -> str:
    found = list(values)
    return f"{fmean(found):.2f}" if found else ""


def _extract_reason_group(text: str) -> str:
    """The stage and the kind of what was wrong."""
    parts = [part.strip() for part in text.split(":")]
    return ": ".join(parts[:2]) if parts[0] in ("workflow", "query", "plan") else parts[0]
