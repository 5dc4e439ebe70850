"""Probes the real capabilities of an endpoint with tiny questions. The result is remembered per
address and model.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from callwright import weights
from callwright.jsontext import JsonError, parse
from callwright.models.chat import Gathered
from callwright.nouns.errors import ModelError
from callwright.nouns.protocols import Capabilities
from callwright.nouns.types import JsonObject

Ask = Callable[[JsonObject], Awaitable[JsonObject]]

_SCHEMA = {
    "type": "object",
    "properties": {"zq": {"enum": ["k7"]}},
    "required": ["zq"],
    "additionalProperties": False,
}
_TOOL = {
    "type": "function",
    "function": {
        "name": "switch_lamp",
        "description": "Switches the lamp on or off.",
        "parameters": {
            "type": "object",
            "properties": {"on": {"type": "boolean"}},
            "required": ["on"],
        },
    },
}
_PROBED = frozenset({"native_tools", "json_schema"})  # what a probe writes
_UNSUPPORTED = frozenset({400, 404, 405, 415, 422, 500, 501})


async def capabilities_of(ask: Ask, context: int) -> Capabilities:
    """Two questions: is a JSON schema followed that no model would follow by chance, and do native
    calls come back?

    Raises ModelError if not even a plain question is answered.
    """
    schema = await _follows_schema(ask)
    native = await _calls_natively(ask)
    if not schema and not native:  # tell "supports neither" from "cannot be asked"
        await ask(_build_probe("Say hello."))
    return Capabilities(native, schema, context, "probed")


async def _follows_schema(ask: Ask) -> bool:
    body = _build_probe("Reply with the single word: hello")
    body["response_format"] = {
        "type": "json_schema",
        "json_schema": {"name": "probe", "schema": _SCHEMA, "strict": True},
    }
    reply = await _try_request(ask, body)
    try:
        return reply is not None and parse(reply.text) == {"zq": "k7"}
    except JsonError:
        return False


async def _calls_natively(ask: Ask) -> bool:
    body = _build_probe("Switch the lamp on.")
    body |= {"tools": [_TOOL], "tool_choice": "auto"}
    reply = await _try_request(ask, body)
    return reply is not None and any(c.tool == "switch_lamp" for c in reply.calls())


async def _try_request(ask: Ask, body: JsonObject) -> Gathered | None:
    """The reply, or None where the endpoint says that it does not do this."""
    try:
        answer = await ask(body)
    except ModelError as exc:
        if exc.status in _UNSUPPORTED:
            return None
        raise
    gathered = Gathered()
    gathered.feed(answer)
    gathered.close()
    return gathered


def _build_probe(text: str) -> JsonObject:
    return {
        "messages": [{"role": "user", "content": text}],
        "max_tokens": 64,
        "temperature": 0.0,
        "seed": 0,
    }


class Memory:
    """A small JSON file: key -> what was found. A missing, broken or read-only file only means
    asking again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def get(self, key: str, context: int) -> Capabilities | None:
        found = self.read_entry(key)
        if not _PROBED.intersection(found):
            return None
        return Capabilities(
            found.get("native_tools") is True, found.get("json_schema") is True, context, "probed"
        )

    def put(self, key: str, found: Capabilities) -> None:
        self.update_entry(
            key, {"native_tools": found.native_tools, "json_schema": found.json_schema}
        )

    def read_entry(self, key: str) -> JsonObject:
        """Return all that is remembered under a key; empty if nothing is."""
        found = self.read_entries().get(key)
        return found if isinstance(found, dict) else {}

    def update_entry(self, key: str, fields: JsonObject) -> bool:
        """Set fields of an entry; all others stay, also those that this version does not know.
        Return False if the file cannot be written.
        """
        entries = self.read_entries()
        before = entries.get(key)
        entries[key] = {**(before if isinstance(before, dict) else {}), **fields}
        return self._write(entries)

    def _write(self, entries: JsonObject) -> bool:
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(entries, indent=1), encoding="utf-8")
            os.replace(part, self.path)
            return True
        return False

    def forget(self) -> None:
        self.path.unlink(missing_ok=True)

    def read_entries(self) -> dict[str, Any]:
        """Return all that is remembered; empty if the file cannot be read."""
        try:
            value = parse(self.path.read_bytes())
        except (OSError, JsonError):
            return {}
        return value if isinstance(value, dict) else {}


def build_memory_key(base_url: str, model: str) -> str:
    """Return the key of a model at an endpoint, whose address has no slash at its end."""
    return f"{base_url} {model}"


def open_memory(path: Path | None = None) -> Memory:
    """The memory file: ``endpoints.json`` in the cache directory unless a path is given."""
    return Memory(path or weights.cache_dir() / "endpoints.json")
