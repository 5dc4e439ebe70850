"""A reply goes through the proxy's own session; what that asks beyond it is looked up, or asked and
recorded.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message, Tool
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.refine.proxy import ProxyReader, drive_session, generate_through
from callwright_lab.benchmarks.refine.replies import read_replies
from callwright_lab.benchmarks.refine.task import Examination, Found, Recorded, Score, Task

TOOL = Tool(
    "get_weather",
    "Weather.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
ONE = '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```'
TWO = json.dumps(
    {
        "wishes": ["a"],
        "calls": [{"name": "get_weather", "arguments": {"city": c}} for c in ("Oslo", "Rome")],
    }
)


class Cities:
    name, headline, single = "cities", "m", False

    def tasks(self) -> Sequence[Task]:
        asked = {"one": "Weather in Oslo?", "two": "Weather in Oslo and Rome?"}
        return [Task(i, "cities", "c", (Message("user", q),), (TOOL,)) for i, q in asked.items()]

    def score(self, task: Task, found: Found) -> Score:
        return Score({"m": 1.0})

    def ask(self, task: Task) -> ChatRequest:
        return ChatRequest(task.messages, tools=task.tools)


CITIES: Examination = Cities()


def test_only_the_request_with_two_wishes_is_asked_a_second_time() -> None:
    one, two = CITIES.tasks()
    for task, more in ((one, []), (two, ["guided"])):
        asking = drive_session(CITIES, task)
        kinds = [next(asking)[0]]
        try:
            while True:
                kinds.append(
                    asking.send({"role": "assistant", "content": ONE if len(kinds) == 1 else TWO})[
                        0
                    ]
                )
        except StopIteration as end:
            found: Found = end.value
        assert kinds == ["free", *more]
        assert [c.arguments for c in found.calls] == [
            {"city": c} for c in ("Oslo", "Rome")[: 1 + len(more)]
        ]


def test_exchanges_are_recorded_asked_once_and_read_again(tmp_path: Path) -> None:
    out = tmp_path / "replies.jsonl"
    model = ScriptedModel([ONE, ONE, TWO])
    for _ in range(2):
        assert asyncio.run(generate_through(CITIES, CITIES.tasks(), model, out)) == 0
    assert len(model.requests) == 3
    assert model.requests[2].schema is not None
    pairs = read_replies(out, {"cities": CITIES})
    assert [r.mode for _, r in pairs] == ["free", "free", "guided"]
    read = ProxyReader(pairs, {"cities": CITIES})
    assert [len(read(r, t).calls) for t, r in pairs if r.mode == "free"] == [1, 2]


def test_what_was_not_recorded_is_said() -> None:
    task = CITIES.tasks()[1]
    reply = Recorded("two", "m", {"role": "assistant", "content": ONE})
    found = ProxyReader([(task, reply)], {"cities": CITIES})(reply, task)
    assert len(found.calls) == 1
    assert any("no recorded reply" in said for said in found.abstained)
