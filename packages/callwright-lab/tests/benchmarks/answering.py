"""An OpenAI-compatible endpoint on loopback whose answers a function decides: a real peer for whole
commands.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.cli.endpoint import replying


@contextmanager
def answering(answer: Callable[[str], Any]) -> Iterator[str]:
    """``answer`` gets the whole request as text and returns the JSON value of the reply; yields the
    base URL.
    """
    with replying(lambda asked: json.dumps(answer(asked))) as url:
        yield url


def an_agent_and_a_judge(asked: str) -> Any:
    """Calls the first tool once, answers, imitates tools, and passes whatever it is asked to
    judge.
    """
    if "Answer_0" in asked:
        return {"content": "", "better_answer_index": 0, "index": 0}
    if "error_recognition" in asked:
        return {"content": "", "error_recognition": "Pass", "error_correction": "Fail"}
    if "answer_status" in asked:
        good = "Solved" if "Unsolved" in asked else "Pass"
        return {"content": "fine", "answer_status": good}
    if "API Server" in asked:
        return {"error": "", "response": {"sky": "rain"}}
    if "statements" in asked:
        return {"statements": [{"text": "It rains.", "results": ["r1"]}], "missing": []}
    if "(none yet)" in asked and "weather_for_sky" in asked:
        return {"thought": "", "action": {"tool": "weather_for_sky", "arguments": {"city": "Oslo"}}}
    return {"thought": "", "action": {"tool": "finish", "reason": "done"}}
