"""The refiner's training data (Tool-use Refiner, section 3.2 and Appendix C): four kinds, by
recipe, counted.

Errors are made by rule (:mod:`callwright_lab.training.refiner.corruption`) or by a language model
asked with the paper's prompts (:mod:`callwright_lab.training.refiner.spoil`). A recipe counts what
is learned from; beside it stand ``held`` samples, in the same proportions, of tasks that are
measured on and never learned from. Where a data set has fewer tasks than asked for, tasks are used
again with another error; the report says how often.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import ToolCall
from callwright_lab.training.refiner.corruption import ERRORS, corrupt
from callwright_lab.training.refiner.formats import FORMATS, Invocation
from callwright_lab.training.refiner.sources import simplify_to_steps
from callwright_lab.training.refiner.task import KINDS, Kind, Sample, Task

ERROR_KINDS = tuple(ERRORS)  # format, name, content
_TRIES = 40


PAPER_UPSTREAMS = (
    "Qwen3-1.7B",
    "Qwen3-8B",
    "Qwen3-14B",
    "Llama-3.1-8B-Instruct",
    "Llama-3.2-3B-Instruct",
)
"""The models whose answers the paper spoils (Appendix C.1); Qwen3-14B makes the shuffled samples
too (C.2).
"""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Number of samples of each kind. ``each``: samples with errors per upstream, error kind and
    conventional source.
    """

    sources: tuple[str, ...] = ("glaive", "toolace", "xlam")
    nested: str = "nestools"
    upstreams: int = len(PAPER_UPSTREAMS)
    each: int = 50
    correct: int = 450
    full: int = 1000
    simplified: int = 1000
    held: int = 500  # samples to measure on, beside the others; open in the paper, which measures on benchmarks
    # share of shuffled samples left in the right order, for the paper's set has such
    kept: float = 0.1
    malformed: float = 0.1  # share of them whose format is broken as well

    @property
    def data_sets(self) -> tuple[str, ...]:
        """All that are needed, each once."""
        return tuple(
            dict.fromkeys((*self.sources, *([self.nested] if self.full or self.simplified else [])))
        )

    @property
    def erroneous(self) -> int:
        return self.each * self.upstreams * len(ERROR_KINDS) * len(self.sources)

    @property
    def total(self) -> int:
        return self.erroneous + self.correct + self.full + self.simplified

    def measured(self) -> Recipe:
        """The recipe of the samples to measure on: the same proportions, at least one of each kind
        there is.
        """
        share = self.held / max(1, self.total)
        each = self.each * self.upstreams * share
        scaled = {k: math.ceil(getattr(self, k) * share) for k in ("correct", "full", "simplified")}
        return replace(self, upstreams=1, each=math.ceil(each), held=0, **scaled)


PAPER = Recipe()  # 5 x 3 x 50 x 3 = 2,250 erroneous, 450 correct, 1,000 + 1,000 shuffled
ABLATIONS: Mapping[str, str] = {
    "untrained": "F: the untrained model as refiner; nothing is learned",
    "overlong": "G: no penalty for overlong replies",
    "simplified": "H: no shuffled samples in the simplified format",
}


Tasks = Mapping[str, Sequence[Task]]
"""Tasks by the name of their data set."""


def split_recipe(recipe: Recipe, by_source: Tasks) -> list[tuple[Recipe, Tasks]]:
    """The recipe with the tasks to learn from, then the one of what is measured on with the tasks
    held out for it, which call no tool that is learned from.
    """
    found = {name: _require_tasks(by_source, name) for name in recipe.data_sets}
    learned = {name: [t for t in tasks if not t.held_out] for name, tasks in found.items()}
    for name in found:
        _require_tasks(learned, name)
    gold = [task.gold for tasks in learned.values() for task in tasks]
    known = {call.name for calls in gold for call in calls}

    def is_new(task: Task) -> bool:
        return task.held_out and known.isdisjoint(call.name for call in task.gold)

    held = {name: [*filter(is_new, tasks)] for name, tasks in found.items()}
    return [(recipe, learned), *([(recipe.measured(), held)] if recipe.held else [])]


def build_rule_samples(given: Iterable[tuple[Recipe, Tasks]], seed: int = 0) -> list[Sample]:
    """The samples of each recipe from its tasks, in random order."""
    rng = random.Random(f"refiner data {seed}")
    made: list[Sample] = []
    for part, tasks in given:
        for source, right in zip(
            part.sources, divide_evenly(part.correct, len(part.sources)), strict=True
        ):
            for error in ERROR_KINDS:
                made += build_erroneous_samples(
                    tasks[source], error, part.each * part.upstreams, rng
                )
            made += build_correct_samples(tasks[source], right, rng)
        nested = tasks.get(part.nested, ())
        made += build_shuffled_samples(nested, "shuffled_full", part.full, rng, part)
        made += build_shuffled_samples(
            [simplify_to_steps(t) for t in nested],
            "shuffled_simplified",
            part.simplified,
            rng,
            part,
        )
    rng.shuffle(made)
    return made


