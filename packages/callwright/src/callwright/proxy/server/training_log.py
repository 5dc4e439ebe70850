"""Conversations in which a call was repaired, kept where somebody asked for it: error and
correction, to learn from.

The client never sees the call that the gate refused, so no log of its own holds it. Here it stands
in its place, with what the gate said, before the call that was sent for it: conversations in
OpenAI's layout, a line each, which ``callwright explore --runs`` harvests as any other. One is
written when its client comes back with what the repaired call returned, and again, longer, with
every request after that.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from callwright.language.credentials import mask_secrets
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject, to_json
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.decision.decision import Repaired
from callwright.proxy.session.events import Keep
from callwright.storage import lines
from callwright.tools.lists import chat_messages as chat

_MOST, _MOST_BYTES = 10_000, 16_000_000  # of repaired calls whose conversations may still go on


class Keeper:
    """Writes to one file, which only its user can read. What looks like a credential is taken out;
    no header ever reaches it. Raises ConfigError where the file cannot be written; where that
    happens later, ``warn`` is told.
    """

    def __init__(self, path: Path, warn: Callable[[str], None] = lambda _: None) -> None:
        self._path: Path | None = path
        self._warn = warn
        self._repaired: OrderedDict[str, Repaired] = OrderedDict()
        self._bytes = 0  # of all of them
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        except OSError as error:
            said = f"nothing can be kept in {path}: {error.strerror}"
            raise ConfigError(said, hint="choose another --training-log") from None

    def take(self, keep: Keep) -> None:
        """Remember what was repaired, and write the conversation if a call of it was repaired
        before.
        """
        messages = keep.body["messages"]
        told = (
            [m for message in messages for m in self._with_errors(message)]
            if self._repaired
            else []
        )
        if len(told) > len(messages):
            tools, model = keep.body.get("tools"), keep.body.get("model")
            self._write({"model": model, "messages": [*told, keep.answer], "tools": tools})
        for one in keep.repaired:
            self._bytes += _measure_size(one) - (
                _measure_size(self._repaired[one.id]) if one.id in self._repaired else 0
            )
            self._repaired[one.id] = one
            while len(self._repaired) > _MOST or self._bytes > _MOST_BYTES:
                self._bytes -= _measure_size(self._repaired.popitem(last=False)[1])

    def _with_errors(self, message: Any) -> Iterator[JsonObject]:
        """The message, and before it what was refused of its calls, as if it had been carried out
        and had failed.
        """
        entries = message.get("tool_calls") if isinstance(message, dict) else None
        called = (
            [str(e.get("id")) for e in entries if isinstance(e, dict)]
            if isinstance(entries, list)
            else []
        )
        for one in (self._repaired[id] for id in called if id in self._repaired):
            wrong = replace(one.wrong, id=f"{one.id}w")
            text = (
                wrong.arguments
                if isinstance(wrong.arguments, str)
                else json_bytes(wrong.arguments).decode()
            )
            yield {
                "role": "assistant",
                "content": None,
                "tool_calls": [chat.render_call(wrong, text)],
            }
            refused = json_bytes({"error": one.refusal}).decode()
            yield {"role": "tool", "tool_call_id": wrong.id, "content": refused}
        yield message

    def _write(self, record: JsonObject) -> None:
        if self._path is None:
            return
        try:
            lines.append_rows(self._path, [mask_secrets(record)])
        except OSError as error:
            self._warn(f"nothing is kept in {self._path} any more: {error.strerror}")
            self._path = None


def _measure_size(repaired: Repaired) -> int:
    """Its length in bytes, as JSON."""
    return len(json_bytes(to_json([repaired.wrong, repaired.refusal])))
