"""The refiner's training data (Tool-use Refiner, section 3.2 and Appendix C): four kinds, by recipe, counted.

Errors are made by rule (:mod:`callwright.training.corruption`) or by a language model asked with the paper's prompts
(:mod:`callwright.training.refiner_spoil`). Where a data set has fewer tasks than asked for, tasks are used again with
another error; the report says how often.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from callwright.errors import ConfigError
from callwright.training.corruption import ERRORS, corrupt
from callwright.training.refiner_formats import FORMATS, Invocation
from callwright.training.refiner_sources import in_steps
from callwright.training.refiner_task import KINDS, Kind, Sample, Task
from callwright.types import ToolCall

ERROR_KINDS = tuple(ERRORS)  # format, name, content
_TRIES = 40


@dataclass(frozen=True, slots=True)
class Recipe:
    """How many samples of each kind. ``each``: erroneous ones per upstream, error kind and conventional source."""

    sources: tuple[str, ...] = ("glaive", "toolace", "xlam")
    upstreams: tuple[str, ...] = ("upstream 1", "upstream 2", "upstream 3", "upstream 4", "upstream 5")
    each: int = 50
    correct: int = 450
    full: int = 1000
    simplified: int = 1000
    kept: float = 0.1  # share of shuffled samples left in the right order, for the paper's set has such
    malformed: float = 0.1  # share of them whose format is broken as well

    @property
    def erroneous(self) -> int:
        return self.each * len(self.upstreams) * len(ERROR_KINDS) * len(self.sources)


PAPER = Recipe()  # 5 x 3 x 50 x 3 = 2,250 erroneous, 450 correct, 1,000 + 1,000 shuffled
ABLATIONS: Mapping[str, str] = {
    "untrained": "F: the untrained model as refiner; nothing is learned",
    "overlong": "G: no penalty for overlong replies",
    "simplified": "H: no shuffled samples in the simplified format",
}


def compose(recipe: Recipe, by_source: Mapping[str, Sequence[Task]], seed: int = 0) -> list[Sample]:
    """All samples of a recipe with errors made by rule, in random order. ``by_source``: tasks by data set name."""
    rng = random.Random(f"refiner data {seed}")
    made: list[Sample] = []
    for source in recipe.sources:
        given = _known(by_source, source)
        for upstream in recipe.upstreams:
            for error in ERROR_KINDS:
                made += [replace(s, by=upstream) for s in erroneous(given, error, recipe.each, rng)]
        made += correct(given, recipe.correct // len(recipe.sources), rng)
    if recipe.full:
        made += shuffled(_known(by_source, "nestools"), "shuffled_full", recipe.full, rng, recipe)
    if recipe.simplified:
        simple = [in_steps(t) for t in _known(by_source, "nestools")]
        made += shuffled(simple, "shuffled_simplified", recipe.simplified, rng, recipe)
    rng.shuffle(made)
    return made


def _known(by_source: Mapping[str, Sequence[Task]], name: str) -> Sequence[Task]:
    if not by_source.get(name):
        raise ConfigError(f"the recipe needs tasks of {name}, and there are none", hint="name it in --sources")
    return by_source[name]


def _cycle(tasks: Sequence[Task], rng: random.Random) -> Iterator[Task]:
    """Tasks without end, each once before any comes again."""
    while True:
        yield from rng.sample(list(tasks), len(tasks))


def erroneous(tasks: Sequence[Task], error: str, count: int, rng: random.Random) -> list[Sample]:
    """Samples whose upstream output has one error of the paper's kind ``error`` (format, name or content)."""
    made: list[Sample] = []
    for tried, task in enumerate(_cycle(tasks, rng)):
        if len(made) == count or tried > _TRIES * count:
            break
        sample = spoiled(task, error, rng)
        if sample is not None:
            made.append(sample)
    return made


