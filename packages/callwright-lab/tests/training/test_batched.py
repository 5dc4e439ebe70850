"""A trained model in memory as a chat model, on a tiny random one."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from callwright.models import LocalModel, ModelOptions
from callwright.nouns.errors import ConfigError, ModelError
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message, Reply, Tool
from callwright_lab.training import checkpoints, decoding
from callwright_lab.training.batched import BatchedModel, open_measured_model
from tests.training.refiner_case import save_tiny_model


def ask(text: str, **more: object) -> ChatRequest:
    return ChatRequest((Message("user", text),), max_tokens=6, **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(autouse=True)
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """In bfloat16, what else is asked may decide between two tokens that are almost alike."""
    monkeypatch.setattr(checkpoints, "supports_bfloat16", lambda: False)


async def ask_all(model: BatchedModel, requests: list[ChatRequest]) -> list[Reply]:
    return list(await asyncio.gather(*map(model.complete, requests)))


async def test_questions_that_wait_are_one_batch_and_each_has_the_reply_it_has_alone(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = []
    write = decoding.continue_prompts

    def counting(model: object, prompts: list[list[int]], *rest: int, **more: object):  # type: ignore[no-untyped-def]
        batches.append(len(prompts))
        return write(model, prompts, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(decoding, "continue_prompts", counting)
    requests = [ask(text) for text in ("one", "two", "a third one", "four", "one")]
    together = await ask_all(BatchedModel(folder, at_once=3), requests)
    assert sum(batches) == 4, "a question that is asked twice is answered once"
    assert max(batches) <= 3
    other = BatchedModel(folder)
    assert [reply.text for reply in together] == [
        (await other.complete(one)).text for one in requests
    ]
    assert together[0].usage.prompt_tokens > 0


async def test_a_reply_of_the_greatest_length_is_marked_as_cut(folder: str) -> None:
    seen: list[str] = []
    reply = await BatchedModel(folder).complete(ask("one"), lambda text: bool(seen.append(text)))
    assert seen == [reply.text]
    assert (reply.finish_reason == "length") == (reply.usage.completion_tokens >= 6)


async def test_likelihoods_are_those_of_the_text_and_only_where_they_are_asked_for(
    folder: str,
) -> None:
    model = BatchedModel(folder)
    bare, told = await ask_all(model, [ask("one"), ask("one", logprobs=True)])
    assert bare.text == told.text
    assert bare.logprobs == ()
    assert len(told.logprobs) == told.usage.completion_tokens > 0
    assert max(told.logprobs) <= 0


async def test_the_template_shows_the_tools_of_a_question(folder: str) -> None:
    model = BatchedModel(folder)
    model._tokenizer.chat_template = (
        "{% if tools %}{{ tools | tojson }}{% endif %}" + model._tokenizer.chat_template
    )
    bare, told = await ask_all(model, [ask("one"), ask("one", tools=(Tool("rain", "", {}),))])
    assert told.usage.prompt_tokens > bare.usage.prompt_tokens + 20
    assert told.tool_calls == ()


async def test_a_failed_batch_is_an_error_of_its_questions_and_the_next_is_answered(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = BatchedModel(folder)
    with monkeypatch.context() as broken:
        broken.setattr(decoding, "continue_prompts", lambda *_, **__: 1 // 0)
        found = await asyncio.gather(
            *map(model.complete, [ask("one"), ask("two")]), return_exceptions=True
        )
    assert [type(one) for one in found] == [ModelError, ModelError]
    assert len(await ask_all(model, [ask("one"), ask("two")])) == 2
    await model.aclose()


@pytest.mark.parametrize("more", [{"schema": {}}, {"top_logprobs": 2}, {"temperature": 0.5}])
async def test_what_is_more_than_text_is_refused(folder: str, more: dict[str, object]) -> None:
    if more == {"schema": {}}:
        more = {"schema": {"type": "object"}}
    with pytest.raises(ModelError, match="and nothing else"):
        await BatchedModel(folder).complete(ask("one", **more))


def test_a_folder_is_opened_in_memory_and_all_else_as_ever(folder: str, tmp_path: Path) -> None:
    assert isinstance(open_measured_model(f"trained:{folder}", ModelOptions()), BatchedModel)
    assert isinstance(open_measured_model("local", ModelOptions(at_once=2)), LocalModel)
    with pytest.raises(ConfigError):
        open_measured_model(f"trained:{tmp_path}/none", ModelOptions())
