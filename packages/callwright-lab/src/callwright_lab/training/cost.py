"""The hours of a training run, from its tokens, the size of its model and what computes it."""

from __future__ import annotations

from collections.abc import Mapping

RATES: Mapping[str, float] = {
    "A100": 312e12 * 0.35,
    "RTX 4090": 165e12 * 0.35,
    "two CPU cores with AMX": 0.6e12,
    "two CPU cores": 0.12e12,
}
"""Floating point operations a second: a card's peak in bfloat16 times the share that training
reaches; of two cores what LoRA on 1.5 billion weights was measured to reach, in float32 14 to 32
seconds for a row of 300 tokens, in bfloat16 with AMX 5.8 for one of 384."""
LEARN, REINFORCE, ASK = 6, 10, 2
"""Operations a weight and token: of learning, of learning with sampling and the reference, and of
reading or writing alone."""


def estimate_hours(parameters: float, tokens: float, operations: int, by: str) -> float:
    """Hours by one of RATES, at least: starting, saving and waiting come on top."""
    return operations * parameters * tokens / RATES[by] / 3600


def render_hours(work: Mapping[str, tuple[float, int]], parameters: float) -> str:
    """One sentence on all stages: ``work`` has each stage's tokens and operations."""
    told = []
    for by in RATES:
        parts = [
            f"{_round(estimate_hours(parameters, tokens, operations, by))} for {stage}"
            for stage, (tokens, operations) in work.items()
        ]
        told.append(f"{' and '.join(parts)} on {'an ' if by[0] in 'AR' else ''}{by}")
    return (
        f"At least so many hours: {'; '.join(told)}. Counted are {LEARN} operations a weight and"
        f" token learned, {REINFORCE} with sampling and the reference, {ASK} only read or written;"
        " starting, sampling by turns and saving come on top."
    )


def _round(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.2f}"
