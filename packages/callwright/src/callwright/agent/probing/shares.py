"""Shares of the questions that one request's probing may ask a model: what asks first leaves the
others theirs.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from callwright.agent.probing.policy import TrialPolicy

Part: TypeAlias = Literal["planner", "evaluator"]


class Shares:
    """The questions that each part may still ask. Not thread-safe: one event loop owns it.

    A part that is not asked for by the policy keeps nothing back from the others.
    """

    def __init__(self, policy: TrialPolicy) -> None:
        self._total = policy.model_calls
        self._kept: dict[Part, int] = {}
        if policy.evaluation == "model":
            self._kept["evaluator"] = math.ceil(policy.model_calls * policy.evaluator_share)
        self._spent = 0

    def left(self, part: Part) -> int:
        """The number of questions that a part may still ask."""
        kept = sum(count for other, count in self._kept.items() if other != part)
        return max(0, self._total - self._spent - kept)

    def take(self, part: Part, wanted: int = 1) -> int:
        """Take as many questions as are wanted, or as are left: 0 where there are none."""
        taken = min(wanted, self.left(part))
        self._spent += taken
        if part in self._kept:
            self._kept[part] = max(0, self._kept[part] - taken)
        return taken

    def describe_kept(self, part: Part) -> str:
        """Say how many questions are kept from a part for the others; "" for none."""
        kept = ", ".join(
            f"{count} are kept for the {other}"
            for other, count in self._kept.items()
            if count and other != part
        )
        return f", of which {kept}" if kept else ""
