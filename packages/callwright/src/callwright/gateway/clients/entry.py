"""The entry that puts the gateway into a client's configuration, in the client's own form. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from callwright.gateway.clients.places import ClientName
from callwright.nouns.types import JsonObject

NAME = "callwright"
KEY_VARIABLE = "CALLWRIGHT_GATEWAY_KEY"
_INPUT = "callwright-gateway-key"
_TYPES: dict[ClientName, str] = {
    "claude-code": "http",
    "cline": "streamableHttp",  # without it Cline takes a url for the older SSE transport
    "vscode": "http",
    "cursor": "",  # it has no type for a url
}


@dataclass(frozen=True, slots=True)
class Door:
    """The way to the gateway: a ``command``, which the client starts, or a ``url``.
    ``wants_key``: the gateway at the URL has a key, which the entry names and never holds.
    """

    command: Sequence[str] = ()
    url: str = ""
    wants_key: bool = False


def make_entry(client: ClientName, door: Door) -> JsonObject:
    """The document of a client that has the gateway and nothing else."""
    entry = _make_url_entry(client, door) if door.url else _make_command_entry(client, door)
    if client != "vscode":
        return {"mcpServers": {NAME: entry}}
    document: JsonObject = {"servers": {NAME: entry}}
    if door.url and door.wants_key:
        asked = {"type": "promptString", "id": _INPUT, "password": True}
        document["inputs"] = [{**asked, "description": "The key of the gateway"}]
    return document


def _make_command_entry(client: ClientName, door: Door) -> JsonObject:
    program, *args = door.command
    entry: JsonObject = {"command": program, "args": args}
    return entry if client == "cursor" else {"type": "stdio", **entry}


def _make_url_entry(client: ClientName, door: Door) -> JsonObject:
    kind = _TYPES[client]
    entry: JsonObject = {"type": kind, "url": door.url} if kind else {"url": door.url}
    if door.wants_key:
        entry["headers"] = {"Authorization": f"Bearer {_spell_key(client)}"}
    return entry


def _spell_key(client: ClientName) -> str:
    """The reference of a client to the key, which it does not hold. Cline has no way: a placeholder says
    so.
    """
    spelled: dict[ClientName, str] = {
        "claude-code": f"${{{KEY_VARIABLE}}}",
        "cline": f"<the value of {KEY_VARIABLE}>",
        "vscode": f"${{input:{_INPUT}}}",
        "cursor": f"${{env:{KEY_VARIABLE}}}",
    }
    return spelled[client]
