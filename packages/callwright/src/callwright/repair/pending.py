"""Results that say of themselves that they are not final: the same call may be made again later."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from callwright.nouns.types import Json


def is_pending(content: Json) -> bool:
    """Return True if a result is a job that still goes on, by the states that protocols and APIs of
    long-running jobs define (``data/job_states.toml``). A text says nothing here: it is not read.
    """
    if not isinstance(content, dict):
        return False
    states, done = _load_states()
    for key in states:
        value = content.get(key)
        if isinstance(value, str) and value.strip().lower().replace("-", "_") in states[key]:
            return True
    return any(content.get(key) is False for key in done)


@cache
def _load_states() -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    data = tomllib.loads(
        (files("callwright.repair") / "data" / "job_states.toml").read_text("utf-8")
    )
    states = frozenset(one for group in data["states"] for one in group["values"])
    return dict.fromkeys(data["keys"], states), frozenset(data["done_flags"])
