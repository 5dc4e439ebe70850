"""The refiner's rule-based reward (Tool-use Refiner, section 3.3), pure: no model, no tensors.

Values are compared as the gate compares them: equal JSON values are equal (1 is 1.0, true is not 1,
key order does not count). What the paper leaves open is settled here:

* A reply that cannot be read holds no calls.
* Where gold has nothing of a kind (no parameters, no calls), that component is left out of that
  sample's range.
* Conventional samples use format, tool name, parameter name and content; full nested ones the order
  too; simplified ones format, tool name and order.
* The regression override comes before normalisation, so a reply worse than what it was to refine
  gets 0.

``paper`` follows the formulas. ``calls`` is our variant: it pairs each call with its gold call, so
a value in the wrong call earns nothing, and it divides by what either side has, so what is invented
or doubled costs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from callwright_lab.training.refiner.formats import Format, Invocation, Reading
from callwright_lab.training.refiner.matching import canonicalize_value, match_calls

Calls = Sequence[Invocation]
Component = Callable[[Calls, Calls], float | None]
Variant = Literal["paper", "calls"]

CONVENTIONAL = ("tool_name", "param_name", "param_content")
COMPONENTS: Mapping[str, tuple[str, ...]] = {
    "erroneous": CONVENTIONAL,
    "correct": CONVENTIONAL,
    "shuffled_full": (*CONVENTIONAL, "order"),
    "shuffled_simplified": ("tool_name", "order"),
}
"""Which components count for which kind of data, beside the format."""


def scale_share(share: float) -> float:
    """A share in [0, 1] on the paper's scale [-2, 2]: 4 * share - 2."""
    return 4 * share - 2


# ---------------------------------------------------------------- the paper's components


def format_reward(reading: Reading) -> float:
    """R_format: 1 if all required tags are there and every element can be read, else 0."""
    return 1.0 if reading.right else 0.0


def tool_name_reward(output: Calls, gold: Calls) -> float | None:
    """R_ToolName = 4 * |O_n & G_n| / |O_n | G_n| - 2 over sets of tool names; None where gold has no call."""
    o, g = {c.name for c in output}, {c.name for c in gold}
    return scale_share(len(o & g) / len(o | g)) if g else None


def param_name_reward(output: Calls, gold: Calls) -> float | None:
    """R_ParamName = 4 * |O_pn & G_pn| / |G_pn| - 2 over sets of parameter names; None where gold has none."""
    o, g = ({k for c in calls for k in c.arguments} for calls in (output, gold))
    return scale_share(len(o & g) / len(g)) if g else None


def param_content_reward(output: Calls, gold: Calls) -> float | None:
    """R_ParamContent = 4 * |O_pc & G_pc| / |G_pc| - 2 over multisets of values; None where gold has none."""
    o, g = (
        Counter(canonicalize_value(v) for c in calls for v in c.arguments.values())
        for calls in (output, gold)
    )
    return scale_share((o & g).total() / g.total()) if g else None


def order_reward(output: Calls, gold: Calls) -> float | None:
    """R_Order = 4 * sum_{i <= min(m, n)} [g_i = o_i] / max(m, n) - 2; None where gold has no call.

    The elements are tool names; in the simplified format they are steps, a step being the names in
    it in any order.
    """
    o, g = extract_sequence(output), extract_sequence(gold)
    return (
        scale_share(sum(a == b for a, b in zip(o, g, strict=False)) / max(len(o), len(g)))
        if g
        else None
    )


def extract_sequence(calls: Calls) -> list[tuple[str, ...]]:
    """Return the sequence whose order is compared: each call's name, or the sorted names of each
    step.
    """
    if not any(c.step for c in calls):
        return [(c.name,) for c in calls]
    return [
        tuple(sorted(c.name for c in calls if c.step == at))
        for at in sorted({c.step for c in calls})
    ]


PAPER: Mapping[str, Component] = {
    "tool_name": tool_name_reward,
    "param_name": param_name_reward,
    "param_content": param_content_reward,
    "order": order_reward,
}


# ---------------------------------------------------------------- our variant


def _score_overlap(common: int, output: int, gold: int) -> float:
    """Common elements by elements of either side; nothing asked and nothing given is full marks."""
    return scale_share(common / (output + gold - common)) if output + gold else 2.0


