from __future__ import annotations

import asyncio
import json
import os
import threading
from pathlib import Path

import pytest

from callwright.models import LocalModel
from callwright.nouns.errors import ModelError, WeightsError
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.types import Message

from .conftest import ask

pytestmark = pytest.mark.model

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "tone": {"enum": ["warm", "cold"]}},
    "required": ["name", "tone"],
}


async def test_a_question_is_answered_and_its_tokens_are_counted(smollm: ChatModel) -> None:
    reply = await smollm.complete(ask("Say hello to Bob.", max_tokens=8))
    assert reply.text
    assert reply.usage.prompt_tokens > 20
    assert 1 <= reply.usage.completion_tokens <= 8
    assert not reply.estimated
    assert reply.finish_reason in ("stop", "length")


async def test_the_same_question_gets_the_same_answer(smollm: ChatModel) -> None:
    first, second = [await smollm.complete(ask("Name a colour.", max_tokens=12)) for _ in range(2)]
    assert first.text == second.text


async def test_a_prompt_that_begins_alike_is_computed_only_from_where_it_parts(
    smollm: ChatModel,
) -> None:
    constant = "These are the rules. " * 30
    await smollm.complete(ask(constant + "First?", max_tokens=1))
    reply = await smollm.complete(ask(constant + "Second?", max_tokens=1))
    assert reply.usage.cached_tokens > 0.8 * reply.usage.prompt_tokens


async def test_a_schema_makes_even_a_tiny_model_answer_compact_json_that_fits(
    smollm: ChatModel,
) -> None:
    reply = await smollm.complete(ask("Write a poem about Bob.", schema=PERSON, max_tokens=60))
    value = json.loads(reply.text)
    assert set(value) == {"name", "tone"}
    assert value["tone"] in ("warm", "cold")
    assert "\n" not in reply.text


async def test_a_schema_that_decoders_do_not_follow_whole_still_constrains(
    smollm: ChatModel,
) -> None:
    hostile = {
        **PERSON,
        "not": {"required": ["x"]},
        "if": {"type": "string"},
        "properties": PERSON["properties"],
    }
    hostile["properties"] = {
        **hostile["properties"],
        "code": {"type": "string", "pattern": "^a(?=b)", "maxLength": 3},
    }
    value = json.loads((await smollm.complete(ask("Hi", schema=hostile, max_tokens=60))).text)
    assert {"name", "tone"} <= set(value) <= {"name", "tone", "code"}


async def test_the_watcher_sees_pieces_and_ends_the_reply(smollm: ChatModel) -> None:
    seen: list[str] = []

    def watch(piece: str) -> bool:
        seen.append(piece)
        return len(seen) == 4

    reply = await smollm.complete(ask("Tell a very long story.", max_tokens=1500), watch)
    assert reply.finish_reason == "cut"
    assert reply.text == "".join(seen)
    assert len(seen) == 4
    assert 4 <= reply.usage.completion_tokens <= 6
    assert reply.usage.prompt_tokens > 20


async def test_a_failing_watcher_fails_the_question_and_the_model_goes_on(
    smollm: ChatModel,
) -> None:
    def watch(piece: str) -> bool:
        raise LookupError(piece)

    with pytest.raises(LookupError):
        await smollm.complete(ask("Hello"), watch)
    assert (await smollm.complete(ask("Hello", max_tokens=2))).text


async def test_a_stop_sequence_ends_the_reply(smollm: ChatModel) -> None:
    whole = await smollm.complete(ask("Count: one two three four five", max_tokens=16))
    stop = whole.text.strip().split()[1]
    reply = await smollm.complete(
        ask("Count: one two three four five", max_tokens=16, stop=(stop,))
    )
    assert stop not in reply.text
    assert reply.finish_reason == "stop"


async def test_cancelling_stops_the_decoder_and_frees_the_model(smollm: ChatModel) -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def watch(_: str) -> bool:
        loop.call_soon_threadsafe(begun.set)
        return False

    async with asyncio.timeout(20):
        async with asyncio.TaskGroup() as group:
            task = group.create_task(
                smollm.complete(ask("Tell a very long story.", max_tokens=1800), watch)
            )
            await begun.wait()
            task.cancel()
        after = await smollm.complete(ask("Hi", max_tokens=1))
    assert task.cancelled()
    assert after.seconds < 3


async def test_the_event_loop_lives_while_the_model_thinks(smollm: ChatModel) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    async with asyncio.TaskGroup() as group:
        ticking = group.create_task(tick())
        await smollm.complete(ask("Tell a story.", max_tokens=30))
        ticking.cancel()
    assert ticks >= 3


async def test_a_prompt_longer_than_the_context_is_an_error_with_a_hint(smollm: ChatModel) -> None:
    with pytest.raises(ModelError, match="longer than the model's context") as caught:
        await smollm.complete(ask("word " * 3000))
    assert "fewer tools" in caught.value.hint


async def test_questions_asked_together_are_answered_one_after_the_other(smollm: ChatModel) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(smollm.complete(ask(f"Say {n}", max_tokens=3))) for n in range(3)
        ]
    assert all(t.result().usage.completion_tokens for t in tasks)


async def test_several_questions_are_answered_at_a_time_where_that_is_asked_for(
    smollm_path: Path, tmp_path: Path
) -> None:
    """Each waits with its first piece for that of the others: one after the other, none would end."""
    path = tmp_path / "own.gguf"  # of its own: a loaded file is shared as it is
    os.link(smollm_path, path)
    model, meeting = LocalModel(path, context=512, threads=2, at_once=3), threading.Barrier(3)

    def meet(piece: str) -> bool:
        if not met.get(threading.get_ident()):
            met[threading.get_ident()] = meeting.wait(60) >= 0
        return False

    met: dict[int, bool] = {}
    questions = [ask(f"Write about the number {n}.", max_tokens=20) for n in range(3)]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(model.complete(one, meet)) for one in questions]
        alone = [await model.complete(one) for one in questions]
    finally:
        await model.aclose()
    assert len(met) == 3
    for task, other in zip(tasks, alone, strict=True):
        assert task.result().usage.completion_tokens == 20
        assert task.result().text[:8] == other.text[:8], "each question has its own reply"


async def test_a_conversation_with_tool_results_can_be_continued(smollm: ChatModel) -> None:
    messages = (
        Message("system", "Be brief."),
        Message("user", "2+3?"),
        Message("assistant", "5"),
        Message("user", "?"),
    )
    assert (await smollm.complete(ChatRequest(messages, max_tokens=2))).usage.prompt_tokens > 10


async def test_a_file_that_is_no_model_is_an_error_that_names_it(tmp_path: Path) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ModelError, match=r"cannot load .*bad\.gguf"):
        await LocalModel(bad).load()
    with pytest.raises(WeightsError, match="no weight file"):
        await LocalModel(tmp_path / "missing.gguf").load()
