"""Replies are read with their tasks in three layouts, and asked for again where they are missing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError, ModelError
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message, Reply, Tool, ToolCall, Usage
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.refine.api_bank import ApiBank
from callwright_lab.benchmarks.refine.replies import (
    build_message,
    build_question,
    generate_replies,
    read_replies,
)
from callwright_lab.benchmarks.refine.task import Examination, Found, Score, Task
from callwright_lab.datasets.sources import data_root
from tests.test_parallel import Together

TOOL = Tool(
    "f", "F.", {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
)


class Tiny:
    name, headline, single = "tiny", "m", True

    def tasks(self) -> Sequence[Task]:
        return [Task(i, "tiny", "c", (Message("user", f"call {i}"),), (TOOL,)) for i in ("a", "b")]

    def score(self, task: Task, found: Found) -> Score:
        return Score({"m": float(bool(found.calls))}, "" if found.calls else "no_call")

    def ask(self, task: Task) -> ChatRequest:
        return ChatRequest((Message("system", "Tools: f"), *task.messages))


TINY: Examination = Tiny()


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return path


def test_what_is_generated_can_be_read_and_is_not_asked_twice(tmp_path: Path) -> None:
    out = tmp_path / "replies.jsonl"
    model = ScriptedModel(
        [Reply('{"name": "f"}', usage=Usage(7, 3), seconds=0.5, reasoning="hm"), "second"]
    )
    assert asyncio.run(generate_replies(TINY, TINY.tasks()[:1], model, out)) == 0
    assert asyncio.run(generate_replies(TINY, TINY.tasks(), model, out)) == 0
    assert len(model.requests) == 2
    (task, first), (_, second) = read_replies(out, {"tiny": TINY})
    assert (task.id, first.text, first.usage.total, first.seconds) == (
        "a",
        '{"name": "f"}',
        10,
        0.5,
    )
    assert first.message["reasoning_content"] == "hm"
    assert (second.task, second.text, second.upstream, second.mode) == (
        "b",
        "second",
        "scripted",
        "free",
    )


def test_a_question_that_fails_is_left_for_the_next_time(tmp_path: Path) -> None:
    out, said = tmp_path / "replies.jsonl", []
    model = ScriptedModel([ModelError("busy"), "fine", "later"])
    assert asyncio.run(generate_replies(TINY, TINY.tasks(), model, out, say=said.append)) == 0
    assert "busy" in said[0]
    asyncio.run(generate_replies(TINY, TINY.tasks(), model, out))
    assert [t.id for t, _ in read_replies(out, {"tiny": TINY})] == ["b", "a"]


def test_guided_asks_with_a_schema_and_tells_the_tools_itself(tmp_path: Path) -> None:
    request = build_question(TINY, TINY.tasks()[0], "guided")
    assert request.schema is not None
    assert '"maxItems": 1' in json.dumps(request.schema)
    assert "Tools: f" not in json.dumps([m.content for m in request.messages])
    assert request.messages[-1].content == "call a"
    assert build_question(TINY, TINY.tasks()[0], "free").schema is None


def test_thoughts_are_asked_for_in_every_set_by_the_same_sentence() -> None:
    task = TINY.tasks()[0]
    free, cot = (build_question(TINY, task, mode) for mode in ("free", "cot"))
    assert cot.messages[0].content.startswith(free.messages[0].content + "\nThink first")
    assert cot.messages[1:] == free.messages[1:]
    assert cot.max_tokens == free.max_tokens + 512

    class Bare(Tiny):
        def ask(self, task: Task) -> ChatRequest:
            return ChatRequest(task.messages)

    first, *rest = build_question(Bare(), task, "cot").messages
    assert (first.role, rest) == ("system", [*task.messages])


def test_questions_are_asked_at_the_same_time(tmp_path: Path) -> None:
    out = tmp_path / "replies.jsonl"
    model = Together(2)
    assert asyncio.run(generate_replies(TINY, TINY.tasks(), model, out, jobs=2)) == 0
    found = read_replies(out, {"tiny": TINY})
    assert [(t.id, r.text) for t, r in found] == [("b", "TOOLS: F"), ("a", "TOOLS: F")]


def test_older_layouts_are_read(tmp_path: Path) -> None:
    path = lines(tmp_path / "old.jsonl", {"cat": "x", "id": "a", "output": {"content": "hi"}})

    class AsBfcl(Tiny):
        name = "bfcl"

    ((task, reply),) = read_replies(path, {"bfcl": AsBfcl()})
    assert (task.id, reply.text, reply.upstream) == ("a", "hi", "old")


def test_replies_to_other_sets_are_left_out_and_strangers_are_errors(tmp_path: Path) -> None:
    row = {"set": "tiny", "task": "nobody", "message": {}}
    assert read_replies(lines(tmp_path / "r.jsonl", row), {}) == []
    with pytest.raises(ConfigError, match="tiny has no task 'nobody'"):
        read_replies(tmp_path / "r.jsonl", {"tiny": TINY})
    with pytest.raises(ConfigError, match="line 1 is no recorded reply"):
        read_replies(lines(tmp_path / "s.jsonl", {"x": 1}), {"tiny": TINY})


def test_a_native_call_is_kept_as_the_server_sends_it() -> None:
    message = build_message(Reply("", (ToolCall("1", "f", {"x": "y"}),)))
    assert message["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"x": "y"}'}


def test_a_reply_to_api_bank_is_read_with_and_without_the_tools_effects(tmp_path: Path) -> None:
    if not (data_root() / "api_bank").is_dir():
        pytest.skip("needs shared data: API-Bank")
    exams: dict[str, Examination] = {e.name: e for e in (ApiBank(), ApiBank(declared=True))}
    task = exams["api_bank"].tasks()[0]
    path = lines(
        tmp_path / "r.jsonl", {"set": "api_bank", "task": task.id, "message": {"content": "hm"}}
    )
    assert [t.set for t, _ in read_replies(path, exams)] == ["api_bank", "api_bank_declared"]
