"""Replies of the base model, or of the upstream, as samples: the mistakes that a refiner meets.

Rules and prompts spoil answers on purpose (:mod:`callwright_lab.training.refiner.data`). Here each
task is put to a model as its users would, greedily: to the base in memory, or to an endpoint. A
right reply becomes a sample that is to be left alone, a wrong one a sample that is to be corrected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from callwright.models.chat import tool_out
from callwright.nouns.errors import ModelError
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.types import Message, Reply
from callwright_lab.parallel import run_workers
from callwright_lab.training.generation import Chat, ToolChat, generate_replies, prompt_length
from callwright_lab.training.progress import print_progress
from callwright_lab.training.refiner.formats import FORMATS, Invocation
from callwright_lab.training.refiner.settings import Settings
from callwright_lab.training.refiner.spoil import is_flawless
from callwright_lab.training.refiner.task import Kind, Sample, Task

OWN = "own"
"""The error of a sample whose upstream output is the model's own wrong reply."""
LONGEST_PROMPT = 2_048
"""Tokens. A refiner is shown its tools more briefly, so ``settings.context`` says nothing here."""
NATIVE = "xlam"
"""The format that the pipeline writes calls in which a server handed over."""


def build_own_samples(
    model: Any, tokenizer: Any, tasks: Sequence[Task], settings: Settings, by: str
) -> list[Sample]:
    """A sample of every task whose question has at most :data:`LONGEST_PROMPT` tokens.

    Where the format is the pipeline's own, the tools stand where the model's chat template puts
    them. A reply ends after ``settings.longest`` tokens. Empty replies give no sample. The samples
    stand in the order of their tasks.
    """
    asked = [(task, _build_task_chat(task, settings.longest)) for task in tasks]
    asked = [(t, c) for t, c in asked if prompt_length(tokenizer, c) <= LONGEST_PROMPT]
    chats = [chat for _, chat in asked]
    replies = generate_replies(
        model, tokenizer, chats, settings.longest, size=settings.replies_at_once,
        on_batch=lambda done: print_progress(f"own: {done} of {len(chats)} replies"),
    )  # fmt: skip
    made = (
        build_own_sample(task, text, by) for (task, _), (text,) in zip(asked, replies, strict=True)
    )
    return [sample for sample in made if sample is not None]


async def ask_own_samples(
    model: ChatModel, tasks: Sequence[Task], longest: int, keep: Callable[[Sample], object],
    jobs: int = 1,
) -> int:  # fmt: skip
    """Hand ``keep`` the sample of every task, as an endpoint replies, ``jobs`` tasks at a time.

    Where the format is the pipeline's own, the request has the tools, as an agent's has, and calls
    that the server handed over are written as the pipeline shows them to a refiner. Returns how many
    gave no sample: an empty reply, or a question that the endpoint refused. Raises ModelError where
    it answered none.
    """
    useless, failures = 0, list[ModelError]()

    async def ask_task(task: Task) -> None:
        nonlocal useless
        text = ""
        try:
            text = _write_reply(task, await model.complete(_build_request(task, longest)))
        except ModelError as error:
            failures.append(error)
        sample = build_own_sample(task, text, model.name)
        if sample is None:
            useless += 1
        else:
            keep(sample)

    await run_workers(ask_task, tasks, jobs=jobs)
    if failures and len(failures) == len(tasks):
        raise failures[-1]
    return useless


def _build_request(task: Task, longest: int) -> ChatRequest:
    asked = Message("user", task.query)
    if task.format == NATIVE:
        return ChatRequest((asked,), "own", task.tools, max_tokens=longest)
    return ChatRequest((Message("system", task.system), asked), "own", max_tokens=longest)


def _write_reply(task: Task, reply: Reply) -> str:
    """A reply as the refiner sees it: the calls where the server found some, else the text."""
    calls = [c for c in reply.tool_calls if isinstance(c.arguments, dict)]
    if task.format != NATIVE or not calls or len(calls) < len(reply.tool_calls):
        return reply.text
    return FORMATS[NATIVE].write([Invocation(c.tool, c.arguments) for c in calls])  # type: ignore[arg-type]


def build_own_sample(task: Task, text: str, by: str) -> Sample | None:
    """The sample of a task and a model's reply to it; None for an empty reply."""
    if not text.strip():
        return None
    kind: Kind = "shuffled_full" if task.format == "nestools" else "erroneous"
    sample = Sample(task, kind, OWN, text.strip(), by)
    if not is_flawless(sample):
        return sample
    return replace(sample, error="none", kind="correct" if kind == "erroneous" else kind)


def select_own_tasks(samples: Iterable[Sample], count: int) -> list[Task]:
    """The first ``count`` different tasks of samples that are not in the simplified format."""
    found: dict[str, Task] = {}
    for sample in samples:
        if sample.kind != "shuffled_simplified":
            found.setdefault(sample.task.id, sample.task)
    return list(found.values())[:count]


def _build_task_chat(task: Task, longest: int) -> Chat | ToolChat:
    """The same question for a model in memory."""
    request = _build_request(task, longest)
    chat: Chat = [{"role": one.role, "content": one.content} for one in request.messages]
    return ToolChat(chat, [tool_out(tool) for tool in request.tools]) if request.tools else chat
