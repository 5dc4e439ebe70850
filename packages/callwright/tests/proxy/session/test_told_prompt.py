"""The system prompts of loops that tell their tools as text."""

from __future__ import annotations

import pytest

from callwright.proxy.session.told_prompt import read_told_prompt

EXAMPLES = """You are an expert assistant who can solve any task using tool calls. You will be given a task.

Here are a few examples using notional tools:
---
Observation: '26 million (2019)'

Above example were using notional tools that might not exist for you. You only have access to these tools:
- pay: Pays somebody.
    Takes inputs: {'to': {'type': 'string'}, 'amount': {'type': 'number'}}
    Returns an output of type: string
- final_answer: Provides a final answer to the given problem.
    Takes inputs: {'answer': {'type': 'any', 'description': 'The final answer to the problem'}}
    Returns an output of type: any
"""
RULES = """
Here are the rules you should always follow to solve your task:
1. ALWAYS provide a tool call, else you will fail.

Now Begin!"""
TOLD = "You help in a bank. Today is 2026-03-12."


@pytest.mark.parametrize("told", [TOLD, f"{TOLD}\n\nBe brief.", ""])
def test_what_the_author_wrote_is_left(told: str) -> None:
    assert read_told_prompt(f"{EXAMPLES}\n{told}\n{RULES}") == told


@pytest.mark.parametrize(
    "prompt",
    [
        TOLD,
        EXAMPLES,
        f"{TOLD}{RULES}",
        f"{TOLD}\n{EXAMPLES}{RULES}",
        f"{EXAMPLES}{RULES}".replace("Returns an output", "Gives an output"),
    ],
)
def test_a_prompt_of_another_shape_stays(prompt: str) -> None:
    assert read_told_prompt(prompt) == prompt
