"""A run's identity names the prompts that the run can use, and no other."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import callwright
from callwright import prompts
from callwright.agent.journal.usable_prompts import digests_of_prompts, usable_prompts
from callwright.agent.strategies import STRATEGIES

ROOMS = ("agent", "grounding", "repair", "planning")
ELSEWHERE = {
    "refine",  # the proxy's and `callwright refine`
    "refiner_short",
    "planner",  # of a planner that is a model of its own; its plan is on record
}


@pytest.mark.parametrize("strategy", [*STRATEGIES, "layered+reflect", "react+reflect-after"])
def test_the_prompts_of_every_strategy_are_known(strategy: str) -> None:
    found = usable_prompts(strategy)
    assert {*found} < {*prompts.names()}
    assert {"finish", "repair"} <= {*found}
    assert ("reflect" in found) == ("+" in strategy)
    assert "trial_rank" not in found
    assert {"trial_plan", "trial_rank"} <= {*usable_prompts(strategy, is_probing=True)}


def test_a_strategy_that_is_not_known_may_use_every_prompt() -> None:
    assert usable_prompts("somebody's own") == prompts.names()


def test_every_prompt_that_stands_in_the_rooms_of_a_run_is_of_some_run() -> None:
    known = {*prompts.names()}
    root = Path(callwright.__file__).parent
    named: set[str] = set()
    for room in ROOMS:
        for path in (root / room).rglob("*.py"):
            if path.name != "usable_prompts.py" and "prompt" in path.read_text():
                named |= {
                    str(node.args[0].value)
                    for node in ast.walk(ast.parse(path.read_text()))
                    if isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and node.func.attr in ("render", "ask")
                    and node.args
                    and isinstance(node.args[0], ast.Constant)
                }
    every = {
        name for strategy in (*STRATEGIES, "layered+reflect")
        for name in usable_prompts(strategy, is_probing=True, has_output=True)
    }  # fmt: skip
    assert named <= known
    assert named - every == ELSEWHERE


def test_a_prompt_that_is_gone_has_no_digest() -> None:
    found = digests_of_prompts(("run", "no_such_prompt"))
    assert len(found["run"]) == 16
    assert found["no_such_prompt"] == ""
