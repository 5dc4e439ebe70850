"""Recorded replies: read, found their tasks, and asked for again from any model.

A file of replies has one JSON object a line: ``{"set", "task", "upstream", "mode", "message",
"usage", "seconds"}``. Two older layouts are read as well: BFCL rows (``id``, ``cat``, ``output``)
and API-Bank rows (``level``, ``output`` and the prompt's own ``system``, ``user``, ``answer``),
whose upstream is the file's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import orjson

from callwright.models.chat import messages_out
from callwright.nouns.errors import ConfigError, ModelError
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.types import JsonObject, Message, Reply, Usage, to_json
from callwright_lab.benchmarks.refine.api_bank import DECLARED, build_task, declare_effects
from callwright_lab.benchmarks.refine.guided import MODE as GUIDED
from callwright_lab.benchmarks.refine.guided import build_guided_request
from callwright_lab.benchmarks.refine.task import Examination, Recorded, Task
from callwright_lab.datasets.examples import read_lines
from callwright_lab.parallel import run_workers

WHERE = "a file that `callwright bench refine --generate` wrote"
COT = "cot"  # the mode with a request for reasoning first
_THINK = "Think first, inside <think> and </think>; then answer as asked."
_THOUGHT_TOKENS = 512  # beside those of the answer
Pair = tuple[Task, Recorded]


def read_replies(path: Path, examinations: Mapping[str, Examination]) -> list[Pair]:
    """Every reply of a file with its task. Replies to sets that are not examined are left out.

    Raises ConfigError for a row of no known layout, or one whose task its set does not have.
    """
    tasks: dict[str, dict[str, Task]] = {}
    found: list[Pair] = []
    for number, row in enumerate(read_lines(path, WHERE), 1):
        given, id = _find_task_key(row, path, number)
        for name in (given, given + DECLARED):
            if name not in examinations:
                continue
            if name not in tasks:
                tasks[name] = {t.id: t for t in examinations[name].tasks()}
            task = tasks[name].get(id) if "level" not in row else build_task(row["level"], row)
            if task is None:
                raise ConfigError(
                    f"{path}, line {number}: {name} has no task {id!r}",
                    hint="was it made with other data?",
                )
            task = declare_effects(task) if name.endswith(DECLARED) else task
            found.append((task, _build_recorded(row, task, path)))
    return found


def _find_task_key(row: JsonObject, path: Path, number: int) -> tuple[str, str]:
    if "set" in row and "task" in row:
        return row["set"], row["task"]
    if "cat" in row and "id" in row:
        return "bfcl", row["id"]
    if "level" in row:
        return "api_bank", ""
    raise ConfigError(
        f"{path}, line {number} is no recorded reply",
        hint="see callwright_lab.benchmarks.refine.replies",
    )


def _build_recorded(row: JsonObject, task: Task, path: Path) -> Recorded:
    return Recorded(
        task=task.id,
        upstream=row.get("upstream") or path.stem,
        message=row.get("message") or row.get("output") or {},
        mode=row.get("mode") or "free",
        usage=Usage(**row["usage"]) if row.get("usage") else Usage(),
        seconds=float(row.get("seconds") or 0.0),
    )


async def generate_replies(
    examination: Examination,
    tasks: Sequence[Task],
    model: ChatModel,
    out: Path,
    *,
    mode: str = "free",
    limit_seconds: float = 0.0,
    jobs: int = 1,
    say: Callable[[str], object] = str,
) -> int:
    """Ask ``model`` every task that ``out`` has no reply to in this mode, ``jobs`` at a time,
    appending each reply. Returns how many are still missing: nothing new is begun once
    ``limit_seconds`` have passed. A task that cannot be asked is skipped.
    """
    have = _list_answered_tasks(out, examination.name, model.name, mode)
    left = [t for t in tasks if t.id not in have]
    out.parent.mkdir(parents=True, exist_ok=True)
    done = 0

    async def ask_task(task: Task) -> None:
        nonlocal done
        try:
            reply = await model.complete(build_question(examination, task, mode))
        except ModelError as error:
            say(f"{task.id}: not asked: {error}")
            return
        with out.open("ab") as file:
            file.write(
                orjson.dumps(build_row(examination.name, task, model.name, mode, reply)) + b"\n"
            )
        done += 1
        say(
            f"{task.id}: {reply.seconds:.1f} s, {reply.usage.completion_tokens} tokens ({done} of"
            f" {len(left)})"
        )

    return await run_workers(ask_task, left, jobs=jobs, limit_seconds=limit_seconds)


def build_question(examination: Examination, task: Task, mode: str) -> ChatRequest:
    """A set's own prompt, the same with a request for reasoning first, or the proxy's guided form
    of it.
    """
    if mode == GUIDED:
        return build_guided_request(examination, task)
    request = examination.ask(task)
    return _ask_for_thoughts(request) if mode == COT else request


def _ask_for_thoughts(request: ChatRequest) -> ChatRequest:
    """The request with a sentence at the end of its system prompt, and room for the thoughts."""
    first, rest = Message("system", _THINK), request.messages
    if rest and rest[0].role == "system":
        first, rest = replace(rest[0], content=f"{rest[0].content}\n{_THINK}"), rest[1:]
    longest = request.max_tokens + _THOUGHT_TOKENS
    return replace(request, messages=(first, *rest), max_tokens=longest)


def build_row(name: str, task: Task, upstream: str, mode: str, reply: Reply) -> JsonObject:
    """A reply as a line of a replies file."""
    return {
        "set": name,
        "task": task.id,
        "upstream": upstream,
        "mode": mode,
        "message": build_message(reply),
        "usage": to_json(reply.usage),
        "seconds": round(reply.seconds, 3),
    }


def build_message(reply: Reply) -> JsonObject:
    """A reply as the assistant message a server would have sent."""
    (message,) = messages_out([Message("assistant", reply.text, tool_calls=reply.tool_calls)])
    return {**message, "reasoning_content": reply.reasoning} if reply.reasoning else message


def _list_answered_tasks(path: Path, name: str, upstream: str, mode: str) -> set[str]:
    rows: Iterable[JsonObject] = read_lines(path, WHERE) if path.exists() else ()
    return {
        r["task"]
        for r in rows
        if (r.get("set"), r.get("upstream"), r.get("mode")) == (name, upstream, mode)
    }
