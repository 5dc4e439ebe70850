"""Stored inputs that ``structure.py --trace`` follows through the rooms: two replies behind the
proxy, one run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from callwright import Orchestrator, tool
from callwright.testing import ScriptedModel

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))

from tests.proxy.playbook import Playbook, body, native_stream, text_stream  # noqa: E402

RIGHT = native_stream(("c1", "get_weather", '{"city":"Paris"}'))
WRONG = text_stream(
    'Sure! ```json\n{"name": "getWeather", "arguments": {"place": "Paris", "days": "3"}}\n```'
)


def reply_right() -> None:
    """A right native call, streamed."""
    Playbook().ask(body()).answer(RIGHT)


def reply_wrong() -> None:
    """A call in a fence, its name, a key and a type wrong."""
    Playbook().ask(body()).answer(WRONG)


@tool
def office(person: str) -> dict[str, str]:
    """The city of a person's office."""
    return {"city": "Oslo"}


@tool
def population(city: str, year: int = 2024) -> dict[str, int]:
    """How many people live in a city."""
    return {"people": 709_037}


def query() -> None:
    """A run of two layers; the second call has a wrong type."""
    wrong = {"city": "Oslo", "year": "2024"}
    model = ScriptedModel(
        {
            "bind": [
                {
                    "useful": ["office"],
                    "calls": [{"tool": "office", "arguments": {"person": "Ann"}}],
                },
                {"useful": ["population"], "calls": [{"tool": "population", "arguments": wrong}]},
            ],
            "answer": {
                "statements": [{"text": "709,037 people live there.", "results": ["r2"]}],
                "missing": [],
            },
        }
    )
    Orchestrator([office, population], model=model).run_sync(
        "How many people live where Ann's office is?"
    )


WORKS: Mapping[str, Callable[[], None]] = {
    "right reply": reply_right,
    "wrong reply": reply_wrong,
    "query": query,
}
