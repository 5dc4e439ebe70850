"""Gold calls of any set, spoiled in known ways and written as the set's upstreams write them:
replies with a known mistake, for sets and rule groups that no recorded reply tries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import ToolCall
from callwright_lab.benchmarks.refine import nestful
from callwright_lab.benchmarks.refine.bamboogle_formats import write_format
from callwright_lab.benchmarks.refine.replies import Pair
from callwright_lab.benchmarks.refine.task import Examination, Recorded, Task
from callwright_lab.training.refiner.corrupted import write_hermes
from callwright_lab.training.refiner.corruption import KINDS, corrupt

Write = Callable[[Sequence[ToolCall]], str]
RIGHT = "right"  # the gold calls as they are: what refinement must not change


def spoil_gold_replies(
    examination: Examination, kinds: Sequence[str], count: int, seed: int = 0
) -> list[Pair]:
    """At most ``count`` replies of every kind, as if an upstream named "gold" had written them; the
    mode names the kind. ``right`` gives the gold itself. Tasks that cannot be spoiled so are passed
    over.
    """
    unknown = set(kinds) - {RIGHT, *KINDS}
    if unknown:
        raise ConfigError(
            f"there is no corruption {sorted(unknown)[0]!r}",
            hint="kinds: " + ", ".join((RIGHT, *KINDS)),
        )
    pairs: list[Pair] = []
    for kind in kinds:
        order = [t for t in examination.tasks() if t.gold]
        Random(f"{kind} {seed}").shuffle(order)
        found = (_spoil_reply(task, kind, seed) for task in order)
        pairs += [pair for pair in found if pair is not None][:count]
    return pairs


def _spoil_reply(task: Task, kind: str, seed: int) -> Pair | None:
    write = get_writer(task)
    text = write(task.gold)
    if kind != RIGHT:
        made = corrupt(task.gold, task.tools, kind, seed, query=task.query, write=write)
        if made is None or made.deltas:
            return None
        text = made.text or "".join(made.pieces) or write(made.calls)
    return task, Recorded(task.id, "gold", {"role": "assistant", "content": text}, kind)


def get_writer(task: Task) -> Write:
    """Return the function that writes calls in the format of an upstream of this set."""
    if task.set.startswith("nestful"):
        return nestful.write_calls
    if task.set == "bamboogle":
        return lambda calls: write_format(task.aside, calls)
    return write_hermes
