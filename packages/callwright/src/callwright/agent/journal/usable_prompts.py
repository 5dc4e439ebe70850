"""The prompts that a run can use, by its strategy: what its identity digests.

A change of any other prompt leaves the run as it is, so its journal is replayed.
"""

from __future__ import annotations

from callwright import prompts
from callwright.nouns.types import compute_digest

_SHARING = ("run", "layer", "ask_select", "ask_answer", "ask_plain", "ask_restate")
_ANSWER = ("finish", "finish_plain", "finish_restate")
_PLANNED = ("dag", "dag_again", *_SHARING)
_STRATEGIES = {
    "layered": ("ask_first", "select", *_SHARING),
    "guided": (
        "led",
        "next",
        "left",
        "open",
        "again",
        "select",
        "option",
        "asked",
        "aim",
        "said",
        "deed",
        "question",
        "ask_done",
        "ask_found",
        *_SHARING,
    ),
    "dag": _PLANNED,
    "edges": _PLANNED,
    "given": _PLANNED,
    "compiler": (*_PLANNED, "join"),
    "react": ("react", *_SHARING),  # for what the answer names as missing
    "dfsdt": ("dfsdt", "diverse", *_SHARING),
    "code": ("code",),
    "toolmvr": ("transcript",),
}
_VARIANTS = ("-second-pass", "-no-sketch", "-no-repair", "-no-recovery", "-no-gate")
_REPAIR = ("repair", "ask_repair")
_REFLECTING = ("reflect", "ask_reflect")
_OUTPUT = ("run", "ask_output")
_PROBING = ("trial_plan", "trial_rank")


def usable_prompts(
    strategy: str, *, is_probing: bool = False, has_output: bool = False
) -> tuple[str, ...]:
    """The names of the prompts that a run of this strategy can use; of a strategy that is not
    Callwright's own, all. ``is_probing``: its tools are probed before they are offered.
    ``has_output``: its answer is filled into a type.
    """
    name, _, repair = strategy.partition("+")
    for variant in _VARIANTS:
        name = name.removesuffix(variant)
    if name not in _STRATEGIES:
        return prompts.names()
    used = {*_STRATEGIES[name], *_ANSWER, *_REPAIR}
    used |= {*_REFLECTING} if repair else set()
    used |= {*_OUTPUT} if has_output else set()
    used |= {*_PROBING} if is_probing else set()
    return tuple(sorted(used))


def digests_of_prompts(names: tuple[str, ...]) -> dict[str, str]:
    """Name -> digest of each of these prompts; "" for one that there is not any more."""
    known = prompts.names()
    return {name: compute_digest(prompts.load(name)) if name in known else "" for name in names}