def call_name_reward(output: Calls, gold: Calls) -> float:
    """4 * |O & G| / |O | G| - 2 over multisets of tool names: a call made twice, or not asked for, costs."""
    common = (Counter(c.name for c in output) & Counter(c.name for c in gold)).total()
    return _score_overlap(common, len(output), len(gold))


def call_param_name_reward(output: Calls, gold: Calls) -> float:
    """4 * |O & G| / |O | G| - 2 over (call, parameter name), calls paired with gold's: invented names cost."""
    common = sum(
        len(set(output[i].arguments) & set(gold[j].arguments)) for i, j in match_calls(output, gold)
    )
    return _score_overlap(common, _count_arguments(output), _count_arguments(gold))


def call_param_content_reward(output: Calls, gold: Calls) -> float:
    """4 * |O & G| / |O | G| - 2 over (call, parameter name, value), calls paired with gold's."""
    common = 0
    for i, j in match_calls(output, gold):
        given, wanted = output[i].arguments, gold[j].arguments
        common += sum(
            canonicalize_value(given[k]) == canonicalize_value(v)
            for k, v in wanted.items()
            if k in given
        )
    return _score_overlap(common, _count_arguments(output), _count_arguments(gold))


def call_order_reward(output: Calls, gold: Calls) -> float | None:
    """4 * (dependencies that hold) / (dependencies of gold) - 2: independent calls may stand in any
    order.

    A dependency is a later gold call that uses an earlier one's label, or, where no labels are, an
    earlier step. It holds where both calls are there, the producer first (or in an earlier step).
    None where gold has none.
    """
    needs = [
        (a, b)
        for a, g in enumerate(gold)
        for b, h in enumerate(gold)
        if a != b and _is_dependent(h, g)
    ]
    if not needs:
        return None
    at = {j: output[i].step or i + 1 for i, j in match_calls(output, gold)}
    held = sum(a in at and b in at and at[a] < at[b] for a, b in needs)
    return scale_share(held / len(needs))


def _is_dependent(later: Invocation, earlier: Invocation) -> bool:
    if earlier.labels:
        words = canonicalize_value(later.arguments)
        return any(
            re.search(rf"(?<!\w){re.escape(label)}(?!\w)", words) for label in earlier.labels
        )
    return 0 < earlier.step < later.step


def _count_arguments(calls: Calls) -> int:
    return sum(len(c.arguments) for c in calls)


CALLS: Mapping[str, Component] = {
    "tool_name": call_name_reward,
    "param_name": call_param_name_reward,
    "param_content": call_param_content_reward,
    "order": call_order_reward,
}

VARIANTS: Mapping[str, Mapping[str, Component]] = {"paper": PAPER, "calls": CALLS}


# ---------------------------------------------------------------- the whole


@dataclass(frozen=True, slots=True)
class Reward:
    """``components`` as earned, ``total`` after the override, the ``least`` and ``most`` this
    sample could have got.

    ``value`` is the total normalised to [0, 1]. ``regressed``: worse than what was to be refined.
    """

    components: Mapping[str, float]
    total: float
    least: float
    most: float
    regressed: bool = False

    @property
    def value(self) -> float:
        """(R_total - min) / (max - min)."""
        return (self.total - self.least) / (self.most - self.least)


def grade_reading(reading: Reading, gold: Calls, kind: str, variant: Variant = "paper") -> Reward:
    """The sum of the components active for this kind of data, and its range for this gold
    answer.
    """
    output = reading.calls or ()
    found = {"format": format_reward(reading)}
    for name in COMPONENTS[kind]:
        earned = VARIANTS[variant][name](output, gold)
        if earned is not None:
            found[name] = earned
    parts = len(found) - 1
    return Reward(found, sum(found.values()), -2.0 * parts, 1.0 + 2.0 * parts)


def reward(
    text: str, upstream: str, gold: Calls, kind: str, written_as: Format, variant: Variant = "paper"
) -> Reward:
    """The reward of a refined reply. If it totals less than ``upstream`` did, it is the least there
    is (value 0).
    """
    after = grade_reading(written_as.read(text), gold, kind, variant)
    before = grade_reading(written_as.read(upstream), gold, kind, variant)
    if after.total < before.total:
        return Reward(after.components, after.least, after.least, after.most, True)
    return after


def overlong_penalty(length: int, free: int = 1024, most: int = 4096) -> float:
    """DAPO's soft overlong punishment: 0 up to ``free`` tokens, falling linearly to -1 at ``most``
    (Appendix D.1).
    """
    return -min(1.0, max(0.0, (length - free) / (most - free)))
