"""Rounds that only repeat an earlier call, taken out of a trajectory.

Tool-MVR drops a trajectory for one redundant step (3.2.3). Small models call again what they have
already seen, and little would be left; what such a round returned stood in the trajectory before,
so that nothing is lost without it. Failed calls stay: what the agent learned from them is in its
later rounds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from callwright.nouns.trajectory import Step, Trajectory
from callwright_lab.verify.steps import step_faults


def prune_repeats(trajectory: Trajectory) -> tuple[Trajectory, tuple[int, ...]]:
    """The trajectory without the rounds that only repeat, and their numbers from 0. A round stays
    that calls something else besides, that a later program needs for a variable, or whose program
    cannot be read.
    """
    repeats = {(fault.step, fault.call) for fault in step_faults(trajectory, ["repeated_call"])}
    gone: list[int] = []
    for at in range(len(trajectory.steps) - 1, -1, -1):
        step = trajectory.steps[at]
        later = (
            other for n, other in enumerate(trajectory.steps[at + 1 :], at + 1) if n not in gone
        )
        if (
            step.calls
            and all((at, call.id) in repeats for call in step.calls)
            and not _has_needed_binding(step, later)
        ):
            gone.append(at)
    kept = tuple(step for at, step in enumerate(trajectory.steps) if at not in gone)
    return replace(trajectory, steps=kept), tuple(sorted(gone))


def _has_needed_binding(step: Step, later: Iterable[Step]) -> bool:
    """Return True if a later program uses a name that this step's program binds."""
    if not step.code:
        return False
    try:
        bound = _collect_names(step.code, ast.Store)
        return any(bound & _collect_names(other.code, ast.Load) for other in later if other.code)
    except (SyntaxError, ValueError, RecursionError):
        return True


def _collect_names(code: str, context: type[ast.expr_context]) -> set[str]:
    return {
        n.id
        for n in ast.walk(ast.parse(code))
        if isinstance(n, ast.Name) and isinstance(n.ctx, context)
    }
