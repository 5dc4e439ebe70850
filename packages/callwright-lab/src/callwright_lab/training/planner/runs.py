"""The runs of a planner: SFT on plans, replies for curation, GRPO with the hierarchical reward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from callwright.nouns.plan import Plan
from callwright.planning.arrows import read_reply
from callwright_lab.datasets.examples import PlanExample
from callwright_lab.datasets.files import gold_plan
from callwright_lab.training import generation, tuning
from callwright_lab.training.generation import decode_reply
from callwright_lab.training.planner.data import build_chat, render_gold
from callwright_lab.training.planner.reward import CASES, Connected, grade_plan
from callwright_lab.training.planner.settings import Settings


class PlanRewards:
    """Eq. (3) as TRL calls it. Rows name their example by place.

    Beside the reward it logs what shows a policy that only avoids penalties (RQ1 of the paper): the
    shares of the four cases and of exact plans, how many edges plans have for each that gold has,
    and the share of graded plans that say as little as a plan can, one arrow or one tool, where
    gold says more.
    """

    __name__ = "plan"

    def __init__(
        self, examples: Sequence[PlanExample], tokenizer: Any, connected: Connected = "paper"
    ) -> None:
        self.examples = examples
        self.tokenizer = tokenizer
        self.connected: Connected = connected

    def __call__(
        self,
        completion_ids: list[list[int]],
        example: list[int],
        log_metric: Callable[[str, float], None] | None = None,
        **_: Any,
    ) -> list[float]:
        found, edges, least = [], [], []
        for ids, i in zip(completion_ids, example, strict=True):
            e = self.examples[i]
            plan = read_reply(decode_reply(self.tokenizer, ids), e.tools)
            found.append(grade_plan(plan, gold_plan(e), self.connected))
            if isinstance(plan, Plan):
                edges.append(len(plan.edges) / max(1, len(e.edges)))
                least.append(float(len(plan.edges) <= 1 < len(e.edges)))
        if log_metric is not None:
            for case in CASES:
                log_metric(f"plan/{case}", sum(r.case == case for r in found) / len(found))
            log_metric("plan/exact", sum(r.exact for r in found) / len(found))
            log_metric("plan/edges", sum(edges) / len(edges) if edges else 0.0)
            log_metric("plan/least", sum(least) / len(least) if least else 0.0)
        return [r.value for r in found]


def select_fitting(
    examples: Sequence[PlanExample], tokenizer: Any, settings: Settings
) -> list[PlanExample]:
    """Examples whose prompt and plan are within the lengths of the settings."""
    return [
        e
        for e in examples
        if generation.prompt_length(tokenizer, build_chat(e)) <= settings.context
        and len(tokenizer(render_gold(e))["input_ids"]) < settings.longest
    ]


def run_sft(
    model: Any, tokenizer: Any, examples: Sequence[PlanExample], settings: Settings, out: Path,
    seconds: float = 0, resume: bool = False, result: Path | None = None,
) -> list[float]:  # fmt: skip
    """Eq. (2): the mean negative log-likelihood of the plan given request and tools. The loss of
    every step.
    """
    rows = [(build_chat(e), render_gold(e)) for e in examples]
    return tuning.run_sft(
        model, tokenizer, rows, settings, out, steps=settings.sft_steps, epochs=settings.sft_epochs,
        seconds=seconds, resume=resume, result=result,
    )  # fmt: skip


def run_grpo(
    model: Any, tokenizer: Any, examples: Sequence[PlanExample], settings: Settings, out: Path,
    seconds: float = 0, resume: bool = False, result: Path | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """GRPO with Eq. (3); the curve, a row a step, also in ``out/curve.jsonl``."""
    rows = [{"prompt": build_chat(e), "example": i} for i, e in enumerate(examples)]
    rewards = [PlanRewards(examples, tokenizer, settings.connected)]
    return tuning.run_grpo(model, tokenizer, rows, rewards, settings, out, seconds, resume, result)