def divide_evenly(count: int, among: int) -> list[int]:
    """``count`` things among so many, as equally as can be."""
    return [count // among + (i < count % among) for i in range(among)]


def _require_tasks(by_source: Tasks, name: str) -> Sequence[Task]:
    if not by_source.get(name):
        raise ConfigError(
            f"the recipe needs tasks of {name}, and there are none", hint="name it in --sources"
        )
    return by_source[name]


def _cycle_tasks(tasks: Sequence[Task], rng: random.Random) -> Iterator[Task]:
    """Tasks without end, each once before any comes again; of none, none."""
    while tasks:
        yield from rng.sample(list(tasks), len(tasks))


def build_erroneous_samples(
    tasks: Sequence[Task], error: str, count: int, rng: random.Random
) -> list[Sample]:
    """Samples whose upstream output has one error of the paper's kind ``error`` (format, name or
    content).
    """
    made: list[Sample] = []
    for tried, task in enumerate(_cycle_tasks(tasks, rng)):
        if len(made) == count or tried > _TRIES * count:
            break
        sample = spoil_by_rule(task, error, rng)
        if sample is not None:
            made.append(sample)
    return made


def spoil_by_rule(task: Task, error: str, rng: random.Random) -> Sample | None:
    """The task with one error by rule; None where none of the rules drawn can be applied."""
    for _ in range(6):
        kind = rng.choice(ERRORS[error])
        made = corrupt(
            task.calls,
            task.tools,
            kind,
            rng,
            query=task.query,
            write=lambda c: _render_calls(task, c),
        )
        text = made and (made.text or _render_calls(task, made.calls))
        if text and text != _render_calls(task, task.calls):
            return Sample(task, "erroneous", error, text)
    return None


def _render_calls(task: Task, calls: Sequence[ToolCall]) -> str:
    """Calls in the task's format; "" where the format cannot say them (its writer takes one call
    only).
    """
    labels = {f"call_{i}": c.labels for i, c in enumerate(task.gold)}
    made = [Invocation(c.tool, c.arguments, labels.get(c.id, ())) for c in calls]  # type: ignore[arg-type]
    try:
        return FORMATS[task.format].write(made)
    except (ValueError, AttributeError):
        return ""


def build_correct_samples(tasks: Sequence[Task], count: int, rng: random.Random) -> list[Sample]:
    """Samples whose upstream output is right: the refiner learns to leave it."""
    return [
        Sample(task, "correct", "none", FORMATS[task.format].write(task.gold))
        for _, task in zip(range(count), _cycle_tasks(tasks, rng), strict=False)
    ]


def build_shuffled_samples(
    tasks: Sequence[Task], kind: Kind, count: int, rng: random.Random, recipe: Recipe = PAPER
) -> list[Sample]:
    """Samples of nested calls in a wrong order, a few in the right one and a few malformed as well
    (C.2).
    """
    usable = [t for t in tasks if len(t.gold) > 1]
    made: list[Sample] = []
    for _, task in zip(range(count), _cycle_tasks(usable, rng), strict=False):
        luck = rng.random()
        calls = task.gold if luck < recipe.kept else _reorder_calls(task, rng)
        text, error = FORMATS[task.format].write(calls), "none" if calls == task.gold else "order"
        if recipe.kept <= luck < recipe.kept + recipe.malformed:
            broken = corrupt(task.calls, (), "missing_closer", rng, write=lambda _, text=text: text)  # type: ignore[misc]
            text, error = (broken.text, "order and format") if broken else (text, error)
        made.append(Sample(task, kind, error, text))
    return made


def _reorder_calls(task: Task, rng: random.Random) -> tuple[Invocation, ...]:
    """Another order of the calls; in the simplified format steps are split, merged or tools moved
    between them.
    """
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


def report_samples(samples: Sequence[Sample]) -> str:
    """Counts per kind, error, source and who made the error; how many tasks are behind them; as
    Markdown.
    """
    groups: dict[tuple[bool, str, str, str], list[Sample]] = {}
    for s in samples:
        groups.setdefault((s.task.held_out, s.kind, s.error, s.task.source), []).append(s)
    lines = ["| kind | error | source | samples | tasks | made by |", "|---|---|---|---|---|---|"]
    for held in (False, True):
        mine = sorted(
            (k for k in groups if k[0] == held), key=lambda k: (KINDS.index(k[1]), *k[2:])
        )  # type: ignore[arg-type]
        for key in () if held else mine:
            by = ", ".join(sorted({s.by for s in groups[key]}))
            lines.append(f"| {' | '.join(key[1:])} | {_render_counts(groups[key])} | {by} |")
        all_of = [s for key in mine for s in groups[key]]
        kinds = ", ".join(f"{n} {kind}" for kind, n in Counter(s.kind for s in all_of).items())
        lines.append(
            f"| {'held out, to measure on' if held else 'all to learn from'} | | |"
            f" {_render_counts(all_of)} | {kinds} |"
        )
    return "\n".join(lines)


def _render_counts(samples: Sequence[Sample]) -> str:
    return f"{len(samples)} | {len({s.task.id for s in samples})}"
