"""Answers of a refiner about replies: asked, and kept as they come, so that a run that ended goes
on; or made without a model.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Reply, ToolCall, to_canonical_json
from callwright.repair.by_model.refiner import RefinerContext, build_request
from callwright.repair.by_model.refiner_settings import RefinerSettings
from callwright.storage import lines
from callwright_lab.benchmarks.harm_bound.proposals import Seen, propose_spoiled, write_reply
from callwright_lab.parallel import SharedModel, map_in_order
from callwright_lab.training.progress import print_progress

_SHARE = 0.1  # of right calls that an answer without a model spoils
_EVERY = 50  # answers, a line of progress


class Answers(Protocol):
    """Where a refiner's answers come from."""

    def iter_answers(self, seen: Iterable[Seen]) -> Iterator[tuple[Seen, Reply]]:
        """Each reply with the answer about it."""


class MadeAnswers:
    """Answers without a model: a share of right calls is spoiled, spoiled ones are made right."""

    def iter_answers(self, seen: Iterable[Seen]) -> Iterator[tuple[Seen, Reply]]:
        for one in seen:
            is_right = one.upstream.calls is one.gold
            yield one, propose_spoiled(one, _SHARE) if is_right else write_reply(one.gold)


class AskedAnswers:
    """The answers of one refiner, a line of JSON each. The key is the digest of the question and of
    the settings, so that no answer stands for another question. ``jobs`` questions are asked at a
    time, and answers are kept in the order in which they come.
    """

    def __init__(
        self, path: Path, settings: RefinerSettings, model: SharedModel, jobs: int = 1
    ) -> None:
        self._path, self._settings, self._model, self._jobs = path, settings, model, jobs
        self._writing = threading.Lock()
        hint = "name another file with --replies"
        rows = (
            lines.read_rows(path, _check_row, what="kept answer", hint=hint, cut=True)
            if path.exists()
            else []
        )
        lines.save_rows(path, rows)  # without a line that was not finished
        self._known = {row["key"]: row for row in rows}
        self._asked = 0

    def iter_answers(self, seen: Iterable[Seen]) -> Iterator[tuple[Seen, Reply]]:
        """Each reply with the refiner's answer. Raises ModelError where it cannot be asked."""
        given = list(seen)
        requests = [self._build_request(one) for one in given]
        keys = [self._make_key(request) for request in requests]
        missing = {k: r for k, r in zip(keys, requests, strict=True) if k not in self._known}
        for _ in map_in_order(self._ask, missing.items(), self._jobs):
            pass
        for one, key in zip(given, keys, strict=True):
            yield one, _read_answer(self._known[key])

    def _build_request(self, one: Seen) -> ChatRequest:
        context = RefinerContext(one.upstream, self._settings)
        return build_request(context, states_likelihood=True)

    def _ask(self, question: tuple[str, ChatRequest]) -> None:
        key, request = question
        reply = self._model.converse(_ask_once(request)).value
        row = {
            "key": key,
            "text": reply.text,
            "calls": [[c.id, c.tool, c.arguments] for c in reply.tool_calls],
            "finish": reply.finish_reason,
            "logprobs": list(reply.logprobs),
        }
        with self._writing:
            lines.append_rows(self._path, [row])
            self._known[key] = row
            self._asked += 1
            if self._asked % _EVERY == 0:
                print_progress(f"{self._asked} answers")

    def _make_key(self, request: ChatRequest) -> str:
        told = [self._settings.refiner, request.max_tokens, [m.content for m in request.messages]]
        return hashlib.sha256(to_canonical_json(told).encode()).hexdigest()


def _ask_once(request: ChatRequest) -> Generator[ChatRequest, Reply, Reply]:
    reply = yield request
    return reply


def _check_row(row: dict[str, Any]) -> dict[str, Any]:
    _read_answer(row)
    return {**row, "key": str(row["key"])}


def _read_answer(row: dict[str, Any]) -> Reply:
    calls = tuple(ToolCall(*call) for call in row["calls"])
    return Reply(row["text"], calls, finish_reason=row["finish"], logprobs=tuple(row["logprobs"]))