def spoiled(task: Task, error: str, rng: random.Random) -> Sample | None:
    """The task with one error by rule; None where none of the rules drawn can be applied."""
    for _ in range(6):
        kind = rng.choice(ERRORS[error])
        made = corrupt(task.calls, task.tools, kind, rng, query=task.query, write=lambda c: _text(task, c))
        text = made and (made.text or _text(task, made.calls))
        if text and text != _text(task, task.calls):
            return Sample(task, "erroneous", error, text)
    return None


def _text(task: Task, calls: Sequence[ToolCall]) -> str:
    """Calls in the task's format; "" where the format cannot say them (its writer takes one call only)."""
    labels = {f"call_{i}": c.labels for i, c in enumerate(task.gold)}
    made = [Invocation(c.tool, c.arguments, labels.get(c.id, ())) for c in calls]  # type: ignore[arg-type]
    try:
        return FORMATS[task.format].write(made)
    except (ValueError, AttributeError):
        return ""


def correct(tasks: Sequence[Task], count: int, rng: random.Random) -> list[Sample]:
    """Samples whose upstream output is right: the refiner learns to leave it."""
    return [
        Sample(task, "correct", "none", FORMATS[task.format].write(task.gold))
        for _, task in zip(range(count), _cycle(tasks, rng), strict=False)
    ]


def shuffled(
    tasks: Sequence[Task], kind: Kind, count: int, rng: random.Random, recipe: Recipe = PAPER
) -> list[Sample]:
    """Samples of nested calls in a wrong order, a few in the right one and a few malformed as well (C.2)."""
    usable = [t for t in tasks if len(t.gold) > 1]
    made: list[Sample] = []
    for _, task in zip(range(count), _cycle(usable, rng), strict=False):
        luck = rng.random()
        calls = task.gold if luck < recipe.kept else _reordered(task, rng)
        text, error = FORMATS[task.format].write(calls), "none" if calls == task.gold else "order"
        if recipe.kept <= luck < recipe.kept + recipe.malformed:
            broken = corrupt(task.calls, (), "missing_closer", rng, write=lambda _, text=text: text)  # type: ignore[misc]
            text, error = (broken.text, "order and format") if broken else (text, error)
        made.append(Sample(task, kind, error, text))
    return made


def _reordered(task: Task, rng: random.Random) -> tuple[Invocation, ...]:
    """Another order of the calls; in the simplified format steps are split, merged or tools moved between them."""
    for _ in range(_TRIES):
        if task.format == "order":
            last = max(c.step for c in task.gold)
            calls = [replace(c, step=rng.randint(1, last + rng.choice((0, 1)))) for c in task.gold]
            calls.sort(key=lambda c: c.step)
        else:
            calls = rng.sample(task.gold, len(task.gold))
        if FORMATS[task.format].write(calls) != FORMATS[task.format].write(task.gold):
            return tuple(calls)
    return task.gold


# ---------------------------------------------------------------- report


def report(samples: Sequence[Sample]) -> str:
    """Counts per kind, error, source and who made the error; how many tasks are behind them; as Markdown."""
    counts = Counter((s.kind, s.error, s.task.source) for s in samples)
    tasks: dict[tuple[str, str, str], set[str]] = {}
    makers: dict[tuple[str, str, str], set[str]] = {}
    for s in samples:
        tasks.setdefault((s.kind, s.error, s.task.source), set()).add(s.task.id)
        makers.setdefault((s.kind, s.error, s.task.source), set()).add(s.by)
    lines = ["| kind | error | source | samples | tasks | made by |", "|---|---|---|---|---|---|"]
    for key in sorted(counts, key=lambda k: (KINDS.index(k[0]), *k[1:])):
        by = ", ".join(sorted(makers[key])) if len(makers[key]) < 3 else f"{len(makers[key])} upstreams"
        lines.append(f"| {key[0]} | {key[1]} | {key[2]} | {counts[key]} | {len(tasks[key])} | {by} |")
    lines.append(f"| all | | | {len(samples)} | {len({s.task.id for s in samples})} | |")
    return "\n".join(lines)
